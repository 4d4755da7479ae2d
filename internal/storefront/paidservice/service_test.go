package paidservice_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

func TestAPurchase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		out := r.run(audit(payment))
		if out.Status != paidservice.StatusPaid || out.Work == nil || len(out.Work.Files) != 2 ||
			!out.Settlement.Success || out.Settlement.Transaction == "" {
			t.Fatalf("Run = %+v, want the work and the settlement", out)
		}
		again := r.run(audit(payment))
		if diff := cmp.Diff(out.Work, again.Work); diff != "" ||
			again.Settlement.Transaction != out.Settlement.Transaction {
			t.Errorf("the same payment again (-first +second):\n%s", diff)
		}
		o := w.wantState(payment, paidservice.Delivered)
		if o.Payload == "" {
			t.Error("the payment is gone before it is final")
		}
		r.tend(payment)
		if o = w.wantState(payment, paidservice.Final); o.Payload != "" {
			t.Error("the payment is kept although it is spent")
		}
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
			t.Errorf("a final order = %s, want its work", out.Status)
		}
		w.received(p, 1)
		if n := w.runner.Runs(); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
		view, err := r.Order(t.Context(), o.ID)
		if err != nil || view.Work == nil || view.Definition.ID != paidservice.AISearchAudit {
			t.Errorf("Order = %+v, %v", view, err)
		}
		if f, err := r.File(t.Context(), o.ID, "ü.bin"); err != nil || len(f.Data) != 3 {
			t.Errorf("File = %v, %v", f, err)
		}
		w.quiet(payment)
	})
}

// Without a payment nothing is kept, nothing runs and nothing is charged.
func TestAQuote(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqldbtest.SQLite(t))
	r := w.open()
	for transport, url := range map[paidservice.Transport]string{
		paidservice.HTTP: "https://store.example/v1/services/ai-search-audit/run",
		paidservice.MCP:  "https://store.example/mcp",
	} {
		call := audit(nil)
		call.Transport = transport
		out := r.run(call)
		if out.Status != paidservice.StatusDue || out.Quote.Resource.URL != url ||
			out.Quote.Error != "payment_required" || out.Quote.Check() != nil {
			t.Errorf("quote over %s = %+v (%v), want one for %s", transport, out.Quote, out.Quote.Check(), url)
		}
		if accepts := out.Quote.Accepts; len(accepts) != 1 || accepts[0].Amount != "100000" ||
			accepts[0].MaxTimeoutSeconds != 300 {
			t.Errorf("quote over %s accepts %+v, want $0.10", transport, accepts)
		}
	}
	if orders, err := w.store.Orders(t.Context(), paidservice.Filter{}, "", 10); err != nil || len(orders) != 0 {
		t.Errorf("a quote left %d orders, %v", len(orders), err)
	}
	tests := []struct {
		name, want string
		call       paidservice.Call
	}{
		{"another service", "service_not_found", paidservice.Call{Service: "weather"}},
		{
			"arguments without url", "required",
			paidservice.Call{Service: paidservice.LLMsTxtDraft, Arguments: []byte(`{}`)},
		},
	}
	for _, tt := range tests {
		if _, err := r.Run(t.Context(), tt.call); !problem.Is(err, tt.want) {
			t.Errorf("%s: Run = %v, want %s", tt.name, err, tt.want)
		}
	}
}

// Every row of the table of hostile payments, before anything is run.
func TestRefusals(t *testing.T) {
	t.Parallel()
	onBoth(t, refusals)
}

