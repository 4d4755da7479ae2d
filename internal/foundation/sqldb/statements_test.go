package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
)

// opened is a database of each engine with one table.
func opened(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
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
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Errorf("closing: %v", err)
				}
			})
			write(t, db, `CREATE TABLE thing (id BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
			for i := range 10 {
				write(t, db, `INSERT INTO thing (id, name) VALUES ($1, $2)`, int64(i), fmt.Sprint("n", i))
			}
			test(t, db)
		})
	}
}

func write(t *testing.T, db *sqldb.DB, statement string, args ...any) {
	t.Helper()
	if err := db.Tx(t.Context(),
		func(tx *sql.Tx) error { _, err := tx.ExecContext(t.Context(), statement, args...); return err }); err != nil {
		t.Fatal(err)
	}
}

const byName = `SELECT id FROM thing WHERE name = $1`

func find(t *testing.T, db *sqldb.DB, name string) int64 {
	t.Helper()
	var id int64
	if err := db.Reader().QueryRowContext(t.Context(), byName, name).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// A statement that is used again answers for the arguments of now.
func TestStatementsAreUsedAgain(t *testing.T) {
	t.Parallel()
	opened(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 30 {
			if got := find(t, db, fmt.Sprint("n", i%10)); got != int64(i%10) {
				t.Errorf("n%d has the id %d", i%10, got)
			}
		}
		if err := db.Reader().QueryRowContext(t.Context(), byName, "none").Scan(new(int64)); !errors.Is(err,
			sql.ErrNoRows) {
			t.Errorf("a name that is not there: %v", err)
		}
		write(t, db, `UPDATE thing SET name = $2 WHERE id = $1`, int64(3), "renamed")
		if got := find(t, db, "renamed"); got != 3 {
			t.Errorf("after a change: %d", got)
		}
		// The schema may change under a statement that is kept.
		write(t, db, `ALTER TABLE thing ADD COLUMN more TEXT`)
		if got := find(t, db, "n4"); got != 4 {
			t.Errorf("after a change of the schema: %d", got)
		}
	})
}

// Rows of a statement that are being read stay as they are while the same text is
// run again in their transaction.
func TestStatementWithinItself(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	write(t, db, `CREATE TABLE thing (id BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
	for i := range 5 {
		write(t, db, `INSERT INTO thing (id, name) VALUES ($1, $2)`, int64(i), fmt.Sprint("n", i))
	}
	const above = `SELECT id FROM thing WHERE id > $1 ORDER BY id`
	err = db.Tx(t.Context(), func(tx *sql.Tx) error {
		ids := func(from int64) (list []int64) {
			rows, err := tx.QueryContext(t.Context(), above, from)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var id int64
				if err := rows.Scan(&id); err != nil {
					t.Fatal(err)
				}
				list = append(list, id)
				if from < 0 && id == 1 {
					var first int64
					if err := tx.QueryRowContext(t.Context(), above, int64(3)).Scan(&first); err != nil || first != 4 {
						t.Errorf("within: %d, %v", first, err)
					}
				}
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			return list
		}
		if got := fmt.Sprint(ids(-1)); got != "[0 1 2 3 4]" {
			t.Errorf("rows that were being read: %s", got)
		}
		if got := fmt.Sprint(ids(2)); got != "[3 4]" {
			t.Errorf("afterwards: %s", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// More texts than are kept, a caller who goes away, and many at a time.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	opened(t, func(t *testing.T, db *sqldb.DB) {
		for i := range 600 {
			var n int64
			if err := db.Reader().QueryRowContext(t.Context(), fmt.Sprintf(`SELECT id + %d FROM thing WHERE id = $1`,
				i), int64(1)).Scan(&n); err != nil || n != int64(i+1) {
				t.Fatalf("statement %d: %d, %v", i, n, err)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Reader().QueryRowContext(gone, byName, "n1").Scan(new(int64)); err == nil {
			t.Error("a caller who is gone was answered")
		}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				for j := range 50 {
					if got := find(t, db, fmt.Sprint("n", (i+j)%10)); got != int64((i+j)%10) {
						t.Errorf("n%d has the id %d", (i+j)%10, got)
					}
				}
			})
		}
		all.Wait()
	})
}

func BenchmarkRead(b *testing.B) {
	db, err := sqldb.Open(b.Context(), sqldbtest.SQLite(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if err := db.Tx(b.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(b.Context(),
			`CREATE TABLE thing (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, a TEXT, b TEXT, c TEXT)`)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = db.Reader().QueryRowContext(b.Context(),
			`SELECT id, name, a, b, c FROM thing WHERE name = $1 AND EXISTS (SELECT 1 FROM thing AS t WHERE t.id =
				thing.id)`, "x").
			Scan(new(any))
	}
}
