package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/storage/row"
)

const idempotencyColumns = `scope, key, fingerprint, resource_id, lease_until, expires_at, status, body`

func scanIdempotency(from row.Scanner) (idempotency.Record, error) {
	var rec idempotency.Record
	var lease, expires int64
	var answer idempotency.Answer
	var body string
	err := from.Scan(&rec.Scope, &rec.Key, &rec.Fingerprint, &rec.ResourceID, &lease, &expires, &answer.Status, &body)
	if err != nil {
		return idempotency.Record{}, fmt.Errorf("reading an idempotency record: %w", err)
	}
	rec.LeaseUntil, rec.ExpiresAt = row.Time(lease), row.Time(expires)
	if answer.Status != 0 {
		answer.Body = []byte(body)
		rec.Answer = &answer
	}
	return rec, nil
}

// Requests is the idempotency.Store of a Store.
type Requests struct{ *Store }

// Claim implements idempotency.Store.
func (s Requests) Claim(
	ctx context.Context,
	rec idempotency.Record,
) (stored idempotency.Record, owned bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		stored, owned, err = claimRequest(ctx, tx, rec)
		return err
	})
	return stored, owned, err
}

func claimRequest(ctx context.Context, tx *sql.Tx, rec idempotency.Record) (idempotency.Record, bool, error) {
	now := time.Now()
	if _, err := row.Exec(ctx, tx, `DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND expires_at <= $3`,
		rec.Scope, rec.Key, row.Millis(now)); err != nil {
		return rec, false, err
	}
	stored, err := scanIdempotency(tx.QueryRowContext(ctx,
		`SELECT `+idempotencyColumns+` FROM idempotency WHERE scope = $1 AND key = $2`, rec.Scope, rec.Key))
	if errors.Is(err, sql.ErrNoRows) {
		_, err = row.Exec(ctx, tx,
			`INSERT INTO idempotency (`+idempotencyColumns+`) VALUES ($1, $2, $3, $4, $5, $6, 0, '')`,
			rec.Scope, rec.Key, rec.Fingerprint, rec.ResourceID, row.Millis(rec.LeaseUntil), row.Millis(rec.ExpiresAt))
		return rec, err == nil, err
	}
	if err != nil || stored.Answer != nil || stored.Fingerprint != rec.Fingerprint || stored.LeaseUntil.After(now) {
		return stored, false, err
	}
	stored.LeaseUntil, stored.ExpiresAt = rec.LeaseUntil, rec.ExpiresAt
	_, err = row.Exec(ctx, tx, `UPDATE idempotency SET lease_until = $3, expires_at = $4 WHERE scope = $1 AND key = $2`,
		rec.Scope, rec.Key, row.Millis(rec.LeaseUntil), row.Millis(rec.ExpiresAt))
	return stored, err == nil, err
}

// Answer implements idempotency.Store.
func (s Requests) Answer(ctx context.Context, scope, key string, answer idempotency.Answer, expiresAt time.Time) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(
			ctx,
			tx,
			`UPDATE idempotency SET status = $3, body = $4, expires_at = $5 WHERE scope = $1 AND key = $2 AND status
				= 0`,
			scope,
			key,
			answer.Status,
			string(answer.Body),
			row.Millis(expiresAt),
		)
		return err
	})
}

// Release implements idempotency.Store.
func (s Requests) Release(ctx context.Context, scope, key string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx,
			`UPDATE idempotency SET lease_until = 0 WHERE scope = $1 AND key = $2 AND status = 0`, scope, key)
		return err
	})
}
