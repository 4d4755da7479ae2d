package mcphttp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/protocol/mcp"
)

type connectInput struct {
	App          string            `json:"app"`
	Label        string            `json:"label"`
	ConnectionID string            `json:"connection_id"`
	Scopes       []string          `json:"scopes"`
	Params       map[string]string `json:"params"`
	SessionID    string            `json:"session_id"`
	WaitSeconds  int               `json:"wait_seconds"`
}

type connectOutput struct {
	App          string    `json:"app"`
	Status       string    `json:"status"` // of the session, or declined
	URL          string    `json:"url,omitempty"`
	SessionID    string    `json:"session_id"`
	ConnectionID *string   `json:"connection_id"`
	ExpiresAt    time.Time `json:"expires_at"`
	Message      string    `json:"message"`
}

// connectApp creates a sign-in link, and waits for one.
func (h *Handler) connectApp(ctx context.Context, call *mcp.Call, arguments json.RawMessage) (*mcp.Result, error) {
	in := &connectInput{}
	if err := json.Unmarshal(arguments, in); err != nil {
		return nil, fmt.Errorf("reading arguments: %w", err)
	}
	caller := gate.From(ctx)
	earlier, err := h.resume(ctx, call)
	switch {
	case err != nil:
		return nil, err
	case earlier != nil:
		return h.connectAnswered(ctx, call, earlier)
	case in.SessionID != "":
		s, err := h.Operations.ConnectSession(ctx, caller, in.SessionID, time.Duration(in.WaitSeconds)*time.Second)
		if err != nil {
			return nil, err
		}
		return structured(sessionState(s))
	}
	link, _, err := h.Operations.ConnectApp(ctx, caller, "", in.App, operation.ConnectRequest{
		ConnectionID: in.ConnectionID,
		ReconnectRequest: operation.ReconnectRequest{
			Label: in.Label, Scopes: in.Scopes, Params: in.Params,
		},
	})
	if err != nil {
		return nil, err
	}
	if call.Opens {
		return h.askToConnect(ctx, call, link.App, pending{Session: link.SessionID, URL: link.URL})
	}
	return structured(&connectOutput{
		App:       link.App,
		Status:    link.Status,
		URL:       link.URL,
		SessionID: link.SessionID,
		ExpiresAt: link.ExpiresAt,
		Message: "Show url to the user, who signs in there. Then call connect_app with app, " +
			"session_id and wait_seconds.",
	})
}

// connectAnswered continues a call whose user was asked to sign in.
func (h *Handler) connectAnswered(ctx context.Context, call *mcp.Call, p *pending) (*mcp.Result, error) {
	s, done, err := h.awaitSession(ctx, call, p)
	if err != nil {
		return nil, err
	}
	out := sessionState(s)
	if !done {
		if p.Round < maxRounds {
			return h.askToConnect(ctx, call, s.App, *p)
		}
		out.URL = p.URL
	}
	return structured(out)
}

// sessionState shows how far a sign-in is.
func sessionState(s *operation.ConnectSession) *connectOutput {
	out := &connectOutput{
		App: s.App, Status: s.Status, SessionID: s.ID, ConnectionID: s.ConnectionID, ExpiresAt: s.ExpiresAt,
	}
	switch s.Status {
	case "connected":
		out.Message = "Connected. Run the tools of the app now."
	case "pending", "opened":
		out.Message = "The user has not finished. Call connect_app with app, session_id and wait_seconds again."
	case "canceled":
		out.Message = "The user declined, or the link was canceled. Ask the user before you try again."
	default:
		out.Message = "The link cannot be used any more. Call connect_app with app for a new one."
	}
	if s.Error != nil && s.Status != "canceled" {
		out.Message = s.Error.Detail + " " + out.Message
	}
	return out
}

// structured is the result of a value.
func structured(v any) (*mcp.Result, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	return &mcp.Result{Structured: text}, nil
}
