package acphttp_test

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/protocol/acp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

const (
	strictLine = `{"line_items":[{"id":"prompt_handbook"}],"currency":"usd","capabilities":{}}`
	noSession  = acpSessions + "/chk_aaaaaaaaaaaaaaaaaaaaaaaaaa"
)

func TestACPRefusals(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	tests := []struct {
		name, method, path, body, headers string
		status                            int
		code, param                       string
	}{
		{
			"unknown item", "POST", acpSessions, `{"line_items":[{"id":"nothing"}]}`, "", 400, "invalid_item_id",
			"$.line_items[0].id",
		},
		{
			"unknown item inside item", "POST", acpSessions, `{"line_items":[{"item":{"id":"nothing"}}]}`, "",
			400, "invalid_item_id", "$.line_items[0].item.id",
		},
		{"unknown offer", "POST", acpSessions, `{"offer_id":"nothing"}`, "", 400, "invalid_item_id", "$.offer_id"},
		{
			"unknown item and currency", "POST", acpSessions, `{"offer_id":"nothing","currency":"usd"}`, "",
			400, "invalid_item_id", "$.offer_id",
		},
		{
			"sold out", "POST", acpSessions, `{"line_items":[{"id":"founders_mug"}]}`, "", 409, "out_of_stock",
			"$.line_items[0]",
		},
		{
			"too many units", "POST", acpSessions, `{"line_items":[{"id":"prompt_handbook","quantity":100000}]}`, "",
			400, "invalid_quantity", "$.line_items[0].quantity",
		},
		{
			"no unit", "POST", acpSessions, `{"line_items":[{"id":"prompt_handbook","quantity":0}]}`, "", 400,
			"invalid_value", "$.line_items[0].quantity",
		},
		{
			"two items", "POST", acpSessions, `{"line_items":[{"id":"prompt_handbook"},{"id":"home_box"}]}`, "", 400,
			"multiple_items_unsupported", "$.line_items[1]",
		},
		{"no item", "POST", acpSessions, `{"line_items":[]}`, "", 400, "missing_required_field", "$.line_items"},
		{
			"another currency", "POST", acpSessions, `{"offer_id":"prompt_handbook","currency":"eur"}`, "", 400,
			"unsupported_currency", "$.currency",
		},
		{
			"wrong type", "POST", acpSessions, `{"line_items":"prompt_handbook"}`, "", 400, "invalid_type",
			"$.line_items",
		},
		{
			"not an e-mail", "POST", acpSessions, `{"offer_id":"prompt_handbook","buyer":{"email":"ada"}}`, "", 400,
			"invalid_value", "$.buyer.email",
		},
		{"array", "POST", acpSessions, `[]`, "", 400, "invalid_type", "$"},
		{"nothing", "POST", acpSessions, ``, "", 400, "invalid_json", ""},
		{"cut off", "POST", acpSessions, `{"line_items":[`, "", 400, "invalid_json", ""},
		{"member twice", "POST", acpSessions, `{"offer_id":"a","offer_id":"b"}`, "", 400, "invalid_json", ""},
		{"deep", "POST", acpSessions, strings.Repeat("[", 100) + strings.Repeat("]", 100), "", 400, "invalid_json", ""},
		{"not UTF-8", "POST", acpSessions, "{\"offer_id\":\"\xff\"}", "", 400, "invalid_json", ""},
		{
			"media type", "POST", acpSessions, `offer_id=prompt_handbook`,
			"Content-Type: application/x-www-form-urlencoded", 415, "unsupported_media_type", "",
		},
		{
			"charset", "POST", acpSessions, `{}`, "Content-Type: application/json; charset=utf-16", 415,
			"unsupported_media_type", "",
		},
		{
			"oversized", "POST", acpSessions, `{"offer_id":"` + strings.Repeat("a", 300<<10) + `"}`, "", 413,
			"request_too_large", "",
		},
		{"oversized for the host", "POST", acpSessions, strings.Repeat(" ", 2<<20), "", 413, "request_too_large", ""},

		{
			"strict: no currency", "POST", acpSessions, `{"line_items":[{"id":"prompt_handbook"}],"capabilities":{}}`,
			"API-Version: 2026-04-17\nIdempotency-Key: refusal-currency", 400, "missing_required_field", "$.currency",
		},
		{
			"strict: bare form",
			"POST",
			acpSessions,
			`{"offer_id":"prompt_handbook","currency":"usd","capabilities":{}}`,
			"API-Version: 2026-04-17\nIdempotency-Key: refusal-bare-form",
			400,
			"missing_required_field",
			"$.line_items",
		},
		{
			"strict: no key",
			"POST",
			acpSessions,
			strictLine,
			"API-Version: 2026-04-17",
			400,
			"idempotency_key_required",
			"",
		},
		{
			"strict: no key on cancel", "POST", noSession + "/cancel", ``, "API-Version: 2026-01-30",
			400, "idempotency_key_required", "",
		},
		{"long key", "POST", acpSessions, strictLine, "API-Version: 2026-04-17\nIdempotency-Key: " + strings.Repeat("k",
			256), 400, "invalid_idempotency_key", ""},
		{
			"long key in plain mode", "POST", acpSessions, strictLine, "Idempotency-Key: " + strings.Repeat("k", 256),
			400, "invalid_idempotency_key", "",
		},
		{
			"old version", "POST", acpSessions, strictLine, "API-Version: 2025-09-29\nIdempotency-Key: refusal-version",
			400, "unsupported_api_version", "",
		},
		{"empty version", "POST", acpSessions, strictLine, "API-Version: ", 400, "missing_api_version", ""},
		{"old version on read", "GET", noSession, ``, "API-Version: 2026-04-18", 400, "unsupported_api_version", ""},

		{"unknown session", "GET", noSession, ``, "", 404, "checkout_session_not_found", ""},
		{"no session id", "GET", acpSessions + "/1%27%20OR%201=1", ``, "", 404, "checkout_session_not_found", ""},
		{"update of none", "POST", noSession, `{}`, "", 404, "checkout_session_not_found", ""},
		{"completion of none", "POST", noSession + "/complete", ``, "", 404, "checkout_session_not_found", ""},
		{"cancellation of none", "POST", noSession + "/cancel", ``, "", 404, "checkout_session_not_found", ""},
		{
			"bad trace", "POST", noSession + "/cancel", `{"intent_trace":{}}`, "", 400, "missing_required_field",
			"$.intent_trace.reason_code",
		},
		{
			"long trace", "POST", noSession + "/cancel",
			`{"intent_trace":{"reason_code":"other","trace_summary":"` + strings.Repeat("x", 501) + `"}}`, "", 400,
			"too_long", "$.intent_trace.trace_summary",
		},

		{"wrong method on the list", "GET", acpSessions, ``, "", 405, "method_not_allowed", ""},
		{"wrong method on a session", "PUT", noSession, `{}`, "", 405, "method_not_allowed", ""},
		{"wrong method on cancel", "DELETE", noSession + "/cancel", ``, "", 405, "method_not_allowed", ""},
		{"unknown path", "POST", "/agent/commerce/acp/delegate_payment", `{}`, "", 404, "not_found", ""},
		{"unknown file", "GET", "/agent/commerce/acp/feed/promotions.jsonl", ``, "", 404, "not_found", ""},
		{"the base", "GET", "/agent/commerce/acp", ``, "", 404, "not_found", ""},
	}
	t.Run("each", func(t *testing.T) { //nolint:paralleltest // what follows waits for all of them
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				var headers []string
				for header := range strings.SplitSeq(tt.headers, "\n") {
					if name, value, ok := strings.Cut(header, ": "); ok {
						headers = append(headers, name, value)
					}
				}
				r := judgeACP(t, "2026-04-17", w.Do(tt.method, tt.path, tt.body, headers...))
				wantACPError(t, r, tt.status, tt.code, tt.param)
				if tt.status == 405 && r.Header.Get("Allow") == "" {
					t.Error("405 without Allow")
				}
				var e acp.Error
				r.Into(t, &e)
				wantVersions := []acp.Version(nil)
				if strings.HasSuffix(tt.code, "_api_version") {
					wantVersions = []acp.Version{"2026-04-17", "2026-01-30"}
				}
				if diff := cmp.Diff(wantVersions, e.SupportedVersions); diff != "" {
					t.Errorf("supported_versions (-want +got):\n%s", diff)
				}
			})
		}
	})
	if n := w.Sandbox.State().Objects["checkout.session"]; len(n) != 0 {
		t.Errorf("the processor holds %v, want nothing created", n)
	}
}

