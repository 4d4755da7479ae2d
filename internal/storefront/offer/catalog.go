package offer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ace/internal/foundation/problem"
)

// MaxAge is how old a listing may be before the processor is asked again.
const MaxAge = time.Minute

// Listing is everything for sale as the processor listed it.
type Listing struct {
	Offers     []Offer
	LeftOut    []LeftOut
	Mode       string // "live", "test" or "sandbox"
	VerifiedAt time.Time
}

// LeftOut is a price that a hosted page cannot sell. It is logged for the operator.
type LeftOut struct{ PriceRef, Reason string }

// Source reads the offers at the processor.
type Source interface {
	// Offers reads all of them. It returns processor_unavailable (Unavailable)
	// if the processor does not respond.
	Offers(ctx context.Context) (Listing, error)
}

// Counter counts what is sold or on hold.
type Counter interface {
	// Taken returns the units of counted offers in sessions that are not
	// canceled or expired, by offer id.
	Taken(ctx context.Context) (map[string]int64, error)
	// Changes returns a number that is another one after this process changed
	// what Taken counts. Changes by other processes do not show.
	Changes() uint64
}

// Catalog returns what is for sale. It is safe for concurrent use.
type Catalog struct {
	source Source
	stock  Counter
	log    *slog.Logger

	refreshing sync.Mutex // held while the processor is asked
	mu         sync.Mutex
	last       *Listing
	triedAt    time.Time // of the last refresh, good or not
	warned     map[LeftOut]bool
	shown      *counted // the last snapshot
}

// stockAge is how long a count of the stock is used again while this process
// changes none: sales by other replicas show after it.
const stockAge = time.Second

// counted is a snapshot with what it was made of.
type counted struct {
	*Snapshot
	listing *Listing
	changes uint64
}

// NewCatalog returns a catalog over source and stock.
func NewCatalog(source Source, stock Counter, log *slog.Logger) *Catalog {
	return &Catalog{source: source, stock: stock, log: log, warned: map[LeftOut]bool{}}
}

// Snapshot is the catalog at one moment. It never changes.
type Snapshot struct {
	Listing
	Stale bool // the processor could not be reached; the listing is the last good one
	Taken map[string]int64
	At    time.Time
}

// Availability is the state of an offer of the snapshot.
func (s *Snapshot) Availability(o *Offer) Availability {
	checked := s.VerifiedAt
	if o.Stock.Counted {
		checked = s.At
	}
	return o.Availability(s.Taken[o.ID], checked)
}

// Find returns the offer with the id, which may also be the processor's own
// name of the price. It returns offer_not_found (NotFound).
func (s *Snapshot) Find(id string) (*Offer, error) {
	for i := range s.Offers {
		if s.Offers[i].ID == id || s.Offers[i].PriceRef == id {
			return &s.Offers[i], nil
		}
	}
	return nil, problem.New(problem.NotFound, "offer_not_found",
		"No such offer is for sale. Read /agent/commerce/products for the ids that can be bought.")
}

// Snapshot returns what is for sale. The listing is at most MaxAge old, or
// marked stale. It returns processor_unavailable (Unavailable) if the
// processor has never responded. While nothing changes, it returns the same
// snapshot for up to a second.
func (c *Catalog) Snapshot(ctx context.Context) (*Snapshot, error) {
	listing, stale, err := c.listing(ctx)
	if err != nil {
		return nil, err
	}
	changes := c.stock.Changes() // before counting: a change meanwhile makes the count old
	if last := c.lastShown(); last != nil && last.listing == listing && last.Stale == stale &&
		last.changes == changes && time.Since(last.At) < stockAge {
		return last.Snapshot, nil
	}
	taken, err := c.stock.Taken(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Listing: *listing, Stale: stale, Taken: taken, At: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown = &counted{Snapshot: s, listing: listing, changes: changes}
	return s, nil
}

func (c *Catalog) lastShown() *counted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown
}

// Invalidate makes the next Snapshot ask the processor.
func (c *Catalog) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.triedAt = time.Time{}
	if c.last != nil {
		aged := *c.last
		aged.VerifiedAt = aged.VerifiedAt.Add(-MaxAge)
		c.last = &aged
	}
}

// retryAfter is the pause between calls of an unavailable processor: the stale
// listing is served at once.
const retryAfter = 5 * time.Second

func (c *Catalog) listing(ctx context.Context) (listing *Listing, stale bool, err error) {
	if last, fresh := c.cached(); fresh {
		return last, false, nil
	}
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	last, fresh := c.cached() // another caller may have refreshed meanwhile
	if fresh {
		return last, false, nil
	}
	if last != nil && time.Since(c.tried()) < retryAfter {
		return last, true, nil
	}
	read, err := c.source.Offers(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil { // that the caller left says nothing about the processor
			c.triedAt = time.Now()
			c.log.WarnContext(ctx, "reading offers", "error", err)
		}
		if last != nil {
			return last, true, nil
		}
		return nil, false, err
	}
	c.triedAt, c.last = time.Now(), &read
	c.warn(ctx, read.LeftOut)
	return &read, false, nil
}

func (c *Catalog) cached() (last *Listing, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.last != nil && time.Since(c.last.VerifiedAt) < MaxAge
}

func (c *Catalog) tried() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.triedAt
}

// warn logs each price that cannot be sold, once.
func (c *Catalog) warn(ctx context.Context, leftOut []LeftOut) {
	for _, l := range leftOut {
		if !c.warned[l] {
			c.warned[l] = true
			c.log.WarnContext(ctx, "price left out of the catalog", "price", l.PriceRef, "reason", l.Reason)
		}
	}
}
