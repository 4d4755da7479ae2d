package storage

import (
	"context"
	"database/sql"
	"time"

	"ace/internal/storage/retention"
	"ace/internal/storage/row"
	"ace/internal/storefront/checkout"
)

// How long rows of the store are kept.
const (
	// retainUnpaid counts from the last change of a session without a payment.
	retainUnpaid = 180 * 24 * time.Hour
	// paymentsArrive is more than the time from opening a page until a payment on
	// it is in the processor's list.
	paymentsArrive = 48 * time.Hour
)

// Prune deletes what is past its time: idempotency records, tasks, sessions that
// were never paid, and the ids of old messages of the processor, which resends
// none after a month. more says that there is more to do: call it again soon.
func (s *Store) Prune(ctx context.Context) (more bool, err error) {
	now := time.Now()
	sessions, err := s.unpaidRule(ctx, now)
	if err != nil {
		return false, err
	}
	return retention.Run(ctx, s.db,
		retention.Rule{
			Name: "idempotency", Table: "idempotency", Age: "expires_at", Key: "scope || ' ' || key",
			Before: row.Millis(now),
		},
		retention.Rule{
			Name: "processor_event", Table: "processor_event", Age: "received_at", Key: "id",
			Before: row.Millis(now.AddDate(0, -2, 0)),
		},
		retention.Rule{
			Name: "a2a_task", Table: "a2a_task", Age: "expires_at", Key: "id", Before: row.Millis(now),
			// The checkout that it is about is still open.
			Stay: `EXISTS (SELECT 1 FROM checkout_session s WHERE s.id = a2a_task.ref
				AND s.state IN ('creating', 'open', 'processing'))`,
		},
		sessions)
}

// unpaidRule deletes sessions that were never paid. The sweep must have looked
// for their payments first, however long the store was unavailable.
func (s *Store) unpaidRule(ctx context.Context, now time.Time) (retention.Rule, error) {
	position, err := s.SweepPosition(ctx)
	if err != nil {
		return retention.Rule{}, err
	}
	before := now.Add(-retainUnpaid)
	if swept := position.Since.Add(-paymentsArrive); swept.Before(before) {
		before = swept
	}
	return retention.Rule{
		Name: "checkout_session", Table: "checkout_session", Age: "updated_at", Key: "id",
		Before: before.UnixMilli(),
		Among:  `state IN ('creating', 'open', 'canceled', 'expired')`,
		// Money is under way, or a job has yet to look at a page.
		Stay: `order_id <> '' OR EXISTS (SELECT 1 FROM checkout_page p WHERE p.session_id = checkout_session.id AND
			(p.state IN ('pending', 'paid', 'returned') OR EXISTS (SELECT 1 FROM job j WHERE
				j.kind IN ('` + checkout.JobEvent + `', '` + checkout.JobCompare + `') AND
				j.ref = checkout_session.id || '|' || p.ref)))`,
		First: releaseSessions,
	}, nil
}

// releaseSessions gives back the units of sessions that are deleted, and removes
// their jobs.
func releaseSessions(ctx context.Context, tx *sql.Tx, where string, args []any) error {
	rows, err := tx.QueryContext(
		ctx,
		`SELECT `+storedColumns+` FROM checkout_session WHERE counted AND `+where,
		args...)
	deleted, err := row.Collect(rows, err, scanStored)
	if err != nil {
		return err
	}
	change := stockChange{}
	for _, one := range deleted {
		change.remove(one.offerID, one.units())
	}
	if err := change.write(ctx, tx); err != nil {
		return err
	}
	_, err = row.Exec(ctx, tx, `DELETE FROM job WHERE kind IN ('`+checkout.JobOpen+`', '`+checkout.JobWatch+`')
		AND ref IN (SELECT id FROM checkout_session WHERE `+where+`)`, args...)
	return err
}
