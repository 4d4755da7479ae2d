package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// ColumnKind is what a column of the portable schema holds.
type ColumnKind string

// The kinds. Every column is of one of them: see the package comment.
const (
	Text    ColumnKind = "text"
	Integer ColumnKind = "integer"
	Boolean ColumnKind = "boolean"
)

// Table is a table of the schema.
type Table struct {
	Name    string
	Columns []TableColumn // in the order of their names
}

// TableColumn is a column of a Table.
type TableColumn struct {
	Name string
	Kind ColumnKind
}

var created = regexp.MustCompile(`(?mi)^CREATE TABLE (\w+)`)

// Tables returns the tables that migrations made, each after those that it
// refers to. It fails if the schema holds a column of another kind.
func (db *DB) Tables(ctx context.Context, migrations fs.FS) ([]Table, error) {
	there, err := db.columns(ctx)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(migrations, "*.sql") // in the order of their numbers
	if err != nil {
		return nil, fmt.Errorf("reading migrations: %w", err)
	}
	var tables []Table
	for _, file := range files {
		text, err := fs.ReadFile(migrations, file)
		if err != nil {
			return nil, fmt.Errorf("reading migrations: %w", err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, match := range created.FindAllStringSubmatch(up, -1) {
			columns, ok := there[match[1]]
			if !ok {
				continue // not yet, or no longer
			}
			delete(there, match[1])
			tables = append(tables, Table{match[1], columns})
		}
	}
	if len(there) > 0 {
		names := make([]string, 0, len(there))
		for name := range there {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("no migration makes the tables %s", strings.Join(names, ", "))
	}
	return tables, nil
}

// columns returns the columns of each table.
func (db *DB) columns(ctx context.Context) (map[string][]TableColumn, error) {
	query := `SELECT m.name, c.name, c.type FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.name`
	if db.engine == enginePostgres {
		query = `SELECT table_name, column_name, data_type FROM information_schema.columns
			WHERE table_schema = current_schema() ORDER BY table_name, column_name COLLATE "C"`
	}
	rows, err := db.read.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	defer func() { _ = rows.Close() }()
	tables := map[string][]TableColumn{}
	for rows.Next() {
		var table, kind string
		var column TableColumn
		if err := rows.Scan(&table, &column.Name, &kind); err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		if table == goose.DefaultTablename {
			continue
		}
		if column.Kind = ColumnKind(strings.ToLower(kind)); column.Kind == "bigint" {
			column.Kind = Integer
		}
		if column.Kind != Text && column.Kind != Integer && column.Kind != Boolean {
			return nil, fmt.Errorf("column %s of table %s is of type %s", column.Name, table, kind)
		}
		tables[table] = append(tables[table], column)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	return tables, nil
}

// MigrateTo is Migrate up to one version.
func (db *DB) MigrateTo(ctx context.Context, migrations fs.FS, version int64) error {
	provider, err := db.provider(ctx, migrations)
	if err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrating the database: %w", err)
	}
	return nil
}

// OpenReader opens a database to read it while others use it: on SQLite without
// the lock that Open takes. The file must be there. Tx and Migrate fail.
func OpenReader(ctx context.Context, dsn string) (*DB, error) {
	path, ok := strings.CutPrefix(dsn, "sqlite:")
	if !ok {
		return Open(ctx, dsn, &Options{MaxConns: 4})
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	read, err := openKeeping("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+sqlitePragmas+
		"&_pragma=query_only(ON)")
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db := &DB{write: read, read: read, light: read, unlock: func() error { return nil }}
	if err := read.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	return db, nil
}

// Snapshot calls fn with a transaction that only reads. All its statements see
// the database at one moment, and it blocks no writer.
func (db *DB) Snapshot(ctx context.Context, fn func(tx *sql.Tx) error) error {
	opts := &sql.TxOptions{}
	if db.engine == enginePostgres {
		opts.Isolation, opts.ReadOnly = sql.LevelRepeatableRead, true
	}
	tx, err := db.read.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing
	return fn(tx)
}
