package storage

import (
	"context"
	"database/sql"
	"errors"

	"ace/internal/storage/row"
	"ace/internal/storefront/checkout"
)

// sessionValues are the columns that change, in the order of insertSession and
// updateSession.
func sessionValues(s *checkout.Session) ([]any, error) {
	buyer, errBuyer := row.JSON(s.Buyer)
	agent, errAgent := row.JSON(s.Agent)
	notices, errNotices := row.JSON(s.Notices)
	quote := s.Quote()
	return []any{
		s.ID, string(s.State), quote.Offer.ID, quote.Quantity, quote.Offer.Stock.Counted, buyer, agent, notices,
		s.Ending, s.OrderID, s.Version, row.Millis(s.UpdatedAt),
	}, errors.Join(errBuyer, errAgent, errNotices)
}

func insertSession(ctx context.Context, tx *sql.Tx, s *checkout.Session) error {
	values, err := sessionValues(s)
	if err != nil {
		return err
	}
	values = append(values, s.Token, string(s.Protocol), s.Agent.ClientKey, s.Agent.Signed, s.ReturnURL,
		row.Millis(s.CreatedAt))
	_, err = row.Exec(
		ctx,
		tx,
		`INSERT INTO checkout_session (id, state, offer_id, quantity, counted, buyer, agent, notices, ending,
			order_id, version, updated_at,
			token, protocol, client_key, signed, return_url, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		values...)
	return err
}

func updateSession(ctx context.Context, tx *sql.Tx, s *checkout.Session) error {
	values, err := sessionValues(s)
	if err != nil {
		return err
	}
	_, err = row.Exec(
		ctx,
		tx,
		`UPDATE checkout_session SET state = $2, offer_id = $3, quantity = $4, counted = $5, buyer = $6, agent = $7,
			notices = $8, ending = $9,
		order_id = $10, version = $11, updated_at = $12 WHERE id = $1`,
		values...)
	return err
}

// writeChange writes what goes with a session: pages, audit trail, order,
// events, refunds and jobs.
func (s *Store) writeChange(ctx context.Context, tx *sql.Tx, c checkout.Change, before checkout.State) error {
	if err := writePages(ctx, tx, c.Session); err != nil {
		return err
	}
	_, err := row.Exec(ctx, tx,
		`INSERT INTO checkout_move (session_id, version, at, evidence, before, after) VALUES ($1, $2, $3, $4, $5, $6)`,
		c.Session.ID, c.Session.Version, row.Millis(c.Session.UpdatedAt), c.Evidence, string(before),
		string(c.Session.State))
	if err != nil {
		return err
	}
	if c.Order != nil {
		if err := insertOrder(ctx, tx, c.Order); err != nil {
			return err
		}
	}
	for _, event := range c.Events {
		if err := insertEvent(ctx, tx, event); err != nil {
			return err
		}
	}
	for _, refund := range c.Refunds {
		if err := upsertRefund(ctx, tx, refund); err != nil {
			return err
		}
	}
	return errors.Join(unschedule(ctx, tx, c.Unschedule), s.schedule(ctx, tx, c.Schedule))
}

// writePages rewrites the pages, of which there is hardly ever more than one.
func writePages(ctx context.Context, tx *sql.Tx, s *checkout.Session) error {
	if _, err := row.Exec(ctx, tx, `DELETE FROM checkout_page WHERE session_id = $1`, s.ID); err != nil {
		return err
	}
	for i, p := range s.Pages {
		quote, err := row.JSON(p.Quote)
		if err != nil {
			return err
		}
		_, err = row.Exec(ctx, tx,
			`INSERT INTO checkout_page (session_id, position, n, state, ref, url, quote, expires_at, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, s.ID, i, p.N, string(p.State), p.Ref, p.URL, quote,
			row.Millis(p.ExpiresAt), row.Millis(p.CreatedAt))
		if err != nil {
			return err
		}
	}
	return nil
}
