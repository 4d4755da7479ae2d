package mcp

import (
	"encoding/json"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

const (
	allowMethods = "POST, OPTIONS"
	allowHeaders = "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, " +
		"Mcp-Name, Last-Event-ID, Content-Digest, Signature, Signature-Input, Signature-Agent"
	exposeHeaders = "Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate"
)

// ServeHTTP serves the endpoint. Mount it with and without a trailing slash, for all methods.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.ServeTools(w, r, nil) }

// ServeTools serves the endpoint and lists other tools than the registered ones, unless tools is nil.
func (s *Server) ServeTools(w http.ResponseWriter, r *http.Request, tools Toolset) {
	loopback := onLoopback(r)
	if !s.hostAllowed(r.Host, loopback) {
		httpserver.NoteProblem(r.Context(), "host_not_allowed")
		WriteError(w, http.StatusForbidden,
			&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "This host name is not served here."})
		return
	}
	origin := r.Header.Get("Origin")
	if origin != "" && !s.originAllowed(origin, loopback) {
		httpserver.NoteProblem(r.Context(), "origin_not_allowed")
		WriteError(w, http.StatusForbidden,
			&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Pages of this origin may not call this server."})
		return
	}
	s.setCORS(w.Header(), origin)
	switch r.Method {
	case http.MethodPost:
		if s.options.Authenticate != nil {
			ctx, e := s.options.Authenticate(w.Header(), r)
			if e != nil {
				s.finish(w, r, &exchange{}, refuse(e.Status, nil, e))
				return
			}
			r = r.WithContext(ctx)
		}
		s.post(w, r, tools)
	case http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", allowMethods)
		e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Method not allowed: use POST"}
		s.finish(w, r, &exchange{}, s.admitted(w, r, Load{Free: 1}, refuse(http.StatusMethodNotAllowed, nil, e)))
	}
}

// admitted sends a, unless the rate limit refuses the request.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request, load Load, a response) response {
	if e := s.admit(w, r, load); e != nil {
		return refuse(e.Status, a.id, e)
	}
	return a
}

func (s *Server) admit(w http.ResponseWriter, r *http.Request, load Load) *jsonrpc.Error {
	if s.options.Admit == nil {
		return nil
	}
	e := s.options.Admit(w.Header(), r, load)
	if e != nil && e.Status == 0 {
		e.Status = http.StatusTooManyRequests
	}
	return e
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, tools Toolset) {
	x := &exchange{ctx: r.Context(), request: r, version: Version20250326, tools: tools}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		s.refuse(w, x, http.StatusUnsupportedMediaType,
			"Send the message with the header Content-Type: application/json.")
		return
	}
	var ok bool
	if x.events, ok = wantsEvents(r.Header.Values("Accept")); !ok {
		s.refuse(w, x, http.StatusNotAcceptable, "Accept application/json or text/event-stream.")
		return
	}
	data, err := httpserver.ReadBody(r, s.options.MaxBody)
	if err != nil {
		p, _ := problem.From(err)
		s.refuse(w, x, p.Kind.Status(), p.Detail)
		return
	}
	body, fault := jsonrpc.Parse(data)
	if fault != nil {
		s.finish(w, r, x, s.admitted(w, r, Load{Free: 1}, refuse(fault.Status, nil, fault)))
		return
	}
	s.serve(w, x, body)
}

// refuse responds to a request whose message could not be read.
func (s *Server) refuse(w http.ResponseWriter, x *exchange, status int, detail string) {
	a := refuse(status, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: " + detail})
	x.events = false
	s.finish(w, x.request, x, s.admitted(w, x.request, Load{Free: 1}, a))
}

// serve handles a parsed body.
func (s *Server) serve(w http.ResponseWriter, x *exchange, body jsonrpc.Body) {
	if a := s.checkVersion(x, body); a != nil {
		s.finish(w, x.request, x, s.admitted(w, x.request, Load{Free: 1}, *a))
		return
	}
	if fault := s.checkBatch(x, body); fault != nil {
		s.finish(w, x.request, x, s.admitted(w, x.request, Load{Free: 1}, refuse(fault.Status, nil, fault)))
		return
	}
	if e := s.admit(w, x.request, loadOf(body.Messages)); e != nil {
		var id json.RawMessage
		if !body.Batch {
			id = body.Messages[0].ID
		}
		s.finish(w, x.request, x, refuse(e.Status, id, e))
		return
	}
	if !body.Batch {
		s.finish(w, x.request, x, s.dispatch(x, body.Messages[0], false))
		return
	}
	s.serveBatch(w, x, body.Messages)
}

// serveBatch handles the messages in sequence and responds with one array.
func (s *Server) serveBatch(w http.ResponseWriter, x *exchange, messages []jsonrpc.Message) {
	out := []byte{'['}
	for _, m := range messages {
		a := s.dispatch(x, m, true)
		if a.none {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = s.append(out, x, a)
	}
	if len(out) == 1 {
		s.finish(w, x.request, x, response{status: http.StatusAccepted, none: true})
		return
	}
	write(w, http.StatusOK, x.events, append(out, ']'), nil)
}

// finish writes one response.
func (s *Server) finish(w http.ResponseWriter, r *http.Request, x *exchange, a response) {
	if a.none {
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(a.status)
		return
	}
	if a.err != nil {
		httpserver.NoteProblem(r.Context(), a.err.Name())
		if a.err.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(a.err.RetryAfter))
		}
	}
	if a.err == nil && a.listed {
		write(w, a.status, x.events, jsonrpc.AppendResultHead(make([]byte, 0, 64), a.id), s.listFor(x))
		return
	}
	write(w, a.status, x.events, s.append(make([]byte, 0, 64+len(a.result)), x, a), nil)
}

