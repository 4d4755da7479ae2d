package jsonrpc

import (
	"encoding/json"
	"strconv"
)

// The codes that JSON-RPC reserves.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

// Error is the error field of a response. A handler may return it as its error; it is sent
// unchanged.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"` // safe to show
	Data    any    `json:"data,omitempty"`
	// Status is the corresponding HTTP status; 0 means 200. A batch always has status 200.
	Status int `json:"-"`
	// RetryAfter is the value of the header Retry-After in seconds; 0: none.
	RetryAfter int `json:"-"`
}

// Error is the message; it is safe to show.
func (e *Error) Error() string { return e.Message }

// Name returns a name of the code for logs.
func (e *Error) Name() string {
	switch e.Code {
	case CodeParseError:
		return "rpc_parse_error"
	case CodeInvalidRequest:
		return "rpc_invalid_request"
	case CodeMethodNotFound:
		return "rpc_method_not_found"
	case CodeInvalidParams:
		return "rpc_invalid_params"
	case CodeInternalError:
		return "rpc_internal_error"
	}
	return "rpc_" + strconv.Itoa(e.Code)
}

// AppendResult appends the response to the request with that id. The result must be JSON.
func AppendResult(dst []byte, id, result json.RawMessage) []byte {
	dst = AppendResultHead(dst, id)
	dst = append(dst, result...)
	return append(dst, '}')
}

// AppendResultHead appends the part of a response before the result, for results that are rendered
// beforehand. The caller appends a closing brace.
func AppendResultHead(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	return append(dst, `,"result":`...)
}

// AppendError appends an error response. A nil id becomes null: the message has no id or could not
// be parsed.
func AppendError(dst []byte, id json.RawMessage, e *Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	}
	dst = append(dst, id...)
	return appendErrorField(append(dst, ','), e)
}

// AppendErrorWithoutID appends an error that belongs to no message: the request was refused before
// its body was parsed.
func AppendErrorWithoutID(dst []byte, e *Error) []byte {
	return appendErrorField(append(dst, `{"jsonrpc":"2.0",`...), e)
}

func appendErrorField(dst []byte, e *Error) []byte {
	dst = append(dst, `"error":`...)
	encoded, err := json.Marshal(e)
	if err != nil { // the data cannot be encoded; the code still can
		encoded, _ = json.Marshal(&Error{Code: e.Code, Message: e.Message})
	}
	dst = append(dst, encoded...)
	return append(dst, '}')
}
