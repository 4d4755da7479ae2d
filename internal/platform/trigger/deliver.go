package trigger

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/protocol/stdwebhook"
)

// waits are the times between attempts, a fifth more or less.
func waits() []time.Duration { return []time.Duration{30 * time.Second, 5 * time.Minute} }

// postpone is how long an event waits whose destination is busy or down.
const postpone = time.Second

// deliver posts one event.
func (s *Service) deliver(ctx context.Context, job jobs.Job) error {
	_, id, _ := strings.Cut(job.Ref, "/")
	d, err := s.Store.Delivery(ctx, id, job.Token)
	if err != nil || d == nil {
		return err
	}
	o := s.attempt(ctx, d)
	s.options.Step("event posted")
	recorded, err := s.Store.Record(ctx, o)
	if err != nil {
		return err
	}
	if !recorded {
		s.options.Log.WarnContext(ctx, "result of a delivery came too late", slog.String("event_id", id))
		return nil
	}
	return s.consequences(ctx, d, o)
}

// attempt makes the attempt that is due, and returns what is recorded.
func (s *Service) attempt(ctx context.Context, d *Delivery) *Outcome {
	e, t := d.Event, d.Trigger
	o := &Outcome{EventID: e.ID, Token: d.Token, Attempt: e.Attempt, Attempts: e.Attempts}
	for range e.Interruptions {
		o.Attempts = append(o.Attempts, Attempt{
			Series: e.Series, Number: e.Attempt + 1, At: time.Now().UTC(), Interrupted: true,
			Error: "the server was interrupted; the event may have arrived",
		})
	}
	if !t.DeletedAt.IsZero() || t.Status == Paused && e.Series == 0 {
		o.State, o.Reason = Skipped, "trigger_"+string(Paused)
		return o
	}
	if interrupted(o.Attempts, e.Series) >= maxInterrupted {
		return s.next(o, nil)
	}
	now := time.Now()
	done, ready := s.hosts.enter(t.Destination, now)
	if done == nil {
		o.State, o.NextAt = Pending, ready
		return o
	}
	a := s.Sender.Send(ctx, stdwebhook.Message{
		URL: t.WebhookURL, ID: e.ID, Body: e.Body, Secrets: s.secrets(t, now),
		Header: headers(e, t),
	})
	if done(time.Now(), a.Status != 0 || problem.Is(a.Err, "target_not_allowed")) {
		s.Wake(JobDeliver)
	}
	o.Attempt++
	o.Attempts = append(o.Attempts, shown(e.Series, o.Attempt, &a))
	s.next(o, &a)
	if s.options.Observer != nil {
		s.options.Observer.Attempted(o.Attempt, o.State, a.Duration)
	}
	return o
}

// headers are what receivers may read besides the signature.
func headers(e *Event, t *Trigger) map[string]string {
	h := map[string]string{"X-Ace-Attempt": strconv.Itoa(e.Attempt + 1), "X-Ace-Trigger-Id": t.ID}
	if e.Series > 0 {
		h["X-Ace-Replay"] = strconv.Itoa(e.Series)
	}
	return h
}

// interrupted counts the attempts of a series that a crash cut off, since the last
// one that ended.
func interrupted(attempts []Attempt, series int) int {
	n := 0
	for i := len(attempts) - 1; i >= 0 && attempts[i].Series == series && attempts[i].Interrupted; i-- {
		n++
	}
	return n
}

// next says what follows an attempt. Without one, three that were interrupted
// count as one.
func (s *Service) next(o *Outcome, a *stdwebhook.Attempt) *Outcome {
	if a == nil {
		o.Attempt++
	}
	switch {
	case a != nil && a.Err == nil:
		o.State = Delivered
	case a != nil && a.Gone():
		o.State, o.Reason = Failed, WebhookGone
	case a != nil && problem.Is(a.Err, "target_not_allowed"):
		o.State, o.Reason = Failed, URLNotAllowed
	case o.Attempt >= MaxAttempts:
		o.State, o.Reason = Failed, "attempts_exhausted"
		if a == nil {
			o.Reason = "interrupted"
		}
	default:
		wait := waits()[o.Attempt-1]
		o.State, o.NextAt = Pending, time.Now().Add(wait*4/5+time.Duration(rand.Int64N(int64(wait)*2/5+1)))
	}
	return o
}

// shown is what the history shows of an attempt.
func shown(series, n int, a *stdwebhook.Attempt) Attempt {
	made := Attempt{
		Series: series, Number: n, At: a.At.UTC().Truncate(time.Millisecond), Duration: a.Duration.Milliseconds(),
		Status: a.Status, Response: a.Response,
	}
	switch p, known := problem.From(a.Err); {
	case a.Err == nil:
	case known:
		made.Error = p.Code
	case a.Status != 0:
		made.Error = "status"
	case errors.Is(a.Err, context.DeadlineExceeded):
		made.Error = "timeout"
	default:
		made.Error = "unreachable"
	}
	return made
}

// tooMany is how many events in a row may fail before their trigger is paused.
const tooMany = 20

// consequences pauses the trigger of an event that its receiver wants no more of.
func (s *Service) consequences(ctx context.Context, d *Delivery, o *Outcome) error {
	if o.State != Failed {
		return nil
	}
	status, reason := Paused, o.Reason
	switch o.Reason {
	case WebhookGone:
	case URLNotAllowed:
		status = Failing
	default:
		events, err := s.Store.ListEvents(ctx, d.Event.AccountID, d.Event.TriggerID)
		if err != nil {
			return err
		}
		if failedInARow(events) < tooMany {
			return nil
		}
		reason = TooManyFailures
	}
	_, err := s.Store.ChangeTrigger(ctx, d.Trigger.ID, func(t *Trigger) error {
		if t.Status == Active && t.WebhookURL == d.Trigger.WebhookURL {
			t.Status, t.Reason, t.NextAt = status, reason, time.Time{}
		}
		return nil
	}, audit.New(d.Trigger.AccountID, audit.System(), "trigger.paused", d.Trigger.ID,
		map[string]string{"reason": reason}))
	if problem.Is(err, "trigger_not_found") {
		return nil
	}
	return err
}

// failedInARow counts the newest events that ended and failed.
func failedInARow(events []*Event) int {
	n := 0
	for _, e := range events {
		switch e.State {
		case Failed:
			n++
		case Delivered:
			return n
		case Pending, Skipped:
		}
	}
	return n
}
