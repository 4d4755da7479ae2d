package row

import (
	"context"
	"database/sql"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
)

// Schedule adds jobs within the transaction of the change that makes them
// necessary, or pulls forward the ones that are there. Call lanes.Scheduled
// after the transaction. Times are taken relative to the clock of this process
// and stored by that of the database.
func Schedule(ctx context.Context, tx *sql.Tx, lanes *jobs.Lanes, js ...jobs.Job) error {
	for _, job := range js {
		_, err := Exec(ctx, tx,
			`INSERT INTO job (kind, ref, lane, run_at, ready_at, lease_until, tries, token, sequence, reason)
			VALUES ($1, $2, $3, `+sqldb.Now+` + $4, `+sqldb.Now+` + $4, 0, 0, 0, 0, '')
			ON CONFLICT (kind, ref) DO UPDATE SET lane = excluded.lane, sequence = job.sequence + 1,
				run_at = CASE WHEN job.run_at = 0 OR excluded.run_at < job.run_at THEN excluded.run_at ELSE `+
				`job.run_at END,
				ready_at = CASE WHEN job.lease_until > 0 THEN job.ready_at
					WHEN job.run_at = 0 OR excluded.run_at < job.run_at THEN excluded.run_at ELSE job.run_at END`,
			job.Kind, job.Ref, string(lanes.Of(job.Kind)), Delay(job.RunAt))
		if err != nil {
			return err
		}
	}
	return nil
}

// Delay returns how many milliseconds from now t is, for a time that is stored
// in the time of the database: negative in the past, 0 for the zero time.
func Delay(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return time.Until(t).Milliseconds()
}
