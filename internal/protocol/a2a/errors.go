package a2a

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

// The error codes of the protocol, in addition to those of JSON-RPC.
const (
	CodeTaskNotFound          = -32001
	CodeTaskNotCancelable     = -32002
	CodePushNotSupported      = -32003
	CodeUnsupportedOperation  = -32004
	CodeContentTypeNotSupport = -32005
	CodeVersionNotSupported   = -32009
)

// domain is the domain of the reasons in an ErrorInfo.
const domain = "a2a-protocol.org"

const typePrefix = "type.googleapis.com/google.rpc."

// reasons are the names of the codes.
var reasons = map[int]string{
	jsonrpc.CodeParseError: "PARSE_ERROR", jsonrpc.CodeInvalidRequest: "INVALID_REQUEST",
	jsonrpc.CodeMethodNotFound: "METHOD_NOT_FOUND",
	jsonrpc.CodeInvalidParams:  "INVALID_PARAMS", jsonrpc.CodeInternalError: "INTERNAL_ERROR",
	CodeTaskNotFound: "TASK_NOT_FOUND", CodeTaskNotCancelable: "TASK_NOT_CANCELABLE",
	CodePushNotSupported:     "PUSH_NOTIFICATION_NOT_SUPPORTED",
	CodeUnsupportedOperation: "UNSUPPORTED_OPERATION", CodeContentTypeNotSupport: "CONTENT_TYPE_NOT_SUPPORTED",
	CodeVersionNotSupported: "VERSION_NOT_SUPPORTED",
}

// ErrorInfo is google.rpc.ErrorInfo.
type ErrorInfo struct {
	Type     string            `json:"@type"`
	Reason   string            `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// BadRequest is google.rpc.BadRequest.
type BadRequest struct {
	Type       string           `json:"@type"`
	Violations []FieldViolation `json:"fieldViolations"`
}

// FieldViolation is an error in one parameter. Field is a path such as
// message.parts[0].data.input.query.
type FieldViolation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
	Reason      string `json:"reason,omitempty"`
}

// RetryInfo is google.rpc.RetryInfo.
type RetryInfo struct {
	Type  string `json:"@type"`
	Delay string `json:"retryDelay"`
}

// NewError returns an error of the protocol. metadata are name, value, … of its ErrorInfo.
func NewError(code int, message string, metadata ...string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: message, Data: []any{errorInfo(reasons[code], metadata...)}}
}

func errorInfo(reason string, metadata ...string) ErrorInfo {
	info := ErrorInfo{Type: typePrefix + "ErrorInfo", Reason: reason, Domain: domain}
	for i := 0; i+1 < len(metadata); i += 2 {
		if info.Metadata == nil {
			info.Metadata = map[string]string{}
		}
		info.Metadata[metadata[i]] = metadata[i+1]
	}
	return info
}

func withDetail(e *jsonrpc.Error, detail any) *jsonrpc.Error {
	all, _ := e.Data.([]any)
	e.Data = append(all, detail)
	return e
}

// InvalidParams returns the error for invalid parameters, at least one.
func InvalidParams(violations ...FieldViolation) *jsonrpc.Error {
	message := "Invalid params: " + violations[0].Description
	if violations[0].Field != "" {
		message = "Invalid params: " + violations[0].Field + ": " + violations[0].Description
	}
	e := NewError(jsonrpc.CodeInvalidParams, message)
	return withDetail(e, BadRequest{typePrefix + "BadRequest", violations})
}

// TaskNotFound returns the error for an unknown or deleted task.
func TaskNotFound() *jsonrpc.Error {
	return NewError(CodeTaskNotFound,
		"No such task. The response to SendMessage contains the id; finished tasks are deleted after an hour.")
}

// FromProblem converts a problem to an error of the protocol. Errors in the parameters become
// InvalidParams; temporary failures and internal errors become an internal error, with the time of
// a retry if it is known.
func FromProblem(ctx context.Context, p *problem.Problem) *jsonrpc.Error {
	switch {
	case p.Kind == problem.Malformed || p.Kind == problem.Invalid:
		return InvalidParams(violations(p)...)
	case p.Kind == problem.RateLimited:
		return limited(p)
	case p.Kind == problem.Internal:
		return NewError(jsonrpc.CodeInternalError, "Internal error: "+p.Detail, "requestId", httpserver.RequestID(ctx))
	}
	e := NewError(jsonrpc.CodeInternalError, p.Detail, "code", p.Code)
	if seconds := httpserver.RetryAfterSeconds(p); seconds > 0 {
		e.RetryAfter = seconds
		e = withDetail(e, retryInfo(seconds))
	}
	return e
}

func retryInfo(seconds int) RetryInfo {
	return RetryInfo{typePrefix + "RetryInfo", strconv.Itoa(seconds) + "s"}
}

func limited(p *problem.Problem) *jsonrpc.Error {
	seconds := max(1, httpserver.RetryAfterSeconds(p))
	policy := strings.Join(p.Policies, ", ")
	return &jsonrpc.Error{
		Code: jsonrpc.CodeInternalError, Message: p.Detail, Status: http.StatusTooManyRequests, RetryAfter: seconds,
		Data: []any{errorInfo("RATE_LIMIT_EXCEEDED", "policy", policy), retryInfo(seconds)},
	}
}

func violations(p *problem.Problem) []FieldViolation {
	if len(p.Items) == 0 {
		return []FieldViolation{{Description: p.Detail, Reason: strings.ToUpper(p.Code)}}
	}
	all := make([]FieldViolation, len(p.Items))
	for i, item := range p.Items {
		all[i] = FieldViolation{
			Field: Field("", item.Pointer), Description: item.Detail,
			Reason: strings.ToUpper(item.Code),
		}
	}
	return all
}

// Field converts a JSON Pointer, or the name of a parameter, to the path of a field below at.
func Field(at, pointer string) string {
	path := at
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name); name == "" {
			continue
		}
		_, err := strconv.ParseUint(name, 10, 31)
		switch {
		case err == nil && path != "":
			path += "[" + name + "]"
		case path == "":
			path = name
		default:
			path += "." + name
		}
	}
	return path
}

// WriteProblem responds to a request that the endpoint has not parsed, in the shape of the
// protocol: for middleware and for neighboring paths.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	e := FromProblem(r.Context(), p)
	if p.Kind != problem.RateLimited && p.Kind != problem.Internal && !p.Kind.Temporary() {
		e = NewError(jsonrpc.CodeInvalidRequest, "Invalid request: "+p.Detail, "code", p.Code)
	}
	e.Status = p.Kind.Status()
	write(w, nil, e)
}
