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

const sessionColumns = `s.id, s.token, s.state, s.protocol, s.buyer, s.return_url, s.agent, s.notices, s.ending, ` +
	`s.order_id, s.version, s.created_at, s.updated_at`

// pageColumns are a page and whether a message about it waits for its job.
const pageColumns = `p.n, p.state, p.ref, p.url, p.quote, p.expires_at, p.created_at,
	EXISTS (SELECT 1 FROM job j WHERE j.kind = '` + checkout.JobEvent + `' AND j.ref = s.id || '|' || p.ref)`

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
	err := from.Scan(&s.ID, &s.Token, &s.State, &s.Protocol, &buyer, &s.ReturnURL, &agent, &notices, &s.Ending,
		&s.OrderID, &s.Version, &created, &updated,
		&p.N, &p.State, &p.Ref, &p.URL, &quote, &expires, &pageCreated, &p.Reported)
	if err != nil {
		return r, fmt.Errorf("reading a session: %w", err)
	}
	s.CreatedAt, s.UpdatedAt = row.Time(created), row.Time(updated)
	p.ExpiresAt, p.CreatedAt = row.Time(expires), row.Time(pageCreated)
	return r, errors.Join(row.FromJSON(buyer, &s.Buyer), row.FromJSON(agent, &s.Agent),
		row.FromJSON(notices, &s.Notices), row.FromJSON(quote, &p.Quote))
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
		return nil, problem.New(problem.NotFound, "checkout_not_found",
			"No such checkout session. Ids are in the response that created the session.")
	}
	session := all[0].session
	for _, one := range all {
		session.Pages = append(session.Pages, one.page)
	}
	return &session, nil
}

// Insert implements checkout.Store.
func (s *Store) Insert(ctx context.Context, c checkout.Change, check func(checkout.Holds) error) error {
	defer s.changes.Add(1)
	stored := *c.Session
	stored.Version = 1
	c.Session = &stored
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		if err := checkHolds(ctx, tx, c.Session, storedSession{}, check); err != nil {
			return err
		}
		if err := insertSession(ctx, tx, c.Session); err != nil {
			return err
		}
		stock := stockChange{}
		stock.add(sessionUnits(c.Session))
		if err := stock.write(ctx, tx); err != nil {
			return err
		}
		return s.writeChange(ctx, tx, c, "")
	})
	if sqldb.UniqueViolation(err) {
		return checkout.ErrExists
	}
	s.scheduled(err, c.Schedule)
	return err
}

// Save implements checkout.Store.
func (s *Store) Save(ctx context.Context, c checkout.Change, check func(checkout.Holds) error) error {
	defer s.changes.Add(1)
	stored := *c.Session
	stored.Version++
	c.Session = &stored
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		before, err := scanStored(tx.QueryRowContext(
			ctx,
			`SELECT `+storedColumns+` FROM checkout_session WHERE id = $1 AND version = $2`,
			stored.ID,
			stored.Version-1,
		))
		if errors.Is(err, sql.ErrNoRows) {
			return checkout.ErrVersion
		}
		if err != nil {
			return fmt.Errorf("reading the state of a session: %w", err)
		}
		if err := checkHolds(ctx, tx, c.Session, before, check); err != nil {
			return err
		}
		if err := updateSession(ctx, tx, c.Session); err != nil {
			return err
		}
		stock := stockChange{}
		stock.remove(before.offerID, before.units())
		stock.add(sessionUnits(c.Session))
		if err := stock.write(ctx, tx); err != nil {
			return err
		}
		return s.writeChange(ctx, tx, c, before.state)
	})
	s.scheduled(err, c.Schedule)
	return err
}

// Discard implements checkout.Store.
func (s *Store) Discard(ctx context.Context, id string) error {
	defer s.changes.Add(1)
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		before, found, err := row.One(tx.QueryRowContext(ctx,
			`DELETE FROM checkout_session WHERE id = $1 AND state = $2 RETURNING `+storedColumns, id,
			string(checkout.Creating)), scanStored)
		if err != nil || !found {
			return err
		}
		stock := stockChange{}
		stock.remove(before.offerID, before.units())
		if err := stock.write(ctx, tx); err != nil {
			return err
		}
		return unschedule(ctx, tx, []jobs.Job{{Kind: checkout.JobOpen, Ref: id}, {Kind: checkout.JobWatch, Ref: id}})
	})
}

// Receive implements checkout.Store.
func (s *Store) Receive(ctx context.Context, eventID, eventType string, job jobs.Job) error {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx,
			`INSERT INTO processor_event (id, type, received_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`,
			eventID, eventType, row.Millis(time.Now()))
		if err != nil || n == 0 {
			return err
		}
		return s.schedule(ctx, tx, []jobs.Job{job})
	})
	s.scheduled(err, []jobs.Job{job})
	return err
}

// sweepName is the row of the sweep's position.
const sweepName = "checkout_pages"

// SweepPosition implements checkout.Store.
func (s *Store) SweepPosition(ctx context.Context) (checkout.SweepPosition, error) {
	var position checkout.SweepPosition
	var since, until int64
	err := s.db.Reader().QueryRowContext(ctx, `SELECT at, walk_until, walk_cursor FROM watermark WHERE name = $1`,
		sweepName).Scan(&since, &until, &position.Cursor)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return position, fmt.Errorf("reading the position of the sweep: %w", err)
	}
	position.Since, position.Until = row.Time(since), row.Time(until)
	return position, nil
}

// Advance implements checkout.Store.
func (s *Store) Advance(ctx context.Context, p checkout.SweepPosition, js []jobs.Job) error {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `INSERT INTO watermark (name, at, walk_until, walk_cursor) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET at = excluded.at, walk_until = excluded.walk_until,
				walk_cursor = excluded.walk_cursor`,
			sweepName, row.Millis(p.Since), row.Millis(p.Until), p.Cursor)
		if err != nil {
			return err
		}
		return s.schedule(ctx, tx, js)
	})
	s.scheduled(err, js)
	return err
}
