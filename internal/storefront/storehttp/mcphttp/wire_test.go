package mcphttp_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/mcphttp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

const (
	pingMessage = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	listMessage = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
)

// TestMCPWire is what a request can get wrong before any tool is called, and
// what it may do otherwise than most.
func TestMCPWire(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	hello := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version +
			`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	}
	tests := []struct {
		name, method, body string
		headers            []string
		status             int
		want               string // part of the body; empty: there is none
	}{
		{"ping", "POST", pingMessage, nil, 200, `"result":{}`},
		{"a slash at the end", "POST /mcp/", pingMessage, nil, 200, `"result":{}`},
		{"reading", "GET", "", nil, 405, `"error":{"code":-32600,"message":"Method not allowed: use POST"}`},
		{"ending a session", "DELETE", "", []string{"Mcp-Session-Id", "x"}, 405, `"id":null`},
		{"putting", "PUT", pingMessage, nil, 405, `"id":null`},
		{
			"preflight", "OPTIONS", "",
			[]string{"Origin", "http://localhost:1", "Access-Control-Request-Method", "POST"},
			204, "",
		},
		{"a form", "POST", "x=1", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, `"code":-32600`},
		{
			"charset", "POST", pingMessage,
			[]string{"Content-Type", "application/json; charset=utf-8"},
			200,
			`"result":{}`,
		},
		{"too large", "POST", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, `"code":-32600`},
		{"no UTF-8", "POST", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", nil, 400, `"code":-32700`},
		{"no JSON", "POST", "{", nil, 400, `"id":null,"error":{"code":-32700`},
		{"empty", "POST", " ", nil, 400, `"code":-32700`},
		{"a member twice", "POST", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, 400, `"code":-32700`},
		{"only HTML", "POST", pingMessage, []string{"Accept", "text/html"}, 406, `"code":-32600`},
		{
			"events alone", "POST", pingMessage,
			[]string{"Accept", "text/event-stream"},
			200,
			"event: message\ndata: {\"jsonrpc\"",
		},
		{"JSON alone", "POST", pingMessage, []string{"Accept", "application/json"}, 200, `"result":{}`},
		{"a number", "POST", "7", nil, 400, `"code":-32600`},
		{"no version of JSON-RPC", "POST", `{"id":1,"method":"ping"}`, nil, 400, `"code":-32600`},
		{"id null", "POST", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, `"code":-32600`},
		{"id with a fraction", "POST", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, 400, `"code":-32600`},
		{"method a number", "POST", `{"jsonrpc":"2.0","id":1,"method":1}`, nil, 400, `"code":-32600`},
		{"a notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"an unknown notification", "POST", `{"jsonrpc":"2.0","method":"notifications/zebra"}`, nil, 202, ""},
		{"a response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202, ""},
		{"an unknown method", "POST", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, nil, 200, `"code":-32601`},
		{
			"a probe of a newer era",
			"POST",
			`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`,
			[]string{"MCP-Protocol-Version", "2026-07-28"},
			400,
			`"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-06-18",` +
				`"2025-03-26","2024-11-05"],"requested":"2026-07-28"}}`,
		},
		{
			"a version that is not served", "POST", listMessage,
			[]string{"MCP-Protocol-Version", "2025-11-25"},
			400,
			`"code":-32602`,
		},
		{
			"hello in the newest",
			"POST",
			hello("2025-06-18"),
			nil,
			200,
			`"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"store",` +
				`"title":"Test Store","version":"` + storehttp.Version + `"}`,
		},
		{"hello in the middle one", "POST", hello("2025-03-26"), nil, 200, `"protocolVersion":"2025-03-26"`},
		{"hello in the oldest", "POST", hello("2024-11-05"), nil, 200, `"protocolVersion":"2024-11-05"`},
		{
			"hello in a later one", "POST", hello("2025-11-25"),
			[]string{"MCP-Protocol-Version", "2025-11-25"},
			200,
			`"protocolVersion":"2025-06-18"`,
		},
		{
			"hello without a version", "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, nil, 200,
			`"protocolVersion":"2025-06-18"`,
		},
		{"hello without anything", "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, nil, 200, `"code":-32602`},
		{
			"a batch", "POST", "[" + pingMessage + "," + pingMessage + "]", nil, 200,
			`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc"`,
		},
		{
			"a batch of the oldest", "POST", "[" + pingMessage + "]",
			[]string{"MCP-Protocol-Version", "2024-11-05"},
			200, `[{"jsonrpc"`,
		},
		{
			"a batch of the newest", "POST", "[" + pingMessage + "]",
			[]string{"MCP-Protocol-Version", "2025-06-18"},
			400, `"code":-32600`,
		},
		{"an empty batch", "POST", "[]", nil, 400, `"code":-32600`},
		{
			"a long batch", "POST", "[" + strings.Repeat(pingMessage+",", 10) + pingMessage + "]", nil, 400,
			`"code":-32600`,
		},
		{"hello in a batch", "POST", "[" + hello("2025-03-26") + "]", nil, 200, `"code":-32600`},
		{"a batch of notifications", "POST", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, nil, 202, ""},
		{
			"a cursor", "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, nil,
			200, `"code":-32602`,
		},
		{
			"an unknown tool", "POST", call(`{"name":"buy_now"}`), nil, 200,
			`"code":-32602,"message":"Unknown tool: buy_now","data":{"tools":["site_info",`,
		},
		{"no tool", "POST", call(`{}`), nil, 200, `"code":-32602`},
		{"params a list", "POST", call(`["site_info"]`), nil, 200, `"code":-32602`},
		{"arguments a list", "POST", call(`{"name":"site_info","arguments":[]}`), nil, 200, `"code":-32602`},
		{
			"a session of long ago", "POST", pingMessage,
			[]string{"Mcp-Session-Id", "abc", "Last-Event-ID", "7"},
			200,
			`"result":{}`,
		},
		{"a foreign page", "POST", pingMessage, []string{"Origin", "https://evil.example"}, 403, `"code":-32600`},
		{
			"a page of this machine", "POST", pingMessage,
			[]string{"Origin", "http://localhost:3000"},
			200,
			`"result":{}`,
		},
		{"a key that nobody asked for", "POST", pingMessage, []string{"Authorization", "Bearer x"}, 200, `"result":{}`},
	}
	for _, tt := range tests {
		method, path, _ := strings.Cut(tt.method, " ")
		if path == "" {
			path = "/mcp"
		}
		r := w.Do(method, path, tt.body, tt.headers...)
		if r.Status != tt.status || !strings.Contains(string(r.Body), tt.want) ||
			(tt.want == "") != (len(r.Body) == 0) {
			t.Errorf("%s = %d %s, want %d %s", tt.name, r.Status, r.Body, tt.status, tt.want)
		}
		for name, want := range map[string]string{
			"Mcp-Session-Id": "", "WWW-Authenticate": "",
			"Cache-Control": "no-store",
		} {
			if got := r.Header.Get(name); got != want && (name != "Cache-Control" || r.Status != http.StatusNoContent) {
				t.Errorf("%s: %s = %q, want %q", tt.name, name, got, want)
			}
		}
		if r.Status == http.StatusMethodNotAllowed && r.Header.Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: Allow = %q", tt.name, r.Header.Get("Allow"))
		}
	}
}

