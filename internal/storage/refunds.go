package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ace/internal/foundation/problem"
	"ace/internal/storage/row"
	"ace/internal/storefront/order"
)

const refundColumns = `id, order_id, payment_ref, minor, currency, state, processor_ref, reason, failure,
	created_at, updated_at`

func scanRefund(from row.Scanner) (order.Refund, error) {
	var r order.Refund
	var created, updated int64
	err := from.Scan(&r.ID, &r.OrderID, &r.PaymentRef, &r.Amount.Minor, &r.Amount.Currency, &r.State, &r.ProcessorRef,
		&r.Reason, &r.Failure, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return r, problem.New(problem.NotFound, "refund_not_found", "No such refund.")
	}
	if err != nil {
		return r, fmt.Errorf("reading a refund: %w", err)
	}
	r.CreatedAt, r.UpdatedAt = row.Time(created), row.Time(updated)
	return r, nil
}

// upsertRefund keeps a refund. One that is done stays done.
func upsertRefund(ctx context.Context, tx *sql.Tx, r order.Refund) error {
	_, err := row.Exec(ctx,
		tx, `INSERT INTO order_refund (`+refundColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, processor_ref = excluded.processor_ref, `+
			`failure = excluded.failure, updated_at = excluded.updated_at
		WHERE order_refund.state <> 'done'`, r.ID, r.OrderID, r.PaymentRef, r.Amount.Minor, r.Amount.Currency,
		string(r.State), r.ProcessorRef, r.Reason, r.Failure,
		row.Millis(r.CreatedAt), row.Millis(r.UpdatedAt))
	return err
}

// Refund implements order.Store.
func (s *Store) Refund(ctx context.Context, id string) (*order.Refund, error) {
	r, err := scanRefund(s.db.Reader().QueryRowContext(ctx, `SELECT `+refundColumns+` FROM order_refund WHERE id = $1`,
		id))
	return &r, err
}

// Refunds implements order.Store.
func (s *Store) Refunds(ctx context.Context, orderID string) ([]order.Refund, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+refundColumns+` FROM order_refund WHERE order_id = $1 ORDER BY created_at, id`, orderID)
	return row.Collect(rows, err, scanRefund)
}

// SaveRefund implements order.Store.
func (s *Store) SaveRefund(ctx context.Context, r order.Refund) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error { return upsertRefund(ctx, tx, r) })
}

func insertEvent(ctx context.Context, tx *sql.Tx, e order.Event) error {
	_, err := row.Exec(ctx, tx, `INSERT INTO order_event (id, type, order_id, at, body) VALUES ($1, $2, $3, $4, $5)`,
		e.ID, string(e.Type), e.OrderID, row.Millis(e.At), string(e.Body))
	return err
}

// Event implements order.Store.
func (s *Store) Event(ctx context.Context, id string) (*order.Event, error) {
	e := &order.Event{}
	var at int64
	var body string
	err := s.db.Reader().QueryRowContext(ctx, `SELECT id, type, order_id, at, body FROM order_event WHERE id = $1`,
		id).Scan(&e.ID, &e.Type, &e.OrderID, &at, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.New(problem.NotFound, "event_not_found", "No such event.")
	}
	if err != nil {
		return nil, fmt.Errorf("reading an event: %w", err)
	}
	e.At, e.Body = row.Time(at), []byte(body)
	return e, nil
}

// Deliveries implements order.Store.
func (s *Store) Deliveries(ctx context.Context, orderID string) ([]order.Delivery, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT d.event_id, d.sink, d.state, d.attempts, d.last_error, d.delivered_at
		FROM order_delivery d JOIN order_event e ON e.id = d.event_id WHERE e.order_id = $1 ORDER BY e.at, e.id,
		d.sink`, orderID)
	return row.Collect(rows, err, func(from row.Scanner) (order.Delivery, error) {
		var d order.Delivery
		var at int64
		if err := from.Scan(&d.EventID, &d.Sink, &d.State, &d.Attempts, &d.LastError, &at); err != nil {
			return d, fmt.Errorf("reading a delivery: %w", err)
		}
		d.DeliveredAt = row.Time(at)
		return d, nil
	})
}

// RecordDelivery implements order.Store.
func (s *Store) RecordDelivery(ctx context.Context, d order.Delivery) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(
			ctx,
			tx,
			`INSERT INTO order_delivery (event_id, sink, state, attempts, last_error, delivered_at) VALUES ($1, $2,
				$3, $4, $5, $6)
			ON CONFLICT (event_id, sink) DO UPDATE SET state = excluded.state, attempts = excluded.attempts,
			last_error = excluded.last_error,
				delivered_at = excluded.delivered_at`,
			d.EventID,
			d.Sink,
			string(d.State),
			d.Attempts,
			d.LastError,
			row.Millis(d.DeliveredAt),
		)
		return err
	})
}
