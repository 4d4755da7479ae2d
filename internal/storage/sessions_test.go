package storage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// each runs a test on a fresh store of each engine.
func each(t *testing.T, test func(t *testing.T, s *storage.Store)) {
	t.Helper()
	onBoth(t, func(t *testing.T, newStore func(t *testing.T) *storage.Store) { test(t, newStore(t)) })
}

func newSession(offerID string, quantity int64) *checkout.Session {
	now := time.Now().UTC().Truncate(time.Millisecond)
	quote := offer.Quote{
		Quantity: quantity, At: now,
		Offer: offer.Offer{
			ID: offerID, Price: money.Amount{Minor: 100, Currency: "USD"},
			Stock:     offer.Stock{Status: offer.InStock, Counted: true, Units: 10},
			ImageURLs: []string{"https://a.example/ü.png"},
		},
	}
	return &checkout.Session{
		ID: typeid.New("chk"), Token: typeid.New("c"), State: checkout.Creating, Protocol: checkout.ACP,
		ReturnURL: "https://agent.example/back",
		Buyer:     checkout.Buyer{Email: "ada@example.com"}, Notices: []string{checkout.NoticePriceChanged},
		CreatedAt: now,
		UpdatedAt: now,
		Agent: checkout.Agent{
			UserAgent: "agent/1", ClientKey: "client",
			Attribution: map[string]string{"source": "chat"},
		},
		Pages: []checkout.Page{{
			N: 1, State: checkout.PageOpening, Quote: quote, CreatedAt: now,
			ExpiresAt: now.Add(time.Hour),
		}},
	}
}

func insert(t *testing.T, s *storage.Store, session *checkout.Session) {
	t.Helper()
	if err := s.Insert(t.Context(), checkout.Change{Session: session, Evidence: "create"}, nil); err != nil {
		t.Fatal(err)
	}
	session.Version = 1
}

func TestSessionRoundTrip(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		want := newSession("box", 2)
		insert(t, s, want)
		for name, read := range map[string]func() (*checkout.Session, error){
			"by id":    func() (*checkout.Session, error) { return s.Session(t.Context(), want.ID) },
			"by token": func() (*checkout.Session, error) { return s.SessionByToken(t.Context(), want.Token) },
		} {
			got, err := read()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if _, err := s.Session(t.Context(), want.Token); !problem.Is(err, "checkout_not_found") {
			t.Errorf("the token read as an id: %v", err)
		}
		if err := s.Insert(t.Context(), checkout.Change{Session: want}, nil); !errors.Is(err, checkout.ErrExists) {
			t.Errorf("second Insert = %v, want ErrExists", err)
		}
	})
}

func TestSaveComparesTheVersion(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		session := newSession("box", 1)
		insert(t, s, session)
		next := *session
		next.State = checkout.Open
		next.Pages = append(append([]checkout.Page(nil), session.Pages...),
			checkout.Page{N: 2, State: checkout.PageOpen, Ref: "cs_2", Quote: session.Pages[0].Quote})
		job := jobs.Job{Kind: "k", Ref: session.ID, RunAt: time.Now()}
		if err := s.Save(t.Context(), checkout.Change{Session: &next, Schedule: []jobs.Job{job}}, nil); err != nil {
			t.Fatal(err)
		}
		stale := *session
		stale.State = checkout.Canceled
		if err := s.Save(t.Context(), checkout.Change{Session: &stale, Unschedule: []jobs.Job{job}},
			nil); !errors.Is(err, checkout.ErrVersion) {
			t.Errorf("Save of an old version = %v, want ErrVersion", err)
		}
		got, err := s.Session(t.Context(), session.ID)
		if err != nil || got.State != checkout.Open || got.Version != 2 || len(got.Pages) != 2 ||
			got.Page().Ref != "cs_2" {
			t.Errorf("kept %+v, %v", got, err)
		}
		if claimed, err := s.Lane(jobs.LaneHouse).Claim(t.Context(), 10, time.Minute); err != nil || len(claimed) != 1 {
			t.Errorf("jobs = %v, %v: a refused Save took one away", claimed, err)
		}
	})
}

// A refusal inside the transaction leaves nothing of it.
func TestARefusedInsertLeavesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		session := newSession("box", 1)
		refusal := errors.New("sold out")
		change := checkout.Change{Session: session, Schedule: []jobs.Job{{Kind: "k", Ref: "a", RunAt: time.Now()}}}
		if err := s.Insert(t.Context(), change, func(checkout.Holds) error { return refusal }); !errors.Is(err,
			refusal) {
			t.Fatalf("Insert = %v, want the refusal", err)
		}
		if _, err := s.Session(t.Context(), session.ID); !problem.Is(err, "checkout_not_found") {
			t.Errorf("Session = %v", err)
		}
		if wait, found, err := s.Lane(jobs.LaneHouse).Next(t.Context()); err != nil || found {
			t.Errorf("a job is due in %v, %v", wait, err)
		}
	})
}

