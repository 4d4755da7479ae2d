package storage

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/storage/row"
)

const jobColumns = `kind, ref, run_at, tries, token, sequence`

func scanJob(r row.Scanner) (jobs.Job, error) {
	var job jobs.Job
	var runAt int64
	if err := r.Scan(&job.Kind, &job.Ref, &runAt, &job.Tries, &job.Token, &job.Sequence); err != nil {
		return jobs.Job{}, fmt.Errorf("reading a job: %w", err)
	}
	job.RunAt = row.Time(runAt)
	return job, nil
}

// schedule adds jobs, or pulls forward the ones that are there.
func schedule(ctx context.Context, tx *sql.Tx, js []jobs.Job) error {
	return row.Schedule(ctx, tx, js...)
}

func unschedule(ctx context.Context, tx *sql.Tx, js []jobs.Job) error {
	for _, job := range js {
		if _, err := row.Exec(ctx, tx, `DELETE FROM job WHERE kind = $1 AND ref = $2`, job.Kind, job.Ref); err != nil {
			return err
		}
	}
	return nil
}

// Schedule adds jobs that go with no other change.
func (s *Store) Schedule(ctx context.Context, js ...jobs.Job) error {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error { return schedule(ctx, tx, js) })
	s.tell(err, js)
	return err
}

// soon is the time within which a worker looks at the queue by itself.
const soon = time.Second

// tell wakes the worker if one of the jobs is due before it would look.
func (s *Store) tell(err error, js []jobs.Job) {
	if err == nil && slices.ContainsFunc(js, func(j jobs.Job) bool { return time.Until(j.RunAt) < soon }) {
		s.scheduled()
	}
}

// Claim implements jobs.Queue.
func (s *Store) Claim(ctx context.Context, limit int, lease time.Duration) ([]jobs.Job, error) {
	now := time.Now()
	// Most looks find nothing: they must not wait for, or hold up, a writer.
	if due, err := s.anyDue(ctx, now); err != nil || !due {
		return nil, err
	}
	var claimed []jobs.Job
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+jobColumns+` FROM job WHERE run_at > 0 AND run_at <= $1 AND lease_until <= $1 ORDER BY run_at, kind, ref LIMIT $2`,
			row.Millis(now), limit)
		if claimed, err = row.Collect(rows, err, scanJob); err != nil {
			return err
		}
		for i := range claimed {
			claimed[i].Token++
			if _, err := row.Exec(ctx, tx, `UPDATE job SET lease_until = $3, token = $4 WHERE kind = $1 AND ref = $2`,
				claimed[i].Kind, claimed[i].Ref, row.Millis(now.Add(lease)), claimed[i].Token); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

func (s *Store) anyDue(ctx context.Context, now time.Time) (bool, error) {
	var n int
	err := s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM job WHERE run_at > 0 AND run_at <= $1 AND lease_until <= $1 LIMIT 1) AS due`, row.Millis(now)).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("looking for jobs that are due: %w", err)
	}
	return n > 0, nil
}

// Finish implements jobs.Queue.
func (s *Store) Finish(ctx context.Context, job jobs.Job) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `DELETE FROM job WHERE kind = $1 AND ref = $2 AND token = $3 AND sequence = $4`,
			job.Kind, job.Ref, job.Token, job.Sequence); err != nil {
			return err
		}
		_, err := row.Exec(ctx, tx, `UPDATE job SET lease_until = 0, tries = 0 WHERE kind = $1 AND ref = $2 AND token = $3`, job.Kind, job.Ref, job.Token)
		return err
	})
}

// Postpone implements jobs.Queue.
func (s *Store) Postpone(ctx context.Context, job jobs.Job, reason string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `UPDATE job SET lease_until = 0, tries = $4, reason = $5, run_at = CASE WHEN sequence = $6 THEN $7 ELSE run_at END
			WHERE kind = $1 AND ref = $2 AND token = $3`, job.Kind, job.Ref, job.Token, job.Tries, reason, job.Sequence, row.Millis(job.RunAt))
		return err
	})
}

// NextDue implements jobs.Queue.
func (s *Store) NextDue(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := s.db.Reader().QueryRowContext(ctx, `SELECT MIN(CASE WHEN lease_until > run_at THEN lease_until ELSE run_at END) FROM job WHERE run_at > 0`).Scan(&at)
	if err != nil {
		return time.Time{}, fmt.Errorf("looking for the next job: %w", err)
	}
	return row.Time(at.Int64), nil
}

// Reclaim ends every lease. Call it when a process starts that has the database
// to itself: whoever held a lease is gone, and nobody need wait for it to run
// out.
func (s *Store) Reclaim(ctx context.Context) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `UPDATE job SET lease_until = 0 WHERE lease_until > 0`); err != nil {
			return err
		}
		_, err := row.Exec(ctx, tx, `UPDATE idempotency SET lease_until = 0 WHERE status = 0`)
		return err
	})
}

// ParkedJobs answers the jobs that were given up, for the operator.
func (s *Store) ParkedJobs(ctx context.Context) ([]jobs.Job, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+jobColumns+` FROM job WHERE run_at = 0 ORDER BY kind, ref`)
	return row.Collect(rows, err, scanJob)
}
