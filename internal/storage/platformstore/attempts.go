package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/storage/row"
)

// forgetAttempts is after how long a count is deleted that nobody came back to.
const forgetAttempts = 24 * time.Hour

// ChargeSignIn implements account.Store. The first statement about a subject
// holds its row until the end, so that of callers at the same time each sees the
// count of the one before.
func (s *Store) ChargeSignIn(ctx context.Context, now time.Time, forget time.Duration,
	charges ...account.Charge,
) (failures int, wait time.Duration, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		failures, wait = 0, 0
		if _, err := row.Exec(ctx, tx, `DELETE FROM sign_in_attempt WHERE subject IN (
				SELECT subject FROM sign_in_attempt WHERE seen_at < $1 ORDER BY seen_at LIMIT $2)`,
			row.Millis(now.Add(-forgetAttempts)), oldAtOnce); err != nil {
			return err
		}
		for _, c := range charges {
			until, err := heldAttempts(ctx, tx, c.Subject, now)
			if err != nil {
				return err
			}
			wait = max(wait, until.Sub(now))
		}
		if wait > 0 {
			return nil
		}
		for _, c := range charges {
			if failures, err = chargeOne(ctx, tx, now, forget, c); err != nil {
				return err
			}
		}
		return nil
	})
	return failures, wait, err
}

// heldAttempts holds the row of a subject and returns until when nothing may be
// tried.
func heldAttempts(ctx context.Context, tx *sql.Tx, subject string, now time.Time) (until time.Time, err error) {
	var blocked int64
	err = tx.QueryRowContext(ctx,
		`INSERT INTO sign_in_attempt (subject, failures, blocked_until, seen_at) VALUES ($1, 0, 0, $2)
		ON CONFLICT (subject) DO UPDATE SET failures = sign_in_attempt.failures RETURNING blocked_until`,
		subject, row.Millis(now)).Scan(&blocked)
	if err != nil {
		return until, fmt.Errorf("reading attempts to sign in: %w", err)
	}
	return row.Time(blocked), nil
}

// chargeOne counts an attempt whose row is held.
func chargeOne(ctx context.Context, tx *sql.Tx, now time.Time, forget time.Duration, c account.Charge) (int, error) {
	var failures int
	err := tx.QueryRowContext(ctx,
		`UPDATE sign_in_attempt SET failures = CASE WHEN seen_at < $2 THEN 1 ELSE failures + 1 END, seen_at = $3
		WHERE subject = $1 RETURNING failures`,
		c.Subject, row.Millis(now.Add(-forget)), row.Millis(now)).Scan(&failures)
	if err != nil {
		return 0, fmt.Errorf("counting an attempt to sign in: %w", err)
	}
	delay := c.Delays[min(failures, len(c.Delays))-1]
	if delay == 0 {
		return failures, nil
	}
	_, err = row.Exec(ctx, tx, `UPDATE sign_in_attempt SET blocked_until = $2 WHERE subject = $1`, c.Subject,
		row.Millis(now.Add(delay)))
	return failures, err
}

// FailSignIn implements account.Store.
func (s *Store) FailSignIn(ctx context.Context, subject string, entries ...audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		// A write even without entries: names that nobody has take as long as others.
		if _, err := row.Exec(ctx, tx, `UPDATE sign_in_attempt SET failures = failures WHERE subject = $1`,
			subject); err != nil {
			return err
		}
		for _, e := range entries {
			if err := record(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// SettleSignIn implements account.Store.
func (s *Store) SettleSignIn(ctx context.Context, subjects ...string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, subject := range subjects {
			if _, err := row.Exec(ctx, tx, `DELETE FROM sign_in_attempt WHERE subject = $1`, subject); err != nil {
				return err
			}
		}
		return nil
	})
}
