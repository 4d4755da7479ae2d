package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
	"ace/internal/storefront/checkout"
)

const sessionColumns = `s.id, s.token, s.state, s.protocol, s.buyer, s.return_url, s.agent, s.notices, s.ending, s.order_id, s.version, s.created_at, s.updated_at`

const pageColumns = `p.n, p.state, p.ref, p.url, p.quote, p.expires_at, p.created_at`

// sessionRow is a session with one of its pages.
type sessionRow struct {
	session checkout.Session
	page    checkout.Page
}

func scanSessionRow(from row.Scanner) (sessionRow, error) {
	var r sessionRow
	s, p := &r.session, &r.page
	var buyer, agent, notices, quote string
	var created, updated, expires, pageCreated int64
	err := from.Scan(&s.ID, &s.Token, &s.State, &s.Protocol, &buyer, &s.ReturnURL, &agent, &notices, &s.Ending, &s.OrderID, &s.Version, &created, &updated,
		&p.N, &p.State, &p.Ref, &p.URL, &quote, &expires, &pageCreated)
	if err != nil {
		return r, fmt.Errorf("reading a session: %w", err)
	}
	s.CreatedAt, s.UpdatedAt = row.Time(created), row.Time(updated)
	p.ExpiresAt, p.CreatedAt = row.Time(expires), row.Time(pageCreated)
	return r, errors.Join(row.FromJSON(buyer, &s.Buyer), row.FromJSON(agent, &s.Agent), row.FromJSON(notices, &s.Notices), row.FromJSON(quote, &p.Quote))
}

// Session implements checkout.Store.
func (s *Store) Session(ctx context.Context, id string) (*checkout.Session, error) {
	return s.session(ctx, `s.id = $1`, id)
}

// SessionByToken implements checkout.Store.
func (s *Store) SessionByToken(ctx context.Context, token string) (*checkout.Session, error) {
	return s.session(ctx, `s.token = $1`, token)
}

// session reads a session and its pages in one statement, so that both are of
// the same moment.
func (s *Store) session(ctx context.Context, where, arg string) (*checkout.Session, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+sessionColumns+`, `+pageColumns+`
		FROM checkout_session s JOIN checkout_page p ON p.session_id = s.id WHERE `+where+` ORDER BY p.position`, arg)
	all, err := row.Collect(rows, err, scanSessionRow)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, problem.New(problem.NotFound, "checkout_not_found", "No such checkout session. Ids are given by the answer that created the session.")
	}
	session := all[0].session
	for _, one := range all {
		session.Pages = append(session.Pages, one.page)
	}
	return &session, nil
}

// Insert implements checkout.Store.
func (s *Store) Insert(ctx context.Context, c checkout.Change, check func(checkout.Holds) error) error {
	kept := *c.Session
	kept.Version = 1
	c.Session = &kept
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		if err := checkHolds(ctx, tx, c.Session, check); err != nil {
			return err
		}
		if err := insertSession(ctx, tx, c.Session); err != nil {
			return err
		}
		return writeChange(ctx, tx, c, "")
	})
	if sqldb.UniqueViolation(err) {
		return checkout.ErrExists
	}
	s.tell(err, c.Schedule)
	return err
}

// Save implements checkout.Store.
func (s *Store) Save(ctx context.Context, c checkout.Change, check func(checkout.Holds) error) error {
	kept := *c.Session
	kept.Version++
	c.Session = &kept
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		var before checkout.State
		err := tx.QueryRowContext(ctx, `SELECT state FROM checkout_session WHERE id = $1 AND version = $2`, kept.ID, kept.Version-1).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return checkout.ErrVersion
		}
		if err != nil {
			return fmt.Errorf("reading the state of a session: %w", err)
		}
		if err := checkHolds(ctx, tx, c.Session, check); err != nil {
			return err
		}
		if err := updateSession(ctx, tx, c.Session); err != nil {
			return err
		}
		return writeChange(ctx, tx, c, before)
	})
	s.tell(err, c.Schedule)
	return err
}

// Discard implements checkout.Store.
func (s *Store) Discard(ctx context.Context, id string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `DELETE FROM checkout_session WHERE id = $1 AND state = $2`, id, string(checkout.Creating))
		if err != nil || n == 0 {
			return err
		}
		return unschedule(ctx, tx, []jobs.Job{{Kind: checkout.JobOpen, Ref: id}, {Kind: checkout.JobWatch, Ref: id}})
	})
}

// unpaid are the states that hold stock without money.
const unpaid = `('creating', 'open')`

func checkHolds(ctx context.Context, tx *sql.Tx, session *checkout.Session, check func(checkout.Holds) error) error {
	if check == nil {
		return nil
	}
	var h checkout.Holds
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(quantity), 0),
			COALESCE(SUM(CASE WHEN state IN `+unpaid+` AND NOT signed THEN quantity ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN state IN `+unpaid+` AND client_key = $3 THEN 1 ELSE 0 END), 0)
		FROM checkout_session WHERE offer_id = $1 AND id <> $2 AND state NOT IN ('canceled', 'expired')`,
		session.Quote().Offer.ID, session.ID, session.Agent.ClientKey).Scan(&h.Taken, &h.Unpaid, &h.ByClient)
	if err != nil {
		return fmt.Errorf("counting what is held: %w", err)
	}
	return check(h)
}

// Taken implements offer.Counter.
func (s *Store) Taken(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT offer_id, SUM(quantity) FROM checkout_session
		WHERE counted AND state NOT IN ('canceled', 'expired') GROUP BY offer_id`)
	type sum struct {
		id string
		n  int64
	}
	sums, err := row.Collect(rows, err, func(from row.Scanner) (s sum, err error) { return s, from.Scan(&s.id, &s.n) })
	if err != nil {
		return nil, err
	}
	taken := make(map[string]int64, len(sums))
	for _, s := range sums {
		taken[s.id] = s.n
	}
	return taken, nil
}

// Receive implements checkout.Store.
func (s *Store) Receive(ctx context.Context, eventID, eventType string, job jobs.Job) error {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `INSERT INTO processor_event (id, type, received_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
			eventID, eventType, row.Millis(time.Now()))
		if err != nil || n == 0 {
			return err
		}
		return schedule(ctx, tx, []jobs.Job{job})
	})
	s.tell(err, []jobs.Job{job})
	return err
}

// Watermark implements checkout.Store.
func (s *Store) Watermark(ctx context.Context, name string) (time.Time, error) {
	var at int64
	err := s.db.Reader().QueryRowContext(ctx, `SELECT at FROM watermark WHERE name = $1`, name).Scan(&at)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("reading a watermark: %w", err)
	}
	return row.Time(at), nil
}

// SetWatermark implements checkout.Store.
func (s *Store) SetWatermark(ctx context.Context, name string, at time.Time) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `INSERT INTO watermark (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = excluded.at`, name, row.Millis(at))
		return err
	})
}
