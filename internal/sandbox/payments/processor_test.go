package payments

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"

	"github.com/google/go-cmp/cmp"
)

// onEngines runs a test with a fresh processor on each engine.
func onEngines(t *testing.T, test func(t *testing.T, p *Processor)) {
	t.Helper()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		t.Helper()
		p, _ := open(t, dsn, nil)
		test(t, p)
	})
}

func open(tb testing.TB, dsn string, opts *Options) (*Processor, *sqldb.DB) {
	tb.Helper()
	db, err := sqldb.Open(tb.Context(), dsn, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	p, err := Open(tb.Context(), db, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p, db
}

// write runs one change and fails the test if it does not work.
func write[T any](tb testing.TB, p *Processor, fn func(ctx context.Context, tx *Tx) (T, error)) T {
	tb.Helper()
	out, err := try(tb.Context(), p, fn)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func try[T any](ctx context.Context, p *Processor, fn func(ctx context.Context, tx *Tx) (T, error)) (out T, err error) {
	err = p.Write(ctx, Origin{}, func(ctx context.Context, tx *Tx) error {
		var err error
		out, err = fn(ctx, tx)
		return err
	})
	return out, err
}

func params(price string) SessionParams {
	return SessionParams{
		Mode: object.ModePayment, Lines: []LineParams{{Price: price, Quantity: 1}},
		SuccessURL: "https://shop.example/done",
		PageURL:    func(id string) string { return "http://127.0.0.1/" + id },
	}
}

func openSession(tb testing.TB, p *Processor) *object.Session {
	tb.Helper()
	return write(tb, p, func(ctx context.Context, tx *Tx) (*object.Session, error) {
		return tx.CreateSession(ctx, params("price_test_prompt_handbook"))
	})
}

func form(number string) *payform.Form {
	return &payform.Form{
		Email: "ada@example.com", Method: object.MethodCard, Card: payform.Card{
			Number: number, Expiry: "04/44",
			CVC: "987",
		}, Name: "Ada",
		Address: object.Address{Country: "US", PostalCode: "94107"},
	}
}

func (p *Processor) pay(ctx context.Context, id string, f *payform.Form, payer string) (*PayOutcome, error) {
	return try(ctx, p, func(ctx context.Context, tx *Tx) (*PayOutcome, error) { return tx.Pay(ctx, id, f, payer) })
}

// TestOneCharge pays and expires one session from 32 goroutines on each engine.
func TestOneCharge(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, p *Processor) {
		t.Helper()
		o := openSession(t, p)
		var wg sync.WaitGroup
		var mu sync.Mutex
		paid, expired := 0, 0
		for i := range 32 {
			wg.Go(func() {
				won := 0
				if i%2 == 0 {
					out, err := p.pay(t.Context(), o.ID, form("4242424242424242"), fmt.Sprint(i))
					if err != nil {
						t.Errorf("Pay: %v", err)
						return
					}
					if out.Result == Completed {
						won = 1
					}
					mu.Lock()
					paid += won
					mu.Unlock()
					return
				}
				_, err := try(t.Context(), p,
					func(ctx context.Context, tx *Tx) (*object.Session, error) { return tx.ExpireSession(ctx, o.ID) })
				var refused *object.Error
				if err != nil && !errors.As(err, &refused) {
					t.Errorf("ExpireSession: %v", err)
				}
				if err == nil {
					mu.Lock()
					expired++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		s, err := p.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if paid+expired != 1 || s.Objects[object.KindCharge]["succeeded"] != int64(paid) ||
			s.Objects[object.KindSession]["open"] != 0 {
			t.Errorf("paid %d, expired %d, state %v; want exactly one of both", paid, expired, s.Objects)
		}
	})
}

func TestListPages(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, p *Processor) {
		t.Helper()
		var all []string // newest first
		for range 5 {
			all = append([]string{openSession(t, p).ID}, all...)
		}
		tests := []struct {
			name string
			q    Query
			want []string
			more bool
		}{
			{"first page", Query{Limit: 2}, all[:2], true},
			{"next page", Query{Limit: 2, StartingAfter: all[1]}, all[2:4], true},
			{"last page", Query{Limit: 2, StartingAfter: all[3]}, all[4:], false},
			{"page before", Query{Limit: 2, EndingBefore: all[3]}, all[1:3], true},
			{"page before the first", Query{Limit: 2, EndingBefore: all[0]}, nil, false},
			{"whole", Query{Limit: 100}, all, false},
			{"exactly full", Query{Limit: 5}, all, false},
			{"no such state", Query{Limit: 5, Status: object.SessionComplete}, nil, false},
			{"from tomorrow", Query{Limit: 5, Since: p.Now().Add(24 * time.Hour).Unix()}, nil, false},
			{"until yesterday", Query{Limit: 5, Until: p.Now().Add(-24 * time.Hour).Unix()}, nil, false},
			{
				"matching",
				Query{Limit: 1, Match: func(o any) bool { return o.(*object.Session).ID == all[3] }},
				all[3:4],
				false,
			},
		}
		for _, tt := range tests {
			page, more, err := p.View().List(t.Context(), object.KindSession, tt.q)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			var got []string
			for _, o := range page {
				got = append(got, o.(*object.Session).ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || more != tt.more {
				t.Errorf("%s: more %v, want %v (-want +got):\n%s", tt.name, more, tt.more, diff)
			}
		}
		if _, _, err := p.View().List(t.Context(), object.KindSession,
			Query{Limit: 1, StartingAfter: "cs_x"}); !object.IsMissing(err) {
			t.Errorf("a page after nothing = %v, want resource_missing", err)
		}
	})
}

func TestIdempotencyStore(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, p *Processor) {
		t.Helper()
		keep := func(ctx context.Context, tx *Tx) (any, error) {
			return nil, tx.Remember(ctx, "k", "print", Remembered{Status: 500, Body: "{}", RequestID: "req_1"})
		}
		write(t, p, keep)
		got, err := p.View().Recall(t.Context(), "k", "print")
		if diff := cmp.Diff(&Remembered{Status: 500, Body: "{}", RequestID: "req_1"}, got); diff != "" || err != nil {
			t.Errorf("Recall (-want +got):\n%s%v", diff, err)
		}
		var e *object.Error
		if _, err := p.View().Recall(t.Context(), "k", "other"); !errors.As(err, &e) ||
			e.Type != object.TypeIdempotency {
			t.Errorf("Recall with another fingerprint = %v, want idempotency_error", err)
		}
		if _, err := p.Advance(t.Context(), KeyLife); err != nil {
			t.Fatal(err)
		}
		if got, err := p.View().Recall(t.Context(), "k", "other"); got != nil || err != nil {
			t.Errorf("Recall after a day = %v, %v, want nothing", got, err)
		}
		write(t, p, keep) // the old record is gone
	})
}

// TestRestart closes the database in the middle of things and opens it again.
func TestRestart(t *testing.T) {
	t.Parallel()
	onRestart := func(t *testing.T, dsn string) {
		t.Helper()
		opts := &Options{Endpoints: []EndpointConfig{{URL: "http://127.0.0.1:1/hook", Secret: "whsec_one"}}}
		p, db := open(t, dsn, opts)
		o := openSession(t, p)
		if _, err := p.pay(t.Context(), o.ID, form("4242424242424242"), "p"); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Advance(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		secret, before := string(p.PageSecret()), p.Now()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		opts.Endpoints[0].Secret = "whsec_two"
		p, _ = open(t, dsn, opts)
		if p.Now().Before(before) || string(p.PageSecret()) != secret {
			t.Errorf("after a restart the clock ran back from %v to %v, or the page's secret changed", before, p.Now())
		}
		s, err := p.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{"active": 7}
		if diff := cmp.Diff(want, s.Objects[object.KindPrice]); diff != "" {
			t.Errorf("prices after a restart (-want +got):\n%s", diff)
		}
		if s.Objects[object.KindEndpoint]["enabled"] != 1 || s.Deliveries[statePending] != 1 {
			t.Errorf("state after a restart = %+v, want one endpoint and one delivery that waits", s)
		}
		endpoints, _, err := p.View().List(t.Context(), object.KindEndpoint, Query{Limit: 10})
		if err != nil || endpoints[0].(*object.Endpoint).Private.Secret != "whsec_two" {
			t.Errorf("endpoint = %+v, %v, want the secret of the settings", endpoints, err)
		}
	}
	sqldbtest.RunDSN(t, onRestart)
}

// TestNothingOfCardIsStored reads the file after every way a card can go.
func TestNothingOfCardIsStored(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p, _ := open(t, "sqlite:"+filepath.Join(folder, "sandbox.db"), nil)
	numbers := []string{"4111111111111111"}
	for _, c := range payform.TestCards() {
		numbers = append(numbers, strings.ReplaceAll(c.Number, " ", ""))
	}
	for _, number := range numbers {
		o := openSession(t, p)
		out, err := p.pay(t.Context(), o.ID, form(number), "p")
		if err != nil {
			t.Fatal(err)
		}
		if out.Result == Challenged {
			_, err := try(t.Context(), p, func(ctx context.Context, tx *Tx) (*PayOutcome, error) {
				return tx.Resolve(ctx, o.ID, out.Attempt, true)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"sandbox.db", "sandbox.db-wal"} {
		stored, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, number := range numbers {
			if strings.Contains(string(stored), number) || strings.Contains(string(stored), number[:6]) {
				t.Errorf("%s holds card number %s or its first digits", name, number)
			}
		}
		if strings.Contains(string(stored), `"987"`) {
			t.Errorf("%s holds a security code", name)
		}
	}
}

func TestTrialWithoutCard(t *testing.T) {
	t.Parallel()
	tests := []struct{ end, want string }{
		{"cancel", object.SubCanceled},
		{"pause", object.SubPaused},
		{"create_invoice", object.SubPastDue},
	}
	for _, tt := range tests {
		t.Run(tt.end, func(t *testing.T) {
			t.Parallel()
			p, _ := open(t, sqldbtest.SQLite(t), nil)
			in := params("price_test_assistant_pro_monthly")
			in.Mode, in.MethodCollection = object.ModeSubscription, "if_required"
			in.SubscriptionGiven, in.TrialDays, in.MissingMethodEnd = true, 14, tt.end
			o := write(t,
				p, func(ctx context.Context, tx *Tx) (*object.Session, error) { return tx.CreateSession(ctx, in) })
			f := form("")
			if faults := f.Check(o, p.Now()); len(faults) > 0 {
				t.Fatalf("Check = %v, want no card to be needed", faults)
			}
			out, err := p.pay(t.Context(), o.ID, f, "p")
			if err != nil || out.Result != Completed {
				t.Fatalf("Pay = %+v, %v", out, err)
			}
			if _, err := p.Advance(t.Context(), 14*24*time.Hour+time.Second); err != nil {
				t.Fatal(err)
			}
			got, err := p.View().Get(t.Context(), object.KindSubscription, *out.Session.Subscription, "id")
			if err != nil || got.(*object.Subscription).Status != tt.want {
				t.Errorf("after the trial = %+v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func BenchmarkCreateSession(b *testing.B) {
	p, _ := open(b, sqldbtest.SQLite(b), nil)
	for b.Loop() {
		openSession(b, p)
	}
}
