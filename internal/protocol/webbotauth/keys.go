package webbotauth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/ratelimit"
)

// Fetcher makes the calls for keys: an http.Client whose transport keeps it out
// of private networks, bounds time and size, and follows no redirect.
type Fetcher interface {
	Do(*http.Request) (*http.Response, error)
}

// KeysOptions are the settings of Keys that have defaults.
type KeysOptions struct {
	// MaxSources is how many addresses are remembered. Default 10,000; four
	// times as many keys are, in sum.
	MaxSources int
	// Sign, if set, signs the requests for keys.
	Sign func(*http.Request) error
}

// How fetches are rationed: new addresses cost the client who names them and
// all together; whoever is at work or waits is bounded.
const (
	maxFetching = 2
	maxWaiting  = 32
	fetchWait   = 10 * time.Second // from the request for keys to the end of its fetch
	firstRetry  = 30 * time.Second
	maxRetry    = 5 * time.Minute
	// relook is how soon a directory may be read again because a key is not in
	// it: it may have been added since.
	relook = time.Minute
)

// entry is what is known about a source.
type entry struct {
	set      keySet    // nil: never fetched
	staleAt  time.Time // when the set wants to be fetched again
	fetched  time.Time // the last success
	retryAt  time.Time // after a failure: no try before
	failures int
	busy     bool
	used     time.Time
}

// Keys remembers the keys of agents. It is safe for concurrent use.
//
//	find -> known and fresh: the key, or unknown_key
//	     -> known and stale: the same, and a fetch in the background
//	     -> unknown: pending, and a fetch if the budgets allow one
//
// A failed fetch never takes keys away; a successful one replaces them all.
type Keys struct {
	fetcher  Fetcher
	log      *slog.Logger
	options  KeysOptions
	perIP    ratelimit.Limiter
	overall  ratelimit.Limiter
	slots    chan struct{} // held while fetching
	waiting  chan struct{} // held from the start of a fetch until its end
	base     context.Context
	shutdown context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	entries map[Source]*entry
	held    int // keys in all entries
	closed  bool
}

// NewKeys answers an empty memory. Close it. Nil options are the defaults.
func NewKeys(fetcher Fetcher, log *slog.Logger, o *KeysOptions) *Keys {
	k := &Keys{fetcher: fetcher, log: log, entries: map[Source]*entry{}}
	if o != nil {
		k.options = *o
	}
	if k.options.MaxSources <= 0 {
		k.options.MaxSources = 10_000
	}
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1 << 16})
	k.perIP = table.Limiter(ratelimit.Policy{Name: "key-source", Quantity: 1, Window: 10 * time.Second})
	k.overall = table.Limiter(ratelimit.Policy{Name: "key-sources", Quantity: 5, Window: time.Second})
	k.slots, k.waiting = make(chan struct{}, maxFetching), make(chan struct{}, maxWaiting)
	k.base, k.shutdown = context.WithCancel(context.Background())
	return k
}

// Close ends the fetches that run and waits for them. Afterwards nothing is
// fetched any more.
func (k *Keys) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.shutdown()
	k.work.Wait()
}

// Len is how many sources are remembered, and how many keys.
func (k *Keys) Len() (sources, keys int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.entries), k.held
}

// find answers a key that counts at signedAt from memory, or why there is none.
// It starts a fetch where one is due.
func (k *Keys) find(signedAt time.Time, source Source, keyID string, client netip.Addr) (httpsig.JWK, Reason) {
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.entries[source]
	if e == nil {
		if k.budget(client, true) {
			e = k.admit(now, source)
			k.start(source, e)
		}
		return httpsig.JWK{}, Pending
	}
	e.used = now
	key, found := e.set.find(signedAt, keyID)
	due := e.set == nil || !now.Before(e.staleAt) || !found && !now.Before(e.fetched.Add(relook))
	if due && !e.busy && !now.Before(e.retryAt) && k.budget(client, e.set == nil) {
		k.start(source, e)
	}
	switch {
	case found:
		return key, ""
	case e.set != nil:
		return httpsig.JWK{}, UnknownKey
	case e.failures > 0 && !e.busy:
		return httpsig.JWK{}, Unreachable
	}
	return httpsig.JWK{}, Pending
}

// budget takes what a fetch costs: always of all, and of the client who names
// an address without keys.
func (k *Keys) budget(client netip.Addr, fresh bool) bool {
	if k.closed || len(k.waiting) == cap(k.waiting) {
		return false
	}
	if fresh {
		if r, _ := k.perIP.Take(k.base, ratelimit.ClientKey(client), 1); !r.Allowed {
			return false
		}
	}
	r, _ := k.overall.Take(k.base, "", 1)
	return r.Allowed
}

// start begins a fetch. The lock is held.
func (k *Keys) start(source Source, e *entry) {
	select {
	case k.waiting <- struct{}{}:
	default:
		return
	}
	e.busy = true
	k.work.Go(func() {
		defer func() { <-k.waiting }()
		ctx, cancel := context.WithTimeout(k.base, fetchWait)
		defer cancel()
		k.settle(source, e, k.fetchInTurn(ctx, source))
	})
}

func (k *Keys) fetchInTurn(ctx context.Context, source Source) fetched {
	select {
	case k.slots <- struct{}{}:
		defer func() { <-k.slots }()
		return k.fetch(ctx, source)
	case <-ctx.Done():
		return fetched{err: errNoTurn}
	}
}

// errNoTurn says that others were fetched for too long: not the source's fault.
var errNoTurn = errors.New("no turn to fetch")

// settle keeps what a fetch brought.
func (k *Keys) settle(source Source, e *entry, f fetched) {
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	e.busy = false
	if errors.Is(f.err, errNoTurn) {
		return
	}
	if f.err != nil {
		e.failures++
		e.retryAt = now.Add(min(firstRetry<<min(e.failures-1, 8), maxRetry))
		if k.base.Err() == nil {
			k.log.Info("keys of a signing agent could not be fetched", "source", source.URL, "failures", e.failures, "error", f.err.Error())
		}
		return
	}
	if k.entries[source] != e {
		return // pushed out meanwhile
	}
	k.held += len(f.set) - len(e.set)
	e.set, e.fetched, e.staleAt, e.failures, e.retryAt = f.set, now, now.Add(f.fresh), 0, time.Time{}
	for k.held > 4*k.options.MaxSources && len(k.entries) > 1 {
		k.forget(e)
	}
}

// admit makes an entry, and room for it.
func (k *Keys) admit(now time.Time, source Source) *entry {
	for len(k.entries) >= k.options.MaxSources {
		k.forget(nil)
	}
	e := &entry{used: now}
	k.entries[source] = e
	return e
}

// forget drops one of a few entries: one without keys, otherwise the one that
// was of no use for longest.
func (k *Keys) forget(keep *entry) {
	var worst Source
	var victim *entry
	seen := 0
	for source, e := range k.entries { // begins at a random place
		if e == keep {
			continue
		}
		if victim == nil || (e.set == nil) != (victim.set == nil) && e.set == nil || (e.set == nil) == (victim.set == nil) && e.used.Before(victim.used) {
			worst, victim = source, e
		}
		if seen++; seen == 16 {
			break
		}
	}
	if victim != nil {
		k.held -= len(victim.set)
		delete(k.entries, worst)
	}
}
