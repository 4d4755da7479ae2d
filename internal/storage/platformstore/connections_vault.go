package platformstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/trigger"
	"ace/internal/storage/row"
)

// KeepGrant implements connection.Vault.
func (s Connections) KeepGrant(ctx context.Context, c *connection.Connection, secret string,
	session *connection.Session, e audit.Entry,
) (saved bool, err error) {
	params, identity, scopes, search, err := connectionTexts(c)
	if err != nil {
		return false, err
	}
	var version int64
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		saved, version = false, 0
		if ok, err := s.saveSession(ctx, tx, session); err != nil || !ok {
			return err
		}
		var found bool
		version, found, err = row.One(tx.QueryRowContext(ctx,
			`INSERT INTO connection (`+connectionColumns+
				`, search, deleted_at, secret, lease_owner, lease_until, lease_seq)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $14, 1, $15, $16, $17, 0, 0, '', $18,
			0, $19, '', 0, 0)
			ON CONFLICT (id) DO UPDATE SET scheme = excluded.scheme, label = excluded.label, params =
			excluded.params, identity = excluded.identity, search = excluded.search,
				status = excluded.status, reason = excluded.reason, scopes = excluded.scopes, last_checked_at =
				excluded.last_checked_at, secret = excluded.secret,
				version = connection.version + 1, token_expires_at = excluded.token_expires_at, refreshed_at =
				excluded.refreshed_at, next_refresh_at = excluded.next_refresh_at,
				refresh_tried_at = 0, refresh_failed = 0, refresh_class = '', lease_owner = '', lease_until = 0,
				lease_seq = connection.lease_seq + 1
				WHERE connection.account_id = excluded.account_id AND connection.deleted_at = 0
			RETURNING version`,
			c.ID, c.AccountID, c.App, c.Scheme, c.Label, false, c.EndUser, params, identity, string(c.Status), c.Reason,
			scopes, row.Millis(c.CreatedAt), row.Millis(c.LastCheckedAt),
			row.Millis(c.TokenExpiresAt), row.Millis(c.RefreshedAt), row.Millis(c.NextRefreshAt), search, secret),
			func(r row.Scanner) (v int64, err error) { return v, r.Scan(&v) })
		if err != nil {
			return fmt.Errorf("keeping a connection: %w", err)
		}
		if !found { // deleted meanwhile: the session stays as it was
			return errMoved
		}
		saved = true
		if err := connectionReplaced(ctx, tx, c.ID); err != nil {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	switch {
	case errors.Is(err, errMoved):
		return false, nil
	case err != nil || !saved:
		return false, err
	}
	s.lanes.Wake(trigger.JobTend)
	c.Version = version
	session.Version++
	if session.Options.NotifyURL != "" {
		s.lanes.Wake(connection.JobNotify)
	}
	return true, nil
}

// Secret implements connection.Vault.
func (s Connections) Secret(ctx context.Context, accountID, id string) (*connection.Sealed, error) {
	sealed, found, err := row.One(s.db.Reader().QueryRowContext(s.db.Brief(ctx),
		`SELECT `+connectionColumns+`, secret FROM connection WHERE account_id = $1 AND id = $2 AND deleted_at = 0`,
		accountID, id), scanSealed)
	if err == nil && !found {
		err = connectionMissing()
	}
	return sealed, err
}

func scanSealed(r row.Scanner) (*connection.Sealed, error) {
	var c connectionRow
	sealed := &connection.Sealed{}
	if err := r.Scan(append(c.fields(), &sealed.Secret)...); err != nil {
		return nil, fmt.Errorf("reading a connection's secret: %w", err)
	}
	var err error
	sealed.Connection, err = c.complete()
	return sealed, err
}

// TakeLease implements connection.Vault.
func (s Connections) TakeLease(ctx context.Context, l connection.Lease) (*connection.Lease, error) {
	var taken *connection.Lease
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		taken = nil
		var before int64
		before, found, err := row.One(tx.QueryRowContext(ctx, `SELECT lease_until FROM connection
			WHERE account_id = $1 AND id = $2 AND version = $3 AND refresh_failed = $4 AND lease_until
			< `+sqldb.Now+` AND deleted_at = 0`,
			l.AccountID, l.ConnectionID, l.Version, int64(l.Failed)),
			func(r row.Scanner) (until int64, err error) { return until, r.Scan(&until) })
		if err != nil || !found {
			return err
		}
		seq, _, err := row.One(tx.QueryRowContext(ctx,
			`UPDATE connection SET lease_owner = $3, lease_until = `+sqldb.Now+` + $4, lease_seq = lease_seq + 1
			WHERE account_id = $1 AND id = $2 RETURNING lease_seq`, l.AccountID, l.ConnectionID, l.Owner,
			row.Delay(l.Until)),
			func(r row.Scanner) (seq int64, err error) { return seq, r.Scan(&seq) })
		if err != nil {
			return err
		}
		mine := l
		mine.Seq, mine.Crashed = seq, before > 0
		taken = &mine
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("taking a lease: %w", err)
	}
	return taken, nil
}

