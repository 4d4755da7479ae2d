package row

import (
	"context"
	"database/sql"

	"ace/internal/foundation/jobs"
)

// Schedule adds jobs within the transaction of the change that makes them
// necessary, or pulls forward the ones that are there.
func Schedule(ctx context.Context, tx *sql.Tx, js ...jobs.Job) error {
	for _, job := range js {
		_, err := Exec(ctx, tx, `INSERT INTO job (kind, ref, run_at, lease_until, tries, token, sequence, reason) VALUES ($1, $2, $3, 0, 0, 0, 0, '')
			ON CONFLICT (kind, ref) DO UPDATE SET sequence = job.sequence + 1,
				run_at = CASE WHEN job.run_at = 0 OR excluded.run_at < job.run_at THEN excluded.run_at ELSE job.run_at END`,
			job.Kind, job.Ref, Millis(job.RunAt))
		if err != nil {
			return err
		}
	}
	return nil
}