// TestMCPHosts is who may call a store at a public address, and one on this
// machine.
func TestMCPHosts(t *testing.T) {
	t.Parallel()
	public := storetest.Start(t, func(d *storehttp.Deps) { d.Site.BaseURL = "https://store.example" })
	local := storetest.Start(t)
	tests := []struct {
		name         string
		w            *storetest.Store
		loopback     bool
		host, origin string
		want         int
	}{
		{"public", public, false, "store.example", "", 200},
		{"public, any page", public, false, "store.example", "https://app.example", 200},
		{"public, no origin", public, false, "store.example", "null", 403},
		{"public, another name", public, false, "evil.example", "", 403},
		{"behind a proxy on this machine", public, true, "store.example", "https://app.example", 200},
		{"this machine, a rebound name", local, true, "evil.example", "", 403},
		{"this machine, a foreign page", local, true, "localhost", "https://evil.example", 403},
		{"this machine, its own page", local, true, "localhost:8080", "http://127.0.0.1:9", 200},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(pingMessage))
		if tt.loopback {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
				&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}))
		}
		r.Host = tt.host
		r.Header.Set("Content-Type", "application/json")
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		recorder := httptest.NewRecorder()
		tt.w.Handler.ServeHTTP(recorder, r)
		if recorder.Code != tt.want {
			t.Errorf("%s = %d %s, want %d", tt.name, recorder.Code, recorder.Body, tt.want)
		}
	}
}

// TestMCPLimits counts messages over MCP: what a client needs to begin is free,
// a list and a call cost one each.
func TestMCPLimits(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Limited(2, 1, 30))
	free := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		pingMessage,
	}
	for _, message := range free {
		if r := w.Do(http.MethodPost, "/mcp", message); r.Status >= 400 || r.Header.Get("RateLimit") != "" {
			t.Errorf("%s = %d %v, want it for free", message, r.Status, r.Header)
		}
	}
	if r := w.Do(http.MethodGet, "/mcp", ""); r.Status != http.StatusMethodNotAllowed {
		t.Errorf("GET = %d, want 405", r.Status)
	}
	for path, message := range map[string]string{
		"/mcp":  listMessage,
		"/mcp/": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_services"}}`,
	} {
		if r := w.Do(http.MethodPost, path, message); r.Status != http.StatusOK ||
			r.Header.Get("RateLimit-Policy") == "" {
			t.Errorf("%s = %d %v, want 200 with the limit", message, r.Status, r.Header)
		}
	}
	r := w.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"site_info"}}`)
	var refusal struct {
		ID    string
		Error struct {
			Code    int
			Message string
			Data    struct{ RetryAfterSeconds int }
		}
	}
	r.Into(t, &refusal)
	if r.Status != http.StatusTooManyRequests || refusal.ID != "x" || refusal.Error.Code != 429 ||
		!strings.Contains(refusal.Error.Message, "Retry after") ||
		r.Header.Get("Retry-After") == "" || refusal.Error.Data.RetryAfterSeconds < 1 {
		t.Errorf("over the limit = %d %v %s, want 429 that says how long to wait", r.Status, r.Header, r.Body)
	}
}

// TestMCPIsDocumented finds the endpoint in the API description, with its path.
func TestMCPIsDocumented(t *testing.T) {
	t.Parallel()
	document, err := storehttp.Document()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("mcp", d.Paths[mcphttp.Path]["post"].OperationID); diff != "" {
		t.Errorf("POST /mcp (-want +got):\n%s", diff)
	}
}