func TestACPHoldLimit(t *testing.T) {
	t.Parallel()
	a := &acpAgent{storetest.Start(t), "2026-04-17"}
	a.order("home_box", 1)
	a.order("home_box", 1)
	r := a.post("", `{"line_items":[{"id":"home_box"}],"currency":"usd","capabilities":{}}`)
	wantACPError(t, r, 409, "hold_limit", "$.line_items[0]")
}

func TestACPProcessorAway(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	if _, err := w.Catalog.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Sandbox.FailAPI(http.MethodPost, "/v1/checkout/sessions", "429", 50)
	headers := []string{"API-Version", "2026-04-17", "Idempotency-Key", "the-processor-is-away"}
	for range 2 {
		r := judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, strictLine, headers...))
		wantACPError(t, r, 503, "service_unavailable", "")
		if r.Header.Get("Retry-After") == "" || r.Header.Get(acp.HeaderIdempotentReplayed) != "" {
			t.Errorf("headers = %v, want Retry-After and no replay: a 5xx is not kept", r.Header)
		}
	}
	w.Sandbox.Heal()
	first := judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, strictLine, headers...))
	again := judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, strictLine, headers...))
	if first.Status != 201 || string(first.Body) != string(again.Body) {
		t.Errorf("after the processor came back: %d %s\nthen %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	var open int64
	for _, n := range w.Sandbox.State().Objects["checkout.session"] {
		open += n
	}
	if open != 1 {
		t.Errorf("the processor holds %d pages, want 1", open)
	}
}

// TestACPCatalogAway covers a processor that never answered.
func TestACPCatalogAway(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	w.Sandbox.FailAPI(http.MethodGet, "/v1/prices", "429", 50)
	wantACPError(t, judgeACP(t, "2026-04-17", w.Do(http.MethodPost, acpSessions, `{"offer_id":"prompt_handbook"}`)),
		503, "service_unavailable", "")
	wantACPError(t, judgeACP(t, "2026-04-17", w.Do(http.MethodGet, "/agent/commerce/acp/feed/products.jsonl", "")),
		503, "service_unavailable", "")
	r := w.Do(http.MethodGet, "/.well-known/acp.json", "")
	validACP(t, "2026-04-17", "DiscoveryResponse", r.Body)
	if r.Status != 200 || r.Header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("discovery = %d %v", r.Status, r.Header)
	}
}