func refusals(t *testing.T, w *world) {
	r, p := w.open(), w.payer(1_000_000)
	quote := r.run(audit(nil)).Quote
	terms := quote.Accepts[0]
	authorize := func(change func(a *x402.Authorization, terms *x402.PaymentRequirements,
		info *x402.ResourceInfo),
	) *x402.PaymentPayload {
		a, accepted, info := p.sign(quote).Authorization, terms, quote.Resource
		change(&a, &accepted, &info)
		payment, err := p.key.Authorize(accepted, &info, a)
		if err != nil {
			t.Fatal(err)
		}
		return payment
	}
	in := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	tests := []struct {
		name    string
		payment *x402.PaymentPayload
		want    x402.Reason
	}{
		{
			"signed less",
			authorize(func(a *x402.Authorization, _ *x402.PaymentRequirements,
				_ *x402.ResourceInfo,
			) {
				a.Value = "99999"
			}), x402.ReasonValue,
		},
		{
			"signed more",
			authorize(func(a *x402.Authorization, _ *x402.PaymentRequirements,
				_ *x402.ResourceInfo,
			) {
				a.Value = "100001"
			}), x402.ReasonValue,
		},
		{
			"to somebody else",
			authorize(func(a *x402.Authorization, _ *x402.PaymentRequirements, _ *x402.ResourceInfo) { a.To = a.From }),
			x402.ReasonRecipient,
		},
		{"expired", authorize(func(a *x402.Authorization, _ *x402.PaymentRequirements, _ *x402.ResourceInfo) {
			a.ValidBefore = in(-time.Second)
		}), x402.ReasonValidBefore},
		{
			"expires while the work would run",
			authorize(func(a *x402.Authorization, _ *x402.PaymentRequirements, _ *x402.ResourceInfo) {
				a.ValidBefore = in(12 * time.Second)
			}), x402.ReasonValidBefore,
		},
		{"not valid yet", authorize(func(a *x402.Authorization, _ *x402.PaymentRequirements, _ *x402.ResourceInfo) {
			a.ValidAfter = in(time.Hour)
		}), x402.ReasonValidAfter},
		{
			"accepted another amount",
			authorize(func(_ *x402.Authorization, r *x402.PaymentRequirements,
				_ *x402.ResourceInfo,
			) {
				r.Amount = "1"
			}), x402.ReasonNoMatch,
		},
		{
			"accepted another network",
			authorize(func(_ *x402.Authorization, r *x402.PaymentRequirements,
				_ *x402.ResourceInfo,
			) {
				r.Network = "eip155:1"
			}), x402.ReasonNoMatch,
		},
		{
			"accepted another asset",
			authorize(func(_ *x402.Authorization, r *x402.PaymentRequirements,
				_ *x402.ResourceInfo,
			) {
				r.Asset = r.PayTo
			}), x402.ReasonNoMatch,
		},
		{"another service", authorize(func(_ *x402.Authorization, _ *x402.PaymentRequirements, i *x402.ResourceInfo) {
			i.URL = "https://store.example/v1/services/llms-txt-draft/run"
		}), x402.ReasonResourceMismatch},
	}
	tampered := p.sign(quote)
	tampered.Signature = p.sign(quote).Signature
	tests = append(tests, struct {
		name    string
		payment *x402.PaymentPayload
		want    x402.Reason
	}{"tampered", tampered, x402.ReasonSignature})
	for _, tt := range tests {
		out := r.run(audit(tt.payment))
		if out.Status != paidservice.StatusDue || out.Quote.Error != string(tt.want) || len(out.Quote.Accepts) != 1 {
			t.Errorf("%s: Run = %s %+v, want 402 %s with a quote", tt.name, out.Status, out.Quote, tt.want)
		}
	}
	if n := w.runner.Runs(); n != 0 {
		t.Errorf("%d runs for payments that were refused", n)
	}
	if _, settles := w.ledger.Calls(); settles != 0 {
		t.Errorf("%d calls to settle payments that were refused", settles)
	}
	w.received(p, 0)
	if orders, err := w.store.Orders(t.Context(), paidservice.Filter{}, "", 10); err != nil || len(orders) != 0 {
		t.Errorf("payments that were refused at once left %d orders, %v", len(orders), err)
	}
}

// Money for one is signed away twice, and shown to two replicas at the same
// time: one call has its work, the other reads what is missing.
func TestDoubleSpend(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		a, b, p := w.open(), w.open(), w.payer(100_000)
		calls := []paidservice.Call{audit(a.buy(p)), audit(a.buy(p))}
		calls[1].Arguments = []byte(`{"url":"https://other.example"}`)
		var all sync.WaitGroup
		for i, r := range []*replica{a, b} {
			all.Go(func() {
				out, err := r.Run(t.Context(), calls[i])
				if err != nil && !problem.Is(err, "payer_busy") {
					t.Errorf("call %d: %v", i, err)
				}
				if out != nil {
					w.honest(calls[i], out)
				}
			})
		}
		all.Wait()
		paid := 0
		for i, call := range calls {
			switch out := a.run(call); {
			case out.Status == paidservice.StatusPaid:
				paid++
			case out.Status != paidservice.StatusDue || out.Quote.Error != "invalid_exact_evm_insufficient_balance":
				t.Errorf("call %d = %+v, want the work or what is missing", i, out)
			}
		}
		if paid != 1 {
			t.Errorf("%d calls have their work, want 1", paid)
		}
		w.received(p, 1)
	})
}

