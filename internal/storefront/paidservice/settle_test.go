package paidservice_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
)

// What each way of a settlement to go wrong comes to, as the caller sees it and
// on the ledger.
func TestSettlementFaults(t *testing.T) {
	t.Parallel()
	const chain, remembers, forgets = "a chain can be asked", "the facilitator remembers", "nobody remembers"
	tests := []struct {
		faults   []paidservicetest.Fault
		with     []string
		want     paidservice.Status
		received int
	}{
		{
			[]paidservicetest.Fault{paidservicetest.NotSent},
			[]string{chain, remembers, forgets},
			paidservice.StatusPaid,
			1,
		},
		{
			[]paidservicetest.Fault{paidservicetest.Busy, paidservicetest.Busy},
			[]string{chain, remembers, forgets},
			paidservice.StatusPaid, 1,
		},
		{[]paidservicetest.Fault{paidservicetest.Lost}, []string{chain, remembers, forgets}, paidservice.StatusPaid, 1},
		{[]paidservicetest.Fault{paidservicetest.LostAfter}, []string{chain, remembers}, paidservice.StatusPaid, 1},
		{[]paidservicetest.Fault{paidservicetest.LostAfter}, []string{forgets}, paidservice.StatusPending, 1},
		{[]paidservicetest.Fault{paidservicetest.HangAfter}, []string{chain, remembers}, paidservice.StatusPaid, 1},
		{[]paidservicetest.Fault{paidservicetest.PendingAfter}, []string{chain, remembers}, paidservice.StatusPaid, 1},
		{[]paidservicetest.Fault{paidservicetest.PendingAfter}, []string{forgets}, paidservice.StatusPending, 1},
		{[]paidservicetest.Fault{paidservicetest.NoTx}, []string{chain, remembers, forgets}, paidservice.StatusPaid, 1},
		{
			[]paidservicetest.Fault{paidservicetest.OtherNetwork},
			[]string{chain, remembers, forgets},
			paidservice.StatusPaid, 1,
		},
		{
			[]paidservicetest.Fault{paidservicetest.OtherTx},
			[]string{chain, remembers, forgets},
			paidservice.StatusPaid,
			1,
		},
		{
			[]paidservicetest.Fault{paidservicetest.Nonsense},
			[]string{chain, remembers, forgets},
			paidservice.StatusPaid,
			1,
		},
		{
			slices.Repeat([]paidservicetest.Fault{paidservicetest.Lost}, 40),
			[]string{chain, remembers, forgets},
			paidservice.StatusPending, 0,
		},
		{
			slices.Repeat([]paidservicetest.Fault{paidservicetest.NoTx}, 40),
			[]string{chain, remembers, forgets},
			paidservice.StatusPending, 0,
		},
	}
	for _, tt := range tests {
		for _, with := range tt.with {
			t.Run(string(tt.faults[0])+", "+with, func(t *testing.T) {
				t.Parallel()
				onBoth(t, func(t *testing.T, w *world) {
					w.chain, w.ledger.Forgetful = with == chain, with != remembers
					w.options.SettleBudget = time.Second
					r, p, other := w.open(), w.payer(1_000_000), w.payer(1_000_000)
					if out := r.run(audit(r.buy(other))); out.Status != paidservice.StatusPaid {
						t.Fatalf("the payment before = %s", out.Status)
					}
					payment := r.buy(p)
					w.ledger.Fail("settle", tt.faults...)
					out := r.run(audit(payment))
					if out.Status != tt.want {
						t.Errorf("Run = %s, want %s; trail:\n%s", out.Status, tt.want, w.trail(out.Order.ID))
					}
					if tt.want == paidservice.StatusPending {
						w.wantState(payment, paidservice.Unknown)
						if out.Settlement.Success || out.Settlement.ErrorReason != "settlement_pending" ||
							out.Work != nil {
							t.Errorf("answer = %+v", out)
						}
						if view, err := r.Order(t.Context(), out.Order.ID); err != nil || view.Work != nil {
							t.Errorf("Order = %+v, %v: work that may be unpaid was shown", view, err)
						}
					}
					w.received(p, tt.received)
					w.received(other, 1)
					if n := w.runner.Runs(); n != 2 {
						t.Errorf("%d runs, want 2", n)
					}
					w.quiet(payment)
				})
			})
		}
	}
}

