package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func post(body string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func call(tool, arguments string) *http.Request {
	return post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` +
		arguments + `}}`)
}

// A page in a browser can resolve its own host name to this machine; a loopback listener serves
// only loopback names and origins.
func TestLoopbackListener(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		options      mcp.Options
		host, origin string
		want         int
	}{
		{"address", mcp.Options{}, "", "", 200},
		{"localhost", mcp.Options{}, "localhost:9", "", 200},
		{"IPv6", mcp.Options{}, "[::1]:9", "", 200},
		{"rebound name", mcp.Options{}, "evil.example:9", "", 403},
		{"name behind a proxy", mcp.Options{AllowedHosts: []string{"store.example"}}, "store.example", "", 200},
		{"other name behind a proxy", mcp.Options{AllowedHosts: []string{"store.example"}}, "evil.example", "", 403},
		{"page of this machine", mcp.Options{}, "", "http://localhost:3000", 200},
		{"foreign page", mcp.Options{}, "", "https://evil.example", 403},
		{"foreign page, allowed", mcp.Options{AllowedOrigins: []string{"*"}}, "", "https://app.example", 200},
		{"origin of another scheme", mcp.Options{}, "", "file://localhost", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			live := httptest.NewServer(newServer(&tt.options))
			t.Cleanup(live.Close)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, live.URL, strings.NewReader(ping))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			if body, _ := io.ReadAll(res.Body); res.StatusCode != tt.want {
				t.Errorf("POST with host %q origin %q = %d %s, want %d", tt.host, tt.origin, res.StatusCode, body,
					tt.want)
			}
		})
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	h := newServer(nil)
	for _, r := range []*http.Request{
		post(ping), post("{"), call("add", `{}`),
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/mcp", nil),
		post(`{"jsonrpc":"2.0","method":"x"}`),
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Access-Control-Allow-Origin": "*",
			"Access-Control-Allow-Methods": "POST, OPTIONS",
			"Access-Control-Max-Age":       "86400", "Mcp-Session-Id": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %d: %s = %q, want %q", r.Method, w.Code, name, got, want)
			}
		}
		if !strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "Retry-After") {
			t.Errorf("%s %d does not expose Retry-After", r.Method, w.Code)
		}
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		request      *http.Request
		lines        int
		want, unseen []string
	}{
		{"good call", call("add", `{"a":1,"b":2}`), 1, []string{`"operation":"tools/call add"`, `"status":200`}, nil},
		{
			"wrong arguments", call("add", `{"a":"hunter2"}`), 1,
			[]string{`"problem":"invalid_arguments"`},
			[]string{"hunter2"},
		},
		{"problem", call("fail", `{"how":"problem"}`), 1, []string{`"problem":"offer_not_found"`}, nil},
		{
			"protocol error", call("fail", `{"how":"protocol"}`), 1,
			[]string{`"problem":"rpc_-32001"`, `"status":424`},
			nil,
		},
		{
			"internal error, logged once", call("fail", `{"how":"internal"}`),
			2,
			[]string{"password=hunter2", `"problem":"rpc_internal_error"`},
			nil,
		},
		{
			"panic with its stack", call("fail", `{"how":"panic"}`), 2,
			[]string{"tool fail panicked", "mcp_test.go"},
			nil,
		},
		{
			"foreign method", post(`{"jsonrpc":"2.0","id":1,"method":"evil\nline"}`),
			1,
			[]string{`"operation":"other"`, `"problem":"rpc_method_not_found"`},
			[]string{"evil"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			deployed(newServer(nil), &log).ServeHTTP(httptest.NewRecorder(), tt.request)
			if n := strings.Count(log.String(), "\n"); n != tt.lines {
				t.Errorf("%d log lines, want %d:\n%s", n, tt.lines, &log)
			}
			for _, want := range tt.want {
				if !strings.Contains(log.String(), want) {
					t.Errorf("log lacks %s:\n%s", want, &log)
				}
			}
			for _, unseen := range tt.unseen {
				if strings.Contains(log.String(), unseen) {
					t.Errorf("log holds %s:\n%s", unseen, &log)
				}
			}
		})
	}
}

func TestCallKnowsItsRequest(t *testing.T) {
	t.Parallel()
	var got mcp.Call
	s := mcp.NewServer(mcp.Implementation{Name: "t", Version: "1"}, nil)
	s.AddRawTool(mcp.Tool{Name: "look", Description: "Looks.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, c *mcp.Call, _ json.RawMessage) (*mcp.Result, error) {
			got = *c
			return &mcp.Result{}, nil
		})
	h := httpserver.ClientAddress(&httpserver.Proxies{
		Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Header: httpserver.HeaderXForwardedFor,
	})(s)
	r := post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"k":"v"},"name":"look"}}`)
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	r.Header.Set("MCP-Protocol-Version", "2024-11-05")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got.Tool != "look" || got.ClientIP != netip.MustParseAddr("198.51.100.7") ||
		string(got.Meta.Raw()) != `{"k":"v"}` ||
		got.Version != "2024-11-05" ||
		got.Header.Get("X-Forwarded-For") == "" {
		t.Errorf("Call = %+v", got)
	}
	if want := `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`; w.Body.String() != want {
		t.Errorf("empty result = %s, want %s", w.Body, want)
	}
}

