package platformstore_test

import (
	"testing"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/trigger"
	"ace/internal/platform/trigger/triggertest"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

func TestTriggers(t *testing.T) {
	t.Parallel()
	const account = "acc_triggers"
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			triggertest.Run(t, account, func(t *testing.T) trigger.Store {
				db, err := sqldb.Open(t.Context(), address(t), &sqldb.Options{MaxConns: 8})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
					t.Fatal(err)
				}
				insertAccount(t, db, account)
				return platformstore.Triggers{Store: platformstore.New(db, jobs.NewLanes(nil))}
			})
		})
	}
}

func insertAccount(t *testing.T, db *sqldb.DB, id string) {
	t.Helper()
	if _, err := db.Light(
		t.Context(),
		nil,
		`INSERT INTO account (id, name, created_at, disabled_at) VALUES ($1, $1, 1, 0)`,
		id,
	); err != nil {
		t.Fatal(err)
	}
}