// whileRunning does something to the payment while the work continues.
func (w *world) whileRunning(r *replica, call paidservice.Call, do func()) *paidservice.Outcome {
	w.t.Helper()
	release := w.runner.Hold()
	var out *paidservice.Outcome
	var all sync.WaitGroup
	all.Go(func() { out = r.run(call) })
	w.until(call.Payment, paidservice.Running)
	do()
	release()
	all.Wait()
	return out
}

func TestMoneyThatLeavesWhileTheWorkRuns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		out := w.whileRunning(r, audit(payment), func() { w.ledger.Drain(p.address()) })
		if out.Status != paidservice.StatusDue || out.Quote.Error != "invalid_exact_evm_insufficient_balance" ||
			out.Settlement == nil || out.Settlement.Success {
			t.Fatalf("Run = %+v, want 402 with what became of the payment", out)
		}
		w.wantState(payment, paidservice.Unpaid)
		w.ledger.Fund(p.address(), 1_000_000)
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
			t.Errorf("the same payment with money = %s, want the work", out.Status)
		}
		if n := w.runner.Runs(); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
		w.received(p, 1)
	})
}

// A new payment unlocks work that the first could not pay for. The first then
// leads to the same work and is never charged.
func TestANewPaymentUnlocksSealedWork(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p, stranger := w.open(), w.payer(1_000_000), w.payer(1_000_000)
		first := r.buy(p)
		w.whileRunning(r, audit(first), func() { w.ledger.Drain(p.address()) })
		w.ledger.Fund(p.address(), 1_000_000)
		if out := r.run(audit(r.buy(stranger))); out.Status != paidservice.StatusPaid || w.runner.Runs() != 2 {
			t.Errorf("a stranger = %s with %d runs, want a run of its own", out.Status, w.runner.Runs())
		}
		second := r.buy(p)
		out := r.run(audit(second))
		if out.Status != paidservice.StatusPaid || w.runner.Runs() != 2 {
			t.Fatalf("a new payment = %s after %d runs, want the sealed work", out.Status, w.runner.Runs())
		}
		again := r.run(audit(first))
		if diff := cmp.Diff(out.Work, again.Work); again.Status != paidservice.StatusPaid || diff != "" {
			t.Errorf("the first payment = %s:\n%s", again.Status, diff)
		}
		w.received(p, 1)
		if view, err := r.Order(t.Context(), w.order(first).ID); err != nil || view.Work == nil {
			t.Errorf("the first order = %+v, %v, want the work", view, err)
		}
	})
}

func TestSomebodyElseSubmitsThePayment(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.chain, w.ledger.Forgetful = true, true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		out := w.whileRunning(r, audit(payment), func() {
			if err := w.ledger.Submit(payment); err != nil {
				t.Error(err)
			}
		})
		if out.Status != paidservice.StatusPaid || out.Settlement.Transaction == "" {
			t.Errorf("Run = %+v, want the work: the money is here", out)
		}
		w.received(p, 1)
		// An authorization that was spent before it came here pays for nothing.
		q, old := w.payer(1_000_000), (*paidservice.Outcome)(nil)
		spent := r.buy(q)
		if err := w.ledger.Submit(spent); err != nil {
			t.Fatal(err)
		}
		w.ledger.Mine(10)
		out, err := r.Run(t.Context(), audit(spent))
		if err != nil || out.Status != paidservice.StatusDue || old != nil {
			t.Errorf("a payment that was spent elsewhere = %+v, %v, want 402", out, err)
		}
	})
}

func TestThePayerCancels(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.chain, w.ledger.Forgetful = true, true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		out := w.whileRunning(r, audit(payment), func() { w.ledger.Cancel(payment) })
		if out.Status != paidservice.StatusDue || out.Quote.Error != "authorization_void" {
			t.Errorf("Run = %+v, want 402: the chain says that it was canceled", out)
		}
		w.received(p, 0)
		if out := r.run(audit(r.buy(p))); out.Status != paidservice.StatusPaid || w.runner.Runs() != 1 {
			t.Errorf("a new payment = %s after %d runs, want the sealed work", out.Status, w.runner.Runs())
		}
	})
}

