package order_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/foundation/typeid"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

type fixture struct {
	*order.Service
	t         *testing.T
	store     *storage.Store
	processor *checkouttest.Processor
	sink      *sink
	step      func(string)
}

type sink struct {
	mu     sync.Mutex
	events []order.Event
	fail   int
}

func (s *sink) Deliver(ctx context.Context, e order.Event, _ *order.Order,
	buyer func(context.Context) (order.Buyer, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail > 0 {
		s.fail--
		return errors.New("the receiver answered 500")
	}
	if b, err := buyer(ctx); err != nil || b.Email == "" {
		return errors.New("no buyer")
	}
	s.events = append(s.events, e)
	return nil
}

func newDesk(t *testing.T, dsn string) *fixture {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	d := &fixture{t: t, store: storage.New(db, nil), processor: checkouttest.NewProcessor(), sink: &sink{}}
	d.Service = order.New(d.store, d.processor, slog.New(slog.DiscardHandler), order.Options{
		Sinks: map[string]order.Sink{"webhook": d.sink}, Step: func(name string) {
			if d.step != nil {
				d.step(name)
			}
		},
	})
	return d
}

// onBoth runs a test on each engine.
func onBoth(t *testing.T, test func(t *testing.T, d *fixture)) {
	t.Helper()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) { test(t, newDesk(t, dsn)) })
}

// sold puts an order of 2900 US cents on record, with its event.
func (d *fixture) sold(status order.Status) *order.Order {
	d.t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	quote := offer.Quote{Offer: offer.Offer{
		ID: "handbook", Name: "Handbook",
		Price: money.Amount{Minor: 2900, Currency: "USD"},
	}, Quantity: 1}
	session := &checkout.Session{
		ID: typeid.New("chk"), Token: typeid.New("c"), State: checkout.Creating,
		CreatedAt: now, UpdatedAt: now, Pages: []checkout.Page{{N: 1, Quote: quote}},
	}
	o := &order.Order{
		ID: typeid.New("ord"), CheckoutID: session.ID, Token: typeid.New("otk"), Status: status, Quote: quote,
		CreatedAt: now, UpdatedAt: now,
		Paid: order.Paid{Total: 2900, Currency: "USD", PaymentRef: "pi_" + session.ID, PageRef: "cs_1"},
	}
	event, err := order.NewEvent(order.EventFor(status), o, now)
	if err != nil {
		d.t.Fatal(err)
	}
	change := checkout.Change{
		Session: session, Order: o, Events: []order.Event{event},
		Schedule: order.Deliveries(event, d.SinkNames()),
	}
	if err := d.store.Insert(d.t.Context(), change, nil); err != nil {
		d.t.Fatal(err)
	}
	return o
}

func (d *fixture) show(id string) *order.Details {
	d.t.Helper()
	details, err := d.Show(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return details
}

// work runs the jobs that are due once; one that fails is due again at once.
func (d *fixture) work() {
	d.t.Helper()
	ctx := d.t.Context()
	handlers := d.Handlers()
	claimed, err := d.store.Lane(jobs.LaneHouse).Claim(ctx, 50, time.Minute)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, job := range claimed {
		end := jobs.End{Job: job, Done: true}
		if failure := handlers[job.Kind].Run(ctx, job); failure != nil {
			end.Done, end.Reason = false, failure.Error()
			end.Tries++
			end.RunAt = time.Now().Add(-time.Second)
		}
		if _, err := d.store.Lane(jobs.LaneHouse).End(ctx, []jobs.End{end}); err != nil {
			d.t.Fatal(err)
		}
	}
}

func TestRefundInParts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		o := d.sold(order.Confirmed)
		steps := []struct {
			minor    int64
			want     string
			refunded int64
			status   order.Status
		}{
			{900, "", 900, order.Confirmed},
			{2001, "invalid_amount", 900, order.Confirmed},
			{-1, "invalid_amount", 900, order.Confirmed},
			{0, "", 2900, order.Refunded},
			{0, "nothing_to_refund", 2900, order.Refunded},
		}
		for i, step := range steps {
			_, err := d.Refund(t.Context(), o.ID, step.minor, "asked for by the buyer")
			if step.want == "" && err != nil || step.want != "" && !problem.Is(err, step.want) {
				t.Errorf("step %d: Refund(%d) = %v, want %q", i, step.minor, err, step.want)
			}
			if got := d.show(o.ID).Order; got.Refunded != step.refunded || got.Status != step.status {
				t.Errorf("step %d: %d refunded, %s, want %d, %s", i, got.Refunded, got.Status, step.refunded,
					step.status)
			}
		}
		if got := d.processor.GivenBack(); got != 2900 {
			t.Errorf("%d went back, want 2900", got)
		}
	})
}

