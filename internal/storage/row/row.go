// Package row is what all statements have in common: how columns become values
// and how results are read.
//
//	time.Time <-> BIGINT milliseconds (0: zero)      JSON <-> TEXT
//	Query -> Collect(rows, err, scan)                a list, never nil rows left open
//	Query -> One(row, scan)                          nil where there is none
//	Exec  -> rows changed
package row

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// Millis is a time as a column; the zero time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time is what Millis wrote.
func Time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// JSON is a value as a column.
func JSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encoding a column: %w", err)
	}
	return string(text), nil
}

// FromJSON reads what JSON wrote.
func FromJSON(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("decoding a column: %w", err)
	}
	return nil
}

// Collect scans every row of a result.
func Collect[T any](rows *sql.Rows, err error, scan func(Scanner) (T, error)) ([]T, error) {
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

// One scans a row that may not exist; found reports whether it does.
func One[T any](r Scanner, scan func(Scanner) (T, error)) (one T, found bool, err error) {
	one, err = scan(r)
	if errors.Is(err, sql.ErrNoRows) {
		var none T
		return none, false, nil
	}
	return one, err == nil, err
}

// Exec runs a writing statement and returns how many rows it changed.
func Exec(ctx context.Context, tx *sql.Tx, statement string, args ...any) (int64, error) {
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

// Values returns a VALUES list for rows of columns of these types, which are
// called column1, column2 and so on, and the arguments for its placeholders from
// $1 on. It repeats the last row until there is a power of two of them: an engine
// then parses few texts. args holds the rows one after the other, at least one.
func Values(args []any, types ...string) (text string, padded []any) {
	width := len(types)
	n := 1
	for n*width < len(args) {
		n *= 2
	}
	last := args[len(args)-width:]
	padded = slices.Grow(args, n*width-len(args))
	var b strings.Builder
	for i := range n {
		if i*width >= len(args) {
			padded = append(padded, last...)
		}
		for j, column := range types {
			switch {
			case j > 0:
				b.WriteString(", ")
			case i > 0:
				b.WriteString("), (")
			default:
				b.WriteString("VALUES (")
			}
			place := "$" + strconv.Itoa(i*width+j+1)
			if i == 0 { // the first row gives a column its type
				place = "CAST(" + place + " AS " + column + ")"
			}
			b.WriteString(place)
		}
	}
	b.WriteString(")")
	return b.String(), padded
}
