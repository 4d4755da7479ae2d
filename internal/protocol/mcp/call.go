package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

// callTool answers tools/call: a result, or a protocol error.
func (s *Server) callTool(x *exchange, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	var name string
	call := &Call{Version: x.version, RequestID: httpserver.RequestID(x.ctx), ClientIP: httpserver.ClientIP(x.ctx), Header: x.request.Header}
	arguments := json.RawMessage(`{}`)
	if params == nil || params[0] != '{' {
		return nil, invalidParams("params must be an object with name and arguments.")
	}
	var fault *jsonrpc.Error
	jsonrpc.WalkObject(params, func(member string, value []byte) {
		switch member {
		case "name":
			if err := json.Unmarshal(value, &name); err != nil || value[0] != '"' {
				fault = invalidParams("name must be a string.")
			}
		case "arguments":
			if arguments = value; value[0] != '{' && string(value) != "null" {
				fault = invalidParams("arguments must be an object.")
			}
		case "_meta":
			call.Meta = value
		}
	})
	if fault != nil {
		return nil, fault
	}
	if string(arguments) == "null" {
		arguments = json.RawMessage(`{}`)
	}
	t := s.tools[name]
	if t == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Unknown tool: " + shorten(name), Data: s.names()}
	}
	call.Tool = name
	httpserver.NoteOperation(x.ctx, "tools/call "+name)
	return s.run(x.ctx, t, call, arguments)
}

// toolNames tells a model that misspelt a tool what there is.
type toolNames struct {
	Tools []string `json:"tools"`
}

func (s *Server) names() toolNames {
	names := toolNames{Tools: make([]string, len(s.order))}
	for i, t := range s.order {
		names.Tools[i] = t.Name
	}
	return names
}

func invalidParams(detail string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + detail}
}

func shorten(s string) string {
	if len(s) <= 64 {
		return s
	}
	return strings.ToValidUTF8(s[:64], "") + "…"
}

func (s *Server) run(ctx context.Context, t *tool, call *Call, arguments json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	result, err := s.handle(ctx, t, call, arguments)
	if err != nil && s.options.MapError != nil {
		err = s.options.MapError(call, err)
	}
	if err == nil && result != nil {
		return t.render(result), nil
	}
	if err == nil {
		err = fmt.Errorf("tool %s answered neither result nor error", t.Name)
	}
	if protocol, ok := errors.AsType[*jsonrpc.Error](err); ok {
		httpserver.NoteProblem(ctx, protocol.Name())
		return nil, protocol
	}
	p := httpserver.ProblemOf(ctx, err)
	if p.Kind == problem.Internal {
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "Internal error: " + p.Detail, Data: map[string]string{"requestId": call.RequestID},
		}
	}
	return t.render(problemResult(p)), nil
}

// handle validates, runs the handler and turns a panic into an error.
func (s *Server) handle(ctx context.Context, t *tool, call *Call, arguments json.RawMessage) (result *Result, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if abort, ok := cause.(error); ok && errors.Is(abort, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
		result, err = nil, fmt.Errorf("tool %s panicked: %v\n%s", t.Name, cause, debug.Stack())
	}()
	if err := t.input.Check(arguments); err != nil {
		return nil, err
	}
	result, err = t.handler(ctx, call, arguments)
	if err == nil && s.options.CheckOutput && t.output != nil && result != nil && !result.IsError {
		if bad := t.output.Check(result.Structured); bad != nil {
			p, _ := problem.From(bad)
			return nil, fmt.Errorf("result of tool %s does not fit its schema: %w %v", t.Name, errors.New(bad.Error()), p.Items)
		}
	}
	return result, err
}

// problemResult tells a model what went wrong and what would be right.
func problemResult(p *problem.Problem) *Result {
	var b strings.Builder
	b.WriteString(p.Detail)
	for _, item := range p.Items {
		if len(p.Items) == 1 && item.Detail == p.Detail {
			break // said already
		}
		fmt.Fprintf(&b, "\n- %s: %s", strings.TrimPrefix(item.Pointer, "/"), item.Detail)
	}
	fmt.Fprintf(&b, "\n(code: %s", p.Code)
	if p.NextAction != "" {
		fmt.Fprintf(&b, "; next: %s", p.NextAction)
	}
	if after := httpserver.RetryAfterSeconds(p); after > 0 {
		fmt.Fprintf(&b, "; retry after %d s", after)
	}
	b.WriteString(")")
	return &Result{Content: []Content{Text(b.String())}, IsError: true}
}

// render writes a result. Structured content stands in the text as well, for
// clients that know only that; it never stands beside isError on a tool that
// promises an output schema, because clients validate it even then.
func (t *tool) render(r *Result) json.RawMessage {
	structured := oneLine(r.Structured)
	out := append(make([]byte, 0, 128+3*len(structured)), `{"content":`...)
	switch {
	case len(r.Content) > 0:
		out = append(out, mustMarshal(r.Content)...)
	case structured != nil:
		out = append(out, `[{"type":"text","text":`...)
		out = appendString(out, structured)
		out = append(out, `}]`...)
	default:
		out = append(out, `[]`...)
	}
	if structured != nil && (!r.IsError || t.OutputSchema == nil) {
		out = append(out, `,"structuredContent":`...)
		out = append(out, structured...)
	}
	if r.IsError {
		out = append(out, `,"isError":true`...)
	}
	if r.Meta != nil {
		out = append(out, `,"_meta":`...)
		out = append(out, oneLine(r.Meta)...)
	}
	return append(out, '}')
}

// oneLine drops the line breaks of JSON that a raw handler took from elsewhere:
// they would end an event early.
func oneLine(data json.RawMessage) json.RawMessage {
	if !bytes.ContainsAny(data, "\r\n") {
		return data
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, data); err != nil {
		return data // not JSON: the client reports it
	}
	return buf.Bytes()
}

// appendString appends JSON text as a JSON string. Sound JSON holds no control
// characters but white space, so that few need an escape.
func appendString(dst []byte, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// encode writes a result as compact JSON that is an object.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})
	if b[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	return b, nil
}
