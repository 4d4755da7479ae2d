package servicehttp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storage"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
	"ace/internal/storefront/storehttp/servicehttp"
)

// world is the handler with a real ledger of orders behind it; the facilitator
// and the work are simulated.
type world struct {
	t        *testing.T
	services *servicehttp.Handler
	service  *paidservice.Service
	ledger   *paidservicetest.Ledger
	runner   *paidservicetest.Runner
	store    storage.Paid
	handler  http.Handler
	log      *bytes.Buffer
}

type settings struct {
	network paidservice.Network
	price   string
	options paidservice.Options
}

func setup(t *testing.T, change ...func(*settings)) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	s := settings{
		network: paidservicetest.Network(), price: "0.10",
		options: paidservice.Options{
			BaseURL: "https://store.example", Name: "Test Store", Mode: "facilitator",
			Poll: 5 * time.Millisecond, SettleBudget: 4 * time.Second, Slack: 200 * time.Millisecond,
		},
	}
	for _, c := range change {
		c(&s)
	}
	w := &world{
		t: t, ledger: paidservicetest.NewLedger(s.network.ID, s.network.Asset),
		runner: &paidservicetest.Runner{}, store: storage.Paid{Store: storage.New(db, nil)}, log: &bytes.Buffer{},
	}
	definitions := paidservice.Definitions()
	for i := range definitions {
		definitions[i].Runner, definitions[i].Price = w.runner, s.price
		definitions[i].OutputSchema = json.RawMessage(`{"type":"object"}`)
	}
	w.service = paidservice.New(paidservice.Deps{
		Definitions: definitions, Networks: []paidservice.Network{s.network}, Facilitator: w.ledger, Store: w.store,
		Results: w.store, Prices: w.store,
		Vault: box, Log: slog.New(slog.DiscardHandler),
	}, s.options)
	if err := w.service.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.service.Close)
	w.services = &servicehttp.Handler{BaseURL: "https://store.example", Service: w.service}
	w.handler = mount(w.services)
	return w
}

// mount serves a handler as the store does.
func mount(f *servicehttp.Handler) http.Handler {
	mux := httpserver.NewMux(httpserver.WriteProblem)
	f.Mount(openapi.New(mux, "test", "1", nil), func(pattern string, h http.HandlerFunc, m ...httpserver.Middleware) {
		mux.Handle(pattern, httpserver.Chain(h, m...))
	})
	return mux
}

// do sends a request; headers are names and values by turns.
func (w *world) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "https://store.example"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer
}

const (
	auditPath = "/v1/services/ai-search-audit/run"
	site      = `{"url":"https://site.example"}`
)

// quote asks what an audit costs.
func (w *world) quote() *x402.PaymentRequired {
	w.t.Helper()
	q, err := x402.ParseRequiredHeader(w.do(http.MethodPost, auditPath, site).Header().Get(x402.HeaderRequired))
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

// payer returns an account with so much money.
func (w *world) payer(balance int64) evm.Key {
	w.t.Helper()
	key, err := evm.NewKey()
	if err != nil {
		w.t.Fatal(err)
	}
	w.ledger.Fund(key.Address().String(), balance)
	return key
}

// sign returns a signed payment of a quote, as the header's value.
func (w *world) sign(key evm.Key, q *x402.PaymentRequired) string {
	w.t.Helper()
	p, err := key.Pay(q.Accepts[0], &q.Resource, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	value, err := p.Header()
	if err != nil {
		w.t.Fatal(err)
	}
	return value
}

// order reads the body of a response as an order.
func (w *world) order(answer *httptest.ResponseRecorder, status int) *servicehttp.ServiceOrder {
	w.t.Helper()
	if answer.Code != status {
		w.t.Fatalf("answer = %d %s, want %d", answer.Code, answer.Body, status)
	}
	var o servicehttp.ServiceOrder
	if err := json.Unmarshal(answer.Body.Bytes(), &o); err != nil {
		w.t.Fatal(err)
	}
	if o.Object != "service_order" {
		w.t.Errorf("answer = %s, want an order", answer.Body)
	}
	return &o
}

// required reads the quote of a 402, which is in the header and the body.
func (w *world) required(answer *httptest.ResponseRecorder) *x402.PaymentRequired {
	w.t.Helper()
	inHeader, err := x402.ParseRequiredHeader(answer.Header().Get(x402.HeaderRequired))
	if err != nil || answer.Code != http.StatusPaymentRequired || answer.Header().Get("Cache-Control") != "no-store" {
		w.t.Fatalf("answer = %d %v %s (%v), want 402 with a quote", answer.Code, answer.Header(), answer.Body, err)
	}
	var inBody x402.PaymentRequired
	if err := json.Unmarshal(answer.Body.Bytes(), &inBody); err != nil || inBody.Error != inHeader.Error ||
		len(inBody.Accepts) != len(inHeader.Accepts) {
		w.t.Errorf("the body holds another quote than the header: %s", answer.Body)
	}
	return inHeader
}
