package ucphttp_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"ace/internal/foundation/typeid"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp/storetest"
)

// TestUCPOutcomes are requests that are understood and refused.
func TestUCPOutcomes(t *testing.T) {
	t.Parallel()
	unknown := typeid.New("chk")
	tests := []struct {
		name, tool, id, body string
		code                 ucp.Code
		path                 string
	}{
		{"sold out", ucp.ToolCreateCheckout, "", wish("founders_mug", 1), ucp.OutOfStock, "$.line_items[0]"},
		{
			"unknown offer", ucp.ToolCreateCheckout, "", wish("no_such_offer", 1), ucp.ItemUnavailable,
			"$.line_items[0].item.id",
		},
		{
			"too many", ucp.ToolCreateCheckout, "", wish("home_box", 9000), "invalid_quantity",
			"$.line_items[0].quantity",
		},
		{
			"overflow", ucp.ToolCreateCheckout, "", wish("prompt_handbook", 9007199254740991), "invalid_quantity",
			"$.line_items[0].quantity",
		},
		{
			"two items", ucp.ToolCreateCheckout, "",
			`{"line_items":[{"item":{"id":"prompt_handbook"},"quantity":1},{"item":{"id":"setup_call"},"quantity":1}]}`,
			"multiple_items_unsupported", "$.line_items",
		},
		{"unknown checkout", ucp.ToolGetCheckout, unknown, "", ucp.NotFound, ""},
		{"foreign id", ucp.ToolGetCheckout, "abc", "", ucp.NotFound, ""},
		{"update of an unknown checkout", ucp.ToolUpdateCheckout, unknown, wish("setup_call", 1), ucp.NotFound, ""},
		{"complete of an unknown checkout", ucp.ToolCompleteCheckout, unknown, "{}", ucp.NotFound, ""},
		{"cancel of an unknown checkout", ucp.ToolCancelCheckout, unknown, "", ucp.NotFound, ""},
		{"unknown product", ucp.ToolGetProduct, "", `{"id":"nothing"}`, ucp.NotFound, ""},
	}
	ucpAgents(t, func(a *ucpAgent) {
		for _, tt := range tests {
			a.T.Log(tt.name)
			a.wantOutcome(a.call(tt.tool, tt.id, tt.body), 200, tt.code, tt.path)
		}
		if a.speaks() == ucp.Version20260825 {
			a.wantOutcome(a.call(ucp.ToolCreateCheckout, "",
				`{"line_items":[{"item":{"id":"setup_call","quantity_unit":{"unit":"HUR","scale":1}},"quantity":1}]}`),
				200, ucp.QuantityUnitMismatch, "$.line_items[0].item.quantity_unit")
		}
		if state := a.Sandbox.State(); len(state.Objects["checkout.session"]) != 0 {
			a.T.Errorf("the processor holds %v, want no session", state.Objects["checkout.session"])
		}
	})
}

func TestUCPHoldLimit(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	a.order("home_box", 1)
	a.order("home_box", 1)
	a.wantOutcome(a.call(ucp.ToolCreateCheckout, "", wish("home_box", 1)), 200, "hold_limit", "$.line_items[0]")
}

