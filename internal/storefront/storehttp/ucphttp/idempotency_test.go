package ucphttp_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/ucp"
	"ace/internal/storage"
	"ace/internal/storefront/storehttp/storetest"
)

func TestUCPRepetition(t *testing.T) {
	t.Parallel()
	ucpAgents(t, func(a *ucpAgent) {
		if a.tools && a.version == "" {
			a.T.Skip("a plain call of a tool has no place for a key")
		}
		key := typeid.New("key")
		const body = `{"line_items":[{"item":{"id":"setup_call"},"quantity":1}],"attribution":{"a":"1","b":"2"}}`
		first := a.call(ucp.ToolCreateCheckout, "", body, ucp.HeaderIdempotencyKey, key)
		same := a.call(ucp.ToolCreateCheckout, "",
			`{ "attribution":{"b":"2","a":"1"}, "line_items":[{"quantity":1.0,"item":{"id":"setup_c\u0061ll"}}]}`,
			ucp.HeaderIdempotencyKey, key)
		if string(first.Body) != string(same.Body) || first.Status != same.Status {
			a.T.Errorf("repetition = %d %s, want %d %s", same.Status, same.Body, first.Status, first.Body)
		}
		a.wantFailure(a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 2), ucp.HeaderIdempotencyKey, key), 409,
			ucp.IdempotencyConflict, "-32000")
		if !a.tools && a.version != "" {
			r := a.Do(http.MethodPost, ucpBase+"/checkout-sessions", body, ucp.HeaderIdempotencyKey, key,
				ucp.HeaderAgent, `profile="`+a.platform.URL+`/another"; version="2026-04-08"`)
			a.wantFailure(r, 409, ucp.IdempotencyConflict, "")
		}

		id := a.checkout(first).ID
		// The same key means nothing for another operation or another checkout.
		steps := []struct{ tool, body string }{
			{ucp.ToolUpdateCheckout, wish("prompt_handbook", 1)},
			{ucp.ToolCompleteCheckout, "{}"},
			{ucp.ToolCancelCheckout, ""},
		}
		for _, step := range steps {
			once := a.call(step.tool, id, step.body, ucp.HeaderIdempotencyKey, key)
			twice := a.call(step.tool, id, step.body, ucp.HeaderIdempotencyKey, key)
			if once.Status != 200 || string(once.Body) != string(twice.Body) {
				a.T.Errorf("%s = %d %s, then %s", step.tool, once.Status, once.Body, twice.Body)
			}
		}
		a.wantOutcome(a.call(ucp.ToolCancelCheckout, id, "", ucp.HeaderIdempotencyKey, "another-key-of-some-length"),
			409, ucp.CheckoutNotModifiable, "")
		if open := a.Sandbox.State().Objects["checkout.session"]["open"]; open != 0 {
			a.T.Errorf("%d pages are open at the processor, want none", open)
		}
	})
}

// TestUCPOutcomesAreKept repeats a request that was refused.
func TestUCPOutcomesAreKept(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	first := a.call(ucp.ToolCreateCheckout, "", wish("founders_mug", 1), "Idempotency-Key", "a-key-of-some-length")
	a.wantOutcome(first, 200, ucp.OutOfStock, "$.line_items[0]")
	a.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_founders_mug", "metadata[availability]=in_stock", nil)
	a.Catalog.Invalidate()
	if again := a.call(ucp.ToolCreateCheckout, "", wish("founders_mug", 1), "Idempotency-Key",
		"a-key-of-some-length"); string(again.Body) != string(first.Body) {
		t.Errorf("repetition = %s, want what was answered first", again.Body)
	}
	if fresh := a.call(ucp.ToolCreateCheckout, "", wish("founders_mug", 1), "Idempotency-Key",
		"a-key-of-some-length-2"); fresh.Status != 201 {
		t.Errorf("a new key = %d %s, want the offer that is back", fresh.Status, fresh.Body)
	}
}

