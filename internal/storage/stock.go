package storage

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"ace/internal/storage/row"
	"ace/internal/storefront/checkout"
)

// units are what a session takes from the stock of its offer.
type units struct{ held, sold int64 }

// unitsOf returns what a session in a state takes. Offers that are not counted
// have no stock.
func unitsOf(state checkout.State, counted bool, quantity int64) units {
	switch {
	case !counted || state == checkout.Canceled || state == checkout.Expired:
		return units{}
	case state == checkout.Completed:
		return units{sold: quantity}
	}
	return units{held: quantity}
}

// stockChange is what a transaction changes in the stock of offers, by offer.
type stockChange map[string]units

func (c stockChange) add(offerID string, u units) {
	c[offerID] = units{c[offerID].held + u.held, c[offerID].sold + u.sold}
}

func (c stockChange) remove(offerID string, u units) { c.add(offerID, units{-u.held, -u.sold}) }

// write changes the rows, always in the same order, so that two transactions
// never wait for each other.
func (c stockChange) write(ctx context.Context, tx *sql.Tx) error {
	for _, offerID := range slices.Sorted(maps.Keys(c)) {
		u := c[offerID]
		if u == (units{}) {
			continue
		}
		_, err := row.Exec(ctx, tx, `INSERT INTO offer_stock (offer_id, held, sold) VALUES ($1, $2, $3)
			ON CONFLICT (offer_id) DO UPDATE SET held = offer_stock.held + excluded.held,
				sold = offer_stock.sold + excluded.sold`, offerID, u.held, u.sold)
		if err != nil {
			return err
		}
	}
	return nil
}

// storedSession is what a session takes as it is in the database.
type storedSession struct {
	state    checkout.State
	offerID  string
	quantity int64
	counted  bool
}

const storedColumns = `state, offer_id, quantity, counted`

func scanStored(from row.Scanner) (s storedSession, err error) {
	return s, from.Scan(&s.state, &s.offerID, &s.quantity, &s.counted)
}

func (s storedSession) units() units { return unitsOf(s.state, s.counted, s.quantity) }

// sessionUnits returns the offer of a session and what the session takes of it.
func sessionUnits(s *checkout.Session) (offerID string, u units) {
	quote := s.Quote()
	return quote.Offer.ID, unitsOf(s.State, quote.Offer.Stock.Counted, quote.Quantity)
}

// checkHolds calls check with what other sessions hold of the offer. own is
// what the session itself holds so far.
func checkHolds(ctx context.Context, tx *sql.Tx, session *checkout.Session, own storedSession,
	check func(checkout.Holds) error,
) error {
	if check == nil {
		return nil
	}
	var h checkout.Holds
	offerID := session.Quote().Offer.ID
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(SUM(held + sold), 0) FROM offer_stock WHERE offer_id = $1`,
		offerID).Scan(&h.Taken)
	if err != nil {
		return fmt.Errorf("reading the stock of offer %s: %w", offerID, err)
	}
	if own.offerID == offerID {
		h.Taken -= own.units().held + own.units().sold
	}
	// These are few: a page of a counted offer lives for half an hour.
	err = tx.QueryRowContext(ctx, `SELECT
			COALESCE(SUM(CASE WHEN NOT signed THEN quantity ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN client_key = $3 THEN 1 ELSE 0 END), 0)
		FROM checkout_session WHERE counted AND offer_id = $1 AND state IN ('creating', 'open') AND id <> $2`,
		offerID, session.ID, session.Agent.ClientKey).Scan(&h.Unpaid, &h.ByClient)
	if err != nil {
		return fmt.Errorf("counting what is held of offer %s: %w", offerID, err)
	}
	return check(h)
}

// Changes implements offer.Counter.
func (s *Store) Changes() uint64 { return s.changes.Load() }

// Taken implements offer.Counter.
func (s *Store) Taken(ctx context.Context) (map[string]int64, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT offer_id, held + sold FROM offer_stock`)
	taken := map[string]int64{}
	_, err = row.Collect(rows, err, func(from row.Scanner) (struct{}, error) {
		var offerID string
		var n int64
		if err := from.Scan(&offerID, &n); err != nil {
			return struct{}{}, fmt.Errorf("reading a stock: %w", err)
		}
		taken[offerID] = n
		return struct{}{}, nil
	})
	return taken, err
}

// RecountStock compares the row of each offer with the sum of its sessions and
// corrects it. It returns how many rows were wrong: none, unless an older
// version of the program, which does not know the rows, has changed sessions.
func (s *Store) RecountStock(ctx context.Context) (corrected int, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT offer_id, SUM(held), SUM(sold) FROM (
				SELECT offer_id, CASE WHEN state = 'completed' THEN 0 ELSE quantity END AS held,
					CASE WHEN state = 'completed' THEN quantity ELSE 0 END AS sold
				FROM checkout_session WHERE counted AND state NOT IN ('canceled', 'expired')
				UNION ALL SELECT offer_id, -held, -sold FROM offer_stock
			) AS differences GROUP BY offer_id HAVING SUM(held) <> 0 OR SUM(sold) <> 0`)
		change := stockChange{}
		_, err = row.Collect(rows, err, func(from row.Scanner) (struct{}, error) {
			var offerID string
			var u units
			err := from.Scan(&offerID, &u.held, &u.sold)
			change.add(offerID, u)
			return struct{}{}, err
		})
		corrected = len(change)
		if err != nil {
			return err
		}
		return change.write(ctx, tx)
	})
	return corrected, err
}
