package oauthclient_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
	"ace/internal/sandbox/notes"

	"github.com/google/go-cmp/cmp"
)

// demo is the demo app of the sandbox with its own definition.
type demo struct {
	t      *testing.T
	origin string
	http   *http.Client
	app    *app.App
	client *oauthclient.Client
	known  *connection.Client
}

func startDemo(t *testing.T) *demo {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	n, err := notes.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	face, err := n.Handler("/notes", "/styles.css")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/notes/", http.StripPrefix("/notes", face))
	for pattern, h := range n.Metadata("/notes") {
		mux.HandleFunc(pattern, h)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	text, err := os.ReadFile("../../../catalog/demo/demo-notes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Parse(bytes.ReplaceAll(text, []byte("${sandbox}"), []byte(server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	return &demo{
		t: t, origin: server.URL + "/notes", http: plain(), app: a, client: oauthclient.New(plain(), nil),
		known: &connection.Client{App: a.ID, ID: notes.ClientID, Secret: notes.ClientSecret},
	}
}

func (d *demo) post(path string, body any) {
	d.t.Helper()
	encoded, _ := json.Marshal(body)
	res, err := d.http.Post(d.origin+path, "application/json", bytes.NewReader(encoded))
	if err != nil {
		d.t.Fatal(err)
	}
	_ = res.Body.Close()
}

// decide is the person at the vendor: it returns the callback.
func (d *demo) decide(address, decision string) url.Values {
	d.t.Helper()
	u, form := parsed(d.t, address)
	form.Set("person", "ann")
	form.Set("decision", decision)
	u.RawQuery = ""
	res, err := d.http.PostForm(u.String(), form)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = res.Body.Close()
	back, err := res.Location()
	if err != nil {
		d.t.Fatalf("the form answered %d: %v", res.StatusCode, err)
	}
	return back.Query()
}

// me is the status of a call with a token.
func (d *demo) me(token string) int {
	d.t.Helper()
	r, _ := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.origin+"/api/v1/me", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := d.http.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func (d *demo) connect() (*app.Scheme, *connection.Grant) {
	d.t.Helper()
	s, _ := d.app.Scheme("oauth")
	attempt := newAttempt()
	address, err := d.client.Start(d.t.Context(), d.app, s, d.known, nil, attempt)
	if err != nil {
		d.t.Fatal(err)
	}
	callback := d.decide(address, "allow")
	if d.app.CallbackState(callback) != attempt.State {
		d.t.Fatalf("the callback brings state %q", callback.Get("state"))
	}
	g, err := d.client.Finish(d.t.Context(), d.app, s, d.known, nil, attempt, callback)
	if err != nil {
		d.t.Fatal(err)
	}
	return s, g
}

func TestDemoApp(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	s, g := d.connect()
	if d.me(g.Credentials["access_token"]) != http.StatusOK {
		t.Error("the token of the sign-in does not work")
	}
	if diff := cmp.Diff(map[string]string{"workspace": "home"}, g.Params); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"notes.read", "notes.write"}, g.Scopes); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
	if left := time.Until(g.ExpiresAt); left < 50*time.Minute || left > 61*time.Minute {
		t.Errorf("the token ends in %v", left)
	}

	conn := &connection.Connection{Params: g.Params, Scopes: g.Scopes}
	again, err := d.client.Refresh(t.Context(), d.app, s, d.known, conn, g.Credentials)
	if err != nil {
		t.Fatal(err)
	}
	old, fresh := g.Credentials["refresh_token"], again.Credentials["refresh_token"]
	if fresh == old || again.Credentials["previous_refresh_token"] != old ||
		again.Credentials["access_token"] == g.Credentials["access_token"] {
		t.Error("the refresh token was not rotated")
	}
	if d.me(again.Credentials["access_token"]) != http.StatusOK {
		t.Error("the refreshed token does not work")
	}

	// A refresh token that was used before ends the grant.
	_, err = d.client.Refresh(t.Context(), d.app, s, d.known, conn, g.Credentials)
	if e := failureOf(t, err); e.Class != connection.GrantOver || e.Code != "invalid_grant" || e.Status != 400 {
		t.Errorf("a used refresh token is %+v", e)
	}
	if _, err = d.client.Refresh(t.Context(), d.app, s, d.known, conn, again.Credentials); failureOf(t,
		err).Class != connection.GrantOver {
		t.Errorf("after that the grant is not over: %v", err)
	}
}

func TestDemoAppRevoked(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	s, g := d.connect()
	if err := d.client.Revoke(t.Context(), d.app, s, d.known, &connection.Connection{}, g.Credentials); err != nil {
		t.Fatal(err)
	}
	if d.me(g.Credentials["access_token"]) != http.StatusUnauthorized {
		t.Error("the token works after it was revoked")
	}
	d.post("/_sandbox/faults", map[string]any{"faults": []map[string]any{{"on": "revoke", "status": 503}}})
	err := d.client.Revoke(t.Context(), d.app, s, d.known, &connection.Connection{}, g.Credentials)
	if failureOf(t, err).Class != connection.Temporary {
		t.Errorf("a revocation that fails answers %v", err)
	}
}