func TestReorganization(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.chain, w.ledger.Forgetful = true, true
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		r.run(audit(payment))
		r.tend(payment)
		w.wantState(payment, paidservice.Delivered) // not final yet
		w.ledger.Reorg(payment)
		w.received(p, 0)
		r.tend(payment)
		w.wantState(payment, paidservice.Reorged)
		if view, err := r.Order(t.Context(), w.order(payment).ID); err != nil || view.Work != nil {
			t.Errorf("Order = %+v, %v: work was shown whose payment is gone", view, err)
		}
		r.tend(payment)
		w.wantState(payment, paidservice.Settled)
		w.received(p, 1)
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
			t.Errorf("after the payment was repeated = %s", out.Status)
		}
		w.ledger.Mine(10)
		r.tend(payment)
		if o := w.wantState(payment, paidservice.Final); o.Payload != "" {
			t.Error("the payment is kept although it is final")
		}
	})
}

// The same name with a new signature is answered with the first result.
func TestAliases(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p, stranger := w.open(), w.payer(1_000_000), w.payer(1_000_000)
		named := func(p *payer, key string) paidservice.Call {
			call := audit(r.buy(p))
			call.IdempotencyKey = key
			return call
		}
		first := r.run(named(p, "k1"))
		again := r.run(named(p, "k1"))
		if again.Status != paidservice.StatusPaid || again.Order.ID != first.Order.ID {
			t.Errorf("the same key = %+v, want the first order", again)
		}
		w.received(p, 1)
		if out := r.run(named(stranger, "k1")); out.Status != paidservice.StatusPaid || out.Order.ID == first.Order.ID {
			t.Errorf("the key of another payer = %+v, want an order of its own", out)
		}
		other := named(p, "k1")
		other.Arguments = []byte(`{"url":"https://other.example"}`)
		if _, err := r.Run(t.Context(), other); !problem.Is(err, "payment_identifier_in_use") {
			t.Errorf("the same key for another request = %v, want payment_identifier_in_use", err)
		}
		// The extension of x402 is such a name as well.
		identified := func() paidservice.Call {
			call := audit(r.buy(stranger))
			call.Payment.Extensions = map[string]json.RawMessage{
				"payment-identifier": json.RawMessage(`{"info":{"required":false,"id":"pay_0123456789abcdef"}}`),
			}
			return call
		}
		one, two := r.run(identified()), r.run(identified())
		if one.Status != paidservice.StatusPaid || two.Order.ID != one.Order.ID {
			t.Errorf("the same payment identifier = %+v, want the first order", two)
		}
		w.received(stranger, 2) // and the one of its key
		// A key whose first payment came to nothing takes the next one.
		poor := w.payer(0)
		failed := named(poor, "k2")
		if out := r.run(failed); out.Status != paidservice.StatusDue {
			t.Errorf("without money = %s", out.Status)
		}
		w.ledger.Fund(poor.address(), 1_000_000)
		if out := r.run(named(poor, "k2")); out.Status != paidservice.StatusPaid {
			t.Errorf("a new payment for the same key = %s, want the work", out.Status)
		}
		if out := r.run(failed); out.Status != paidservice.StatusPaid {
			t.Errorf("the first payment for the key = %s, want the work that the second paid for", out.Status)
		}
		w.received(poor, 1)
		// Both at once: one of them is charged.
		quick := w.payer(1_000_000)
		var all sync.WaitGroup
		for range 4 {
			call := named(quick, "k3")
			all.Go(func() {
				if out, err := r.Run(t.Context(), call); err != nil || out.Status != paidservice.StatusPaid {
					t.Errorf("the same key at once = %+v, %v", out, err)
				}
			})
		}
		all.Wait()
		w.received(quick, 1)
	})
}

func TestForgedPaymentsTakeNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, victim, thief := w.open(), w.payer(1_000_000), w.payer(1_000_000)
		call := audit(r.buy(victim))
		call.IdempotencyKey = "victims-key"
		r.run(call)
		sealed := w.payer(1_000_000)
		unpaid := r.buy(sealed)
		w.whileRunning(r, audit(unpaid), func() { w.ledger.Drain(sealed.address()) })
		for _, p := range []*payer{victim, sealed} {
			forged := thief.sign(r.run(audit(nil)).Quote)
			forged.Authorization.From = p.key.Address().String()
			call := audit(forged)
			call.IdempotencyKey = "victims-key"
			out := r.run(call)
			if out.Status != paidservice.StatusDue || out.Quote.Error != "invalid_exact_evm_signature" ||
				out.Work != nil {
				t.Errorf("a forged payment = %+v, want 402", out)
			}
		}
		if o := w.order(unpaid); o.SupersededBy != "" {
			t.Error("a forged payment took over sealed work")
		}
	})
}

