package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/sandbox/payments"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"
)

func (w *world) state(t *testing.T) payments.State {
	t.Helper()
	var s payments.State
	if err := json.Unmarshal([]byte(w.control(t, http.MethodGet, "state", "")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// until waits for a condition that the worker brings about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain for: %s", what)
}

func TestWebhookFaults(t *testing.T) {
	t.Parallel()
	t.Run("drop, then resend", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.control(t, http.MethodPost, "faults", `{"webhooks": {"drop": 1}}`)
		w.rename(t, "one")
		w.rename(t, "two")
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		if got := w.names(); !cmp.Equal(got, []string{"two"}) {
			t.Errorf("delivered = %v, want the second only", got)
		}
		for e, err := range w.stripe.V1Events.List(t.Context(),
			&stripe.EventListParams{Type: stripe.String("product.updated")}).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Data.Object["name"] == "one" {
				w.control(t, http.MethodPost, "events/"+e.ID+"/resend", "{}")
			}
		}
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		if got := w.names(); !cmp.Equal(got, []string{"two", "one"}) {
			t.Errorf("delivered after resending = %v", got)
		}
	})
	t.Run("duplicate", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.control(t, http.MethodPost, "faults", `{"webhooks": {"duplicate": 1}}`)
		w.rename(t, "one")
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		w.rename(t, "two")
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		if got := w.names(); !cmp.Equal(got, []string{"one", "one", "two"}) {
			t.Errorf("delivered = %v", got)
		}
	})
	t.Run("delay", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.control(t, http.MethodPost, "faults", `{"webhooks": {"delay_seconds": 3600}}`)
		w.rename(t, "late")
		w.control(t, http.MethodDelete, "faults", "")
		w.rename(t, "early")
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		w.control(t, http.MethodPost, "advance", `{"seconds": 3600}`)
		w.shop.wait(t, stripe.EventTypeProductUpdated)
		if got := w.names(); !cmp.Equal(got, []string{"early", "late"}) {
			t.Errorf("delivered = %v", got)
		}
	})
	t.Run("reorder", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.control(t, http.MethodPost, "faults", `{"webhooks": {"reorder": 3}}`)
		for _, name := range []string{"a", "b", "c", "d"} {
			w.rename(t, name)
		}
		until(t, "four events", func() bool { return len(w.names()) == 4 })
		if got := w.names(); strings.Join(got[:3], "") != "cba" && strings.Join(got, "") != "cbad" {
			t.Errorf("delivered = %v, want the first three backwards", got)
		}
	})
	t.Run("retries until it is heard", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.shop.mu.Lock()
		w.shop.failing = 3
		w.shop.mu.Unlock()
		w.rename(t, "one")
		for i, pause := range []int{5, 30, 300} {
			until(t, "a failed attempt", func() bool { return w.state(t).Attempts == int64(i+1) })
			w.control(t, http.MethodPost, "advance", fmt.Sprintf(`{"seconds": %d}`, pause+1))
		}
		until(t, "the event", func() bool { return len(w.names()) == 1 })
	})
}

// rename changes a product, which is the shortest way to an event.
func (w *world) rename(t *testing.T, name string) {
	t.Helper()
	if _, err := w.stripe.V1Products.Update(t.Context(), "prod_test_home_box",
		&stripe.ProductUpdateParams{Name: &name}); err != nil {
		t.Fatal(err)
	}
}

// names returns the product names that webhooks told, in their order.
func (w *world) names() []string {
	w.shop.mu.Lock()
	defer w.shop.mu.Unlock()
	var names []string
	for _, e := range w.shop.events {
		if e.Type == stripe.EventTypeProductUpdated {
			names = append(names, fmt.Sprint(e.Data.Object["name"]))
		}
	}
	return names
}

func TestAPIFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode             string
		left             int64 // sessions after the failed call
		replayed, status int   // of the same call with the same key again: 0 fails
	}{
		{"500", 0, 1, 0},
		{"500_after_commit", 1, 0, 500},
		{"timeout", 0, 1, 0},
		{"timeout_after_commit", 1, 1, 0},
		{"429", 0, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.control(t, http.MethodPost, "faults",
				`{"api": [{"path": "/v1/checkout/sessions", "mode": "`+tt.mode+`", "latency_ms": 20}]}`)
			params := w.params("price_test_home_box")
			params.IdempotencyKey = stripe.String("chk_1:create:1")
			if _, err := w.stripe.V1CheckoutSessions.Create(t.Context(), params); err == nil {
				t.Fatal("the call worked in spite of the fault")
			}
			if got := w.state(t).Objects["checkout.session"]["open"]; got != tt.left {
				t.Errorf("sessions after the failed call = %d, want %d", got, tt.left)
			}
			params = w.params("price_test_home_box")
			params.IdempotencyKey = stripe.String("chk_1:create:1")
			o, err := w.stripe.V1CheckoutSessions.Create(t.Context(), params)
			if (err == nil) != (tt.replayed == 1) {
				t.Errorf("the same call again = %v, %v", o, err)
			}
			if tt.status != 0 {
				if got := code(t, err)[0]; got != tt.status {
					t.Errorf("the same call again = %v, want %d", got, tt.status)
				}
			}
			if got := w.state(t).Objects["checkout.session"]["open"]; got != 1 {
				t.Errorf("sessions in the end = %d, want 1", got)
			}
		})
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := map[string]string{"Idempotency-Key": "k1"}
	first := w.call(t, "POST", "/stripe/v1/products", "name=Lamp&metadata[a]=1", key)
	again := w.call(t, "POST", "/stripe/v1/products", "metadata[a]=1&name=Lamp", key)
	if first.status != 200 || first.body != again.body || again.header.Get("Idempotent-Replayed") != "true" ||
		first.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("replay = %d %v\n%s", again.status, again.header, again.body)
	}
	other := w.call(t, "POST", "/stripe/v1/products", "name=Chair", key)
	if other.status != 400 || !strings.Contains(other.body, "idempotency_error") {
		t.Errorf("another call with the same key = %d %s, want 400 idempotency_error", other.status, other.body)
	}
	otherPath := w.call(t, "POST", "/stripe/v1/prices", "name=Lamp&metadata[a]=1", key)
	if otherPath.status != 400 || !strings.Contains(otherPath.body, "idempotency_error") {
		t.Errorf("the key on another path = %d %s, want 400 idempotency_error", otherPath.status, otherPath.body)
	}
	// A refused parameter leaves the key free for the corrected call.
	bad := w.call(t, "POST", "/stripe/v1/products", "nam=x", map[string]string{"Idempotency-Key": "k2"})
	good := w.call(t, "POST", "/stripe/v1/products", "name=x", map[string]string{"Idempotency-Key": "k2"})
	if bad.status != 400 || good.status != 200 {
		t.Errorf("corrected call = %d then %d, want 400 then 200", bad.status, good.status)
	}
	// After a day the key is forgotten.
	w.control(t, http.MethodPost, "advance", `{"seconds": 86401}`)
	if later := w.call(t, "POST", "/stripe/v1/products", "name=Chair", key); later.status != 200 {
		t.Errorf("the key a day later = %d %s, want 200", later.status, later.body)
	}
}

