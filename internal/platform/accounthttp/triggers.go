package accounthttp

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/trigger"
)

// Trigger is a watched event as commands print it.
type Trigger struct {
	ID           string     `json:"id"`
	Type         string     `json:"type"` // app.event
	Mode         string     `json:"mode"`
	Status       string     `json:"status"`
	Reason       string     `json:"status_reason,omitempty"`
	ConnectionID string     `json:"connection_id,omitempty"`
	WebhookURL   string     `json:"webhook_url"`
	Events       int64      `json:"events_count"`
	LastEventAt  *time.Time `json:"last_event_at,omitempty"`
	LastPollAt   *time.Time `json:"last_poll_at,omitempty"`
	NextPollAt   *time.Time `json:"next_poll_at,omitempty"`
	Failures     int        `json:"consecutive_failures"`
	LastError    string     `json:"last_error,omitempty"`
	CreatedAt    time.Time  `json:"created_at"`
	// NextStep says what helps a trigger that does not work.
	NextStep string `json:"next_step,omitempty"`
}

// Triggers are triggers of an account, newest first.
type Triggers struct {
	Triggers []Trigger `json:"triggers"`
	// More says that there are more than MaxTriggers.
	More bool `json:"more,omitempty"`
}

// MaxTriggers is how many triggers a list has at most.
const MaxTriggers = 500

// TriggerHistory is a trigger with its newest events, newest first.
type TriggerHistory struct {
	Trigger
	Recent []TriggerEvent `json:"events"`
}

// TriggerEvent is an event and its deliveries.
type TriggerEvent struct {
	ID         string            `json:"id"`
	Sequence   int64             `json:"sequence"`
	Status     string            `json:"status"`
	Reason     string            `json:"status_reason,omitempty"`
	ReceivedAt time.Time         `json:"received_at"`
	NextAt     *time.Time        `json:"next_attempt_at,omitempty"`
	Body       json.RawMessage   `json:"body"` // as it is posted
	Deliveries []trigger.Attempt `json:"deliveries"`
}

// ReplayRequest says what is delivered again: one event, or, without one, all
// that failed.
type ReplayRequest struct {
	Event string `json:"event,omitempty"`
}

// Replayed is how many events are delivered again.
type Replayed struct {
	Count int `json:"replayed"`
}

func (s *server) routeTriggers(api *openapi.API) {
	openapi.Handle(api, openapi.Operation{
		Method:  http.MethodGet,
		Path:    "/accounts/{name}/triggers",
		ID:      "listTriggers",
		Summary: "Triggers of an account",
	}, s.listTriggers)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/triggers/{id}", ID: "getTrigger", Summary: "A trigger and its newest events",
	}, s.showTrigger)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/triggers/{id}/replay", ID: "replayTrigger", Summary: "Deliver events again",
	}, s.replayTrigger)
}

func (s *server) listTriggers(ctx context.Context, in *nameInput) (*out[Triggers], error) {
	a, err := s.Accounts.ByName(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	found, err := s.Triggers.List(ctx, a.ID, trigger.Query{Limit: MaxTriggers + 1})
	if err != nil {
		return nil, err
	}
	list := Triggers{Triggers: []Trigger{}, More: len(found) > MaxTriggers}
	for _, t := range found[:min(len(found), MaxTriggers)] {
		list.Triggers = append(list.Triggers, wireTrigger(t))
	}
	return &out[Triggers]{list}, nil
}

func (s *server) showTrigger(ctx context.Context, in *struct {
	ID string `path:"id"`
},
) (*out[TriggerHistory], error) {
	t, err := s.Triggers.OfAnyAccount(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	events, err := s.Triggers.History(ctx, t.AccountID, t.ID)
	if err != nil {
		return nil, err
	}
	shown := TriggerHistory{Trigger: wireTrigger(t), Recent: []TriggerEvent{}}
	for _, e := range events {
		shown.Recent = append(shown.Recent, TriggerEvent{
			ID: e.ID, Sequence: e.Sequence, Status: string(e.State), Reason: e.Reason, ReceivedAt: e.ReceivedAt,
			NextAt: optional(e.NextAttemptAt), Body: e.Body, Deliveries: append([]trigger.Attempt{}, e.Attempts...),
		})
	}
	return &out[TriggerHistory]{shown}, nil
}

func (s *server) replayTrigger(ctx context.Context, in *struct {
	ID   string `path:"id"`
	Body ReplayRequest
},
) (*out[Replayed], error) {
	t, err := s.Triggers.OfAnyAccount(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Body.Event == "" {
		n, err := s.Triggers.ReplayFailed(ctx, t.AccountID, t.ID)
		return &out[Replayed]{Replayed{n}}, err
	}
	_, err = s.Triggers.Replay(ctx, t.AccountID, t.ID, in.Body.Event)
	return &out[Replayed]{Replayed{1}}, err
}

func wireTrigger(t *trigger.Trigger) Trigger {
	wire := Trigger{
		ID: t.ID, Type: t.App + "." + t.Event, Mode: string(t.Mode), Status: string(t.Status), Reason: t.Reason,
		ConnectionID: t.ConnectionID, WebhookURL: t.WebhookURL, Events: t.Sequence,
		LastEventAt: optional(t.LastEventAt), LastPollAt: optional(t.LastPollAt), Failures: t.Failures,
		LastError: t.LastError, CreatedAt: t.CreatedAt,
		NextStep: nextStep(t.Reason),
	}
	if t.Mode == trigger.ModePoll {
		wire.NextPollAt = optional(t.NextAt)
	}
	return wire
}

// nextStep says what helps a trigger that does not work, by the reason of its
// state.
func nextStep(reason string) string {
	switch reason {
	case trigger.ByUser:
		return `The owner paused it. To resume it: PATCH /api/v1/triggers/{id} with {"status":"active"}.`
	case trigger.NeedsReconnect:
		return "The owner has to connect the app again; then it resumes by itself."
	case trigger.ConnectionDeleted:
		return "Its connection was deleted. The owner connects the app again and creates a new trigger."
	case trigger.WebhookGone:
		return "The receiver responded with 410. To resume it: PATCH /api/v1/triggers/{id} with another webhook_url " +
			`and "status":"active".`
	case trigger.TooManyFailures:
		return "20 events in a row were not delivered. Repair the receiver; to resume it: " +
			`PATCH /api/v1/triggers/{id} with {"status":"active"}.`
	case trigger.URLNotAllowed:
		return "Its webhook URL is not called: it has to be an https URL of a public host, or in a network of " +
			"ACE_EGRESS_ALLOW."
	case trigger.RegistrationFailed, trigger.PollingFailed:
		return "It is tried again by itself. The last error is what the app said."
	}
	return ""
}
