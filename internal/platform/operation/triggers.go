package operation

import (
	"context"
	"encoding/json"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/trigger"
)

// TriggerType is an event of an app that can be watched.
type TriggerType struct {
	App         string          `json:"app" example:"github"`
	Event       string          `json:"event" example:"new_issue" doc:"Name of the event, to create a trigger with."`
	Type        string          `json:"type" example:"github.new_issue" doc:"Field type of what is posted."`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Mode        string          `json:"mode" enum:"webhook,poll" doc:"webhook: the app sends the event; poll: ACE looks for it."`
	Config      json.RawMessage `json:"config_schema" doc:"JSON Schema of config."`
	Sample      json.RawMessage `json:"sample" doc:"Field data of one event."`
	Example     TriggerPost     `json:"example" doc:"What is posted for such an event."`
	Interval    *int            `json:"poll_interval_seconds" nullable:"true" doc:"How often it is polled by default."`
}

// TriggerPost is what is posted to the webhook of a trigger.
type TriggerPost struct {
	Type         string          `json:"type" example:"github.new_issue"`
	Timestamp    time.Time       `json:"timestamp" doc:"When the event was received or found."`
	EventID      string          `json:"event_id" example:"evt_01jabc" doc:"The webhook-id of all its deliveries."`
	TriggerID    string          `json:"trigger_id" example:"trg_01jabc"`
	ConnectionID string          `json:"connection_id,omitempty" example:"con_01jabc" doc:"Left out where the app needs no connection."`
	App          string          `json:"app" example:"github"`
	Sequence     int64           `json:"sequence" doc:"Numbers the events of the trigger without a gap, from 1."`
	Truncated    bool            `json:"truncated,omitempty" doc:"data was larger than 256 KiB and is null."`
	Data         json.RawMessage `json:"data" doc:"What the app says about the event: sample in GET /apps/{app}/triggers."`
}

// ExamplePost returns what is posted for an event of a type, with made-up ids.
func ExamplePost(app, kind string, data json.RawMessage) TriggerPost {
	return TriggerPost{
		Type: kind, Timestamp: time.Date(2026, time.November, 22, 10, 0, 0, 0, time.UTC),
		EventID: "evt_3zq5tq3e2w6v4mzk7yx5ns4c2a", TriggerID: "trg_01jabc", ConnectionID: "con_01jabc", App: app,
		Sequence: 1, Data: data,
	}
}

// TriggerTypes are the events of an app that can be watched.
type TriggerTypes struct {
	Types []TriggerType `json:"triggers"`
}

// TriggerRequest is a trigger to create.
type TriggerRequest struct {
	App          string         `json:"app" minLength:"1" maxLength:"64" example:"github"`
	Event        string         `json:"event" minLength:"1" maxLength:"64" example:"new_issue"`
	ConnectionID string         `json:"connection_id,omitempty" maxLength:"64" doc:"Empty: the default connection of the app."`
	EndUser      string         `json:"end_user,omitempty" maxLength:"200" doc:"Choose among the connections of this user of yours."`
	Config       map[string]any `json:"config,omitempty" doc:"As config_schema of the event says."`
	WebhookURL   string         `json:"webhook_url" minLength:"1" maxLength:"2048" doc:"https URL that events are posted to."`
	Filter       string         `json:"filter,omitempty" maxLength:"1000" example:"data.title.contains('urgent')" doc:"Common Expression Language over data; only events for which it is true are posted."`
	Interval     int            `json:"poll_interval_seconds,omitempty" minimum:"60" maximum:"86400" doc:"How often the app is polled. Empty: as the event says."`
	Description  string         `json:"description,omitempty" maxLength:"500"`
}

// TriggerChange changes a trigger; what is left out stays.
type TriggerChange struct {
	WebhookURL  *string `json:"webhook_url,omitempty" minLength:"1" maxLength:"2048"`
	Description *string `json:"description,omitempty" maxLength:"500"`
	Filter      *string `json:"filter,omitempty" maxLength:"1000" doc:"Empty: all events are posted."`
	Status      *string `json:"status,omitempty" enum:"active,paused" doc:"paused: events are neither looked for nor posted."`
	Interval    *int    `json:"poll_interval_seconds,omitempty" minimum:"60" maximum:"86400"`
}

// TriggerRotation replaces a signing secret.
type TriggerRotation struct {
	Overlap *int `json:"overlap_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How long deliveries carry a signature with the old secret too. Default: a day."`
}

