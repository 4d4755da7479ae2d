package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Now is an expression of SQL: the time of the database in milliseconds, the
// same everywhere in one statement. Leases and due times use it, so that the
// clocks of replicas do not matter.
const Now = `(CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS BIGINT))`

// SkipLocked ends a SELECT whose rows the same statement writes. Rows that
// another transaction is writing are left out. SQLite has one writer and needs
// no such clause: there it is dropped.
const SkipLocked = ` FOR UPDATE SKIP LOCKED`

// forSQLite turns the parts of a statement that only PostgreSQL knows into what
// SQLite calls them.
func forSQLite(statement string) string {
	statement = strings.ReplaceAll(statement, Now, `(CAST(unixepoch('subsec') * 1000 AS BIGINT))`)
	return strings.ReplaceAll(statement, SkipLocked, "")
}

// lightParams are the settings of the connections of Light. A table that is
// empty now and holds a million rows in a minute has no statistics that are
// true: its rows are found by the index that the statement was written for,
// whatever the planner believes.
func lightParams() map[string]string {
	return map[string]string{
		"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off", "enable_hashjoin": "off",
		"enable_mergejoin": "off",
	}
}

// LightReader runs statements that only read, by the indexes that they were
// written for, as Light does.
func (db *DB) LightReader() *sql.DB {
	if db.engine == enginePostgres {
		return db.light
	}
	return db.read
}

// Light runs one writing statement in a transaction of its own at READ
// COMMITTED, and returns how many rows it changed or returned. It is for a
// statement that says all in its own condition: a claim, a compare-and-set, a
// batch of ends. Anything that reads in one statement and writes in another
// belongs in Tx. scan, if not nil, is called with each row of RETURNING.
func (db *DB) Light(ctx context.Context, scan func(rows *sql.Rows) error, statement string,
	args ...any,
) (rows int64, err error) {
	for try := 1; ; try++ {
		rows, err = db.tryLight(ctx, scan, statement, args)
		if err == nil || rows > 0 || !collided(err) || try == maxTries {
			return rows, err
		}
		if waitErr := backOff(ctx, try); waitErr != nil {
			return rows, err
		}
	}
}

func (db *DB) tryLight(ctx context.Context, scan func(*sql.Rows) error, statement string,
	args []any,
) (n int64, err error) {
	// The connection comes first: on SQLite it makes this the only writer, as
	// counting the revision needs.
	conn, err := db.light.Conn(ctx)
	if err != nil {
		return 0, fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() { _ = conn.Close() }()
	db.revision.Add(1)
	defer db.revision.Add(1) // whatever came of it, and before the caller knows
	if scan == nil {
		result, err := conn.ExecContext(ctx, statement, args...)
		if err != nil {
			return 0, fmt.Errorf("writing: %w", err)
		}
		if n, err = result.RowsAffected(); err != nil {
			return 0, fmt.Errorf("counting written rows: %w", err)
		}
		return n, nil
	}
	rows, err := conn.QueryContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("writing: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for ; rows.Next(); n++ {
		if err := scan(rows); err != nil {
			return n, err
		}
	}
	if err := rows.Err(); err != nil {
		return n, fmt.Errorf("reading written rows: %w", err)
	}
	return n, nil
}

// backOff waits before a transaction is repeated for the try-th time.
func backOff(ctx context.Context, try int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(rand.Int64N(int64(time.Millisecond) << min(try, 9)))):
		return nil
	}
}
