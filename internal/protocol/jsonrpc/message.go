package jsonrpc

import (
	"bytes"
	"encoding/json"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// Kind is the kind of a message.
type Kind int

// The kinds of messages. The zero Kind is an invalid message; its Err says why.
const (
	Invalid      Kind = iota
	Request           // has a method and an id: expects a response
	Notification      // has a method and no id: gets no response
	Response          // a response to a request of ours
)

// Message is one envelope.
type Message struct {
	Kind   Kind
	ID     json.RawMessage // a JSON string or integer; nil if there is none or it is invalid
	Method string
	Params *jsonread.Value // any JSON value; nil if none was sent
	Err    *Error          // why the message is Invalid
}

// Body is the content of one HTTP request.
type Body struct {
	Batch    bool
	Messages []Message // exactly one when Batch is false; may be none in a batch
}

// Parse parses a body. An error is a parse error: the body is not valid JSON, or neither an object
// nor an array. Errors of single messages are in the messages.
func Parse(data []byte) (Body, *Error) {
	v, err := jsonread.Parse(data)
	if err != nil {
		p, _ := problem.From(err)
		return Body{}, &Error{Code: CodeParseError, Message: "Parse error: " + p.Detail, Status: 400}
	}
	switch v.Kind() {
	case jsonread.Map:
		return Body{Messages: []Message{parseMessage(v)}}, nil
	case jsonread.Array:
		body := Body{Batch: true}
		for entry := range v.Items() {
			body.Messages = append(body.Messages, parseMessage(entry))
		}
		return body, nil
	default:
		return Body{}, &Error{
			Code:    CodeInvalidRequest,
			Message: "Invalid request: send a JSON-RPC object.",
			Status:  400,
		}
	}
}

func parseMessage(v *jsonread.Value) Message {
	if v.Kind() != jsonread.Map {
		return invalid(nil, "each message must be an object.")
	}
	id := v.Field("id").Raw()
	if !validID(id) {
		id = nil
	}
	version, method := v.Field("jsonrpc"), v.Field("method")
	isResponse := v.Field("result").Kind() != jsonread.Absent || v.Field("error").Kind() != jsonread.Absent
	switch {
	case version.Kind() != jsonread.String || version.Text() != "2.0":
		return invalid(id, `the field jsonrpc must be "2.0".`)
	case id == nil && v.Field("id").Kind() != jsonread.Absent:
		return invalid(nil, "the id must be a string or an integer.")
	case method.Kind() == jsonread.Absent && isResponse && id != nil:
		return Message{Kind: Response, ID: id}
	case method.Kind() == jsonread.Absent || isResponse:
		return invalid(id, "a message has either a method, or an id with a result or an error.")
	case method.Kind() != jsonread.String || method.Text() == "":
		return invalid(id, "the method must be a string.")
	}
	kind := Request
	if id == nil {
		kind = Notification
	}
	return Message{Kind: kind, ID: id, Method: method.Text(), Params: v.Field("params")}
}

func invalid(id json.RawMessage, why string) Message {
	return Message{ID: id, Err: &Error{Code: CodeInvalidRequest, Message: "Invalid request: " + why, Status: 400}}
}

// validID reports whether id is a string or an integer without fraction or exponent.
func validID(id []byte) bool {
	if len(id) == 0 {
		return false
	}
	if id[0] == '"' {
		return true
	}
	digits := bytes.TrimPrefix(id, []byte("-"))
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) > 0
}