// One authorization is shown for two services at the same time: it is bound to
// one of them.
func TestOnePaymentForTwoServices(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		w.prices = map[string]string{paidservice.LLMsTxtDraft: "0.10"} // the same price
		a, b, p := w.open(), w.open(), w.payer(1_000_000)
		payment := a.buy(p)
		payment.Resource = nil
		services := []string{paidservice.AISearchAudit, paidservice.LLMsTxtDraft}
		var mu sync.Mutex
		var all sync.WaitGroup
		paid := 0
		for i, r := range []*replica{a, b, a, b} {
			call := audit(payment)
			call.Service = services[i%2]
			all.Go(func() {
				out, err := r.Run(t.Context(), call)
				mu.Lock()
				defer mu.Unlock()
				if err == nil && out.Status == paidservice.StatusPaid {
					paid++
				} else if !problem.Is(err, "payment_bound_to_other_request") {
					t.Errorf("call %d = %+v, %v", i, out, err)
				}
			})
		}
		all.Wait()
		if paid != 2 || w.runner.Runs() != 1 {
			t.Errorf("%d calls have work after %d runs, want the 2 of one service after 1", paid, w.runner.Runs())
		}
		w.received(p, 1)
	})
}

// What names no service, or names this one by any convention, is bound to the
// request that it came with first.
func TestBinding(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r := w.open()
		quote := r.run(audit(nil)).Quote
		for _, url := range []string{
			"", "mcp://tool/run_ai_search_audit",
			"http://proxy.internal/v1/services/ai-search-audit/run?x=1", "https://store.example/mcp",
		} {
			p := w.payer(1_000_000)
			payment := p.sign(quote)
			payment.Resource = &x402.ResourceInfo{URL: url}
			if url == "" {
				payment.Resource = nil
			}
			if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
				t.Errorf("payment for %q = %s, want it taken", url, out.Status)
			}
			other := audit(payment)
			other.Arguments = []byte(`{"url":"https://other.example"}`)
			if _, err := r.Run(t.Context(), other); !problem.Is(err, "payment_bound_to_other_request") {
				t.Errorf("other arguments = %v, want payment_bound_to_other_request", err)
			}
			other = audit(payment)
			other.Service = paidservice.LLMsTxtDraft
			if _, err := r.Run(t.Context(), other); !problem.Is(err, "payment_bound_to_other_request") {
				t.Errorf("another service = %v, want payment_bound_to_other_request", err)
			}
			forged := *payment
			forged.Signature = "0x" + payment.Signature[4:] + "00"
			if _, err := r.Run(t.Context(), audit(&forged)); !problem.Is(err, "payment_bound_to_other_request") {
				t.Errorf("another signature over the same nonce = %v, want payment_bound_to_other_request", err)
			}
			spaced := audit(payment)
			spaced.Arguments = []byte(" {\n\"url\" : \"https:\\/\\/site.example\" } ")
			if out := r.run(spaced); out.Status != paidservice.StatusPaid {
				t.Errorf("the same arguments in other words = %s", out.Status)
			}
			w.received(p, 1)
		}
	})
}

// Eight calls with one authorization, over two replicas.
func TestEightAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		a, b, p := w.open(), w.open(), w.payer(1_000_000)
		payment := a.buy(p)
		release := w.runner.Hold()
		time.AfterFunc(100*time.Millisecond, release)
		outs := make([]*paidservice.Outcome, 8)
		var all sync.WaitGroup
		for i := range outs {
			all.Go(func() {
				r := a
				if i%2 == 1 {
					r = b
				}
				out, err := r.Run(t.Context(), audit(payment))
				if err != nil {
					t.Errorf("call %d: %v", i, err)
					return
				}
				outs[i] = out
			})
		}
		all.Wait()
		for i, out := range outs {
			if out == nil || out.Status != paidservice.StatusPaid {
				t.Fatalf("call %d = %+v, want the work", i, out)
			}
			w.honest(audit(payment), out)
			if diff := cmp.Diff(outs[0].Work, out.Work); diff != "" ||
				out.Settlement.Transaction != outs[0].Settlement.Transaction {
				t.Errorf("call %d differs from the first:\n%s", i, diff)
			}
		}
		if n := w.runner.Runs(); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
		w.received(p, 1)
		w.wantState(payment, paidservice.Delivered)
	})
}

func TestTwelvePayersAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.open(), w.open()
		w.ledger.Fail("settle", "busy", "busy", "not sent", "busy") // the facilitator's wallet stumbles
		var all sync.WaitGroup
		payers := make([]*payer, 12)
		for i := range payers {
			payers[i] = w.payer(100_000)
			payment := a.buy(payers[i])
			all.Go(func() {
				r := a
				if i%2 == 1 {
					r = b
				}
				out, err := r.Run(t.Context(), audit(payment))
				if err != nil || out.Status != paidservice.StatusPaid {
					t.Errorf("payer %d: %+v, %v, want the work", i, out, err)
				}
			})
		}
		all.Wait()
		for _, p := range payers {
			w.received(p, 1)
		}
		if n := w.runner.Runs(); n != 12 {
			t.Errorf("%d runs, want 12", n)
		}
	})
}

