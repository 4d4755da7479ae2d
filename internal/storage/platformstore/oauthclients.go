package platformstore

import (
	"context"
	"database/sql"
	"fmt"

	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/storage/row"
)

const clientColumns = `account_id, app, issuer, client_id, box, broken, updated_at`

func scanClient(r row.Scanner) (*clients.Sealed, error) {
	c := &clients.Sealed{}
	var updated int64
	if err := r.Scan(&c.AccountID, &c.App, &c.Issuer, &c.ID, &c.Ciphertext, &c.Broken, &updated); err != nil {
		return nil, fmt.Errorf("reading an OAuth client: %w", err)
	}
	c.UpdatedAt = row.Time(updated)
	return c, nil
}

// KeepClient implements clients.Store.
func (s *Store) KeepClient(ctx context.Context, c *clients.Sealed, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `INSERT INTO oauth_client (`+clientColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (account_id, app, issuer) DO UPDATE SET client_id = excluded.client_id, box = excluded.box, `+
			`broken = excluded.broken, updated_at = excluded.updated_at`,
			c.AccountID, c.App, c.Issuer, c.ID, c.Ciphertext, c.Broken, row.Millis(c.UpdatedAt))
		if err != nil {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
}

// Client implements clients.Store.
func (s *Store) Client(ctx context.Context, accountID, appID, issuer string) (*clients.Sealed, error) {
	c, _, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+clientColumns+` FROM oauth_client WHERE account_id = $1 AND app = $2 AND issuer = $3`, accountID,
		appID, issuer), scanClient)
	return c, err
}

// Clients implements clients.Store.
func (s *Store) Clients(ctx context.Context, accountID string) ([]*clients.Sealed, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+clientColumns+` FROM oauth_client WHERE account_id = $1 ORDER BY app, issuer`, accountID)
	return row.Collect(rows, err, scanClient)
}

// BreakClient implements clients.Store.
func (s *Store) BreakClient(ctx context.Context, c *connection.Client) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx,
			`UPDATE oauth_client SET broken = $5 WHERE account_id = $1 AND app = $2 AND issuer = $3 AND client_id = $4`,
			c.AccountID, c.App, c.Issuer, c.ID, true)
		return err
	})
}

// DeleteClient implements clients.Store.
func (s *Store) DeleteClient(ctx context.Context, accountID, appID, issuer string,
	e audit.Entry,
) (found bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `DELETE FROM oauth_client WHERE account_id = $1 AND app = $2 AND issuer = $3`,
			accountID, appID, issuer)
		if found = n > 0; err != nil || !found {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	return found, err
}
