package backup_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
	"ace/internal/storage/backup"
)

func open(t *testing.T, dsn string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return db
}

// filled returns a database with rows in every table.
func filled(t *testing.T, dsn string) *sqldb.DB {
	t.Helper()
	db := open(t, dsn)
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	tables, err := db.Tables(t.Context(), storage.Migrations())
	if err != nil || len(tables) < 40 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	// Each text of row n is the same, so that references find their rows.
	texts := []string{"plain", "two\nlines \"é\" <&> \u2028 \\ '", "", strings.Repeat("long", 2000)}
	numbers := []int64{0, -1, 1<<53 + 1, 1763862123456}
	err = db.Tx(t.Context(), func(tx *sql.Tx) error {
		for _, table := range tables {
			for n := range texts {
				if err := insert(t.Context(), tx, table, texts[n], numbers[n], n%2 == 0); err != nil {
					return err
				}
			}
		}
		_, err := tx.ExecContext(t.Context(), `UPDATE tool_run SET idempotency_key = NULL WHERE id = 'plain'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func insert(ctx context.Context, tx *sql.Tx, table sqldb.Table, text string, number int64, yes bool) error {
	var columns, places []string
	var values []any
	for _, c := range table.Columns {
		columns, places = append(columns, c.Name), append(places, fmt.Sprintf("$%d", len(places)+1))
		switch c.Kind {
		case sqldb.Text:
			values = append(values, text)
		case sqldb.Integer:
			values = append(values, number)
		case sqldb.Boolean:
			values = append(values, yes)
		}
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO "+table.Name+" ("+strings.Join(columns, ", ")+") VALUES ("+
		strings.Join(places, ", ")+")", values...)
	if err != nil {
		return fmt.Errorf("table %s: %w", table.Name, err)
	}
	return nil
}

func write(t *testing.T, db *sqldb.DB) (dir string, m *backup.Manifest) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "backup")
	m, err := backup.Write(t.Context(), db, storage.Migrations(), dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// TestThereAndBack takes every table from each engine by files to the other, and
// back without files: the digests stay.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for name, engines := range map[string][2]func(testing.TB) string{
		"sqlite first":   {sqldbtest.SQLite, sqldbtest.Postgres},
		"postgres first": {sqldbtest.Postgres, sqldbtest.SQLite},
		"sqlite alone":   {sqldbtest.SQLite, sqldbtest.SQLite},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := filled(t, engines[0](t))
			dir, m := write(t, first)
			if len(m.Tables) < 40 || m.Tables["account"].Rows != 4 || m.Tables["keyset_replica"].Rows != 0 {
				t.Errorf("the backup has %d tables with %d accounts", len(m.Tables), m.Tables["account"].Rows)
			}
			second := open(t, engines[1](t))
			if _, err := backup.Load(t.Context(), second, storage.Migrations(), dir); err != nil {
				t.Fatal(err)
			}
			if err := backup.Resume(t.Context(), second); err != nil { // as the first one was
				t.Error(err)
			}
			third := open(t, engines[0](t))
			moved, err := backup.Move(t.Context(), second, third, storage.Migrations())
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]backup.Digest{}
			for name, table := range m.Tables {
				want[name] = table.Digest
			}
			if diff := cmp.Diff(want, moved); diff != "" {
				t.Errorf("digests differ (-written +moved back):\n%s", diff)
			}
			if _, again := write(t, third); again.Tables["tool_run"].Digest != want["tool_run"] {
				t.Error("another backup of the same rows has another digest")
			}
			for _, full := range []*sqldb.DB{first, second} {
				if _, err := backup.Load(t.Context(), full, storage.Migrations(), dir); !errors.Is(err,
					backup.ErrNotEmpty) {
					t.Errorf("restoring into a database with rows = %v, want %v", err, backup.ErrNotEmpty)
				}
				if _, err := backup.Move(t.Context(), third, full, storage.Migrations()); !errors.Is(err,
					backup.ErrNotEmpty) {
					t.Errorf("moving into a database with rows = %v, want %v", err, backup.ErrNotEmpty)
				}
			}
		})
	}
}

// TestDamage flips each byte of a manifest and many of the files, and takes
// files away: each is found, and nothing is written.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir, m := write(t, filled(t, sqldbtest.SQLite(t)))
	if _, err := backup.Read(dir); err != nil {
		t.Fatalf("a backup that is whole: %v", err)
	}
	flipped := 0
	flip := func(path string, text []byte, at int) {
		t.Helper()
		damaged := append([]byte{}, text...)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Read(dir); err == nil {
			t.Errorf("byte %d of %s is another and nobody noticed", at, filepath.Base(path))
		}
		flipped++
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != len(m.Tables)+1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		manifest := strings.HasSuffix(path, ".json")
		step := len(text)/3 + 1
		if manifest {
			step = 41
		}
		for at := 0; at < len(text); at += step {
			if manifest && (text[at] == ' ' || text[at] == '\n') {
				continue // white space says nothing
			}
			flip(path, text, at)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Read(dir); err == nil {
			t.Errorf("%s is gone and nobody noticed", filepath.Base(path))
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if flipped < 200 {
		t.Errorf("%d bytes were flipped", flipped)
	}
	if err := os.Remove(filepath.Join(dir, "account.jsonl.gz")); err != nil {
		t.Fatal(err)
	}
	into := open(t, sqldbtest.SQLite(t))
	if _, err := backup.Load(t.Context(), into, storage.Migrations(), dir); err == nil {
		t.Error("a backup without a file was restored")
	}
	if schema, err := into.Schema(t.Context(), storage.Migrations()); err != nil || schema.Version != 0 {
		t.Errorf("a damaged backup made schema %d, %v", schema.Version, err)
	}
}

// TestHeld holds that a restored database says so until it is resumed, and that a backup
// of it says so, too.
func TestHeld(t *testing.T) {
	t.Parallel()
	db := open(t, sqldbtest.SQLite(t))
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	held := func(db *sqldb.DB, want time.Time) {
		t.Helper()
		if got, err := backup.Held(t.Context(), db); err != nil || !got.Equal(want) {
			t.Errorf("Held = %v, %v, want %v", got, err, want)
		}
	}
	held(db, time.Time{})
	dir, m := write(t, db)
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		into := open(t, dsn)
		if _, err := backup.Load(t.Context(), into, storage.Migrations(), dir); err != nil {
			t.Fatal(err)
		}
		held(into, m.At)
		for range 2 {
			if err := backup.Resume(t.Context(), into); err != nil {
				t.Error(err)
			}
			held(into, time.Time{})
		}
	})
}

// TestUnderLoad takes backups, twenty of SQLite, while a writer moves units between two rows
// of two tables. Every one of them, restored, holds as many units as there are.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		const units = 1000
		backups := 20
		if testing.Short() || strings.HasPrefix(dsn, "postgres") {
			backups = 3
		}
		db := open(t, dsn)
		if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
			t.Fatal(err)
		}
		write := func(ctx context.Context, statements ...string) error {
			return db.Tx(ctx, func(tx *sql.Tx) error {
				for _, s := range statements {
					if _, err := tx.ExecContext(ctx, s); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := write(t.Context(),
			fmt.Sprintf(`INSERT INTO offer_stock (offer_id, held, sold) VALUES ('a', %d, 0)`, units),
			`INSERT INTO watermark (name, at) VALUES ('b', 0)`); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		moved := make(chan struct{}, 1)
		writers.Go(func() {
			for ctx.Err() == nil {
				err := write(ctx, `UPDATE offer_stock SET held = held - 1`, `UPDATE watermark SET at = at + 1`)
				if err != nil && ctx.Err() == nil {
					t.Errorf("writing: %v", err)
					return
				}
				select {
				case moved <- struct{}{}:
				default:
				}
			}
		})
		var dirs []string
		for n := range backups {
			<-moved // something has changed since the last one
			dir := filepath.Join(t.TempDir(), "backup")
			if _, err := backup.Write(t.Context(), db, storage.Migrations(), dir, "v1"); err != nil {
				t.Errorf("backup %d: %v", n, err)
				break
			}
			dirs = append(dirs, dir)
		}
		stop()
		writers.Wait()
		seen := map[int64]bool{}
		for n, dir := range dirs {
			into := open(t, sqldbtest.SQLite(t))
			if _, err := backup.Load(t.Context(), into, storage.Migrations(), dir); err != nil {
				t.Fatalf("restoring backup %d: %v", n, err)
			}
			var held, at int64
			if err := into.Reader().QueryRowContext(t.Context(),
				`SELECT held, at FROM offer_stock, watermark`).Scan(&held, &at); err != nil || held+at != units {
				t.Errorf("backup %d holds %d + %d units, %v, want %d", n, held, at, err, units)
			}
			seen[at] = true
		}
		if len(seen) < 2 {
			t.Error("nothing was written while the backups were taken")
		}
	})
}
