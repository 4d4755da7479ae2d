package redislimit

import (
	"hash/maphash"
	"sync"
	"time"

	"ace/internal/foundation/ratelimit"
)

// denials remembers refusals until the client's next unit is there, in memory
// of a fixed size: a client that floods the store is refused here and never
// reaches Redis. Only time can make a refusal wrong, because units are only
// ever taken; the one that gives them back forgets it. Two clients in one place
// push each other out, which costs a question to Redis.
type denials struct {
	seed  maphash.Seed
	slots []slot
}

type slot struct {
	mu          sync.Mutex
	fingerprint uint64
	until       time.Duration // since the epoch of the store: the next unit is there
	retry       time.Duration // likewise: enough units are there
	remaining   int
}

const denialSlots = 1 << 15

func newDenials() *denials {
	return &denials{seed: maphash.MakeSeed(), slots: make([]slot, denialSlots)}
}

// place is where a refusal of one cost to one client may be.
type place struct {
	slot        *slot
	fingerprint uint64
}

func (d *denials) of(name string, cost int) place {
	var h maphash.Hash
	h.SetSeed(d.seed)
	_, _ = h.WriteString(name) // never fails
	maphash.WriteComparable(&h, cost)
	sum := h.Sum64()
	return place{&d.slots[sum%denialSlots], sum}
}

// still returns the refusal again while it holds.
func (p place) still(now time.Duration) (ratelimit.Result, bool) {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if p.slot.fingerprint != p.fingerprint || now >= p.slot.until {
		return ratelimit.Result{}, false
	}
	return ratelimit.Result{
		Remaining: p.slot.remaining, Reset: p.slot.until - now,
		RetryAfter: p.slot.retry - now,
	}, true
}

func (p place) store(now time.Duration, r ratelimit.Result) {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	p.slot.fingerprint, p.slot.until, p.slot.retry, p.slot.remaining = p.fingerprint, now+min(r.Reset,
		r.RetryAfter), now+r.RetryAfter, r.Remaining
}

func (p place) forget() {
	p.slot.mu.Lock()
	defer p.slot.mu.Unlock()
	if p.slot.fingerprint == p.fingerprint {
		p.slot.until = 0
	}
}