func TestHoldsAndTaken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		states := map[checkout.State]int64{
			checkout.Creating: 1, checkout.Open: 2, checkout.Processing: 3,
			checkout.Completed: 4, checkout.Canceled: 5, checkout.Expired: 6,
		}
		for state, quantity := range states {
			session := newSession("box", quantity)
			session.State = state
			insert(t, s, session)
		}
		signed := newSession("box", 7)
		signed.Agent.Signed, signed.Agent.ClientKey = true, "other"
		insert(t, s, signed)
		insert(t, s, newSession("other", 9))
		taken, err := s.Taken(t.Context())
		if err != nil || taken["box"] != 1+2+3+4+7 || taken["other"] != 9 {
			t.Errorf("Taken = %v, %v", taken, err)
		}
		var got checkout.Holds
		probe := newSession("box", 1)
		err = s.Insert(t.Context(), checkout.Change{Session: probe}, func(h checkout.Holds) error {
			got = h
			return nil
		})
		if want := (checkout.Holds{Taken: 17, Unpaid: 3, ByClient: 2}); err != nil || got != want {
			t.Errorf("holds = %+v, %v, want %+v", got, err, want)
		}
		probe.Version = 1
		if err := s.Save(t.Context(), checkout.Change{Session: probe}, func(h checkout.Holds) error {
			got = h
			return nil
		}); err != nil || got.Taken != 17 {
			t.Errorf("holds of a change = %+v, %v: its own units do not count", got, err)
		}
	})
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		creating, open := newSession("box", 1), newSession("box", 1)
		open.State = checkout.Open
		insert(t, s, creating)
		insert(t, s, open)
		for _, session := range []*checkout.Session{creating, open} {
			if err := s.Discard(t.Context(), session.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Session(t.Context(), creating.ID); !problem.Is(err, "checkout_not_found") {
			t.Errorf("a discarded session = %v", err)
		}
		if _, err := s.Session(t.Context(), open.ID); err != nil {
			t.Errorf("an open session was discarded: %v", err)
		}
	})
}

func TestReceiveOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		job := jobs.Job{Kind: checkout.JobEvent, Ref: "chk|cs", RunAt: time.Now().Add(-time.Second)}
		for range 3 {
			if err := s.Receive(t.Context(), "evt_1", "checkout.session.completed", job); err != nil {
				t.Fatal(err)
			}
		}
		claimed, err := s.Lane(jobs.LaneHouse).Claim(t.Context(), 10, time.Minute)
		if err != nil || len(claimed) != 1 || claimed[0].Sequence != 0 {
			t.Errorf("claimed %+v, %v, want one job scheduled once", claimed, err)
		}
	})
}

func TestSweepPosition(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		if got, err := s.SweepPosition(t.Context()); err != nil || got != (checkout.SweepPosition{}) {
			t.Errorf("SweepPosition = %v, %v, want zero", got, err)
		}
		job := jobs.Job{Kind: checkout.JobCompare, Ref: "chk_1|cs_1", RunAt: time.Now()}
		for _, want := range []checkout.SweepPosition{
			{Since: time.UnixMilli(1).UTC(), Until: time.UnixMilli(3).UTC(), Cursor: "evt_1"},
			{Since: time.UnixMilli(3).UTC()},
		} {
			if err := s.Advance(t.Context(), want, []jobs.Job{job}); err != nil {
				t.Fatal(err)
			}
			if got, err := s.SweepPosition(t.Context()); err != nil || got != want {
				t.Errorf("SweepPosition = %v, %v, want %v", got, err, want)
			}
		}
		if claimed, err := s.Lane(jobs.LaneHouse).
			Claim(t.Context(), 10, time.Minute); err != nil ||
			len(claimed) != 1 ||
			claimed[0].Ref != job.Ref {
			t.Errorf("claimed %+v, %v, want the job that Advance scheduled", claimed, err)
		}
	})
}

func TestOneOrderPerSession(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		session := newSession("box", 1)
		o := &order.Order{
			ID: typeid.New("ord"), CheckoutID: session.ID, Status: order.Confirmed,
			Quote: *session.Quote(), CreatedAt: session.CreatedAt, UpdatedAt: session.CreatedAt,
		}
		if err := s.Insert(t.Context(), checkout.Change{Session: session, Order: o}, nil); err != nil {
			t.Fatal(err)
		}
		session.Version = 1
		second := *o
		second.ID = typeid.New("ord")
		if err := s.Save(t.Context(), checkout.Change{Session: session, Order: &second}, nil); err == nil {
			t.Error("a session has two orders")
		}
	})
}

func TestPrune(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		if err := s.Receive(t.Context(), "evt_1", "t", jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Receive(t.Context(), "evt_1", "t", jobs.Job{Kind: "k", Ref: "b", RunAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if claimed, err := s.Lane(jobs.LaneHouse).Claim(t.Context(), 10, time.Minute); err != nil || len(claimed) != 1 {
			t.Errorf("claimed %v, %v: a fresh message was forgotten", claimed, err)
		}
	})
}

func TestReclaim(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		if err := s.Schedule(t.Context(),
			jobs.Job{Kind: "k", Ref: "a", RunAt: time.Now().Add(-time.Second)}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second claim is that of a process started after the first died
			if claimed, err := s.Lane(jobs.LaneHouse).
				Claim(t.Context(), 10, time.Hour); err != nil ||
				len(claimed) != 1 {
				t.Fatalf("Claim = %v, %v, want the job", claimed, err)
			}
			if err := s.Reclaim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		requests := storage.Requests{Store: s}
		rec := idempotency.Record{
			Scope: "s", Key: "k", Fingerprint: "f", ResourceID: "a",
			LeaseUntil: time.Now().Add(time.Hour), ExpiresAt: time.Now().Add(time.Hour),
		}
		for range 2 {
			if kept, owned, err := requests.Claim(t.Context(), rec); err != nil || !owned || kept.ResourceID != "a" {
				t.Fatalf("Claim = %+v, %v, %v, want the request", kept, owned, err)
			}
			if err := s.Reclaim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
