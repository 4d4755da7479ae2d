package connectorhttp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// guarded is an MCP server that takes one header field with one value, and a
// token endpoint that gives out such a value to one client.
func guarded(t *testing.T) (url string, valid *atomic.Value) {
	t.Helper()
	valid = &atomic.Value{}
	valid.Store("Authorization: Bearer sesame-token")
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return toolServer("lookup",
			"Looks up an item in the warehouse.")
	}, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, value, _ := strings.Cut(valid.Load().(string), ": ")
		if r.URL.Path == "/token" {
			_, secret, _ := r.BasicAuth()
			w.Header().Set("Content-Type", "application/json")
			switch secret {
			case "wrong-secret":
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
			case "narrow-secret":
				_ = json.NewEncoder(w).Encode(map[string]any{
					"access_token": "of-no-use", "token_type": "Bearer",
					"expires_in": 3600,
				})
			default:
				_ = json.NewEncoder(w).Encode(map[string]any{
					"access_token": "sesame-token", "token_type": "Bearer",
					"expires_in": 3600,
				})
			}
			return
		}
		switch {
		case name == "":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get(name) != value:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, valid
}

// TestRefusedAuthOfMCPLeavesAll sends credentials that the server does not take:
// settings and credentials stay the old ones, and the tools go on.
func TestRefusedAuthOfMCPLeavesAll(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ann := w.newcomer(t, "ann")
	url, valid := guarded(t)
	token := func(secret string) map[string]any {
		return map[string]any{
			"kind": "oauth2", "grant": "client_credentials", "token_url": url + "/token",
			"client_id": "c1", "client_secret": secret,
		}
	}
	made := ann.make(t, map[string]any{
		"type": "mcp", "name": "Acme", "url": url,
		"auth": map[string]any{"kind": "bearer", "token": "sesame-token"},
	})
	path := "/custom-connectors/" + made["id"].(string)
	runs := func(when string) {
		t.Helper()
		if _, err := ann.run(t, "x_acme__lookup", nil); err != nil {
			t.Errorf("%s: the tool does not run: %v", when, err)
		}
	}
	state := func() map[string]any {
		_, c := ann.call(t, http.MethodGet, path, nil)
		delete(c, "revision") // grows where something was done and reverted
		delete(c, "updated_at")
		return c
	}
	before := state()
	tests := []struct {
		name   string
		auth   map[string]any
		status int
		code   string
	}{
		{"a wrong token", map[string]any{"kind": "bearer", "token": "wrong-token"}, 422, "credentials_refused"},
		{
			"the right token elsewhere",
			map[string]any{"kind": "header", "header": "X-Api-Key", "value": "sesame-token"},
			422, "credentials_refused",
		},
		{
			"a name and a password",
			map[string]any{"kind": "basic", "username": "ann", "password": "wrong"},
			422, "credentials_refused",
		},
		{"no credentials", map[string]any{"kind": "none"}, 422, "credentials_refused"},
		{"half of them", map[string]any{"kind": "header", "header": "X-Api-Key"}, 400, "invalid_request"},
		{"a client that gets no token", token("wrong-secret"), 422, "credentials_refused"},
		{"a client whose token is refused", token("narrow-secret"), 422, "credentials_refused"},
	}
	for _, tt := range tests {
		status, got := ann.call(t, http.MethodPatch, path, map[string]any{"name": "Other", "auth": tt.auth})
		detail, _ := got["detail"].(string)
		if status != tt.status || got["code"] != tt.code || tt.status == 422 && !strings.Contains(detail, "stay") {
			t.Errorf("%s: PATCH = %d %v, want %d %s, and that the old ones stay", tt.name, status, got, tt.status,
				tt.code)
		}
		if diff := cmp.Diff(before, state()); diff != "" {
			t.Errorf("%s changed the connector (-before +after):\n%s", tt.name, diff)
		}
		runs(tt.name)
	}

	valid.Store("")
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": map[string]any{"kind": "bearer", "token": "newer-token"}}); status !=
		http.StatusServiceUnavailable || got["code"] != "provider_unavailable" {
		t.Errorf("while the server is unavailable: %d %v, want provider_unavailable", status, got)
	}
	valid.Store("Authorization: Bearer sesame-token")
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Errorf("an unavailable server changed the connector (-before +after):\n%s", diff)
	}
	runs("after the server was unavailable")

	// What the server takes is taken, all of it.
	valid.Store("X-Api-Key: newer-key")
	status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{
			"name": "Other",
			"auth": map[string]any{"kind": "header", "header": "X-Api-Key", "value": "newer-key"},
		})
	if status != http.StatusOK || got["status"] != "ready" || got["name"] != "Other" ||
		got["connection_id"] != made["connection_id"] {
		t.Errorf("new credentials: %d %v", status, got)
	}
	runs("with new credentials")
	valid.Store("Authorization: Bearer sesame-token")
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": token("right-secret")}); status != http.StatusOK || got["status"] != "ready" {
		t.Errorf("an OAuth client: %d %v", status, got)
	}
	runs("by an OAuth client")
}

