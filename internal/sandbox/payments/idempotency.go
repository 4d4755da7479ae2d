package payments

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ace/internal/sandbox/object"
)

// KeyLife is how long an idempotency key is remembered.
const KeyLife = 24 * time.Hour

// Remembered is the response that an idempotency key stands for.
type Remembered struct {
	Status    int
	Body      string
	RequestID string
}

// Recall returns the stored response of the key, or nil for a new key. The
// same key with another fingerprint is an error of type TypeIdempotency.
func (v View) Recall(ctx context.Context, key, fingerprint string) (*Remembered, error) {
	var found string
	var created int64
	r := &Remembered{}
	err := v.q.QueryRowContext(ctx,
		`SELECT fingerprint, status, body, request_id, created_at FROM idempotency WHERE key = $1`, key).
		Scan(&found, &r.Status, &r.Body, &r.RequestID, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("recalling an idempotency key: %w", err)
	}
	if v.now.UnixMilli()-created >= KeyLife.Milliseconds() {
		return nil, nil
	}
	if found != fingerprint {
		return nil, &object.Error{
			Status: 400, Type: object.TypeIdempotency, Refused: true,
			Message: fmt.Sprintf(
				"Keys for idempotent requests can only be used with the same parameters they were first used with. "+
					"Try using a key other than '%s' if you meant to execute a different request.", key),
		}
	}
	return r, nil
}

// Remember stores the response of a key, in the transaction that made it.
func (tx *Tx) Remember(ctx context.Context, key, fingerprint string, r Remembered) error {
	now := tx.now.UnixMilli()
	if _, err := tx.tx.ExecContext(ctx, `DELETE FROM idempotency WHERE created_at <= $1`,
		now-KeyLife.Milliseconds()); err != nil {
		return fmt.Errorf("forgetting old idempotency keys: %w", err)
	}
	_, err := tx.tx.ExecContext(ctx, `INSERT INTO idempotency (key, fingerprint, status, body, request_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, key, fingerprint, r.Status, r.Body, r.RequestID, now)
	if err != nil {
		return fmt.Errorf("remembering an idempotency key: %w", err)
	}
	return nil
}

// indented is the JSON of the API: two spaces, as people read it.
func indented(v any) ([]byte, error) { return json.MarshalIndent(v, "", "  ") }
