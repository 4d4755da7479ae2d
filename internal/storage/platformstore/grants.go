package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"ace/internal/platform/audit"
	"ace/internal/platform/authserver"
	"ace/internal/storage/row"
)

// Grants is the part of the store that MCP clients sign in with.
type Grants struct{ *Store }

// InsertCode implements authserver.Store.
func (s Grants) InsertCode(ctx context.Context, digest string, c *authserver.Consent, now, expires time.Time) error {
	consent, err := row.JSON(c)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `DELETE FROM grant_code WHERE digest IN (
				SELECT digest FROM grant_code WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`,
			row.Millis(now), oldAtOnce); err != nil {
			return err
		}
		_, err := row.Exec(ctx, tx,
			`INSERT INTO grant_code (digest, consent, key_id, expires_at) VALUES ($1, $2, '', $3)`,
			digest, consent, row.Millis(expires))
		return err
	})
}

// TakeCode implements authserver.Store.
func (s Grants) TakeCode(ctx context.Context, digest, keyID string, now, notice time.Time) (
	c *authserver.Consent, usedFor string, err error,
) {
	read := func(r row.Scanner) (text string, err error) { return text, r.Scan(&text, &usedFor) }
	var text string
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		c, usedFor = nil, ""
		var found bool
		text, found, err = row.One(tx.QueryRowContext(ctx,
			`DELETE FROM grant_code WHERE digest = $1 AND expires_at > $2 AND key_id <> '' RETURNING consent, key_id`,
			digest, row.Millis(now)), read)
		if err == nil && !found {
			text, found, err = row.One(tx.QueryRowContext(ctx,
				`UPDATE grant_code SET key_id = $3, expires_at = $4
				WHERE digest = $1 AND expires_at > $2 AND key_id = '' RETURNING consent, ''`,
				digest, row.Millis(now), keyID, row.Millis(notice)), read)
		}
		if err != nil || !found {
			return err
		}
		c = &authserver.Consent{}
		return row.FromJSON(text, c)
	})
	if err != nil {
		return nil, "", err
	}
	return c, usedFor, nil
}

// InsertGrant implements authserver.Store.
func (s Grants) InsertGrant(ctx context.Context, code string, g *authserver.Grant, access string,
	e audit.Entry,
) (stored bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		stored = false
		n, err := row.Exec(ctx, tx, `UPDATE grant_code SET key_id = key_id WHERE digest = $1 AND key_id = $2`,
			code, g.Key.ID)
		if err != nil || n == 0 {
			return err
		}
		if err := insertKey(ctx, tx, g.Key, access, e); err != nil {
			return err
		}
		stored = true
		_, err = row.Exec(ctx, tx, `INSERT INTO key_grant (key_id, client_id, refresh, previous, rotated_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6)`,
			g.Key.ID, g.ClientID, g.Refresh, g.Previous, row.Millis(g.RotatedAt), row.Millis(g.ExpiresAt))
		return err
	})
	return stored && err == nil, err
}

// selectGrant reads grants with their keys.
func selectGrant() string {
	return `SELECT api_key.` + strings.Join(strings.Fields(strings.ReplaceAll(keyColumns, ",", " ")), `, api_key.`) +
		`, key_grant.client_id, key_grant.refresh, key_grant.previous, key_grant.rotated_at, key_grant.expires_at
	FROM key_grant JOIN api_key ON api_key.id = key_grant.key_id
	JOIN account ON account.id = api_key.account_id AND account.disabled_at = 0`
}

// Grant implements authserver.Store.
func (s Grants) Grant(ctx context.Context, keyID string) (*authserver.Grant, error) {
	g, _, err := row.One(s.db.Reader().QueryRowContext(ctx, selectGrant()+` WHERE key_grant.key_id = $1`, keyID),
		scanGrant)
	return g, err
}

// GrantByAccess implements authserver.Store.
func (s Grants) GrantByAccess(ctx context.Context, digest string) (*authserver.Grant, error) {
	g, _, err := row.One(s.db.Reader().QueryRowContext(ctx, selectGrant()+` WHERE api_key.digest = $1`, digest),
		scanGrant)
	return g, err
}

// behind scans the columns that follow those of a key.
type behind struct {
	row.Scanner
	more []any
}

func (b behind) Scan(fields ...any) error { return b.Scanner.Scan(append(fields, b.more...)...) }

func scanGrant(r row.Scanner) (*authserver.Grant, error) {
	g := &authserver.Grant{}
	var rotated, expires int64
	var err error
	g.Key, err = scanKey(behind{r, []any{&g.ClientID, &g.Refresh, &g.Previous, &rotated, &expires}})
	if err != nil {
		return nil, fmt.Errorf("reading a grant: %w", err)
	}
	g.RotatedAt, g.ExpiresAt = row.Time(rotated), row.Time(expires)
	return g, nil
}

// Rotate implements authserver.Store.
func (s Grants) Rotate(ctx context.Context, r *authserver.Rotation) (rotated bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `UPDATE key_grant SET refresh = $3, previous = $2, rotated_at = $4, expires_at = $5
			WHERE key_id = $1 AND refresh = $2 AND expires_at > $4
				AND EXISTS (SELECT 1 FROM api_key WHERE api_key.id = key_id AND revoked_at = 0)`,
			r.KeyID, r.From, r.To, row.Millis(r.At), row.Millis(r.ExpiresAt))
		if rotated = n > 0; err != nil || !rotated {
			return err
		}
		_, err = row.Exec(ctx, tx,
			`UPDATE api_key SET digest = $2, prefix = $3, last4 = $4, token_expires_at = $5 WHERE id = $1`,
			r.KeyID, r.Access, r.Prefix, r.Last4, row.Millis(r.TokenExpires))
		return err
	})
	return rotated && err == nil, err
}