// Trigger is a watched event.
type Trigger struct {
	ID           string         `json:"id" example:"trg_01jabc"`
	App          string         `json:"app"`
	Event        string         `json:"event"`
	Type         string         `json:"type" example:"github.new_issue"`
	Mode         string         `json:"mode" enum:"webhook,poll"`
	Status       string         `json:"status" enum:"active,paused,error"`
	Reason       *string        `json:"status_reason" nullable:"true" doc:"user, connection_deleted, needs_reconnect (resumes by itself), webhook_gone, too_many_failures, registration_failed, polling_failed, webhook_url_not_allowed."`
	ConnectionID *string        `json:"connection_id" nullable:"true"`
	EndUser      *string        `json:"end_user" nullable:"true"`
	Description  *string        `json:"description" nullable:"true"`
	Config       map[string]any `json:"config"`
	Filter       *string        `json:"filter" nullable:"true" doc:"Which events are posted."`
	WebhookURL   string         `json:"webhook_url"`
	Secret       string         `json:"signing_secret,omitempty" doc:"whsec_…; shown when it is created or replaced."`
	Interval     *int           `json:"poll_interval_seconds" nullable:"true"`
	Health       TriggerHealth  `json:"health"`
	Events       int64          `json:"events_count" doc:"Events so far."`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
}

// TriggerHealth is how a trigger does.
type TriggerHealth struct {
	LastPollAt  *time.Time `json:"last_poll_at" nullable:"true"`
	NextPollAt  *time.Time `json:"next_poll_at" nullable:"true"`
	RenewAt     *time.Time `json:"next_renewal_at" nullable:"true" doc:"When the registration at the app is renewed."`
	LastEventAt *time.Time `json:"last_event_at" nullable:"true"`
	Failures    int        `json:"consecutive_failures" doc:"Polls or registrations in a row that failed."`
	LastError   *string    `json:"last_error" nullable:"true" doc:"What the app said last, where something is wrong."`
}

// TriggerList is a page of triggers.
type TriggerList struct {
	Triggers []Trigger `json:"triggers"`
	Paged
}

// ListTriggersRequest selects triggers. What is empty selects all.
type ListTriggersRequest struct {
	App        string `query:"app" json:"app,omitempty" maxLength:"64"`
	Connection string `query:"connection_id" json:"connection_id,omitempty" maxLength:"64"`
	Status     string `query:"status" json:"status,omitempty" enum:"active,paused,error"`
	Limit      int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
	Cursor     string `query:"cursor" json:"cursor,omitempty" maxLength:"200" doc:"next_cursor of the page before."`
	Include
}

// TriggerEvent is an event of a trigger and its deliveries.
type TriggerEvent struct {
	ID         string            `json:"id" example:"evt_01jabc" doc:"The webhook-id of all its deliveries."`
	Type       string            `json:"type" example:"github.new_issue"`
	Sequence   int64             `json:"sequence"`
	Status     string            `json:"status" enum:"pending,delivered,failed,skipped"`
	Reason     *string           `json:"status_reason" nullable:"true"`
	ReceivedAt time.Time         `json:"received_at"`
	NextAt     *time.Time        `json:"next_attempt_at" nullable:"true"`
	Data       json.RawMessage   `json:"data"`
	Replays    int               `json:"replays"`
	Deliveries []TriggerDelivery `json:"deliveries"`
}

// TriggerDelivery is one attempt to post an event.
type TriggerDelivery struct {
	Attempt     int       `json:"attempt" minimum:"1" maximum:"3"`
	Replay      int       `json:"replay" doc:"0: the first delivery; then the number of the replay."`
	At          time.Time `json:"at"`
	Status      *int      `json:"response_status" nullable:"true" doc:"Null: there was no response."`
	Duration    int64     `json:"duration_ms"`
	Error       *string   `json:"error" nullable:"true" doc:"timeout, unreachable, status, interrupted, or the code of a problem."`
	Response    *string   `json:"response" nullable:"true" doc:"Beginning of the response."`
	Interrupted bool      `json:"interrupted" doc:"The server died meanwhile. It does not count as an attempt."`
}

// TriggerEvents are the newest events of a trigger, at most 50.
type TriggerEvents struct {
	Events []TriggerEvent `json:"events"`
}

// Replayed is how many events are delivered again.
type Replayed struct {
	Count int `json:"replayed"`
}

