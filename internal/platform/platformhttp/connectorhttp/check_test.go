package connectorhttp_test

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
)

// TestMCPKeysAreChecked holds that an MCP server is asked whether it takes a key:
// by a check, and before a key that a person typed takes the place of another.
func TestMCPKeysAreChecked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ann := w.newcomer(t, "ann")
	var valid atomic.Value
	valid.Store("sesame-token")
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return toolServer("lookup", "Looks up.") },
		nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch valid := valid.Load().(string); {
		case valid == "":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("Authorization") != "Bearer "+valid:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	made := ann.make(t, map[string]any{
		"type": "mcp", "name": "Acme", "url": s.URL,
		"auth": map[string]any{"kind": "bearer", "token": "sesame-token"},
	})
	id, _ := made["connection_id"].(string)
	check := func(want, reason string) {
		t.Helper()
		status, got := ann.call(t, http.MethodPost, "/connections/"+id+"/check", nil)
		if had, _ := got["status_reason"].(string); status != http.StatusOK || got["status"] != want || had != reason ||
			got["last_checked_at"] == nil {
			t.Errorf("check = %d %v, want %s %s", status, got, want, reason)
		}
	}
	_, link := ann.call(t, http.MethodPost, "/connections/"+id+"/reconnect", map[string]any{"verify": "link"})
	address, _ := link["url"].(string)
	typed := func(token string) (*connection.Outcome, error) {
		visitor := connection.Visitor{Browser: strings.Repeat("b", 40)}
		return w.connections.Submit(t.Context(), path.Base(address), visitor,
			connection.Form{Fields: connection.Credentials{"token": token}})
	}

	check("active", "")
	valid.Store("")
	check("error", "provider_unavailable")
	if o, err := typed("another-token"); !problem.Is(err, "provider_unavailable") {
		t.Errorf("a key while the server is unavailable: %+v, %v, want provider_unavailable", o, err)
	}
	valid.Store("sesame-token")
	if o, err := typed("wrong-token"); !problem.Is(err, "credentials_refused") {
		t.Errorf("a wrong key: %+v, %v, want credentials_refused", o, err)
	}
	if live, err := w.connections.Use(t.Context(), ann.account, id); err != nil {
		t.Errorf("Use: %v", err)
	} else if kept, _ := live.Values.Value("token"); kept != "sesame-token" {
		t.Errorf("a key that was refused took the place of the one before: %q", kept)
	}
	check("active", "")
	valid.Store("newer-token")
	check("needs_reconnect", "user_revoked")
	if o, err := typed("newer-token"); err != nil || o.Connection == nil || o.Connection.ID != id {
		t.Errorf("the right key: %+v, %v, want the same connection", o, err)
	}
	check("active", "")
}
