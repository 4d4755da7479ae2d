package trigger

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool"
)

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// errMoved says that a trigger has changed since its job was claimed.
var errMoved = errors.New("the trigger has changed meanwhile")

// tend does what is due for one trigger.
func (s *Service) tend(ctx context.Context, job jobs.Job) error {
	_, id, _ := strings.Cut(job.Ref, "/")
	t, err := s.Store.AnyTrigger(ctx, id)
	if err != nil || t == nil {
		return err
	}
	if t.Status == Registering { // its creation was cut off
		t.DeletedAt = t.CreatedAt
	}
	if !t.DeletedAt.IsZero() {
		return s.finish(ctx, t, job.Token)
	}
	if t.ConnectionID != "" {
		reason, err := connectionState(s.Connections.Get(ctx, t.AccountID, t.ConnectionID))
		if err != nil {
			return err
		}
		if reason != "" {
			return s.pauseFor(ctx, t, job.Token, reason)
		}
	}
	if t.held() || t.Status == Paused && t.Reason != NeedsReconnect {
		return nil
	}
	a, def, err := s.definitionOf(ctx, t)
	if err != nil {
		return s.failed(ctx, t, job.Token, RegistrationFailed, err)
	}
	if t.Mode == ModePoll {
		return s.tendPoll(ctx, a, def, t, job.Token)
	}
	return s.tendHook(ctx, a, def, t, job.Token)
}

// change changes a trigger unless it was changed since the claim with token.
func (s *Service) change(ctx context.Context, id string, token int64, change func(*Trigger), e audit.Entry) error {
	_, err := s.Store.ChangeTrigger(ctx, id, func(t *Trigger) error {
		if t.NextAt.UnixMilli() != token {
			return errMoved
		}
		change(t)
		return nil
	}, e)
	if errors.Is(err, errMoved) || problem.Is(err, "trigger_not_found") {
		return nil
	}
	return err
}

// pauseFor pauses a trigger whose connection does not work. One that only its
// owner resumes keeps its reason: it does not resume with the connection.
func (s *Service) pauseFor(ctx context.Context, t *Trigger, token int64, reason string) error {
	if t.Status == Paused && t.Reason == reason || t.held() {
		return nil
	}
	paused := false
	err := s.change(ctx, t.ID, token, func(t *Trigger) {
		t.Status, t.Reason, t.NextAt, paused = Paused, reason, time.Time{}, true
	}, audit.New(t.AccountID, audit.System(), "trigger.paused", t.ID, map[string]string{"reason": reason}))
	if err == nil && paused {
		s.options.Step("trigger paused")
	}
	return err
}

// tendPoll polls for a trigger, one that was paused too: its connection works
// again.
func (s *Service) tendPoll(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger, token int64) error {
	if def.Poll == nil {
		return s.failed(ctx, t, token, PollingFailed, errors.New("the definition has no poll any more"))
	}
	err := s.poll(ctx, a, def, t, token)
	if failure, refused := errorsAsFailure(err); refused && def.Poll.Lost != 0 && failure.AppStatus == def.Poll.Lost {
		err = s.pollAfresh(ctx, a, def, t, token)
	}
	if err != nil {
		return s.failed(ctx, t, token, PollingFailed, err)
	}
	if t.Status == Active {
		return nil
	}
	_, err = s.Store.ChangeTrigger(ctx, t.ID, func(t *Trigger) error {
		if t.DeletedAt.IsZero() && t.Reason != ByUser {
			t.Status, t.Reason, t.Detail = Active, "", ""
		}
		return nil
	}, audit.New(t.AccountID, audit.System(), "trigger.resumed", t.ID, nil))
	return err
}

// pollAfresh begins again where the app has forgotten the cursor. What it lists now
// is no event: most of it is old, and its keys may be forgotten.
func (s *Service) pollAfresh(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger, token int64) error {
	from := *t
	from.Cursor = ""
	f, err := s.look(ctx, a, def, &from)
	if err != nil {
		return err
	}
	_, err = s.Store.Ingest(ctx, &Batch{TriggerID: t.ID, Seen: f.all(), Poll: &PollState{
		Token: token, Cursor: f.cursor, Interval: t.Interval, NextAt: time.Now().Add(spread(t.Interval)),
		Error: a.Name + " no longer knew how far the last poll came. Events since then may be missing.",
	}})
	return err
}

