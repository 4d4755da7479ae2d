// Package storetest runs a whole store for tests: the handler of the store host
// on a port of its own, SQLite, a job worker, and the sandbox as the payment
// processor. Tests of the protocol packages use it from beside their code.
package storetest

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

// Store is a whole store on a port of its own, and a sandbox that takes the
// payments.
type Store struct {
	T       testing.TB
	URL     string // of the store
	Sandbox *sandboxtest.World
	Sales   *checkout.Service
	Orders  *order.Service
	Catalog *offer.Catalog
	Storage *storage.Store
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

const webhookSecret = "whsec_storetest"

// Start starts a store that ends with the test. The functions change adjust
// what its handler is built of.
func Start(t testing.TB, change ...func(*storehttp.Deps)) *Store {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	w := &Store{T: t, URL: "http://" + server.Listener.Addr().String(), Log: &safeBuffer{}}
	w.Sandbox = sandboxtest.Start(t, sandbox.Webhook{URL: w.URL + "/webhooks/stripe", Secret: webhookSecret})
	log := slog.New(slog.NewTextHandler(w.Log, nil))
	processor := w.Processor()
	lanes := jobs.NewLanes(nil)
	dsn := sqldbtest.Migrated(t, storage.Migrations())
	w.file = strings.TrimPrefix(dsn, "sqlite:")
	db, err := sqldb.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Storage = storage.New(db, lanes)
	w.Catalog = offer.NewCatalog(processor, w.Storage, log)
	w.Orders = order.New(w.Storage, processor, log, order.Options{})
	w.Sales = checkout.New(w.Catalog, processor, w.Storage, log, checkout.Options{BaseURL: w.URL, Step: w.atStep})
	handlers := w.Sales.Handlers()
	maps.Copy(handlers, w.Orders.Handlers())
	worker := jobs.NewWorker(w.Storage, lanes, handlers, log,
		&jobs.Options{Budgets: map[jobs.Lane]int{jobs.LaneHouse: 8}})
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

// OnStep calls do between any two durable steps of a checkout, with the name
// of the one before; nil ends that.
func (w *Store) OnStep(do func(string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = do
}

func (w *Store) atStep(name string) {
	w.mu.Lock()
	step := w.step
	w.mu.Unlock()
	if step != nil {
		step(name)
	}
}

// Processor is a client of the sandbox as payment processor.
func (w *Store) Processor() *stripe.Client {
	w.T.Helper()
	processor, err := stripe.New(sandboxtest.Key, stripe.Options{
		StoreName: "Test Store",
		BaseURL:   w.Sandbox.URL + "/stripe", Mode: "sandbox", WebhookSecrets: []string{webhookSecret},
		HTTPClient: &http.Client{Timeout: 5 * time.Second},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return processor
}

func (w *Store) handler(log *slog.Logger, processor *stripe.Client, change []func(*storehttp.Deps)) http.Handler {
	w.T.Helper()
	sealer, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		w.T.Fatal(err)
	}
	deps := storehttp.Deps{
		Site: storehttp.Site{
			BaseURL: w.URL, Name: "Test Store", Contact: "help@store.example",
			Terms: w.URL + "/terms", Privacy: w.URL + "/privacy", Refunds: w.URL + "/refunds",
		},
		Catalog:  w.Catalog,
		Checkout: w.Sales,
		Orders:   w.Orders,
		Events:   processor,
		Requests: idempotency.New(
			storage.Requests{Store: w.Storage},
			sealer.MAC,
		),
		Tasks: storage.Tasks{Store: w.Storage},
		MAC:   sealer.MAC,
		Log:   log,
	}
	for _, c := range change {
		c(&deps)
	}
	h, err := storehttp.New(deps)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.Chain(h)
}

// Chain puts the middleware of the store in front of a handler.
func (w *Store) Chain(h http.Handler) http.Handler {
	log := slog.New(slog.NewTextHandler(w.Log, nil))
	return httpserver.Chain(h, httpserver.Instrument(log, "store", nil), httpserver.ClientAddress(nil),
		httpserver.LimitBody(httpserver.DefaultBodyLimit), httpserver.LimitTime(40*time.Second))
}

// Response is a response as it came.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a request. headers are name, value, name, value, …; a body is sent
// as JSON unless they say otherwise.
func (w *Store) Do(method, path, body string, headers ...string) Response {
	w.T.Helper()
	address := path
	if strings.HasPrefix(path, "/") {
		address = w.URL + path
	}
	req, err := http.NewRequestWithContext(w.T.Context(), method, address, strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.T.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatalf("%s %s: %v", method, path, err)
	}
	return Response{res.StatusCode, res.Header, answer}
}

// Into decodes a JSON body.
func (r Response) Into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(r.Body, v); err != nil {
		t.Fatalf("answer %d %s: %v", r.Status, r.Body, err)
	}
}

// Stored reads everything that the store wrote to its database.
func (w *Store) Stored() []byte {
	w.T.Helper()
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(w.file + suffix)
		if err != nil && !os.IsNotExist(err) {
			w.T.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}

// Serve passes a request to the handler of the store, without a network, and
// fails the test unless the response has a status.
func (w *Store) Serve(want int, method, path, body string) []byte {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	w.Handler.ServeHTTP(recorder, r)
	if recorder.Code != want {
		w.T.Fatalf("%s %s = %d %s", method, path, recorder.Code, recorder.Body)
	}
	return recorder.Body.Bytes()
}