// Work for nothing has its limits; who pays goes on.
func TestLimits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		call := func(n string) paidservice.Call {
			c := audit(r.buy(p))
			c.Arguments = []byte(`{"url":"https://` + n + `.example"}`)
			return c
		}
		calls := []paidservice.Call{call("a"), call("b"), call("c"), call("d")}
		release := w.runner.Hold()
		first := calls[0]
		first.Wait = -1
		r.run(first)
		if _, err := r.Run(t.Context(), calls[1]); !problem.Is(err, "payer_busy") {
			t.Errorf("a second run of a payer = %v, want payer_busy", err)
		}
		release()
		w.until(first.Payment, paidservice.Ran)
		for _, c := range calls[1:3] {
			c.Wait = -1
			release := w.runner.Hold() // work that ends while the call is there is paid
			r.run(c)
			release()
			w.until(c.Payment, paidservice.Ran)
		}
		if _, err := r.Run(t.Context(), calls[3]); !problem.Is(err, "unsettled_work") {
			t.Errorf("a fourth unpaid work = %v, want unsettled_work", err)
		}
		if out := r.run(calls[1]); out.Status != paidservice.StatusPaid {
			t.Errorf("paying = %s", out.Status)
		}
		if out := r.run(calls[3]); out.Status != paidservice.StatusPaid {
			t.Errorf("after paying = %s, want the work", out.Status)
		}
	})
}

func TestTheFacilitatorIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqldbtest.SQLite(t))
	r, p := w.open(), w.payer(1_000_000)
	payment := r.buy(p)
	w.ledger.Fail("verify", paidservicetest.Lost)
	out := r.run(audit(payment))
	if out.Status != paidservice.StatusFailed || out.Problem.Code != "facilitator_unavailable" ||
		out.Problem.RetryAfter == 0 {
		t.Fatalf("Run = %+v, want 503", out)
	}
	if w.runner.Runs() != 0 {
		t.Error("the work was done for a payment that nobody verified")
	}
	if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
		t.Errorf("the same payment afterwards = %s, want the work", out.Status)
	}
}

// steps are all the points at which a process may die.
var steps = []string{"reserved", "verified", "running", "ran", "sealed", "settling", "asked", "settled", "delivered"}

// hasty makes leases short, so that tests need not wait for them.
func (w *world) hasty() {
	w.options.RunLease, w.options.VerifyTimeout, w.options.SettleBudget, w.options.Slack = 300*time.Millisecond, 300*
		time.Millisecond, 500*time.Millisecond, 50*time.Millisecond
}

func TestAProcessDiesAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		for _, chain := range []bool{true, false} {
			t.Run(step+map[bool]string{true: ", with a chain", false: ", without"}[chain], func(t *testing.T) {
				t.Parallel()
				onBoth(t, func(t *testing.T, w *world) {
					w.hasty()
					w.chain, w.ledger.Forgetful = chain, chain
					r, p := w.open(), w.payer(1_000_000)
					payment := r.buy(p)
					r.dieAt(step)
					if out, err := r.try(audit(payment)); err == nil && step != "delivered" && step != "sealed" {
						t.Fatalf("the process survived %q with %+v", step, out)
					}
					next := w.open()
					out := w.persist(next, audit(payment))
					if out.Status != paidservice.StatusPaid {
						t.Fatalf("after the crash = %s; trail:\n%s", out.Status, w.trail(out.Order.ID))
					}
					w.received(p, 1)
					w.wantState(payment, paidservice.Delivered)
					// A run that lost its lease is begun again; one that was sealed never is.
					if n, most := w.runner.Runs(), w.begun(out.Order.ID); n > most {
						t.Errorf("%d runs, %d are on record; trail:\n%s", n, most, w.trail(out.Order.ID))
					}
					w.quiet(payment)
				})
			})
		}
	}
}

