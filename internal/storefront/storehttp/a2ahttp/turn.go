package a2ahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"ace/internal/protocol/a2a"
)

// guessable is the length below which two clients may come upon the same id by
// chance, or one upon that of another; then the network distinguishes them.
const guessable = 16

// turn is one message on its way.
type turn struct {
	message a2a.Message
	header  http.Header
	owner   string   // digest of the client's network
	sent    a2a.Sent // identifies the message
	asText  bool     // the client takes no JSON, only text
}

// scope stands for a context in lists: itself, or if others may guess it, what
// it is together with the network of who uses it.
func (f *Handler) scope(ctx context.Context, contextID string) string {
	if len(contextID) >= guessable {
		return contextID
	}
	return f.MAC("a2a context", []byte(f.Clients.ClientKey(ctx)), []byte(contextID))
}

// newTurn reads who sends a message and what it is known by. In a context, or
// in a task, its id identifies it. Without either it would begin a new
// conversation: then it is a repetition only where it also says the same.
func (f *Handler) newTurn(ctx context.Context, header http.Header, req *a2a.SendRequest) (*turn, error) {
	m := req.Message
	said, err := json.Marshal(m.Parts)
	if err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	t := &turn{message: m, header: header, owner: f.Clients.ClientKey(ctx), asText: textOnly(req.AcceptedOutputModes)}
	t.sent.Fingerprint = f.MAC("a2a message", []byte(m.TaskID), said)
	conversation := "task " + m.TaskID
	switch {
	case m.TaskID != "":
	case m.ContextID != "":
		conversation = "context " + f.scope(ctx, m.ContextID)
	case len(m.MessageID) < guessable:
		conversation = "client " + t.owner + " " + t.sent.Fingerprint
	default:
		conversation = "new " + t.sent.Fingerprint
	}
	t.sent.Key = f.MAC("a2a message id", []byte(conversation), []byte(m.MessageID))
	return t, nil
}

// earlier returns the task that the message went into before, or nil.
func (f *Handler) earlier(ctx context.Context, t *turn) (*a2a.Record, error) {
	rec, fingerprint, err := f.Tasks.Sent(ctx, t.sent.Key)
	if errors.Is(err, a2a.ErrNoTask) {
		return nil, nil //nolint:nilnil // most messages are new
	}
	if err != nil {
		return nil, err
	}
	if fingerprint != t.sent.Fingerprint {
		return nil, a2a.InvalidParams(a2a.FieldViolation{
			Field: "message.messageId",
			Description: "A message with this id and other content was sent before. Give each message an id of its " +
				"own.",
			Reason: "DUPLICATE",
		})
	}
	return &rec, nil
}

// checkModes refuses a client that takes nothing that this agent can produce.
func checkModes(modes []string) error {
	if len(modes) == 0 || takes(modes, a2a.MediaJSON) || takes(modes, a2a.MediaText) {
		return nil
	}
	return a2a.NewError(a2a.CodeContentTypeNotSupport,
		"This agent answers application/json and text/plain; accept one of them.", "supported",
		a2a.MediaJSON+", "+a2a.MediaText)
}

func textOnly(modes []string) bool { return len(modes) > 0 && !takes(modes, a2a.MediaJSON) }

func takes(modes []string, mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	for _, mode := range modes {
		mode, _, _ = strings.Cut(mode, ";")
		switch strings.ToLower(strings.TrimSpace(mode)) {
		case mediaType, kind + "/*", "*/*", "*":
			return true
		}
	}
	return false
}

// part is a JSON value in a form that the client takes.
func (t *turn) part(data json.RawMessage) a2a.Part {
	if t.asText {
		return a2a.TextPart(string(data))
	}
	return a2a.DataPart(data)
}
