package offer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/offer"
)

func TestAvailability(t *testing.T) {
	t.Parallel()
	counted := func(status offer.Status, units int64) offer.Offer {
		return offer.Offer{Stock: offer.Stock{Status: status, Counted: true, Units: units, MaxPerOrder: 10}}
	}
	tests := []struct {
		name      string
		offer     offer.Offer
		taken     int64
		want      offer.Status
		available bool
		max       int64
	}{
		{
			"uncounted",
			offer.Offer{Stock: offer.Stock{Status: offer.InStock, MaxPerOrder: 10}},
			99, offer.InStock,
			true, 10,
		},
		{"plenty", counted(offer.InStock, 25), 5, offer.InStock, true, 10},
		{"low", counted(offer.InStock, 25), 20, offer.LowStock, true, 5},
		{"none left", counted(offer.InStock, 25), 25, offer.OutOfStock, false, 10},
		{"oversold", counted(offer.InStock, 25), 26, offer.OutOfStock, false, 10},
		{"preorder stays preorder", counted(offer.Preorder, 25), 22, offer.Preorder, true, 3},
		{"said to be out", counted(offer.OutOfStock, 25), 0, offer.OutOfStock, false, 10},
		{
			"discontinued",
			offer.Offer{Stock: offer.Stock{Status: offer.Discontinued, MaxPerOrder: 1}},
			0, offer.Discontinued, false, 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.offer.Availability(tt.taken, time.Now())
			if got.Status != tt.want || got.Available() != tt.available || got.MaxPerOrder != tt.max {
				t.Errorf("Availability = %+v, available %v, want %s, %v, max %d", got, got.Available(), tt.want,
					tt.available, tt.max)
			}
		})
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	monthly := offer.Offer{
		Price:   money.Amount{Minor: 1900, Currency: "USD"},
		Billing: offer.Billing{Interval: "month", Count: 1}, TrialDays: 14,
	}
	quarterly := offer.Offer{
		Price:   money.Amount{Minor: 4200, Currency: "JPY"},
		Billing: offer.Billing{Interval: "month", Count: 3}, TrialDays: 1,
	}
	once := offer.Offer{Price: money.Amount{Minor: 29000, Currency: "KWD"}}
	for got, want := range map[string]string{
		monthly.BillingSummary():   "USD 19.00 every month until canceled",
		monthly.TrialSummary():     "Free for 14 days, then USD 19.00 every month",
		quarterly.BillingSummary(): "JPY 4200 every 3 months until canceled",
		quarterly.TrialSummary():   "Free for 1 day, then JPY 4200 every 3 months",
		once.BillingSummary():      "KWD 29.000 once",
		once.TrialSummary():        "",
	} {
		if got != want {
			t.Errorf("summary = %q, want %q", got, want)
		}
	}
	if due, ok := monthly.DueToday(3); !ok || due.Minor != 0 {
		t.Errorf("due today with a trial = %v, %v, want 0", due, ok)
	}
	if due, ok := once.DueToday(3); !ok || due.Minor != 87000 {
		t.Errorf("due today = %v, %v, want 87000", due, ok)
	}
}

// processor is a Source whose answer tests change.
type processor struct {
	mu    sync.Mutex
	err   error
	reads int
	n     int // offers
}

func (p *processor) set(err error, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.n = err, n
}

func (p *processor) Offers(context.Context) (offer.Listing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	if p.err != nil {
		return offer.Listing{}, p.err
	}
	listing := offer.Listing{
		Mode: "test", VerifiedAt: time.Now(),
		LeftOut: []offer.LeftOut{{PriceRef: "price_tiered", Reason: "tiered"}},
	}
	for i := range p.n {
		listing.Offers = append(listing.Offers, offer.Offer{
			ID: fmt.Sprintf("offer_%03d", i), ProductID: "prod_1", PriceRef: fmt.Sprintf("price_%d", i),
			Name: "Home-Box " + fmt.Sprint(i), Category: offer.Hardware,
			Price: money.Amount{Minor: int64(100 * i), Currency: "USD"}, Stock: offer.Stock{
				Status:  offer.InStock,
				Counted: i == 0, Units: 1, MaxPerOrder: 1,
			},
		})
	}
	return listing, nil
}

type taken map[string]int64

func (s taken) Taken(context.Context) (map[string]int64, error) { return s, nil }

func (taken) Changes() uint64 { return 0 }

var errAway = problem.New(problem.Unavailable, "processor_unavailable", "The payment processor does not answer.")

func TestCatalogCachesAndSurvivesOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		source := &processor{n: 2}
		catalog := offer.NewCatalog(source, taken{}, slog.New(slog.NewTextHandler(&log, nil)))
		read := func(wantStale bool, wantOffers, wantReads int) {
			t.Helper()
			snapshot, err := catalog.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if snapshot.Stale != wantStale || len(snapshot.Offers) != wantOffers || source.reads != wantReads {
				t.Errorf("stale %v, %d offers, %d reads, want %v, %d, %d", snapshot.Stale, len(snapshot.Offers),
					source.reads, wantStale, wantOffers, wantReads)
			}
		}
		read(false, 2, 1)
		read(false, 2, 1) // cached
		time.Sleep(offer.MaxAge)
		read(false, 2, 2) // too old
		source.set(errAway, 0)
		time.Sleep(offer.MaxAge)
		read(true, 2, 3) // away: last good
		read(true, 2, 3) // not asked again at once
		source.set(nil, 3)
		time.Sleep(6 * time.Second)
		read(false, 3, 4) // back
		source.set(nil, 4)
		catalog.Invalidate()
		read(false, 4, 5)
		if n := strings.Count(log.String(), "price_tiered"); n != 1 {
			t.Errorf("the operator was notified %d times of a price that cannot be sold, want once", n)
		}
	})
}

