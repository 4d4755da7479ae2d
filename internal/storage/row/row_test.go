package row_test

import (
	"database/sql"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage/row"

	"github.com/google/go-cmp/cmp"
)

func TestTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 20, 30, 123_000_000, time.UTC)
	for _, tt := range []struct {
		name   string
		time   time.Time
		column int64
	}{
		{"zero", time.Time{}, 0},
		{"milliseconds", at, 1795342830123},
		{"another zone", at.In(time.FixedZone("", 7200)), 1795342830123},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := row.Millis(tt.time); got != tt.column {
				t.Errorf("Millis(%v) = %d, want %d", tt.time, got, tt.column)
			}
			if got := row.Time(tt.column); !got.Equal(tt.time) || got.Location() != time.UTC {
				t.Errorf("Time(%d) = %v, want %v in UTC", tt.column, got, tt.time)
			}
		})
	}
	if got := row.Delay(time.Time{}); got != 0 {
		t.Errorf("Delay of the zero time = %d, want 0", got)
	}
	if got := row.Delay(time.Now().Add(-time.Minute)); got >= 0 {
		t.Errorf("Delay of a minute ago = %d, want a negative number", got)
	}
	if got := row.Delay(time.Now().Add(time.Hour)); got <= 0 || got > time.Hour.Milliseconds() {
		t.Errorf("Delay of an hour from now = %d, want up to an hour", got)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := row.JSON(map[string]int{"a": 1})
	if err != nil || text != `{"a":1}` {
		t.Errorf("JSON = %s, %v", text, err)
	}
	var back map[string]int
	if err := row.FromJSON(text, &back); err != nil || back["a"] != 1 {
		t.Errorf("FromJSON = %v, %v", back, err)
	}
	if _, err := row.JSON(make(chan int)); err == nil {
		t.Error("JSON encodes a channel")
	}
	if err := row.FromJSON(`{"a":`, &back); err == nil {
		t.Error("FromJSON reads half an object")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		args  []any
		types []string
		text  string
		want  []any
	}{
		{
			"one",
			[]any{"a", 1},
			[]string{"TEXT", "BIGINT"},
			"VALUES (CAST($1 AS TEXT), CAST($2 AS BIGINT))",
			[]any{"a", 1},
		},
		{"two", []any{"a", "b"}, []string{"TEXT"}, "VALUES (CAST($1 AS TEXT)), ($2)", []any{"a", "b"}},
		{
			"three are padded to four",
			[]any{"a", 1, "b", 2, "c", 3},
			[]string{"TEXT", "BIGINT"},
			"VALUES (CAST($1 AS TEXT), CAST($2 AS BIGINT)), ($3, $4), ($5, $6), ($7, $8)",
			[]any{"a", 1, "b", 2, "c", 3, "c", 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text, args := row.Values(tt.args, tt.types...)
			if text != tt.text {
				t.Errorf("text = %s, want %s", text, tt.text)
			}
			if diff := cmp.Diff(tt.want, args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func migrations() fstest.MapFS {
	return fstest.MapFS{"00001_task.sql": {Data: []byte(`-- +goose Up
CREATE TABLE task (id TEXT PRIMARY KEY, account_id TEXT NOT NULL, due_at BIGINT NOT NULL);
CREATE INDEX task_due ON task (due_at) WHERE due_at > 0;
`)}}
}

func insert(t *testing.T, db *sqldb.DB, id string, due int64) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sql.Tx) error {
		n, err := row.Exec(
			t.Context(),
			tx,
			`INSERT INTO task (id, account_id, due_at) VALUES ($1, 'acc_1', $2)`,
			id,
			due,
		)
		if err == nil && n != 1 {
			return errors.New("nothing was written")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func dueAt(t *testing.T, db *sqldb.DB, id string) int64 {
	t.Helper()
	at, found, err := row.One(db.Reader().QueryRowContext(t.Context(), `SELECT due_at FROM task WHERE id = $1`, id),
		func(r row.Scanner) (at int64, err error) { return at, r.Scan(&at) })
	if err != nil || !found {
		t.Fatalf("reading %s: %v, %v", id, found, err)
	}
	return at
}

func TestOneAndCollect(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, migrations(), func(t *testing.T, db *sqldb.DB) {
		t.Helper()
		scan := func(r row.Scanner) (id string, err error) { return id, r.Scan(&id) }
		const one = `SELECT id FROM task WHERE id = $1`
		if id, found, err := row.One(db.Reader().QueryRowContext(t.Context(), one, "none"), scan); id != "" || found ||
			err != nil {
			t.Errorf("One of no row = %q, %v, %v", id, found, err)
		}
		insert(t, db, "b", 0)
		insert(t, db, "a", 0)
		rows, err := db.Reader().QueryContext(t.Context(), `SELECT id FROM task ORDER BY id`)
		list, err := row.Collect(rows, err, scan)
		if diff := cmp.Diff([]string{"a", "b"}, list); diff != "" || err != nil {
			t.Errorf("Collect: %v (-want +got):\n%s", err, diff)
		}
		failed := errors.New("no")
		rows, err = db.Reader().QueryContext(t.Context(), `SELECT id FROM task`)
		if _, err := row.Collect(rows, err, func(row.Scanner) (string, error) { return "", failed }); !errors.Is(err,
			failed) {
			t.Errorf("Collect = %v, want what scan returned", err)
		}
	})
}

// TestDue claims rows that are due, oldest first, and ends them in each way.
func TestDue(t *testing.T) {
	t.Parallel()
	sqldbtest.Run(t, migrations(), func(t *testing.T, db *sqldb.DB) {
		t.Helper()
		ctx := t.Context()
		due := &row.Due{DB: db, Kind: "task", Table: "task", Column: "due_at", Waiting: "due_at > 0"}
		if _, found, err := due.Next(ctx); found || err != nil {
			t.Errorf("Next of an empty table = %v, %v", found, err)
		}
		insert(t, db, "never", 0)
		insert(t, db, "second", 2)
		insert(t, db, "first", 1)
		insert(t, db, "later", time.Now().Add(time.Hour).UnixMilli())
		if wait, found, err := due.Next(ctx); !found || wait > 0 || err != nil {
			t.Errorf("Next = %v, %v, %v, want one that is due", wait, found, err)
		}
		claimed, err := due.Claim(ctx, 1, time.Minute)
		if err != nil || len(claimed) != 1 || claimed[0].Ref != row.Ref("acc_1", "first") || claimed[0].Kind != "task" {
			t.Fatalf("Claim(1) = %+v, %v, want the oldest", claimed, err)
		}
		if at := dueAt(t, db, "first"); at != claimed[0].Token || !claimed[0].LeaseUntil.Equal(row.Time(at)) {
			t.Errorf("the column is %d, want the end of the lease %+v", at, claimed[0])
		}
		more, err := due.Claim(ctx, 10, time.Minute)
		if err != nil || len(more) != 1 || more[0].Ref != row.Ref("acc_1", "second") {
			t.Fatalf("Claim(10) = %+v, %v, want the other one that is due", more, err)
		}
		repeated := more[0]
		repeated.RunAt = time.Now().Add(10 * time.Minute)
		ends := []jobs.End{{Job: claimed[0], Done: true}, {Job: repeated}}
		if _, err := due.End(ctx, ends); err != nil {
			t.Fatal(err)
		}
		if at := dueAt(t, db, "first"); at != 0 {
			t.Errorf("what is done is due at %d, want never", at)
		}
		again := dueAt(t, db, "second")
		if again <= time.Now().UnixMilli() {
			t.Errorf("what runs again is due at %d, which is in the past", again)
		}
		if _, err := due.End(ctx, []jobs.End{{Job: more[0], Done: true}}); err != nil {
			t.Fatal(err)
		}
		if at := dueAt(t, db, "second"); at != again {
			t.Errorf("an end with an old lease moved the row to %d", at)
		}
	})
}
