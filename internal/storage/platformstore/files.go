package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/tool/file"
	"ace/internal/storage/row"
)

const fileColumns = `id, account_id, end_user, name, media_type, size, sha256, created_at, expires_at`

func scanFile(r row.Scanner) (*file.Info, error) {
	f := &file.Info{}
	var created, expires int64
	if err := r.Scan(&f.ID, &f.AccountID, &f.EndUser, &f.Name, &f.MediaType, &f.Size, &f.SHA256, &created,
		&expires); err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	f.CreatedAt, f.ExpiresAt = row.Time(created), row.Time(expires)
	return f, nil
}

// InsertFile implements file.Store.
func (s Runs) InsertFile(ctx context.Context, f *file.Info, pieces []string, quota int64) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		var used int64
		if err := tx.QueryRowContext(ctx,
			`SELECT COALESCE(SUM(size), 0) FROM tool_file WHERE account_id = $1 AND expires_at > $2`, f.AccountID,
			row.Millis(f.CreatedAt)).Scan(&used); err != nil {
			return fmt.Errorf("counting the files of an account: %w", err)
		}
		if used+f.Size > quota {
			return problem.New(problem.Conflict, "file_quota_reached",
				"This account has no room for more files. They are kept for 24 hours; try again later.").Advise(
				"retry_later")
		}
		if _, err := row.Exec(ctx,
			tx, `INSERT INTO tool_file (`+fileColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			f.ID, f.AccountID, f.EndUser, f.Name, f.MediaType, f.Size, f.SHA256, row.Millis(f.CreatedAt),
			row.Millis(f.ExpiresAt)); err != nil {
			return err
		}
		for i, piece := range pieces {
			if _, err := row.Exec(ctx, tx, `INSERT INTO tool_file_piece (file_id, number, piece) VALUES ($1, $2, $3)`,
				f.ID, int64(i), piece); err != nil {
				return err
			}
		}
		return nil
	})
}

// File implements file.Store.
func (s Runs) File(ctx context.Context, accountID, id string, now time.Time) (*file.Info, error) {
	return s.file(ctx, `id = $1 AND expires_at > $2 AND account_id = $3`, id, row.Millis(now), accountID)
}

// FileByID implements file.Store.
func (s Runs) FileByID(ctx context.Context, id string, now time.Time) (*file.Info, error) {
	return s.file(ctx, `id = $1 AND expires_at > $2`, id, row.Millis(now))
}

func (s Runs) file(ctx context.Context, where string, args ...any) (*file.Info, error) {
	f, found, err := row.One(s.db.Reader().QueryRowContext(ctx, `SELECT `+fileColumns+` FROM tool_file WHERE `+where,
		args...), scanFile)
	if err == nil && !found {
		err = file.NotFound()
	}
	return f, err
}

// Pieces implements file.Store.
func (s Runs) Pieces(ctx context.Context, id string) ([]string, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT piece FROM tool_file_piece WHERE file_id = $1 ORDER BY number`,
		id)
	return row.Collect(rows, err, func(r row.Scanner) (piece string, err error) {
		if err := r.Scan(&piece); err != nil {
			return "", fmt.Errorf("reading a piece of a file: %w", err)
		}
		return piece, nil
	})
}
