package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/audit"
	"ace/internal/platform/trigger"
	"ace/internal/storage/row"
)

// Triggers implements trigger.Store.
type Triggers struct{ *Store }

var _ trigger.Store = Triggers{}

const triggerColumns = `id, account_id, app, event, connection_id, end_user, description, config,
	webhook_url, destination,
	mode, status, reason, detail, generation, previous_until, registration, poll_interval, cursor, next_at, idle,
	failures, last_poll_at, last_error, renew_at, last_event_at, sequence, revision, created_at, updated_at, deleted_at,
	filter`

// triggerRow is a trigger on its way out of a row.
type triggerRow struct {
	trigger.Trigger
	config                                                                string
	previous, interval, next, polled, renew, event, created, upd, deleted int64
}

func (r *triggerRow) fields() []any {
	return []any{
		&r.ID,
		&r.AccountID,
		&r.App,
		&r.Event,
		&r.ConnectionID,
		&r.EndUser,
		&r.Description,
		&r.config,
		&r.WebhookURL,
		&r.Destination,
		&r.Mode,
		&r.Status,
		&r.Reason,
		&r.Detail,
		&r.Generation,
		&r.previous,
		&r.Registration,
		&r.interval,
		&r.Cursor,
		&r.next,
		&r.Idle,
		&r.Failures,
		&r.polled,
		&r.LastError,
		&r.renew,
		&r.event,
		&r.Sequence,
		&r.Revision,
		&r.created,
		&r.upd,
		&r.deleted,
		&r.Filter,
	}
}

func (r *triggerRow) complete() (*trigger.Trigger, error) {
	t := &r.Trigger
	t.Interval = time.Duration(r.interval) * time.Millisecond
	for ms, at := range map[*int64]*time.Time{
		&r.previous: &t.PreviousUntil, &r.next: &t.NextAt, &r.polled: &t.LastPollAt, &r.renew: &t.RenewAt,
		&r.event: &t.LastEventAt, &r.created: &t.CreatedAt, &r.upd: &t.UpdatedAt, &r.deleted: &t.DeletedAt,
	} {
		*at = row.Time(*ms)
	}
	return t, row.FromJSON(r.config, &t.Config)
}

func scanTrigger(r row.Scanner) (*trigger.Trigger, error) {
	var t triggerRow
	if err := r.Scan(t.fields()...); err != nil {
		return nil, fmt.Errorf("reading a trigger: %w", err)
	}
	return t.complete()
}

// triggerValues are the columns of a trigger in the order of triggerColumns.
func triggerValues(t *trigger.Trigger) ([]any, error) {
	config, err := row.JSON(t.Config)
	if err != nil {
		return nil, err
	}
	return []any{
		t.ID,
		t.AccountID,
		t.App,
		t.Event,
		t.ConnectionID,
		t.EndUser,
		t.Description,
		config,
		t.WebhookURL,
		t.Destination,
		string(t.Mode),
		string(t.Status),
		t.Reason,
		t.Detail,
		t.Generation,
		row.Millis(t.PreviousUntil),
		t.Registration,
		t.Interval.Milliseconds(),
		t.Cursor,
		row.Millis(t.NextAt),
		t.Idle,
		t.Failures,
		row.Millis(t.LastPollAt),
		t.LastError,
		row.Millis(t.RenewAt),
		row.Millis(t.LastEventAt),
		t.Sequence,
		t.Revision,
		row.Millis(t.CreatedAt),
		row.Millis(t.UpdatedAt),
		row.Millis(t.DeletedAt),
		t.Filter,
	}, nil
}

// triggerPlaces are the placeholders of triggerValues. NextAt is stored in the time of
// the database, unless it has not changed.
func triggerPlaces(t *trigger.Trigger, before time.Time, values []any) string {
	at := slices.Index(strings.Fields(strings.ReplaceAll(triggerColumns, ",", " ")), "next_at")
	if t.NextAt.IsZero() || t.NextAt.Equal(before) {
		return places(1, len(values))
	}
	values[at] = row.Delay(t.NextAt)
	return places(1, at) + `, ` + sqldb.Now + ` + ` + places(at+1, at+1) + `, ` + places(at+2, len(values))
}

// places returns "$from, …, $to".
func places(from, to int) string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprint("$", i))
	}
	return strings.Join(list, ", ")
}

func triggerMissing() error {
	return problem.New(problem.NotFound, "trigger_not_found", "There is no trigger with this id.")
}

// InsertTrigger implements trigger.Triggers.
func (s Triggers) InsertTrigger(ctx context.Context, t *trigger.Trigger, e audit.Entry) (stored *trigger.Trigger,
	inserted bool, err error,
) {
	values, err := triggerValues(t)
	if err != nil {
		return nil, false, err
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `INSERT INTO app_trigger (`+triggerColumns+`)
			VALUES (`+triggerPlaces(t, time.Time{}, values)+`) ON CONFLICT (id) DO NOTHING`, values...)
		if inserted = n > 0; err != nil {
			return err
		}
		if stored, err = scanTrigger(tx.QueryRowContext(ctx,
			`SELECT `+triggerColumns+` FROM app_trigger WHERE id = $1`, t.ID)); err != nil || !inserted {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	return stored, inserted, err
}

// Trigger implements trigger.Triggers.
func (s Triggers) Trigger(ctx context.Context, accountID, id string) (*trigger.Trigger, error) {
	t, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+triggerColumns+` FROM app_trigger
		WHERE account_id = $1 AND id = $2 AND deleted_at = 0 AND status <> $3`,
		accountID, id, string(trigger.Registering)),
		scanTrigger)
	if err == nil && !found {
		err = triggerMissing()
	}
	return t, err
}

