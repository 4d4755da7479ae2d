package server

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"ace/internal/platform/connection"
	"ace/internal/sandbox/notes"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// browse sends a request and returns the page, and where it would lead on.
func browse(t *testing.T, method, address, kind, body string) (location, page string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", kind)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.Header.Get("Location"), string(text)
}

// TestOAuthConnector connects the demo app as a REST API of an account's own, by
// an OAuth client that the account has there, with and without a secret. The
// addresses of the authorization server come from the OpenAPI document.
func TestOAuthConnector(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{false, true} {
		t.Run(fmt.Sprintf("public client %v", public), func(t *testing.T) {
			t.Parallel()
			connectByOAuth(t, public)
		})
	}
}

func connectByOAuth(t *testing.T, public bool) {
	t.Helper()
	h := newHost(t, Options{})
	ann := h.party(t, "ann")
	callback := h.cfg.PlatformURL + "/oauth/callback/x-my-notes"
	client := map[string]any{"kind": "oauth2", "client_id": notes.ClientID, "client_secret": notes.ClientSecret}
	if public {
		_, registered := browse(t, http.MethodPost, h.sandbox+"/notes/oauth/register", "application/json",
			`{"client_name":"Ann","redirect_uris":["`+callback+`"]}`)
		var made struct {
			ID string `json:"client_id"`
		}
		if err := json.Unmarshal([]byte(registered), &made); err != nil || made.ID == "" {
			t.Fatalf("registering a client = %s, %v", registered, err)
		}
		client = map[string]any{"kind": "oauth2", "client_id": made.ID, "client_auth": "none"}
	}
	document := fmt.Sprintf(
		`{"openapi":"3.1.0","info":{"title":"Notes"},"servers":[{"url":"%[1]s/notes/api/v1"}],`+
			`"security":[{"login":["notes.read"]}],
		"components":{"securitySchemes":{"login":{"type":"oauth2",`+
			`"flows":{"authorizationCode":{"authorizationUrl":"%[1]s/notes/oauth/authorize",`+
			`"tokenUrl":"%[1]s/notes/oauth/token","scopes":{"notes.read":"","notes.write":""}}}}}},
		"paths":{"/me":{"get":{"operationId":"whoAmI"}}}}`,
		h.sandbox,
	)
	request, err := json.Marshal(map[string]any{
		"type": "rest", "name": "My notes", "openapi": document, "auth": client,
	})
	if err != nil {
		t.Fatal(err)
	}
	made := ann.must(http.StatusCreated, http.MethodPost, "/custom-connectors", string(request))
	connect, _ := made["connect"].(map[string]any)
	if made["status"] != "needs_auth" || made["redirect_uri"] != callback || connect == nil ||
		made["tools_count"] != 1.0 {
		t.Fatalf("made %v, want it to need a person", made)
	}
	if text := fmt.Sprint(made); strings.Contains(text, notes.ClientSecret) {
		t.Errorf("the answer holds the client's secret: %s", text)
	}
	if text, refused := ann.answered(http.MethodPost, "/tools/x_my_notes__who_am_i/run", map[string]any{}); !refused {
		t.Errorf("a run before anybody has signed in: %s", text)
	}

	visitor := connection.Visitor{Browser: strings.Repeat("b", 40), AccountID: ann.account.ID}
	outcome, err := h.platform.connections.Submit(t.Context(), path.Base(connect["url"].(string)), visitor,
		connection.Form{})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := url.Parse(outcome.Redirect)
	if err != nil || !strings.HasPrefix(outcome.Redirect, h.sandbox+"/notes/oauth/authorize?") ||
		asked.Query().Get("scope") != "notes.read" || asked.Query().Get("client_id") != client["client_id"] ||
		asked.Query().Get("code_challenge") == "" {
		t.Fatalf("the person is sent to %s", outcome.Redirect)
	}
	_, page := browse(t, http.MethodGet, outcome.Redirect, "", "")
	consent := url.Values{"person": {"Ann"}, "decision": {"allow"}}
	for _, field := range hiddenField.FindAllStringSubmatch(page, -1) {
		consent.Set(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	back, _ := browse(t, http.MethodPost, h.sandbox+"/notes/oauth/authorize", "application/x-www-form-urlencoded",
		consent.Encode())
	location, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(back, callback+"?") {
		t.Fatalf("the person comes back to %v, %v", location, err)
	}
	if outcome, err = h.platform.connections.Callback(t.Context(), "x-my-notes", visitor,
		location.Query()); err != nil || outcome.Connection == nil {
		t.Fatalf("Callback = %+v, %v", outcome, err)
	}

	id, _ := made["id"].(string)
	ann.must(
		http.StatusUnprocessableEntity,
		http.MethodPatch,
		"/custom-connectors/"+id,
		`{"auth":{"kind":"oauth2","authorize_url":"https://10.0.0.1/","token_url":"https://10.0.0.1/",`+
			`"client_id":"c","client_secret":"s"}}`,
	)
	encoded, err := json.Marshal(map[string]string{"openapi": document})
	if err != nil {
		t.Fatal(err)
	}
	if again := ann.must(http.StatusOK, http.MethodPost, "/custom-connectors/"+id+"/refresh",
		string(encoded)); again["status"] != "ready" {
		t.Fatalf("after the sign-in = %v", again)
	}
	run := ann.must(http.StatusOK, http.MethodPost, "/tools/x_my_notes__who_am_i/run", `{}`)
	if who, _ := run["output"].(map[string]any); run["ok"] != true || who["name"] != "Ann" {
		t.Errorf("run = %v", run)
	}
	if got := ann.send(false, http.MethodDelete, "/api/v1/custom-connectors/"+id,
		"", nil); got.Code != http.StatusNoContent {
		t.Errorf("deleting = %d %s", got.Code, got.Body)
	}
	if kept, err := h.platform.clients.List(t.Context(), ann.account.ID); err != nil || len(kept) != 0 {
		t.Errorf("clients after the connector is deleted = %v, %v", kept, err)
	}
}

// TestClientCredentialsConnector trades a client's id and secret for tokens,
// without a person; what is wrong leaves nothing behind.
func TestClientCredentialsConnector(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	api := at(t, public+":0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		id, secret, _ := r.BasicAuth()
		secret, _ = url.QueryUnescape(secret) // RFC 6749, 2.3.1
		switch {
		case r.URL.Path == "/token" && (id != "machine" || secret != "s3cret+/ secret" ||
			r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "orders"):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
		case r.URL.Path == "/token":
			_, _ = w.Write([]byte(`{"access_token":"machine-token","token_type":"bearer","expires_in":3600}`))
		case r.Header.Get("Authorization") != "Bearer machine-token":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte(`{"orders":3}`))
		}
	}))
	request := func(auth map[string]any) map[string]any {
		auth["kind"], auth["grant"] = "oauth2", "client_credentials"
		return map[string]any{"type": "rest", "name": "Orders", "base_url": api.URL, "auth": auth}
	}
	refusals := []struct {
		name string
		auth map[string]any
		code string
	}{
		{"a wrong secret", map[string]any{
			"token_url": api.URL + "/token", "scopes": []string{"orders"},
			"client_id": "machine", "client_secret": "guess",
		}, ""},
		{"no secret", map[string]any{"token_url": api.URL + "/token", "client_id": "machine"}, "invalid_request"},
		{"no address", map[string]any{"client_id": "machine", "client_secret": "s"}, "invalid_request"},
		{"an address inside", map[string]any{
			"token_url": "https://169.254.169.254/token", "client_id": "machine",
			"client_secret": "s",
		}, "target_not_allowed"},
		{"an address with a name", map[string]any{
			"token_url": "https://u:p@id.example/token", "client_id": "machine",
			"client_secret": "s",
		}, "invalid_request"},
		{"a scope of two words", map[string]any{
			"token_url": api.URL + "/token", "scopes": []string{"a b"},
			"client_id": "machine", "client_secret": "s",
		}, "invalid_request"},
	}
	for _, tt := range refusals {
		text, refused := ann.answered(http.MethodPost, "/custom-connectors", request(tt.auth))
		if !refused || !strings.Contains(text, tt.code) || strings.Contains(text, "guess") {
			t.Errorf("%s = %s, want %s", tt.name, text, tt.code)
		}
	}
	if list := ann.must(http.StatusOK, http.MethodGet, "/custom-connectors",
		"")["custom_connectors"].([]any); len(list) != 0 {
		t.Errorf("what was refused is kept: %v", list)
	}
	text, refused := ann.answered(http.MethodPost, "/custom-connectors",
		request(map[string]any{
			"token_url": api.URL + "/token", "scopes": []string{"orders"}, "client_id": "machine",
			"client_secret": "s3cret+/ secret",
		}))
	if refused || !strings.Contains(text, `"ready"`) || strings.Contains(text, "s3cret") {
		t.Fatalf("made %s", text)
	}
	run := ann.must(http.StatusOK, http.MethodPost, "/apps/x-orders/request", `{"method":"GET","path":"/orders"}`)
	if body, _ := run["body"].(map[string]any); body["orders"] != 3.0 {
		t.Errorf("request = %v", run)
	}
}
