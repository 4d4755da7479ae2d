package checkout_test

import (
	"fmt"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
)

// A store that was unavailable goes back to where its last walk began, however long
// ago that was.
func TestSweepAfterFiveDays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		s.processor.ListLimit = 2
		s.sweep()
		var paid []*checkout.Session
		for range 5 {
			for range 3 {
				session := s.open("handbook")
				s.processor.Pay(session.Page().Ref)
				paid = append(paid, session)
			}
			s.age(24 * time.Hour)
		}
		unpaid := s.open("handbook")
		s.sweep()
		s.work()
		for _, session := range paid {
			s.wantState(session.ID, checkout.Completed)
		}
		s.wantState(unpaid.ID, checkout.Open)
		if got := len(s.allOrders()); got != len(paid) {
			t.Errorf("%d orders, want %d", got, len(paid))
		}
	})
}

// age lets time pass at the processor, and since the last walk, while the store
// does nothing.
func (s *shop) age(d time.Duration) {
	s.t.Helper()
	s.processor.Age(d)
	position, err := s.store.SweepPosition(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	position.Since = position.Since.Add(-d)
	if err := s.store.Advance(s.t.Context(), position, nil); err != nil {
		s.t.Fatal(err)
	}
}

func TestSweepOfTenThousandPages(t *testing.T) {
	t.Parallel()
	const pages, paidEach = 10_000, 100
	s := newShop(t)
	var paid, broken []*checkout.Session
	for i := range pages {
		session := s.insertOpen(t)
		if i%paidEach != 0 {
			continue
		}
		s.processor.Pay(session.Page().Ref)
		if i%3000 == 0 && len(broken) < 3 {
			s.processor.Break(session.Page().Ref)
			broken = append(broken, session)
			continue
		}
		paid = append(paid, session)
	}
	started := time.Now().Truncate(time.Millisecond)
	s.sweep()
	s.work()
	for _, session := range paid {
		s.wantState(session.ID, checkout.Completed)
	}
	position, err := s.store.SweepPosition(t.Context())
	if err != nil || position.Since.Before(started) || !position.Until.IsZero() {
		t.Errorf("position = %+v, %v, want one after %s: three pages must not hold it", position, err, started)
	}
	if n := s.processor.Calls("list"); n < pages/100 {
		t.Errorf("%d parts were listed, want at least %d", n, pages/100)
	}
	for _, session := range broken {
		s.wantState(session.ID, checkout.Open)
		s.processor.Repair(session.Page().Ref)
		s.hurry(checkout.JobCompare, session.ID+"|"+session.Page().Ref)
		s.wantState(session.ID, checkout.Completed)
	}
	if got, want := len(s.allOrders()), len(paid)+len(broken); len(broken) != 3 || got != min(want, 100) {
		t.Errorf("%d orders shown, %d broken pages", got, len(broken))
	}
}

// insertOpen stores a session with an open page in one transaction.
func (s *shop) insertOpen(t *testing.T) *checkout.Session {
	t.Helper()
	id, now := typeid.New("chk"), time.Now().UTC().Truncate(time.Millisecond)
	quote := offer.Quote{Offer: stock()[1], Quantity: 1, At: now}
	f, err := s.processor.OpenPage(t.Context(), checkout.PageRequest{
		Key: id, CheckoutID: id, N: 1, Quote: quote, ExpiresAt: now.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	session := &checkout.Session{
		ID: id, Token: typeid.New("c"), State: checkout.Open, Protocol: checkout.UCP, CreatedAt: now, UpdatedAt: now,
		Pages: []checkout.Page{
			{
				N:         1,
				State:     checkout.PageOpen,
				Ref:       f.Ref,
				URL:       f.URL,
				Quote:     quote,
				ExpiresAt: f.ExpiresAt,
				CreatedAt: now,
			},
		},
	}
	if err := s.store.Insert(t.Context(), checkout.Change{Session: session, Evidence: "test"}, nil); err != nil {
		t.Fatal(err)
	}
	return session
}

// A process that dies in the middle of a part, before or after the part is on
// record, loses and doubles nothing.
func TestSweepKilledInEachPart(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		s.processor.ListLimit = 2
		var paid []*checkout.Session
		for range 9 {
			session := s.open("handbook")
			s.processor.Pay(session.Page().Ref)
			paid = append(paid, session)
		}
		kills := map[string]bool{}
		s.step = func(name string) {
			// Each part dies once after it was compared and once after it is on
			// record; the next process starts where the position is.
			position, err := s.store.SweepPosition(t.Context())
			at := fmt.Sprint(name, position.Cursor)
			if name != "compared" && name != "advanced" || err != nil || kills[at] {
				return
			}
			kills[at] = true
			panic(killed{})
		}
		for s.dies(s.sweep) {
			s.restart()
		}
		if len(kills) != 10 {
			t.Errorf("killed %d times, want twice in each of five parts", len(kills))
		}
		s.step = nil
		s.work()
		for _, session := range paid {
			s.wantState(session.ID, checkout.Completed)
		}
		if got := len(s.allOrders()); got != len(paid) {
			t.Errorf("%d orders, want %d", got, len(paid))
		}
		if got := len(s.events.got()); got != len(paid) {
			t.Errorf("%d events, want %d", got, len(paid))
		}
	})
}

func TestSweepAtALostCursor(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	s.processor.Pay(session.Page().Ref)
	now := time.Now()
	if err := s.store.Advance(t.Context(), checkout.SweepPosition{
		Since: now.Add(-time.Hour), Until: now, Cursor: "0",
	}, nil); err != nil {
		t.Fatal(err)
	}
	s.processor.Fail("list", checkouttest.LostCursor)
	s.sweep()
	s.work()
	s.wantState(session.ID, checkout.Completed)
}

// A list that cannot be read leaves the position where it is.
func TestSweepWhileTheProcessorIsAway(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.sweep()
	before, err := s.store.SweepPosition(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.processor.Fail("list", checkouttest.Away)
	if _, err := s.Sweep(t.Context()); !problem.Is(err, "processor_unavailable") {
		t.Errorf("Sweep = %v, want processor_unavailable", err)
	}
	if after, err := s.store.SweepPosition(t.Context()); err != nil || after != before {
		t.Errorf("position = %+v, %v, want %+v", after, err, before)
	}
}
