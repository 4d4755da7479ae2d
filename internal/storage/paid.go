package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
	"ace/internal/storefront/paidservice"
)

// Paid is the part of a Store that keeps orders of paid services, their work
// and their prices.
type Paid struct{ *Store }

const paidColumns = `o.id, o.service, o.price_version, o.network, o.asset, o.payer, o.nonce, o.pay_to, o.amount,
	o.valid_before, o.fingerprint,
	o.state, o.version, o.transport, o.arguments, o.payload, o.signature_sum, o.head, o.lease_owner, o.lease_until,
	o.stage, o.done, o.total,
	o.run_attempts, o.settle_attempts, o.doubt_at, o.result_id, o.result_sum, o.tx, o.settlement, o.reason,
	o.detail, o.attention, o.superseded_by,
	o.created_at, o.updated_at, o.sealed_at, o.settled_at, o.delivered_at, o.final_at`

func scanPaid(from row.Scanner) (*paidservice.Order, error) {
	var o paidservice.Order
	var arguments, settlement string
	var lease, doubt, created, updated, sealed, settled, delivered, final int64
	a := &o.Auth
	err := from.Scan(&o.ID, &o.Service, &o.PriceVersion, &a.Network, &a.Asset, &a.Payer, &a.Nonce, &a.PayTo, &a.Amount,
		&a.ValidBefore, &o.Fingerprint,
		&o.State, &o.Version, &o.Transport, &arguments, &o.Payload, &o.SignatureSum, &o.Head, &o.Lease.Owner, &lease,
		&o.Progress.Phase, &o.Progress.Done, &o.Progress.Total,
		&o.RunAttempts, &o.SettleAttempts, &doubt, &o.ResultID, &o.ResultSum, &o.Tx, &settlement, &o.Reason, &o.Detail,
		&o.Attention, &o.SupersededBy,
		&created, &updated, &sealed, &settled, &delivered, &final)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.New(problem.NotFound, "service_order_not_found",
			"No such order of a paid service. Ids are given by the answer to the paid call.")
	}
	if err != nil {
		return nil, fmt.Errorf("reading an order of a paid service: %w", err)
	}
	o.Arguments = []byte(arguments)
	if settlement != "" {
		o.Settlement = []byte(settlement)
	}
	o.Lease.Until, o.DoubtAt = row.Time(lease), row.Time(doubt)
	o.CreatedAt, o.UpdatedAt, o.SealedAt = row.Time(created), row.Time(updated), row.Time(sealed)
	o.SettledAt, o.DeliveredAt, o.FinalAt = row.Time(settled), row.Time(delivered), row.Time(final)
	return &o, nil
}

// paidValues are the columns that may change, in the order of insertPaid and
// updatePaid. A new binding may change what the order is for.
func paidValues(o *paidservice.Order) []any {
	return []any{
		o.ID, o.Service, o.PriceVersion, o.Auth.PayTo, o.Auth.Amount, o.Auth.ValidBefore, o.Fingerprint,
		string(o.State), o.Version, string(o.Transport),
		string(o.Arguments), o.Payload, o.SignatureSum, o.Head, o.Lease.Owner, row.Millis(o.Lease.Until),
		o.Progress.Phase, o.Progress.Done, o.Progress.Total,
		o.RunAttempts, o.SettleAttempts, row.Millis(o.DoubtAt), o.ResultID, o.ResultSum, o.Tx, string(o.Settlement),
		o.Reason, o.Detail, o.Attention, o.SupersededBy,
		row.Millis(o.UpdatedAt), row.Millis(o.SealedAt), row.Millis(o.SettledAt), row.Millis(o.DeliveredAt),
		row.Millis(o.FinalAt),
	}
}

func insertPaid(ctx context.Context, tx *sql.Tx, o *paidservice.Order) error {
	_, err := row.Exec(
		ctx,
		tx,
		`INSERT INTO paid_order (id, service, price_version, pay_to, amount, valid_before, fingerprint, state,
			version, transport,
			arguments, payload, signature_sum, head, lease_owner, lease_until, stage, done, total,
			run_attempts, settle_attempts, doubt_at, result_id, result_sum, tx, settlement, reason, detail,
			attention, superseded_by,
			updated_at, sealed_at, settled_at, delivered_at, final_at, network, asset, payer, nonce, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
		$23, $24, $25, $26, $27, $28, $29,
			$30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40)`,
		append(paidValues(o), o.Auth.Network, o.Auth.Asset, o.Auth.Payer, o.Auth.Nonce, row.Millis(o.CreatedAt))...)
	return err
}

