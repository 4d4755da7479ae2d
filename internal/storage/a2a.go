package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ace/internal/foundation/sqldb"
	"ace/internal/protocol/a2a"
	"ace/internal/storage/row"
)

const taskColumns = `t.scope, t.owner, t.ref, t.body, t.version, t.expires_at`

func scanTask(from row.Scanner) (a2a.Record, error) { return scanTaskAnd(from) }

// scanTaskAnd reads a task and the columns behind it.
func scanTaskAnd(from row.Scanner, more ...any) (a2a.Record, error) {
	var rec a2a.Record
	var body string
	var expires int64
	err := from.Scan(append([]any{&rec.Scope, &rec.Owner, &rec.Ref, &body, &rec.Version, &expires}, more...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return rec, a2a.ErrNoTask
	}
	if err != nil {
		return rec, fmt.Errorf("reading a task: %w", err)
	}
	rec.ExpiresAt = row.Time(expires)
	return rec, row.FromJSON(body, &rec.Task)
}

// Tasks is the a2a.Store of a Store.
type Tasks struct{ *Store }

// Task implements a2a.Store.
func (s Tasks) Task(ctx context.Context, id string) (a2a.Record, error) {
	return scanTask(s.db.Reader().QueryRowContext(ctx, `SELECT `+taskColumns+` FROM a2a_task t WHERE t.id = $1`, id))
}

// Sent implements a2a.Store.
func (s Tasks) Sent(ctx context.Context, key string) (rec a2a.Record, fingerprint string, err error) {
	rec, err = scanTaskAnd(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+taskColumns+`, m.fingerprint FROM a2a_message m JOIN a2a_task t ON t.id = m.task_id WHERE m.key = $1`,
		key), &fingerprint)
	return rec, fingerprint, err
}

// Insert implements a2a.Store.
func (s Tasks) Insert(ctx context.Context, rec a2a.Record, sent a2a.Sent) error {
	rec.Version = 1
	values, err := taskValues(rec)
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		// First, so that a repetition changes nothing else; the reference is
		// checked only with the task in place, hence the order of the two below.
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM a2a_message WHERE key = $1`, sent.Key).Scan(&n); err !=
			nil {
			return fmt.Errorf("looking for a message: %w", err)
		}
		if n > 0 {
			return a2a.ErrSent
		}
		if _, err := row.Exec(ctx,
			tx, `INSERT INTO a2a_task (id, ref, state, finished, body, status_at, expires_at, version, scope, owner)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, append(values, rec.Scope, rec.Owner)...); err != nil {
			return err
		}
		if err := insertSent(ctx, tx, rec.Task.ID, sent); err != nil {
			return err
		}
		return forgetOld(ctx, tx, rec.Owner)
	})
	if sqldb.UniqueViolation(err) { // another replica got the same message just now
		return a2a.ErrSent
	}
	return err
}

// Save implements a2a.Store.
func (s Tasks) Save(ctx context.Context, rec a2a.Record, sent *a2a.Sent) error {
	before := rec.Version
	rec.Version++
	values, err := taskValues(rec)
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE a2a_task SET ref = $2, state = $3, finished = $4, body = $5, status_at = $6, expires_at = $7,
				version = $8
			WHERE id = $1 AND version = $9`,
			append(values, before)...)
		if err != nil {
			return err
		}
		if n == 0 {
			return a2a.ErrVersion
		}
		if sent == nil {
			return nil
		}
		return insertSent(ctx, tx, rec.Task.ID, *sent)
	})
	if sqldb.UniqueViolation(err) {
		return a2a.ErrSent
	}
	return err
}

// taskValues are the columns that change, in the order of Insert and Save.
func taskValues(rec a2a.Record) ([]any, error) {
	body, err := row.JSON(rec.Task)
	state := rec.Task.Status.State
	return []any{
		rec.Task.ID, rec.Ref, string(state), state.Terminal(), body, row.Millis(rec.Task.Status.Timestamp.Time),
		row.Millis(rec.ExpiresAt), rec.Version,
	}, err
}

func insertSent(ctx context.Context, tx *sql.Tx, taskID string, sent a2a.Sent) error {
	_, err := row.Exec(ctx, tx, `INSERT INTO a2a_message (key, task_id, fingerprint) VALUES ($1, $2, $3)`, sent.Key,
		taskID, sent.Fingerprint)
	return err
}

// forgetOld drops the oldest tasks of an owner who has too many.
func forgetOld(ctx context.Context, tx *sql.Tx, owner string) error {
	_, err := row.Exec(ctx, tx, `DELETE FROM a2a_task WHERE owner = $1 AND ref = '' AND id IN (
			SELECT id FROM a2a_task WHERE owner = $1 AND ref = '' ORDER BY status_at DESC, id DESC LIMIT 1000 OFFSET
			$2)`,
		owner, a2a.MaxOwned)
	return err
}

// List implements a2a.Store.
func (s Tasks) List(ctx context.Context, q a2a.Query) (records []a2a.Record, total int, err error) {
	const matching = ` FROM a2a_task t WHERE t.scope = $1 AND (CAST($2 AS TEXT) = '' OR t.state = $2) AND
		t.status_at >= $3 AND (NOT $4 OR (t.ref <> '' AND NOT t.finished))`
	args := []any{q.Scope, string(q.State), row.Millis(q.Since), q.Waiting}
	if err := s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*)`+matching, args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("counting tasks: %w", err)
	}
	if !q.After.At.IsZero() {
		args = append(args, row.Millis(q.After.At), q.After.ID)
	} else {
		args = append(args, int64(1)<<62, "")
	}
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+taskColumns+matching+`
		AND (t.status_at < $5 OR (t.status_at = $5 AND t.id < $6)) ORDER BY t.status_at DESC, t.id DESC LIMIT $7`,
		append(args, q.Limit)...)
	records, err = row.Collect(rows, err, scanTask)
	return records, total, err
}
