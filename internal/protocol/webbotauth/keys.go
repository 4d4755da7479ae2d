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

// Fetcher makes the requests for keys: an http.Client whose transport refuses private networks,
// limits time and size, and follows no redirects.
type Fetcher interface {
	Do(*http.Request) (*http.Response, error)
}

// KeysOptions are the settings of Keys that have defaults.
type KeysOptions struct {
	// MaxSources is the maximum number of cached URLs. Default 10,000. The total number of keys is
	// limited to four times as many.
	MaxSources int
	// Sign, if set, signs the requests for keys.
	Sign func(*http.Request) error
}

// The limits of fetches: a new URL counts against the client that names it and against a global
// limit; concurrent and waiting fetches are limited too.
const (
	maxFetching = 2
	maxWaiting  = 32
	fetchWait   = 10 * time.Second // from the key request to the end of its fetch
	firstRetry  = 30 * time.Second
	maxRetry    = 5 * time.Minute
	// refetchAfter is how soon a directory may be fetched again for a key that is not in it: it may
	// have been added since.
	refetchAfter = time.Minute
)

// entry is the cached state of a source.
type entry struct {
	set      keySet    // nil: never fetched
	staleAt  time.Time // when the set has to be fetched again
	fetched  time.Time // the last success
	retryAt  time.Time // after a failure: not before
	failures int
	busy     bool
	used     time.Time
}

// Keys caches the keys of agents. It is safe for concurrent use.
//
//	find -> known and fresh: the key, or unknown_key
//	     -> known and stale: the same, and a fetch in the background
//	     -> unknown: pending, and a fetch if the budgets allow one
//
// A failed fetch never removes keys; a successful one replaces them all.
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

	mu       sync.Mutex
	entries  map[Source]*entry
	keyCount int // keys in all entries
	closed   bool
}

// NewKeys returns an empty cache. Close it. Nil options are the defaults.
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

// Close cancels running fetches and waits for them. Afterwards nothing is fetched.
func (k *Keys) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.shutdown()
	k.work.Wait()
}

// Len returns the number of cached sources and keys.
func (k *Keys) Len() (sources, keys int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.entries), k.keyCount
}

// find returns a key that is valid at signedAt from the cache, or the reason why there is none. It
// starts a fetch if one is due.
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
	due := e.set == nil || !now.Before(e.staleAt) || !found && !now.Before(e.fetched.Add(refetchAfter))
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

// budget charges a fetch to the global limit, and to the client that names a URL without cached
// keys.
func (k *Keys) budget(client netip.Addr, fresh bool) bool {
	if k.closed || len(k.waiting) == cap(k.waiting) {
		return false
	}
	if fresh {
		if r, _ := k.perIP.Allow(k.base, ratelimit.ClientKey(client), 1); !r.Allowed {
			return false
		}
	}
	r, _ := k.overall.Allow(k.base, "", 1)
	return r.Allowed
}

// start starts a fetch. The lock is held.
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

// errNoTurn says that other fetches took too long: not a failure of the source.
var errNoTurn = errors.New("no turn to fetch")

// settle stores the result of a fetch.
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
			k.log.Info("keys of a signing agent could not be fetched", "source", source.URL, "failures", e.failures,
				"error", f.err.Error())
		}
		return
	}
	if k.entries[source] != e {
		return // evicted in the meantime
	}
	k.keyCount += len(f.set) - len(e.set)
	e.set, e.fetched, e.staleAt, e.failures, e.retryAt = f.set, now, now.Add(f.fresh), 0, time.Time{}
	for k.keyCount > 4*k.options.MaxSources && len(k.entries) > 1 {
		k.evict(e)
	}
}

// admit adds an entry and evicts another one if necessary.
func (k *Keys) admit(now time.Time, source Source) *entry {
	for len(k.entries) >= k.options.MaxSources {
		k.evict(nil)
	}
	e := &entry{used: now}
	k.entries[source] = e
	return e
}

// evict removes one of a few random entries: one without keys if there is one, or else the least
// recently used one.
func (k *Keys) evict(added *entry) {
	var worst Source
	var victim *entry
	seen := 0
	for source, e := range k.entries { // random order
		if e == added {
			continue
		}
		if victim == nil || (e.set == nil) != (victim.set == nil) && e.set == nil ||
			(e.set == nil) == (victim.set == nil) && e.used.Before(victim.used) {
			worst, victim = source, e
		}
		if seen++; seen == 16 {
			break
		}
	}
	if victim != nil {
		k.keyCount -= len(victim.set)
		delete(k.entries, worst)
	}
}