// begun counts the runs that are on record.
func (w *world) begun(id string) (n int) {
	for _, m := range w.moves(id) {
		if m.After == paidservice.Running && m.Before == paidservice.Reserved {
			n++
		}
	}
	return n
}

// persist repeats a call as a client does that is asked to retry.
func (w *world) persist(r *replica, call paidservice.Call) *paidservice.Outcome {
	w.t.Helper()
	var out *paidservice.Outcome
	for range 400 {
		out = r.run(call)
		if out.Status == paidservice.StatusPaid || out.Status == paidservice.StatusDue {
			return out
		}
		time.Sleep(50 * time.Millisecond)
	}
	return out
}

// Nobody comes back: the jobs alone take the order to a safe place.
func TestJobsTakeUpWhatACrashLeft(t *testing.T) {
	t.Parallel()
	want := map[string]paidservice.State{
		"reserved": paidservice.Released, "verified": paidservice.Released, "running": paidservice.Ran,
		"ran":      paidservice.Ran,
		"settling": paidservice.Settled, "asked": paidservice.Settled, "settled": paidservice.Settled,
	}
	for step, state := range want {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, w *world) {
				w.hasty()
				w.chain, w.ledger.Forgetful = true, true
				r, p := w.open(), w.payer(1_000_000)
				payment := r.buy(p)
				r.dieAt(step)
				if _, err := r.try(audit(payment)); err == nil {
					t.Fatal("the process survived")
				}
				next := w.open()
				for range 40 {
					if w.order(payment).State == state {
						break
					}
					time.Sleep(100 * time.Millisecond)
					next.tend(payment)
				}
				w.wantState(payment, state)
				if paid := map[bool]int{true: 1}[state.Paid()]; paid != len(w.ledger.Received()) {
					t.Errorf("%d payments arrived, want %d", len(w.ledger.Received()), paid)
				}
				if out := w.persist(next, audit(payment)); out.Status != paidservice.StatusPaid {
					t.Errorf("the caller comes back to %s", out.Status)
				}
				w.received(p, 1)
			})
		})
	}
}

// Faults, crashes and callers at random. Whatever happens: a payer is charged
// once at most, and has the work if charged.
func TestWhateverHappens(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	faults := []paidservicetest.Fault{
		paidservicetest.NotSent, paidservicetest.Lost, paidservicetest.LostAfter, paidservicetest.PendingAfter,
		paidservicetest.Busy, paidservicetest.NoTx,
		paidservicetest.OtherNetwork, paidservicetest.OtherTx, paidservicetest.Nonsense, paidservicetest.HangAfter,
		"", "", "",
	}
	for round := range rounds {
		onBoth(t, func(t *testing.T, w *world) {
			dice := rand.New(rand.NewPCG(uint64(round), 402)) //nolint:gosec // dice that can be thrown again
			w.hasty()
			w.chain = dice.IntN(2) == 0
			w.ledger.Forgetful = w.chain
			for range 4 {
				w.ledger.Fail("settle", faults[dice.IntN(len(faults))])
				if dice.IntN(2) == 0 {
					w.ledger.Fail("verify", []paidservicetest.Fault{paidservicetest.Lost, ""}[dice.IntN(2)])
				}
				if dice.IntN(3) == 0 {
					w.ledger.Fail("find", paidservicetest.Lost)
				}
			}
			a, b, p := w.open(), w.open(), w.payer(1_000_000)
			payment := a.buy(p)
			a.dieAt(steps[dice.IntN(len(steps))])
			if dice.IntN(2) == 0 {
				b.dieAt(steps[dice.IntN(len(steps))])
			}
			var all sync.WaitGroup
			for i := range 4 {
				r := []*replica{a, b}[i%2]
				all.Go(func() {
					_, err := r.try(audit(payment))
					if err != nil && !r.dead.Load() && !strings.Contains(err.Error(), "payer_busy") {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			all.Wait()
			last := w.open()
			out := w.persist(last, audit(payment))
			if out.Status != paidservice.StatusPaid {
				t.Errorf("round %d ends as %s; trail:\n%s", round, out.Status, w.trail(w.order(payment).ID))
			}
			w.received(p, 1)
			w.checkTrail(w.order(payment).ID)
			w.quiet(payment)
		})
	}
}
