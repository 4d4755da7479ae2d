package storage

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
	"ace/internal/storefront/order"
)

// Levels is what waits in the database: the same for every replica.
type Levels struct {
	Lanes  map[jobs.Lane]LaneLevel
	Parked map[string]int // jobs that failed for the last time, by kind
	// Attention counts the orders that wait for a person.
	Attention map[order.Status]int
	// SweptUntil is the time up to which payments were compared with the
	// processor's list; zero: never.
	SweptUntil time.Time
	// Deliveries counts the events of triggers that wait for their delivery, and
	// DeliveryLate is how long the earliest of them has been due.
	Deliveries   int
	DeliveryLate time.Duration
}

// LaneLevel is the work of one lane that has job rows.
type LaneLevel struct {
	Waiting, Running int
	Late             time.Duration // since when the earliest job is due; 0: none is
}

// Levels counts what waits.
func (s *Store) Levels(ctx context.Context) (*Levels, error) {
	l := &Levels{Lanes: map[jobs.Lane]LaneLevel{}, Parked: map[string]int{}, Attention: map[order.Status]int{}}
	// In one statement, so that no job is counted twice while it changes.
	err := s.eachRow(ctx, `SELECT lane, COUNT(*), SUM(CASE WHEN lease_until > `+sqldb.Now+` THEN 1 ELSE 0 END),
			`+sqldb.Now+` - MIN(ready_at) FROM job WHERE ready_at > 0 GROUP BY lane`, func(from row.Scanner) error {
		var lane jobs.Lane
		var all, running int
		var late int64
		err := from.Scan(&lane, &all, &running, &late)
		l.Lanes[lane] = LaneLevel{all - running, running, time.Duration(max(late, 0)) * time.Millisecond}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("counting jobs: %w", err)
	}
	err = s.eachRow(ctx, `SELECT kind, COUNT(*) FROM job WHERE run_at = 0 GROUP BY kind`,
		func(from row.Scanner) error {
			var kind string
			var n int
			err := from.Scan(&kind, &n)
			l.Parked[kind] = n
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("counting parked jobs: %w", err)
	}
	err = s.eachRow(ctx, `SELECT status, COUNT(*) FROM store_order WHERE status IN ('review', 'refund_due')
		GROUP BY status`, func(from row.Scanner) error {
		var status order.Status
		var n int
		err := from.Scan(&status, &n)
		l.Attention[status] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("counting orders that wait for a person: %w", err)
	}
	var late sql.NullInt64
	err = s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*), `+sqldb.Now+` - MIN(deliver_at) FROM trigger_event
		WHERE deliver_at > 0`).Scan(&l.Deliveries, &late)
	if err != nil {
		return nil, fmt.Errorf("counting deliveries: %w", err)
	}
	l.DeliveryLate = time.Duration(max(late.Int64, 0)) * time.Millisecond
	position, err := s.SweepPosition(ctx)
	l.SweptUntil = position.Since
	return l, err
}

// eachRow calls scan with each row of a query.
func (s *Store) eachRow(ctx context.Context, query string, scan func(row.Scanner) error) error {
	rows, err := s.db.Reader().QueryContext(ctx, query)
	_, err = row.Collect(rows, err, func(from row.Scanner) (struct{}, error) { return struct{}{}, scan(from) })
	return err
}
