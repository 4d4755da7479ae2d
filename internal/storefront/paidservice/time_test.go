package paidservice_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
)

// inTime runs a test in a bubble whose clock jumps.
func inTime(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, sqldbtest.SQLite(t))) })
}

func TestFormerPrices(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		before, p := w.open(), w.payer(10_000_000)
		first, second, third := before.buy(p), before.buy(p), before.buy(p)
		w.options.MaxTimeout, w.prices = time.Hour, map[string]string{paidservice.AISearchAudit: "0.07"}
		after := w.open()
		if q := after.run(audit(nil)).Quote; q.Accepts[0].Amount != "70000" {
			t.Errorf("the new price is %s", q.Accepts[0].Amount)
		}
		dear := after.buy(p)
		if out := before.run(audit(dear)); out.Status != paidservice.StatusPaid {
			t.Errorf("a price that a newer replica asks = %s, want it taken", out.Status)
		}
		time.Sleep(4 * time.Minute)
		if out := after.run(audit(first)); out.Status != paidservice.StatusPaid {
			t.Errorf("a price of four minutes ago = %s %s, want it honoured", out.Status, out.Quote.Error)
		}
		time.Sleep(7 * time.Minute)
		out := after.run(audit(second))
		if out.Status != paidservice.StatusDue || out.Quote.Error != "no_matching_payment_requirements" ||
			out.Quote.Accepts[0].Amount != "70000" {
			t.Errorf("a price of eleven minutes ago = %+v, want 402 with the new one", out)
		}
		if out := after.run(audit(first)); out.Status != paidservice.StatusPaid {
			t.Errorf("an order of the former price = %s, want its work again", out.Status)
		}
		_ = third
	})
}

func TestResultsAreKeptForThirtyDays(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		r.run(audit(payment))
		r.tend(payment)
		for range 29 {
			time.Sleep(24 * time.Hour)
			if _, err := w.store.Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
			t.Errorf("after 29 days = %s, want the work", out.Status)
		}
		time.Sleep(48 * time.Hour)
		if _, err := w.store.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), audit(payment)); !problem.Is(err, "service_result_expired") {
			t.Errorf("after 31 days = %v, want service_result_expired and no request to pay", err)
		}
		w.received(p, 1)
	})
}

// Sealed work that nobody paid for in time is made again; it is never charged
// for when it is about to go.
func TestSealedWorkWaitsForADay(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		abandon := func() {
			call := audit(r.buy(p))
			call.Wait = -1
			release := w.runner.Hold() // work that ends while the call is there is paid
			r.run(call)
			release()
			synctest.Wait()
			time.Sleep(2 * time.Minute)
			r.tend(call.Payment)
			w.wantState(call.Payment, paidservice.Released)
		}
		abandon()
		time.Sleep(20 * time.Hour)
		if out := r.run(audit(r.buy(p))); out.Status != paidservice.StatusPaid || w.runner.Runs() != 1 {
			t.Errorf("within the day = %s after %d runs, want the sealed work", out.Status, w.runner.Runs())
		}
		abandon()
		time.Sleep(23*time.Hour + 30*time.Minute)
		if out := r.run(audit(r.buy(p))); out.Status != paidservice.StatusPaid || w.runner.Runs() != 3 {
			t.Errorf("at the end of the day = %s after %d runs, want the work done again", out.Status, w.runner.Runs())
		}
		w.received(p, 2)
	})
}

// Without a chain, a settlement that nobody can tell of ends with a person,
// and never with another request to pay.
func TestNobodyCanTell(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		w.ledger.Forgetful = true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		w.ledger.Fail("settle", paidservicetest.LostAfter)
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPending {
			t.Fatalf("Run = %s, want 202", out.Status)
		}
		for range 20 {
			time.Sleep(time.Minute)
			r.tend(payment)
		}
		o := w.wantState(payment, paidservice.Unknown)
		if o.Attention != "settlement_unknown" || !strings.Contains(w.log.String(),
			"nobody can tell whether a payment arrived") {
			t.Errorf("attention = %q, want an operator to hear of it", o.Attention)
		}
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPending {
			t.Errorf("asking again = %s, want 202 for as long as nobody knows", out.Status)
		}
		if _, err := r.Decide(t.Context(), o.ID, "0x12"); !problem.Is(err, "invalid_transaction") {
			t.Errorf("half a transaction = %v", err)
		}
		decided, err := r.Decide(t.Context(), o.ID, w.ledger.Received()[0].Tx)
		if err != nil || decided.State != paidservice.Settled || decided.Attention != "" {
			t.Errorf("Decide = %+v, %v", decided, err)
		}
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
			t.Errorf("after a person looked = %s, want the work", out.Status)
		}
		if _, err := r.Decide(t.Context(), o.ID, ""); !problem.Is(err, "service_order_decided") {
			t.Errorf("deciding twice = %v", err)
		}
	})
}

