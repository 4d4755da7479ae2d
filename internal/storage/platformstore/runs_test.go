package platformstore_test

import (
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/tooltest"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

func TestRunsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tooltest.Run(t, func(t *testing.T) tooltest.Store {
				t.Helper()
				db, err := sqldb.Open(t.Context(), address(t), &sqldb.Options{MaxConns: 4})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
					t.Fatal(err)
				}
				return platformstore.Runs{Store: platformstore.New(db, nil)}
			})
		})
	}
}

// What a process held that ended is free at once for the next one.
func TestReclaimRuns(t *testing.T) {
	t.Parallel()
	eachWithQueue(t, func(t *testing.T, s *platformstore.Store, queue queue) {
		runs := platformstore.Runs{Store: s}
		r := tooltest.NewRun(tool.Running)
		r.Async, r.Owner, r.LeaseUntil = true, "p1", r.CreatedAt.Add(tool.MaxTimeout)
		if _, _, err := runs.InsertRun(t.Context(), r, false); err != nil {
			t.Fatal(err)
		}
		if _, taken, err := runs.TakeRun(t.Context(), r.ID, "p2", r.CreatedAt, r.LeaseUntil); err != nil || taken {
			t.Fatalf("TakeRun of a run that is held = %v, %v", taken, err)
		}
		if err := runs.ReclaimRuns(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, taken, err := runs.TakeRun(t.Context(), r.ID, "p2", r.CreatedAt, r.LeaseUntil); err != nil || !taken {
			t.Errorf("TakeRun after ReclaimRuns = %v, %v", taken, err)
		}
		if due := queue.due(t); due != 1 {
			t.Errorf("%d jobs are due, want the one that goes on with the run", due)
		}
	})
}

// queue is the jobs of a database.
type queue struct{ *storage.Store }

func (q queue) due(t *testing.T) int {
	t.Helper()
	claimed, err := q.Lane(jobs.LaneHouse).Claim(t.Context(), 10, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return len(claimed)
}

func eachWithQueue(t *testing.T, test func(t *testing.T, s *platformstore.Store, q queue)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sqldb.Open(t.Context(), address(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
				t.Fatal(err)
			}
			test(t, platformstore.New(db, nil), queue{storage.New(db, nil)})
		})
	}
}
