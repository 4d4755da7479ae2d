package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/storage/row"
	"ace/internal/storefront/order"
)

const orderColumns = `id, checkout_id, token, status, reason, quote, paid, refunded, protocol, version, created_at,
	updated_at`

func scanOrder(from row.Scanner) (*order.Order, error) {
	o := &order.Order{}
	var quote, paid string
	var created, updated int64
	err := from.Scan(&o.ID, &o.CheckoutID, &o.Token, &o.Status, &o.Reason, &quote, &paid, &o.Refunded, &o.Protocol,
		&o.Version, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.New(problem.NotFound, "order_not_found", "No such order. List the orders to see their ids.")
	}
	if err != nil {
		return nil, fmt.Errorf("reading an order: %w", err)
	}
	o.CreatedAt, o.UpdatedAt = row.Time(created), row.Time(updated)
	return o, errors.Join(row.FromJSON(quote, &o.Quote), row.FromJSON(paid, &o.Paid))
}

func insertOrder(ctx context.Context, tx *sql.Tx, o *order.Order) error {
	quote, errQuote := row.JSON(o.Quote)
	paid, errPaid := row.JSON(o.Paid)
	if err := errors.Join(errQuote, errPaid); err != nil {
		return err
	}
	_, err := row.Exec(
		ctx,
		tx,
		`INSERT INTO store_order (id, checkout_id, token, status, reason, quote, paid, payment_ref, refunded,
			protocol, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $12)`,
		o.ID,
		o.CheckoutID,
		o.Token,
		string(o.Status),
		o.Reason,
		quote,
		paid,
		o.Paid.PaymentRef,
		o.Refunded,
		o.Protocol,
		row.Millis(o.CreatedAt),
		row.Millis(o.UpdatedAt),
	)
	return err
}

// Order implements order.Store.
func (s *Store) Order(ctx context.Context, id string) (*order.Order, error) {
	return scanOrder(s.db.Reader().QueryRowContext(ctx, `SELECT `+orderColumns+` FROM store_order WHERE id = $1`, id))
}

// OrderOf implements order.Store.
func (s *Store) OrderOf(ctx context.Context, checkoutID string) (*order.Order, error) {
	return scanOrder(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+orderColumns+` FROM store_order WHERE checkout_id = $1`, checkoutID))
}

// OrderByPayment implements order.Store.
func (s *Store) OrderByPayment(ctx context.Context, paymentRef string) (*order.Order, error) {
	return scanOrder(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+orderColumns+` FROM store_order WHERE payment_ref = $1 AND payment_ref <> ''`, paymentRef))
}

// Orders implements order.Store.
func (s *Store) Orders(ctx context.Context, f order.Filter, after string, limit int) ([]*order.Order, error) {
	query := `SELECT ` + orderColumns + ` FROM store_order WHERE 1 = 1`
	var args []any
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if len(f.Statuses) > 0 {
		var marks []string
		for _, status := range f.Statuses {
			marks = append(marks, arg(string(status)))
		}
		query += ` AND status IN (` + strings.Join(marks, ", ") + `)`
	}
	if after != "" {
		last, err := s.Order(ctx, after)
		if err != nil {
			return nil, err
		}
		at, at2, id := arg(row.Millis(last.CreatedAt)), arg(row.Millis(last.CreatedAt)), arg(after)
		query += ` AND (created_at < ` + at + ` OR (created_at = ` + at2 + ` AND id < ` + id + `))`
	}
	rows, err := s.db.Reader().QueryContext(ctx, query+` ORDER BY created_at DESC, id DESC LIMIT `+arg(limit), args...)
	return row.Collect(rows, err, scanOrder)
}

// SaveOrder implements order.Store.
func (s *Store) SaveOrder(ctx context.Context, c order.Change) error {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE store_order SET status = $3, refunded = $4, updated_at = $5, version = version + 1 WHERE id = $1
				AND version = $2`,
			c.Order.ID,
			c.Order.Version,
			string(c.Order.Status),
			c.Order.Refunded,
			row.Millis(c.Order.UpdatedAt),
		)
		if err != nil {
			return err
		}
		if n == 0 {
			return order.ErrVersion
		}
		if c.Refund != nil {
			if err := upsertRefund(ctx, tx, *c.Refund); err != nil {
				return err
			}
		}
		for _, event := range c.Events {
			if err := insertEvent(ctx, tx, event); err != nil {
				return err
			}
		}
		return s.schedule(ctx, tx, c.Schedule)
	})
	s.scheduled(err, c.Schedule)
	return err
}
