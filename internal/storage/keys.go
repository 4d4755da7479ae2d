package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ace/internal/storage/row"
)

// SigningKey returns the sealed key that is kept under a name. The first call
// stores what create returns; of replicas that start at the same time one is
// first, and all return its key. create may run for nothing, and more than once.
func (s *Store) SigningKey(ctx context.Context, name string, create func() ([]byte, error)) ([]byte, error) {
	const read = `SELECT sealed FROM signing_key WHERE name = $1`
	stored, err := scanKey(s.db.Reader().QueryRowContext(ctx, read, name))
	if stored != nil || err != nil {
		return stored, err
	}
	made, err := create()
	if err != nil {
		return nil, fmt.Errorf("making the signing key %s: %w", name, err)
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx,
			tx, `INSERT INTO signing_key (name, sealed) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name,
			string(made)); err != nil {
			return err
		}
		stored, err = scanKey(tx.QueryRowContext(ctx, read, name))
		return err
	})
	return stored, err
}

// scanKey returns nil where there is none.
func scanKey(from row.Scanner) ([]byte, error) {
	var sealed string
	err := from.Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a signing key: %w", err)
	}
	return []byte(sealed), nil
}
