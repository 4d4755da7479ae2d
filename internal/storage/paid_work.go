package storage

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/retention"
	"ace/internal/storage/row"
	"ace/internal/storefront/paidservice"
)

const paidFileColumns = `name, media_type, data`

func scanPaidFile(from row.Scanner) (paidservice.File, error) {
	var f paidservice.File
	var data string
	if err := from.Scan(&f.Name, &f.MediaType, &data); err != nil {
		return f, fmt.Errorf("reading a file of a work: %w", err)
	}
	var err error
	if f.Data, err = base64.StdEncoding.DecodeString(data); err != nil {
		return f, fmt.Errorf("decoding a file of a work: %w", err)
	}
	return f, nil
}

func insertWork(ctx context.Context, tx *sql.Tx, id string, w *paidservice.Work, at time.Time) error {
	if _, err := row.Exec(ctx, tx, `INSERT INTO paid_result (id, report, created_at) VALUES ($1, $2, $3)`,
		id, string(w.Report), row.Millis(at)); err != nil {
		return err
	}
	for i, f := range w.Files {
		if _, err := row.Exec(ctx,
			tx, `INSERT INTO paid_file (result_id, position, name, media_type, data) VALUES ($1, $2, $3, $4, $5)`,
			id, i, f.Name, f.MediaType, base64.StdEncoding.EncodeToString(f.Data)); err != nil {
			return err
		}
	}
	return nil
}

// Work implements paidservice.Results.
func (s Paid) Work(ctx context.Context, id string) (*paidservice.Work, error) {
	var w paidservice.Work
	var report string
	err := s.db.Reader().QueryRowContext(ctx, `SELECT report FROM paid_result WHERE id = $1`, id).Scan(&report)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errWorkGone()
	}
	if err != nil {
		return nil, fmt.Errorf("reading a work: %w", err)
	}
	w.Report = []byte(report)
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+paidFileColumns+` FROM paid_file WHERE result_id = $1 ORDER BY position`, id)
	if w.Files, err = row.Collect(rows, err, scanPaidFile); err != nil {
		return nil, err
	}
	return &w, nil
}

// File implements paidservice.Results.
func (s Paid) File(ctx context.Context, id, name string) (*paidservice.File, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+paidFileColumns+` FROM paid_file WHERE result_id = $1 AND name = $2`, id, name)
	files, err := row.Collect(rows, err, scanPaidFile)
	if err != nil {
		return nil, err
	}
	if len(files) == 1 {
		return &files[0], nil
	}
	var count int
	if err := s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM paid_result WHERE id = $1`,
		id).Scan(&count); err != nil {
		return nil, fmt.Errorf("looking for a work: %w", err)
	}
	if count == 0 {
		return nil, errWorkGone()
	}
	return nil, problem.New(problem.NotFound, "service_file_not_found",
		"The order has no file of this name. Read the order for its files.")
}

func errWorkGone() error {
	return problem.New(problem.Gone, "service_result_expired",
		"The result of this order is no longer kept. Results are kept for 30 days after they were paid.")
}

// Prices implements paidservice.Prices.
func (s Paid) Prices(ctx context.Context, service string) ([]paidservice.Price, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT service, version, terms, since FROM paid_price WHERE service = $1 ORDER BY version DESC LIMIT 20`,
		service)
	return row.Collect(rows, err, func(from row.Scanner) (paidservice.Price, error) {
		var p paidservice.Price
		var terms string
		var since int64
		if err := from.Scan(&p.Service, &p.Version, &terms, &since); err != nil {
			return p, fmt.Errorf("reading a price: %w", err)
		}
		p.Since = row.Time(since)
		return p, row.FromJSON(terms, &p.Terms)
	})
}

// AddPrice implements paidservice.Prices.
func (s Paid) AddPrice(ctx context.Context, p paidservice.Price) error {
	terms, err := row.JSON(p.Terms)
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `INSERT INTO paid_price (service, version, terms, since) VALUES ($1, $2, $3, $4)`,
			p.Service, p.Version, terms, row.Millis(p.Since))
		return err
	})
	if sqldb.UniqueViolation(err) {
		return paidservice.ErrExists
	}
	return err
}

