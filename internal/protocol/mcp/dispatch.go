package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/jsonrpc"
)

// exchange is the state of one HTTP request.
type exchange struct {
	ctx     context.Context
	request *http.Request
	version string  // from the header, or 2025-03-26 without one
	events  bool    // the client accepts only an event stream
	tools   Toolset // replaces the registered tools; nil: it does not
}

// response is the response to one message: a status, and a result or an error.
type response struct {
	status int
	id     json.RawMessage
	result json.RawMessage // nil with err
	listed bool            // the result is the prepared list
	err    *jsonrpc.Error
	none   bool // no body: 202
}

func refuse(status int, id json.RawMessage, e *jsonrpc.Error) response {
	return response{status: status, id: id, err: e}
}

// loadOf computes the cost of the messages of a body.
func loadOf(messages []jsonrpc.Message) Load {
	var l Load
	for _, m := range messages {
		if m.Kind == jsonrpc.Request && m.Method != "initialize" && m.Method != "ping" {
			l.Cost++
		} else {
			l.Free++
		}
	}
	return l
}

// checkVersion checks the version header. initialize negotiates and is exempt.
func (s *Server) checkVersion(x *exchange, body jsonrpc.Body) *response {
	requested := x.request.Header.Get("MCP-Protocol-Version")
	single := !body.Batch
	if single && s.stateless() {
		if e, ok := s.checkStateless(x, body.Messages[0]); e != nil {
			a := refuse(e.Status, body.Messages[0].ID, e)
			return &a
		} else if ok {
			return nil
		}
	}
	if requested == "" || single && body.Messages[0].Method == "initialize" {
		return nil
	}
	x.version = requested
	if slices.Contains(s.options.Versions, requested) {
		return nil
	}
	var id json.RawMessage
	if single {
		id = body.Messages[0].ID
	}
	if s.stateless() { // the code that older clients know makes them fall back
		a := refuse(http.StatusBadRequest, id, s.unsupported(requested))
		return &a
	}
	a := refuse(http.StatusBadRequest, id, &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidParams, Message: "Unsupported protocol version",
		Data: versionErrorData{s.options.Versions, excerpt.Bytes(requested, maxQuoted)},
	})
	return &a
}

type versionErrorData struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

// checkBatch checks whether a batch is allowed and not too long.
func (s *Server) checkBatch(x *exchange, body jsonrpc.Body) *jsonrpc.Error {
	switch {
	case !body.Batch:
		return nil
	case x.version > Version20250326:
		return invalidRequest("batches ended with version 2025-03-26; send one message.")
	case len(body.Messages) == 0:
		return invalidRequest("the batch is empty.")
	case len(body.Messages) > s.options.MaxBatch:
		return invalidRequest(fmt.Sprintf("a batch holds at most %d messages.", s.options.MaxBatch))
	}
	return nil
}

func invalidRequest(detail string) *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: " + detail,
		Status: http.StatusBadRequest,
	}
}

// dispatch handles one message.
func (s *Server) dispatch(x *exchange, m jsonrpc.Message, inBatch bool) response {
	switch m.Kind {
	case jsonrpc.Invalid:
		return refuse(m.Err.Status, m.ID, m.Err)
	case jsonrpc.Notification, jsonrpc.Response:
		httpserver.NoteOperation(x.ctx, known(m.Method))
		return response{status: http.StatusAccepted, none: true}
	default:
		return s.handleRequest(x, m, inBatch)
	}
}

// handleRequest handles one request.
func (s *Server) handleRequest(x *exchange, m jsonrpc.Message, inBatch bool) response {
	httpserver.NoteOperation(x.ctx, known(m.Method))
	a := response{status: http.StatusOK, id: m.ID}
	switch m.Method {
	case "tools/list":
		if a.listed, a.err = x.tools == nil, checkList(m.Params); a.err == nil && x.tools != nil {
			a.result, a.err = s.listTools(x)
		}
	case "tools/call":
		a.result, a.err = s.callTool(x, m.Params)
	default:
		s.handleLifecycle(x, m, inBatch, &a)
	}
	if a.err != nil && a.err.Status != 0 {
		a.status = a.err.Status
	}
	return a
}

// handleLifecycle handles the requests that are not about tools.
func (s *Server) handleLifecycle(x *exchange, m jsonrpc.Message, inBatch bool, a *response) {
	switch {
	case x.stateless() && m.Method == "server/discover":
		a.result = s.discovery
		return
	case x.stateless():
		a.err = methodNotFound(m.Method)
		a.err.Status = http.StatusNotFound
		return
	}
	switch m.Method {
	case "initialize":
		if inBatch {
			a.err = invalidRequest("initialize must be sent alone.")
			return
		}
		a.result, a.err = s.negotiate(m.Params)
	case "ping":
		a.result = json.RawMessage(`{}`)
	default:
		a.err = methodNotFound(m.Method)
	}
}

func methodNotFound(method string) *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + excerpt.Bytes(method, maxQuoted),
	}
}

// known returns the method if it is known, so that logs contain no text of the client.
func known(method string) string {
	switch method {
	case "initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/initialized",
		"notifications/cancelled":
		return method
	}
	if strings.HasPrefix(method, "notifications/") {
		return "notifications/other"
	}
	return "other"
}

// negotiate handles initialize: it selects the requested version if it is supported, or else the
// preferred one.
func (s *Server) negotiate(params *jsonread.Value) (json.RawMessage, *jsonrpc.Error) {
	if params.Kind() != jsonread.Map {
		return nil, invalidParams("initialize needs an object with protocolVersion.")
	}
	version := params.Field("protocolVersion")
	if kind := version.Kind(); kind != jsonread.String && kind != jsonread.Null && kind != jsonread.Absent {
		return nil, invalidParams("protocolVersion must be a string.")
	}
	if result, ok := s.initialize[version.Text()]; ok {
		return result, nil
	}
	return s.preferred, nil
}

// checkList refuses cursors: the list has one page, and no cursor was ever issued.
func checkList(params *jsonread.Value) *jsonrpc.Error {
	switch params.Kind() {
	case jsonread.Absent, jsonread.Null:
		return nil
	case jsonread.Map:
	default:
		return invalidParams("params must be an object.")
	}
	if params.Field("cursor").Kind() > jsonread.Null {
		return invalidParams("this cursor is unknown; the list has one page.")
	}
	return nil
}

// RateLimited is the refusal of Options.Admit: HTTP 429, the header Retry-After and a message that
// asks a model to wait. Seconds below 1 become 1.
func RateLimited(policy, detail string, seconds int) *jsonrpc.Error {
	seconds = max(seconds, 1)
	return &jsonrpc.Error{
		Code: http.StatusTooManyRequests, Message: detail, Status: http.StatusTooManyRequests, RetryAfter: seconds,
		Data: limitErrorData{seconds, policy},
	}
}

type limitErrorData struct {
	RetryAfterSeconds int    `json:"retryAfterSeconds"`
	Policy            string `json:"policy"`
}