func TestCatalogWithoutAnyListing(t *testing.T) {
	t.Parallel()
	catalog := offer.NewCatalog(&processor{err: errAway}, taken{}, slog.New(slog.DiscardHandler))
	if _, err := catalog.Snapshot(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("Snapshot = %v, want processor_unavailable", err)
	}
}

func TestSelectPages(t *testing.T) {
	t.Parallel()
	snapshot, err := offer.NewCatalog(&processor{n: 7}, taken{"offer_000": 1},
		slog.New(slog.DiscardHandler)).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	query := offer.Query{Limit: 3}
	for {
		page, err := snapshot.Select(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Offers {
			seen = append(seen, o.ID)
		}
		if page.Total != 7 {
			t.Errorf("total = %d, want 7", page.Total)
		}
		if query.Cursor = page.Next; query.Cursor == "" {
			break
		}
	}
	if len(seen) != 7 || seen[0] != "offer_000" || seen[6] != "offer_006" {
		t.Errorf("pages gave %v, want all seven in order", seen)
	}
}

// TestSelectByHowItIsSold holds that words for kind and interval find offers that
// do not spell them.
func TestSelectByHowItIsSold(t *testing.T) {
	t.Parallel()
	snapshot := &offer.Snapshot{Listing: offer.Listing{Offers: []offer.Offer{
		{ID: "box", Name: "A box"},
		{ID: "pro_m", Name: "Pro", Billing: offer.Billing{Interval: "month", Count: 1}, TrialDays: 14},
		{ID: "pro_q", Name: "Pro", Billing: offer.Billing{Interval: "month", Count: 3}},
		{ID: "pro_y", Name: "Pro", Billing: offer.Billing{Interval: "year", Count: 1}},
	}}}
	for words, want := range map[string]string{
		"subscription": "pro_m pro_q pro_y", "Monthly plan": "pro_m", "quarterly": "pro_q",
		"annual membership": "pro_y",
		"every 3 months":    "pro_q", "free trial": "pro_m", "one-time": "box",
		"weekly": "", "pro yearly": "pro_y",
	} {
		page, err := snapshot.Select(offer.Query{Words: words})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range page.Offers {
			ids = append(ids, o.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q finds %q, want %q", words, got, want)
		}
	}
}

func TestSelectFilters(t *testing.T) {
	t.Parallel()
	snapshot, err := offer.NewCatalog(&processor{n: 4}, taken{"offer_000": 1},
		slog.New(slog.DiscardHandler)).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	low, high := int64(100), int64(200)
	tests := []struct {
		name  string
		query offer.Query
		want  string
	}{
		{"everything", offer.Query{}, "offer_000 offer_001 offer_002 offer_003"},
		{"words in any spelling", offer.Query{Words: "home_box HARDWARE 2"}, "offer_002"},
		{"no such words", offer.Query{Words: "sofa"}, ""},
		{"by id and by price", offer.Query{IDs: []string{"offer_001", "price_3"}}, "offer_001 offer_003"},
		{"by product", offer.Query{IDs: []string{"prod_1"}, Limit: 1}, "offer_000"},
		{"available", offer.Query{Available: true}, "offer_001 offer_002 offer_003"},
		{"other category", offer.Query{Category: offer.Software}, ""},
		{
			"currency in lower case",
			offer.Query{Currency: "usd", MinMinor: &low, MaxMinor: &high},
			"offer_001 offer_002",
		},
		{"other currency", offer.Query{Currency: "EUR"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page, err := snapshot.Select(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, o := range page.Offers {
				ids = append(ids, o.ID)
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("Select = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSelectRefuses(t *testing.T) {
	t.Parallel()
	snapshot := &offer.Snapshot{}
	for want, query := range map[string]offer.Query{
		"invalid_limit": {Limit: offer.MaxLimit + 1}, "invalid_category": {Category: "toys"},
		"invalid_cursor": {Cursor: "AAAA"},
	} {
		if _, err := snapshot.Select(query); !problem.Is(err, want) {
			t.Errorf("Select(%+v) = %v, want %s", query, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	snapshot := &offer.Snapshot{Listing: offer.Listing{Offers: []offer.Offer{{ID: "box", PriceRef: "price_1"}}}}
	for _, id := range []string{"box", "price_1"} {
		if o, err := snapshot.Find(id); err != nil || o.ID != "box" {
			t.Errorf("Find(%q) = %v, %v", id, o, err)
		}
	}
	if _, err := snapshot.Find("sofa"); !problem.Is(err, "offer_not_found") {
		t.Errorf("Find(sofa) = %v, want offer_not_found", err)
	}
}
