package payer_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/server/payer"
	"ace/internal/storage"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
	"ace/internal/storefront/storehttp/servicehttp"
	"ace/internal/storefront/x402facilitator"
)

// market is a store that sells services, with the sandbox as its facilitator:
// all of it over HTTP, only the work and the money are simulated.
type market struct {
	url    string
	world  *sandboxtest.World
	runner *paidservicetest.Runner
}

func open(t *testing.T) *market {
	t.Helper()
	m := &market{world: sandboxtest.Start(t), runner: &paidservicetest.Runner{}}
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
	facilitator, err := x402facilitator.New(m.world.URL+"/x402", nil, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler
	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	m.url = server.URL
	definitions := paidservice.Definitions()
	for i := range definitions {
		definitions[i].Runner, definitions[i].Price, definitions[i].OutputSchema = m.runner, "0.10", json.RawMessage(
			`{"type":"object"}`)
	}
	token, store := evm.DevToken(), storage.Paid{Store: storage.New(db, nil)}
	service := paidservice.New(paidservice.Deps{
		Definitions: definitions, Facilitator: x402facilitator.NewPool(nil, facilitator), Store: store, Results: store,
		Prices: store, Vault: box, Log: slog.New(slog.DiscardHandler),
		Networks: []paidservice.Network{{
			ID: token.Network, Asset: token.Asset, Name: token.Name,
			Version: token.Version, Symbol: token.Symbol, Decimals: token.Decimals, PayTo: receiver,
		}},
	}, paidservice.Options{
		BaseURL: m.url, Name: "Test Store", Mode: "dev-ledger", Poll: 5 * time.Millisecond,
		SettleBudget: 4 * time.Second, Slack: 200 * time.Millisecond,
	})
	if err := service.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	go service.Watch(t.Context())
	mux := httpserver.NewMux(httpserver.WriteProblem)
	(&servicehttp.Handler{BaseURL: m.url, Service: service}).Mount(openapi.New(mux, "test", "1", nil),
		func(pattern string, h http.HandlerFunc, middleware ...httpserver.Middleware) {
			mux.Handle(pattern, httpserver.Chain(h, middleware...))
		})
	handler = mux
	return m
}

func (m *market) buy(t *testing.T, key evm.Key) (*payer.Receipt, error) {
	t.Helper()
	return payer.New(key, &payer.Options{Pause: 20 * time.Millisecond}).
		Buy(t.Context(), payer.Purchase{
			Store: m.url, Service: "run_ai_search_audit",
			Arguments: map[string]string{"url": "https://example.com"},
		})
}

// TestBuyFromTheStore buys through the real face, ledger of orders and
// facilitator, while the facilitator fails in every way.
func TestBuyFromTheStore(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{
		"", "500", "500_after_commit", "timeout_after_commit", "429", "pending",
		"pending_after_commit", "latency",
	} {
		t.Run("settle "+mode, func(t *testing.T) {
			t.Parallel()
			m := open(t)
			if mode != "" {
				m.world.FailX402("/settle", mode, 1)
			}
			key := newKey(t)
			receipt, err := m.buy(t, key)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(receipt.Result), "https://example.com") || len(receipt.Transaction) != 66 ||
				!strings.HasPrefix(receipt.OrderURL, m.url) {
				t.Errorf("receipt = %+v", receipt)
			}
			for _, f := range receipt.Files[:1] {
				if text, err := payer.New(key, nil).Text(t.Context(), f); err != nil || text != "<h1>Report</h1>" ||
					!strings.HasPrefix(f.MediaType, "text/html") {
					t.Errorf("file %+v = %q, %v", f, text, err)
				}
			}
			if s := m.world.X402State(); s.Transfers != 1 || s.Moved != 100000 || m.runner.Runs() != 1 {
				t.Errorf("the ledger has %+v after %d runs, want one of 0.10 after one", s, m.runner.Runs())
			}
			if b, err := payer.New(key, nil).Balance(t.Context(), m.world.URL); err != nil || b.Balance != "4.90" ||
				b.Network != evm.DevNetwork {
				t.Errorf("balance = %+v, %v, want 4.90", b, err)
			}
		})
	}
}

// TestTwelvePayersAtOnce settles all of them.
func TestTwelvePayersAtOnce(t *testing.T) {
	t.Parallel()
	m := open(t)
	var group sync.WaitGroup
	for range 12 {
		key := newKey(t)
		group.Go(func() {
			if _, err := m.buy(t, key); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if s := m.world.X402State(); s.Transfers != 12 || s.Moved != 12*100000 || m.runner.Runs() != 12 {
		t.Errorf("the ledger has %+v after %d runs, want twelve of 0.10", s, m.runner.Runs())
	}
}

func TestTextOfNothing(t *testing.T) {
	t.Parallel()
	m := open(t)
	buyer := payer.New(newKey(t), nil)
	for _, address := range []string{m.url + "/v1/orders/none/files/x", "http://127.0.0.1:1/x", "://"} {
		if text, err := buyer.Text(t.Context(), payer.File{Name: "x", URL: address}); err == nil {
			t.Errorf("Text(%s) = %q, want an error", address, text)
		}
		if b, err := buyer.Balance(t.Context(), address); err == nil {
			t.Errorf("Balance(%s) = %+v, want an error", address, b)
		}
	}
}

func TestPoorPayer(t *testing.T) {
	t.Parallel()
	m, key := open(t), newKey(t)
	for range 50 { // 5.00 in all
		if _, err := m.buy(t, key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.buy(t, key); err == nil || !strings.Contains(err.Error(), "invalid_exact_evm_insufficient_balance") {
		t.Errorf("the 51st purchase of 0.10 = %v, want a refusal", err)
	}
}
