// Package rowstore keeps the objects of the sandbox's payment processor: each
// is the JSON that the API returns, and beside it the few columns that objects
// are searched by. It knows nothing of what they mean.
//
//	Insert, Update, Delete    in a transaction
//	Get, GetByKey, List, Due  in a transaction or outside
//	Setting, PutSetting       single values
//
// The tables are those of package schema.
package rowstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Querier is what *sql.DB and *sql.Tx have in common.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Row is an object as it is stored.
type Row struct {
	Id, Kind     string
	Seq, Created int64 // created in milliseconds
	Status, Link string
	UniqueKey    string // empty: none
	DueAt        int64  // milliseconds; zero: never
	Doc, Private string
}

const rowColumns = `id, kind, seq, created_at, status, link, COALESCE(unique_key, ''), COALESCE(due_at, 0), doc,
	private`

func scanRow(scan func(...any) error) (Row, error) {
	var r Row
	err := scan(&r.Id, &r.Kind, &r.Seq, &r.Created, &r.Status, &r.Link, &r.UniqueKey, &r.DueAt, &r.Doc, &r.Private)
	return r, err
}

// Insert stores a new object.
func Insert(ctx context.Context, tx *sql.Tx, r Row) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO objects
		(id, kind, seq, created_at, status, link, unique_key, due_at, doc, private)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		r.Id, r.Kind, r.Seq, r.Created, r.Status, r.Link, OrNull(r.UniqueKey), OrNull(r.DueAt), r.Doc, r.Private)
	if err != nil {
		return fmt.Errorf("inserting %s %s: %w", r.Kind, r.Id, err)
	}
	return nil
}

// Update stores a changed object, which must be there.
func Update(ctx context.Context, tx *sql.Tx, r Row) error {
	result, err := tx.ExecContext(ctx, `UPDATE objects
		SET status = $2, link = $3, unique_key = $4, due_at = $5, doc = $6, private = $7 WHERE id = $1`,
		r.Id, r.Status, r.Link, OrNull(r.UniqueKey), OrNull(r.DueAt), r.Doc, r.Private)
	if err != nil {
		return fmt.Errorf("updating %s %s: %w", r.Kind, r.Id, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("updating %s %s: %d rows changed: %w", r.Kind, r.Id, n, errors.Join(err))
	}
	return nil
}

// Delete takes an object away.
func Delete(ctx context.Context, tx *sql.Tx, id string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM objects WHERE id = $1`, id); err != nil {
		return fmt.Errorf("deleting %s: %w", id, err)
	}
	return nil
}

// OrNull is v, or NULL for a zero value.
func OrNull[T comparable](v T) sql.Null[T] {
	var zero T
	return sql.Null[T]{V: v, Valid: v != zero}
}

// Get returns sql.ErrNoRows when nothing of that kind has the id.
func Get(ctx context.Context, q Querier, kind, id string) (Row, error) {
	return scanRow(q.QueryRowContext(ctx,
		`SELECT `+rowColumns+` FROM objects WHERE id = $1 AND kind = $2`, id, kind).Scan)
}

// GetByKey reads the one object of the kind that has the unique key, or returns
// sql.ErrNoRows.
func GetByKey(ctx context.Context, q Querier, kind, key string) (Row, error) {
	return scanRow(q.QueryRowContext(ctx,
		`SELECT `+rowColumns+` FROM objects WHERE kind = $1 AND unique_key = $2`, kind, key).Scan)
}

// Filter chooses rows of one kind. Empty fields choose all.
type Filter struct {
	Kind, Status, Link string
	After, Before      int64 // seq bounds, exclusive: older than after, newer than before
	Since              int64 // created at or later, in milliseconds
	Until              int64 // created before, in milliseconds
	OldestFirst        bool
	Limit              int
}

// List returns the rows that a filter chooses, the newest first unless it says
// otherwise.
func List(ctx context.Context, q Querier, f Filter) ([]Row, error) {
	where, args := []string{"kind = $1"}, []any{f.Kind}
	add := func(text string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf(text, len(args)))
	}
	if f.Status != "" {
		add("status = $%d", f.Status)
	}
	if f.Link != "" {
		add("link = $%d", f.Link)
	}
	if f.After != 0 {
		add("seq < $%d", f.After)
	}
	if f.Before != 0 {
		add("seq > $%d", f.Before)
	}
	if f.Since != 0 {
		add("created_at >= $%d", f.Since)
	}
	if f.Until != 0 {
		add("created_at < $%d", f.Until)
	}
	order := "DESC"
	if f.OldestFirst {
		order = "ASC"
	}
	args = append(args, f.Limit)
	query := fmt.Sprintf(`SELECT %s FROM objects WHERE %s ORDER BY seq %s LIMIT $%d`,
		rowColumns, strings.Join(where, " AND "), order, len(args))
	return queryRows(ctx, q, query, args...)
}

// Due returns what the clock has to act on, the longest overdue first.
func Due(ctx context.Context, q Querier, now int64, limit int) ([]Row, error) {
	return queryRows(ctx, q, `SELECT `+rowColumns+` FROM objects WHERE due_at <= $1 ORDER BY due_at, seq LIMIT $2`,
		now, limit)
}

func queryRows(ctx context.Context, q Querier, query string, args ...any) (out []Row, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("listing objects: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("reading an object: %w", err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// Count returns how many objects there are of each kind and status.
func Count(ctx context.Context, q Querier) (counts map[string]map[string]int64, err error) {
	rows, err := q.QueryContext(ctx, `SELECT kind, status, COUNT(*) FROM objects GROUP BY kind, status`)
	if err != nil {
		return nil, fmt.Errorf("counting objects: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[string]map[string]int64{}
	for rows.Next() {
		var kind, status string
		var n int64
		if err := rows.Scan(&kind, &status, &n); err != nil {
			return nil, fmt.Errorf("reading a count: %w", err)
		}
		if counts[kind] == nil {
			counts[kind] = map[string]int64{}
		}
		counts[kind][status] = n
	}
	return counts, rows.Err()
}

// MaxSeq is the number of the newest object.
func MaxSeq(ctx context.Context, q Querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM objects`).Scan(&n)
	return n, err
}

// Setting reads a JSON value into v; a missing one leaves v as it is.
func Setting(ctx context.Context, q Querier, name string, v any) error {
	var text string
	err := q.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = $1`, name).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading setting %s: %w", name, err)
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("reading setting %s: %w", name, err)
	}
	return nil
}

// PutSetting keeps a JSON value.
func PutSetting(ctx context.Context, tx *sql.Tx, name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keeping setting %s: %w", name, err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, string(text))
	if err != nil {
		return fmt.Errorf("keeping setting %s: %w", name, err)
	}
	return nil
}
