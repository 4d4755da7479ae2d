package tool

import (
	"sync"
	"time"
)

// Rules of the circuit breaker.
const (
	tripAfter  = 5                // failures in a row
	tripWithin = 10 * time.Second // the first to the last of them
	openFor    = 60 * time.Second
	maxHosts   = 10_000
)

// breakers spare hosts that are down, and callers the wait for them: after five
// connections in a row that came to nothing, within ten seconds, nobody calls
// the host for a minute; then one call tries. Only hosts that fail are kept.
type breakers struct {
	mu    sync.Mutex
	hosts map[string]*breaker
}

type breaker struct {
	failures  []time.Time // in a row, at most tripAfter
	openUntil time.Time
	probing   bool
}

// verdict is what a call told about its host.
type verdict int

const (
	answered verdict = iota
	silent           // it could not be reached, or gave no answer
	unknown          // nothing
)

// admit lets a call through, which tells afterwards how it went, or answers the
// failure of a host that is spared.
func (b *breakers) admit(key, name string) (tell func(verdict), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.hosts[key]
	at := time.Now()
	probe := false
	if one != nil && !one.openUntil.IsZero() {
		if wait := one.openUntil.Sub(at); wait > 0 || one.probing {
			return nil, &Failure{
				Code: CodeUnavailable, Detail: name + " did not answer the last calls, so that this one was not sent.", Retryable: true,
				RetryAfter: max(wait, time.Second), NextAction: "retry_later", Unsent: true,
			}
		}
		one.probing, probe = true, true
	}
	return func(v verdict) { b.record(key, v, probe) }, nil
}

func (b *breakers) record(key string, v verdict, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.hosts[key]
	switch {
	case v == answered:
		delete(b.hosts, key)
		return
	case v == unknown:
		if probe && one != nil {
			one.probing = false // the next call tries
		}
		return
	}
	at := time.Now()
	if one == nil {
		if len(b.hosts) >= maxHosts || b.hosts == nil {
			b.hosts = map[string]*breaker{}
		}
		one = &breaker{}
		b.hosts[key] = one
	}
	if probe {
		one.probing, one.openUntil = false, at.Add(openFor)
		return
	}
	one.failures = append(one.failures, at)
	if len(one.failures) > tripAfter {
		one.failures = one.failures[1:]
	}
	if len(one.failures) == tripAfter && at.Sub(one.failures[0]) <= tripWithin {
		one.openUntil = at.Add(openFor)
	}
}