func updatePaid(ctx context.Context, tx *sql.Tx, o *paidservice.Order) error {
	_, err := row.Exec(
		ctx,
		tx,
		`UPDATE paid_order SET service = $2, price_version = $3, pay_to = $4, amount = $5, valid_before = $6,
			fingerprint = $7, state = $8, version = $9,
		transport = $10, arguments = $11, payload = $12, signature_sum = $13, head = $14, lease_owner = $15,
		lease_until = $16, stage = $17, done = $18, total = $19,
		run_attempts = $20, settle_attempts = $21, doubt_at = $22, result_id = $23, result_sum = $24, tx = $25,
		settlement = $26, reason = $27, detail = $28,
		attention = $29, superseded_by = $30, updated_at = $31, sealed_at = $32, settled_at = $33, delivered_at =
		$34, final_at = $35 WHERE id = $1`,
		paidValues(o)...)
	return err
}

// Order implements paidservice.Store.
func (s Paid) Order(ctx context.Context, id string) (*paidservice.Order, error) {
	return scanPaid(s.db.Reader().QueryRowContext(ctx, `SELECT `+paidColumns+` FROM paid_order o WHERE o.id = $1`, id))
}

// Find implements paidservice.Store.
func (s Paid) Find(ctx context.Context, a paidservice.Authorization) (*paidservice.Order, error) {
	return scanPaid(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+paidColumns+
			` FROM paid_order o WHERE o.network = $1 AND o.asset = $2 AND o.payer = $3 AND o.nonce = $4`,
		a.Network, a.Asset, a.Payer, a.Nonce))
}

// Aliased implements paidservice.Store.
func (s Paid) Aliased(ctx context.Context, a paidservice.Alias) (*paidservice.Order, error) {
	return scanPaid(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+paidColumns+` FROM paid_alias a JOIN paid_order o ON o.id = a.order_id
		WHERE a.service = $1 AND a.payer = $2 AND a.kind = $3 AND a.value = $4`, a.Service, a.Payer, string(a.Kind),
		a.Value))
}

// SealedFor implements paidservice.Store.
func (s Paid) SealedFor(ctx context.Context, payer, fingerprint string, since time.Time) (*paidservice.Order, error) {
	return scanPaid(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+paidColumns+` FROM paid_order o WHERE o.payer = $1 AND o.fingerprint = $2 AND o.sealed_at >= $3
		AND o.result_id <> '' AND o.superseded_by = '' AND o.state IN ('ran', 'released', 'unpaid') ORDER BY
		o.sealed_at DESC LIMIT 1`,
		payer, fingerprint, row.Millis(since)))
}

// TxUsed implements paidservice.Store.
func (s Paid) TxUsed(ctx context.Context, network, tx, exceptID string) (bool, error) {
	var n int
	err := s.db.Reader().QueryRowContext(ctx,
		`SELECT COUNT(*) FROM paid_order WHERE tx = $1 AND network = $2 AND id <> $3
		AND state IN ('settled', 'delivered', 'final')`, tx, network, exceptID).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("looking for orders of a transaction: %w", err)
	}
	return n > 0, nil
}

// Insert implements paidservice.Store.
func (s Paid) Insert(ctx context.Context, c paidservice.Change, check func(paidservice.Holds) error) error {
	stored := *c.Order
	stored.Version = 1
	c.Order, c.From = &stored, ""
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		// A call that finds its own order there must learn that, not a limit.
		if err := insertPaid(ctx, tx, c.Order); err != nil {
			return err
		}
		if err := s.writePaid(ctx, tx, c); err != nil {
			return err
		}
		return checkPaidHolds(ctx, tx, c.Order, check)
	})
	if sqldb.UniqueViolation(err) {
		return paidservice.ErrExists
	}
	s.scheduled(err, c.Schedule)
	return err
}

