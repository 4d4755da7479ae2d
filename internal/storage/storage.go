// Package storage is all the SQL of both hosts. Each file holds the statements
// of one aggregate and implements the port of the package that owns it:
//
//	sessions.go, moves.go  checkout.Store, offer.Counter
//	orders.go, refunds.go  order.Store
//	jobs.go                jobs.Queue
//	idempotency.go         idempotency.Store
//	keys.go                keys for signatures, sealed
//	a2a.go                 a2a.Store
//
// One text serves SQLite and PostgreSQL; every test runs on both.
package storage

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"ace/internal/foundation/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the schema of both hosts, for sqldb.Migrate.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}

// Store is the database of both hosts.
type Store struct {
	db *sqldb.DB
	// scheduled is told after a transaction that scheduled jobs.
	scheduled func()
}

// New answers a store on an open, migrated database. scheduled, if not nil, is
// called after each transaction that scheduled jobs.
func New(db *sqldb.DB, scheduled func()) *Store {
	if scheduled == nil {
		scheduled = func() {}
	}
	return &Store{db: db, scheduled: scheduled}
}

// scanner is one row of a result.
type scanner interface{ Scan(dest ...any) error }

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func toJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encoding a column: %w", err)
	}
	return string(text), nil
}

func fromJSON(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("decoding a column: %w", err)
	}
	return nil
}

// collect scans every row of a result.
func collect[T any](rows *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, fmt.Errorf("querying: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading rows: %w", err)
	}
	return all, nil
}

// exec runs a writing statement and answers how many rows it changed.
func exec(ctx context.Context, tx *sql.Tx, statement string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("writing: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("counting written rows: %w", err)
	}
	return n, nil
}
