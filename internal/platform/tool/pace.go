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
	maxBurst = 50
	// maxTurn is how long a call waits at most: beyond, its caller does better to
	// come back.
	maxTurn = 10 * time.Second
)

// paces keep to how often apps want to be called: never more calls in any second
// than there may be, and as soon as that allows. Each process counts for itself.
type paces struct {
	mu   sync.Mutex
	kept map[string]*pace
}

// pace is what is known of one key.
type pace struct {
	turns []time.Time // of the last calls, oldest first; some may lie ahead
	held  time.Time   // no call before
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
	one := p.kept[key]
	if a.Rate.RPS <= 0 && one == nil {
		return 0, true
	}
	at := time.Now()
	if one == nil {
		one = p.add(key, at)
	}
	burst, window := 0, time.Duration(0)
	if a.Rate.RPS > 0 {
		burst = min(max(1, int(a.Rate.RPS)), maxBurst)
		window = time.Duration(float64(burst) / a.Rate.RPS * float64(time.Second))
	}
	turn := at
	if one.held.After(turn) {
		turn = one.held
	}
	if n := len(one.turns); burst > 0 && n >= burst {
		if free := one.turns[n-burst].Add(window); free.After(turn) {
			turn = free
		}
	}
	delay = turn.Sub(at)
	if until, bounded := ctx.Deadline(); delay > maxTurn || bounded && turn.After(until) {
		return delay, false
	}
	if burst == 0 {
		if delay == 0 {
			delete(p.kept, key) // a hold that is over
		}
		return delay, true
	}
	if one.turns = append(one.turns, turn); len(one.turns) > burst {
		one.turns = append(one.turns[:0], one.turns[len(one.turns)-burst:]...)
	}
	return delay, true
}

// hold lets everybody wait whom the app would refuse as well.
func (p *paces) hold(key string, d time.Duration) {
	if d <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := time.Now()
	one := p.kept[key]
	if one == nil {
		one = p.add(key, at)
	}
	if until := at.Add(min(d, maxHold)); until.After(one.held) {
		one.held = until
	}
}

// add begins to keep a key. Where there are too many, those that have nobody
// wait are forgotten, and if need be others.
func (p *paces) add(key string, at time.Time) *pace {
	if p.kept == nil {
		p.kept = map[string]*pace{}
	}
	if len(p.kept) >= maxPaces {
		for other, one := range p.kept {
			idle := !one.held.After(at) && (len(one.turns) == 0 || one.turns[len(one.turns)-1].Before(at.Add(-maxHold)))
			if idle || len(p.kept) >= maxPaces {
				delete(p.kept, other)
			}
		}
	}
	one := &pace{}
	p.kept[key] = one
	return one
}
