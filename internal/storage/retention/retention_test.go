package retention_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
	"ace/internal/storage/retention"
)

// onBoth runs a test on a database of each engine with 2,500 old messages
// and 3 new ones.
func onBoth(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
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
			if err := db.Tx(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.ExecContext(t.Context(), `INSERT INTO processor_event (id, type, received_at)
					WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2503)
					SELECT 'evt_' || i, 'go', CASE WHEN i <= 2500 THEN i / 100 ELSE 1000 END FROM n`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			test(t, db)
		})
	}
}

func rule() retention.Rule {
	return retention.Rule{Name: "test", Table: "processor_event", Age: "received_at", Key: "id", Before: 100}
}

func count(t *testing.T, db *sqldb.DB, from string) (n int) {
	t.Helper()
	if err := db.Reader().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM `+from).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRun(t *testing.T) {
	t.Parallel()
	stay, among, set := rule(), rule(), rule()
	stay.Stay = `type = 'stay'`
	among.Among = `type = 'stay'`
	set.Set = `type = 'gone'`
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		check(t, db, "an update", set, 2503, 2500)
		if err := db.Tx(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(),
				`UPDATE processor_event SET type = CASE WHEN received_at < 12 THEN 'stay' ELSE 'go' END`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		// More than a slice of rows that stay is passed.
		check(t, db, "rows that stay", stay, 3+1199, 0)
		check(t, db, "among some", among, 3, 0)
	})
}

func check(t *testing.T, db *sqldb.DB, name string, r retention.Rule, left, gone int) {
	t.Helper()
	if more, err := retention.Run(t.Context(), db, r); err != nil || more {
		t.Fatalf("%s: Run = %v, %v", name, more, err)
	}
	if got := count(t, db, `processor_event`); got != left {
		t.Errorf("%s: %d rows are left, want %d", name, got, left)
	}
	if got := count(t, db, `processor_event WHERE type = 'gone'`); got != gone {
		t.Errorf("%s: %d rows were changed, want %d", name, got, gone)
	}
	if got := count(t, db, `watermark`); got != 0 {
		t.Errorf("%s: %d positions are left", name, got)
	}
}

// A process that dies within a slice leaves whole slices behind; the next one
// continues at its position.
func TestRunContinues(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		died := errors.New("the process died")
		r, slices := rule(), 0
		r.First = func(ctx context.Context, tx *sql.Tx, rows string, args []any) error {
			var n int
			if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM processor_event WHERE `+rows, args...).
				Scan(&n); err != nil {
				return fmt.Errorf("counting the slice: %w", err)
			}
			if slices++; n > 1000 {
				t.Errorf("a slice of %d rows", n)
			}
			if slices == 2 {
				return died
			}
			return nil
		}
		if _, err := retention.Run(t.Context(), db, r); !errors.Is(err, died) {
			t.Fatalf("Run = %v, want its death", err)
		}
		if got := count(t, db, `processor_event`); got != 1503 {
			t.Errorf("%d rows are left after one slice, want 1503", got)
		}
		if got := count(t, db, `watermark WHERE name = 'retention_test' AND at > 0`); got != 1 {
			t.Error("the position is not on record")
		}
		check(t, db, "all old rows", r, 3, 0)
	})
}
