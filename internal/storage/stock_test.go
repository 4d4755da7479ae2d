package storage_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
)

// sumOfSessions returns what the sessions themselves say about the stock.
func sumOfSessions(t *testing.T, db *sqldb.DB) map[string]int64 {
	t.Helper()
	return queryStock(t, db, `SELECT offer_id, SUM(quantity) FROM checkout_session
		WHERE counted AND state NOT IN ('canceled', 'expired') GROUP BY offer_id HAVING SUM(quantity) <> 0`)
}

func queryStock(t *testing.T, db *sqldb.DB, query string) map[string]int64 {
	t.Helper()
	rows, err := db.Reader().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	sums := map[string]int64{}
	for rows.Next() {
		var offerID string
		var n int64
		if err := rows.Scan(&offerID, &n); err != nil {
			t.Fatal(err)
		}
		sums[offerID] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestStockIsTheSumOfSessions lets parallel writers create, change, end, pay,
// discard and delete sessions in random order. Some of them die within their
// transaction. The row of each offer is always what the sessions sum up to.
func TestStockIsTheSumOfSessions(t *testing.T) {
	t.Parallel()
	eachWithDB(t, func(t *testing.T, db *sqldb.DB, s *storage.Store) {
		var wg sync.WaitGroup
		for writer := range 4 {
			wg.Go(func() {
				w := stockWriter{t: t, store: s, random: rand.New(rand.NewPCG(7, uint64(writer)))}
				for range 60 {
					w.step()
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		for {
			// One statement sees one moment, also while writers are at work.
			if wrong := queryStock(t, db, `SELECT o.offer_id, o.held + o.sold - COALESCE((SELECT SUM(quantity)
				FROM checkout_session s WHERE s.offer_id = o.offer_id AND s.counted
					AND s.state NOT IN ('canceled', 'expired')), 0) FROM offer_stock o`); !allZero(wrong) {
				t.Errorf("stock differs from the sum of sessions by %v", wrong)
			}
			select {
			case <-done:
				taken, err := s.Taken(t.Context())
				maps.DeleteFunc(taken, func(_ string, n int64) bool { return n == 0 })
				if diff := cmp.Diff(sumOfSessions(t, db), taken); diff != "" || err != nil {
					t.Errorf("Taken differs from the sum of sessions: %v\n%s", err, diff)
				}
				return
			default:
			}
		}
	})
}

func allZero(sums map[string]int64) bool {
	for _, n := range sums {
		if n != 0 {
			return false
		}
	}
	return true
}

// stockWriter is one process that changes sessions.
type stockWriter struct {
	t        *testing.T
	store    *storage.Store
	random   *rand.Rand
	sessions []*checkout.Session
}

var errCrash = errors.New("the process died within its transaction")

// step does one random thing.
func (w *stockWriter) step() {
	offers := []string{"box", "mug", "pen"}
	if len(w.sessions) == 0 || w.random.IntN(3) == 0 {
		session := newSession(offers[w.random.IntN(3)], 1+w.random.Int64N(5))
		session.Page().Quote.Offer.Stock.Counted = w.random.IntN(5) > 0
		if w.write(func(ctx context.Context, check func(checkout.Holds) error) error {
			return w.store.Insert(ctx, checkout.Change{Session: session, Evidence: "create"}, check)
		}) {
			session.Version = 1
			w.sessions = append(w.sessions, session)
		}
		return
	}
	session := w.sessions[w.random.IntN(len(w.sessions))]
	if session.State == checkout.Creating && w.random.IntN(4) == 0 {
		if err := w.store.Discard(w.t.Context(), session.ID); err != nil {
			w.t.Errorf("Discard = %v", err)
		}
	}
	next := *session
	next.Pages = append([]checkout.Page(nil), session.Pages...)
	states := []checkout.State{
		checkout.Creating, checkout.Open, checkout.Processing, checkout.Completed, checkout.Canceled,
		checkout.Expired,
	}
	next.State = states[w.random.IntN(len(states))]
	next.Page().Quote.Quantity = 1 + w.random.Int64N(5)
	next.Page().Quote.Offer.ID = offers[w.random.IntN(3)]
	next.Page().Quote.Offer.Stock.Counted = w.random.IntN(5) > 0
	if w.write(func(ctx context.Context, check func(checkout.Holds) error) error {
		return w.store.Save(ctx, checkout.Change{Session: &next, Evidence: "test"}, check)
	}) {
		next.Version++
		*session = next
	}
}

// write reports whether do wrote. One in four dies inside its transaction, by
// an error or because its context ends.
func (w *stockWriter) write(do func(context.Context, func(checkout.Holds) error) error) bool {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	var check func(checkout.Holds) error
	crash := w.random.IntN(8)
	if crash < 2 {
		check = func(checkout.Holds) error {
			if crash == 0 {
				return errCrash
			}
			cancel()
			return nil
		}
	}
	err := do(ctx, check)
	gone := errors.Is(err, checkout.ErrVersion) // discarded
	if err != nil && crash >= 2 && !gone {
		w.t.Errorf("writing a session: %v", err)
	}
	return err == nil
}

// Two buyers of the last unit: the first gets it.
func TestTheLastUnitIsHeldOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				errs[i] = s.Insert(
					t.Context(),
					checkout.Change{Session: newSession("box", 1)},
					func(h checkout.Holds) error {
						if h.Taken+1 > 3 {
							return errCrash
						}
						return nil
					},
				)
			})
		}
		wg.Wait()
		held := 0
		for _, err := range errs {
			if err == nil {
				held++
			} else if !errors.Is(err, errCrash) {
				t.Errorf("Insert = %v", err)
			}
		}
		if taken, err := s.Taken(t.Context()); err != nil || held != 3 || taken["box"] != 3 {
			t.Errorf("%d sessions hold %v, %v, want three of three", held, taken, err)
		}
	})
}

