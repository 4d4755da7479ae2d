package storehttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/sandbox"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/stripe"
)

// world is a whole store on a port of its own, beside a sandbox that takes the
// money: only the binary around them is missing.
type world struct {
	t       testing.TB
	URL     string // of the store
	Sandbox *sandboxtest.World
	Sales   *checkout.Service
	Orders  *order.Service
	Catalog *offer.Catalog
	Store   *storage.Store
	Log     *safeBuffer
	Handler http.Handler // of the store, as it is served at URL
	file    string       // of the database

	mu   sync.Mutex
	step func(string)
}

type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

const webhookSecret = "whsec_storehttp"

// setup starts a world. change, if any, adjusts what the face is built of.
func setup(t testing.TB, change ...func(*storehttp.Deps)) *world {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	w := &world{t: t, URL: "http://" + server.Listener.Addr().String(), Log: &safeBuffer{}}
	w.Sandbox = sandboxtest.Start(t, sandbox.Webhook{URL: w.URL + "/webhooks/stripe", Secret: webhookSecret})
	log := slog.New(slog.NewTextHandler(w.Log, nil))
	processor := w.processor()
	var worker *jobs.Worker
	dsn := sqldbtest.SQLite(t)
	w.file = strings.TrimPrefix(dsn, "sqlite:")
	db, err := sqldb.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	w.Store = storage.New(db, func() { worker.Wake() })
	w.Catalog = offer.NewCatalog(processor, w.Store, log)
	w.Orders = order.New(w.Store, processor, log, order.Options{})
	w.Sales = checkout.New(w.Catalog, processor, w.Store, log, checkout.Options{BaseURL: w.URL, Step: w.atStep})
	handlers := w.Sales.Handlers()
	maps.Copy(handlers, w.Orders.Handlers())
	worker = jobs.NewWorker(w.Store, handlers, log, nil)
	w.Handler = w.handler(log, processor, change)
	server.Config.Handler = w.Handler
	server.Start()
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { worker.Run(ctx) })
	t.Cleanup(func() {
		server.Close()
		stop()
		work.Wait()
		if err := db.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return w
}

// onStep calls do between any two durable steps of a checkout, with the name
// of the one before; nil ends that.
func (w *world) onStep(do func(string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = do
}

func (w *world) atStep(name string) {
	w.mu.Lock()
	step := w.step
	w.mu.Unlock()
	if step != nil {
		step(name)
	}
}

func (w *world) processor() *stripe.Client {
	w.t.Helper()
	processor, err := stripe.New(sandboxtest.Key, stripe.Options{
		BaseURL: w.Sandbox.URL + "/stripe", Mode: "sandbox", WebhookSecrets: []string{webhookSecret}, HTTPClient: &http.Client{Timeout: 5 * time.Second},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return processor
}

func (w *world) handler(log *slog.Logger, processor *stripe.Client, change []func(*storehttp.Deps)) http.Handler {
	w.t.Helper()
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		w.t.Fatal(err)
	}
	deps := storehttp.Deps{
		Site: storehttp.Site{
			BaseURL: w.URL, Name: "Test Store", Contact: "help@store.example",
			Terms: w.URL + "/terms", Privacy: w.URL + "/privacy", Refunds: w.URL + "/refunds",
		},
		Catalog: w.Catalog, Checkout: w.Sales, Orders: w.Orders, Events: processor,
		Requests: idempotency.New(storage.Requests{Store: w.Store}, box.MAC), Tasks: storage.Tasks{Store: w.Store}, MAC: box.MAC, Log: log,
	}
	for _, c := range change {
		c(&deps)
	}
	h, err := storehttp.New(deps)
	if err != nil {
		w.t.Fatal(err)
	}
	return httpserver.Chain(h, httpserver.Instrument(log, "store", nil), httpserver.ClientAddress(nil),
		httpserver.LimitBody(httpserver.DefaultBodyLimit), httpserver.LimitTime(40*time.Second))
}

// reply is an answer as it came.
type reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// do makes a request. headers are name, value, name, value, …; a body is sent
// as JSON unless they say otherwise.
func (w *world) do(method, path, body string, headers ...string) reply {
	w.t.Helper()
	address := path
	if strings.HasPrefix(path, "/") {
		address = w.URL + path
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{res.StatusCode, res.Header, answer}
}

// into decodes a JSON answer.
func (r reply) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(r.Body, v); err != nil {
		t.Fatalf("answer %d %s: %v", r.Status, r.Body, err)
	}
}

// kept reads everything that the store wrote to its database.
func (w *world) kept() []byte {
	w.t.Helper()
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(w.file + suffix)
		if err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}