func TestDemoAppDenied(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	s, _ := d.app.Scheme("oauth")
	attempt := newAttempt()
	address, err := d.client.Start(t.Context(), d.app, s, d.known, nil, attempt)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.client.Finish(t.Context(), d.app, s, d.known, nil, attempt, d.decide(address, "deny"))
	if problemCode(err) != "sign_in_denied" {
		t.Errorf("a refusal answers %v", err)
	}
	if _, err := d.client.Start(t.Context(), d.app, s, nil,
		nil, newAttempt()); problemCode(err) != "oauth_client_missing" {
		t.Errorf("without a client Begin answers %v", err)
	}
}

func TestDemoAppRefreshFaults(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	s, g := d.connect()
	tests := []struct {
		name  string
		fault map[string]any
		want  connection.RefreshError
	}{
		{
			"overloaded",
			map[string]any{"status": 503, "code": "temporarily_unavailable", "retry_after": "7"},
			connection.RefreshError{
				Class: connection.Temporary, Status: 503, Code: "temporarily_unavailable",
				After: 7 * time.Second,
			},
		},
		{
			"too often",
			map[string]any{"status": 429, "retry_after": "120"},
			connection.RefreshError{Class: connection.Temporary, Status: 429, After: 2 * time.Minute},
		},
		{
			"client unknown",
			map[string]any{"status": 401, "code": "invalid_client"},
			connection.RefreshError{Class: connection.ClientBroken, Status: 401, Code: "invalid_client"},
		},
		{
			"never heard of",
			map[string]any{"status": 418, "code": "teapot"},
			connection.RefreshError{Class: connection.Unknown, Status: 418, Code: "teapot"},
		},
	}
	for _, tt := range tests { // in order: the faults are of the next call
		tt.fault["on"] = "token"
		d.post("/_sandbox/faults", map[string]any{"faults": []map[string]any{tt.fault}})
		_, err := d.client.Refresh(t.Context(), d.app, s, d.known, &connection.Connection{}, g.Credentials)
		if diff := cmp.Diff(&tt.want, failureOf(t, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := d.client.Refresh(t.Context(), d.app, s, d.known, &connection.Connection{}, g.Credentials); err != nil {
		t.Errorf("after the faults a refresh answers %v", err)
	}
}

// The demo app's MCP endpoint registers clients by itself.
func TestDemoAppMCP(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	s := &app.Scheme{ID: "mcp", Type: app.TypeMCP, URL: d.origin + "/mcp"}
	attempt := newAttempt()
	address, err := d.client.Start(t.Context(), d.app, s, nil, nil, attempt)
	if err != nil {
		t.Fatal(err)
	}
	if _, q := parsed(t, address); q.Get("resource") != d.origin+"/mcp" || q.Get("scope") != "notes.read notes.write" ||
		q.Get("code_challenge_method") != "S256" {
		t.Errorf("the address asks for %v", q)
	}
	g, err := d.client.Finish(t.Context(), d.app, s, nil, nil, attempt, d.decide(address, "allow"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.client.Refresh(t.Context(), d.app, s, nil, &connection.Connection{}, g.Credentials)
	if err != nil {
		t.Fatal(err)
	}
	if d.me(again.Credentials["access_token"]) != http.StatusOK {
		t.Error("the refreshed token does not work")
	}
	if err := d.client.Revoke(t.Context(), d.app, s, nil, &connection.Connection{}, again.Credentials); err != nil {
		t.Fatal(err)
	}
	if d.me(again.Credentials["access_token"]) != http.StatusUnauthorized {
		t.Error("the token works after it was revoked")
	}
}

func TestDemoAppKey(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	s, _ := d.app.Scheme("key")
	tests := map[string]struct{ typed, want, says string }{
		"right":         {" nk_ABC234\n", "nk_ABC234", ""},
		"another's":     {"sk_ABC234", "", "begins with nk_"},
		"not of it":     {"nk_abc", "", "not look right"},
		"nothing":       {"  ", "", "belongs here"},
		"a line inside": {"nk_AB\nC", "", "not look right"},
	}
	for name, tt := range tests {
		g, err := d.client.Exchange(t.Context(), d.app, s, nil, nil,
			connection.Credentials{"key": tt.typed, "other": "x"})
		if tt.want != "" {
			if err != nil || len(g.Credentials) != 1 || g.Credentials["key"] != tt.want || !g.ExpiresAt.IsZero() {
				t.Errorf("%s: Exchange = %#v, %v", name, g, err)
			}
			continue
		}
		if problemCode(err) != "invalid_fields" || !strings.Contains(faultsOf(err), tt.says) {
			t.Errorf("%s: Exchange answers %v, want %q", name, err, tt.says)
		}
	}
}
