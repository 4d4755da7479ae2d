package payments

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// All SQL of the processor is in this file and in deliver_store.go.

// querier is what *sql.DB and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// row is an object as it is stored.
type row struct {
	id, kind     string
	seq, created int64 // created in milliseconds
	status, link string
	uniqueKey    string // empty: none
	dueAt        int64  // milliseconds; zero: never
	doc, private string
}

const rowColumns = `id, kind, seq, created_at, status, link, COALESCE(unique_key, ''), COALESCE(due_at, 0), doc, private`

func scanRow(scan func(...any) error) (row, error) {
	var r row
	err := scan(&r.id, &r.kind, &r.seq, &r.created, &r.status, &r.link, &r.uniqueKey, &r.dueAt, &r.doc, &r.private)
	return r, err
}

func insertRow(ctx context.Context, tx *sql.Tx, r row) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO objects
		(id, kind, seq, created_at, status, link, unique_key, due_at, doc, private)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		r.id, r.kind, r.seq, r.created, r.status, r.link, orNull(r.uniqueKey), orNull(r.dueAt), r.doc, r.private)
	if err != nil {
		return fmt.Errorf("inserting %s %s: %w", r.kind, r.id, err)
	}
	return nil
}

func updateRow(ctx context.Context, tx *sql.Tx, r row) error {
	result, err := tx.ExecContext(ctx, `UPDATE objects
		SET status = $2, link = $3, unique_key = $4, due_at = $5, doc = $6, private = $7 WHERE id = $1`,
		r.id, r.status, r.link, orNull(r.uniqueKey), orNull(r.dueAt), r.doc, r.private)
	if err != nil {
		return fmt.Errorf("updating %s %s: %w", r.kind, r.id, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("updating %s %s: %d rows changed: %w", r.kind, r.id, n, errors.Join(err))
	}
	return nil
}

func deleteRow(ctx context.Context, tx *sql.Tx, id string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM objects WHERE id = $1`, id); err != nil {
		return fmt.Errorf("deleting %s: %w", id, err)
	}
	return nil
}

// orNull is v, or NULL for a zero value.
func orNull[T comparable](v T) sql.Null[T] {
	var zero T
	return sql.Null[T]{V: v, Valid: v != zero}
}

// getRow answers sql.ErrNoRows when nothing of that kind has the id.
func getRow(ctx context.Context, q querier, kind, id string) (row, error) {
	return scanRow(q.QueryRowContext(ctx,
		`SELECT `+rowColumns+` FROM objects WHERE id = $1 AND kind = $2`, id, kind).Scan)
}

func getByKey(ctx context.Context, q querier, kind, key string) (row, error) {
	return scanRow(q.QueryRowContext(ctx,
		`SELECT `+rowColumns+` FROM objects WHERE kind = $1 AND unique_key = $2`, kind, key).Scan)
}

// rowFilter chooses rows of one kind. Empty fields choose all.
type rowFilter struct {
	kind, status, link string
	after, before      int64 // seq bounds, exclusive: older than after, newer than before
	since              int64 // created at or later, in milliseconds
	until              int64 // created before, in milliseconds
	oldestFirst        bool
	limit              int
}

func listRows(ctx context.Context, q querier, f rowFilter) ([]row, error) {
	where, args := []string{"kind = $1"}, []any{f.kind}
	add := func(text string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf(text, len(args)))
	}
	if f.status != "" {
		add("status = $%d", f.status)
	}
	if f.link != "" {
		add("link = $%d", f.link)
	}
	if f.after != 0 {
		add("seq < $%d", f.after)
	}
	if f.before != 0 {
		add("seq > $%d", f.before)
	}
	if f.since != 0 {
		add("created_at >= $%d", f.since)
	}
	if f.until != 0 {
		add("created_at < $%d", f.until)
	}
	order := "DESC"
	if f.oldestFirst {
		order = "ASC"
	}
	args = append(args, f.limit)
	query := fmt.Sprintf(`SELECT %s FROM objects WHERE %s ORDER BY seq %s LIMIT $%d`,
		rowColumns, strings.Join(where, " AND "), order, len(args))
	return queryRows(ctx, q, query, args...)
}

// dueRows answers what the clock has to act on, the longest overdue first.
func dueRows(ctx context.Context, q querier, now int64, limit int) ([]row, error) {
	return queryRows(ctx, q, `SELECT `+rowColumns+` FROM objects WHERE due_at <= $1 ORDER BY due_at, seq LIMIT $2`, now, limit)
}

func queryRows(ctx context.Context, q querier, query string, args ...any) (out []row, err error) {
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

// countRows answers how many objects there are of each kind and status.
func countRows(ctx context.Context, q querier) (counts map[string]map[string]int64, err error) {
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

func maxSeq(ctx context.Context, q querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM objects`).Scan(&n)
	return n, err
}

// setting reads a JSON value into v; a missing one leaves v as it is.
func setting(ctx context.Context, q querier, name string, v any) error {
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

func putSetting(ctx context.Context, tx *sql.Tx, name string, v any) error {
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