// listFor returns the registered tools in the form of the version.
func (s *Server) listFor(x *exchange) []byte {
	if x.stateless() {
		return s.finalList
	}
	return s.list
}

func (s *Server) append(out []byte, x *exchange, a response) []byte {
	switch {
	case a.err != nil:
		return jsonrpc.AppendError(out, a.id, a.err)
	case a.listed:
		return append(jsonrpc.AppendResultHead(out, a.id), s.listFor(x)...)
	}
	return jsonrpc.AppendResult(out, a.id, a.result)
}

// WriteError refuses a request before its message is read, for middleware in front of the server,
// such as a key check.
func WriteError(w http.ResponseWriter, status int, e *jsonrpc.Error) {
	write(w, status, false, jsonrpc.AppendErrorWithoutID(nil, e), nil)
}

// write sends head and tail as one body, as JSON or as an event.
func write(w http.ResponseWriter, status int, events bool, head, tail []byte) {
	const before, after = "event: message\ndata: ", "\n\n"
	h := w.Header()
	h["Cache-Control"] = []string{"no-store"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	length := len(head) + len(tail)
	if events {
		h["Content-Type"] = []string{"text/event-stream"}
		length += len(before) + len(after)
		head = append([]byte(before), head...)
	} else {
		h["Content-Type"] = []string{"application/json"}
	}
	h["Content-Length"] = []string{strconv.Itoa(length)}
	w.WriteHeader(status)
	_, err := w.Write(head)
	if err == nil && tail != nil {
		_, err = w.Write(tail)
	}
	if err == nil && events {
		_, _ = w.Write([]byte(after)) // fails only if the client has disconnected
	}
}

// wantsEvents parses Accept. It prefers JSON if accepted and selects an event stream only if JSON
// is not; ok is false if neither is accepted.
func wantsEvents(accept []string) (events, ok bool) {
	if len(accept) == 0 {
		return false, true
	}
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if q, qErr := strconv.ParseFloat(params["q"], 64); err != nil && !errors.Is(err,
			mime.ErrInvalidMediaParameter) || params["q"] != "" && qErr == nil && q == 0 {
			continue
		}
		switch media {
		case "application/json", "application/*", "*/*":
			return false, true
		case "text/event-stream", "text/*":
			events, ok = true, true
		}
	}
	return events, ok
}

func (s *Server) setCORS(h http.Header, origin string) {
	if len(s.options.AllowedOrigins) == 0 || slices.Contains(s.options.AllowedOrigins, "*") {
		h.Set("Access-Control-Allow-Origin", "*")
	} else {
		h.Add("Vary", "Origin")
		if origin != "" {
			h.Set("Access-Control-Allow-Origin", origin)
		}
	}
	for _, f := range s.cors {
		h[f.name] = f.value
	}
}

// corsFields are the same in every response. Their slices have no spare capacity, so appending a
// value copies them.
func corsFields() []corsField {
	return []corsField{
		{"Access-Control-Allow-Methods", []string{allowMethods}},
		{"Access-Control-Allow-Headers", []string{allowHeaders}},
		{"Access-Control-Expose-Headers", []string{exposeHeaders}},
		{"Access-Control-Max-Age", []string{"86400"}},
	}
}

type corsField struct {
	name  string
	value []string
}

// onLoopback reports whether the connection came in on a loopback address. There, any page in a
// browser of the same machine could call by a host name that resolves to this address.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	ap, err := netip.ParseAddrPort(addr.String())
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

func (s *Server) hostAllowed(hostport string, loopback bool) bool {
	host := hostOf(hostport)
	if loopback && isLoopbackName(host) {
		return true
	}
	if len(s.options.AllowedHosts) == 0 {
		return !loopback
	}
	for _, allowed := range s.options.AllowedHosts {
		if strings.EqualFold(allowed, hostport) || strings.EqualFold(allowed, host) {
			return true
		}
	}
	return false
}

func (s *Server) originAllowed(origin string, loopback bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin {
		return false
	}
	if slices.Contains(s.options.AllowedOrigins, "*") || slices.Contains(s.options.AllowedOrigins, origin) {
		return true
	}
	if loopback && isLoopbackName(u.Hostname()) {
		return true
	}
	return len(s.options.AllowedOrigins) == 0 && !loopback
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

func isLoopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