func showTrigger(t *trigger.Trigger) *Trigger {
	out := &Trigger{
		ID:           t.ID,
		App:          t.App,
		Event:        t.Event,
		Type:         t.App + "." + t.Event,
		Mode:         string(t.Mode),
		Status:       string(t.Status),
		Reason:       optionalText(t.Reason),
		ConnectionID: optionalText(t.ConnectionID),
		EndUser:      optionalText(t.EndUser),
		Description:  optionalText(t.Description),
		Config:       t.Config,
		Filter:       optionalText(t.Filter),
		WebhookURL:   t.WebhookURL,
		Events:       t.Sequence,
		CreatedAt:    inSeconds(t.CreatedAt),
		UpdatedAt:    inSeconds(t.UpdatedAt),
		Health: TriggerHealth{
			LastPollAt: optionalTime(
				t.LastPollAt,
			),
			RenewAt:     optionalTime(t.RenewAt),
			LastEventAt: optionalTime(t.LastEventAt),
			Failures:    t.Failures,
			LastError:   optionalText(t.LastError),
		},
	}
	if t.Mode == trigger.ModePoll {
		seconds := int(t.Interval / time.Second)
		out.Interval, out.Health.NextPollAt = &seconds, optionalTime(t.NextAt)
	}
	return out
}

func showEvent(e *trigger.Event) *TriggerEvent {
	var posted struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(e.Body, &posted) != nil || posted.Data == nil {
		posted.Data = json.RawMessage("null")
	}
	out := &TriggerEvent{
		ID:       e.ID,
		Type:     e.Type,
		Sequence: e.Sequence,
		Status:   string(e.State),
		Reason:   optionalText(e.Reason),
		ReceivedAt: inSeconds(
			e.ReceivedAt,
		),
		NextAt:     optionalTime(e.NextAttemptAt),
		Data:       posted.Data,
		Replays:    e.Series,
		Deliveries: []TriggerDelivery{},
	}
	for _, a := range e.Attempts {
		shown := TriggerDelivery{
			Attempt: a.Number, Replay: a.Series, At: a.At, Duration: a.Duration, Error: optionalText(a.Error),
			Response: optionalText(a.Response), Interrupted: a.Interrupted,
		}
		if a.Status != 0 {
			shown.Status = &a.Status
		}
		out.Deliveries = append(out.Deliveries, shown)
	}
	return out
}

// ShowTriggerType is an event of a definition as results show it.
func ShowTriggerType(t *app.Trigger) (TriggerType, error) {
	out := TriggerType{
		App: t.App, Event: t.Name, Type: t.ID, Title: t.Title, Description: t.About, Mode: string(trigger.ModeHook),
		Config: t.InputSchema,
	}
	if t.Hook == nil {
		seconds := int(max(time.Duration(t.Poll.Every), app.MinPoll) / time.Second)
		if t.Poll.Every == 0 {
			seconds = int(trigger.DefaultInterval / time.Second)
		}
		out.Mode, out.Interval = string(trigger.ModePoll), &seconds
	}
	var err error
	out.Sample, err = json.Marshal(t.Sample)
	out.Example = ExamplePost(t.App, t.ID, out.Sample)
	return out, err
}

// ListTriggerTypes returns the events of an app that can be watched. Its problem
// is app_not_found (NotFound).
func (s *Service) ListTriggerTypes(ctx context.Context, c *Caller, appID string) (*TriggerTypes, error) {
	if err := Authorize(c, ListTriggerTypes); err != nil {
		return nil, err
	}
	_, offers, err := s.Triggers.Types(ctx, c.Account, appID)
	if err != nil {
		return nil, err
	}
	if !c.Restrictions().AllowsApp(appID) {
		return nil, problem.New(problem.NotFound, "app_not_found", "There is no such app.")
	}
	out := &TriggerTypes{Types: []TriggerType{}}
	for _, one := range offers {
		shown, err := ShowTriggerType(one)
		if err != nil {
			return nil, err
		}
		out.Types = append(out.Types, shown)
	}
	return out, nil
}

