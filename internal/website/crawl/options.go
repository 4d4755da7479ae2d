package crawl

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Limits of one crawl.
const (
	DefaultPages = 10
	MaxPages     = 25
	MaxHops      = 5                // redirects of one address
	MaxDelay     = 10 * time.Second // Crawl-delay that is obeyed; a longer one counts as this
)

// Options are the parts of a crawl that have defaults.
type Options struct {
	// Agent is the product token that robots.txt is read with. Empty: Agent.
	Agent string
	// Interval is the least time between two requests to one host. 0: a second;
	// negative: none, for websites of one's own in tests.
	Interval time.Duration
	// Pacer is shared by crawls that run at the same time, so that together they
	// keep to Interval. Nil: this crawl keeps to it alone.
	Pacer *Pacer
	// MaxRequests bounds the calls, redirects included. 0: 60.
	MaxRequests int
	// MaxWall bounds the whole crawl. 0: 90 s. An earlier deadline of the
	// context of Open rules, less Reserve.
	MaxWall time.Duration
	// Reserve is left of the context's deadline for what comes after the crawl.
	// 0: two seconds.
	Reserve time.Duration
	// WireLimit and DecodedLimit bound one body before and after decompression.
	// 0: 2 and 5 MB.
	WireLimit, DecodedLimit int64
	// MaxBytes bounds all bodies together, decompressed. 0: 60 MB.
	MaxBytes int64
}

const mb = 1 << 20

func (o *Options) withDefaults() Options {
	if o == nil {
		o = new(Options)
	}
	d := Options{
		Agent: cmp.Or(o.Agent, Agent), Interval: cmp.Or(o.Interval, time.Second), Pacer: o.Pacer,
		MaxRequests: cmp.Or(o.MaxRequests, 60),
		MaxWall:     cmp.Or(o.MaxWall, 90*time.Second), Reserve: cmp.Or(o.Reserve, 2*time.Second),
		WireLimit:    cmp.Or(o.WireLimit, 2*mb),
		DecodedLimit: cmp.Or(o.DecodedLimit, 5*mb), MaxBytes: cmp.Or(o.MaxBytes, 60*mb),
	}
	if d.Pacer == nil {
		d.Pacer = NewPacer()
	}
	return d
}

// LeastDelay is the pace for a website whose robots.txt names this crawler and
// gives it a shorter Crawl-delay.
const LeastDelay = 100 * time.Millisecond

// Progress receives how far a crawl is: the phase, and of the pages that are
// planned, how many are done.
type Progress func(phase string, done, planned int)

// Pacer spaces the requests to each host. It is safe for concurrent use.
type Pacer struct {
	mu   sync.Mutex
	next map[string]time.Time // when a host may be asked again
}

// NewPacer returns a pacer without requests so far.
func NewPacer() *Pacer { return &Pacer{next: map[string]time.Time{}} }

// Wait takes the host's next turn, which begins gap after the one before, and
// waits for it. It does not wait, and returns false, if the turn is after until.
func (p *Pacer) Wait(ctx context.Context, host string, gap time.Duration, until time.Time) (bool, error) {
	p.mu.Lock()
	now := time.Now()
	turn := p.next[host]
	if turn.Before(now) {
		turn = now
	}
	if turn.After(until) {
		p.mu.Unlock()
		return false, nil
	}
	p.forget(now)
	if gap > 0 {
		p.next[host] = turn.Add(gap)
	}
	p.mu.Unlock()
	if turn.Equal(now) {
		return true, ctx.Err()
	}
	timer := time.NewTimer(turn.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-timer.C:
		return true, nil
	}
}

// Hold keeps a host from being asked for some time.
func (p *Pacer) Hold(host string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn := time.Now().Add(d); p.next[host].Before(turn) {
		p.next[host] = turn
	}
}

// forget drops hosts whose turn is long past.
func (p *Pacer) forget(now time.Time) {
	if len(p.next) < 1000 {
		return
	}
	for host, turn := range p.next {
		if turn.Before(now) {
			delete(p.next, host)
		}
	}
}
