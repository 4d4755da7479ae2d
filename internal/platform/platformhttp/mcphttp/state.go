package mcphttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/protocol/mcp"
)

// Names of what a user is asked for.
const (
	askConnect  = "connect"
	askApproval = "approval"
)

const (
	// stateLifetime is how long a question can be answered.
	stateLifetime = 15 * time.Minute
	// maxRounds is how often one call asks.
	maxRounds = 3
	// answerWait is how long a repeated call waits for what its user has begun.
	answerWait = 25 * time.Second
)

// pending is what a call waits for. The client holds it, sealed for the key, the
// tool and the arguments of the call.
type pending struct {
	Session string    `json:"session,omitempty"` // connect session
	Run     string    `json:"run,omitempty"`     // run that waits for approval
	URL     string    `json:"url"`
	Round   int       `json:"round"`
	Until   time.Time `json:"until"`
}

// placeOf binds a state to the caller and to what is called.
func placeOf(ctx context.Context, call *mcp.Call) seal.Place {
	c := gate.From(ctx)
	arguments := []byte("{}")
	if call.Arguments != nil {
		arguments = call.Arguments.Raw()
	}
	sum := sha256.Sum256(arguments)
	return seal.Place{
		Table: "mcp_question", Column: "state", Account: c.Account,
		Row: c.Key.ID + " " + call.Tool + " " + hex.EncodeToString(sum[:]),
	}
}

// resume returns what a repeated call waits for; nil for a first call. Its problem
// is state_invalid (Invalid).
func (h *Handler) resume(ctx context.Context, call *mcp.Call) (*pending, error) {
	if call.State == "" {
		return nil, nil
	}
	invalid := problem.New(problem.Invalid, "state_invalid",
		"This requestState does not belong to this call, or is too old. Call again without it.").Advise("fix_arguments")
	plain, err := h.Sealer.Open(call.State, placeOf(ctx, call))
	if err != nil {
		return nil, invalid
	}
	p := &pending{}
	if err := json.Unmarshal(plain, p); err != nil || time.Now().After(p.Until) {
		return nil, invalid
	}
	return p, nil
}

// ask returns a question with a state that continues p.
func (h *Handler) ask(ctx context.Context, call *mcp.Call, name, message string, p pending) (*mcp.Result, error) {
	p.Round++
	if p.Until.IsZero() {
		p.Until = time.Now().Add(stateLifetime)
	}
	plain, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding a state: %w", err)
	}
	sealed, err := h.Sealer.Seal(plain, placeOf(ctx, call))
	if err != nil {
		return nil, fmt.Errorf("sealing a state: %w", err)
	}
	return &mcp.Result{Question: &mcp.Question{Name: name, URL: p.URL, Message: message, State: sealed}}, nil
}

// askToConnect asks the user to open a sign-in link.
func (h *Handler) askToConnect(ctx context.Context, call *mcp.Call, appID string, p pending) (*mcp.Result, error) {
	caller := gate.From(ctx)
	a, err := h.Operations.Apps.App(ctx, caller.Account, appID)
	if err != nil {
		return nil, err
	}
	message := fmt.Sprintf("Connect %s. The key %q asks for it.", a.Name, caller.Key.Name)
	return h.ask(ctx, call, askConnect, message, p)
}

// awaitSession waits for the sign-in that a call asked for. done is false where
// the user may still be at it.
func (h *Handler) awaitSession(ctx context.Context, call *mcp.Call, p *pending) (s *operation.ConnectSession,
	done bool, err error,
) {
	caller := gate.From(ctx)
	wait := time.Duration(0)
	switch call.Action(askConnect) {
	case "accept":
		wait = answerWait
	case "decline", "cancel":
		if err := h.Operations.CancelConnectSession(ctx, caller, p.Session); err != nil {
			return nil, false, err
		}
	}
	s, err = h.Operations.ConnectSession(ctx, caller, p.Session, wait)
	if err != nil {
		return nil, false, err
	}
	return s, s.Status != "pending" && s.Status != "opened", nil
}
