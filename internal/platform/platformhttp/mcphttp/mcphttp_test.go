package mcphttp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/platformhttp/gate"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestListIsShort holds that the list of tools costs a model less than 2,500
// tokens, counting one token for 3.5 characters of JSON.
func TestListIsShort(t *testing.T) {
	t.Parallel()
	w := setup(t)
	got := w.post(w.key(nil), listTools)
	var list struct {
		Result struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema json.RawMessage
				Annotations               map[string]any
			}
		}
	}
	if err := json.Unmarshal(got.Body.Bytes(), &list); err != nil {
		t.Fatalf("%d %s: %v", got.Code, got.Body, err)
	}
	names := []string{}
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
		if len(tool.OutputSchema) == 0 || len(tool.Annotations) != 5 ||
			!strings.Contains(string(tool.InputSchema), `"additionalProperties":false`) {
			t.Errorf("%s lacks a schema, or annotations: %v", tool.Name, tool.Annotations)
		}
	}
	if fmt.Sprint(names) != "[search_apps connect_app list_connections find_tools get_tool run_tool]" {
		t.Errorf("tools = %v, want the six in their order", names)
	}
	if most := 2500 * 7 / 2; got.Body.Len() > most {
		t.Errorf("tools/list has %d bytes, want at most %d", got.Body.Len(), most)
	}
	reader := w.post(w.key(func(s *apikey.Settings) { s.Permissions = apikey.Read }), listTools)
	if reader.Body.String() != got.Body.String() {
		t.Error("the list differs between keys")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secret := w.key(nil)
	tests := []struct {
		name, secret string
		fields       []string
		status       int
		code, needs  string
	}{
		{"no key", "", nil, 401, "missing_key", `Bearer realm="platform"`},
		{"a wrong key", "ace_nothing", nil, 401, "invalid_key", `error="invalid_token"`},
		{"a page of elsewhere", secret, []string{"Origin", "https://evil.example/x"}, 403, "", ""},
		{"a version that there is not", secret, []string{"MCP-Protocol-Version", "2023-01-01"}, 400, "", ""},
		{"a key", secret, nil, 200, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := w.post(tt.secret, listTools, tt.fields...)
			if got.Code != tt.status || !strings.Contains(got.Body.String(), tt.code) ||
				!strings.Contains(got.Header().Get("WWW-Authenticate"), tt.needs) {
				t.Errorf("%d %s with challenge %q, want %d %s and %s", got.Code, got.Body,
					got.Header().Get("WWW-Authenticate"), tt.status, tt.code, tt.needs)
			}
			if tt.status != http.StatusForbidden && got.Header().Get("Access-Control-Allow-Origin") == "" {
				t.Error("a page cannot read the answer")
			}
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		got := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, "/mcp", nil)
		r.Host = "127.0.0.1:8081"
		w.handler.ServeHTTP(got, r)
		if got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "POST, OPTIONS" {
			t.Errorf("%s: %d %v, want 405", method, got.Code, got.Header())
		}
	}
}

// TestLimitIsShared holds that REST and MCP share the limit of a key, and that a
// batch counts for each of its messages.
func TestLimitIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, addresses, failures := gate.Policies()
		table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1024})
		w := setupWith(t, gate.Limits{
			Keys: ratelimit.NewWindow(keys, nil), Addresses: table.Limiter(addresses),
			Failures: table.Limiter(failures),
		})
		secret := w.key(nil)
		rest := func() int {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/me", nil)
			r.Header.Set("Authorization", "Bearer "+secret)
			got := httptest.NewRecorder()
			w.handler.ServeHTTP(got, r)
			return got.Code
		}
		for range 109 {
			if got := w.post(secret, listTools); got.Code != http.StatusOK {
				t.Fatalf("%d %s", got.Code, got.Body)
			}
		}
		batch := "[" + strings.Repeat(listTools+",", 9) + listTools + "]"
		if got := w.post(secret, batch); got.Code != http.StatusOK {
			t.Fatalf("a batch of ten: %d %s", got.Code, got.Body)
		}
		if got := rest(); got != http.StatusOK {
			t.Errorf("the request before the limit: %d", got)
		}
		if got := rest(); got != http.StatusTooManyRequests {
			t.Errorf("REST after 119 messages over MCP and one request: %d, want 429", got)
		}
		got := w.post(secret, listTools)
		if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" ||
			!strings.Contains(got.Body.String(), "rate_limited") {
			t.Errorf("MCP after it: %d %v %s, want 429", got.Code, got.Header(), got.Body)
		}
	})
}

// TestOthersIDs holds that ids of another account are answered like ids that do
// not exist, and that another key cannot continue a call.
func TestOthersIDs(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ann := w.key(nil)
	link := w.result(ann, "connect_app", `{"app":"desk"}`)
	w.signIn(link["url"].(string))
	session := link["session_id"].(string)
	connection := w.result(ann, "connect_app", `{"app":"desk","session_id":"`+session+`"}`)["connection_id"].(string)
	run := w.result(ann, "run_tool", `{"tool":"desk__search","arguments":{"n":50},"max_chars":500}`)
	other, _, err := w.accounts.Create(t.Context(), audit.Operator(), "other", "bob@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	w.account = other
	bob := w.key(nil)
	for _, tt := range []struct{ tool, arguments, code string }{
		{"connect_app", `{"app":"desk","session_id":"` + session + `"}`, "connect_session_not_found"},
		{"connect_app", `{"app":"desk","connection_id":"` + connection + `"}`, "connection_not_found"},
		{"run_tool", `{"run_id":"` + run["run_id"].(string) + `"}`, "run_not_found"},
		{"run_tool", `{"output_cursor":"` + run["next_output_cursor"].(string) + `"}`, "run_not_found"},
		{"run_tool", `{"tool":"desk__search","arguments":{},` +
			`"connection_id":"` + connection + `"}`, "connection_not_found"},
	} {
		got := w.post(bob, toolCall(tt.tool, tt.arguments))
		if !strings.Contains(got.Body.String(), `\"code\":\"`+tt.code+`\"`) {
			t.Errorf("%s %s = %s, want %s", tt.tool, tt.arguments, got.Body, tt.code)
		}
	}
	if list := w.result(bob, "list_connections", `{}`)["connections"].([]any); len(list) != 0 {
		t.Errorf("another account lists %v", list)
	}
}

func toolCall(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// result is the structured result of a call.
func (w *world) result(secret, name, arguments string) map[string]any {
	w.t.Helper()
	got := w.post(secret, toolCall(name, arguments))
	var message struct {
		Result struct{ StructuredContent map[string]any }
	}
	if err := json.Unmarshal(got.Body.Bytes(), &message); err != nil || message.Result.StructuredContent == nil {
		w.t.Fatalf("%s %s: %d %s, %v", name, arguments, got.Code, got.Body, err)
	}
	return message.Result.StructuredContent
}

func TestDirectIsLimited(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, query := range []string{"tools=", "apps="} {
		for i := range 61 {
			query += fmt.Sprintf("desk__t%d,", i)
		}
		if got := w.postTo(
			"/mcp?"+query,
			w.key(nil),
			listTools,
		); !strings.Contains(
			got.Body.String(),
			"too_many_tools",
		) {
			t.Errorf("61 %.6s: %s, want too_many_tools", query, got.Body)
		}
	}
	if got := w.postTo("/mcp?apps=&tools=,", w.key(nil), listTools); !strings.Contains(got.Body.String(), "run_tool") {
		t.Errorf("empty parameters: %s, want the six tools", got.Body)
	}
}
