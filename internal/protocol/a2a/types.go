package a2a

import (
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/foundation/plainjson"
)

// Version is the negotiated protocol version.
const Version = "1.0"

// The service parameters, which are HTTP headers. The version may also be a
// query parameter of that name.
const (
	HeaderVersion    = "A2A-Version"
	HeaderExtensions = "A2A-Extensions"
)

// The supported media types of parts.
const (
	MediaJSON = "application/json"
	MediaText = "text/plain"
)

// Role is the role of the sender of a message.
type Role string

// The roles.
const (
	RoleUser  Role = "ROLE_USER"
	RoleAgent Role = "ROLE_AGENT"
)

// State is the state of a task.
type State string

// The states. The last four are terminal.
const (
	Submitted     State = "TASK_STATE_SUBMITTED"
	Working       State = "TASK_STATE_WORKING"
	InputRequired State = "TASK_STATE_INPUT_REQUIRED"
	AuthRequired  State = "TASK_STATE_AUTH_REQUIRED"
	Completed     State = "TASK_STATE_COMPLETED"
	Failed        State = "TASK_STATE_FAILED"
	Canceled      State = "TASK_STATE_CANCELED"
	Rejected      State = "TASK_STATE_REJECTED"
)

// States lists all states.
func States() []State {
	return []State{Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}
}

// Terminal reports whether a task in this state accepts no more messages.
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Timestamp is a time in UTC with milliseconds.
type Timestamp struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At returns the timestamp of a time.
func At(t time.Time) Timestamp { return Timestamp{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON writes YYYY-MM-DDTHH:mm:ss.sssZ.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeLayout) + `"`), nil
}

// UnmarshalJSON parses any RFC 3339 time.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("reading a timestamp: %w", err)
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("reading a timestamp: %w", err)
	}
	*t = At(at)
	return nil
}

// Part is a piece of content. Exactly one of Text, Raw, URL and Data is set.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Raw       string          `json:"raw,omitempty"` // base64
	URL       string          `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // any JSON value
	MediaType string          `json:"mediaType,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"` // an object
}

// TextPart returns a part with text.
func TextPart(text string) Part { return Part{Text: &text, MediaType: MediaText} }

// DataPart returns a part with a JSON value.
func DataPart(data json.RawMessage) Part { return Part{Data: data, MediaType: MediaJSON} }

// URLPart returns a part with the URL of a resource.
func URLPart(url, mediaType string) Part { return Part{URL: url, MediaType: mediaType} }

// Message is one turn of a conversation.
type Message struct {
	MessageID        string          `json:"messageId"`
	ContextID        string          `json:"contextId,omitempty"`
	TaskID           string          `json:"taskId,omitempty"`
	Role             Role            `json:"role"`
	Parts            []Part          `json:"parts"`
	Metadata         json.RawMessage `json:"metadata,omitempty"` // an object
	Extensions       []string        `json:"extensions,omitempty"`
	ReferenceTaskIDs []string        `json:"referenceTaskIds,omitempty"`
}

// Status is the state of a task and a message about it.
type Status struct {
	State     State     `json:"state"`
	Message   *Message  `json:"message,omitempty"`
	Timestamp Timestamp `json:"timestamp"`
}

// Artifact is an output of a task.
type Artifact struct {
	ArtifactID  string `json:"artifactId"` // unique within its task
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Parts       []Part `json:"parts"`
}

// Task is a unit of work of an agent.
type Task struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId"`
	Status    Status          `json:"status"`
	Artifacts []Artifact      `json:"artifacts,omitempty"`
	History   []Message       `json:"history,omitempty"` // oldest first, without the message of the status
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// TaskPage is the result of ListTasks.
type TaskPage struct {
	Tasks         []Task `json:"tasks"`
	NextPageToken string `json:"nextPageToken"`
	PageSize      int    `json:"pageSize"`
	TotalSize     int    `json:"totalSize"`
}

// encode encodes JSON without HTML escaping, so that URLs stay readable.
func encode(v any) (json.RawMessage, error) {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding a response: %w", err)
	}
	return text, nil
}
