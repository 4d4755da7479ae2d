package storage_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
)

// TestHungVendorsDelayNoPayment fills the lanes of deliveries and of refreshes
// with vendors that hang: payments are done as soon as they are scheduled, and
// the vendors hold no connection to the database.
func TestHungVendorsDelayNoPayment(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, storage.Migrations(), func(t *testing.T, db *sqldb.DB) {
		lanes := jobs.NewLanes(map[string]jobs.Lane{
			"deliver": jobs.LaneDeliver, "refresh": jobs.LaneRefresh, "pay": jobs.LaneMoney,
		})
		store, elsewhere := storage.New(
			db,
			lanes,
		), storage.New(
			db,
			jobs.NewLanes(map[string]jobs.Lane{"pay": jobs.LaneMoney}),
		)
		var hung atomic.Int32
		full, release := make(chan struct{}), make(chan struct{})
		hang := jobs.Handler{Run: func(context.Context, jobs.Job) error {
			if hung.Add(1) == 128 {
				close(full)
			}
			<-release
			return nil
		}}
		paid := make(chan string, 1)
		worker := jobs.NewWorker(store, lanes, map[string]jobs.Handler{
			"deliver": hang, "refresh": hang,
			"pay": {Run: func(_ context.Context, job jobs.Job) error { paid <- job.Ref; return nil }},
		}, slog.New(slog.DiscardHandler), &jobs.Options{Budgets: map[jobs.Lane]int{jobs.LaneDeliver: 64}})
		var vendors []jobs.Job
		for i := range 100 {
			vendors = append(
				vendors,
				jobs.Job{Kind: "deliver", Ref: fmt.Sprint(i)},
				jobs.Job{Kind: "refresh", Ref: fmt.Sprint(i)},
			)
		}
		if err := store.Schedule(t.Context(), vendors...); err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		running.Go(func() { worker.Run(t.Context()) })
		defer running.Wait()
		defer worker.Stop()
		defer close(release)
		<-full
		// By this process, which wakes the lane, and by another, which does not.
		for i, by := range []*storage.Store{store, elsewhere, store, elsewhere, store} {
			start := time.Now()
			if err := by.Schedule(t.Context(), jobs.Job{Kind: "pay", Ref: fmt.Sprint(i), RunAt: start}); err != nil {
				t.Fatal(err)
			}
			if got := <-paid; got != fmt.Sprint(i) {
				t.Fatalf("payment %s, want %d", got, i)
			}
			if late := time.Since(start); late > time.Second {
				t.Errorf("payment %d was done after %v, want less than a second", i, late)
			}
		}
		if got := hung.Load(); got != 128 {
			t.Errorf("%d vendors hang, want the 128 that the lanes have room for", got)
		}
	})
}

// migrationsUntil are the migrations whose number is at most last.
func migrationsUntil(t *testing.T, last string) fs.FS {
	t.Helper()
	all := storage.Migrations()
	names, err := fs.Glob(all, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	for _, name := range names {
		if name[:len(last)] <= last {
			data, err := fs.ReadFile(all, name)
			if err != nil {
				t.Fatal(err)
			}
			some[name] = &fstest.MapFile{Data: data}
		}
	}
	return some
}

// TestLanesOfAnOlderSchema upgrades a database whose jobs know no lanes.
func TestLanesOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := db.Migrate(t.Context(), migrationsUntil(t, "0019")); err != nil {
			t.Fatal(err)
		}
		now := time.Now().UnixMilli()
		const hour = int64(time.Hour / time.Millisecond)
		err = db.Tx(t.Context(), func(tx *sql.Tx) error {
			for _, args := range [][]any{ // kind, ref, run_at, lease_until, tries, token, sequence
				{"paid", "due", now - hour, 0, 2, 7, 1},
				{"paid", "leased", now - hour, now + hour, 0, 1, 0},
				{"paid", "expired", now - 2*hour, now - hour/2, 0, 1, 0},
				{"k", "later", now + hour, 0, 0, 0, 0},
				{"k", "parked", 0, 0, 5, 5, 0},
				{"newer", "unknown", now - hour, 0, 0, 0, 0},
				{"connection_refresh", "acc_1/con_1", now - hour, 0, 0, 0, 0},
			} {
				if _, err := tx.ExecContext(t.Context(),
					`INSERT INTO job (kind, ref, run_at, lease_until, tries, token, sequence, reason)
					VALUES ($1, $2, $3, $4, $5, $6, $7, '')`, args...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
			t.Fatal(err)
		}
		lanes := jobs.NewLanes(map[string]jobs.Lane{"k": jobs.LaneHouse, "paid": jobs.LaneMoney})
		store := storage.New(db, lanes)
		for range 2 { // the second start changes nothing
			unknown, err := store.AssignLanes(t.Context())
			if diff := cmp.Diff([]string{"newer"}, unknown); err != nil || diff != "" {
				t.Fatalf("AssignLanes = %v, unknown kinds (-want +got):\n%s", err, diff)
			}
		}
		claimed, err := store.Lane(jobs.LaneMoney, "paid").Claim(t.Context(), 10, time.Minute)
		if err != nil || len(claimed) != 2 || claimed[0].Ref != "expired" || claimed[1].Ref != "due" ||
			claimed[1].Tries != 2 || claimed[1].Token != 8 || claimed[1].Sequence != 1 {
			t.Errorf("Claim = %+v, %v, want expired, then due as it was", claimed, err)
		}
		wait, found, err := store.Lane(jobs.LaneHouse, "k").Next(t.Context())
		if err != nil || !found || wait < 50*time.Minute {
			t.Errorf("Next = %v, %v, %v, want the job in an hour", wait, found, err)
		}
		parked, err := store.ParkedJobs(t.Context())
		if err != nil || len(parked) != 1 || parked[0].Ref != "parked" {
			t.Errorf("ParkedJobs = %+v, %v, want the one that was parked", parked, err)
		}
		// A kind that moves to another lane takes its rows along.
		moved := storage.New(db, jobs.NewLanes(map[string]jobs.Lane{"k": jobs.LaneRun, "paid": jobs.LaneMoney}))
		if _, err := moved.AssignLanes(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, found, err := moved.Lane(jobs.LaneRun, "k").Next(t.Context()); err != nil || !found {
			t.Errorf("Next in the new lane = %v, %v, want the job", found, err)
		}
	})
}
