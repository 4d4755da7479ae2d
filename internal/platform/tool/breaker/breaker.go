// Package breaker is a circuit breaker per host: after five calls in a row that
// got no response, within ten seconds, the host is not called for a minute; then
// one call probes it.
//
//	closed ──5 failures in 10 s──> open ──after 60 s──> one probe ──answered──> closed
//	                                 ^──────────────────────┘ no response
package breaker

import (
	"sync"
	"time"
)

const (
	tripAfter  = 5                // consecutive failures
	tripWithin = 10 * time.Second // the first to the last of them
	openFor    = 60 * time.Second
	maxHosts   = 10_000
)

// Outcome is what a call showed of its host.
type Outcome int

// Outcomes.
const (
	Answered   Outcome = iota
	Unanswered         // it could not be reached, or gave no response
	Unknown            // the call ended for another reason
)

// Breaker keeps the state of hosts. Only hosts that fail are stored. The zero
// value is ready; it is safe for concurrent use.
type Breaker struct {
	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	failures  []time.Time // consecutive, at most tripAfter
	openUntil time.Time
	probing   bool
}

// Admit allows a call of a host. done must be called with its outcome. It is nil
// if the host is not to be called now; retryAfter is when that may change.
func (b *Breaker) Admit(key string) (done func(Outcome), retryAfter time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probe := false
	if one := b.hosts[key]; one != nil && !one.openUntil.IsZero() {
		if wait := time.Until(one.openUntil); wait > 0 || one.probing {
			return nil, max(wait, time.Second)
		}
		one.probing, probe = true, true
	}
	return func(o Outcome) { b.record(key, o, probe) }, 0
}

func (b *Breaker) record(key string, o Outcome, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.hosts[key]
	switch {
	case o == Answered:
		delete(b.hosts, key)
		return
	case o == Unknown:
		if probe && one != nil {
			one.probing = false // the next call tries
		}
		return
	}
	now := time.Now()
	if one == nil {
		if len(b.hosts) >= maxHosts || b.hosts == nil {
			b.hosts = map[string]*host{}
		}
		one = &host{}
		b.hosts[key] = one
	}
	if probe {
		one.probing, one.openUntil = false, now.Add(openFor)
		return
	}
	one.failures = append(one.failures, now)
	if len(one.failures) > tripAfter {
		one.failures = one.failures[1:]
	}
	if len(one.failures) == tripAfter && now.Sub(one.failures[0]) <= tripWithin {
		one.openUntil = now.Add(openFor)
	}
}