// TestAuthOfRESTIsTakenWhole changes the credentials of an API that cannot be
// asked: both are new, and what the API responds is in the next run.
func TestAuthOfRESTIsTakenWhole(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ann := w.newcomer(t, "ann")
	s := newShop(t)
	made := ann.make(t, map[string]any{
		"type": "rest", "name": "Acme Shop", "openapi_url": s.URL + "/openapi.json",
		"auth": apiKey("sesame-key"),
	})
	path := "/custom-connectors/" + made["id"].(string)
	works := func(want bool, when string) {
		t.Helper()
		if _, err := ann.run(t, "x_acme_shop__list_orders", nil); (err == nil) != want {
			t.Errorf("%s: the tool runs with %v", when, err)
		}
	}
	for _, half := range []map[string]any{
		{"kind": "bearer"},
		{"kind": "basic", "username": ""},
		{"kind": "api_key", "in": "query", "name": "key"},
	} {
		if status, got := ann.call(t, http.MethodPatch, path,
			map[string]any{"auth": half}); status != http.StatusBadRequest || got["code"] != "invalid_request" {
			t.Errorf("%v: %d %v, want invalid_request", half, status, got)
		}
		works(true, "after half of the credentials")
	}
	client := map[string]any{
		"kind": "oauth2", "grant": "client_credentials", "token_url": s.URL + "/v1/token",
		"client_id": "c1", "client_secret": "c2",
	}
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": client}); status != http.StatusUnprocessableEntity {
		t.Errorf("a client that gets no token: %d %v, want 422", status, got)
	}
	works(true, "after a client that gets no token")
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": map[string]any{"kind": "bearer", "token": "wrong"}}); status != http.StatusOK ||
		got["connection_id"] != made["connection_id"] {
		t.Errorf("a wrong token: %d %v", status, got)
	}
	works(false, "with a wrong token")
	// A document that cannot be read is the status; the credentials are in use.
	s.document.Store("not a document")
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": apiKey("sesame-key")}); status != http.StatusOK || got["status"] != "failed" {
		t.Errorf("with a document that is none: %d %v, want failed", status, got)
	}
	works(true, "with the right key again")
}

// TestSettingsComeBack reverts what was saved before something broke.
func TestSettingsComeBack(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ann := w.newcomer(t, "ann")
	url, _ := guarded(t)
	consent := func(id, secret, at string) map[string]any {
		return map[string]any{
			"kind": "oauth2", "grant": "authorization_code", "authorize_url": url + "/authorize",
			"token_url": url + at, "client_id": id, "client_secret": secret,
		}
	}
	status, made := ann.call(t, http.MethodPost, "/custom-connectors",
		map[string]any{"type": "rest", "name": "Acme", "base_url": url, "auth": consent("c1", "s1", "/token")})
	if status != http.StatusCreated || made["status"] != "needs_auth" {
		t.Fatalf("POST = %d %v", status, made)
	}
	path := "/custom-connectors/" + made["id"].(string)
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": consent("c2", "", "/token")}); status != http.StatusBadRequest {
		t.Errorf("a client without a secret: %d %v", status, got)
	}
	client, err := w.connectors.Clients.Registered(t.Context(), ann.account, "x-acme", "")
	if err != nil || client == nil || client.ID != "c1" || client.Secret != "s1" {
		t.Errorf("the client = %+v, %v, want the first one", client, err)
	}
	token := map[string]any{
		"kind": "oauth2", "grant": "client_credentials", "token_url": url + "/token",
		"client_id": "c3", "client_secret": "wrong-secret",
	}
	if status, got := ann.call(t, http.MethodPatch, path,
		map[string]any{"auth": token}); status != http.StatusUnprocessableEntity {
		t.Errorf("a client that gets no token: %d %v", status, got)
	}
	if client, err = w.connectors.Clients.Registered(t.Context(), ann.account, "x-acme", ""); err != nil ||
		client == nil || client.ID != "c1" || client.Secret != "s1" {
		t.Errorf("the client after a refusal = %+v, %v, want the first one", client, err)
	}
	c, err := w.connectors.Get(t.Context(), ann.account, made["id"].(string))
	if err != nil || c.Settings.Auth.OAuth.Grant != "authorization_code" || c.Status != "needs_auth" {
		t.Errorf("the connector = %+v, %v, want its first settings", c, err)
	}
}
