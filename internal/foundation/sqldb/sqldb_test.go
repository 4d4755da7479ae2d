package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/foundation/typeid"
)

var migrations = fstest.MapFS{
	"0001_start.sql": {
		Data: []byte(
			"-- +goose Up\nCREATE TABLE counter (id TEXT PRIMARY KEY, n BIGINT NOT NULL, open BOOLEAN NOT NULL);\n-- " +
				"+goose Down\nDROP TABLE counter;\n"),
	},
	"0002_more.sql": {
		Data: []byte(
			"-- +goose Up\nALTER TABLE counter ADD COLUMN note TEXT NOT NULL DEFAULT '';\n-- +goose Down\nALTER " +
				"TABLE counter DROP COLUMN note;\n"),
	},
}

func insert(t *testing.T, db *sqldb.DB, id string) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO counter (id, n, open) VALUES ($1, 0, $2)`, id, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Read, then write what was read plus one: the classic lost update. Without
// serializable transactions and their repetition the sum comes out short.
func TestTxLosesNoUpdate(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, migrations, func(t *testing.T, db *sqldb.DB) {
		insert(t, db, "a")
		const writers, rounds = 8, 10
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range rounds {
					if err := db.Tx(t.Context(), func(tx *sql.Tx) error { return increment(t, tx, "a") }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var n int64
		var open bool
		if err := db.Reader().QueryRowContext(t.Context(), `SELECT n, open FROM counter WHERE id = $1`, "a").Scan(&n,
			&open); err != nil {
			t.Fatal(err)
		}
		if n != writers*rounds || !open {
			t.Errorf("counter = %d, %v, want %d, true", n, open, writers*rounds)
		}
	})
}

func increment(t *testing.T, tx *sql.Tx, id string) error {
	var n int64
	if err := tx.QueryRowContext(t.Context(), `SELECT n FROM counter WHERE id = $1`, id).Scan(&n); err != nil {
		return err
	}
	_, err := tx.ExecContext(t.Context(), `UPDATE counter SET n = $2 WHERE id = $1`, id, n+1)
	return err
}

func TestTxRollsBack(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, migrations, func(t *testing.T, db *sqldb.DB) {
		insert(t, db, "a")
		boom := errors.New("boom")
		err := db.Tx(t.Context(), func(tx *sql.Tx) error {
			if err := increment(t, tx, "a"); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Fatalf("Tx = %v, want boom", err)
		}
		var n int64
		if err := db.Reader().QueryRowContext(t.Context(), `SELECT n FROM counter`).Scan(&n); err != nil || n != 0 {
			t.Errorf("n = %d, %v after a failed transaction, want 0", n, err)
		}
	})
}

func TestUniqueViolation(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, migrations, func(t *testing.T, db *sqldb.DB) {
		insert(t, db, "a")
		err := db.Tx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO counter (id, n, open) VALUES ('a', 0, $1)`, false)
			return err
		})
		if !sqldb.UniqueViolation(err) || sqldb.UniqueViolation(sql.ErrNoRows) {
			t.Errorf("UniqueViolation(%v) = false", err)
		}
	})
}

func TestMigrateIsRepeatable(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, migrations, func(t *testing.T, db *sqldb.DB) {
		if pending, err := db.Pending(t.Context(), migrations); err != nil || pending != 0 {
			t.Errorf("Pending = %d, %v, want 0", pending, err)
		}
		if n, err := db.Migrate(t.Context(), migrations); err != nil || n != 0 {
			t.Errorf("second Migrate = %d, %v, want 0", n, err)
		}
	})
}

func TestReplicasMigrateTogether(t *testing.T) {
	t.Parallel()
	dsn := sqldbtest.Postgres(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 3})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := db.Migrate(t.Context(), migrations); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// An installation in another schema of the database does not wait for a long
// migration.
func TestSchemasMigrateApart(t *testing.T) {
	t.Parallel()
	open := func() *sqldb.DB {
		db, err := sqldb.Open(t.Context(), sqldbtest.Postgres(t), &sqldb.Options{MaxConns: 3})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	slow, other := open(), open()
	name := typeid.New("slow")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := slow.Migrate(ctx, fstest.MapFS{
			"0001_slow.sql": {Data: []byte("-- +goose Up\nSELECT pg_sleep(3600) AS " + name + ";\n")},
		})
		ended <- err
	}()
	for running := 0; running == 0; {
		if err := other.Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE query LIKE '%pg_sleep%' || $1 || '%' AND pid <> pg_backend_pid()`, name).Scan(&running); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Migrate(t.Context(), migrations); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		t.Errorf("the long migration ended first: %v", err)
	default:
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a canceled migration reports success")
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	dsn := sqldbtest.SQLite(t)
	db, err := sqldb.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqldb.Open(t.Context(), dsn, nil); !errors.Is(err, sqldb.ErrInUse) {
		t.Errorf("second Open = %v, want ErrInUse", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := sqldb.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatalf("Open after Close = %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestReaderCannotWrite(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Reader().ExecContext(t.Context(), `CREATE TABLE x (id TEXT)`); err == nil {
		t.Error("the reader of SQLite wrote")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, dsn, want string }{
		{"unknown engine", "mysql://root@localhost/x", "sqlite: or postgres://"},
		{"folder is a file", "sqlite:" + filepath.Join(blocked, "ace.db"), "making the folder"},
		{"nobody listens", "postgres://ace:sesame@127.0.0.1:1/x?sslmode=disable", "127.0.0.1 port 1"},
		{"unreadable", "postgres://ace:sesame@%zz/x", "PostgreSQL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := sqldb.Open(t.Context(), tt.dsn, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("Open(%s) = %v, want text with %q and no password", tt.dsn, err, tt.want)
			}
		})
	}
}
