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
	"ace/internal/platform/tool/breaker"
	"ace/internal/platform/tool/pace"
)

// outcome is how a run ended.
type outcome struct {
	answer  *Answer
	failure *Failure
	err     error // a problem of the platform, or a bug
}

// Causes of a context that ended early.
var (
	errCanceled = errors.New("the run was canceled")
	errStopping = errors.New("the process is stopping")
	errLost     = errors.New("another process performs the run")
)

const (
	maxAttempts  = 4
	firstPause   = 500 * time.Millisecond
	leaseMargin  = 15 * time.Second
	patientAfter = 10 * time.Second // a shorter call says nothing about its host
)

// perform makes the call, and retries it where that is safe, until ctx ends.
func (s *Service) perform(ctx context.Context, p *plan) outcome {
	live, err := p.withoutCredentials(), error(nil)
	if p.connection != nil {
		live, err = s.Connections.Use(ctx, p.caller.AccountID, p.connection.ID)
	}
	if err != nil {
		return ended(ctx, p.run, p.app.Name, outcome{err: s.withLink(ctx, p, err)})
	}
	if p.tool.Call == "" {
		return outcome{answer: identity(live.Connection)}
	}
	call := p.call(live)
	refusals := 0
	for {
		answer, err := s.attempt(ctx, p, call)
		if err == nil {
			// The run has succeeded even if this cannot be recorded.
			if err := s.Connections.Worked(ctx, call.Live); err != nil {
				s.options.Log.ErrorContext(ctx, "connection that works again not recorded",
					slog.String("connection_id", call.Live.Connection.ID), slog.Any("error", err))
			}
			return outcome{answer: answer}
		}
		var failure *Failure
		if !errors.As(err, &failure) {
			return ended(ctx, p.run, p.app.Name, outcome{err: err})
		}
		if ctx.Err() != nil {
			return ended(ctx, p.run, p.app.Name, outcome{failure: failure})
		}
		// The first refusal may be of expired credentials; the second is of new ones,
		// and the connection is checked.
		if failure.Code == CodeUnauthorized && refusals < 2 {
			refusals++
			renewed, err := s.Connections.Refused(ctx, call.Live)
			switch {
			case problem.Is(err, "reconnect_required"):
				return outcome{err: s.withLink(ctx, p, err)}
			case err == nil && renewed != nil && refusals == 1:
				call = p.call(renewed)
				continue
			}
		}
		if !s.pause(ctx, p, failure) {
			return outcome{failure: failure}
		}
	}
}

// attempt makes one call, at the rate of the app and unless its host is down.
func (s *Service) attempt(ctx context.Context, p *plan, call *Call) (*Answer, error) {
	key := p.rateKey()
	if err := s.limiter.Wait(ctx, key, p.app.Rate.RPS); err != nil {
		return nil, tooBusy(err, p.app.Name)
	}
	done, retryAfter := s.breaker.Admit(p.app.ID + " " + hostOf(call))
	if done == nil {
		return nil, &Failure{
			Code:      CodeUnavailable,
			Detail:    p.app.Name + " did not respond to the last calls, so this one was not sent.",
			Retryable: true, RetryAfter: retryAfter, NextAction: "retry_later", Unsent: true,
		}
	}
	result := breaker.Unknown // an impatient caller must not stop the calls of all others
	defer func() { done(result) }()
	p.run.Attempts++
	began := time.Now()
	answer, err := s.Executor.Execute(ctx, call)
	var failure *Failure
	switch {
	case err == nil:
		result = breaker.Answered
		p.run.AppStatus = answer.Status
	case errors.As(err, &failure):
		if !failure.Unanswered {
			result = breaker.Answered
		} else if failure.Unsent || time.Since(began) >= patientAfter {
			result = breaker.Unanswered
		}
		p.run.AppStatus = failure.AppStatus
		if failure.Code == CodeRateLimited {
			s.limiter.Hold(key, failure.RetryAfter)
		}
	}
	return answer, err
}

// tooBusy returns the failure of a call that was not made because too many wait.
func tooBusy(err error, appName string) error {
	busy, ok := errors.AsType[*pace.Busy](err)
	if !ok {
		return err
	}
	f := &Failure{
		Code: CodeRateLimited, Detail: "Too many calls of " + appName + " are waiting. This one was not sent.",
		Retryable: true, RetryAfter: busy.RetryAfter, NextAction: "retry_later", Unsent: true,
	}
	if busy.RetryAfter == 0 {
		f.Detail = "This call ended while it waited for other calls of " + appName + ". It was not sent."
	}
	return f
}

// pause waits before the next attempt. It returns false if there is none.
func (s *Service) pause(ctx context.Context, p *plan, f *Failure) bool {
	temporary := f.Code == CodeRateLimited || f.Code == CodeUnavailable
	if !temporary || !p.tool.SafeToRepeat() && !f.Unsent || p.run.Attempts >= maxAttempts || p.run.Attempts == 0 {
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

// ended returns the outcome of a run whose context may have ended before the
// call did.
func ended(ctx context.Context, r *Run, name string, o outcome) outcome {
	switch {
	case ctx.Err() == nil:
		return o
	case errors.Is(context.Cause(ctx), errCanceled):
		return outcome{failure: canceled(r.Attempts > 0)}
	case errors.Is(context.Cause(ctx), errStopping):
		return outcome{err: errStopping}
	}
	f := &Failure{
		Code:       CodeRunTimeout,
		Detail:     name + " did not respond within the time of the run. It may have done what was requested.",
		NextAction: "none",
	}
	if r.Attempts == 0 {
		f.Detail = "The time of the run passed before it could be sent to " + name + "."
	}
	if r.Safe {
		f.Retryable, f.NextAction = true, "retry_later"
	}
	return outcome{failure: f}
}

// canceled returns the failure of a run that its caller canceled.
func canceled(sent bool) *Failure {
	detail := "It was canceled before it was sent."
	if sent {
		detail = "It was canceled while the app was working on it: it may have been carried out."
	}
	return &Failure{Code: CodeRunCancelled, Detail: detail, NextAction: "none"}
}

// interrupted returns the outcome of a run whose process died.
func interrupted() outcome {
	return outcome{failure: &Failure{
		Code:       CodeRunInterrupted,
		NextAction: "none",
		Detail: "The platform stopped while the app was working on it. It may have been carried out; " +
			"check before you " +
			"run it again.",
	}}
}

// identity returns what is known of a connection, for apps that have no call for
// it.
func identity(c *connection.Connection) *Answer {
	who := map[string]any{}
	for name, value := range map[string]string{
		"id": c.Identity.ID, "name": c.Identity.Name, "email": c.Identity.Email,
		"tenant": c.Identity.Tenant, "label": c.Label,
	} {
		if value != "" {
			who[name] = value
		}
	}
	return &Answer{Output: who}
}

// rateKey returns the key that the rate limit of the app is counted by.
func (p *plan) rateKey() string {
	switch per := p.app.Rate.Per; per {
	case "app":
		return p.app.ID
	case "", "connection":
		return p.app.ID + " " + p.run.ConnectionID
	default:
		return p.app.ID + " " + p.run.ConnectionID + " " + app.Text(p.arguments[per])
	}
}

// hostOf returns the host that a call goes to, or "" if the definition leaves it
// open.
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
