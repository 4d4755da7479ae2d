// Package retention deletes old rows in slices, so that no transaction is long
// and no writer waits for one.
//
//	rule ── up to 1,000 rows after the position, oldest first ──> one transaction:
//	         delete the ones that may go, write the position
//	   └── again, until nothing is left or the time of one call is over
//
// The position of a rule is a row of the table watermark. It moves over rows
// that have to stay, and starts again once all were looked at.
package retention

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
)

const (
	// sliceRows bounds the rows of one transaction.
	sliceRows = 1000
	// sliceTime bounds one call of Run.
	sliceTime = 10 * time.Second
)

// Rule says which rows of a table are old. All of its texts are constants of
// the program.
type Rule struct {
	// Name is the name of the position; it never changes.
	Name string
	// Table holds the rows. Age is the column that orders them, with an index, and
	// Key a unique column or expression.
	Table, Age, Key string
	// Before is the value of Age up to which rows are old.
	Before int64
	// Among limits the rows that are looked at, as the condition of a partial
	// index does. Stay is a condition of old rows that are left where they are.
	// Both may be empty.
	Among, Stay string
	// Set, if not empty, is what an UPDATE sets instead of deleting the row.
	Set string
	// First, if not nil, runs before the rows go, in the same transaction. rows is
	// a condition of the table for the rows that go, with its arguments.
	First func(ctx context.Context, tx *sql.Tx, rows string, args []any) error
}

// Run applies the rules in order. more says that the time of one call was over
// before all was done: call Run again soon.
func Run(ctx context.Context, db *sqldb.DB, rules ...Rule) (more bool, err error) {
	end := time.Now().Add(sliceTime)
	for i := range rules {
		for left := true; left; {
			if time.Now().After(end) {
				return true, nil
			}
			if left, err = slice(ctx, db, &rules[i]); err != nil {
				return false, fmt.Errorf("deleting old rows of %s: %w", rules[i].Table, err)
			}
		}
	}
	return false, nil
}

// position is the last row that was looked at.
type position struct {
	age int64
	key string
}

// slice does one transaction, and reports whether there may be more to do.
func slice(ctx context.Context, db *sqldb.DB, r *Rule) (left bool, err error) {
	// Most looks find nothing: they must not hold up a writer.
	after, err := read(ctx, db.Reader(), r)
	if err != nil {
		return false, err
	}
	last, n, err := r.candidates(ctx, db.Reader(), after)
	if err != nil || n == 0 && after == (position{}) {
		return false, err
	}
	left = n == sliceRows
	err = db.Tx(ctx, func(tx *sql.Tx) error {
		if n > 0 {
			if err := r.apply(ctx, tx, after, last); err != nil {
				return err
			}
		}
		if !left {
			return write(ctx, tx, r, position{})
		}
		return write(ctx, tx, r, last)
	})
	return left, err
}

// candidates finds the end of the next slice and how many rows it has.
func (r *Rule) candidates(ctx context.Context, q *sql.DB, after position) (last position, n int, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+r.Age+`, `+r.Key+` FROM `+r.Table+` WHERE `+r.old()+
		` AND (`+r.Age+`, `+r.Key+`) > ($2, CAST($3 AS TEXT)) ORDER BY `+r.Age+`, `+r.Key+` LIMIT $4`,
		r.Before, after.age, after.key, sliceRows)
	all, err := row.Collect(rows, err, func(from row.Scanner) (p position, err error) {
		return p, from.Scan(&p.age, &p.key)
	})
	if err != nil || len(all) == 0 {
		return last, 0, err
	}
	return all[len(all)-1], len(all), nil
}

func (r *Rule) old() string {
	if r.Among == "" {
		return r.Age + ` <= $1`
	}
	return r.Age + ` <= $1 AND ` + r.Among
}

// apply deletes the rows after one position up to another.
func (r *Rule) apply(ctx context.Context, tx *sql.Tx, after, last position) error {
	order := `(` + r.Age + `, ` + r.Key + `)`
	where := r.old() + ` AND ` + order + ` > ($2, CAST($3 AS TEXT)) AND ` + order + ` <= ($4, CAST($5 AS TEXT))`
	if r.Stay != "" {
		where += ` AND NOT (` + r.Stay + `)`
	}
	args := []any{r.Before, after.age, after.key, last.age, last.key}
	if r.First != nil {
		if err := r.First(ctx, tx, where, args); err != nil {
			return err
		}
	}
	statement := `DELETE FROM ` + r.Table + ` WHERE ` + where
	if r.Set != "" {
		statement = `UPDATE ` + r.Table + ` SET ` + r.Set + ` WHERE ` + where
	}
	_, err := row.Exec(ctx, tx, statement, args...)
	return err
}

func read(ctx context.Context, q *sql.DB, r *Rule) (p position, err error) {
	err = q.QueryRowContext(ctx, `SELECT at, walk_cursor FROM watermark WHERE name = $1`, "retention_"+r.Name).
		Scan(&p.age, &p.key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, fmt.Errorf("reading the position: %w", err)
	}
	return p, nil
}

func write(ctx context.Context, tx *sql.Tx, r *Rule, p position) error {
	if p == (position{}) {
		_, err := row.Exec(ctx, tx, `DELETE FROM watermark WHERE name = $1`, "retention_"+r.Name)
		return err
	}
	_, err := row.Exec(ctx, tx, `INSERT INTO watermark (name, at, walk_cursor) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET at = excluded.at, walk_cursor = excluded.walk_cursor`,
		"retention_"+r.Name, p.age, p.key)
	return err
}
