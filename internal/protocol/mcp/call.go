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

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/plainjson"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

// callTool handles tools/call. It returns a result or a protocol error.
func (s *Server) callTool(x *exchange, params *jsonread.Value) (json.RawMessage, *jsonrpc.Error) {
	call := &Call{
		Version: x.version, RequestID: httpserver.RequestID(x.ctx), ClientIP: httpserver.ClientIP(x.ctx),
		Header: x.request.Header,
	}
	if params.Kind() != jsonread.Map {
		return nil, invalidParams("params must be an object with name and arguments.")
	}
	call.Arguments, call.Meta = params.Field("arguments"), params.Field("_meta")
	if x.stateless() {
		call.continuation(params)
	}
	if kind := params.Field("name").Kind(); kind != jsonread.String && kind != jsonread.Absent {
		return nil, invalidParams("name must be a string.")
	}
	name, arguments := params.Field("name").Text(), json.RawMessage(`{}`)
	switch call.Arguments.Kind() {
	case jsonread.Absent, jsonread.Null:
		call.Arguments = nil
	case jsonread.Map:
		arguments = call.Arguments.Raw()
	default:
		return nil, invalidParams("arguments must be an object.")
	}
	t := s.tools[name]
	switch {
	case x.tools != nil && t == nil:
		t = &tool{Tool: Tool{Name: name}, handler: x.tools.Call}
	case t == nil:
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeInvalidParams, Message: "Unknown tool: " + excerpt.Bytes(name, maxQuoted),
			Data: s.names(),
		}
	default:
		httpserver.NoteOperation(x.ctx, "tools/call "+name)
	}
	call.Tool = name
	return s.run(x.ctx, t, call, arguments)
}

// listTools renders the list of the tools that replace the registered ones.
func (s *Server) listTools(x *exchange) (json.RawMessage, *jsonrpc.Error) {
	tools, err := x.tools.List(x.ctx)
	if err != nil {
		p := httpserver.ProblemOf(x.ctx, err)
		code := jsonrpc.CodeInvalidParams
		if p.Kind == problem.Internal {
			code = jsonrpc.CodeInternalError
		}
		return nil, &jsonrpc.Error{Code: code, Message: p.Detail, Data: map[string]string{"code": p.Code}}
	}
	if x.stateless() {
		return renderList(tools, &s.info), nil
	}
	return renderList(tools, nil), nil
}

// toolNames lists the existing tools for a model that misspelled a name.
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

// maxQuoted is how many bytes of an unknown name an error quotes.
const maxQuoted = 64

func invalidParams(detail string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + detail}
}

func (s *Server) run(ctx context.Context, t *tool, call *Call, arguments json.RawMessage) (json.RawMessage,
	*jsonrpc.Error,
) {
	result, err := s.handle(ctx, t, call, arguments)
	if err != nil && s.options.MapError != nil {
		err = s.options.MapError(call, err)
	}
	if err == nil && result != nil {
		return t.render(call, result), nil
	}
	if err == nil {
		err = fmt.Errorf("tool %s returned neither result nor error", t.Name)
	}
	if protocol, ok := errors.AsType[*jsonrpc.Error](err); ok {
		httpserver.NoteProblem(ctx, protocol.Name())
		return nil, protocol
	}
	p := httpserver.ProblemOf(ctx, err)
	if p.Kind == problem.Internal {
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "Internal error: " + p.Detail,
			Data: map[string]string{"requestId": call.RequestID},
		}
	}
	if s.options.Problem != nil {
		return t.render(call, s.options.Problem(call, p)), nil
	}
	return t.render(call, problemResult(p)), nil
}

// handle validates, runs the handler and turns a panic into an error.
func (s *Server) handle(ctx context.Context, t *tool, call *Call,
	arguments json.RawMessage,
) (result *Result, err error) {
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
	if t.input != nil {
		if err := t.input.Check(arguments); err != nil {
			return nil, err
		}
	}
	result, err = t.handler(ctx, call, arguments)
	if err == nil && s.options.CheckOutput && t.output != nil && result != nil && !result.IsError &&
		result.Question == nil {
		if bad := t.output.Check(result.Structured); bad != nil {
			p, _ := problem.From(bad)
			return nil, fmt.Errorf(
				"result of tool %s does not match its schema: %w %v",
				t.Name,
				errors.New(bad.Error()),
				p.Items,
			)
		}
	}
	return result, err
}

// problemResult renders a problem as a tool result, with every error of the arguments.
func problemResult(p *problem.Problem) *Result {
	var b strings.Builder
	b.WriteString(p.Detail)
	for _, item := range p.Items {
		if len(p.Items) == 1 && item.Detail == p.Detail {
			break // in the message already
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

// render encodes a result. Structured content is repeated as text for clients that do not support
// it. A tool with an output schema never sends it with isError, because clients validate it even
// then.
func (t *tool) render(call *Call, r *Result) json.RawMessage {
	if r.Question != nil {
		return r.Question.render()
	}
	structured := oneLine(r.Structured)
	out := append(make([]byte, 0, 128+3*len(structured)), '{')
	if call.Version >= Version20260728 {
		out = append(out, `"resultType":"complete",`...)
	}
	out = append(out, `"content":`...)
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
	if call.Version >= Version20250618 {
		out = appendLinks(out, r.Links)
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

// appendLinks adds links to the blocks of a result that ends in ].
func appendLinks(out []byte, links []Link) []byte {
	for _, link := range links {
		out = out[:len(out)-1]
		if out[len(out)-1] != '[' {
			out = append(out, ',')
		}
		out = append(append(out, mustMarshal(typedLink{"resource_link", link})...), ']')
	}
	return out
}

// oneLine removes line breaks from JSON that a raw handler copied from elsewhere: they would end an
// event early.
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

// appendString appends JSON text as a JSON string. Valid JSON has no control characters but white
// space, so few characters need an escape.
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

// encode encodes a result, which must be an object, as compact JSON.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := plainjson.NewEncoder(&buf)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})
	if b[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	return b, nil
}