// Orders implements paidservice.Ledger.
func (s Paid) Orders(ctx context.Context, f paidservice.Filter, before string,
	limit int,
) ([]*paidservice.Order, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+paidColumns+` FROM paid_order o
		WHERE (NOT $1 OR o.attention <> '') AND ($2 = '' OR o.state = $2)
			AND ($3 = '' OR EXISTS (SELECT 1 FROM paid_order b WHERE b.id = $3 AND (o.created_at < b.created_at OR
			o.created_at = b.created_at AND o.id < b.id)))
		ORDER BY o.created_at DESC, o.id DESC LIMIT $4`, f.Attention, string(f.State), before, limit)
	return row.Collect(rows, err, scanPaid)
}

// Moves implements paidservice.Ledger.
func (s Paid) Moves(ctx context.Context, orderID string) ([]paidservice.Move, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT version, at, evidence, before, after FROM paid_move WHERE order_id = $1 ORDER BY version`, orderID)
	return row.Collect(rows, err, func(from row.Scanner) (paidservice.Move, error) {
		var m paidservice.Move
		var at int64
		if err := from.Scan(&m.Version, &at, &m.Evidence, &m.Before, &m.After); err != nil {
			return m, fmt.Errorf("reading a move: %w", err)
		}
		m.At = row.Time(at)
		return m, nil
	})
}

// Retention says how long what is kept.
const (
	keepPaid   = 30 * 24 * time.Hour // from when it was paid
	keepUnpaid = 24 * time.Hour      // from when it was sealed
	// payloadsDie a little after the token stops taking them.
	payloadsDie = 15 * time.Minute
)

// Prune deletes work that is past its time, payments that can no longer be
// spent, and orders whose payment was never valid. All other orders
// stay, as the ledger. more says that there is more to do: call it again soon.
func (s Paid) Prune(ctx context.Context) (more bool, err error) {
	now := time.Now()
	settledAfter := strconv.FormatInt(row.Millis(now.Add(-keepPaid)), 10)
	return retention.Run(ctx, s.db,
		retention.Rule{
			Name: "paid_result", Table: "paid_result", Age: "created_at", Key: "id",
			Before: row.Millis(now.Add(-keepUnpaid)),
			// An order of it is or may still be paid within its time.
			Stay: `EXISTS (SELECT 1 FROM paid_order o WHERE o.result_id <> '' AND o.result_id = paid_result.id
				AND (o.state IN ('settling', 'unknown', 'reorged') OR o.settled_at >= ` + settledAfter + `))`,
		},
		retention.Rule{
			Name: "paid_payload", Table: "paid_order", Age: "valid_before", Key: "id",
			Before: now.Add(-payloadsDie).Unix(),
			Among:  `payload <> ''`,
			Stay:   `state NOT IN ('released', 'unpaid', 'final', 'loss')`,
			Set:    `payload = ''`,
		},
		// Nothing was done for these orders and nothing can be done for them any
		// more: anybody can make them with signatures of empty accounts.
		retention.Rule{
			Name:   "paid_idle",
			Table:  "paid_order",
			Age:    "valid_before",
			Key:    "id",
			Before: now.Add(-keepUnpaid).Unix(),
			Among:  `state = 'released' AND run_attempts = 0 AND result_id = ''`,
			Stay: `EXISTS (SELECT 1 FROM paid_order s WHERE s.superseded_by <> '' AND s.superseded_by = ` +
				`paid_order.id)`,
			First: func(ctx context.Context, tx *sql.Tx, where string, args []any) error {
				for _, table := range []string{"paid_alias", "paid_move"} {
					if _, err := row.Exec(ctx, tx, `DELETE FROM `+table+
						` WHERE order_id IN (SELECT id FROM paid_order WHERE `+where+`)`, args...); err != nil {
						return err
					}
				}
				return nil
			},
		})
}

// Reclaim ends the leases on orders. Call it when a process starts that has
// the database to itself: every holder is gone.
func (s Paid) Reclaim(ctx context.Context) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(
			ctx,
			tx,
			`UPDATE paid_order SET lease_until = 0 WHERE lease_until > 0 AND state IN ('reserved', 'running',
				'settling')`,
		)
		return err
	})
}