func TestFailingWork(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(w *world)
		code  string
		kind  problem.Kind
	}{
		{"an error", func(w *world) { w.runner.Fail(errors.New("disk full")) }, "service_failed", problem.Internal},
		{
			"a problem", func(w *world) { w.runner.Fail(problem.New(problem.Invalid, "target_not_allowed", "No.")) },
			"service_failed", problem.Unprocessable,
		},
		{"a panic", func(w *world) { w.runner.Panic(true) }, "service_failed", problem.Internal},
		{"too long", func(w *world) { w.runner.Hold() }, "service_failed", problem.Timeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sqldbtest.SQLite(t))
			w.options.RunLimit = 200 * time.Millisecond
			r, p := w.open(), w.payer(1_000_000)
			payment := r.buy(p)
			tt.spoil(w)
			out := r.run(audit(payment))
			if out.Status != paidservice.StatusFailed || out.Problem.Code != tt.code || out.Problem.Kind != tt.kind {
				t.Fatalf("Run = %+v %+v, want %s of kind %v", out, out.Problem, tt.code, tt.kind)
			}
			if _, settles := w.ledger.Calls(); settles != 0 {
				t.Error("the payer was charged for work that failed")
			}
			w.wantState(payment, paidservice.Released)
			w.received(p, 0)
		})
	}
	w := newWorld(t, sqldbtest.SQLite(t))
	r, p := w.open(), w.payer(1_000_000)
	payment := r.buy(p)
	w.runner.Fail(errors.New("disk full"))
	r.run(audit(payment))
	if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
		t.Errorf("the same payment after a failure = %s, want the work", out.Status)
	}
	w.received(p, 1)
}

// A caller who leaves is not charged, and finds the work when coming back.
func TestTheGate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		release := w.runner.Hold()
		ctx, leave := context.WithCancel(t.Context())
		var gone sync.WaitGroup
		gone.Go(func() {
			if _, err := r.Run(ctx, audit(payment)); !errors.Is(err, context.Canceled) {
				t.Errorf("Run of a caller who left = %v", err)
			}
		})
		w.until(payment, paidservice.Running)
		leave()
		gone.Wait()
		release()
		w.until(payment, paidservice.Ran)
		r.tend(payment)
		w.received(p, 0)
		if view, err := r.Order(t.Context(), w.order(payment).ID); err != nil || view.Work != nil {
			t.Errorf("Order = %+v, %v: unpaid work was shown", view, err)
		}
		if _, err := r.File(t.Context(), w.order(payment).ID, "report.html"); !problem.Is(err, "service_not_paid") {
			t.Errorf("File = %v, want service_not_paid", err)
		}
		if out := r.run(audit(payment)); out.Status != paidservice.StatusPaid {
			t.Errorf("coming back = %s, want the work", out.Status)
		}
		if n := w.runner.Runs(); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
		w.received(p, 1)
	})
}

// Work that takes longer than the caller waits goes on, and is charged when
// the caller comes back.
func TestLongWork(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		r, p := w.open(), w.payer(1_000_000)
		payment := r.buy(p)
		release := w.runner.Hold()
		call := audit(payment)
		call.Wait = -1
		out := r.run(call)
		if out.Status != paidservice.StatusRunning || out.Order == nil || out.RetryAfter == 0 {
			t.Fatalf("Run = %+v, want that the work continues", out)
		}
		deadline := time.Now().Add(5 * time.Second)
		for w.order(payment).Progress.Done != 3 && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		if got := w.order(payment).Progress; got.Phase != "crawling" || got.Total != 10 {
			t.Errorf("progress = %+v", got)
		}
		if out := r.run(call); out.Status != paidservice.StatusRunning {
			t.Errorf("asking again = %s", out.Status)
		}
		release()
		w.until(payment, paidservice.Ran)
		if out := r.run(call); out.Status != paidservice.StatusPaid {
			t.Errorf("coming back = %s, want the work", out.Status)
		}
		w.received(p, 1)
	})
}

// until waits for a state that another goroutine brings about.
func (w *world) until(p *x402.PaymentPayload, want paidservice.State) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		k := p.Key()
		o, err := w.store.Find(w.t.Context(),
			paidservice.Authorization{Network: k.Network, Asset: k.Asset, Payer: k.Payer, Nonce: k.Nonce})
		if err == nil && o.State == want {
			return
		}
	}
	w.wantState(p, want)
}
