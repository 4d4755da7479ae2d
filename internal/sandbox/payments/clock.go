package payments

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// maxAdvance bounds one step of the test clock: ten years.
const maxAdvance = 10 * 366 * 24 * time.Hour

// Now is the time of the sandbox: the wall clock plus all steps of Advance.
func (p *Processor) Now() time.Time {
	return time.Now().UTC().Add(time.Duration(p.offset.Load())).Truncate(time.Millisecond)
}

// Advance moves the sandbox's clock forward by d and does at once what has
// become due: sessions expire, bank debits settle, subscriptions are billed.
// Webhooks whose retry has become due go out from Run.
func (p *Processor) Advance(ctx context.Context, d time.Duration) (time.Time, error) {
	if d <= 0 || d > maxAdvance {
		return time.Time{}, object.Invalid("seconds", "parameter_invalid_integer",
			"The clock moves forward by 1 to %d seconds at a time.", int64(maxAdvance.Seconds()))
	}
	var offset int64
	err := p.db.Tx(ctx, func(tx *sql.Tx) error {
		offset = 0
		if err := rowstore.Setting(ctx, tx, settingOffset, &offset); err != nil {
			return err
		}
		offset += int64(d)
		if offset < 0 {
			return object.Invalid("seconds", "parameter_invalid_integer", "The clock cannot move that far.")
		}
		return rowstore.PutSetting(ctx, tx, settingOffset, offset)
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("advancing the clock: %w", err)
	}
	p.offset.Store(offset)
	if err := p.Sweep(ctx); err != nil {
		return time.Time{}, err
	}
	p.wake()
	return p.Now(), nil
}

// Sweep does everything that is due by the sandbox's clock.
func (p *Processor) Sweep(ctx context.Context) error {
	for {
		rows, err := rowstore.Due(ctx, p.db.Reader(), p.Now().UnixMilli(), 50)
		if err != nil {
			return fmt.Errorf("looking for what is due: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			err := p.Write(ctx, Origin{},
				func(ctx context.Context, tx *Tx) error { return tx.actOn(ctx, r.Kind, r.Id) })
			if err != nil {
				return fmt.Errorf("acting on %s, which is due: %w", r.Id, err)
			}
		}
	}
}

// actOn reads the object again: another request may have been faster.
func (tx *Tx) actOn(ctx context.Context, kind, id string) error {
	r, err := rowstore.Get(ctx, tx.tx, kind, id)
	if err != nil {
		return fmt.Errorf("reading %s: %w", id, err)
	}
	if r.DueAt == 0 || r.DueAt > tx.now.UnixMilli() {
		return nil
	}
	switch kind {
	case object.KindSession:
		_, err = tx.session(ctx, id, "session") // reading a session past its time expires it
	case object.KindDebit:
		err = tx.settle(ctx, r)
	case object.KindSubscription:
		err = tx.bill(ctx, r)
	default:
		err = fmt.Errorf("nothing is known to be done for kind %s", kind)
	}
	return err
}
