package sqldb_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
)

func TestSchema(t *testing.T) {
	t.Parallel()
	first := fstest.MapFS{"0001_a.sql": {Data: []byte("-- +goose Up\nCREATE TABLE a (id TEXT);\n")}}
	both := fstest.MapFS{
		"0001_a.sql": first["0001_a.sql"],
		"0003_b.sql": {Data: []byte("-- +goose Up\nCREATE TABLE b (id TEXT);\n")},
	}
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
			want := func(step string, known fstest.MapFS, want sqldb.Schema) {
				t.Helper()
				if got, err := db.Schema(t.Context(), known); err != nil || got != want {
					t.Errorf("%s: Schema = %+v, %v, want %+v", step, got, err, want)
				}
			}
			want("empty", first, sqldb.Schema{Newest: 1, Pending: 1})
			if _, err := db.Migrate(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			want("migrated", first, sqldb.Schema{Version: 1, Newest: 1})
			want("an older schema", both, sqldb.Schema{Version: 1, Newest: 3, Pending: 1})
			if _, err := db.Migrate(t.Context(), both); err != nil {
				t.Fatal(err)
			}
			want("a newer schema", first, sqldb.Schema{Version: 3, Newest: 1})
			if _, err := db.Migrate(t.Context(), first); !errors.Is(err, sqldb.ErrNewerSchema) {
				t.Errorf("Migrate of a newer schema = %v, want ErrNewerSchema", err)
			}
		})
	}
}