// Save implements paidservice.Store.
func (s Paid) Save(ctx context.Context, c paidservice.Change, check func(paidservice.Holds) error) error {
	stored := *c.Order
	stored.Version++
	c.Order = &stored
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		var n int
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM paid_order WHERE id = $1 AND state = $2 AND version = $3`,
			stored.ID, string(c.From), stored.Version-1).Scan(&n)
		if err != nil {
			return fmt.Errorf("comparing the state of an order: %w", err)
		}
		if n == 0 {
			return paidservice.ErrVersion
		}
		if err := updatePaid(ctx, tx, c.Order); err != nil {
			return err
		}
		if err := s.writePaid(ctx, tx, c); err != nil {
			return err
		}
		return checkPaidHolds(ctx, tx, c.Order, check)
	})
	if sqldb.UniqueViolation(err) {
		return paidservice.ErrExists
	}
	s.scheduled(err, c.Schedule)
	return err
}

// writePaid writes what goes with an order: the audit trail, aliases, the
// order that it supersedes, the work and jobs.
func (s Paid) writePaid(ctx context.Context, tx *sql.Tx, c paidservice.Change) error {
	o := c.Order
	_, err := row.Exec(ctx,
		tx, `INSERT INTO paid_move (order_id, version, at, evidence, before, after) VALUES ($1, $2, $3, $4, $5, $6)`,
		o.ID, o.Version, row.Millis(o.UpdatedAt), c.Evidence, string(c.From), string(o.State))
	if err != nil {
		return err
	}
	if c.Supersede != nil {
		if err := supersedePaid(ctx, tx, c.Supersede, o); err != nil {
			return err
		}
	}
	for _, a := range c.Aliases {
		// An alias of the superseded order moves over; another order's is a collision.
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE paid_alias SET order_id = $5 WHERE service = $1 AND payer = $2 AND kind = $3 AND value = $4 AND
				order_id IN ($5, $6)`,
			a.Service,
			a.Payer,
			string(a.Kind),
			a.Value,
			o.ID,
			supersededID(c.Supersede),
		)
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		if _, err := row.Exec(ctx,
			tx, `INSERT INTO paid_alias (service, payer, kind, value, order_id) VALUES ($1, $2, $3, $4, $5)`,
			a.Service, a.Payer, string(a.Kind), a.Value, o.ID); err != nil {
			return err
		}
	}
	if c.Work != nil {
		if err := insertWork(ctx, tx, o.ResultID, c.Work, o.SealedAt); err != nil {
			return err
		}
	}
	return errors.Join(unschedule(ctx, tx, c.Unschedule), s.schedule(ctx, tx, c.Schedule))
}

func supersededID(o *paidservice.Order) string {
	if o == nil {
		return ""
	}
	return o.ID
}

// supersedePaid marks an order whose place another takes. It compares the
// version, so that the order cannot come alive meanwhile.
func supersedePaid(ctx context.Context, tx *sql.Tx, old, by *paidservice.Order) error {
	n, err := row.Exec(
		ctx,
		tx,
		`UPDATE paid_order SET superseded_by = $4, version = version + 1, updated_at = $5 WHERE id = $1 AND state =
			$2 AND version = $3`,
		old.ID,
		string(old.State),
		old.Version,
		by.ID,
		row.Millis(by.UpdatedAt),
	)
	if err != nil {
		return err
	}
	if n == 0 {
		return paidservice.ErrVersion
	}
	_, err = row.Exec(ctx,
		tx, `INSERT INTO paid_move (order_id, version, at, evidence, before, after) VALUES ($1, $2, $3, $4, $5, $5)`,
		old.ID, old.Version+1, row.Millis(by.UpdatedAt), "superseded", string(old.State))
	return err
}

func checkPaidHolds(ctx context.Context, tx *sql.Tx, o *paidservice.Order, check func(paidservice.Holds) error) error {
	if check == nil {
		return nil
	}
	var h paidservice.Holds
	err := tx.QueryRowContext(ctx,
		`SELECT COALESCE(SUM(CASE WHEN state IN ('reserved', 'running') THEN 1 ELSE 0 END), 0),
			COUNT(DISTINCT CASE WHEN result_id <> '' AND superseded_by = '' AND state IN ('ran', 'released',
			'unpaid') AND sealed_at >= $3 THEN result_id END)
		FROM paid_order WHERE payer = $1 AND id <> $2 AND created_at >= $3`,
		o.Auth.Payer, o.ID, row.Millis(o.UpdatedAt.Add(-24*time.Hour))).Scan(&h.Running, &h.Sealed)
	if err != nil {
		return fmt.Errorf("counting what a payer holds: %w", err)
	}
	return check(h)
}

// Beat implements paidservice.Store.
func (s Paid) Beat(ctx context.Context, id string, lease paidservice.Lease,
	p paidservice.Progress,
) (held bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE paid_order SET lease_until = $3, stage = $4, done = $5, total = $6 WHERE id = $1 AND lease_owner
				= $2 AND state = 'running'`,
			id,
			lease.Owner,
			row.Millis(lease.Until),
			p.Phase,
			p.Done,
			p.Total,
		)
		held = n > 0
		return err
	})
	return held, err
}
