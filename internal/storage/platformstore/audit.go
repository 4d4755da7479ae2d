package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/platform/audit"
	"ace/internal/storage/row"
)

const auditColumns = `account_id, seq, at, actor, action, target, detail, hash`

func scanEntry(r row.Scanner) (audit.Entry, error) {
	var e audit.Entry
	var at int64
	var actor, detail string
	if err := r.Scan(&e.AccountID, &e.Seq, &at, &actor, &e.Action, &e.Target, &detail, &e.Hash); err != nil {
		return e, fmt.Errorf("reading an audit entry: %w", err)
	}
	e.At = row.Time(at)
	if err := row.FromJSON(actor, &e.Actor); err != nil {
		return e, err
	}
	return e, row.FromJSON(detail, &e.Detail)
}

// record appends an entry to the chain of its account, within the transaction
// of the change.
func record(ctx context.Context, tx *sql.Tx, e audit.Entry) error {
	last, _, err := row.One(tx.QueryRowContext(ctx,
		`SELECT `+auditColumns+` FROM audit_entry WHERE account_id = $1 ORDER BY seq DESC LIMIT 1`, e.AccountID),
		scanEntry)
	if err != nil {
		return err
	}
	e.At = e.At.UTC().Truncate(time.Millisecond)
	if e, err = e.Chained(last.Seq, last.Hash); err != nil {
		return err
	}
	actor, err := row.JSON(e.Actor)
	if err != nil {
		return err
	}
	detail, err := row.JSON(e.Detail)
	if err != nil {
		return err
	}
	_, err = row.Exec(
		ctx,
		tx,
		`INSERT INTO audit_entry (account_id, seq, at, actor, actor_id, action, target, detail, hash) VALUES ($1,
			$2, $3, $4, $5, $6, $7, $8, $9)`,
		e.AccountID,
		e.Seq,
		row.Millis(e.At),
		actor,
		e.Actor.ID,
		e.Action,
		e.Target,
		detail,
		e.Hash,
	)
	return err
}

// RecordAudit implements audit.Store.
func (s *Store) RecordAudit(ctx context.Context, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error { return record(ctx, tx, e) })
}

// auditWhere selects the entries of a query; its values are $1 to $4.
const auditWhere = `account_id = $1 AND (CAST($2 AS TEXT) = '' OR action = $2) AND (CAST($3 AS TEXT) = '' OR target
	= $3) AND (CAST($4 AS TEXT) = '' OR actor_id = $4)`

// AuditEntries implements audit.Store.
func (s *Store) AuditEntries(ctx context.Context, accountID string, q audit.Query) ([]audit.Entry, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+auditColumns+` FROM audit_entry
		WHERE `+auditWhere+` AND (CAST($5 AS BIGINT) = 0 OR seq < $5)
		ORDER BY seq DESC LIMIT $6`, accountID, q.Action, q.Target, q.ActorID, q.Before, q.Limit)
	return row.Collect(rows, err, scanEntry)
}

// CountAuditEntries implements audit.Store.
func (s *Store) CountAuditEntries(ctx context.Context, accountID string, q audit.Query) (n int, err error) {
	return n, s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM audit_entry WHERE `+auditWhere, accountID,
		q.Action, q.Target, q.ActorID).Scan(&n)
}