// A person finds that the money did not come: only then is another payment
// asked for, and only when the first can no longer arrive.
func TestDecidedAsUnpaid(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		w.ledger.Forgetful = true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		w.ledger.Fail("settle", paidservicetest.Lost, paidservicetest.Lost, paidservicetest.Lost)
		id := r.run(audit(payment)).Order.ID
		if _, err := r.Decide(t.Context(), id, ""); !problem.Is(err, "service_order_decided") {
			t.Errorf("deciding while the money may come = %v", err)
		}
		time.Sleep(6 * time.Minute)
		if o, err := r.Decide(t.Context(), id, ""); err != nil || o.State != paidservice.Unpaid {
			t.Errorf("Decide = %+v, %v", o, err)
		}
		if out := r.run(audit(payment)); out.Status != paidservice.StatusDue {
			t.Errorf("the payment that did not come = %s, want 402", out.Status)
		}
		if out := r.run(audit(r.buy(p))); out.Status != paidservice.StatusPaid || w.runner.Runs() != 1 {
			t.Errorf("a new payment = %s after %d runs, want the sealed work", out.Status, w.runner.Runs())
		}
		if _, err := r.Decide(t.Context(), "svo_x", ""); !problem.Is(err, "service_order_not_found") {
			t.Errorf("another order = %v", err)
		}
	})
}

// With a chain, an authorization that expired unused is known to be void.
func TestAnUnusedAuthorizationExpires(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		w.chain = true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		w.ledger.Fail("settle", paidservicetest.Lost, paidservicetest.Lost, paidservicetest.Lost, paidservicetest.Lost,
			paidservicetest.Lost, paidservicetest.Lost, paidservicetest.Lost)
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPending {
			t.Fatalf("Run = %s, want 202", out.Status)
		}
		w.ledger.Drain(p.address()) // later attempts are refused, which proves nothing
		r.tend(payment)
		w.wantState(payment, paidservice.Unknown)
		time.Sleep(6 * time.Minute)
		r.tend(payment)
		w.wantState(payment, paidservice.Unpaid)
		if out := r.run(audit(payment)); out.Status != paidservice.StatusDue {
			t.Errorf("Run = %s, want 402: the chain says that nothing can come any more", out.Status)
		}
		w.received(p, 0)
	})
}

func TestAPaymentIsLostForGood(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		w.chain = true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		r.run(audit(payment))
		time.Sleep(6 * time.Minute)
		w.ledger.Reorg(payment)
		r.tend(payment)
		r.tend(payment)
		if o := w.wantState(payment, paidservice.Loss); o.Attention == "" || o.Payload != "" {
			t.Errorf("order = %+v, want an operator to hear of it", o)
		}
	})
}

func TestLists(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, w *world) {
		w.chain = true
		w.ledger.Fail("supported", paidservicetest.Lost)
		r := w.open()
		if list := r.List(); list.Available || list.Services[0].Reason != paidservice.FacilitatorAway {
			t.Errorf("before the facilitator was seen: %+v", list.Services[0])
		}
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			r.Watch(t.Context())
		}()
		time.Sleep(time.Second / 2)
		synctest.Wait()
		if list := r.List(); list.Available {
			t.Error("services are available although the facilitator did not answer")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		list := r.List()
		if !list.Available || len(list.Services) != 3 || list.Mode != "facilitator" || len(list.Networks) != 1 {
			t.Fatalf("List = %+v, want three services that are available", list)
		}
		want := map[string]string{
			paidservice.AISearchAudit: "100000", paidservice.StructuredDataPack: "80000",
			paidservice.LLMsTxtDraft: "50000",
		}
		for _, s := range list.Services {
			if s.Price == nil || s.Price.Amount != want[s.ID] || s.Price.Symbol != "DUSD" || s.Quote.Check() != nil ||
				!s.Available {
				t.Errorf("%s = %+v, %v", s.ID, s.Price, s.Quote.Check())
			}
		}
	})
}

func TestAStoreWithoutPayments(t *testing.T) {
	t.Parallel()
	s := paidservice.New(paidservice.Deps{Definitions: paidservice.Definitions()}, paidservice.Options{})
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := s.List()
	if list.Available || list.Mode != "none" || len(list.Services) != 3 ||
		list.Services[0].Reason != paidservice.NotConfigured || list.Services[0].Price != nil {
		t.Errorf("List = %+v", list)
	}
	if _, err := s.Run(t.Context(), audit(nil)); !problem.Is(err, "payments_not_configured") {
		t.Errorf("Run = %v, want payments_not_configured", err)
	}
	if _, err := s.Quote("weather", paidservice.HTTP, ""); !problem.Is(err, "service_not_found") {
		t.Errorf("Quote = %v, want service_not_found", err)
	}
	if _, err := s.Order(t.Context(), "svo_x"); !problem.Is(err, "service_order_not_found") {
		t.Errorf("Order = %v, want service_order_not_found", err)
	}
	s.Watch(t.Context())
	s.Close()
}

func TestPricesThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, price := range []string{"", "0", "-1", "1e3", "1/2", "0.0000001", "free"} {
		w := newWorld(t, sqldbtest.SQLite(t))
		d := paidservice.Definitions()
		d[0].Price = price
		s := paidservice.New(paidservice.Deps{
			Definitions: d,
			Networks:    []paidservice.Network{paidservicetest.Network()}, Prices: w.store,
		},
			paidservice.Options{BaseURL: "https://store.example"})
		if err := s.Open(t.Context()); err == nil {
			t.Errorf("the price %q was taken", price)
		}
	}
}