func TestCheckOutput(t *testing.T) {
	t.Parallel()
	type out struct {
		Items []string `json:"items"`
	}
	s := mcp.NewServer(mcp.Implementation{Name: "t", Version: "1"}, &mcp.Options{CheckOutput: true})
	mcp.AddTool(s, mcp.Tool{Name: "nil", Description: "Returns null for an array."},
		func(context.Context, *mcp.Call, *struct{}) (*out, error) { return &out{}, nil })
	w := httptest.NewRecorder()
	s.ServeHTTP(w, call("nil", `{}`))
	if !strings.Contains(w.Body.String(), "-32603") {
		t.Errorf("null for an array = %s, want an internal error", w.Body)
	}
}

func TestRegistrationRefuses(t *testing.T) {
	t.Parallel()
	object := json.RawMessage(`{"type":"object"}`)
	tests := []struct {
		name string
		tool mcp.Tool
		want string
	}{
		{"name", mcp.Tool{Name: "a b", Description: "d", InputSchema: object}, "tool name"},
		{"description", mcp.Tool{Name: "a", InputSchema: object}, "no description"},
		{"double", mcp.Tool{Name: "add", Description: "d", InputSchema: object}, "twice"},
		{"no schema", mcp.Tool{Name: "a", Description: "d"}, "input schema"},
		{
			"not an object",
			mcp.Tool{Name: "a", Description: "d", InputSchema: json.RawMessage(`{"type":"string"}`)},
			"must be an object",
		},
		{
			"reference outside",
			mcp.Tool{
				Name: "a", Description: "d",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"$ref":"file:///etc/passwd"}}}`),
			},
			"outside of itself",
		},
		{
			"bad keyword",
			mcp.Tool{Name: "a", Description: "d", InputSchema: json.RawMessage(`{"type":"object","required":7}`)},
			"input schema",
		},
		{
			"output",
			mcp.Tool{Name: "a", Description: "d", InputSchema: object, OutputSchema: json.RawMessage(`[]`)},
			"output schema",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, tt.want) {
					t.Errorf("panic = %q, want %q in it", got, tt.want)
				}
			}()
			newServer(nil).AddRawTool(tt.tool, nil)
		})
	}
}

// The metadata of a tool is listed, and other transports can check arguments as the server does.
func TestMetaAndSchema(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(mcp.Implementation{Name: "t", Version: "1"}, nil)
	tool, handler := mcp.Typed(mcp.Tool{Name: "add", Description: "Adds.", Meta: json.RawMessage(`{"price":"free"}`)},
		func(_ context.Context, _ *mcp.Call, in *addInput) (*addOutput, error) {
			return &addOutput{Sum: in.A + in.B}, nil
		})
	s.AddRawTool(tool, handler)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if !strings.Contains(w.Body.String(), `"_meta":{"price":"free"}`) || tool.OutputSchema == nil {
		t.Errorf("tools/list = %s, want _meta and both schemas", w.Body)
	}
	schema, err := mcp.CompileSchema(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Check(json.RawMessage(`{"a":1,"b":2}`)); err != nil {
		t.Errorf("Check of what fits = %v", err)
	}
	if err := schema.Check(json.RawMessage(`{"a":1}`)); !problem.Is(err, "invalid_arguments") {
		t.Errorf("Check without b = %v, want invalid_arguments", err)
	}
}

func TestToolsHash(t *testing.T) {
	t.Parallel()
	one, two := newServer(nil), newServer(nil)
	if one.ToolsHash() != two.ToolsHash() || len(one.ToolsHash()) != 16 {
		t.Errorf("hashes of equal servers = %q, %q", one.ToolsHash(), two.ToolsHash())
	}
	two.AddRawTool(mcp.Tool{Name: "more", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	if one.ToolsHash() == two.ToolsHash() {
		t.Error("one more tool leaves the hash as it was")
	}
}

// For any input the response is JSON or empty, and never a 5xx.
func FuzzServer(f *testing.F) {
	for _, seed := range []string{
		ping, `[` + ping + `]`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1e2,"b":2.0}}}`,
		`{"jsonrpc":"2.0","id":"\ud800","method":"initialize","params":{"protocolVersion":null}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"strict","arguments":{"x":{}}}}`,
	} {
		f.Add(seed, "application/json, text/event-stream", "")
	}
	f.Add(ping, "text/event-stream;q=0.x", "2025-06-18")
	h := newServer(nil)
	f.Fuzz(func(t *testing.T, body, accept, version string) {
		r := post(body)
		r.Header.Set("Accept", accept)
		if version != "" {
			r.Header.Set("MCP-Protocol-Version", version)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		text := w.Body.String()
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "event: message\ndata: "), "\n\n")
			if strings.Contains(text, "\n") {
				t.Errorf("POST %q: the event has a line break: %q", body, w.Body)
			}
		}
		if w.Code >= 500 || w.Code != http.StatusAccepted && !json.Valid([]byte(text)) {
			t.Errorf("POST %q = %d %q, want JSON and no 5xx", body, w.Code, w.Body)
		}
	})
}
