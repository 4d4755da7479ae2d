package ratelimit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Window allows exactly Quantity units in any stretch of Window, per key: it
// remembers when each unit was taken, to the millisecond. It is for keys that
// somebody was given, not for addresses.
type Window struct {
	policy Policy
	shards [64]shard
	seed   maphash.Seed
	epoch  time.Time
	most   int // keys per shard
}

// WindowOptions are the settings of a Window that have defaults.
type WindowOptions struct {
	// MaxKeys bounds the keys remembered. Default 65,536. A key costs four
	// bytes a unit. Past the bound, the key that was quiet for longest among a
	// few is forgotten.
	MaxKeys int
}

type shard struct {
	mu   sync.Mutex
	keys map[string]*trail
}

// trail is when a key took its last units: a ring of milliseconds since the
// epoch, modulo 2^32.
type trail struct {
	slots    []uint32
	first, n int
	last     int64 // milliseconds since the epoch, whole
}

// NewWindow returns a limiter without keys. Burst does not apply. It panics on
// a policy that Validate refuses. Nil options are the defaults.
func NewWindow(p Policy, o *WindowOptions) *Window {
	p.Burst = 0
	if err := p.Validate(); err != nil {
		panic(err)
	}
	most := 1 << 16
	if o != nil && o.MaxKeys > 0 {
		most = o.MaxKeys
	}
	w := &Window{policy: p, seed: maphash.MakeSeed(), epoch: time.Now()}
	w.most = max(1, most/len(w.shards))
	for i := range w.shards {
		w.shards[i].keys = make(map[string]*trail)
	}
	return w
}

// Allow implements Limiter. The error is always nil.
func (w *Window) Allow(_ context.Context, key string, cost int) (Result, error) {
	s := &w.shards[maphash.String(w.seed, key)%uint64(len(w.shards))]
	span := w.policy.Window.Milliseconds()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Since(w.epoch).Milliseconds()
	tr := s.keys[key]
	if tr == nil {
		if len(s.keys) >= w.most {
			s.forget(now, span)
		}
		tr = &trail{slots: make([]uint32, w.policy.Quantity)}
		s.keys[key] = tr
	}
	tr.prune(now, span)
	r := Result{Policy: w.policy, Allowed: true}
	switch {
	case cost < 0 || cost > w.policy.Quantity:
		r.Allowed, r.TooCostly = false, true
	case tr.n+cost > w.policy.Quantity:
		r.Allowed = false
		r.RetryAfter = tr.leaves(tr.n+cost-w.policy.Quantity, now, span)
	default:
		tr.add(now, cost)
	}
	r.Remaining = w.policy.Quantity - tr.n
	if tr.n > 0 {
		r.Reset = tr.leaves(1, now, span)
	}
	return r, nil
}

// prune drops the units that have left the window.
func (tr *trail) prune(now, span int64) {
	if now-tr.last >= span {
		tr.n = 0 // also the guard against ages that do not fit 32 bits
	}
	for tr.n > 0 && int64(uint32(now)-tr.slots[tr.first]) >= span {
		tr.first = (tr.first + 1) % len(tr.slots)
		tr.n--
	}
}

// leaves returns when the k-th oldest unit leaves the window.
func (tr *trail) leaves(k int, now, span int64) time.Duration {
	at := tr.slots[(tr.first+k-1)%len(tr.slots)]
	return time.Duration(span-int64(uint32(now)-at)) * time.Millisecond
}

func (tr *trail) add(now int64, cost int) {
	for range cost {
		tr.slots[(tr.first+tr.n)%len(tr.slots)] = uint32(now)
		tr.n++
	}
	tr.last = now
}

// forget makes room: it drops the quietest of a few keys, and every idle one
// it meets on the way.
func (s *shard) forget(now, span int64) {
	quietest, seen := "", 0
	for key, tr := range s.keys { // begins at a random place
		if now-tr.last >= span {
			delete(s.keys, key)
			continue
		}
		if quietest == "" || tr.last < s.keys[quietest].last {
			quietest = key
		}
		if seen++; seen == 16 {
			break
		}
	}
	if seen == 16 && quietest != "" {
		delete(s.keys, quietest)
	}
}