// TestUCPRefusals are requests that break the protocol.
func TestUCPRefusals(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	create, update := ucpBase+"/checkout-sessions", ucpBase+"/checkout-sessions/"+a.order("setup_call", 1).ID
	good := wish("setup_call", 1)
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     ucp.Code
		says                     string
	}{
		{"no body", "POST", create, "", nil, 400, "invalid_json", "empty"},
		{"no JSON", "POST", create, "{", nil, 400, "invalid_json", "line 1"},
		{"twice", "POST", create, `{"line_items":[],"line_items":[]}`, nil, 400, "invalid_json", "twice"},
		{"an array", "POST", create, `[]`, nil, 400, "invalid_type", "object"},
		{"no line items", "POST", create, `{}`, nil, 400, "invalid_request", "line_items"},
		{
			"wrong type",
			"POST",
			create,
			`{"line_items":[{"item":{"id":7},"quantity":1}]}`,
			nil,
			400,
			"invalid_request",
			"item.id",
		},
		{
			"half a unit", "POST", create, `{"line_items":[{"item":{"id":"setup_call"},"quantity":0.5}]}`, nil, 400,
			"invalid_request", "quantity",
		},
		{
			"none", "POST", create, `{"line_items":[{"item":{"id":"setup_call"},"quantity":0}]}`, nil,
			400, "invalid_request", "quantity",
		},
		{
			"bare form in UCP mode", "POST", create, `{"offer_id":"setup_call"}`,
			[]string{"UCP-Agent", `profile="` + a.platform.URL + `/2026-04-08"`},
			400, "invalid_request", "line_items",
		},
		{
			"too large", "POST", create, `{"x":"` + strings.Repeat("x", 300<<10) + `"}`, nil, 413, "request_too_large",
			"Send less",
		},
		{
			"a form", "POST", create, "line_items=x",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			415, "unsupported_media_type", "application/json",
		},
		{"wrong method", "DELETE", update, "", nil, 405, "method_not_allowed", "PUT"},
		{"wrong method of the collection", "GET", create, "", nil, 405, "method_not_allowed", "POST"},
		{"unknown path", "POST", ucpBase + "/carts", "{}", nil, 404, "not_found", "address"},
		{"unknown leaf", "GET", "/.well-known/ucp/2020-01-01", "", nil, 404, "not_found", "address"},
		{"update without items", "PUT", update, `{}`, nil, 400, "invalid_request", "line_items"},
		{"complete with an array", "POST", update + "/complete", `[]`, nil, 400, "invalid_type", "object"},
		{"cancel with a text", "POST", update + "/cancel", `"x"`, nil, 400, "invalid_type", "object"},
		{"empty key", "POST", create, good, []string{"Idempotency-Key", ""}, 400, "invalid_request", "Idempotency-Key"},
		{
			"long key", "POST", create, good,
			[]string{"Idempotency-Key", strings.Repeat("k", 256)},
			400, "invalid_request", "Idempotency-Key",
		},
		{
			"surrogate under a key", "POST", create, `{"line_items":[{"item":{"id":"\ud800"},"quantity":1}]}`,
			[]string{"Idempotency-Key", "k"},
			400, "invalid_json", "characters",
		},
		{"no agent", "POST", create, good, []string{"UCP-Agent", "curl"}, 400, ucp.InvalidProfileURL, "profile"},
		{
			"plain http", "POST", create, good,
			[]string{"UCP-Agent", `profile="http://p.example/ucp"`},
			400,
			ucp.InvalidProfileURL, "https",
		},
		{
			"old version", "POST", create, good,
			[]string{"UCP-Agent", `profile="https://p.example/ucp"; version="2026-01-11"`},
			422, ucp.VersionUnsupported,
			"2026-08-25 and 2026-04-08",
		},
		{
			"search for nothing", "POST", ucpBase + "/catalog/search", `{}`,
			[]string{"UCP-Agent", `profile="` + a.platform.URL + `/2026-04-08"`},
			400, "invalid_request", "query",
		},
		{"lookup of nothing", "POST", ucpBase + "/catalog/lookup", `{"ids":[]}`, nil, 400, "invalid_request", "ids"},
		{
			"foreign cursor", "POST", ucpBase + "/catalog/search", `{"pagination":{"cursor":"x"}}`, nil, 400,
			"invalid_cursor", "cursor",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := a.judge(a.Do(tt.method, tt.path, tt.body, append(tt.headers, "Request-Id", "11111111-2222")...))
			var failure ucp.ProtocolError
			r.Into(t, &failure)
			text := string(r.Body)
			if r.Status != tt.status || !strings.Contains(text, tt.says) {
				t.Errorf("answer = %d %s, want %d that says %q", r.Status, text, tt.status, tt.says)
			}
			if failure.Code != tt.code && (len(failure.Messages) == 0 || tt.code != "invalid_request") {
				t.Errorf("code = %s, want %s", failure.Code, tt.code)
			}
			if r.Header.Get("Request-Id") != "11111111-2222" {
				t.Errorf("Request-Id = %q, want it repeated", r.Header.Get("Request-Id"))
			}
		})
	}
}

func TestUCPProcessorAway(t *testing.T) {
	t.Parallel()
	ucpAgents(t, func(a *ucpAgent) {
		opened := a.order("setup_call", 1)
		key := typeid.New("key")
		a.Sandbox.FailAPI(http.MethodPost, "/v1/checkout/sessions", "429", 50)
		r := a.call(ucp.ToolCreateCheckout, "", wish("prompt_handbook", 1), ucp.HeaderIdempotencyKey, key)
		a.wantFailure(r, 503, ucp.ServiceUnavailable, "-32000")
		a.wantFailure(a.call(ucp.ToolCancelCheckout, opened.ID, ""), 503, ucp.ServiceUnavailable, "-32000")
		a.Sandbox.Heal()
		// A failure of the kind is not kept: the same key goes on where it stopped.
		again := a.checkout(a.call(ucp.ToolCreateCheckout, "", wish("prompt_handbook", 1), ucp.HeaderIdempotencyKey,
			key))
		if again.Status != ucp.RequiresEscalation {
			a.T.Errorf("repetition = %+v", again)
		}
	})
}

func TestUCPProcessorRefuses(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	if _, err := a.Catalog.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_setup_call", "active=false", nil)
	r := a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1))
	if !strings.Contains(string(r.Body), "item_unavailable") || r.Status != 200 {
		t.Errorf("create of a price that is gone = %d %s", r.Status, r.Body)
	}
}

// TestUCPInFlight reads a checkout whose page is still being opened.
func TestUCPInFlight(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	reached, goOn := make(chan struct{}), make(chan struct{})
	a.OnStep(func(name string) {
		if name == "inserted" {
			close(reached)
			<-goOn
		}
	})
	answers := make(chan storetest.Response)
	const key = "a-key-that-nobody-guesses"
	go func() { answers <- a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1), "Idempotency-Key", key) }()
	<-reached
	a.OnStep(nil)
	busy := a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1), "Idempotency-Key", key)
	a.wantFailure(busy, 409, ucp.IdempotencyInFlight, "")
	id := regexp.MustCompile(`chk_[a-z2-7]{26}`).FindString(string(a.Stored()))
	opening := a.call(ucp.ToolGetCheckout, id, "")
	a.wantFailure(opening, 409, "checkout_in_flight", "")
	if busy.Header.Get("Retry-After") == "" || opening.Header.Get("Retry-After") == "" {
		t.Error("a request in flight names no Retry-After")
	}
	close(goOn)
	first := <-answers
	second := a.call(ucp.ToolCreateCheckout, "", wish("setup_call", 1), "Idempotency-Key", key)
	if first.Status != 201 || string(first.Body) != string(second.Body) {
		t.Errorf("repetition = %s, want %s", second.Body, first.Body)
	}
}
