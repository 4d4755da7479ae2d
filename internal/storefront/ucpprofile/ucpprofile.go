// Package ucpprofile reads the profiles that UCP platforms publish about
// themselves, over HTTP.
//
//	Profile(address) -> kept, at least a minute old or less? -> that
//	                 -> one fetch per address at a time, within the budget,
//	                    without redirects, 256 KiB, three seconds
//	                 -> parsed, kept: good or bad, so that a platform whose
//	                    profile is broken is not asked for at every request
//
// A caller of the store names the URL: the client must be one of package
// egress, and what is kept and fetched is bounded whatever callers do.
package ucpprofile

import (
	"container/list"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
)

// How long a profile is kept: what its Cache-Control says, within these.
const (
	minAge = time.Minute
	maxAge = time.Hour
)

// Options tunes a Reader; the zero value is the default.
type Options struct {
	// Size bounds the profiles that are kept. Zero: 1000.
	Size int
	// PerMinute bounds the fetches of all platforms together. Zero: 120.
	PerMinute int
	// Timeout bounds one fetch. Zero: 3 s.
	Timeout time.Duration
}

// Reader reads profiles and keeps them. It is safe for concurrent use.
type Reader struct {
	client *http.Client
	opts   Options
	flying singleflight.Group

	mu     sync.Mutex
	byURL  map[string]*list.Element
	recent *list.List // of *entry, the one used last in front
	tokens float64    // fetches left
	filled time.Time  // when tokens was right
}

type entry struct {
	address   string
	profile   *ucp.PlatformProfile // nil with err
	err       error
	fetchedAt time.Time
	until     time.Time
}

// New returns a reader. client decides what may be called.
func New(client *http.Client, o *Options) *Reader {
	r := &Reader{client: client, byURL: map[string]*list.Element{}, recent: list.New()}
	if o != nil {
		r.opts = *o
	}
	if r.opts.Size == 0 {
		r.opts.Size = 1000
	}
	if r.opts.PerMinute == 0 {
		r.opts.PerMinute = 120
	}
	if r.opts.Timeout == 0 {
		r.opts.Timeout = 3 * time.Second
	}
	r.tokens = float64(r.opts.PerMinute)
	return r
}

// Profile returns the profile at an address. It returns profile_unreachable or
// profile_malformed (Unprocessable), or profile_busy (Unavailable) while too
// many profiles are being fetched.
func (r *Reader) Profile(ctx context.Context, address string) (*ucp.PlatformProfile, error) {
	if e := r.cached(address); e != nil && time.Now().Before(e.until) {
		return e.profile, e.err
	}
	return r.fetchOnce(ctx, address)
}

// Newer is Profile for a caller who misses something in the kept one, such as
// a key: it is fetched again if it is older than a minute.
func (r *Reader) Newer(ctx context.Context, address string) (*ucp.PlatformProfile, error) {
	if e := r.cached(address); e != nil && time.Since(e.fetchedAt) < minAge {
		return e.profile, e.err
	}
	return r.fetchOnce(ctx, address)
}

func (r *Reader) cached(address string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	element, ok := r.byURL[address]
	if !ok {
		return nil
	}
	r.recent.MoveToFront(element)
	return element.Value.(*entry)
}

// fetchOnce lets callers at the same time share one fetch. It goes on when the
// first of them leaves: the others wait for it.
func (r *Reader) fetchOnce(ctx context.Context, address string) (*ucp.PlatformProfile, error) {
	result := r.flying.DoChan(address, func() (any, error) {
		if !r.spend() {
			return nil, problem.New(problem.Unavailable, "profile_busy",
				"Too many platform profiles are being read at the moment. Repeat the request in a few seconds.").After(
				5 * time.Second)
		}
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.Timeout)
		defer cancel()
		e := &entry{address: address}
		var age time.Duration
		e.profile, age, e.err = r.fetch(bound, address)
		e.fetchedAt = time.Now()
		e.until = e.fetchedAt.Add(min(max(age, minAge), maxAge))
		r.store(e)
		return e.profile, e.err
	})
	select {
	case got := <-result:
		profile, _ := got.Val.(*ucp.PlatformProfile)
		return profile, got.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// spend takes one fetch out of the budget, if one is left.
func (r *Reader) spend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, most := time.Now(), float64(r.opts.PerMinute)
	if !r.filled.IsZero() {
		r.tokens = min(most, r.tokens+now.Sub(r.filled).Minutes()*most)
	}
	r.filled = now
	if r.tokens < 1 {
		return false
	}
	r.tokens--
	return true
}

func (r *Reader) store(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if element, ok := r.byURL[e.address]; ok {
		element.Value = e
		r.recent.MoveToFront(element)
		return
	}
	r.byURL[e.address] = r.recent.PushFront(e)
	for r.recent.Len() > r.opts.Size {
		oldest := r.recent.Back()
		delete(r.byURL, oldest.Value.(*entry).address)
		r.recent.Remove(oldest)
	}
}

// fetch reads a profile and how long it may be kept.
func (r *Reader) fetch(ctx context.Context, address string) (*ucp.PlatformProfile, time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, 0, unreachable("its address is not one that can be called.")
	}
	req.Header.Set("Accept", "application/json")
	res, err := r.client.Do(req)
	if egress.Reason(err) != "" && ucp.IsLoopback(req.URL.Hostname()) {
		return nil, 0, unreachable("this store may not call its own machine. In development, start it with " +
			"ACE_EGRESS_ALLOW=127.0.0.0/8.")
	}
	if egress.Reason(err) != "" {
		return nil, 0, unreachable("this store may not call its address.")
	}
	if err != nil {
		return nil, 0, unreachable("nothing answered in time at its address.")
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode/100 == 3:
		return nil, 0, unreachable("its address answers a redirect. Name the final address.")
	case res.StatusCode != http.StatusOK:
		return nil, 0, unreachable("its address answers status " + strconv.Itoa(res.StatusCode) + ".")
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, ucp.MaxProfileBytes+1))
	if err != nil {
		return nil, 0, unreachable("it broke off while it was read, or is too large.")
	}
	profile, err := ucp.ParsePlatformProfile(data)
	return profile, freshness(res.Header), err
}

func unreachable(why string) error {
	return problem.New(problem.Unprocessable, string(ucp.ProfileUnreachable),
		"The profile that UCP-Agent names cannot be read: "+why)
}

// freshness is the max-age of a response; 0 if it names none.
func freshness(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		if strings.EqualFold(name, "max-age") {
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil {
				return time.Duration(seconds) * time.Second
			}
		}
	}
	return 0
}
