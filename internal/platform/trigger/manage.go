package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
)

// Types returns the triggers that an account can create for an app. It returns
// app_not_found (NotFound).
func (s *Service) Types(ctx context.Context, accountID, appID string) (*app.App, []*app.Trigger, error) {
	a, err := s.Apps.App(ctx, accountID, appID)
	if err != nil {
		return nil, nil, err
	}
	return a, offers(a), nil
}

// Get returns trigger_not_found (NotFound), also for one of another account.
func (s *Service) Get(ctx context.Context, accountID, id string) (*Trigger, error) {
	return s.Store.Trigger(ctx, accountID, id)
}

// OfAnyAccount returns a trigger whatever its account, for the operator. Its
// problem is trigger_not_found (NotFound).
func (s *Service) OfAnyAccount(ctx context.Context, id string) (*Trigger, error) {
	t, err := s.Store.AnyTrigger(ctx, id)
	if err == nil && (t == nil || t.Status == Registering || !t.DeletedAt.IsZero()) {
		return nil, notFound()
	}
	return t, err
}

// List returns triggers of an account, newest first.
func (s *Service) List(ctx context.Context, accountID string, q Query) ([]*Trigger, error) {
	return s.Store.ListTriggers(ctx, accountID, q)
}

// Count counts the triggers that q selects, on all pages.
func (s *Service) Count(ctx context.Context, accountID string, q Query) (int, error) {
	return s.Store.CountTriggers(ctx, accountID, q)
}

// Change is what an owner changes of a trigger; nil stays.
type Change struct {
	WebhookURL  *string
	Description *string
	Filter      *string // empty: all events are posted
	Paused      *bool
	Interval    *time.Duration
}

// Update changes a trigger. One that is resumed registers at its app again, or is
// polled, at once. Its problems: trigger_not_found (NotFound),
// webhook_url_not_allowed, filter_invalid (Unprocessable).
func (s *Service) Update(ctx context.Context, by audit.Actor, accountID, id string, in Change) (*Trigger, error) {
	t, err := s.Store.Trigger(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	destination := ""
	if in.WebhookURL != nil {
		if destination, err = s.destination(*in.WebhookURL); err != nil {
			return nil, err
		}
	}
	if in.Filter != nil {
		if _, err := s.filter(*in.Filter); err != nil {
			return nil, err
		}
	}
	detail := map[string]string{}
	if in.Paused != nil {
		detail["paused"] = fmt.Sprint(*in.Paused)
	}
	if in.WebhookURL != nil {
		detail["destination"] = destination
	}
	return s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error {
		if !t.DeletedAt.IsZero() {
			return notFound()
		}
		if in.WebhookURL != nil {
			t.WebhookURL, t.Destination = *in.WebhookURL, destination
		}
		if in.Description != nil {
			t.Description = *in.Description
		}
		if in.Filter != nil {
			t.Filter = *in.Filter
		}
		if in.Interval != nil && t.Mode == ModePoll {
			t.Interval = min(max(*in.Interval, app.MinPoll), MaxInterval)
		}
		if in.Paused != nil {
			t.pause(*in.Paused)
		}
		t.Revision++
		t.UpdatedAt = time.Now().UTC().Truncate(time.Millisecond)
		return nil
	}, audit.New(accountID, by, "trigger.changed", id, detail))
}

func notFound() error {
	return problem.New(problem.NotFound, "trigger_not_found", "There is no trigger with this id.")
}

// pause pauses or resumes a trigger. One that is resumed is tended at once where
// something is due for it: it becomes active when its app agrees.
func (t *Trigger) pause(on bool) {
	switch {
	case on:
		if t.Mode == ModeHook && t.Status != Active && !t.held() {
			t.RenewAt = time.Now() // what its app knows of it is in doubt
		}
		t.Status, t.Reason, t.NextAt = Paused, ByUser, time.Time{}
	case t.Status == Active:
	case t.Mode == ModePoll:
		t.Status, t.Reason, t.Detail, t.Failures, t.NextAt = Active, "", "", 0, time.Now()
	case t.held():
		// Its registration at the app has stayed, unless RenewAt says that it is due.
		t.Status, t.Reason, t.Detail, t.Failures, t.NextAt = Active, "", "", 0, t.RenewAt
	default:
		t.Status, t.Reason, t.Failures, t.NextAt = Failing, RegistrationFailed, 0, time.Now()
	}
}