// AnyTrigger implements trigger.Triggers.
func (s Triggers) AnyTrigger(ctx context.Context, id string) (*trigger.Trigger, error) {
	t, _, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+triggerColumns+` FROM app_trigger WHERE id = $1`, id), scanTrigger)
	return t, err
}

// ListTriggers implements trigger.Triggers.
func (s Triggers) ListTriggers(ctx context.Context, accountID string, q trigger.Query) ([]*trigger.Trigger, error) {
	where, args := selectedTriggers(accountID, q)
	n := len(args)
	limit := q.Limit
	if limit == 0 {
		limit = 1 << 30
	}
	args = append(args, row.Millis(q.BeforeTime), q.BeforeID, limit)
	rows, err := s.db.Reader().QueryContext(s.db.Brief(ctx), fmt.Sprintf(`SELECT `+triggerColumns+` FROM app_trigger
		WHERE %s AND (CAST($%d AS BIGINT) = 0 OR created_at < $%[2]d OR created_at = $%[2]d AND id < $%[3]d)
		ORDER BY created_at DESC, id DESC LIMIT $%[4]d`, where, n+1, n+2, n+3), args...)
	return row.Collect(rows, err, scanTrigger)
}

// CountTriggers implements trigger.Triggers.
func (s Triggers) CountTriggers(ctx context.Context, accountID string, q trigger.Query) (n int, err error) {
	where, args := selectedTriggers(accountID, q)
	return n, s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM app_trigger WHERE `+where, args...).Scan(&n)
}

// selectedTriggers is the condition of a query, without its page.
func selectedTriggers(accountID string, q trigger.Query) (where string, args []any) {
	where = `account_id = $1 AND deleted_at = 0 AND status <> $2 AND (CAST($3 AS TEXT) = '' OR app = $3)
		AND (CAST($4 AS TEXT) = '' OR status = $4) AND (CAST($5 AS TEXT) = '' OR connection_id = $5)
		AND (CAST($6 AS TEXT) = '' OR end_user = $6)`
	args = []any{accountID, string(trigger.Registering), q.App, string(q.Status), q.ConnectionID, q.EndUser}
	if len(q.Apps) > 0 {
		for _, app := range q.Apps {
			args = append(args, app)
		}
		where += ` AND app IN (` + places(7, len(args)) + `)`
	}
	return where, args
}

// ChangeTrigger implements trigger.Triggers.
func (s Triggers) ChangeTrigger(ctx context.Context, id string, change func(*trigger.Trigger) error,
	e audit.Entry,
) (*trigger.Trigger, error) {
	var t *trigger.Trigger
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		var found bool
		var err error
		t, found, err = row.One(tx.QueryRowContext(ctx, `SELECT `+triggerColumns+` FROM app_trigger WHERE id = $1`, id),
			scanTrigger)
		if err == nil && !found {
			err = triggerMissing()
		}
		if err != nil {
			return err
		}
		before := t.NextAt
		if err := change(t); err != nil {
			return err
		}
		values, err := triggerValues(t)
		if err != nil {
			return err
		}
		if _, err := row.Exec(
			ctx,
			tx,
			`UPDATE app_trigger SET (`+triggerColumns+`) = (`+triggerPlaces(t, before, values)+`)
			WHERE id = $1`,
			values...); err != nil {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	if err != nil {
		return nil, err
	}
	if !t.NextAt.IsZero() {
		s.lanes.Scheduled(jobs.Job{Kind: trigger.JobTend, RunAt: t.NextAt})
	}
	return t, nil
}

// PurgeTrigger implements trigger.Triggers.
func (s Triggers) PurgeTrigger(ctx context.Context, id string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			`DELETE FROM trigger_event WHERE trigger_id = $1`,
			`DELETE FROM trigger_key WHERE trigger_id = $1`,
			`DELETE FROM app_trigger WHERE id = $1`,
		} {
			if _, err := row.Exec(ctx, tx, statement, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Tending implements trigger.Triggers.
func (s Triggers) Tending() jobs.Source {
	return &row.Due{
		DB: s.db, Kind: trigger.JobTend, Table: "app_trigger", Column: "next_at", Waiting: `next_at > 0`,
	}
}

// connectionChanged makes something due for the triggers of a connection whose
// state has changed: they pause, resume, or register again.
func connectionChanged(ctx context.Context, tx *sql.Tx, connectionID string) error {
	_, err := row.Exec(ctx, tx,
		`UPDATE app_trigger SET next_at = `+sqldb.Now+` WHERE connection_id = $1 AND status <> $2`, connectionID,
		string(trigger.Registering))
	return err
}

// connectionReplaced is connectionChanged of a connection that has other
// credentials or none: the registrations that were made with the former ones are
// due for renewal, also those of triggers that stay paused for now.
func connectionReplaced(ctx context.Context, tx *sql.Tx, connectionID string) error {
	_, err := row.Exec(ctx, tx, `UPDATE app_trigger SET renew_at = $2 WHERE connection_id = $1 AND mode = $3`,
		connectionID, row.Millis(time.Now()), string(trigger.ModeHook))
	if err != nil {
		return err
	}
	return connectionChanged(ctx, tx, connectionID)
}

// forgetAtOnce is how many keys are deleted in one statement.
const forgetAtOnce = 2000

// ForgetKeys implements trigger.Triggers.
func (s Triggers) ForgetKeys(ctx context.Context, before time.Time) (more bool, err error) {
	n, err := s.db.Light(ctx, nil,
		`DELETE FROM trigger_key WHERE (trigger_id, key) IN
			(SELECT trigger_id, key FROM trigger_key WHERE seen_at < $1 ORDER BY seen_at LIMIT $2)`,
		row.Millis(before), forgetAtOnce)
	return n == forgetAtOnce, err
}