// KeepRefresh implements connection.Vault.
func (s Connections) KeepRefresh(ctx context.Context, c *connection.Connection, secret string, l *connection.Lease,
	e audit.Entry,
) (bool, error) {
	params, identity, scopes, search, err := connectionTexts(c)
	if err != nil {
		return false, err
	}
	saved, err := s.endLease(
		ctx,
		e,
		`UPDATE connection SET secret = $5, params = $6, identity = $7, scopes = $8, search = $9, token_expires_at =
			$10, refreshed_at = $11,
			next_refresh_at = $12, refresh_tried_at = 0, refresh_failed = 0, refresh_class = '', version = version +
			1, lease_owner = '', lease_until = 0,
			status = CASE WHEN status = $13 THEN status ELSE $14 END, reason = CASE WHEN status = $13 THEN reason
			ELSE $15 END
		WHERE account_id = $1 AND id = $2 AND version = $3 AND lease_seq = $4 AND deleted_at = 0`,
		l.AccountID,
		l.ConnectionID,
		l.Version,
		l.Seq,
		secret,
		params,
		identity,
		scopes,
		search,
		row.Millis(c.TokenExpiresAt),
		row.Millis(c.RefreshedAt),
		row.Millis(c.NextRefreshAt),
		string(connection.Disabled),
		string(c.Status),
		c.Reason,
	)
	if saved {
		c.Version = l.Version + 1
	}
	return saved, err
}

// EndLease implements connection.Vault.
func (s Connections) EndLease(ctx context.Context, c *connection.Connection, l *connection.Lease,
	e audit.Entry,
) (bool, error) {
	return s.endLease(
		ctx,
		e,
		`UPDATE connection SET next_refresh_at = $5, refresh_tried_at = $6, refresh_failed = $7, refresh_class = $8,
			lease_owner = '', lease_until = 0,
			status = CASE WHEN status = $9 THEN status ELSE $10 END, reason = CASE WHEN status = $9 THEN reason ELSE
			$11 END
		WHERE account_id = $1 AND id = $2 AND version = $3 AND lease_seq = $4 AND deleted_at = 0`,
		l.AccountID,
		l.ConnectionID,
		l.Version,
		l.Seq,
		row.Millis(c.NextRefreshAt),
		row.Millis(c.RefreshTriedAt),
		int64(c.RefreshFailed),
		string(c.RefreshClass),
		string(connection.Disabled),
		string(c.Status),
		c.Reason,
	)
}

// endLease writes under a lease; nothing is written where it was lost.
func (s Connections) endLease(ctx context.Context, e audit.Entry, statement string, args ...any,
) (saved bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		saved = false
		n, err := row.Exec(ctx, tx, statement, args...)
		if err != nil || n == 0 {
			return err
		}
		saved = true
		if e.Action != "" { // the status has changed
			if err := connectionChanged(ctx, tx, e.Target); err != nil {
				return err
			}
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	if err != nil || !saved {
		return false, err
	}
	return true, nil
}

// Discard implements connection.Vault.
func (s Connections) Discard(ctx context.Context, c *connection.Connection, secret string, e audit.Entry) error {
	snapshot, err := row.JSON(c)
	if err != nil {
		return err
	}
	var due []jobs.Job
	if secret != "" {
		due = []jobs.Job{{Kind: connection.JobFarewell, Ref: connection.JobRef(c.AccountID, c.ID), RunAt: e.At}}
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE connection SET status = $3, reason = '', is_default = $4, secret = '', params = '{}', `+
				`identity = '{}', search = '', deleted_at = $5,
				version = version + 1, next_refresh_at = 0, lease_until = 0, lease_seq = lease_seq + 1
			WHERE account_id = $1 AND id = $2 AND deleted_at = 0`,
			c.AccountID,
			c.ID,
			string(connection.Revoked),
			false,
			row.Millis(e.At),
		)
		if err != nil || n == 0 {
			return err
		}
		if secret != "" {
			if _, err := row.Exec(
				ctx,
				tx,
				`INSERT INTO farewell (connection_id, account_id, connection, secret, created_at) VALUES ($1, $2,
					$3, $4, $5)`,
				c.ID,
				c.AccountID,
				snapshot,
				secret,
				row.Millis(e.At),
			); err != nil {
				return err
			}
		}
		if err := connectionReplaced(ctx, tx, c.ID); err != nil {
			return err
		}
		return s.recordAll(ctx, tx, due, e)
	})
	if err == nil {
		s.lanes.Wake(trigger.JobTend)
		s.lanes.Scheduled(due...)
	}
	return err
}

// Farewell implements connection.Vault.
func (s Connections) Farewell(ctx context.Context, accountID, id string) (*connection.Sealed, error) {
	sealed, _, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT connection, secret FROM farewell WHERE account_id = $1 AND connection_id = $2`, accountID, id),
		func(r row.Scanner) (*connection.Sealed, error) {
			sealed := &connection.Sealed{Connection: &connection.Connection{}}
			var snapshot string
			if err := r.Scan(&snapshot, &sealed.Secret); err != nil {
				return nil, fmt.Errorf("reading the farewell of a connection: %w", err)
			}
			return sealed, row.FromJSON(snapshot, sealed.Connection)
		})
	return sealed, err
}

// EndFarewell implements connection.Vault.
func (s Connections) EndFarewell(ctx context.Context, accountID, id string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `DELETE FROM farewell WHERE account_id = $1 AND connection_id = $2`, accountID, id)
		if err != nil || n == 0 {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
}