// Sessions that were never paid are deleted after 180 days, in slices, with
// their jobs and what they held; never before the sweep has looked for their
// payments.
func TestUnpaidSessionsEnd(t *testing.T) {
	t.Parallel()
	eachWithDB(t, func(t *testing.T, db *sqldb.DB, s *storage.Store) {
		old := time.Now().AddDate(0, 0, -181).UTC().Truncate(time.Millisecond)
		want := map[string]bool{}
		add := func(name string, state checkout.State, at time.Time, stays bool, change func(*checkout.Session)) {
			session := newSession("box", 1)
			session.State, session.UpdatedAt = state, at
			if change != nil {
				change(session)
			}
			insert(t, s, session)
			want[session.ID] = stays
			t.Logf("%s is %s", name, session.ID)
		}
		add("canceled", checkout.Canceled, old, false, nil)
		add("expired", checkout.Expired, old, false, nil)
		add("open", checkout.Open, old, false, nil)
		add("recent", checkout.Expired, old.AddDate(0, 0, 2), true, nil)
		add("completed", checkout.Completed, old, true, nil)
		add("processing", checkout.Processing, old, true, nil)
		add(
			"paid twice",
			checkout.Canceled,
			old,
			true,
			func(c *checkout.Session) { c.Page().State = checkout.PageReturned },
		)
		add("reported", checkout.Open, old, true, func(c *checkout.Session) {
			c.Page().Ref = "cs_reported"
			if err := s.Receive(t.Context(), "evt_1", "", eventJob(c)); err != nil {
				t.Fatal(err)
			}
		})
		prune := func() {
			t.Helper()
			for more := true; more; {
				var err error
				if more, err = s.Prune(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		prune()
		for id := range want {
			if _, err := s.Session(t.Context(), id); err != nil {
				t.Errorf("before any sweep, session %s: %v", id, err)
			}
		}
		if err := s.Advance(t.Context(), checkout.SweepPosition{Since: time.Now()}, nil); err != nil {
			t.Fatal(err)
		}
		prune()
		for id, stays := range want {
			if _, err := s.Session(t.Context(), id); stays != (err == nil) || !stays &&
				!problem.Is(err, "checkout_not_found") {
				t.Errorf("session %s: %v, want it there: %v", id, err, stays)
			}
		}
		taken, err := s.Taken(t.Context())
		if diff := cmp.Diff(sumOfSessions(t, db), taken); diff != "" || err != nil {
			t.Errorf("Taken after deleting: %v\n%s", err, diff)
		}
		if n := queryStock(t, db, `SELECT 'rows', COUNT(*) FROM watermark WHERE name LIKE `+
			`'retention%'`)["rows"]; n != 0 {
			t.Errorf("%d positions are left after everything was looked at", n)
		}
	})
}

// Slices end and go on where they ended, past rows that stay.
func TestPruneGoesOnPastRowsThatStay(t *testing.T) {
	t.Parallel()
	eachWithDB(t, func(t *testing.T, db *sqldb.DB, s *storage.Store) {
		old := time.Now().Add(-time.Hour).UnixMilli()
		session := newSession("box", 1)
		session.State = checkout.Open
		insert(t, s, session)
		for i := range 5 {
			// 600 rows each time: the first slices hold nothing but rows that stay.
			ref := map[bool]string{true: session.ID}[i < 3]
			if err := db.Tx(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.ExecContext(t.Context(), manyTasks(i, old, ref))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if more, err := s.Prune(t.Context()); err != nil || more {
			t.Fatalf("Prune = %v, %v", more, err)
		}
		if n := queryStock(t, db, `SELECT 'rows', COUNT(*) FROM a2a_task`)["rows"]; n != 1800 {
			t.Errorf("%d tasks are left, want the 1800 of an open session", n)
		}
	})
}

// manyTasks inserts 600 tasks in one statement.
func manyTasks(group int, expires int64, ref string) string {
	return fmt.Sprintf(
		`INSERT INTO a2a_task (id, scope, owner, ref, state, finished, body, version, status_at, expires_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
		SELECT 'task_%d_' || i, 's', 'o', '%s', 'working', FALSE, '{}', 1, 0, %d FROM n`,
		group,
		ref,
		expires+int64(group),
	)
}

// eventJob is the job of a message about the current page of a session.
func eventJob(c *checkout.Session) jobs.Job {
	return jobs.Job{Kind: checkout.JobEvent, Ref: c.ID + "|" + c.Page().Ref, RunAt: time.Now()}
}

// The migration computes the rows of sessions that are there already.
func TestStockOfExistingSessions(t *testing.T) {
	t.Parallel()
	eachWithDB(t, func(t *testing.T, db *sqldb.DB, s *storage.Store) {
		for _, state := range []checkout.State{
			checkout.Creating, checkout.Open, checkout.Processing, checkout.Completed, checkout.Canceled,
			checkout.Expired,
		} {
			session := newSession("box", 3)
			session.State = state
			insert(t, s, session)
		}
		text, err := fs.ReadFile(storage.Migrations(), "0026_offer_stock.sql")
		if err != nil {
			t.Fatal(err)
		}
		_, fill, _ := strings.Cut(string(text), ");\n")
		fill, _, _ = strings.Cut(fill, ";")
		all := `SELECT offer_id || ' held', held FROM offer_stock UNION ALL SELECT offer_id || ' sold', sold FROM
			offer_stock`
		want := queryStock(t, db, all)
		if err := db.Tx(t.Context(), func(tx *sql.Tx) error {
			for _, statement := range []string{`DELETE FROM offer_stock`, fill} {
				if _, err := tx.ExecContext(t.Context(), statement); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int64{"box held": 9, "box sold": 3}, queryStock(t, db, all)); diff != "" {
			t.Errorf("the migration makes (-want +got):\n%s", diff)
		}
		// An older version has changed sessions meanwhile.
		set := func(statement string) {
			t.Helper()
			if err := db.Tx(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.ExecContext(t.Context(), statement)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		for wrong, statement := range []string{
			`UPDATE offer_stock SET held =
				held`, `UPDATE offer_stock SET held = -1, sold = 7`, `DELETE FROM offer_stock`,
			`INSERT INTO offer_stock (offer_id, held, sold) VALUES ('gone', 1, 1)`,
		} {
			set(statement)
			if n, err := s.RecountStock(t.Context()); err != nil || n != min(wrong, 1) {
				t.Errorf("after %s, RecountStock = %d, %v, want %d", statement, n, err, min(wrong, 1))
			}
		}
		set(`DELETE FROM offer_stock WHERE offer_id = 'gone'`)
		if diff := cmp.Diff(want, queryStock(t, db, all)); diff != "" {
			t.Errorf("the migration differs from what transactions wrote:\n%s", diff)
		}
	})
}
