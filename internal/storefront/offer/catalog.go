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

// Listing is everything for sale as the processor told it.
type Listing struct {
	Offers     []Offer
	LeftOut    []LeftOut
	Mode       string // "live", "test" or "sandbox"
	VerifiedAt time.Time
}

// LeftOut is a price that a hosted page cannot sell. Operators are told.
type LeftOut struct{ PriceRef, Reason string }

// Source reads the offers at the processor.
type Source interface {
	// Offers reads all of them. It returns processor_unavailable (Unavailable)
	// if the processor does not answer.
	Offers(ctx context.Context) (Listing, error)
}

// Counter counts what is sold or on hold.
type Counter interface {
	// Taken answers the units of counted offers in sessions that are not
	// canceled or expired, by offer id.
	Taken(ctx context.Context) (map[string]int64, error)
}

// Catalog answers what is for sale. It is safe for concurrent use.
type Catalog struct {
	source Source
	stock  Counter
	log    *slog.Logger

	refreshing sync.Mutex // held while the processor is asked
	mu         sync.Mutex
	last       *Listing
	triedAt    time.Time // of the last refresh, good or not
	warned     map[LeftOut]bool
}

// NewCatalog answers a catalog over source and stock.
func NewCatalog(source Source, stock Counter, log *slog.Logger) *Catalog {
	return &Catalog{source: source, stock: stock, log: log, warned: map[LeftOut]bool{}}
}

// Snapshot is the catalog at one moment.
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

// Find answers the offer with the id, which may also be the processor's own
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

// Snapshot answers what is for sale. The listing is at most MaxAge old, or
// marked stale. It returns processor_unavailable (Unavailable) if the
// processor has never answered.
func (c *Catalog) Snapshot(ctx context.Context) (*Snapshot, error) {
	listing, stale, err := c.listing(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := c.stock.Taken(ctx)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Listing: *listing, Stale: stale, Taken: taken, At: time.Now()}, nil
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

// retryAfter spares a processor that is away: between tries, the stale
// listing is served at once.
const retryAfter = 5 * time.Second

func (c *Catalog) listing(ctx context.Context) (listing *Listing, stale bool, err error) {
	if last, fresh := c.kept(); fresh {
		return last, false, nil
	}
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	last, fresh := c.kept() // another caller may have refreshed meanwhile
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
		if ctx.Err() == nil { // a caller that left says nothing about the processor
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

func (c *Catalog) kept() (last *Listing, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.last != nil && time.Since(c.last.VerifiedAt) < MaxAge
}

func (c *Catalog) tried() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.triedAt
}

// warn tells the operator once about each price that cannot be sold.
func (c *Catalog) warn(ctx context.Context, leftOut []LeftOut) {
	for _, l := range leftOut {
		if !c.warned[l] {
			c.warned[l] = true
			c.log.WarnContext(ctx, "price left out of the catalog", "price", l.PriceRef, "reason", l.Reason)
		}
	}
}