// CreateTrigger starts to watch an event, once for each idempotency key. Its
// problems are those of trigger.Service.Create, key_restricted (Forbidden) and
// those of Idempotency.Create.
func (s *Service) CreateTrigger(ctx context.Context, c *Caller, idempotencyKey string, in TriggerRequest) (
	created *Trigger, replayed bool, err error,
) {
	if err := Authorize(c, CreateTrigger); err != nil {
		return nil, false, err
	}
	restrict := c.Restrictions()
	if !restrict.AllowsApp(in.App) || restrict.EndUser != "" && in.EndUser != "" && in.EndUser != restrict.EndUser {
		return nil, false, problem.New(problem.Forbidden, "key_restricted",
			"This key is restricted to other apps, or to another user.").Advise("ask_owner_for_permission")
	}
	if in.Event == app.NewItem {
		id, _ := in.Config["tool"].(string)
		if !restrict.AllowsTool(in.App, id) {
			return nil, false, problem.New(problem.Forbidden, "key_restricted",
				"This key is restricted to other tools.").Advise("ask_owner_for_permission")
		}
	}
	endUser := in.EndUser
	if restrict.EndUser != "" {
		endUser = restrict.EndUser
		if err := s.ownConnection(ctx, c, in.ConnectionID); err != nil {
			return nil, false, err
		}
	}
	var t *trigger.Trigger
	made, err := s.Idempotency.Create(ctx, c.Account+" triggers", idempotencyKey, in, trigger.NewID,
		func(id string) error {
			t, err = s.Triggers.Create(ctx, c.Actor, c.Account, trigger.Request{
				ID: id, App: in.App, Event: in.Event, ConnectionID: in.ConnectionID, EndUser: endUser,
				Description: in.Description, Config: in.Config, Filter: in.Filter, WebhookURL: in.WebhookURL,
				Interval: time.Duration(in.Interval) * time.Second,
			})
			return err
		})
	if err != nil {
		return nil, false, err
	}
	if t == nil { // a repetition
		if t, err = s.Triggers.Get(ctx, c.Account, made.ID); err != nil {
			return nil, false, err
		}
	}
	created = showTrigger(t)
	created.Secret = s.Triggers.Secret(t).Reveal()
	return created, made.Replayed, nil
}

// ownConnection refuses a connection that the caller may not know of.
func (s *Service) ownConnection(ctx context.Context, c *Caller, id string) error {
	if id == "" {
		return nil
	}
	found, err := s.Connections.Get(ctx, c.Account, id)
	if err == nil && !c.reaches(found.App, found.EndUser) {
		err = problem.New(problem.NotFound, "connection_not_found", "There is no connection with this id.").
			Advise("connect_app")
	}
	return err
}

// ListTriggers returns triggers, newest first. Its problem is invalid_cursor
// (Invalid).
func (s *Service) ListTriggers(ctx context.Context, c *Caller, in ListTriggersRequest) (*TriggerList, error) {
	if err := Authorize(c, ListTriggers); err != nil {
		return nil, err
	}
	list, limit := filters("triggers", in.App, in.Connection, in.Status), limited(in.Limit, 20, 100)
	restrict := c.Restrictions()
	q := trigger.Query{
		App: in.App, ConnectionID: in.Connection, Status: trigger.Status(in.Status), Apps: restrict.Apps,
		EndUser: restrict.EndUser, Limit: limit + 1,
	}
	var err error
	if q.BeforeTime, q.BeforeID, err = readTimeCursor(list, in.Cursor); err != nil {
		return nil, err
	}
	found, err := s.Triggers.List(ctx, c.Account, q)
	if err != nil {
		return nil, err
	}
	out := &TriggerList{Triggers: []Trigger{}}
	if len(found) > limit {
		found = found[:limit]
		next := timeCursor(list, found[limit-1].CreatedAt, found[limit-1].ID)
		out.NextCursor = &next
	}
	for _, t := range found {
		out.Triggers = append(out.Triggers, *showTrigger(t))
	}
	out.Counted, err = in.Total(func() (int, error) { return s.Triggers.Count(ctx, c.Account, q) })
	return out, err
}

// visibleTrigger authorizes an operation on a trigger that the caller may know
// of. Its problem is trigger_not_found (NotFound).
func (s *Service) visibleTrigger(ctx context.Context, c *Caller, operation ID, id string) (*trigger.Trigger, error) {
	if err := Authorize(c, operation); err != nil {
		return nil, err
	}
	t, err := s.Triggers.Get(ctx, c.Account, id)
	if err == nil && !c.reaches(t.App, t.EndUser) {
		return nil, problem.New(problem.NotFound, "trigger_not_found", "There is no trigger with this id.")
	}
	return t, err
}

// Trigger returns a trigger. Its problem is trigger_not_found (NotFound).
func (s *Service) Trigger(ctx context.Context, c *Caller, id string) (*Trigger, error) {
	t, err := s.visibleTrigger(ctx, c, GetTrigger, id)
	if err != nil {
		return nil, err
	}
	return showTrigger(t), nil
}

