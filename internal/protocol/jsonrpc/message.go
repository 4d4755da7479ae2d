package jsonrpc

import (
	"bytes"
	"encoding/json"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
)

// Kind says what a message is.
type Kind int

// The kinds of messages. The zero Kind is a message that is none of them; its
// Fault says why.
const (
	Invalid      Kind = iota
	Request           // has a method and an id: wants an answer
	Notification      // has a method and no id: gets no answer
	Response          // answers a request of ours
)

// Message is one envelope.
type Message struct {
	Kind   Kind
	ID     json.RawMessage // a JSON string or integer; nil when there is none that can be echoed
	Method string
	Params json.RawMessage // any JSON value; nil when absent
	Fault  *Error          // why the message is Invalid
}

// Body is what one HTTP request carries.
type Body struct {
	Batch    bool
	Messages []Message // exactly one when Batch is false; may be none in a batch
}

// Parse reads a body. An error is a parse error: the body is not sound JSON, or
// neither an object nor an array. Faults of single messages are in the
// messages.
func Parse(data []byte) (Body, *Error) {
	if err := httpserver.CheckJSON(data); err != nil {
		p, _ := problem.From(err)
		return Body{}, &Error{Code: CodeParseError, Message: "Parse error: " + p.Detail, Status: 400}
	}
	data = bytes.TrimSpace(data)
	switch data[0] {
	case '{':
		return Body{Messages: []Message{parseMessage(data)}}, nil
	case '[':
		body := Body{Batch: true}
		walkArray(data, func(entry []byte) { body.Messages = append(body.Messages, parseMessage(entry)) })
		return body, nil
	}
	return Body{}, &Error{Code: CodeInvalidRequest, Message: "Invalid request: send a JSON-RPC object.", Status: 400}
}

// envelope holds the members of an object as they came.
type envelope struct {
	version, id, method, params []byte
	answers                     bool // has result or error
}

func parseMessage(data []byte) Message {
	if data[0] != '{' {
		return invalid(nil, "each message must be an object.")
	}
	var e envelope
	WalkObject(data, func(name string, value []byte) {
		switch name {
		case "jsonrpc":
			e.version = value
		case "id":
			e.id = value
		case "method":
			e.method = value
		case "params":
			e.params = value
		case "result", "error":
			e.answers = true
		}
	})
	return e.message()
}

func (e *envelope) message() Message {
	id := e.id
	if !validID(id) {
		id = nil
	}
	switch {
	case string(e.version) != `"2.0"`:
		return invalid(id, `the member jsonrpc must be "2.0".`)
	case e.id != nil && id == nil:
		return invalid(nil, "the id must be a string or an integer.")
	case e.method == nil && e.answers && id != nil:
		return Message{Kind: Response, ID: id}
	case e.method == nil || e.answers:
		return invalid(id, "a message has either a method, or an id with a result or an error.")
	}
	var method string
	if err := json.Unmarshal(e.method, &method); err != nil || method == "" || e.method[0] != '"' {
		return invalid(id, "the method must be a string.")
	}
	kind := Request
	if id == nil {
		kind = Notification
	}
	return Message{Kind: kind, ID: id, Method: method, Params: e.params}
}

func invalid(id json.RawMessage, why string) Message {
	return Message{ID: id, Fault: &Error{Code: CodeInvalidRequest, Message: "Invalid request: " + why, Status: 400}}
}

// validID takes strings, and integers without fraction or exponent.
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
