package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
)

// restored is the row that says that a database was restored, and of when its
// rows are.
const restored = "restored"

func hold(ctx context.Context, tx *sql.Tx, at time.Time) error {
	_, err := row.Exec(ctx, tx, `INSERT INTO watermark (name, at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET at = excluded.at`, restored, row.Millis(at))
	return err
}

// Held returns of when the rows of a restored database are, or the zero time. Until Resume, what would
// repeat what the world has seen is held: the database does not know what was
// delivered, refunded or renewed since.
func Held(ctx context.Context, db *sqldb.DB) (time.Time, error) {
	var at int64
	err := db.Reader().QueryRowContext(ctx, `SELECT at FROM watermark WHERE name = $1`, restored).Scan(&at)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("reading whether the database was restored: %w", err)
	}
	return row.Time(at), nil
}

// Resume ends what Held says. It does nothing if nothing is held.
func Resume(ctx context.Context, db *sqldb.DB) error {
	return db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `DELETE FROM watermark WHERE name = $1`, restored)
		return err
	})
}

// usedFor is how long a process counts as using a database after its last sign.
const usedFor = 2 * time.Minute

// InUse reports whether a server uses the database, or may.
func InUse(ctx context.Context, db *sqldb.DB) (used bool, err error) {
	err = db.Reader().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM keyset_replica WHERE seen_at > $1)`,
		row.Millis(time.Now().Add(-usedFor))).Scan(&used)
	if err != nil {
		return false, fmt.Errorf("reading who uses the database: %w", err)
	}
	return used, nil
}
