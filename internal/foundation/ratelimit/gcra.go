package ratelimit

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

const ways = 8

// slot is one client of one policy: a hash of both, and the theoretical
// arrival time, in nanoseconds since the table was made, at which the client's
// burst is whole again.
type slot struct {
	fingerprint uint64
	tat         int64
}

type set struct {
	mu    sync.Mutex
	slots [ways]slot
}

// Table holds the state of all clients in memory of a fixed size: sets of eight
// slots, 17 bytes a client. A new client takes the slot of its set that is
// whole again the soonest, usually one that is whole already and so loses
// nothing. Who floods the table with addresses pushes out others of its kind
// before it pushes out a client that is being limited.
type Table struct {
	sets    []set
	mask    uint64
	epoch   time.Time
	crowded atomic.Uint64
}

// TableOptions are the settings of a Table that have defaults.
type TableOptions struct {
	// Slots is how many clients fit, rounded up to a power of two. Default
	// 1,048,576, which takes 17 MiB at once.
	Slots int
}

// NewTable returns an empty table. Nil options are the defaults.
func NewTable(o *TableOptions) *Table {
	slots := 1 << 20
	if o != nil && o.Slots > 0 {
		slots = o.Slots
	}
	sets := max(1, 1<<bits.Len(uint((slots-1)/ways)))
	return &Table{sets: make([]set, sets), mask: uint64(sets - 1), epoch: time.Now()}
}

// Crowded counts how often a client was forgotten before its burst was whole:
// a sign that the table is too small or under attack.
func (t *Table) Crowded() uint64 { return t.crowded.Load() }

// GCRA is the generic cell rate algorithm for one policy: a steady rate of
// Quantity per Window with up to Burst units at once.
type GCRA struct {
	table    *Table
	policy   Policy
	seed     maphash.Seed // per process and policy: no client can aim at a set
	emission int64        // nanoseconds per unit
	capacity int64        // emission * burst
}

// Limiter returns the limiter of one policy. Its clients share the table with
// those of other policies and never meet them. It panics on a policy that
// Validate refuses.
func (t *Table) Limiter(p Policy) *GCRA {
	if err := p.Validate(); err != nil {
		panic(err)
	}
	emission := int64(p.Window) / int64(p.Quantity)
	return &GCRA{
		table: t, policy: p, seed: maphash.MakeSeed(), emission: emission,
		capacity: emission * int64(p.Limit()),
	}
}

// Allow implements Limiter. The error is always nil.
func (g *GCRA) Allow(_ context.Context, key string, cost int) (Result, error) {
	h := maphash.String(g.seed, key) | 1 // never the 0 of an empty slot
	now := int64(time.Since(g.table.epoch))
	s := &g.table.sets[h>>20&g.table.mask]

	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.find(h)
	tat := now
	if found {
		tat = max(now, s.slots[at].tat)
	}
	next := tat
	r := Result{Policy: g.policy, Allowed: true}
	switch {
	case cost < 0 || cost > g.policy.Limit():
		r.Allowed, r.TooCostly = false, true
	case tat+int64(cost)*g.emission-now > g.capacity:
		r.Allowed = false
		r.RetryAfter = time.Duration(tat + int64(cost)*g.emission - now - g.capacity)
	default:
		next = tat + int64(cost)*g.emission
	}
	if next > tat {
		if !found && s.slots[at].tat > now {
			g.table.crowded.Add(1)
		}
		s.slots[at] = slot{h, next}
	}
	g.state(&r, next-now)
	return r, nil
}

// Refund implements Refunder. A client that was forgotten meanwhile has its
// whole burst anyway. The error is always nil.
func (g *GCRA) Refund(_ context.Context, key string, cost int) (Result, error) {
	h := maphash.String(g.seed, key) | 1
	now := int64(time.Since(g.table.epoch))
	s := &g.table.sets[h>>20&g.table.mask]

	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.find(h)
	tat := now
	if found {
		back := int64(min(max(cost, 0), g.policy.Limit())) * g.emission
		tat = max(now, s.slots[at].tat-back)
		s.slots[at].tat = tat
	}
	r := Result{Policy: g.policy, Allowed: true}
	g.state(&r, tat-now)
	return r, nil
}

// state returns what is left when used nanoseconds of the capacity are taken.
func (g *GCRA) state(r *Result, used int64) {
	r.Remaining = int((g.capacity - used) / g.emission)
	if used > 0 {
		r.Reset = time.Duration((used-1)%g.emission + 1)
	}
}

// find returns the slot of h, or the one to give to it.
func (s *set) find(h uint64) (at int, found bool) {
	for i := range s.slots {
		if s.slots[i].fingerprint == h {
			return i, true
		}
		if s.slots[i].tat < s.slots[at].tat {
			at = i
		}
	}
	return at, false
}
