package operatorhttp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/operatorhttp"
	"ace/internal/storefront/order"
	"ace/internal/storefront/paidservice"

	"github.com/google/go-cmp/cmp"
)

var at = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// services are two orders of paid services, the first of which needs a decision.
type services struct{ orders []*paidservice.Order }

func newServices() *services {
	return &services{
		[]*paidservice.Order{
			{
				ID:        "ord_2",
				Service:   "ai-search-audit",
				State:     paidservice.Unknown,
				Attention: "the chain does not show it",
				Auth: paidservice.Authorization{
					Payer:   "0xa",
					PayTo:   "0xb",
					Amount:  "5",
					Asset:   "0xc",
					Network: "eip155:1",
				},
			},
			{ID: "ord_1", Service: "llms-txt-draft", State: paidservice.Delivered, SettledAt: at, DeliveredAt: at},
		},
	}
}

func (s *services) Orders(_ context.Context, f paidservice.Filter, before string, limit int) ([]*paidservice.Order,
	error,
) {
	var found []*paidservice.Order
	seen := before == ""
	for _, o := range s.orders {
		fits := (!f.Attention || o.Attention != "") && (f.State == "" || o.State == f.State)
		if seen && fits && len(found) < limit {
			found = append(found, o)
		}
		seen = seen || o.ID == before
	}
	return found, nil
}

func (s *services) Order(_ context.Context, id string) (*paidservice.Order, error) {
	for _, o := range s.orders {
		if o.ID == id {
			return o, nil
		}
	}
	return nil, problem.New(problem.NotFound, "service_order_not_found", "There is no such order.")
}

func (s *services) Moves(context.Context, string) ([]paidservice.Move, error) {
	return []paidservice.Move{
		{At: at, Before: paidservice.Settling, After: paidservice.Unknown, Evidence: "timeout"},
	}, nil
}

func (s *services) Decide(ctx context.Context, id, tx string) (*paidservice.Order, error) {
	o, err := s.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	decided := *o
	decided.Tx, decided.State, decided.Attention = tx, paidservice.Released, ""
	return &decided, nil
}

type parked []jobs.Job

func (p parked) ParkedJobs(context.Context) ([]jobs.Job, error) { return p, nil }

type operator struct {
	t       *testing.T
	handler http.Handler
	store   *storage.Store
	order   *order.Order
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	store := storage.New(db, nil)
	orders := order.New(store, checkouttest.NewProcessor(), slog.New(slog.DiscardHandler), order.Options{})
	paid := newServices()
	given := parked{{Kind: "deliver", Ref: "evt_1", Tries: 12}}
	o := &operator{t: t, store: store, handler: operatorhttp.New(orders, given, paid, paid)}
	o.order = o.sell()
	return o
}

// sell stores an order of 29 dollars that is in review.
func (o *operator) sell() *order.Order {
	o.t.Helper()
	quote := offer.Quote{Offer: offer.Offer{
		ID: "handbook", Name: "Handbook", Price: money.Amount{Minor: 2900, Currency: "USD"},
	}, Quantity: 1}
	session := &checkout.Session{
		ID: "chk_1", Token: "c_1", State: checkout.Creating, CreatedAt: at, UpdatedAt: at,
		Pages: []checkout.Page{{N: 1, Quote: quote}},
	}
	sold := &order.Order{
		ID: "ord_1", CheckoutID: "chk_1", Token: "otk_1", Status: order.Review, Reason: "paid after it expired",
		Quote: quote, CreatedAt: at, UpdatedAt: at,
		Paid: order.Paid{Total: 2900, Currency: "USD", PaymentRef: "pi_1", PageRef: "cs_1"},
	}
	if err := o.store.Insert(o.t.Context(), checkout.Change{Session: session, Order: sold}, nil); err != nil {
		o.t.Fatal(err)
	}
	return sold
}

func (o *operator) call(method, path, body string, out any) int {
	o.t.Helper()
	r := httptest.NewRequestWithContext(o.t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	o.handler.ServeHTTP(w, r)
	if out != nil {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			o.t.Fatalf("%s %s = %d %s: %v", method, path, w.Code, w.Body, err)
		}
	}
	return w.Code
}

