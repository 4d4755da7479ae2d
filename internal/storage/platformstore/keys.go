package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/storage/row"
)

const keyColumns = `id, account_id, name, prefix, last4, permissions, restrictions, approval, created_by,
	expires_at, created_at, last_used_at, revoked_at, client_name, client_host, audience, token_expires_at`

func scanKey(r row.Scanner) (*apikey.Key, error) {
	k, client := &apikey.Key{}, &apikey.Client{}
	var restrictions string
	var expires, created, used, revoked, tokenExpires int64
	err := r.Scan(&k.ID, &k.AccountID, &k.Name, &k.Prefix, &k.Last4, &k.Permissions, &restrictions, &k.Approval,
		&k.CreatedBy, &expires, &created, &used, &revoked, &client.Name, &client.Host, &client.Audience, &tokenExpires)
	if err != nil {
		return nil, fmt.Errorf("reading an API key: %w", err)
	}
	if client.Audience != "" {
		client.TokenExpires = row.Time(tokenExpires)
		k.Client = client
	}
	k.ExpiresAt, k.CreatedAt, k.LastUsedAt, k.RevokedAt = row.Time(expires), row.Time(created), row.Time(
		used), row.Time(revoked)
	return k, row.FromJSON(restrictions, &k.Restrict)
}

// InsertKey implements apikey.Store.
func (s *Store) InsertKey(ctx context.Context, k *apikey.Key, digest string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error { return insertKey(ctx, tx, k, digest, e) })
}

func insertKey(ctx context.Context, tx *sql.Tx, k *apikey.Key, digest string, e audit.Entry) error {
	restrictions, err := row.JSON(k.Restrict)
	if err != nil {
		return err
	}
	client := apikey.Client{}
	if k.Client != nil {
		client = *k.Client
	}
	_, err = row.Exec(ctx, tx,
		`INSERT INTO api_key (digest, `+keyColumns+
			`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		digest, k.ID, k.AccountID, k.Name, k.Prefix, k.Last4, int64(k.Permissions), restrictions,
		string(k.Approval), k.CreatedBy,
		row.Millis(k.ExpiresAt), row.Millis(k.CreatedAt), row.Millis(k.LastUsedAt), row.Millis(k.RevokedAt),
		client.Name, client.Host, client.Audience, row.Millis(client.TokenExpires))
	if err != nil {
		return err
	}
	return record(ctx, tx, e)
}

// KeyByDigest implements apikey.Store.
func (s *Store) KeyByDigest(ctx context.Context, digest string) (*apikey.Key, error) {
	k, err := s.keysByDigest.Get(s.db, digest, func() (*apikey.Key, bool, error) {
		return row.One(s.db.Reader().QueryRowContext(s.db.Brief(ctx),
			`SELECT `+keyColumns+` FROM api_key WHERE digest = $1
			AND EXISTS (SELECT 1 FROM account WHERE account.id = account_id AND disabled_at = 0)`, digest), scanKey)
	})
	if k == nil || err != nil {
		return nil, err
	}
	own := *k
	return &own, nil
}

// Keys implements apikey.Store.
func (s *Store) Keys(ctx context.Context, accountID string) ([]*apikey.Key, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+keyColumns+` FROM api_key WHERE account_id = $1 ORDER BY created_at DESC, id`, accountID)
	return row.Collect(rows, err, scanKey)
}

// Key implements apikey.Store.
func (s *Store) Key(ctx context.Context, accountID, id string) (*apikey.Key, error) {
	k, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+keyColumns+` FROM api_key WHERE account_id = $1 AND id = $2`, accountID, id), scanKey)
	if err == nil && !found {
		err = problem.New(problem.NotFound, "api_key_not_found", "This account has no key with this id.")
	}
	return k, err
}

// ReplaceKey implements apikey.Store.
func (s *Store) ReplaceKey(ctx context.Context, k *apikey.Key, e audit.Entry) error {
	restrictions, err := row.JSON(k.Restrict)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE api_key SET name = $3, permissions = $4, restrictions = $5, approval = $6, expires_at = $7,
				revoked_at = $8
			WHERE account_id = $1 AND id = $2 AND revoked_at = 0`,
			k.AccountID,
			k.ID,
			k.Name,
			int64(k.Permissions),
			restrictions,
			string(k.Approval),
			row.Millis(k.ExpiresAt),
			row.Millis(k.RevokedAt),
		)
		if err != nil {
			return err
		}
		if n == 0 {
			return problem.New(problem.Conflict, "key_revoked", "This key has expired. Create a new one.")
		}
		return record(ctx, tx, e)
	})
}

// TouchKeys implements apikey.Store.
func (s *Store) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for id, at := range used {
			if _, err := row.Exec(ctx, tx, `UPDATE api_key SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2`,
				id, row.Millis(at)); err != nil {
				return err
			}
		}
		return nil
	})
}
