package storage_test

import (
	"testing"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/idempotency/idempotencytest"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/jobs/jobstest"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
)

// onBoth runs a suite on each engine; newStore opens a fresh database.
func onBoth(t *testing.T, suite func(t *testing.T, newStore func(t *testing.T) *storage.Store)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, func(t *testing.T) *storage.Store { return openStore(t, address(t)) })
		})
	}
}

// eachWithDB runs a test on a fresh database of each engine.
func eachWithDB(t *testing.T, test func(t *testing.T, db *sqldb.DB, s *storage.Store)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t, address(t))
			test(t, db, storage.New(db, jobstest.Lanes()))
		})
	}
}

func openStore(t *testing.T, dsn string) *storage.Store {
	t.Helper()
	return storage.New(openDB(t, dsn), jobstest.Lanes())
}

func openDB(t *testing.T, dsn string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	return db
}

type queue struct{ *storage.Store }

func (q queue) Schedule(t *testing.T, js ...jobs.Job) {
	t.Helper()
	if err := q.Store.Schedule(t.Context(), js...); err != nil {
		t.Fatal(err)
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newStore func(t *testing.T) *storage.Store) {
		jobstest.Run(t, func(t *testing.T) jobstest.Queue { return queue{newStore(t)} })
	})
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newStore func(t *testing.T) *storage.Store) {
		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return storage.Requests{Store: newStore(t)} })
	})
}