func TestOrders(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	want := operatorhttp.Order{
		ID: "ord_1", CheckoutID: "chk_1", Status: "review", Reason: "paid after it expired", OfferID: "handbook",
		OfferName: "Handbook", Quantity: 1, Total: "USD 29.00", Amount: 2900, Currency: "USD", PaymentRef: "pi_1",
		ProcessorRef: "cs_1", CreatedAt: at,
	}
	var list operatorhttp.Orders
	if status := o.call("GET", "/orders?status=review", "", &list); status != http.StatusOK || len(list.Orders) != 1 {
		t.Fatalf("list = %d %+v", status, list)
	}
	if diff := cmp.Diff(want, list.Orders[0]); diff != "" || list.Next != "" {
		t.Errorf("order, next %q (-want +got):\n%s", list.Next, diff)
	}
	var page operatorhttp.Orders
	if o.call("GET", "/orders?limit=1", "", &page); page.Next != "ord_1" {
		t.Errorf("next of a full page = %q, want its last order", page.Next)
	}
	var none operatorhttp.Orders
	if o.call("GET", "/orders?after=ord_1", "", &none); none.Orders == nil || len(none.Orders) != 0 {
		t.Errorf("after the last = %+v, want an empty array", none)
	}
	var shown operatorhttp.Order
	o.call("GET", "/orders/ord_1", "", &shown)
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	var accepted operatorhttp.Order
	if status := o.call("POST", "/orders/ord_1/accept", "", &accepted); status != http.StatusOK ||
		accepted.Status != "confirmed" {
		t.Errorf("accept = %d %+v", status, accepted)
	}
}

func TestParkedJobs(t *testing.T) {
	t.Parallel()
	var got operatorhttp.Parked
	newOperator(t).call("GET", "/jobs/parked", "", &got)
	want := operatorhttp.Parked{Jobs: []operatorhttp.ParkedJob{{Kind: "deliver", Ref: "evt_1", Tries: 12}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parked (-want +got):\n%s", diff)
	}
}

func TestServiceOrders(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	ids := func(query string) (ids []string, next string) {
		t.Helper()
		var list operatorhttp.ServiceOrders
		if status := o.call("GET", "/service-orders"+query, "", &list); status != http.StatusOK {
			t.Fatalf("list %s = %d", query, status)
		}
		for _, one := range list.Orders {
			ids = append(ids, one.ID)
		}
		return ids, list.Next
	}
	for _, tt := range []struct {
		query string
		ids   []string
		next  string
	}{
		{"", []string{"ord_2", "ord_1"}, ""},
		{"?limit=1", []string{"ord_2"}, "ord_2"},
		{"?limit=1&after=ord_2", []string{"ord_1"}, "ord_1"},
		{"?attention=true", []string{"ord_2"}, ""},
		{"?state=delivered", []string{"ord_1"}, ""},
	} {
		got, next := ids(tt.query)
		if diff := cmp.Diff(tt.ids, got); diff != "" || next != tt.next {
			t.Errorf("%q: next %q, want %q (-want +got):\n%s", tt.query, next, tt.next, diff)
		}
	}
	var shown operatorhttp.ServiceOrder
	o.call("GET", "/service-orders/ord_2", "", &shown)
	if shown.Payer != "0xa" || shown.Attention == "" || shown.SettledAt != nil || len(shown.Moves) != 1 ||
		shown.Moves[0].Evidence != "timeout" {
		t.Errorf("shown = %+v, want the order with its audit trail", shown)
	}
	var decided operatorhttp.ServiceOrder
	o.call("POST", "/service-orders/ord_2/decide", `{"transaction":"0xfeed"}`, &decided)
	if decided.Transaction != "0xfeed" || decided.State != string(paidservice.Released) {
		t.Errorf("decided = %+v", decided)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"unknown order", "GET", "/orders/ord_none", "", 404, "order_not_found"},
		{"refund of an unknown order", "POST", "/orders/ord_none/refund", `{}`, 404, "order_not_found"},
		{"refund of more than was paid", "POST", "/orders/ord_1/refund", `{"amount":999999}`, 0, ""},
		{"unknown status", "GET", "/orders?status=lost", "", 400, ""},
		{"limit out of range", "GET", "/orders?limit=501", "", 400, ""},
		{"unknown service order", "GET", "/service-orders/ord_none", "", 404, "service_order_not_found"},
		{"decision on an unknown one", "POST", "/service-orders/ord_none/decide", `{}`, 404, "service_order_not_found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var refusal struct{ Code string }
			status := o.call(tt.method, tt.path, tt.body, &refusal)
			if status < 400 || tt.status != 0 && status != tt.status || tt.code != "" && refusal.Code != tt.code {
				t.Errorf("%d %s, want %d %s", status, refusal.Code, tt.status, tt.code)
			}
		})
	}
}
