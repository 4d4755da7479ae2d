// Package pace limits how often this process calls an app.
//
//	Wait(key, rate) -> at once, or after a delay, or *Busy: come back later
//	Hold(key, d)    -> the app said 429: it is not called for a while
//
// Each process counts for itself.
package pace

import (
	"context"
	"maps"
	"sync"
	"time"
)

const (
	maxKeys  = 10_000
	maxHold  = time.Minute
	maxBurst = 50
	// maxDelay is the longest that a call waits; beyond it the caller is refused.
	maxDelay = 10 * time.Second
)

// Busy is the error of a call that was not made because others wait for the same
// key, or because its context ended while it waited.
type Busy struct {
	// RetryAfter is when the next call may be made; 0 where the context ended.
	RetryAfter time.Duration
}

// Error implements error.
func (*Busy) Error() string { return "too many calls wait for the app" }

// Limiter allows at most the given number of calls in any second, each as early
// as that permits. The zero value is ready; it is safe for concurrent use.
type Limiter struct {
	mu   sync.Mutex
	keys map[string]*calls
}

// calls is what is known of one key.
type calls struct {
	at   []time.Time // of the last calls, oldest first; some may be in the future
	held time.Time   // no call before
}

// Wait waits until a call may be made at perSecond calls a second; 0 means no
// limit but that of Hold. It returns *Busy if the context would end first, or
// the delay would be longer than ten seconds.
func (l *Limiter) Wait(ctx context.Context, key string, perSecond float64) error {
	delay, ok := l.reserve(ctx, key, perSecond)
	switch {
	case !ok:
		return &Busy{delay}
	case delay <= 0:
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &Busy{}
	}
}

// reserve returns how long the next call has to wait. ok is false if that is too
// long; nothing is reserved then.
func (l *Limiter) reserve(ctx context.Context, key string, perSecond float64) (delay time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.keys[key]
	if perSecond <= 0 && one == nil {
		return 0, true
	}
	now := time.Now()
	if one == nil {
		one = l.add(key, now)
	}
	burst, window := 0, time.Duration(0)
	if perSecond > 0 {
		burst = min(max(1, int(perSecond)), maxBurst)
		window = time.Duration(float64(burst) / perSecond * float64(time.Second))
	}
	turn := now
	if one.held.After(turn) {
		turn = one.held
	}
	if n := len(one.at); burst > 0 && n >= burst {
		if free := one.at[n-burst].Add(window); free.After(turn) {
			turn = free
		}
	}
	delay = turn.Sub(now)
	if until, bounded := ctx.Deadline(); delay > maxDelay || bounded && turn.After(until) {
		return delay, false
	}
	if burst == 0 {
		if delay == 0 {
			delete(l.keys, key) // its hold has ended
		}
		return delay, true
	}
	if one.at = append(one.at, turn); len(one.at) > burst {
		one.at = append(one.at[:0], one.at[len(one.at)-burst:]...)
	}
	return delay, true
}

// Hold delays all calls of a key by d, at most a minute: the app has refused one
// and would refuse the others.
func (l *Limiter) Hold(key string, d time.Duration) {
	if d <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	one := l.keys[key]
	if one == nil {
		one = l.add(key, now)
	}
	if until := now.Add(min(d, maxHold)); until.After(one.held) {
		one.held = until
	}
}

// add inserts a key. If there are too many, idle ones are removed, and as many
// others as leaves a quarter free: so that this is seldom done.
func (l *Limiter) add(key string, now time.Time) *calls {
	if l.keys == nil {
		l.keys = map[string]*calls{}
	}
	if len(l.keys) >= maxKeys {
		maps.DeleteFunc(l.keys, func(_ string, one *calls) bool {
			idle := !one.held.After(now) && (len(one.at) == 0 || one.at[len(one.at)-1].Before(now.Add(-maxHold)))
			return idle
		})
		for other := range l.keys {
			if len(l.keys) <= maxKeys*3/4 {
				break
			}
			delete(l.keys, other)
		}
	}
	one := &calls{}
	l.keys[key] = one
	return one
}
