package metrics

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
)

// RequestStarted implements httpserver.Observer.
func (m *Metrics) RequestStarted(host string) { m.inFlight.WithLabelValues(host).Inc() }

// RequestEnded implements httpserver.Observer.
func (m *Metrics) RequestEnded(host string, e httpserver.RequestEnd) {
	m.inFlight.WithLabelValues(host).Dec()
	route := e.Route
	if _, path, ok := strings.Cut(route, " "); ok {
		route = path
	}
	if route == "" {
		route = "none"
	}
	route = m.routes.value(route)
	m.requests.WithLabelValues(host, route, methodLabel(e.Method), codeLabel(e.Status)).Inc()
	m.duration.WithLabelValues(host, route).Observe(e.Elapsed.Seconds())
	if e.Problem != "" {
		m.problems.WithLabelValues(host, m.codes.value(e.Problem)).Inc()
	}
	if e.Panicked {
		m.panics.WithLabelValues(host).Inc()
	}
}

func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return other
}

// codeLabel is the class of a status, but for the two that say that we are busy.
func codeLabel(status int) string {
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return strconv.Itoa(status)
	case status == 0:
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// JobStarted implements jobs.Observer.
func (m *Metrics) JobStarted(lane jobs.Lane) { m.laneBusy.WithLabelValues(string(lane)).Inc() }

// JobEnded implements jobs.Observer.
func (m *Metrics) JobEnded(lane jobs.Lane, kind string, o jobs.Outcome, elapsed time.Duration) {
	m.laneBusy.WithLabelValues(string(lane)).Dec()
	kind = m.kinds.value(kind)
	m.jobs.WithLabelValues(string(lane), kind, string(o)).Inc()
	m.jobSeconds.WithLabelValues(kind).Observe(elapsed.Seconds())
}

// Called counts a call of a server elsewhere, for egress.Options.
func (m *Metrics) Called(c egress.Call) {
	m.outbound.WithLabelValues(c.Purpose, callOutcome(c)).Inc()
	m.outSeconds.WithLabelValues(c.Purpose).Observe(c.Elapsed.Seconds())
}

func callOutcome(c egress.Call) string {
	switch {
	case c.Err == nil && c.Status == http.StatusTooManyRequests:
		return "throttled"
	case c.Err == nil && c.Status >= 500:
		return "error_5xx"
	case c.Err == nil && c.Status >= 400:
		return "refused_4xx"
	case c.Err == nil:
		return "ok"
	case egress.Reason(c.Err) != "":
		return "policy"
	case problem.Is(c.Err, "target_timeout"), errors.Is(c.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(c.Err, context.Canceled):
		return "canceled"
	case problem.Is(c.Err, "target_unreachable"):
		return "dial"
	}
	return "broken"
}

// Denied counts a refused call, for egress.Options.
func (m *Metrics) Denied(_ context.Context, d egress.Denial) {
	m.denied.WithLabelValues(d.Purpose, d.Reason).Inc()
}

// RunEnded implements tool.Observer.
func (m *Metrics) RunEnded(r *tool.Run) {
	mode := "wait"
	switch {
	case r.Approval.ID != "":
		mode = "approved"
	case r.Async:
		mode = "async"
	}
	m.runs.WithLabelValues(m.app(r.App), string(r.Status), mode).Inc()
	m.runSeconds.Observe(r.Duration(r.EndedAt).Seconds())
}

// app returns the label of an app. Those of accounts, whose names they choose,
// begin with "x-".
func (m *Metrics) app(id string) string {
	if strings.HasPrefix(id, "x-") {
		return "connector"
	}
	return m.apps.value(id)
}

// Refreshed implements connection.Observer.
func (m *Metrics) Refreshed(app string, class connection.RefreshClass, elapsed time.Duration) {
	if class == "" {
		class = "ok"
	}
	m.refreshes.WithLabelValues(m.app(app), string(class)).Inc()
	m.refreshTime.Observe(elapsed.Seconds())
}

// Attempted implements trigger.Observer.
func (m *Metrics) Attempted(attempt int, state trigger.State, elapsed time.Duration) {
	outcome := string(state)
	if state == trigger.Pending {
		outcome = "retried"
	}
	m.deliveries.WithLabelValues(strconv.Itoa(min(attempt, trigger.MaxAttempts)), outcome).Inc()
	m.postSeconds.Observe(elapsed.Seconds())
}

// Limiter returns l, whose decisions are counted under the name of its policy.
func (m *Metrics) Limiter(policy string, l ratelimit.Limiter) ratelimit.Limiter {
	counted := &countedLimiter{Limiter: l, metrics: m, policy: policy}
	if r, ok := l.(ratelimit.Refunder); ok {
		return countedRefunder{counted, r}
	}
	return counted
}

type countedLimiter struct {
	ratelimit.Limiter
	metrics *Metrics
	policy  string
}

// Allow counts the decision.
func (l *countedLimiter) Allow(ctx context.Context, key string, cost int) (ratelimit.Result, error) {
	r, err := l.Limiter.Allow(ctx, key, cost)
	decision := "refused"
	switch {
	case err != nil:
		decision = "error"
	case cost == 0:
		return r, nil // it only looked
	case r.Allowed:
		decision = "allowed"
	}
	l.metrics.limits.WithLabelValues(l.policy, decision).Inc()
	return r, err
}

// countedRefunder is a countedLimiter that gives units back.
type countedRefunder struct {
	*countedLimiter
	refunder ratelimit.Refunder
}

// Refund implements ratelimit.Refunder.
func (l countedRefunder) Refund(ctx context.Context, key string, cost int) (ratelimit.Result, error) {
	return l.refunder.Refund(ctx, key, cost)
}
