package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/protocol/jsonrpc"
)

// exchange is one HTTP request on its way.
type exchange struct {
	ctx     context.Context
	request *http.Request
	version string // in force: of the header, or 2025-03-26 without one
	events  bool   // the client wants an event stream
}

// answer is what goes back: a status, the id and a result, or an error.
type answer struct {
	status int
	id     json.RawMessage
	result json.RawMessage // nil with err
	listed bool            // the result is the prepared list
	err    *jsonrpc.Error
	none   bool // nothing to say: 202
}

func refuse(status int, id json.RawMessage, e *jsonrpc.Error) answer {
	return answer{status: status, id: id, err: e}
}

// loadOf weighs the messages of a body.
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

// judgeVersion checks the version header. initialize negotiates and is exempt.
func (s *Server) judgeVersion(x *exchange, body jsonrpc.Body) *answer {
	requested := x.request.Header.Get("MCP-Protocol-Version")
	single := !body.Batch
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
	a := refuse(http.StatusBadRequest, id, &jsonrpc.Error{
		Code: jsonrpc.CodeInvalidParams, Message: "Unsupported protocol version",
		Data: versionFault{s.options.Versions, shorten(requested)},
	})
	return &a
}

type versionFault struct {
	Supported []string `json:"supported"`
	Requested string   `json:"requested"`
}

// judgeBatch checks what may stand in a batch at all.
func (s *Server) judgeBatch(x *exchange, body jsonrpc.Body) *jsonrpc.Error {
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
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: " + detail, Status: http.StatusBadRequest}
}

// dispatch answers one message.
func (s *Server) dispatch(x *exchange, m jsonrpc.Message, inBatch bool) answer {
	switch m.Kind {
	case jsonrpc.Invalid:
		return refuse(m.Fault.Status, m.ID, m.Fault)
	case jsonrpc.Notification, jsonrpc.Response:
		httpserver.NoteOperation(x.ctx, known(m.Method))
		return answer{status: http.StatusAccepted, none: true}
	default:
		return s.answer(x, m, inBatch)
	}
}

// answer answers one request.
func (s *Server) answer(x *exchange, m jsonrpc.Message, inBatch bool) answer {
	httpserver.NoteOperation(x.ctx, known(m.Method))
	a := answer{status: http.StatusOK, id: m.ID}
	switch m.Method {
	case "initialize":
		if inBatch {
			return refuse(http.StatusBadRequest, m.ID, invalidRequest("initialize must be sent alone."))
		}
		a.result, a.err = s.negotiate(m.Params)
	case "ping":
		a.result = json.RawMessage(`{}`)
	case "tools/list":
		a.listed, a.err = true, checkList(m.Params)
	case "tools/call":
		a.result, a.err = s.callTool(x, m.Params)
	default:
		a.err = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + shorten(m.Method)}
	}
	if a.err != nil && a.err.Status != 0 {
		a.status = a.err.Status
	}
	return a
}

// known keeps foreign words out of the logs.
func known(method string) string {
	switch method {
	case "initialize", "ping", "tools/list", "tools/call", "server/discover", "notifications/initialized", "notifications/cancelled":
		return method
	}
	if strings.HasPrefix(method, "notifications/") {
		return "notifications/other"
	}
	return "other"
}

// negotiate answers initialize: the version asked for, or the preferred one.
func (s *Server) negotiate(params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	if params == nil || params[0] != '{' {
		return nil, invalidParams("initialize needs an object with protocolVersion.")
	}
	version := ""
	var fault *jsonrpc.Error
	jsonrpc.WalkObject(params, func(name string, value []byte) {
		if name == "protocolVersion" {
			if err := json.Unmarshal(value, &version); err != nil {
				fault = invalidParams("protocolVersion must be a string.")
			}
		}
	})
	if fault != nil {
		return nil, fault
	}
	if result, ok := s.initialize[version]; ok {
		return result, nil
	}
	return s.initialize[s.options.Versions[0]], nil
}

// checkList refuses cursors: there is one page and none was ever given out.
func checkList(params json.RawMessage) *jsonrpc.Error {
	if params == nil || string(params) == "null" {
		return nil
	}
	if params[0] != '{' {
		return invalidParams("params must be an object.")
	}
	var fault *jsonrpc.Error
	jsonrpc.WalkObject(params, func(name string, value []byte) {
		if name == "cursor" && string(value) != "null" {
			fault = invalidParams("this cursor is unknown; the list has one page.")
		}
	})
	return fault
}

// RateLimited is the refusal of Options.Admit: HTTP 429, the header
// Retry-After and words that tell a model to wait. Seconds below 1 become 1.
func RateLimited(policy, detail string, seconds int) *jsonrpc.Error {
	seconds = max(seconds, 1)
	return &jsonrpc.Error{
		Code: http.StatusTooManyRequests, Message: detail, Status: http.StatusTooManyRequests, RetryAfter: seconds,
		Data: limitFault{seconds, policy},
	}
}

type limitFault struct {
	RetryAfterSeconds int    `json:"retryAfterSeconds"`
	Policy            string `json:"policy"`
}