func TestRefundsAtTheSameTime(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		o := d.sold(order.Confirmed)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				_, err := d.Refund(t.Context(), o.ID, 1000, "")
				if err != nil && !problem.Is(err, "order_changed") && !problem.Is(err, "invalid_amount") {
					t.Errorf("Refund = %v", err)
				}
			})
		}
		wg.Wait()
		back := d.processor.GivenBack()
		if got := d.show(o.ID).Order; back > 2900 || got.Refunded != back {
			t.Errorf("%d went back, %d on record, of 2900", back, got.Refunded)
		}
	})
}

func TestRefundWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]checkouttest.Fault{
		"not done": checkouttest.Away,
		"done":     checkouttest.LostAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, d *fixture) {
				o := d.sold(order.RefundDue)
				d.processor.Fail("refund", fault)
				if _, err := d.Refund(t.Context(), o.ID, 0, ""); !problem.Is(err, "processor_unavailable") {
					t.Fatalf("Refund = %v, want processor_unavailable", err)
				}
				if _, err := d.Refund(t.Context(), o.ID, 0, ""); !problem.Is(err, "nothing_to_refund") {
					t.Errorf("a second Refund while the first is on its way = %v, want nothing_to_refund", err)
				}
				refund := d.show(o.ID).Refunds[0]
				if err := d.store.Schedule(t.Context(),
					jobs.Job{Kind: order.JobRefund, Ref: refund.ID, RunAt: time.Now().Add(-time.Second)}); err != nil {
					t.Fatal(err)
				}
				d.work()
				if got := d.show(o.ID); got.Order.Status != order.Refunded || got.Order.Refunded != 2900 ||
					d.processor.GivenBack() != 2900 {
					t.Errorf("%s, %d refunded, %d went back", got.Order.Status, got.Order.Refunded,
						d.processor.GivenBack())
				}
			})
		})
	}
}

func TestRefundRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		o := d.sold(order.Confirmed)
		d.processor.Fail("refund", checkouttest.Refusal)
		if _, err := d.Refund(t.Context(), o.ID, 0, ""); !problem.Is(err, "refund_refused") {
			t.Fatalf("Refund = %v, want refund_refused", err)
		}
		got := d.show(o.ID)
		if got.Refunds[0].State != order.RefundFailed || got.Refunds[0].Failure == "" || got.Order.Refunded != 0 {
			t.Errorf("refund = %+v", got.Refunds[0])
		}
		if _, err := d.Refund(t.Context(), o.ID, 0, ""); err != nil {
			t.Errorf("a new Refund after a refusal = %v", err)
		}
	})
}

func TestRefundMadeAtTheProcessor(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		o := d.sold(order.Confirmed)
		if _, err := d.processor.Refund(t.Context(),
			order.RefundRequest{Key: "dashboard", Amount: money.Amount{Minor: 2900, Currency: "USD"}}); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []string{o.Paid.PaymentRef, o.Paid.PaymentRef, "pi_of_somebody_else"} {
			if err := d.store.Schedule(t.Context(),
				jobs.Job{Kind: order.JobPayment, Ref: ref, RunAt: time.Now().Add(-time.Second)}); err != nil {
				t.Fatal(err)
			}
			d.work()
		}
		if got := d.show(o.ID).Order; got.Status != order.Refunded || got.Refunded != 2900 {
			t.Errorf("%s, %d refunded, want refunded, 2900", got.Status, got.Refunded)
		}
	})
}

