package platformstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/trigger"
	"ace/internal/storage/row"
)

const eventColumns = `id, account_id, trigger_id, sequence, type, body, state, reason, series, attempt,
	interruptions, attempts, deliver_at, received_at, ended_at`

func scanEvent(r row.Scanner) (*trigger.Event, error) {
	e := &trigger.Event{}
	var body, attempts string
	var next, received, ended int64
	if err := r.Scan(&e.ID, &e.AccountID, &e.TriggerID, &e.Sequence, &e.Type, &body, &e.State, &e.Reason, &e.Series,
		&e.Attempt, &e.Interruptions, &attempts, &next, &received, &ended); err != nil {
		return nil, fmt.Errorf("reading an event: %w", err)
	}
	e.Body = []byte(body)
	e.NextAttemptAt, e.ReceivedAt, e.EndedAt = row.Time(next), row.Time(received), row.Time(ended)
	return e, row.FromJSON(attempts, &e.Attempts)
}

// keyOf is what is stored of what identifies an event.
func keyOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// Ingest implements trigger.Events.
//
// The row of the trigger is written first: it makes one batch of a trigger wait
// for the other, so that numbers have no gap.
func (s Triggers) Ingest(ctx context.Context, b *trigger.Batch) (*trigger.Ingested, error) {
	var done *trigger.Ingested
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		done = &trigger.Ingested{}
		t, lost, err := lockTrigger(ctx, tx, b)
		if done.Lost = lost; err != nil || lost {
			return err
		}
		now := time.Now()
		for _, item := range b.Seen {
			if _, err := remember(ctx, tx, t.ID, item.Key, now); err != nil {
				return err
			}
		}
		sequence := t.Sequence
		for _, item := range b.Items {
			fresh, err := remember(ctx, tx, t.ID, item.Key, now)
			if err != nil {
				return err
			}
			if !fresh {
				done.Duplicates++
				continue
			}
			sequence++
			if err := insertEvent(ctx, tx, t, item, sequence, now); err != nil {
				return err
			}
			done.Stored++
		}
		if done.Stored == 0 {
			return nil
		}
		if err := checkBacklog(ctx, tx, t.ID, done.Stored); err != nil {
			return err
		}
		if err := countEvents(ctx, tx, t, b, sequence, now); err != nil {
			return err
		}
		return forgetEvents(ctx, tx, t.ID, t.Sequence, sequence)
	})
	if err != nil {
		return nil, err
	}
	if done.Stored > 0 {
		s.lanes.Wake(trigger.JobDeliver)
	}
	return done, nil
}

// countEvents writes the number of the newest event. A poll that brought one is
// followed by the next one in its time.
func countEvents(ctx context.Context, tx *sql.Tx, t *trigger.Trigger, b *trigger.Batch, sequence int64,
	now time.Time,
) error {
	set, args := ``, []any{t.ID, sequence, row.Millis(now)}
	if b.Poll != nil {
		set, args = `, idle = 0, next_at = `+sqldb.Now+` + $4`, append(args, row.Delay(b.Poll.NextAt))
	}
	_, err := row.Exec(ctx, tx, `UPDATE app_trigger SET sequence = $2, last_event_at = $3`+set+` WHERE id = $1`,
		args...)
	return err
}

// lockTrigger writes what a poll has changed and returns the trigger; lost: the
// claim of the poll was lost, or the trigger is gone.
func lockTrigger(ctx context.Context, tx *sql.Tx, b *trigger.Batch) (t *trigger.Trigger, lost bool, err error) {
	var r *sql.Row
	if p := b.Poll; p != nil {
		next := p.IdleAt
		if next.IsZero() {
			next = p.NextAt
		}
		r = tx.QueryRowContext(ctx, `UPDATE app_trigger SET cursor = $3, next_at = `+sqldb.Now+` + $4, idle = idle + 1,
			poll_interval = $5, last_error = $6, last_poll_at = `+sqldb.Now+`, failures = 0
			WHERE id = $1 AND next_at = $2 AND deleted_at = 0 RETURNING `+triggerColumns, b.TriggerID, p.Token,
			p.Cursor, row.Delay(next), p.Interval.Milliseconds(), p.Error)
	} else {
		r = tx.QueryRowContext(ctx, `UPDATE app_trigger SET sequence = sequence WHERE id = $1 AND deleted_at = 0
			RETURNING `+triggerColumns, b.TriggerID)
	}
	t, found, err := row.One(r, scanTrigger)
	return t, !found, err
}

// touchAfter is how exact it is when a key was last seen.
const touchAfter = 24 * time.Hour

