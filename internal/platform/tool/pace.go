package tool

import (
	"context"
	"sync"
	"time"

	"ace/internal/platform/app"
)

const (
	maxPaces = 10_000
	maxHold  = time.Minute
)

// paces keep to how often apps want to be called: a token bucket per key, with
// room for the calls of one second. Each process counts for itself.
type paces struct {
	mu   sync.Mutex
	next map[string]time.Time // when the bucket is full again, by key
}

// wait waits for the turn of a call. Where its time would be over first, it
// answers at once with how long to wait.
func (p *paces) wait(ctx context.Context, a *app.App, key string) error {
	delay, take := p.turn(ctx, a, key)
	if !take {
		return &Failure{
			Code: CodeRateLimited, Detail: "Too many calls of " + a.Name + " are waiting. This one was not sent.", Retryable: true, RetryAfter: delay,
			NextAction: "retry_later", Unsent: true,
		}
	}
	if delay <= 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &Failure{Code: CodeRateLimited, Detail: "This call ended while it waited for its turn. It was not sent.", Retryable: true, NextAction: "retry_later", Unsent: true}
	}
}

// turn answers how long a call waits; take is false where that is too long, and
// nothing was taken.
func (p *paces) turn(ctx context.Context, a *app.App, key string) (delay time.Duration, take bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := time.Now()
	full, held := p.next[key]
	if a.Rate.RPS <= 0 && !held {
		return 0, true
	}
	rps := a.Rate.RPS
	var every, burst time.Duration
	if rps > 0 {
		every = time.Duration(float64(time.Second) / rps)
		burst = max(0, time.Second-every)
	}
	if full.Before(at) {
		full = at
	}
	delay = max(0, full.Sub(at)-burst)
	if until, bounded := ctx.Deadline(); bounded && at.Add(delay).After(until) {
		return delay, false
	}
	if p.next == nil || len(p.next) >= maxPaces {
		p.prune(at)
	}
	if rps > 0 {
		p.next[key] = full.Add(every)
	} else if delay == 0 {
		delete(p.next, key) // a hold that is over
	}
	return delay, true
}

// hold lets everybody wait whom the app would refuse as well.
func (p *paces) hold(a *app.App, key string, d time.Duration) {
	if d <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := time.Now()
	if p.next == nil || len(p.next) >= maxPaces {
		p.prune(at)
	}
	full := at.Add(min(d, maxHold))
	if a.Rate.RPS > 1 {
		full = full.Add(time.Second - time.Duration(float64(time.Second)/a.Rate.RPS))
	}
	if full.After(p.next[key]) {
		p.next[key] = full
	}
}

// prune forgets buckets that are full, and all where that is not enough.
func (p *paces) prune(at time.Time) {
	kept := map[string]time.Time{}
	for key, full := range p.next {
		if full.After(at) && len(kept) < maxPaces/2 {
			kept[key] = full
		}
	}
	p.next = kept
}
