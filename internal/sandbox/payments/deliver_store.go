package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ace/internal/sandbox/rowstore"
)

// States of a delivery.
const (
	statePending   = "pending"
	stateHeld      = "held" // by the reorder fault
	stateDelivered = "delivered"
	stateDropped   = "dropped" // by the drop fault, or its endpoint is gone
	stateGivenUp   = "given_up"
)

// delivery is one event on its way to one endpoint.
type delivery struct {
	event, endpoint string
	seq             int64
	state           string
	attempts        int64
	copies          int64
	nextAt          int64 // milliseconds; zero: never
	lastStatus      int64
}

// putDelivery stores a delivery again, whatever became of an earlier one.
func putDelivery(ctx context.Context, tx *sql.Tx, d delivery) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO deliveries
		(event_id, endpoint_id, seq, state, attempts, copies, next_at, last_status)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (event_id, endpoint_id) DO UPDATE SET seq = excluded.seq, state = excluded.state,
		attempts = excluded.attempts, copies = excluded.copies, next_at = excluded.next_at, last_status =
		excluded.last_status`,
		d.event, d.endpoint, d.seq, d.state, d.attempts, d.copies, rowstore.OrNull(d.nextAt), d.lastStatus)
	if err != nil {
		return fmt.Errorf("storing the delivery of %s: %w", d.event, err)
	}
	return nil
}

// finishAttempt writes what came of an attempt, unless the delivery was
// rescheduled in the meantime (seq differs).
func finishAttempt(ctx context.Context, tx *sql.Tx, d delivery) error {
	_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = $4, attempts = $5, next_at = $6, last_status = $7
		WHERE event_id = $1 AND endpoint_id = $2 AND seq = $3`,
		d.event, d.endpoint, d.seq, d.state, d.attempts, rowstore.OrNull(d.nextAt), d.lastStatus)
	if err != nil {
		return fmt.Errorf("storing the attempt to deliver %s: %w", d.event, err)
	}
	return nil
}

func dueDeliveries(ctx context.Context, q rowstore.Querier, now int64, limit int) (due []delivery, err error) {
	rows, err := q.QueryContext(ctx,
		`SELECT event_id, endpoint_id, seq, state, attempts, copies, COALESCE(next_at, 0), last_status
		FROM deliveries WHERE state = $1 AND next_at <= $2 ORDER BY next_at, seq LIMIT $3`, statePending, now, limit)
	if err != nil {
		return nil, fmt.Errorf("looking for due deliveries: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var d delivery
		if err := rows.Scan(&d.event, &d.endpoint, &d.seq, &d.state, &d.attempts, &d.copies, &d.nextAt,
			&d.lastStatus); err != nil {
			return nil, fmt.Errorf("reading a delivery: %w", err)
		}
		due = append(due, d)
	}
	return due, rows.Err()
}

// releaseHeld sends what the reorder fault held back, the newest first.
func releaseHeld(ctx context.Context, tx *sql.Tx, now int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = $1, seq = -seq, next_at = $2 WHERE state = $3`,
		statePending, now, stateHeld)
	if err != nil {
		return fmt.Errorf("releasing deliveries: %w", err)
	}
	return nil
}

func dropDeliveries(ctx context.Context, tx *sql.Tx, endpoint string) error {
	_, err := tx.ExecContext(ctx, `UPDATE deliveries SET state = $1, next_at = NULL
		WHERE endpoint_id = $2 AND state IN ($3, $4)`, stateDropped, endpoint, statePending, stateHeld)
	if err != nil {
		return fmt.Errorf("dropping the deliveries to %s: %w", endpoint, err)
	}
	return nil
}

func countPending(ctx context.Context, q rowstore.Querier, event string) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT COUNT(*) FROM deliveries WHERE event_id = $1 AND state IN ($2, $3)`,
		event, statePending, stateHeld).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting the deliveries of %s: %w", event, err)
	}
	return n, nil
}

func countDeliveries(ctx context.Context, q rowstore.Querier) (counts map[string]int64, err error) {
	rows, err := q.QueryContext(ctx, `SELECT state, COUNT(*) FROM deliveries GROUP BY state`)
	if err != nil {
		return nil, fmt.Errorf("counting deliveries: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[string]int64{}
	for rows.Next() {
		var state string
		var n int64
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("reading a count: %w", err)
		}
		counts[state] = n
	}
	return counts, rows.Err()
}

func countAttempts(ctx context.Context, q rowstore.Querier) (n int64, err error) {
	if err := q.QueryRowContext(ctx, `SELECT COALESCE(SUM(attempts), 0) FROM deliveries`).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting attempts to deliver: %w", err)
	}
	return n, nil
}