func TestIdempotencyInFlight(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.control(t, http.MethodPost, "faults",
		`{"api": [{"path": "/v1/products", "mode": "timeout_after_commit", "latency_ms": 60000}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var first sync.WaitGroup
	first.Go(func() {
		_, err := w.try(ctx, "POST", "/stripe/v1/products", "name=Lamp", map[string]string{"Idempotency-Key": "k"})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("first call = %v, want it to hang", err)
		}
	})
	until(t, "the product", func() bool { return w.state(t).Objects["product"]["active"] == 7 })
	busy := w.call(t, "POST", "/stripe/v1/products", "name=Lamp", map[string]string{"Idempotency-Key": "k"})
	if busy.status != 409 || !strings.Contains(busy.body, "idempotency_key_in_use") {
		t.Errorf("second call meanwhile = %d %s, want 409 idempotency_key_in_use", busy.status, busy.body)
	}
	cancel()
	first.Wait()
	until(t, "the replay", func() bool {
		return w.call(t, "POST", "/stripe/v1/products", "name=Lamp",
			map[string]string{"Idempotency-Key": "k"}).header.Get("Idempotent-Replayed") == "true"
	})
}

func TestControls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	json := map[string]string{"Content-Type": "application/json"}
	tests := []struct {
		name, method, path, body string
		header                   map[string]string
		want                     int
	}{
		{"through a proxy", "GET", "state", "", map[string]string{"X-Forwarded-For": "192.0.2.1"}, 403},
		{
			"from another site", "POST", "advance", `{"seconds":1}`,
			map[string]string{"Content-Type": "application/json", "Origin": "https://evil.example"},
			403,
		},
		{"as a form", "POST", "advance", "seconds=1", nil, 400},
		{"backwards", "POST", "advance", `{"seconds":-1}`, json, 400},
		{"beyond time", "POST", "advance", `{"seconds":9223372036854775807}`, json, 400},
		{"unknown field", "POST", "faults", `{"webhook":{}}`, json, 400},
		{"two values", "POST", "advance", `{"seconds":1}{}`, json, 400},
		{"unknown mode", "POST", "faults", `{"api":[{"path":"/v1/","mode":"explode"}]}`, json, 400},
		{"negative count", "POST", "faults", `{"webhooks":{"drop":-1}}`, json, 400},
		{"unknown event", "POST", "events/evt_x/resend", "", nil, 404},
		{"state", "GET", "state", "", nil, 200},
	}
	for _, tt := range tests {
		if got := w.call(t, tt.method, "/stripe/_sandbox/"+tt.path, tt.body, tt.header); got.status != tt.want {
			t.Errorf("%s = %d %s, want %d", tt.name, got.status, got.body, tt.want)
		}
	}
}

func TestExpiryByClock(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_home_box")
	w.control(t, http.MethodPost, "advance", `{"seconds": 86401}`)
	if e := w.shop.wait(t, stripe.EventTypeCheckoutSessionExpired); e.Data.Object["id"] != o.ID {
		t.Errorf("expired = %v, want %s", e.Data.Object["id"], o.ID)
	}
	if got := w.paymentStatus(t, o); got != "expired unpaid" {
		t.Errorf("session = %s, want expired unpaid", got)
	}
	if page := newPerson(t).get(t, o.URL); page.status != http.StatusGone {
		t.Errorf("page = %d, want 410", page.status)
	}
	if _, err := w.stripe.V1CheckoutSessions.Expire(t.Context(), o.ID, nil); err == nil || code(t, err)[0] != 400 {
		t.Errorf("expiring again = %v, want 400", err)
	}
}

func TestBankDebit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		outcome string
		event   stripe.EventType
		want    string
	}{
		{"succeeds", stripe.EventTypeCheckoutSessionAsyncPaymentSucceeded, "complete paid"},
		{"fails", stripe.EventTypeCheckoutSessionAsyncPaymentFailed, "complete unpaid"},
	}
	for _, tt := range tests {
		for _, after := range []string{"now", "3d"} {
			t.Run(tt.outcome+" "+after, func(t *testing.T) {
				t.Parallel()
				w := setup(t)
				o := w.open(t, "price_test_prompt_handbook")
				form := with(card(""), "method", "us_bank_account", "debit_outcome", tt.outcome, "debit_after", after)
				if page := newPerson(t).pay(t, o.URL, form); page.status != http.StatusSeeOther {
					t.Fatalf("paying = %d\n%s", page.status, page.body)
				}
				if e := w.shop.wait(t, stripe.EventTypeCheckoutSessionCompleted); e.Data.Object["payment_status"] !=
					"unpaid" {
					t.Errorf("completed with %v, want unpaid", e.Data.Object["payment_status"])
				}
				if after != "now" {
					w.control(t, http.MethodPost, "advance", `{"seconds": 259201}`)
				}
				w.shop.wait(t, tt.event)
				if got := w.paymentStatus(t, o); got != tt.want {
					t.Errorf("session = %s, want %s", got, tt.want)
				}
			})
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := setup(t)
	paid := w.open(t, "price_test_prompt_handbook")
	newPerson(t).pay(t, paid.URL, card("4242424242424242"))
	expired := w.open(t, "price_test_prompt_handbook")
	if _, err := w.stripe.V1CheckoutSessions.Expire(t.Context(), expired.ID, nil); err != nil {
		t.Fatal(err)
	}
	params := &stripe.EventListParams{
		Types:        stripe.StringSlice([]string{"checkout.session.completed", "checkout.session.expired"}),
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: time.Now().Add(-time.Minute).Unix()},
	}
	params.Limit = stripe.Int64(1)
	var got []string
	for e, err := range w.stripe.V1Events.List(t.Context(), params).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(e.Type)+" "+fmt.Sprint(e.Data.Object["id"])+" "+e.APIVersion)
	}
	want := []string{
		"checkout.session.expired " + expired.ID + " " + stripe.APIVersion,
		"checkout.session.completed " + paid.ID + " " + stripe.APIVersion,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o, err := w.stripe.V1WebhookEndpoints.Create(t.Context(), &stripe.WebhookEndpointCreateParams{
		URL: stripe.String(w.shop.url + "/elsewhere"), EnabledEvents: stripe.StringSlice([]string{"price.updated"}),
	})
	if err != nil || !strings.HasPrefix(o.Secret, "whsec_") {
		t.Fatalf("endpoint = %+v, %v, want a secret", o, err)
	}
	read, err := w.stripe.V1WebhookEndpoints.Retrieve(t.Context(), o.ID, nil)
	if err != nil || read.Secret != "" {
		t.Errorf("read endpoint = %+v, %v, want no secret", read, err)
	}
	if list := w.call(t, "GET", "/v1/webhook_endpoints", "", nil); strings.Contains(list.body, "whsec_") ||
		strings.Count(list.body, "we_test_") != 2 {
		t.Errorf("endpoints = %s, want two without secrets", list.body)
	}
	if gone, err := w.stripe.V1WebhookEndpoints.Delete(t.Context(), o.ID, nil); err != nil || !gone.Deleted {
		t.Errorf("deleting = %+v, %v", gone, err)
	}
	if _, err := w.stripe.V1WebhookEndpoints.Retrieve(t.Context(), o.ID, nil); err == nil {
		t.Error("a deleted endpoint is still there")
	}
}