func TestAccept(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		o := d.sold(order.Review)
		if got, err := d.Accept(t.Context(), o.ID); err != nil || got.Status != order.Confirmed {
			t.Errorf("Accept = %v, %v, want confirmed", got, err)
		}
		if _, err := d.Accept(t.Context(), o.ID); !problem.Is(err, "order_not_in_review") {
			t.Errorf("second Accept = %v, want order_not_in_review", err)
		}
		if _, err := d.Accept(t.Context(), "ord_nobody"); !problem.Is(err, "order_not_found") {
			t.Errorf("Accept of nothing = %v, want order_not_found", err)
		}
	})
}

func TestEventsAreDeliveredInTheEnd(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		d.sink.fail = 2
		o := d.sold(order.Confirmed)
		for range 4 {
			d.work()
		}
		got := d.show(o.ID).Deliveries
		if len(d.sink.events) != 1 || len(got) != 1 || got[0].State != order.DeliveryDelivered || got[0].Attempts != 3 {
			t.Fatalf("%d events, deliveries %+v, want one after three attempts", len(d.sink.events), got)
		}
		if n, err := d.Resend(t.Context(), o.ID); err != nil || n != 1 {
			t.Errorf("Resend = %d, %v", n, err)
		}
		d.work()
		if len(d.sink.events) != 2 || d.sink.events[0].ID != d.sink.events[1].ID {
			t.Error("a resent event must have the same id")
		}
	})
}

func TestEventsThatCannotBeDeliveredAreKept(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		d.sink.fail = 100
		o := d.sold(order.Confirmed)
		for range 8 {
			d.work()
		}
		got := d.show(o.ID).Deliveries
		if len(got) != 1 || got[0].State != order.DeliveryFailed || !strings.Contains(got[0].LastError, "500") {
			t.Errorf("deliveries = %+v, want one that failed, with the reason", got)
		}
	})
}

func TestListPagesNewestFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *fixture) {
		want := map[string]bool{}
		for range 5 {
			want[d.sold(order.Confirmed).ID] = true
		}
		review := d.sold(order.Review)
		got, after := map[string]bool{}, ""
		for {
			page, err := d.List(t.Context(), order.Filter{Statuses: []order.Status{order.Confirmed}}, after, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page {
				got[o.ID], after = true, o.ID
			}
			if len(page) < 2 {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
		if all, err := d.List(t.Context(), order.Filter{Statuses: []order.Status{order.Review, order.RefundDue}},
			"", 0); err != nil || len(all) != 1 || all[0].ID != review.ID {
			t.Errorf("List(review) = %v, %v", all, err)
		}
	})
}

func TestEventSaysNothingAboutTheBuyer(t *testing.T) {
	t.Parallel()
	o := &order.Order{
		ID: "ord_1", Paid: order.Paid{Total: 2900, Currency: "USD"},
		Quote: offer.Quote{Offer: offer.Offer{ID: "handbook"}, Quantity: 2},
	}
	event, err := order.NewEvent(order.EventCreated, o, time.Unix(1790000000, 0))
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(event.Body, &body); err != nil {
		t.Fatal(err)
	}
	if body["type"] != "order.created" || body["timestamp"] != "2026-09-21T14:13:20Z" {
		t.Errorf("body = %s", event.Body)
	}
	for _, word := range []string{"email", "name\":\"Ada", "address", "card"} {
		if strings.Contains(string(event.Body), word) {
			t.Errorf("the body mentions %q: %s", word, event.Body)
		}
	}
}
