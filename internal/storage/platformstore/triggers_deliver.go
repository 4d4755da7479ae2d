package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/trigger"
	"ace/internal/storage/row"
)

// PerDestination is how many events are claimed for one host at a time.
const perDestination = trigger.PerDestination

// deliveries is the events that are due. It implements jobs.Source.
type deliveries struct {
	Triggers
	busy func() []string
}

// Deliveries implements trigger.Events.
func (s Triggers) Deliveries(busy func() []string) jobs.Source { return &deliveries{s, busy} }

// window is how many due events one claim looks at.
const window = 512

// waiting is the condition of a due event whose destination is not busy, and its
// arguments from number first on.
func (d *deliveries) waiting(first int) (where string, args []any) {
	where = `deliver_at > 0`
	for _, destination := range d.busy() {
		args = append(args, destination)
	}
	if len(args) > 0 {
		where += ` AND destination NOT IN (` + places(first, first+len(args)-1) + `)`
	}
	return where, args
}

// Claim implements jobs.Source. Of the events for one host it takes a few, so that
// one that hangs does not fill the lane.
func (d *deliveries) Claim(ctx context.Context, limit int, lease time.Duration) ([]jobs.Job, error) {
	where, busy := d.waiting(5)
	var claimed []jobs.Job
	_, err := d.db.Light(ctx, func(rows *sql.Rows) error {
		var accountID, id string
		var until int64
		if err := rows.Scan(&accountID, &id, &until); err != nil {
			return fmt.Errorf("reading an event that is due: %w", err)
		}
		claimed = append(claimed, jobs.Job{
			Kind: trigger.JobDeliver, Ref: row.Ref(accountID, id), Token: until, LeaseUntil: row.Time(until),
		})
		return nil
	},
		`WITH ready AS (
			SELECT id, deliver_at, destination FROM trigger_event WHERE `+where+` AND deliver_at <= `+sqldb.Now+`
			ORDER BY deliver_at LIMIT $3),
		ranked AS (
			SELECT id, ROW_NUMBER() OVER (PARTITION BY destination ORDER BY deliver_at) AS place FROM ready),
		due AS MATERIALIZED (
			SELECT id FROM trigger_event WHERE id IN (SELECT id FROM ranked WHERE place <= $4)
				AND deliver_at > 0 AND deliver_at <= `+sqldb.Now+` ORDER BY deliver_at LIMIT $1`+sqldb.SkipLocked+`)
		UPDATE trigger_event SET deliver_at = `+sqldb.Now+` + $2, in_flight = TRUE,
			interruptions = interruptions + CASE WHEN in_flight THEN 1 ELSE 0 END
		WHERE id IN (SELECT id FROM due)
		RETURNING account_id, id, deliver_at`,
		append([]any{limit, lease.Milliseconds(), window, perDestination}, busy...)...)
	if err != nil {
		return nil, fmt.Errorf("claiming events: %w", err)
	}
	return claimed, nil
}

// Next implements jobs.Source.
func (d *deliveries) Next(ctx context.Context) (time.Duration, bool, error) {
	where, busy := d.waiting(1)
	wait, found, err := row.One(d.db.LightReader().QueryRowContext(ctx,
		`SELECT deliver_at - `+sqldb.Now+` FROM trigger_event WHERE `+where+` ORDER BY deliver_at LIMIT 1`, busy...),
		func(r row.Scanner) (wait int64, err error) { return wait, r.Scan(&wait) })
	if err != nil {
		return 0, false, fmt.Errorf("looking for the next event: %w", err)
	}
	return time.Duration(wait) * time.Millisecond, found, nil
}

// End implements jobs.Source: Record has written how deliveries ended. What it
// could not write is due again when the lease expires.
func (d *deliveries) End(context.Context, []jobs.End) (again bool, err error) { return false, nil }

// Delivery implements trigger.Events.
func (s Triggers) Delivery(ctx context.Context, eventID string, token int64) (*trigger.Delivery, error) {
	var t triggerRow
	e := &trigger.Event{}
	var body, attempts string
	var received int64
	fields := append([]any{
		&e.ID,
		&e.AccountID,
		&e.TriggerID,
		&e.Sequence,
		&e.Type,
		&body,
		&e.Series,
		&e.Attempt,
		&e.Interruptions,
		&attempts,
		&received,
	}, t.fields()...)
	columns := "t." + strings.Join(strings.Fields(strings.ReplaceAll(triggerColumns, ",", " ")), ", t.")
	_, found, err := row.One(s.db.LightReader().QueryRowContext(ctx,
		`SELECT e.id, e.account_id, e.trigger_id, e.sequence, e.type, e.body, e.series, e.attempt, e.interruptions,
			e.attempts, e.received_at, `+columns+`
		FROM trigger_event AS e JOIN app_trigger AS t ON t.id = e.trigger_id
		WHERE e.id = $1 AND e.deliver_at = $2`, eventID, token),
		func(r row.Scanner) (struct{}, error) { return struct{}{}, r.Scan(fields...) })
	if err != nil || !found {
		return nil, err
	}
	e.Body, e.State, e.ReceivedAt = []byte(body), trigger.Pending, row.Time(received)
	if err := row.FromJSON(attempts, &e.Attempts); err != nil {
		return nil, err
	}
	found2, err := t.complete()
	return &trigger.Delivery{Event: e, Trigger: found2, Token: token}, err
}

// Record implements trigger.Events.
func (s Triggers) Record(ctx context.Context, o *trigger.Outcome) (recorded bool, err error) {
	attempts, err := row.JSON(o.Attempts)
	if err != nil {
		return false, err
	}
	next, ended := sqldb.Now+` + $6`, `0`
	if o.State.Ended() {
		next, ended = `0 * $6`, sqldb.Now
	}
	n, err := s.db.Light(
		ctx,
		nil,
		`UPDATE trigger_event SET state = $3, reason = $4, attempt = $5, deliver_at = `+next+`,
		ended_at = `+ended+`, attempts = $7, in_flight = FALSE, interruptions = 0
		WHERE id = $1 AND deliver_at = $2`,
		o.EventID,
		o.Token,
		string(o.State),
		o.Reason,
		o.Attempt,
		row.Delay(o.NextAt),
		attempts,
	)
	if err == nil && !o.State.Ended() {
		s.lanes.Scheduled(jobs.Job{Kind: trigger.JobDeliver, RunAt: o.NextAt})
	}
	return n > 0, err
}