// ChangeTrigger changes, pauses or resumes a trigger. Its problems are those of
// trigger.Service.Update.
func (s *Service) ChangeTrigger(ctx context.Context, c *Caller, id string, in TriggerChange) (*Trigger, error) {
	if _, err := s.visibleTrigger(ctx, c, ChangeTrigger, id); err != nil {
		return nil, err
	}
	change := trigger.Change{WebhookURL: in.WebhookURL, Description: in.Description, Filter: in.Filter}
	if in.Status != nil {
		paused := *in.Status == string(trigger.Paused)
		change.Paused = &paused
	}
	if in.Interval != nil {
		every := time.Duration(*in.Interval) * time.Second
		change.Interval = &every
	}
	t, err := s.Triggers.Update(ctx, c.Actor, c.Account, id, change)
	if err != nil {
		return nil, err
	}
	return showTrigger(t), nil
}

// DeleteTrigger deletes a trigger. Its problem is trigger_not_found (NotFound).
func (s *Service) DeleteTrigger(ctx context.Context, c *Caller, id string) error {
	if _, err := s.visibleTrigger(ctx, c, DeleteTrigger, id); err != nil {
		return err
	}
	return s.Triggers.Delete(ctx, c.Actor, c.Account, id)
}

// defaultOverlap is how long a replaced secret signs besides the new one.
const defaultOverlap = 24 * time.Hour

// RotateTriggerSecret replaces the signing secret of a trigger. Its problem is
// trigger_not_found (NotFound).
func (s *Service) RotateTriggerSecret(ctx context.Context, c *Caller, id string, in TriggerRotation) (*Trigger,
	error,
) {
	if _, err := s.visibleTrigger(ctx, c, RotateTriggerSecret, id); err != nil {
		return nil, err
	}
	overlap := defaultOverlap
	if in.Overlap != nil {
		overlap = time.Duration(*in.Overlap) * time.Second
	}
	t, err := s.Triggers.Rotate(ctx, c.Actor, c.Account, id, overlap)
	if err != nil {
		return nil, err
	}
	out := showTrigger(t)
	out.Secret = s.Triggers.Secret(t).Reveal()
	return out, nil
}

// TestTrigger posts the sample of a trigger. Its problem is trigger_not_found
// (NotFound).
func (s *Service) TestTrigger(ctx context.Context, c *Caller, id string) (*TriggerEvent, error) {
	if _, err := s.visibleTrigger(ctx, c, TestTrigger, id); err != nil {
		return nil, err
	}
	e, err := s.Triggers.Test(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	return showEvent(e), nil
}

// ListTriggerEvents returns the newest 50 events of a trigger. Its problem is
// trigger_not_found (NotFound).
func (s *Service) ListTriggerEvents(ctx context.Context, c *Caller, id string) (*TriggerEvents, error) {
	if _, err := s.visibleTrigger(ctx, c, ListTriggerEvents, id); err != nil {
		return nil, err
	}
	events, err := s.Triggers.History(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	out := &TriggerEvents{Events: []TriggerEvent{}}
	for _, e := range events {
		out.Events = append(out.Events, *showEvent(e))
	}
	return out, nil
}

// TriggerEvent returns one event of a trigger. Its problems: trigger_not_found,
// event_not_found (NotFound).
func (s *Service) TriggerEvent(ctx context.Context, c *Caller, id, eventID string) (*TriggerEvent, error) {
	if _, err := s.visibleTrigger(ctx, c, GetTriggerEvent, id); err != nil {
		return nil, err
	}
	e, err := s.Triggers.Event(ctx, c.Account, id, eventID)
	if err != nil {
		return nil, err
	}
	return showEvent(e), nil
}

// ReplayTriggerEvent delivers an event again. Its problems: trigger_not_found,
// event_not_found (NotFound), event_pending (Conflict).
func (s *Service) ReplayTriggerEvent(ctx context.Context, c *Caller, id, eventID string) (*TriggerEvent, error) {
	if _, err := s.visibleTrigger(ctx, c, ReplayTriggerEvent, id); err != nil {
		return nil, err
	}
	e, err := s.Triggers.Replay(ctx, c.Account, id, eventID)
	if err != nil {
		return nil, err
	}
	return showEvent(e), nil
}

// ReplayFailedEvents delivers all events of the history that failed again. Its
// problem is trigger_not_found (NotFound).
func (s *Service) ReplayFailedEvents(ctx context.Context, c *Caller, id string) (*Replayed, error) {
	if _, err := s.visibleTrigger(ctx, c, ReplayFailedEvents, id); err != nil {
		return nil, err
	}
	n, err := s.Triggers.ReplayFailed(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	return &Replayed{n}, nil
}
