package sandbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"
)

// testKey is accepted by a sandbox without configured keys.
const testKey = "sk_test_sandbox"

// world is a sandbox under test, with a shop that listens to its webhooks.
type world struct {
	url    string // of the sandbox
	stripe *stripe.Client
	shop   *shop
}

// shop returns success and cancel pages and collects webhooks.
type shop struct {
	url, secret string

	mu       sync.Mutex
	events   []stripe.Event
	bodies   map[string]int // deliveries by event id
	failing  int            // responds with 500 to this many deliveries
	received chan stripe.Event
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/webhooks" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Shop</title><h1 id=where>"+r.URL.Path+"</h1>")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	event, err := webhook.ConstructEvent(body, r.Header.Get("Stripe-Signature"), s.secret)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing > 0 {
		s.failing--
		http.Error(w, "not now", http.StatusInternalServerError)
		return
	}
	s.events = append(s.events, event)
	s.bodies[event.ID]++
	s.received <- event
}

// wait returns the next event of the type, skipping others.
func (s *shop) wait(t *testing.T, eventType stripe.EventType) stripe.Event {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case e := <-s.received:
			if e.Type == eventType {
				return e
			}
		case <-deadline:
			t.Fatalf("no webhook of type %s came", eventType)
		}
	}
}

// setup starts a sandbox with a file of its own and its worker.
func setup(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	s := &shop{secret: "whsec_shop", bodies: map[string]int{}, received: make(chan stripe.Event, 1000)}
	shopServer := httptest.NewServer(s)
	t.Cleanup(shopServer.Close)
	s.url = shopServer.URL
	db, err := sqldb.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "sandbox.db"), nil)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	opts := &Options{Webhooks: []Webhook{{URL: s.url + "/webhooks", Secret: s.secret}}}
	for _, c := range change {
		c(opts)
	}
	box, err := New(t.Context(), db, opts)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var worker sync.WaitGroup
	worker.Go(func() {
		if err := box.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		server.Close()
		stop()
		worker.Wait()
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &world{url: server.URL, stripe: client(server.URL, testKey), shop: s}
}

// client is stripe-go as the store uses it, pointed at a sandbox.
func client(url, key string) *stripe.Client {
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: &url, MaxNetworkRetries: stripe.Int64(0), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
}

// open opens a session for one price.
func (w *world) open(t *testing.T, price string,
	change ...func(*stripe.CheckoutSessionCreateParams),
) *stripe.CheckoutSession {
	t.Helper()
	params := w.params(price)
	for _, c := range change {
		c(params)
	}
	o, err := w.stripe.V1CheckoutSessions.Create(t.Context(), params)
	if err != nil {
		t.Fatalf("opening a session for %s: %v", price, err)
	}
	return o
}

func (w *world) params(price string) *stripe.CheckoutSessionCreateParams {
	mode := stripe.CheckoutSessionModePayment
	if strings.HasPrefix(price, "price_test_assistant") {
		mode = stripe.CheckoutSessionModeSubscription
	}
	return &stripe.CheckoutSessionCreateParams{
		Mode:       stripe.String(mode),
		LineItems:  []*stripe.CheckoutSessionCreateLineItemParams{{Price: &price, Quantity: stripe.Int64(1)}},
		SuccessURL: stripe.String(w.shop.url + "/thanks?session_id={CHECKOUT_SESSION_ID}"),
		CancelURL:  stripe.String(w.shop.url + "/cart"),
	}
}

// control calls the sandbox's controls and returns the body.
func (w *world) control(t *testing.T, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.url+"/stripe/_sandbox/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s = %d %s (%v), want 200", method, path, resp.StatusCode, text, err)
	}
	return string(text)
}

// charges counts what was charged.
func (w *world) charges(t *testing.T) int {
	t.Helper()
	n := 0
	for _, err := range w.stripe.V1Charges.List(t.Context(), &stripe.ChargeListParams{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
