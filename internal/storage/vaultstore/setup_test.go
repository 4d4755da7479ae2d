package vaultstore_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/seal/kek"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
	"ace/internal/storage/row"
	"ace/internal/storage/vaultstore"
)

func master(b byte) []byte { return bytes.Repeat([]byte{b}, kek.Size) }

func local(t testing.TB, b byte) kek.Key {
	t.Helper()
	key, err := kek.Local(master(b))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func onBoth(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	sqldbtest.Run(t, storage.Migrations(), test)
}

// open opens a vault with the key file of master(1), unless o says otherwise.
func open(t testing.TB, db *sqldb.DB, o vaultstore.Options) *vaultstore.Vault {
	t.Helper()
	v, err := tryOpen(t, db, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tryOpen(t testing.TB, db *sqldb.DB, o vaultstore.Options) (*vaultstore.Vault, error) {
	t.Helper()
	if o.KEK == nil {
		o.KEK, o.Master = local(t, 1), master(1)
	}
	return vaultstore.Open(t.Context(), db, &o)
}

// secret is a text that was sealed for a test, and what it must open to.
type secret struct {
	table, column, where string
	at                   seal.Place
	plain                string
}

// sow writes n sealed texts into every column that holds some, with the places
// that the services use.
func sow(t testing.TB, db *sqldb.DB, box *seal.Sealer, n int, name string) (all []secret) {
	t.Helper()
	account := "acc_" + name
	insert(t, db, "account", map[string]any{"id": account})
	for i := range n {
		id := fmt.Sprintf("%s_%d", name, i)
		put := func(table, column, where string, at seal.Place, values map[string]any) {
			s := secret{table, column, where, at, "secret of " + table + " " + id}
			text, err := box.Seal([]byte(s.plain), at)
			if err != nil {
				t.Fatal(err)
			}
			values[column] = text
			insert(t, db, table, values)
			all = append(all, s)
		}
		byID := "id = '" + id + "'"
		put("signing_key", "sealed", "name = '"+id+"'", seal.Place{Table: "signing_key", Column: "sealed", Row: id},
			map[string]any{"name": id})
		put("oauth_client", "box", "app = '"+id+"'",
			seal.Place{Table: "oauth_client", Column: "box", Row: id + " https://issuer.example", Account: account},
			map[string]any{"account_id": account, "app": id, "issuer": "https://issuer.example"})
		put("connection", "secret", byID, seal.Place{Table: "connection", Column: "secret", Row: id, Account: account},
			map[string]any{"id": id, "account_id": account})
		put("farewell", "secret", "connection_id = '"+id+"'", seal.Place{
			Table: "farewell", Column: "secret", Row: id,
			Account: account,
		}, map[string]any{"connection_id": id, "account_id": account})
		put("connect_session", "attempt", byID, seal.Place{
			Table: "connect_session", Column: "attempt", Row: id,
			Account: account,
		}, map[string]any{"id": id, "account_id": account})
		put("paid_order", "payload", byID, seal.Place{Table: "paid_order", Column: "payload", Row: id},
			map[string]any{"id": id})
		put("app_trigger", "registration", byID, seal.Place{
			Table: "app_trigger", Column: "registration", Row: id,
			Account: account,
		}, map[string]any{"id": id, "account_id": account})
		put("tool_run", "result", byID, seal.Place{Table: "tool_run", Column: "result", Row: id, Account: account},
			map[string]any{"id": id, "account_id": account, "request": ""})
		request := secret{
			"tool_run", "request", byID,
			seal.Place{Table: "tool_run", Column: "request", Row: id, Account: account},
			"request of " + id,
		}
		text, err := box.Seal([]byte(request.plain), request.at)
		if err != nil {
			t.Fatal(err)
		}
		set(t, db, request, text)
		all = append(all, request)
		insert(t, db, "tool_file", map[string]any{"id": id, "account_id": account})
		for piece := range 2 {
			put("tool_file_piece", "piece", fmt.Sprintf("file_id = '%s' AND number = %d", id, piece),
				seal.Place{Table: "tool_file", Column: "piece", Row: fmt.Sprintf("%s/%d", id, piece), Account: account},
				map[string]any{"file_id": id, "number": int64(piece)})
		}
	}
	return all
}

// insert writes a row; what values does not name gets something that is
// allowed there.
func insert(t testing.TB, db *sqldb.DB, table string, values map[string]any) {
	t.Helper()
	var names, marks []string
	var args []any
	for _, column := range columnsOf(t, table) {
		value, ok := values[column[0]]
		if !ok {
			switch column[1] {
			case "BOOLEAN":
				value = false
			case "BIGINT":
				value = int64(0)
			default:
				value = fmt.Sprint(column[0], " ", values["id"], values["name"], values["app"])
			}
		}
		names, args = append(names, column[0]), append(args, value)
		marks = append(marks, fmt.Sprintf("$%d", len(args)))
	}
	write(t, db, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+") VALUES ("+strings.Join(marks, ", ")+")",
		args...)
}

var columnLine = regexp.MustCompile(`(?m)^\s*(?:ALTER TABLE (\w+) ADD COLUMN )?(\w+)\s+(TEXT|BIGINT|BOOLEAN)\b`)

// columnsOf returns names and types of a table's columns, as the migrations say.
func columnsOf(t testing.TB, table string) (all [][2]string) {
	t.Helper()
	files, err := fs.Glob(storage.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(storage.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "+goose Down")
		for statement := range strings.SplitSeq(up, ";\n") {
			made := strings.Contains(statement, "CREATE TABLE "+table+" (")
			for _, m := range columnLine.FindAllStringSubmatch(statement, -1) {
				if m[1] == table || made && m[1] == "" {
					all = append(all, [2]string{m[2], m[3]})
				}
			}
		}
	}
	return all
}

func write(t testing.TB, db *sqldb.DB, statement string, args ...any) int64 {
	t.Helper()
	var n int64
	err := db.Tx(t.Context(), func(tx *sql.Tx) (err error) {
		n, err = row.Exec(t.Context(), tx, statement, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return n
}

func get(t testing.TB, db *sqldb.DB, s secret) (text string) {
	t.Helper()
	if err := db.Reader().QueryRowContext(t.Context(), "SELECT "+s.column+" FROM "+s.table+" WHERE "+s.where).Scan(
		&text); err != nil {
		t.Fatalf("%s.%s: %v", s.table, s.column, err)
	}
	return text
}

func set(t testing.TB, db *sqldb.DB, s secret, text string) {
	t.Helper()
	if n := write(t, db, "UPDATE "+s.table+" SET "+s.column+" = $1 WHERE "+s.where, text); n != 1 {
		t.Fatalf("%s.%s: %d rows, want 1", s.table, s.column, n)
	}
}

// reap opens every text; keys, if not empty, is the key that must have sealed
// each.
func reap(t testing.TB, db *sqldb.DB, box *seal.Sealer, all []secret, key string) {
	t.Helper()
	for _, s := range all {
		text := get(t, db, s)
		if got, err := box.Open(text, s.at); err != nil || string(got) != s.plain {
			t.Errorf("%s.%s where %s: opens to %q, %v, want %q", s.table, s.column, s.where, got, err, s.plain)
		}
		if id, _ := seal.KeyOf(text); key != "" && id != key {
			t.Errorf("%s.%s where %s: sealed with %s, want %s", s.table, s.column, s.where, id, key)
		}
	}
}

// finish works until there is nothing to do.
func finish(t testing.TB, v *vaultstore.Vault) (sum vaultstore.Progress) {
	t.Helper()
	for range 200 {
		p, err := v.Work(t.Context(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		sum.Resealed, sum.Unreadable = sum.Resealed+p.Resealed, p.Unreadable
		if p.Done {
			return sum
		}
	}
	t.Fatal("the work does not end")
	return sum
}

func status(t testing.TB, v *vaultstore.Vault) *vaultstore.Status {
	t.Helper()
	s, err := v.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rotate(t testing.TB, v *vaultstore.Vault) {
	t.Helper()
	if err := v.Rotate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
}

func engines(b *testing.B) map[string]string {
	b.Helper()
	return map[string]string{"sqlite": sqldbtest.SQLite(b), "postgres": sqldbtest.Postgres(b)}
}

func migrated(b *testing.B, dsn string) *sqldb.DB {
	b.Helper()
	db, err := sqldb.Open(b.Context(), dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(b.Context(), storage.Migrations()); err != nil {
		b.Fatal(err)
	}
	return db
}
