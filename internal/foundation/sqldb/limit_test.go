package sqldb

import (
	"path/filepath"
	"reflect"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// reprepared returns how often SQLite parsed a statement again.
func reprepared(t *testing.T, s *statement) int {
	t.Helper()
	handle := reflect.ValueOf(s.prepared).Elem().FieldByName("pstmt")
	if !handle.IsValid() || handle.Uint() == 0 {
		t.Fatalf("%T has no handle of a statement", s.prepared)
	}
	status := reflect.ValueOf(sqlite3.Xsqlite3_stmt_status)
	thread := reflect.New(status.Type().In(0).Elem()) // of a library that nothing else here imports
	got := status.Call([]reflect.Value{
		thread, reflect.ValueOf(uintptr(handle.Uint())), reflect.ValueOf(int32(sqlite3.SQLITE_STMTSTATUS_REPREPARE)),
		reflect.ValueOf(int32(0)),
	})
	return int(got[0].Int())
}

// count returns the number of rows of a query.
func count(t *testing.T, db *DB, query string, args []any) (n int) {
	t.Helper()
	rows, err := db.read.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// TestStatementsAreParsedOnce runs statements several times with other values.
func TestStatementsAreParsedOnce(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		`CREATE TABLE a (id TEXT PRIMARY KEY, n BIGINT NOT NULL, name TEXT NOT NULL COLLATE NOCASE)`,
		`CREATE INDEX a_n ON a (n)`, `CREATE INDEX a_name ON a (name)`,
		`INSERT INTO a (id, n, name) VALUES ('x', 1, 'Ann'), ('y', 2, 'Bob'), ('z', 3, 'Anna')`,
	} {
		if _, err := db.write.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	db.read.SetMaxOpenConns(1) // so that all runs have the same statement
	for _, tt := range []struct {
		query string
		args  [][]any
		want  int // rows of the last run
	}{
		{`SELECT id FROM a WHERE n > $1 ORDER BY n LIMIT $2`, [][]any{{0, 1}, {1, 5}, {0, 2}}, 2},
		{`SELECT id FROM a ORDER BY n LIMIT $1 OFFSET $2`, [][]any{{1, 0}, {9, 1}, {9, 2}}, 1},
		{`SELECT id FROM a WHERE name LIKE $1 ESCAPE '\'`, [][]any{{"b%"}, {"%n%"}, {"an%"}}, 2},
	} {
		rows := 0
		for _, args := range tt.args {
			rows = count(t, db, tt.query, args)
		}
		if rows != tt.want {
			t.Errorf("%s returned %d rows, want %d", tt.query, rows, tt.want)
		}
		conn, err := db.read.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Raw(func(c any) error {
			if n := reprepared(t, c.(*statementCache).stored[tt.query]); n != 0 {
				t.Errorf("%s was parsed again %d times in %d runs", tt.query, n, len(tt.args))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
}
