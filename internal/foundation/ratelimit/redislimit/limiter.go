package redislimit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"ace/internal/foundation/ratelimit"
)

// limiter is what all policies have in common.
type limiter struct {
	store  *Store
	policy ratelimit.Policy
	script string
	args   [2]any // of the script, before the cost
	// what counts here, and its most units at once
	within func(p ratelimit.Policy, replicas int) (ratelimit.Limiter, int)
	here   atomic.Pointer[fallback]
}

// fallback counts here for a number of replicas.
type fallback struct {
	replicas int
	limiter  ratelimit.Limiter
	limit    int
}

// GCRA is ratelimit.GCRA for all replicas together.
type GCRA struct{ limiter }

// Window is ratelimit.Window for all replicas together.
type Window struct{ limiter }

// GCRA returns the limiter of one policy. Policies of one name share their
// clients. It panics on a policy that Validate refuses, and on more than a
// million units a second, which is finer than the clock of Redis.
func (s *Store) GCRA(p ratelimit.Policy) *GCRA {
	check(p)
	emission := (p.Window / time.Duration(p.Quantity)).Microseconds()
	l := &GCRA{limiter{store: s, policy: p, script: "gcra", args: [2]any{emission, emission * int64(p.Limit())}}}
	l.within = func(p ratelimit.Policy, n int) (ratelimit.Limiter, int) {
		p.Burst, p.Window = max(p.Limit()/n, 1), p.Window*time.Duration(n)
		return s.local.Limiter(p), p.Burst
	}
	return l
}

// Window returns the limiter of one policy. Burst does not apply. It panics
// where GCRA does.
func (s *Store) Window(p ratelimit.Policy) *Window {
	p.Burst = 0
	check(p)
	l := &Window{limiter{store: s, policy: p, script: "window", args: [2]any{p.Quantity, p.Window.Microseconds()}}}
	l.within = func(p ratelimit.Policy, n int) (ratelimit.Limiter, int) {
		p.Quantity = max(p.Quantity/n, 1)
		return ratelimit.NewWindow(p, nil), p.Quantity
	}
	return l
}

func check(p ratelimit.Policy) {
	if err := p.Validate(); err != nil {
		panic(err)
	}
	if p.Window/time.Duration(p.Quantity) < time.Microsecond {
		panic(fmt.Sprintf("rate limit policy %s: more than a million units a second", p.Name))
	}
}

// Allow implements ratelimit.Limiter. The error is always nil: without Redis it
// is counted here.
func (l *limiter) Allow(ctx context.Context, key string, cost int) (ratelimit.Result, error) {
	if cost < 0 || cost > l.policy.Limit() {
		r, err := l.Allow(ctx, key, 0)
		r.Allowed, r.TooCostly = false, true
		return r, err
	}
	name := l.name(key)
	denial := l.store.denials.of(name, cost)
	now := time.Since(l.store.epoch)
	if r, ok := denial.still(now); ok {
		r.Policy = l.policy
		return r, nil
	}
	answer, err := l.store.ask(ctx, l.script, name, l.args[0], l.args[1], cost)
	if err != nil {
		return l.takeHere(ctx, key, cost)
	}
	r := l.result(answer)
	if !r.Allowed {
		denial.store(now, r)
	}
	return r, nil
}

func (l *limiter) name(key string) string { return l.policy.Name + ":" + l.store.options.Digest(key) }

func (l *limiter) result(answer []int64) ratelimit.Result {
	return ratelimit.Result{
		Policy: l.policy, Allowed: answer[0] == 1, Remaining: int(answer[1]),
		Reset: time.Duration(answer[2]) * time.Microsecond, RetryAfter: time.Duration(answer[3]) * time.Microsecond,
	}
}

// takeHere counts with this replica's part of the quota. What the whole quota
// allows at once is never refused for good: it takes all that there is here.
func (l *limiter) takeHere(ctx context.Context, key string, cost int) (ratelimit.Result, error) {
	f := l.fallback()
	r, err := f.limiter.Allow(ctx, key, min(cost, f.limit))
	r.Policy = l.policy
	return r, err
}

func (l *limiter) fallback() *fallback {
	n := l.store.Replicas()
	f := l.here.Load()
	if f == nil || f.replicas != n {
		next := &fallback{replicas: n}
		next.limiter, next.limit = l.within(l.policy, n)
		if !l.here.CompareAndSwap(f, next) {
			return l.here.Load()
		}
		return next
	}
	return f
}

// Refund implements ratelimit.Refunder. The error is always nil.
func (g *GCRA) Refund(ctx context.Context, key string, cost int) (ratelimit.Result, error) {
	cost = min(max(cost, 0), g.policy.Limit())
	name := g.name(key)
	g.store.denials.of(name, cost).forget()
	answer, err := g.store.ask(ctx, "refund", name, g.args[0], g.args[1], cost)
	if err == nil {
		return g.result(answer), nil
	}
	f := g.fallback()
	r, err := f.limiter.(ratelimit.Refunder).Refund(ctx, key, min(cost, f.limit))
	r.Policy = g.policy
	return r, err
}