// tendHook renews the registration of a trigger, or makes it again where the
// connection was broken.
func (s *Service) tendHook(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger, token int64) error {
	if def.Hook == nil {
		return s.failed(ctx, t, token, RegistrationFailed, errors.New("the definition has no hook any more"))
	}
	if t.Status == Active && (t.RenewAt.IsZero() || time.Now().Before(t.RenewAt)) {
		return s.change(ctx, t.ID, token, func(t *Trigger) { t.NextAt = t.RenewAt }, audit.Entry{})
	}
	entry := audit.Entry{}
	again := s.renew
	if t.Status != Active {
		entry = audit.New(t.AccountID, audit.System(), "trigger.resumed", t.ID, nil)
	}
	if t.Status != Active || def.Hook.Renew == nil {
		again = s.subscribeAgain
	}
	registration, renewAt, err := again(ctx, a, def, t)
	if err != nil {
		return s.failed(ctx, t, token, RegistrationFailed, err)
	}
	return s.change(ctx, t.ID, token, func(t *Trigger) { t.registered(registration, renewAt) }, entry)
}

// subscribeAgain replaces a registration that may have ended with the connection.
func (s *Service) subscribeAgain(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger) (string, time.Time,
	error,
) {
	if err := s.unsubscribe(ctx, a, def, t); err != nil {
		s.options.Log.WarnContext(ctx, "former registration of a trigger not ended", slog.String("trigger_id", t.ID),
			slog.Any("error", err))
	}
	return s.subscribe(ctx, a, def, t)
}

// failuresShown is how many polls in a row fail before the trigger is in error. It
// goes on trying.
const failuresShown = 5

// unsentWait is how long a poll waits at least that was not sent because too many
// of its app wait.
const unsentWait = 5 * time.Second

// backoff returns the time before the next try after so many failures: 1, 2, 4 …
// 60 minutes.
func backoff(failures int) time.Duration { return min(time.Minute<<min(failures, 6), time.Hour) }

// failed records that a poll or a registration failed, and when it is tried
// again: after a while that grows, or when the app says.
func (s *Service) failed(ctx context.Context, t *Trigger, token int64, reason string, cause error) error {
	detail, _ := failureText(cause)
	wait := backoff(t.Failures)
	failure, refused := errorsAsFailure(cause)
	if refused && failure.Unsent && failure.Code == tool.CodeRateLimited {
		// Too many calls of the app wait: it has not failed, and is asked later.
		return s.change(ctx, t.ID, token, func(t *Trigger) {
			t.LastError, t.NextAt = detail, time.Now().Add(spread(max(failure.RetryAfter, unsentWait)))
		}, audit.Entry{})
	}
	if refused {
		wait = max(wait, failure.RetryAfter)
	}
	switch p, ok := problem.From(cause); {
	case problem.Is(cause, "backlog_full"):
		detail = "Too many events wait for their delivery. The app is polled again when there is room."
		wait = time.Minute
	case ok && detail == "":
		detail = p.Detail
	case detail == "":
		s.options.Log.ErrorContext(ctx, "tending a trigger", slog.String("trigger_id", t.ID), slog.Any("error", cause))
		detail = "Something went wrong on our side. It is tried again by itself."
	}
	return s.change(ctx, t.ID, token, func(t *Trigger) {
		t.Failures++
		t.LastError, t.NextAt = detail, time.Now().Add(spread(wait))
		if reason == PollingFailed {
			t.LastPollAt = time.Now()
		}
		if t.Failures >= failuresShown && t.Status == Active {
			t.Status, t.Reason, t.Detail = Failing, reason, detail
		}
	}, audit.Entry{})
}

// unregisterFor is how long the end of a registration is tried.
const unregisterFor = 3 * 24 * time.Hour

// finish ends the registration of a trigger that was deleted, and then deletes
// what is stored of it.
func (s *Service) finish(ctx context.Context, t *Trigger, token int64) error {
	if t.Mode == ModeHook && time.Since(t.DeletedAt) < unregisterFor {
		a, def, err := s.definitionOf(ctx, t)
		if err == nil && def.Hook != nil {
			err = s.unsubscribe(ctx, a, def, t)
		}
		if mayPass(err) {
			s.options.Log.WarnContext(ctx, "registration of a deleted trigger not ended",
				slog.String("trigger_id", t.ID), slog.Any("error", err))
			return s.change(ctx, t.ID, token, func(t *Trigger) {
				t.NextAt = time.Now().Add(spread(backoff(t.Failures)))
				t.Failures++
			}, audit.Entry{})
		}
	}
	s.options.Step("trigger unregistered")
	return s.Store.PurgeTrigger(ctx, t.ID)
}

// mayPass reports whether what could not be done may be possible later: not where
// the app has refused it for good, nor without a connection.
func mayPass(err error) bool {
	if failure, refused := errorsAsFailure(err); refused {
		return failure.Retryable || failure.Code == tool.CodeUnavailable
	}
	_, known := problem.From(err)
	return err != nil && !known
}
