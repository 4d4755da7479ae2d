package storage_test

import (
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/storage"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
)

func TestPaid(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newStore func(t *testing.T) *storage.Store) {
		paidservicetest.RunStore(t, func(t *testing.T) paidservicetest.Store {
			t.Helper()
			return storage.Paid{Store: newStore(t)}
		})
	})
}

// keep inserts an order in a state, with work of its own.
func keep(t *testing.T, s storage.Paid, state paidservice.State, change func(*paidservice.Order)) *paidservice.Order {
	t.Helper()
	o := paidservicetest.NewOrder("0xa")
	o.State, o.ResultID = state, "res_"+o.ID
	change(o)
	if err := s.Insert(t.Context(), paidservice.Change{Order: o, Work: &paidservice.Work{Report: []byte(`{}`)}},
		nil); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPaidPrune(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, plain *storage.Store) {
		s, at := storage.Paid{Store: plain}, time.Now()
		ago := func(d time.Duration) time.Time { return at.Add(-d) }
		const day = 24 * time.Hour
		tests := []struct {
			name        string
			state       paidservice.State
			sealed      time.Time
			settled     time.Time
			ended       time.Duration // ago that the authorization ended
			work, money bool          // is kept
		}{
			{"fresh and unpaid", paidservice.Unpaid, ago(23 * time.Hour), time.Time{}, time.Minute, true, true},
			{"old and unpaid", paidservice.Unpaid, ago(25 * time.Hour), time.Time{}, 25 * time.Hour, false, false},
			{"old and nobody knows", paidservice.Unknown, ago(40 * day), time.Time{}, 40 * day, true, true},
			{"paid a while ago", paidservice.Final, ago(29 * day), ago(29 * day), 29 * day, true, false},
			{"paid long ago", paidservice.Final, ago(31 * day), ago(31 * day), 31 * day, false, false},
			{"paid and not final", paidservice.Delivered, ago(time.Hour), ago(time.Hour), time.Hour, true, true},
		}
		orders := map[string]*paidservice.Order{}
		for _, tt := range tests {
			orders[tt.name] = keep(t, s, tt.state, func(o *paidservice.Order) {
				o.SealedAt, o.SettledAt, o.Auth.ValidBefore = tt.sealed, tt.settled, ago(tt.ended).Unix()
			})
		}
		if _, err := s.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			o := orders[tt.name]
			_, err := s.Work(t.Context(), o.ResultID)
			if gone := problem.Is(err, "service_result_expired"); gone == tt.work {
				t.Errorf("%s: Work = %v, want it kept: %v", tt.name, err, tt.work)
			}
			kept, err := s.Order(t.Context(), o.ID)
			if err != nil || (kept.Payload != "") != tt.money {
				t.Errorf("%s: Payload = %q, %v, want it kept: %v", tt.name, kept.Payload, err, tt.money)
			}
		}
	})
}

// Orders that anybody can make for nothing do not pile up; what was worked on
// stays.
func TestPaidPruneOfIdleOrders(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, plain *storage.Store) {
		s := storage.Paid{Store: plain}
		add := func(runs int, ended time.Duration, state paidservice.State) *paidservice.Order {
			o := paidservicetest.NewOrder("0xa")
			o.State, o.RunAttempts, o.Auth.ValidBefore = state, runs, time.Now().Add(-ended).Unix()
			alias := paidservice.Alias{
				Service: o.Service, Payer: "0xa", Kind: paidservice.AliasIdempotencyKey,
				Value: o.ID,
			}
			if err := s.Insert(t.Context(), paidservice.Change{Order: o, Aliases: []paidservice.Alias{alias}},
				nil); err != nil {
				t.Fatal(err)
			}
			return o
		}
		const long = 48 * time.Hour
		gone := add(0, long, paidservice.Released)
		kept := []*paidservice.Order{
			add(0, time.Hour, paidservice.Released), add(1, long, paidservice.Released),
			add(0, long, paidservice.Unknown),
		}
		if _, err := s.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Order(t.Context(), gone.ID); !problem.Is(err, "service_order_not_found") {
			t.Errorf("an idle order is still there: %v", err)
		}
		for i, o := range kept {
			if _, err := s.Order(t.Context(), o.ID); err != nil {
				t.Errorf("order %d: %v", i, err)
			}
		}
	})
}

func TestPaidReclaim(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, plain *storage.Store) {
		s := storage.Paid{Store: plain}
		o := paidservicetest.NewOrder("0xa")
		if err := s.Insert(t.Context(), paidservice.Change{Order: o}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Reclaim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Order(t.Context(), o.ID); err != nil || !got.Lease.Until.IsZero() || got.Version != 1 {
			t.Errorf("order = %+v, %v, want its lease ended", got, err)
		}
	})
}

func TestPaidOrdersForTheOperator(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, plain *storage.Store) {
		s := storage.Paid{Store: plain}
		start := time.Now().UTC().Truncate(time.Millisecond)
		var ids []string
		for i, attention := range []string{"", "settlement_unknown", ""} {
			o := keep(t, s, paidservice.Unknown, func(o *paidservice.Order) {
				o.Attention, o.CreatedAt = attention, start.Add(time.Duration(i/2)*time.Second) // two of one moment
			})
			ids = append(ids, o.ID)
		}
		var seen []string
		for before := ""; ; before = seen[len(seen)-1] {
			page, err := s.Orders(t.Context(), paidservice.Filter{}, before, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			seen = append(seen, page[0].ID)
		}
		if len(seen) != 3 || seen[0] != ids[2] {
			t.Errorf("orders page by page: %v, want all of %v, the youngest first", seen, ids)
		}
		marked, err := s.Orders(t.Context(), paidservice.Filter{Attention: true, State: paidservice.Unknown}, "", 10)
		if err != nil || len(marked) != 1 || marked[0].ID != ids[1] {
			t.Errorf("orders that need attention: %v, %v", marked, err)
		}
		moves, err := s.Moves(t.Context(), ids[0])
		if err != nil || len(moves) != 1 || moves[0].After != paidservice.Unknown || moves[0].Before != "" {
			t.Errorf("Moves = %+v, %v", moves, err)
		}
	})
}
