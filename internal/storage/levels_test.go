package storage_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/order"
)

// TestLevels counts a database with a little of everything that may wait.
func TestLevels(t *testing.T) {
	t.Parallel()
	eachWithDB(t, func(t *testing.T, db *sqldb.DB, _ *storage.Store) {
		lanes := jobs.NewLanes(map[string]jobs.Lane{"pay": jobs.LaneMoney, "post": jobs.LaneDeliver})
		s := storage.New(db, lanes)
		empty, err := s.Levels(t.Context())
		if err != nil || len(empty.Lanes)+len(empty.Parked)+len(empty.Attention)+empty.Deliveries != 0 ||
			!empty.SweptUntil.IsZero() {
			t.Fatalf("Levels of an empty database = %+v, %v", empty, err)
		}
		past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		if err := s.Schedule(t.Context(), jobs.Job{Kind: "pay", Ref: "claimed", RunAt: past.Add(-time.Hour)},
			jobs.Job{Kind: "pay", Ref: "parked", RunAt: past}, jobs.Job{Kind: "post", Ref: "late", RunAt: past},
			jobs.Job{Kind: "post", Ref: "early", RunAt: future}); err != nil {
			t.Fatal(err)
		}
		claimed, err := s.Lane(jobs.LaneMoney, "pay").Claim(t.Context(), 2, time.Minute)
		if err != nil || len(claimed) != 2 {
			t.Fatalf("Claim = %+v, %v", claimed, err)
		}
		if _, err := s.Lane(jobs.LaneMoney).End(t.Context(), []jobs.End{
			{Job: jobs.Job{Kind: "pay", Ref: "parked", Token: claimed[1].Token, Sequence: claimed[1].Sequence}},
		}); err != nil {
			t.Fatal(err)
		}
		insertOrders(t, db, order.Review, order.Review, order.RefundDue, order.Confirmed)
		since := time.UnixMilli(past.UnixMilli()).UTC()
		if err := s.Advance(t.Context(), checkout.SweepPosition{Since: since}, nil); err != nil {
			t.Fatal(err)
		}

		got, err := s.Levels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		late := got.Lanes[jobs.LaneDeliver].Late
		if late < 50*time.Minute || late > 70*time.Minute {
			t.Errorf("the earliest delivery is %v late, want an hour", late)
		}
		got.Lanes[jobs.LaneDeliver] = storage.LaneLevel{Waiting: got.Lanes[jobs.LaneDeliver].Waiting}
		want := &storage.Levels{
			Lanes:      map[jobs.Lane]storage.LaneLevel{jobs.LaneMoney: {Running: 1}, jobs.LaneDeliver: {Waiting: 2}},
			Parked:     map[string]int{"pay": 1},
			Attention:  map[order.Status]int{order.Review: 2, order.RefundDue: 1},
			SweptUntil: since,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Levels differ (-want +got):\n%s", diff)
		}
	})
}

func insertOrders(t *testing.T, db *sqldb.DB, statuses ...order.Status) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sql.Tx) error {
		for i, status := range statuses {
			id := string(rune('a' + i))
			if _, err := tx.ExecContext(t.Context(), `INSERT INTO store_order (id, checkout_id, token, status, reason,
				quote, paid, payment_ref, refunded, protocol, version, created_at, updated_at)
				VALUES ($1, $2, '', $3, '', '{}', '{}', '', 0, '', 0, 0, 0)`,
				"ord_"+id, "chk_"+id, status); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
