package mcphttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withKey adds a key to the requests of a client.
type withKey struct{ secret string }

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.secret)
	return http.DefaultTransport.RoundTrip(r)
}

// TestOfficialClient is an agent with the official Go client. It speaks version
// 2026-07-28, so that its user signs in and approves within one call.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	w := setup(t)
	live := httptest.NewServer(w.handler)
	t.Cleanup(live.Close)
	asked := 0
	client := sdk.NewClient(&sdk.Implementation{Name: "peer", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{
			Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked++
			if r.Params.Mode != "url" || !strings.Contains(r.Params.Message, "Connect Desk") {
				t.Errorf("asked %+v", r.Params)
			}
			w.signIn(r.Params.URL)
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: live.URL + "/mcp", HTTPClient: &http.Client{Transport: withKey{w.key(nil)}},
	}, nil)
	if err != nil {
		t.Fatalf("Connect = %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult(); got.ProtocolVersion != "2026-07-28" {
		t.Errorf("version = %s, want the newest", got.ProtocolVersion)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 6 {
		t.Fatalf("ListTools = %v, %v", list, err)
	}
	call := func(name string, arguments map[string]any) map[string]any {
		t.Helper()
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err != nil || got.IsError {
			t.Fatalf("%s = %+v, %v", name, got, err)
		}
		text, err := json.Marshal(got.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	found := call("find_tools", map[string]any{"task": "open a ticket"})
	id := found["tools"].([]any)[0].(map[string]any)["tool"]
	run := call("run_tool", map[string]any{"tool": id, "arguments": map[string]any{"title": "Printer"}})
	if run["ok"] != true || asked != 1 {
		t.Errorf("run = %v after %d questions, want it done after one", run, asked)
	}
	if got := w.requests(); len(got) != 1 || got[0] != "POST /tickets" {
		t.Errorf("the app saw %v, want one request", got)
	}
}
