package storage

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
)

const jobColumns = `kind, ref, run_at, tries, token, sequence, lease_until`

func scanJob(r row.Scanner) (jobs.Job, error) {
	var job jobs.Job
	var runAt, leaseUntil int64
	err := r.Scan(&job.Kind, &job.Ref, &runAt, &job.Tries, &job.Token, &job.Sequence, &leaseUntil)
	if err != nil {
		return jobs.Job{}, fmt.Errorf("reading a job: %w", err)
	}
	job.RunAt, job.LeaseUntil = row.Time(runAt), row.Time(leaseUntil)
	return job, nil
}

// schedule adds jobs, or pulls forward the ones that are there.
func (s *Store) schedule(ctx context.Context, tx *sql.Tx, js []jobs.Job) error {
	return row.Schedule(ctx, tx, s.lanes, js...)
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
	err := s.db.Tx(ctx, func(tx *sql.Tx) error { return s.schedule(ctx, tx, js) })
	s.scheduled(err, js)
	return err
}

// scheduled wakes the lanes of jobs that a transaction scheduled, if it committed.
func (s *Store) scheduled(err error, js []jobs.Job) {
	if err == nil {
		s.lanes.Scheduled(js...)
	}
}

// laneSource is the jobs of some kinds in a lane.
type laneSource struct {
	*Store
	where       string // a condition whose placeholders args fills
	args        []any
	limit, term string // the placeholders that follow
}

// Lane implements jobs.Queue.
func (s *Store) Lane(lane jobs.Lane, kinds ...string) jobs.Source {
	source := &laneSource{Store: s, where: `lane = $1 AND ready_at > 0`, args: []any{string(lane)}}
	if len(kinds) > 0 {
		places := make([]string, len(kinds))
		for i, kind := range kinds {
			places[i] = "$" + strconv.Itoa(i+2)
			source.args = append(source.args, kind)
		}
		source.where += ` AND kind IN (` + strings.Join(places, ", ") + `)`
	}
	source.limit, source.term = "$"+strconv.Itoa(len(source.args)+1), "$"+strconv.Itoa(len(source.args)+2)
	return source
}

// Claim implements jobs.Source.
func (s *laneSource) Claim(ctx context.Context, limit int, lease time.Duration) ([]jobs.Job, error) {
	var claimed []jobs.Job
	scan := func(rows *sql.Rows) error {
		job, err := scanJob(rows)
		claimed = append(claimed, job)
		return err
	}
	_, err := s.db.Light(ctx, scan,
		`WITH due AS MATERIALIZED (
			SELECT kind, ref FROM job WHERE `+s.where+` AND ready_at <= `+sqldb.Now+`
			ORDER BY ready_at LIMIT `+s.limit+sqldb.SkipLocked+`)
		UPDATE job SET lease_until = `+sqldb.Now+` + `+s.term+`, ready_at
			= `+sqldb.Now+` + `+s.term+`, token = token + 1
		WHERE (kind, ref) IN (SELECT kind, ref FROM due)
		RETURNING `+jobColumns, append(slices.Clone(s.args), limit, lease.Milliseconds())...)
	if err != nil {
		return nil, fmt.Errorf("claiming jobs: %w", err)
	}
	slices.SortFunc(claimed, func(a, b jobs.Job) int {
		return cmp.Or(a.RunAt.Compare(b.RunAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref, b.Ref))
	})
	return claimed, nil
}

// Next implements jobs.Source.
func (s *laneSource) Next(ctx context.Context) (time.Duration, bool, error) {
	wait, found, err := row.One(s.db.LightReader().QueryRowContext(ctx,
		`SELECT ready_at - `+sqldb.Now+` FROM job WHERE `+s.where+` ORDER BY ready_at LIMIT 1`, s.args...),
		func(r row.Scanner) (wait int64, err error) { return wait, r.Scan(&wait) })
	if err != nil {
		return 0, false, fmt.Errorf("looking for the next job: %w", err)
	}
	return time.Duration(wait) * time.Millisecond, found, nil
}

// End implements jobs.Source.
func (s *laneSource) End(ctx context.Context, ended []jobs.End) (again bool, err error) {
	var done, open []any
	finished := 0
	for _, end := range ended {
		if end.Done {
			finished++
			done = append(done, end.Kind, end.Ref, end.Token, end.Sequence)
		}
	}
	if finished > 0 {
		values, done := row.Values(done, "TEXT", "TEXT", "BIGINT", "BIGINT")
		removed, err := s.db.Light(ctx, nil,
			`DELETE FROM job WHERE (kind, ref, token, sequence) IN (`+values+`)`, done...)
		if err != nil {
			return false, fmt.Errorf("removing jobs that are done: %w", err)
		}
		if int(removed) == finished && finished == len(ended) {
			return false, nil
		}
	}
	// What is left of the ones that are done was scheduled again meanwhile.
	for _, end := range ended {
		parked := !end.Done && end.RunAt.IsZero()
		if end.Done {
			end.Tries, end.Reason = 0, ""
		}
		open = append(open, end.Kind, end.Ref, end.Token, end.Sequence, end.Tries, parked, row.Delay(end.RunAt),
			end.Reason)
	}
	values, open := row.Values(open, "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "BOOLEAN", "BIGINT", "TEXT")
	const at = `CASE WHEN job.sequence <> e.column4 THEN job.run_at WHEN e.column6 THEN 0 ELSE ` + sqldb.Now +
		` + e.column7 END`
	_, err = s.db.Light(ctx, func(rows *sql.Rows) error {
		var rescheduled bool
		err := rows.Scan(&rescheduled)
		again = again || rescheduled
		return err
	},
		`UPDATE job SET lease_until = 0, tries = e.column5, reason = e.column8, run_at = `+at+`, ready_at = `+at+`
		FROM (`+values+`) AS e
		WHERE job.kind = e.column1 AND job.ref = e.column2 AND job.token = e.column3 AND job.lease_until > 0
		RETURNING ready_at > 0 AND ready_at <= `+sqldb.Now, open...)
	if err != nil {
		return false, fmt.Errorf("freeing jobs: %w", err)
	}
	return again, nil
}

// Reclaim ends every lease. Call it when a process starts that has the database
// to itself: no other holds a lease, and no caller has to wait until it expires.
func (s *Store) Reclaim(ctx context.Context) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx,
			`UPDATE job SET lease_until = 0, ready_at = run_at WHERE lease_until > 0`); err != nil {
			return err
		}
		_, err := row.Exec(ctx, tx, `UPDATE idempotency SET lease_until = 0 WHERE status = 0`)
		return err
	})
}

// AssignLanes moves the jobs that are there into the lanes of their kinds: rows
// of an older schema, and kinds whose lane has changed since. Call it before the
// worker runs. It returns the kinds of jobs that have no lane: this version does
// not know them.
func (s *Store) AssignLanes(ctx context.Context) (unknown []string, err error) {
	kinds := s.lanes.Kinds()
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, kind := range kinds {
			if _, err := row.Exec(ctx, tx, `UPDATE job SET lane = $2 WHERE kind = $1 AND lane <> $2`, kind,
				string(s.lanes.Of(kind))); err != nil {
				return err
			}
		}
		rows, err := tx.QueryContext(ctx, `SELECT DISTINCT kind FROM job ORDER BY kind`)
		unknown, err = row.Collect(
			rows,
			err,
			func(r row.Scanner) (kind string, err error) { return kind, r.Scan(&kind) },
		)
		return err
	})
	unknown = slices.DeleteFunc(unknown, func(kind string) bool { return slices.Contains(kinds, kind) })
	return unknown, err
}

// ParkedJobs returns the jobs that were given up, for the operator.
func (s *Store) ParkedJobs(ctx context.Context) ([]jobs.Job, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+jobColumns+` FROM job WHERE run_at = 0 ORDER BY kind, ref`)
	return row.Collect(rows, err, scanJob)
}
