package tool

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// outcome is how a run ended.
type outcome struct {
	answer  *Answer
	failure *Failure
	refused error // of the platform, or a fault of ours
}

// Causes of a context that ended before its time.
var (
	errCancelled = errors.New("the run was cancelled")
	errStopping  = errors.New("the process is stopping")
	errLost      = errors.New("the run is in other hands")
)

const (
	maxAttempts  = 4
	firstPause   = 500 * time.Millisecond
	holdMargin   = 15 * time.Second
	patientAfter = 10 * time.Second // a call that was given less says nothing about its host
)

// perform makes the call, again where that is safe, within the time of ctx.
func (s *Service) perform(ctx context.Context, p *plan) outcome {
	live, err := s.credentials(ctx, p)
	if err != nil {
		return ended(ctx, p.run, p.app.Name, outcome{refused: s.withLink(ctx, p, err)})
	}
	if p.tool.Call == "" {
		return outcome{answer: identity(live.Connection)}
	}
	call := p.call(live)
	refusals := 0
	for {
		answer, err := s.attempt(ctx, p, call)
		if err == nil {
			s.worked(ctx, call.Live)
			return outcome{answer: answer}
		}
		var failure *Failure
		if !errors.As(err, &failure) {
			return ended(ctx, p.run, p.app.Name, outcome{refused: err})
		}
		if ctx.Err() != nil {
			return ended(ctx, p.run, p.app.Name, outcome{failure: failure})
		}
		// The first refusal may be of old credentials; the second is of new ones, and
		// the connection is looked at.
		if failure.Code == CodeUnauthorized && refusals < 2 {
			refusals++
			other, err := s.Connections.Refused(ctx, call.Live)
			switch {
			case problem.Is(err, "reconnect_required"):
				return outcome{refused: s.withLink(ctx, p, err)}
			case err == nil && other != nil && refusals == 1:
				call = p.call(other)
				continue
			}
		}
		if !s.pause(ctx, p, failure) {
			return outcome{failure: failure}
		}
	}
}

// worked notes that a connection works. The run has succeeded whatever becomes of
// the note.
func (s *Service) worked(ctx context.Context, live *connection.Live) {
	if err := s.Connections.Worked(ctx, live); err != nil {
		s.options.Log.ErrorContext(ctx, "noting that a connection works again", slog.String("connection_id", live.Connection.ID), slog.Any("error", err))
	}
}

// credentials opens the connection of the run.
func (s *Service) credentials(ctx context.Context, p *plan) (*connection.Live, error) {
	if p.connection == nil {
		return p.bare(), nil
	}
	return s.Connections.Use(ctx, p.caller.AccountID, p.connection.ID)
}

// attempt makes one call, at the pace of the app and past the breaker.
func (s *Service) attempt(ctx context.Context, p *plan, call *Call) (*Answer, error) {
	if err := s.paces.wait(ctx, p.app, p.paceKey()); err != nil {
		return nil, err
	}
	host := hostOf(call)
	tell, err := s.breakers.admit(p.app.ID+" "+host, p.app.Name)
	if err != nil {
		return nil, err
	}
	p.run.Attempts++
	began := time.Now()
	answer, err := s.Executor.Execute(ctx, call)
	var failure *Failure
	isFailure := errors.As(err, &failure)
	switch {
	case isFailure && failure.Unanswered && (failure.Unsent || time.Since(began) >= patientAfter):
		tell(silent)
	case isFailure && failure.Unanswered || err != nil && !isFailure:
		tell(unknown) // a caller without patience must not shut the host for everybody
	default:
		tell(answered)
	}
	switch {
	case isFailure:
		p.run.AppStatus = failure.AppStatus
		if failure.Code == CodeRateLimited {
			s.paces.hold(p.paceKey(), failure.RetryAfter)
		}
	case err == nil:
		p.run.AppStatus = answer.Status
	}
	return answer, err
}

// pause waits before one more attempt; false: there is none.
func (s *Service) pause(ctx context.Context, p *plan, f *Failure) bool {
	again := f.Code == CodeRateLimited || f.Code == CodeUnavailable
	if !again || !p.tool.SafeToRepeat() && !f.Unsent || p.run.Attempts >= maxAttempts || p.run.Attempts == 0 {
		return false
	}
	wait := f.RetryAfter
	if wait == 0 {
		wait = firstPause << (p.run.Attempts - 1)
		wait += rand.N(wait / 4)
	}
	until, bounded := ctx.Deadline()
	if bounded && time.Now().Add(wait).After(until) {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ended words a run whose context ended before the call did.
func ended(ctx context.Context, r *Run, name string, o outcome) outcome {
	switch {
	case ctx.Err() == nil:
		return o
	case errors.Is(context.Cause(ctx), errCancelled):
		return outcome{failure: cancelled(r.Attempts > 0)}
	case errors.Is(context.Cause(ctx), errStopping):
		return outcome{refused: errStopping}
	}
	f := &Failure{Code: CodeRunTimeout, Detail: "The time of the run was over before " + name + " answered. It may have done what it was asked.", NextAction: "none"}
	if r.Attempts == 0 {
		f.Detail = "The time of the run was over before it could be sent to " + name + "."
	}
	if r.Safe {
		f.Retryable, f.NextAction = true, "retry_later"
	}
	return outcome{failure: f}
}

// cancelled is how a run ends that its caller did not want any more.
func cancelled(sent bool) *Failure {
	detail := "It was cancelled before it was sent."
	if sent {
		detail = "It was cancelled while the app was working on it: it may have been carried out."
	}
	return &Failure{Code: CodeRunCancelled, Detail: detail, NextAction: "none"}
}

// interrupted is how a run ends whose process ended in the middle.
func interrupted() outcome {
	return outcome{failure: &Failure{
		Code: CodeRunInterrupted, NextAction: "none",
		Detail: "The platform stopped while the app was working on it. It may have been carried out; look before you run it again.",
	}}
}

// identity answers what is known of a connection whose app tells nothing.
func identity(c *connection.Connection) *Answer {
	who := map[string]any{}
	for name, value := range map[string]string{"id": c.Identity.ID, "name": c.Identity.Name, "email": c.Identity.Email, "tenant": c.Identity.Tenant, "label": c.Label} {
		if value != "" {
			who[name] = value
		}
	}
	return &Answer{Output: who}
}

// paceKey is what the pace of the app is counted by.
func (p *plan) paceKey() string {
	switch per := p.app.Rate.Per; per {
	case "app":
		return p.app.ID
	case "", "connection":
		return p.app.ID + " " + p.run.ConnectionID
	default:
		return p.app.ID + " " + p.run.ConnectionID + " " + app.Text(p.arguments[per])
	}
}

// hostOf is the host that a call goes to; "" where the definition does not tell.
func hostOf(c *Call) string {
	base := c.App.Base
	if c.Tool.Base != "" {
		base = c.Tool.Base
	}
	if base == "" && c.Scheme != nil {
		base = c.Scheme.URL
	}
	expanded, err := app.Expand(base, app.Join(app.Map(c.Live.Connection.Params), c.Live.Values), nil)
	if err != nil {
		return ""
	}
	u, err := url.Parse(expanded)
	if err != nil {
		return ""
	}
	return u.Host
}