// remember stores the key of an event, and reports whether it is new. One that an
// app lists again and again stays as long as it does.
func remember(ctx context.Context, tx *sql.Tx, triggerID, key string, now time.Time) (fresh bool, err error) {
	key = keyOf(key)
	n, err := row.Exec(ctx, tx, `INSERT INTO trigger_key (trigger_id, key, seen_at) VALUES ($1, $2, $3)
		ON CONFLICT (trigger_id, key) DO NOTHING`, triggerID, key, row.Millis(now))
	if err != nil || n > 0 {
		return n > 0, err
	}
	_, err = row.Exec(
		ctx,
		tx,
		`UPDATE trigger_key SET seen_at = $3 WHERE trigger_id = $1 AND key = $2 AND seen_at < $4`,
		triggerID,
		key,
		row.Millis(now),
		row.Millis(now.Add(-touchAfter)),
	)
	return false, err
}

func insertEvent(ctx context.Context, tx *sql.Tx, t *trigger.Trigger, item trigger.Item, sequence int64,
	now time.Time,
) error {
	_, err := row.Exec(
		ctx,
		tx,
		`INSERT INTO trigger_event (id, account_id, trigger_id, sequence, type, body, state, reason,
		destination, deliver_at, in_flight, series, attempt, interruptions, attempts, received_at, ended_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', $8, `+sqldb.Now+`, FALSE, 0, 0, 0, '[]', $9, 0)`,
		trigger.EventID(t.ID, item.Key),
		t.AccountID,
		t.ID,
		sequence,
		item.Type,
		string(item.Body(sequence)),
		string(trigger.Pending),
		t.Destination,
		row.Millis(now),
	)
	return err
}

// checkBacklog refuses events where too many wait.
func checkBacklog(ctx context.Context, tx *sql.Tx, triggerID string, stored int) error {
	var pending int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM trigger_event WHERE trigger_id = $1
		AND deliver_at > 0 LIMIT $2) AS waiting`, triggerID, trigger.MaxPending+stored+1).Scan(&pending); err != nil {
		return fmt.Errorf("counting events that wait: %w", err)
	}
	if pending-stored >= trigger.MaxPending {
		return problem.New(problem.Unavailable, "backlog_full",
			"Too many events of this trigger wait for their delivery.").After(30 * time.Second)
	}
	return nil
}

// pruneEvery is how often, in events, those past the history are deleted.
const pruneEvery = 25

// forgetEvents deletes what is past the history, now and then. What is shown never
// depends on it.
func forgetEvents(ctx context.Context, tx *sql.Tx, triggerID string, before, after int64) error {
	if before/pruneEvery == after/pruneEvery {
		return nil
	}
	_, err := row.Exec(ctx, tx, `DELETE FROM trigger_event WHERE trigger_id = $1 AND sequence <= $2 AND deliver_at = 0`,
		triggerID, after-trigger.HistoryLength)
	return err
}

// ListEvents implements trigger.Events.
func (s Triggers) ListEvents(ctx context.Context, accountID, triggerID string) ([]*trigger.Event, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+eventColumns+` FROM trigger_event
		WHERE trigger_id = $1 AND account_id = $2 ORDER BY sequence DESC LIMIT $3`, triggerID, accountID,
		trigger.HistoryLength)
	return row.Collect(rows, err, scanEvent)
}

func eventMissing() error {
	return problem.New(problem.NotFound, "event_not_found",
		"This trigger has no event with this id among its last 50.")
}

// Event implements trigger.Events.
func (s Triggers) Event(ctx context.Context, accountID, triggerID, id string) (*trigger.Event, error) {
	e, found, err := row.One(s.db.Reader().QueryRowContext(ctx, `SELECT `+eventColumns+` FROM trigger_event
		WHERE id = $1 AND trigger_id = $2 AND account_id = $3`, id, triggerID, accountID), scanEvent)
	if err == nil && !found {
		err = eventMissing()
	}
	return e, err
}

// Replay implements trigger.Events.
func (s Triggers) Replay(ctx context.Context, accountID, triggerID, eventID string) (int, error) {
	n, err := s.db.Light(ctx, nil, `UPDATE trigger_event SET state = $4, reason = '', deliver_at = `+sqldb.Now+`,
		series = series + 1, attempt = 0, interruptions = 0, ended_at = 0,
		destination = (SELECT destination FROM app_trigger WHERE id = trigger_id)
		WHERE trigger_id = $1 AND account_id = $2 AND deliver_at = 0
			AND (id = $3 OR CAST($3 AS TEXT) = '' AND state = $5
				AND sequence > (SELECT sequence FROM app_trigger WHERE id = $1) - $6)`,
		triggerID, accountID, eventID, string(trigger.Pending), string(trigger.Failed), trigger.HistoryLength)
	if err == nil && n > 0 {
		s.lanes.Wake(trigger.JobDeliver)
	}
	return int(n), err
}