// TestUCPTakeover repeats a request whose process died between two steps: the
// work continues with the same checkout.
func TestUCPTakeover(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"inserted", "opened", "kept"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			a := ucpPlain(t)
			a.OnStep(func(name string) {
				if name == step {
					a.OnStep(nil)
					panic(http.ErrAbortHandler) // nothing after this point happens
				}
			})
			const key = "the-key-of-a-crash"
			post(t, a.URL+ucpBase+"/checkout-sessions", wish("setup_call", 1), key)
			a.wantFailure(a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1), "Idempotency-Key", key), 409,
				ucp.IdempotencyInFlight, "")
			a.endLease(key)
			c := a.checkout(a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1), "Idempotency-Key", key))
			if c.Status != ucp.RequiresEscalation {
				t.Errorf("takeover = %+v", c)
			}
			if pages := a.Sandbox.State().Objects["checkout.session"]; pages["open"] != 1 || len(pages) != 1 {
				t.Errorf("the processor holds %v, want one open page", pages)
			}
		})
	}
}

// post sends a request that may be cut off.
func post(t *testing.T, address, body, key string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		_ = res.Body.Close()
		t.Errorf("the request that was to be cut off answered %s", res.Status)
	}
}

// endLease does what a minute would do.
func (a *ucpAgent) endLease(key string) {
	a.T.Helper()
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		a.T.Fatal(err)
	}
	scope := "ucp POST " + ucpBase + "/checkout-sessions "
	err = storage.Requests{Store: a.Storage}.Release(context.Background(), box.MAC("idempotency scope", []byte(scope)),
		box.MAC("idempotency key", []byte(key)))
	if err != nil {
		a.T.Fatal(err)
	}
}

// TestUCPKeepsNoInstrument sends a card wherever one might be sent, and looks
// for it in everything that is written and answered.
func TestUCPKeepsNoInstrument(t *testing.T) {
	t.Parallel()
	const payment = `"payment":{"instruments":[{"id":"pi_1","handler_id":"card","type":"card",` +
		`"credential":{"type":"PAN","number":"4242424242424242","cvc":"737","token":"tok_very_secret"},
		"billing_address":{"street_address":"1 Analytical Way"}}],"selected_instrument_id":"pi_1"},` +
		`"payment_data":{"token":"tok_very_secret"}`
	ucpAgents(t, func(a *ucpAgent) {
		key := func() []string { return []string{ucp.HeaderIdempotencyKey, typeid.New("key")} }
		created := a.call(ucp.ToolCreateCheckout,
			"", `{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1}],`+payment+`}`, key()...)
		id := a.checkout(created).ID
		answers := []storetest.Response{
			created,
			a.call(ucp.ToolCompleteCheckout, id, `{`+payment+`}`, key()...),
			a.call(ucp.ToolUpdateCheckout, id, `{"line_items":[{"item":{"id":"setup_call"},"quantity":1}],`+payment+`}`,
				key()...),
			a.call(ucp.ToolCompleteCheckout, id, `{`+payment+`}`, key()...),
			a.call(ucp.ToolUpdateCheckout, id, `{"line_items":{},`+payment+`}`, key()...),
			a.call(ucp.ToolCreateCheckout, "", `{"line_items":[{"item":{"id":"no_such"},"quantity":1}],`+payment+`}`,
				key()...),
		}
		kept := string(a.Stored()) + a.Log.String()
		for _, r := range answers {
			kept += string(r.Body)
		}
		for _, secret := range []string{"4242424242424242", `"737"`, "tok_very_secret", "Analytical"} {
			if i := strings.Index(kept, secret); i >= 0 {
				a.T.Errorf("%q is kept, logged or answered: …%s…", secret, kept[max(0, i-60):min(len(kept), i+60)])
			}
		}
		for _, r := range answers[:4] {
			c := a.checkout(r)
			if !slices.Contains(said(c.Messages), "error payment_instruments_not_accepted") || c.ContinueURL == "" ||
				c.Status != ucp.RequiresEscalation {
				a.T.Errorf("answer to an instrument = %+v, want it refused and the buyer asked", c)
			}
		}
		if c := a.checkout(a.call(ucp.ToolCompleteCheckout, id, "{}")); !slices.Contains(said(c.Messages),
			"error payment_required") {
			a.T.Errorf("complete without an instrument = %+v", c.Messages)
		}
	})
}
