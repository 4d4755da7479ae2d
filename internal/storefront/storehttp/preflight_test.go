package storehttp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"ace/internal/storefront/storehttp/storetest"
)

// TestPreflight asks as a browser does before a page of another origin calls UCP
// or ACP.
func TestPreflight(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	const ucp, acp = "/agent/commerce/ucp", "/agent/commerce/acp"
	tests := []struct{ path, method, field string }{
		{ucp + "/checkout-sessions", http.MethodPost, "UCP-Agent"},
		{ucp + "/checkout-sessions/chk_1", http.MethodPut, "Idempotency-Key"},
		{ucp + "/checkout-sessions/chk_1", http.MethodGet, "Prefer"},
		{ucp + "/checkout-sessions/chk_1/complete", http.MethodPost, "Signature-Input"},
		{ucp + "/checkout-sessions/chk_1/cancel", http.MethodPost, "Content-Digest"},
		{ucp + "/catalog/search", http.MethodPost, "Content-Type"},
		{ucp + "/catalog/lookup", http.MethodPost, "Signature"},
		{ucp + "/catalog/product", http.MethodPost, "Accept"},
		{ucp + "/mcp", http.MethodPost, "Content-Digest"},
		{ucp + "/mcp", http.MethodPost, "Signature-Input"},
		{"/mcp", http.MethodPost, "MCP-Protocol-Version"},
		{acp + "/checkout_sessions", http.MethodPost, "API-Version"},
		{acp + "/checkout_sessions/chk_1", http.MethodPost, "Authorization"},
		{acp + "/checkout_sessions/chk_1", http.MethodGet, "Prefer"},
		{acp + "/checkout_sessions/chk_1/complete", http.MethodPost, "Request-Id"},
		{acp + "/checkout_sessions/chk_1/cancel", http.MethodPost, "Idempotency-Key"},
	}
	for _, tt := range tests {
		r := w.Do(http.MethodOptions, tt.path, "", "Origin", originOf(tt.path),
			"Access-Control-Request-Method", tt.method, "Access-Control-Request-Headers", tt.field)
		listed := func(header, value string) bool {
			return slices.Contains(strings.Split(r.Header.Get(header), ", "), value)
		}
		if r.Status != http.StatusNoContent || r.Header.Get("Access-Control-Allow-Origin") != "*" ||
			!listed("Access-Control-Allow-Methods", tt.method) || !listed("Access-Control-Allow-Headers", tt.field) {
			t.Errorf("preflight of %s %s = %d %v", tt.method, tt.path, r.Status, r.Header)
		}
	}
}

// TestExposedHeaders reads responses as a page of another origin may.
func TestExposedHeaders(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	const ucp, acp = "/agent/commerce/ucp", "/agent/commerce/acp"
	tests := []struct{ method, path, body, field string }{
		{http.MethodPost, ucp + "/checkout-sessions", `{"offer_id":"prompt_handbook"}`, "Signature"},
		{http.MethodPost, ucp + "/checkout-sessions", `{}`, "Retry-After"},
		{http.MethodPost, ucp + "/catalog/search", `{}`, "RateLimit"},
		{http.MethodPost, ucp + "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "RateLimit"},
		{http.MethodPost, acp + "/checkout_sessions", `{"offer_id":"prompt_handbook"}`, "API-Version"},
		{http.MethodGet, acp + "/checkout_sessions/chk_1", ``, "Request-Id"},
		{http.MethodGet, acp + "/feed/products.jsonl", ``, "ETag"},
	}
	for _, tt := range tests {
		r := w.Do(tt.method, tt.path, tt.body, "Origin", originOf(tt.path))
		exposed := strings.Split(r.Header.Get("Access-Control-Expose-Headers"), ", ")
		if !slices.Contains(exposed, tt.field) || r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s = %d %v, want %s exposed", tt.method, tt.path, r.Status, r.Header, tt.field)
		}
	}
}

// originOf is where a page is that calls a path. The MCP servers of a store in
// development are open to pages of the same machine alone.
func originOf(path string) string {
	if strings.HasSuffix(path, "/mcp") {
		return "http://localhost:3000"
	}
	return "https://agent.example"
}