// held reports whether only its owner resumes the trigger.
func (t *Trigger) held() bool {
	switch t.Reason {
	case ByUser, WebhookGone, TooManyFailures, URLNotAllowed:
		return t.Status != Active
	}
	return false
}

// Delete deletes a trigger. Its registration at the app is ended at once if that
// is possible, and otherwise tried again for three days. Nothing more is posted.
// Its problem is trigger_not_found (NotFound).
func (s *Service) Delete(ctx context.Context, by audit.Actor, accountID, id string) error {
	t, err := s.Store.Trigger(ctx, accountID, id)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	_, err = s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error {
		if !t.DeletedAt.IsZero() {
			return notFound()
		}
		t.DeletedAt, t.NextAt, t.Status, t.Reason = now, now, Paused, ByUser
		return nil
	}, audit.New(accountID, by, "trigger.deleted", id, map[string]string{"app": t.App, "event": t.Event}))
	if err == nil {
		s.Wake(JobTend)
	}
	return err
}

// MaxOverlap is how long a replaced secret may sign besides the new one.
const MaxOverlap = 7 * 24 * time.Hour

// Rotate replaces the signing secret of a trigger. The old one signs too until
// overlap has passed. Its problem is trigger_not_found (NotFound).
func (s *Service) Rotate(ctx context.Context, by audit.Actor, accountID, id string, overlap time.Duration) (*Trigger,
	error,
) {
	if _, err := s.Store.Trigger(ctx, accountID, id); err != nil {
		return nil, err
	}
	return s.Store.ChangeTrigger(ctx, id, func(t *Trigger) error {
		t.Generation++
		t.PreviousUntil = time.Now().Add(min(max(overlap, 0), MaxOverlap)).UTC().Truncate(time.Millisecond)
		return nil
	}, audit.New(accountID, by, "trigger.secret_rotated", id, map[string]string{"overlap": overlap.String()}))
}

// History returns the newest events of a trigger, at most HistoryLength, newest
// first. Its problem is trigger_not_found (NotFound).
func (s *Service) History(ctx context.Context, accountID, id string) ([]*Event, error) {
	if _, err := s.Store.Trigger(ctx, accountID, id); err != nil {
		return nil, err
	}
	return s.Store.ListEvents(ctx, accountID, id)
}

// Event returns one event. Its problems: trigger_not_found, event_not_found
// (NotFound).
func (s *Service) Event(ctx context.Context, accountID, id, eventID string) (*Event, error) {
	if _, err := s.Store.Trigger(ctx, accountID, id); err != nil {
		return nil, err
	}
	return s.Store.Event(ctx, accountID, id, eventID)
}

// Replay delivers an event again under the id that it had, also while the trigger
// is paused. Its problems: trigger_not_found, event_not_found (NotFound), and
// event_pending (Conflict) while it is still being delivered.
func (s *Service) Replay(ctx context.Context, accountID, id, eventID string) (*Event, error) {
	if _, err := s.Event(ctx, accountID, id, eventID); err != nil {
		return nil, err
	}
	n, err := s.Store.Replay(ctx, accountID, id, eventID)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, problem.New(problem.Conflict, "event_pending",
			"This event is still being delivered. Its state tells when that has ended.").After(time.Second)
	}
	return s.Store.Event(ctx, accountID, id, eventID)
}

// ReplayFailed delivers all events in the history that failed again, and returns
// how many. Its problem is trigger_not_found (NotFound).
func (s *Service) ReplayFailed(ctx context.Context, accountID, id string) (int, error) {
	if _, err := s.Store.Trigger(ctx, accountID, id); err != nil {
		return 0, err
	}
	return s.Store.Replay(ctx, accountID, id, "")
}

// Test posts the sample of the trigger, as an event of its history whose data is
// the vendor's own example. Its problem is trigger_not_found (NotFound).
func (s *Service) Test(ctx context.Context, accountID, id string) (*Event, error) {
	t, err := s.Store.Trigger(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	_, def, err := s.definition(ctx, accountID, t.App, t.Event)
	if err != nil {
		return nil, err
	}
	sample, err := json.Marshal(def.Sample)
	if err != nil {
		return nil, fmt.Errorf("encoding the sample of %s: %w", def.ID, err)
	}
	key := typeid.New("test")
	item := s.item(t, def, key, time.Now(), json.RawMessage(sample))
	if _, err := s.Store.Ingest(ctx, &Batch{TriggerID: id, Items: []Item{item}}); err != nil {
		return nil, err
	}
	return s.Store.Event(ctx, accountID, id, EventID(id, key))
}
