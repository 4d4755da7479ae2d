package platformstore_test

import (
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/connection/connectiontest"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

func TestConnectionsKeepThePromises(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectiontest.Run(t, func(t *testing.T) (connectiontest.Store, string, string) {
				db, err := sqldb.Open(t.Context(), address(t), &sqldb.Options{MaxConns: 4})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
					t.Fatal(err)
				}
				s := platformstore.New(db, nil)
				_, mine, _ := newAccount(t, s, "mine", "")
				_, theirs, _ := newAccount(t, s, "theirs", "")
				return platformstore.Connections{Store: s}, mine.ID, theirs.ID
			})
		})
	}
}
