package a2a

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
)

// The limits of a request, in characters if not noted otherwise.
const (
	MaxBody  = 128 << 10 // bytes
	MaxParts = 16        // of a message
	MaxText  = 40_000    // of a text part
	MaxID    = 256       // of ids chosen by clients
	maxURIs  = 32        // extensions, references and output modes
)

// The size of a page of tasks.
const (
	DefaultPageSize = 50
	MaxPageSize     = 100
)

// SendRequest are the parameters of SendMessage.
type SendRequest struct {
	Message             Message
	AcceptedOutputModes []string // media types or ranges; empty: any
	HistoryLength       *int     // nil: all of it
	ReturnImmediately   bool
	// Push reports whether push notifications were requested.
	Push bool
}

// GetRequest are the parameters of GetTask.
type GetRequest struct {
	ID            string
	HistoryLength *int
}

// ListRequest are the parameters of ListTasks.
type ListRequest struct {
	ContextID        string
	State            State // "": any
	PageSize         int
	PageToken        string
	HistoryLength    *int
	Since            time.Time // of the status; zero: any
	IncludeArtifacts bool
}

// CancelRequest are the parameters of CancelTask.
type CancelRequest struct{ ID string }

// ReadSend parses the parameters of SendMessage. The error lists all invalid ones.
func ReadSend(params *jsonread.Value) (*SendRequest, *jsonrpc.Error) {
	o, fault := readParams(params)
	if fault != nil {
		return nil, fault
	}
	req := &SendRequest{}
	if o.Need("message", "Send the message.") {
		req.Message = readMessage(o.Object("message"))
	}
	c := o.Object("configuration")
	req.AcceptedOutputModes = c.Texts("acceptedOutputModes", maxURIs, MaxID)
	req.HistoryLength = historyLength(c)
	req.ReturnImmediately = c.Bool("returnImmediately")
	req.Push = c.Has("taskPushNotificationConfig") || c.Has("pushNotificationConfig")
	return req, invalid(o)
}

// ReadGet parses the parameters of GetTask.
func ReadGet(params *jsonread.Value) (*GetRequest, *jsonrpc.Error) {
	o, fault := readParams(params)
	if fault != nil {
		return nil, fault
	}
	req := &GetRequest{ID: taskID(o), HistoryLength: historyLength(o)}
	return req, invalid(o)
}

// ReadCancel parses the parameters of CancelTask.
func ReadCancel(params *jsonread.Value) (*CancelRequest, *jsonrpc.Error) {
	o, fault := readParams(params)
	if fault != nil {
		return nil, fault
	}
	req := &CancelRequest{ID: taskID(o)}
	return req, invalid(o)
}

// ReadList parses the parameters of ListTasks, which may be absent.
func ReadList(params *jsonread.Value) (*ListRequest, *jsonrpc.Error) {
	o, err := params.OptionalObject()
	if err != nil {
		_, fault := readParams(params)
		return nil, fault
	}
	req := &ListRequest{
		ContextID: o.Text("contextId", MaxID), PageToken: o.Text("pageToken", MaxID), HistoryLength: historyLength(o),
		IncludeArtifacts: o.Bool("includeArtifacts"), PageSize: DefaultPageSize,
	}
	if size, ok := o.Int("pageSize", 1, MaxPageSize); ok {
		req.PageSize = int(size)
	}
	if req.State = State(o.Text("status", 64)); req.State == "TASK_STATE_UNSPECIFIED" {
		req.State = ""
	}
	if req.State != "" && !slices.Contains(States(), req.State) {
		o.Fault("status", "invalid_choice",
			"Unknown state. Send one such as "+string(Completed)+" or "+string(InputRequired)+".")
	}
	if text := o.Text("statusTimestampAfter", 64); text != "" {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			o.Fault("statusTimestampAfter", "invalid_format", "Send a time such as 2026-11-21T10:00:00Z.")
		}
		req.Since = since
	}
	return req, invalid(o)
}

func readParams(params *jsonread.Value) (jsonread.Object, *jsonrpc.Error) {
	o, err := params.Object()
	if err != nil {
		return o, InvalidParams(FieldViolation{Description: "params must be an object.", Reason: "INVALID_TYPE"})
	}
	return o, nil
}

// invalid returns an error with the recorded violations, or nil.
func invalid(o jsonread.Object) *jsonrpc.Error {
	err := o.Err()
	if err == nil {
		return nil
	}
	p, _ := problem.From(err)
	return InvalidParams(violations(p)...)
}

// required reads a text that must not be empty.
func required(o jsonread.Object, name string, most int, detail string) string {
	if !o.Need(name, detail) {
		return ""
	}
	text := o.Text(name, most)
	if text == "" && o.IsText(name) && strings.TrimSpace(string(o.JSON(name))) == `""` {
		o.Fault(name, "missing_field", detail)
	}
	return text
}

func taskID(o jsonread.Object) string {
	return required(o, "id", MaxID, "Name the task by its id.")
}

func historyLength(o jsonread.Object) *int {
	n, ok := o.Int("historyLength", 0, 1<<31-1)
	if !ok {
		return nil
	}
	length := int(n)
	return &length
}

func readMessage(o jsonread.Object) Message {
	m := Message{
		MessageID: required(o, "messageId", MaxID, "Set a unique message id, for example a UUID."),
		ContextID: o.Text("contextId", MaxID), TaskID: o.Text("taskId", MaxID),
		Extensions: o.Texts("extensions", maxURIs, MaxID), ReferenceTaskIDs: o.Texts("referenceTaskIds", maxURIs,
			MaxID),
		Metadata: object(o, "metadata"),
	}
	if !o.Present() {
		return m
	}
	if o.Need("role", "Send "+string(RoleUser)+".") {
		if m.Role = Role(o.Text("role", 64)); m.Role != RoleUser && o.IsText("role") {
			o.Fault("role", "invalid_choice", "Messages to an agent have the role "+string(RoleUser)+".")
		}
	}
	if o.Need("parts", "Send at least one part.") {
		parts := o.Objects("parts", MaxParts)
		for _, p := range parts {
			m.Parts = append(m.Parts, readPart(p))
		}
		if string(o.JSON("parts")) == "[]" {
			o.Fault("parts", "missing_field", "Send at least one part.")
		}
	}
	return m
}

// readPart reads a part. Its kind follows from the field that holds the content.
func readPart(o jsonread.Object) Part {
	p := Part{
		MediaType: o.Text("mediaType", MaxID), Filename: o.Text("filename", MaxID),
		Metadata: object(o, "metadata"),
	}
	kinds := 0
	for _, kind := range []string{"text", "raw", "url", "data"} {
		if o.Has(kind) {
			kinds++
		}
	}
	if kinds != 1 {
		o.Fault("", "invalid_part", "A part has exactly one of the fields text, raw, url and data.")
		return p
	}
	switch {
	case o.Has("text"):
		text := o.Text("text", MaxText)
		p.Text = &text
	case o.Has("raw"):
		p.Raw = o.Text("raw", MaxBody)
		if _, err := base64.StdEncoding.DecodeString(p.Raw); err != nil {
			o.Fault("raw", "invalid_format", "Send the bytes in base64.")
		}
	case o.Has("url"):
		p.URL = required(o, "url", 2048, "Send an address.")
	default:
		p.Data = o.JSON("data")
	}
	return p
}

// object reads a field that must be an object, as raw JSON.
func object(o jsonread.Object, name string) json.RawMessage {
	if !o.Object(name).Present() {
		return nil
	}
	return o.JSON(name)
}
