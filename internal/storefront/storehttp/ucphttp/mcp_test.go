package ucphttp_test

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp/storetest"
)

// TestUCPToolRefusals are calls that break the protocol.
func TestUCPToolRefusals(t *testing.T) {
	t.Parallel()
	platform := newUCPPlatform(t)
	a := &ucpAgent{storetest.Start(t, platform.join(t)), platform, "", true}
	agent := map[string]any{"ucp-agent": map[string]any{"profile": platform.URL + "/2026-04-08"}}
	line := map[string]any{
		"line_items": []any{map[string]any{"item": map[string]any{"id": "setup_call"}, "quantity": 1}},
	}
	tests := []struct {
		name      string
		tool      string
		arguments map[string]any
		status    int
		rpc       string
		says      string
	}{
		{"no checkout", ucp.ToolCreateCheckout, map[string]any{}, 400, "-32602", "checkout"},
		{"wrong type", ucp.ToolCreateCheckout, map[string]any{"checkout": 7}, 400, "-32602", "$.checkout"},
		{"no id", ucp.ToolGetCheckout, map[string]any{}, 400, "-32602", "$.id"},
		{
			"complete without a key", ucp.ToolCompleteCheckout,
			map[string]any{"meta": agent, "id": "chk_1", "checkout": map[string]any{}},
			400, "-32602",
			"idempotency-key",
		},
		{
			"cancel without a key", ucp.ToolCancelCheckout,
			map[string]any{"meta": agent, "id": "chk_1"},
			400, "-32602",
			"idempotency-key",
		},
		{
			"plain http", ucp.ToolCreateCheckout,
			map[string]any{
				"meta":     map[string]any{"ucp-agent": map[string]any{"profile": "http://p.example"}},
				"checkout": line,
			},
			400, "-32001", "https",
		},
		{"old version", ucp.ToolCreateCheckout, map[string]any{
			"meta": map[string]any{"ucp-agent": map[string]any{
				"profile": "https://p.example/ucp",
				"version": "2026-01-11",
			}}, "checkout": line,
		}, 422, "-32001", "2026-08-25"},
	}
	for _, tt := range tests {
		r := a.rpc(tt.tool, tt.arguments)
		if got := r.Header.Get("X-Rpc-Code"); r.Status != tt.status || got != tt.rpc ||
			!strings.Contains(string(r.Body), tt.says) {
			t.Errorf("%s: %d %s %s, want %d %s that says %q", tt.name, r.Status, got, r.Body, tt.status, tt.rpc,
				tt.says)
		}
		a.judge(r)
	}
}

// TestUCPToolsAsTheCommandLineCalls lists and calls tools without initialize,
// by single requests that accept JSON alone.
func TestUCPToolsAsTheCommandLineCalls(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	r := a.Do(http.MethodPost, ucpBase+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept",
		"application/json")
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct{ Type string }
				Annotations struct{ ReadOnlyHint, DestructiveHint bool }
			}
		}
	}
	r.Into(t, &list)
	names := []string{}
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
		if tool.InputSchema.Type != "object" || tool.Annotations.DestructiveHint {
			t.Errorf("tool = %+v", tool)
		}
	}
	want := "create_checkout get_checkout update_checkout complete_checkout cancel_checkout search_catalog " +
		"lookup_catalog get_product"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tools = %s, want %s", got, want)
	}
	for _, tt := range []struct {
		name, method, body string
		headers            []string
		status             int
	}{
		{"reading", http.MethodGet, "", nil, 405},
		{"a form", http.MethodPost, "x=1", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"no JSON", http.MethodPost, "{", nil, 400},
		{"too large", http.MethodPost, `{"x":"` + strings.Repeat("x", 300<<10) + `"}`, nil, 413},
		{
			"too large and signed", http.MethodPost, `{"x":"` + strings.Repeat("x", 300<<10) + `"}`,
			[]string{"Signature-Input", "x"},
			413,
		},
		{
			"unknown tool", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay"}}`,
			nil, 200,
		},
		{
			"a page of another origin", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			[]string{"Origin", "https://evil.example"},
			403,
		},
	} {
		r := a.Do(tt.method, ucpBase+"/mcp", tt.body, tt.headers...)
		if r.Status != tt.status || !strings.Contains(string(r.Body), `"jsonrpc":"2.0"`) {
			t.Errorf("%s = %d %s, want %d in the shape of JSON-RPC", tt.name, r.Status, r.Body, tt.status)
		}
	}
}
