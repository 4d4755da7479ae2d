package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/typeid"
)

// Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// Chain wraps h so that a request meets the middleware in the order given.
func Chain(h http.Handler, middleware ...Middleware) http.Handler {
	for _, m := range slices.Backward(middleware) {
		h = m(h)
	}
	return h
}

// InstrumentOptions are the settings of Instrument that have defaults.
type InstrumentOptions struct {
	// ProblemBase is the URL that precedes /problems/{code} in the type of a problem,
	// for example the public address of the host. Empty: "about:blank".
	ProblemBase string
	// Observer, if set, is notified of every request.
	Observer Observer
}

// Observer counts requests. Its methods are called by many goroutines at the
// same time and must not block.
type Observer interface {
	// RequestStarted is called before a request is served.
	RequestStarted(host string)
	// RequestEnded is called once for each RequestStarted.
	RequestEnded(host string, e RequestEnd)
}

// RequestEnd is how a request ended.
type RequestEnd struct {
	Method   string // as the client sent it
	Route    string // pattern of the Mux; empty: none
	Status   int    // 0: cut off before there was one
	Problem  string // code; empty: none
	Elapsed  time.Duration
	Panicked bool
}

// Instrument belongs outermost. It gives the request its id (a sane inbound
// Request-Id or X-Request-Id is kept, otherwise a new req_… is made) and
// returns it as X-Request-Id; it writes exactly one access line when the
// request ends, with the host's name; and it turns a panic into one logged
// stack and a 500. Queries, headers and bodies are never logged.
// http.ErrAbortHandler passes through.
func Instrument(log *slog.Logger, host string, o *InstrumentOptions) Middleware {
	if o == nil {
		o = new(InstrumentOptions)
	}
	log = log.With("host", host)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			x, r := ensureExchange(r)
			x.id, x.log, x.base = requestID(r.Header), log, o.ProblemBase
			w.Header().Set("X-Request-Id", x.id)
			rec := &recorder{ResponseWriter: w}
			if o.Observer != nil {
				o.Observer.RequestStarted(host)
			}
			defer func() {
				cause := recover()
				aborted := settlePanic(rec, r, cause)
				elapsed := time.Since(start)
				x.write(r, rec, elapsed, aborted)
				if o.Observer != nil {
					e := x.end(r, rec, elapsed, aborted)
					e.Panicked = cause != nil && !isAbort(cause)
					o.Observer.RequestEnded(host, e)
				}
				if aborted {
					panic(http.ErrAbortHandler)
				}
			}()
			next.ServeHTTP(rec, r)
		})
	}
}

// settlePanic logs what a handler panicked with and writes the response for it. It reports
// whether the connection must be cut, because the handler wanted that or
// because half a response is out already.
func settlePanic(rec *recorder, r *http.Request, cause any) (aborted bool) {
	if cause == nil {
		return false
	}
	if isAbort(cause) {
		return true
	}
	x := exchangeOf(r.Context())
	x.log.LogAttrs(r.Context(), slog.LevelError, "handler panicked",
		slog.String("request_id", x.id), slog.String("panic", fmt.Sprint(cause)), slog.String("stack",
			string(debug.Stack())))
	NoteProblem(r.Context(), "internal_error")
	if rec.status != 0 {
		return true
	}
	writeProblemBody(rec, r, internalProblem())
	return false
}

// isAbort reports whether a handler panicked to cut the connection.
func isAbort(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// end returns what an Observer is notified of.
func (x *exchange) end(r *http.Request, rec *recorder, elapsed time.Duration, aborted bool) RequestEnd {
	x.mu.Lock()
	defer x.mu.Unlock()
	return RequestEnd{
		Method: r.Method, Route: x.pattern, Status: rec.final(aborted), Problem: x.problem, Elapsed: elapsed,
	}
}

// shownPath is the path as it may be in a log. The parts that a route leaves
// open can be capabilities, like the link to a payment page: there the route
// says enough.
func shownPath(pattern string, r *http.Request) string {
	if _, path, ok := strings.Cut(pattern, " "); ok && strings.Contains(path, "{") {
		return path
	}
	return r.URL.Path
}

func (x *exchange) write(r *http.Request, rec *recorder, elapsed time.Duration, aborted bool) {
	x.mu.Lock()
	client, pattern, optional := x.client, x.pattern, []slog.Attr{
		slog.String("operation", x.operation), slog.String("problem", x.problem), slog.String("signature", x.signature),
		slog.String("agent", x.agent),
	}
	x.mu.Unlock()
	status := rec.final(aborted)
	attrs := make([]slog.Attr, 0, 13)
	attrs = append(attrs,
		slog.String("request_id", x.id), slog.String("method", r.Method), slog.String("route", pattern),
		slog.String("path", shownPath(pattern, r)), slog.Int("status", status), slog.Int64("bytes", rec.bytes),
		slog.Float64("duration_ms", float64(elapsed.Microseconds())/1000))
	if client.IsValid() {
		attrs = append(attrs, slog.String("client", client.String()))
	}
	for _, a := range optional {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	x.log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "request", attrs...)
}

// requestID keeps an id that the caller or a proxy gave, when it is short and
// plain enough for logs and headers.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id"} {
		if id := h.Get(name); saneID(id) {
			return id
		}
	}
	return typeid.New("req")
}

func saneID(id string) bool {
	if len(id) < 8 || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return true
}

// recorder counts what the handler writes. It stays transparent for
// http.ResponseController.
type recorder struct {
	http.ResponseWriter
	status int // 0 until the final header is out
	bytes  int64
}

// final returns the status that the client got; 0: none.
func (rec *recorder) final(aborted bool) int {
	if rec.status == 0 && !aborted {
		return http.StatusOK // what net/http sends if a handler writes nothing
	}
	return rec.status
}

// WriteHeader records the final status.
func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// Flush sends what is buffered; it serves code that asks for an http.Flusher.
func (rec *recorder) Flush() {
	_ = http.NewResponseController(rec.ResponseWriter).Flush() // a Flusher cannot report
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }
