package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool"
	"ace/internal/storage/row"
)

// Runs implements the stores of package tool: tool.Runs, tool.Queue, tool.History
// and file.Store.
type Runs struct{ *Store }

const runColumns = `id, account_id, actor, key_id, tool, app, connection_id, end_user, status, async, safe, sent,
	cancelling, attempts, app_status, code, output_bytes, timeout_ms, COALESCE(idempotency_key, ''), fingerprint,
	COALESCE(approval_id, ''), approval_until, decided_by, decided_at, decided_reason, owner, lease_until, created_at,
	started_at, ended_at, request, result, kept_until`

func scanRun(r row.Scanner) (*tool.Run, error) {
	one := &tool.Run{}
	var actor, decider string
	var timeout, approvalUntil, decided, lease, created, started, ended, storedUntil int64
	err := r.Scan(&one.ID, &one.AccountID, &actor, &one.KeyID, &one.Tool, &one.App, &one.ConnectionID, &one.EndUser,
		&one.Status, &one.Async, &one.Safe, &one.Sent, &one.Cancelling,
		&one.Attempts, &one.AppStatus, &one.Code, &one.OutputBytes, &timeout, &one.Key, &one.Fingerprint,
		&one.Approval.ID, &approvalUntil, &decider, &decided, &one.Approval.Reason,
		&one.Owner, &lease, &created, &started, &ended, &one.Request, &one.Result, &storedUntil)
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	one.Timeout = time.Duration(timeout) * time.Millisecond
	one.Approval.ExpiresAt, one.Approval.DecidedAt = row.Time(approvalUntil), row.Time(decided)
	one.LeaseUntil, one.CreatedAt, one.StartedAt = row.Time(lease), row.Time(created), row.Time(started)
	one.EndedAt, one.StoredUntil = row.Time(ended), row.Time(storedUntil)
	if decider != "" {
		if err := row.FromJSON(decider, &one.Approval.DecidedBy); err != nil {
			return nil, err
		}
	}
	return one, row.FromJSON(actor, &one.By)
}

func runJob(id string) jobs.Job { return jobs.Job{Kind: tool.JobRun, Ref: id, RunAt: time.Now()} }

// InsertRun implements tool.Runs.
func (s Runs) InsertRun(ctx context.Context, r *tool.Run, queued bool) (stored *tool.Run, inserted bool, err error) {
	var due []jobs.Job
	err = s.db.Tx(ctx, func(tx *sql.Tx) (err error) {
		inserted, err = insertRun(ctx, tx, r)
		if err == nil && !inserted && r.Key != "" {
			inserted, err = insertAfterExpiry(ctx, tx, r)
		}
		if err != nil {
			return err
		}
		if due = nil; inserted && queued {
			due = []jobs.Job{runJob(r.ID)}
		}
		return row.Schedule(ctx, tx, s.lanes, due...)
	})
	if err != nil {
		return nil, false, err
	}
	s.lanes.Scheduled(due...)
	if inserted {
		return r, true, nil
	}
	if r.Key != "" {
		if stored, err = s.RunByKey(ctx, r.AccountID, r.Key); err != nil || stored != nil {
			return stored, false, err
		}
	}
	stored, err = s.Run(ctx, r.AccountID, r.ID)
	return stored, false, err
}

// insertAfterExpiry inserts a run whose key an earlier run has, if that one's
// has expired.
func insertAfterExpiry(ctx context.Context, tx *sql.Tx, r *tool.Run) (inserted bool, err error) {
	n, err := row.Exec(
		ctx,
		tx,
		`UPDATE tool_run SET idempotency_key = NULL WHERE idempotency_key = $1 AND account_id = $2 AND created_at <=
			$3`,
		r.Key,
		r.AccountID,
		row.Millis(keyExpiry()),
	)
	if err != nil || n == 0 {
		return false, err
	}
	return insertRun(ctx, tx, r)
}

// keyExpiry returns when the runs began whose keys expire now.
func keyExpiry() time.Time { return time.Now().Add(-tool.KeyLifetime) }

// RunByKey implements tool.Runs.
func (s Runs) RunByKey(ctx context.Context, accountID, key string) (*tool.Run, error) {
	return s.find(ctx, `idempotency_key = $1 AND account_id = $2 AND created_at > $3`, nil, key, accountID,
		row.Millis(keyExpiry()))
}

func insertRun(ctx context.Context, tx *sql.Tx, r *tool.Run) (inserted bool, err error) {
	actor, err := row.JSON(r.By)
	if err != nil {
		return false, err
	}
	n, err := row.Exec(
		ctx,
		tx,
		`INSERT INTO tool_run (id, account_id, actor, key_id, tool, app, connection_id, end_user, status, async, safe,
			sent, cancelling, attempts, app_status, code, output_bytes, timeout_ms, approval_id, approval_until,
			decided_by, decided_at, decided_reason, owner, lease_until, created_at, started_at, ended_at, request,
			result,
			kept_until, idempotency_key, fingerprint)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, NULLIF($19, ''), $20,
			'', 0, '', $21, $22, $23, $24, $25, $26, $27, $28, NULLIF($29, ''), $30)
		ON CONFLICT DO NOTHING`,
		r.ID,
		r.AccountID,
		actor,
		r.KeyID,
		r.Tool,
		r.App,
		r.ConnectionID,
		r.EndUser,
		string(r.Status),
		r.Async,
		r.Safe,
		r.Sent,
		r.Cancelling,
		int64(r.Attempts),
		int64(r.AppStatus),
		r.Code,
		int64(r.OutputBytes),
		r.Timeout.Milliseconds(),
		r.Approval.ID,
		row.Millis(r.Approval.ExpiresAt),
		r.Owner,
		row.Millis(r.LeaseUntil),
		row.Millis(r.CreatedAt),
		row.Millis(r.StartedAt),
		row.Millis(r.EndedAt),
		r.Request,
		r.Result,
		row.Millis(r.StoredUntil),
		r.Key,
		r.Fingerprint,
	)
	return n > 0, err
}

// Run implements tool.History.
func (s Runs) Run(ctx context.Context, accountID, id string) (*tool.Run, error) {
	return s.find(ctx, `account_id = $1 AND id = $2`,
		problem.New(problem.NotFound, "run_not_found",
			"This account has no run with this id; runs are kept for 30 days."), accountID, id)
}

// RunByID implements tool.Queue.
func (s Runs) RunByID(ctx context.Context, id string) (*tool.Run, error) {
	return s.find(ctx, `id = $1`, nil, id)
}

// RunByApproval implements tool.History.
func (s Runs) RunByApproval(ctx context.Context, accountID, approvalID string) (*tool.Run, error) {
	return s.find(ctx, `account_id = $1 AND approval_id = $2`, problem.New(problem.NotFound, "approval_not_found",
		"This account has no run that waits under this id."), accountID, approvalID)
}

func (s Runs) find(ctx context.Context, where string, missing error, args ...any) (*tool.Run, error) {
	r, found, err := row.One(s.db.Reader().QueryRowContext(ctx, `SELECT `+runColumns+` FROM tool_run WHERE `+where,
		args...), scanRun)
	if err == nil && !found {
		err = missing
	}
	return r, err
}

// Runs implements tool.History.
func (s Runs) Runs(ctx context.Context, accountID string, q tool.Query) ([]*tool.Run, error) {
	where, args := selectedRuns(accountID, q)
	if q.Before != "" {
		args = append(args, q.Before)
		before := "$" + strconv.Itoa(len(args))
		where += strings.ReplaceAll(
			` AND (created_at < (SELECT b.created_at FROM tool_run b WHERE b.account_id = $1 AND b.id = ?) OR
				created_at = (SELECT b.created_at FROM tool_run b WHERE b.account_id = $1 AND b.id = ?) AND id < ?)`,
			"?",
			before,
		)
	}
	args = append(args, int64(q.Limit))
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+runColumns+` FROM tool_run WHERE `+where+` ORDER BY created_at DESC, id DESC LIMIT $`+
			strconv.Itoa(len(args)), args...)
	return row.Collect(rows, err, scanRun)
}

// CountRuns implements tool.History.
func (s Runs) CountRuns(ctx context.Context, accountID string, q tool.Query) (n int, err error) {
	where, args := selectedRuns(accountID, q)
	return n, s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM tool_run WHERE `+where, args...).Scan(&n)
}

// selectedRuns is the condition of a query, without its page.
func selectedRuns(accountID string, q tool.Query) (where string, args []any) {
	where, args = `account_id = $1`, []any{accountID}
	for _, one := range []struct{ column, value string }{
		{"tool", q.Tool},
		{"app", q.App},
		{"status", q.Status},
		{"connection_id", q.ConnectionID},
		{"key_id", q.KeyID},
		{"end_user", q.EndUser},
	} {
		if one.value != "" {
			args = append(args, one.value)
			where += ` AND ` + one.column + ` = $` + strconv.Itoa(len(args))
		}
	}
	for _, one := range []struct {
		column string
		values []string
	}{{"app", q.Apps}, {"tool", q.Tools}} {
		if len(one.values) == 0 {
			continue
		}
		places := make([]string, len(one.values))
		for i, value := range one.values {
			args = append(args, value)
			places[i] = "$" + strconv.Itoa(len(args))
		}
		where += ` AND ` + one.column + ` IN (` + strings.Join(places, `, `) + `)`
	}
	return where, args
}

// TakeRun implements tool.Runs.
func (s Runs) TakeRun(ctx context.Context, id, owner string, now, until time.Time) (r *tool.Run, taken bool,
	err error,
) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE tool_run SET owner = $2, lease_until = $4, started_at = CASE WHEN started_at = 0 THEN $3 ELSE
				started_at END
			WHERE id = $1 AND status = 'running' AND lease_until <= $3`,
			id,
			owner,
			row.Millis(now),
			row.Millis(until),
		)
		if err != nil {
			return err
		}
		taken = n > 0
		r, _, err = row.One(tx.QueryRowContext(ctx, `SELECT `+runColumns+` FROM tool_run WHERE id = $1`, id), scanRun)
		return err
	})
	return r, taken, err
}

// HoldRun implements tool.Queue.
func (s Runs) HoldRun(ctx context.Context, id, owner string, until time.Time,
	sent bool,
) (held, cancel bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE tool_run SET lease_until = $3, sent = CASE WHEN $4 THEN $4 ELSE sent END WHERE id = $1 AND owner
				= $2 AND status = 'running'`,
			id,
			owner,
			row.Millis(until),
			sent,
		)
		if held = n > 0; err != nil || !held {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT cancelling FROM tool_run WHERE id = $1`, id).Scan(&cancel); err !=
			nil {
			return fmt.Errorf("looking whether run %s is to end: %w", id, err)
		}
		return nil
	})
	return held, cancel, err
}

// FinishRun implements tool.Runs.
func (s Runs) FinishRun(ctx context.Context, r *tool.Run) (done bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) (err error) {
		done, err = finishRun(ctx, tx, r)
		return err
	})
	return done, err
}

func finishRun(ctx context.Context, tx *sql.Tx, r *tool.Run) (done bool, err error) {
	n, err := row.Exec(
		ctx,
		tx,
		`UPDATE tool_run SET status = $3, attempts = $4, app_status = $5, code = $6, output_bytes = $7, ended_at =
			$8, request = '', result = $9, kept_until = $10, lease_until = 0
		WHERE id = $1 AND owner = $2 AND status = 'running'`,
		r.ID,
		r.Owner,
		string(r.Status),
		int64(r.Attempts),
		int64(r.AppStatus),
		r.Code,
		int64(r.OutputBytes),
		row.Millis(r.EndedAt),
		r.Result,
		row.Millis(r.StoredUntil),
	)
	return n > 0, err
}

// RecordRuns implements tool.Runs.
func (s Runs) RecordRuns(ctx context.Context, runs []*tool.Run) error {
	if len(runs) == 0 {
		return nil
	}
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, r := range runs {
			inserted, err := insertRun(ctx, tx, r)
			if err == nil && !inserted {
				_, err = finishRun(ctx, tx, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ReleaseRun implements tool.Queue.
func (s Runs) ReleaseRun(ctx context.Context, id, owner string) error {
	due := []jobs.Job{runJob(id)}
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx,
			`UPDATE tool_run SET lease_until = 0 WHERE id = $1 AND owner = $2 AND status = 'running'`, id, owner)
		if err != nil || n == 0 {
			return err
		}
		return row.Schedule(ctx, tx, s.lanes, due...)
	})
	if err == nil {
		s.lanes.Scheduled(due...)
	}
	return err
}

// CancelRun implements tool.Queue.
func (s Runs) CancelRun(ctx context.Context, accountID, id string, now time.Time) (*tool.Run, error) {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(
			ctx,
			tx,
			`UPDATE tool_run SET status = 'canceled', code = $4, ended_at = $3, request = '' WHERE account_id = $1
				AND id = $2
			AND (status = 'awaiting_approval' OR status = 'running' AND owner = '')`,
			accountID,
			id,
			row.Millis(now),
			tool.CodeRunCancelled,
		)
		if err != nil {
			return err
		}
		_, err = row.Exec(ctx, tx,
			`UPDATE tool_run SET cancelling = $3 WHERE account_id = $1 AND id = $2 AND status = 'running'`, accountID,
			id, true)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, accountID, id)
}

// DecideRun implements tool.History.
func (s Runs) DecideRun(ctx context.Context, r *tool.Run, e audit.Entry) (decided bool, err error) {
	by, err := row.JSON(r.Approval.DecidedBy)
	if err != nil {
		return false, err
	}
	var due []jobs.Job
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE tool_run SET status = $3, code = $4, ended_at = $5, request = $6, decided_by = $7, decided_at =
				$8, decided_reason = $9
			WHERE account_id = $1 AND id = $2 AND status = 'awaiting_approval' AND approval_until > $8`,
			r.AccountID,
			r.ID,
			string(r.Status),
			r.Code,
			row.Millis(r.EndedAt),
			r.Request,
			by,
			row.Millis(r.Approval.DecidedAt),
			r.Approval.Reason,
		)
		if decided, due = n > 0, nil; err != nil || !decided {
			return err
		}
		if r.Status == tool.Running {
			due = []jobs.Job{runJob(r.ID)}
		}
		if err := row.Schedule(ctx, tx, s.lanes, due...); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
	if err == nil {
		s.lanes.Scheduled(due...)
	}
	return decided, err
}

const (
	// sweepAtOnce bounds what one statement forgets, so that no writer waits long.
	sweepAtOnce = 1000
	// sweepTime bounds one call of SweepRuns.
	sweepTime = 10 * time.Second
)

// SweepRuns implements tool.Queue.
func (s Runs) SweepRuns(ctx context.Context, now time.Time) (more bool, err error) {
	end := time.Now().Add(sweepTime)
	at := row.Millis(now)
	for _, sweep := range []struct {
		statement string
		args      []any
	}{
		{`UPDATE tool_run SET status = 'interrupted', code = $2, ended_at = $1, request = '' WHERE id IN
			(SELECT id FROM tool_run WHERE status = 'running' AND NOT async AND lease_until <= $1 LIMIT $3)`, []any{
			at,
			tool.CodeRunInterrupted,
		}},
		{`UPDATE tool_run SET status = 'denied', code = $2, ended_at = $1, request = '' WHERE id IN
			(SELECT id FROM tool_run WHERE status = 'awaiting_approval' AND approval_until <= $1 LIMIT $3)`, []any{
			at,
			tool.CodeApprovalExpired,
		}},
		{`UPDATE tool_run SET result = '' WHERE id IN (SELECT id FROM tool_run WHERE result <> '' AND kept_until ` +
			`<= $1 LIMIT $2)`, []any{at}},
		{`DELETE FROM tool_file WHERE id IN (SELECT id FROM tool_file WHERE expires_at <= $1 LIMIT $2)`, []any{at}},
		{
			`DELETE FROM tool_run WHERE id IN (SELECT id FROM tool_run WHERE created_at <= $1 AND status NOT IN
				('running', 'awaiting_approval') LIMIT $2)`,
			[]any{row.Millis(now.Add(-tool.RunLifetime))},
		},
	} {
		for n := int64(sweepAtOnce); n == sweepAtOnce; {
			if time.Now().After(end) {
				return true, nil
			}
			err := s.db.Tx(ctx, func(tx *sql.Tx) (err error) {
				n, err = row.Exec(ctx, tx, sweep.statement, append(slices.Clip(sweep.args), int64(sweepAtOnce))...)
				return err
			})
			if err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// ReclaimRuns ends the holds of runs, and lets the jobs of those that nobody
// waits for go on with them at once. Call it when a process starts that has the
// database to itself: every holder is gone.
func (s Runs) ReclaimRuns(ctx context.Context) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx,
			`SELECT id FROM tool_run WHERE status = 'running' AND async AND lease_until > 0`)
		due, err := row.Collect(rows, err, func(r row.Scanner) (jobs.Job, error) {
			var id string
			if err := r.Scan(&id); err != nil {
				return jobs.Job{}, fmt.Errorf("reading a run: %w", err)
			}
			return runJob(id), nil
		})
		if err != nil {
			return err
		}
		if err := row.Schedule(ctx, tx, s.lanes, due...); err != nil {
			return err
		}
		_, err = row.Exec(ctx, tx, `UPDATE tool_run SET lease_until = 0 WHERE status = 'running' AND lease_until > 0`)
		return err
	})
}
