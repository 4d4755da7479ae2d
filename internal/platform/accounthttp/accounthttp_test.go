package accounthttp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/password"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/accounthttp"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/library"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"

	"github.com/google/go-cmp/cmp"
)

// operator calls the handler over real stores on SQLite.
type operator struct {
	t       *testing.T
	handler http.Handler
	keys    *apikey.Service
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	store := platformstore.New(db, nil)
	accounts, keys := account.New(store, password.New(), sealer.MAC), apikey.New(store, sealer.MAC)
	handler := accounthttp.New(accounthttp.Deps{
		Accounts: accounts, Keys: keys, Library: apps(t), Clients: clients.New(store, sealer),
		SignIn:   func(secret string) string { return "https://p.example/in/" + secret },
		Redirect: func(appID string) string { return "https://p.example/oauth/callback/" + appID },
	})
	return &operator{t, handler, keys}
}

// apps are one that is connected by a key, and one by an OAuth client.
func apps(t *testing.T) *library.Library {
	t.Helper()
	definition := func(id, auth string) *app.App {
		a, err := app.Parse([]byte("id: " + id + "\nname: " + id + "\nabout: An app.\ndomain: a.example\n" +
			"docs: https://a.example/docs\nchecked: 2026-11-21\ncategories: [productivity]\nbase: https://a.example\n" +
			"auth: [" + auth + "]\n"))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	l, err := library.New([]*app.App{
		definition("notes", `{id: key, type: key, fields: [{name: key, title: Key, secret: true}], `+
			`send: {headers: {Authorization: "Bearer {key}"}}}`),
		definition("desk", `{id: oauth, type: oauth2, oauth: {authorize: {url: https://a.example/a}, `+
			`token: {url: https://a.example/t}}}`),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// call makes a request, decodes the response into out and returns its status.
func (o *operator) call(method, path, body string, out any) int {
	o.t.Helper()
	r := httptest.NewRequestWithContext(o.t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	o.handler.ServeHTTP(w, r)
	if out != nil {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			o.t.Fatalf("%s %s = %d %s: %v", method, path, w.Code, w.Body, err)
		}
	}
	return w.Code
}

// code makes a request that is refused and returns its status and error code.
func (o *operator) code(method, path, body string) (int, string) {
	o.t.Helper()
	var refusal struct{ Code string }
	status := o.call(method, path, body, &refusal)
	return status, refusal.Code
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var none accounthttp.Accounts
	if status := o.call("GET", "/accounts", "", &none); status != http.StatusOK || none.Accounts == nil ||
		len(none.Accounts) != 0 {
		t.Errorf("list of none = %d %+v, want an empty array", status, none)
	}
	var made accounthttp.NewAccount
	if status := o.call("POST", "/accounts", `{"name":"acme","email":"ann@acme.example"}`, &made); status !=
		http.StatusCreated || made.Name != "acme" || made.ID == "" {
		t.Fatalf("create = %d %+v", status, made)
	}
	if !strings.HasPrefix(made.SignIn.URL, "https://p.example/in/") || made.SignIn.ExpiresAt.IsZero() {
		t.Errorf("sign-in link = %+v", made.SignIn)
	}
	var link accounthttp.Link
	if status := o.call("POST", "/accounts/acme/link", "", &link); status != http.StatusCreated ||
		link.URL == made.SignIn.URL || !strings.HasPrefix(link.URL, "https://p.example/in/") {
		t.Errorf("another link = %d %+v, want a new one", status, link)
	}
	var all accounthttp.Accounts
	o.call("GET", "/accounts", "", &all)
	if diff := cmp.Diff([]accounthttp.Account{made.Account}, all.Accounts); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestRedirectURLs(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.call("POST", "/accounts", `{"name":"acme"}`, nil)
	const path = "/accounts/acme/redirect-urls"
	change := func(body string) []string {
		t.Helper()
		var list accounthttp.RedirectURLs
		if status := o.call("PATCH", path, body, &list); status != http.StatusOK {
			t.Fatalf("PATCH %s = %d", body, status)
		}
		return list.URLs
	}
	if diff := cmp.Diff([]string{"https://a.example/x"}, change(`{"add":["https://a.example/x"]}`)); diff != "" {
		t.Errorf("after adding (-want +got):\n%s", diff)
	}
	change(`{"add":["https://b.example/y"]}`)
	if diff := cmp.Diff([]string{"https://b.example/y"}, change(`{"remove":["https://a.example/x"]}`)); diff != "" {
		t.Errorf("after removing (-want +got):\n%s", diff)
	}
	var list accounthttp.RedirectURLs
	o.call("GET", path, "", &list)
	if diff := cmp.Diff([]string{"https://b.example/y"}, list.URLs); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if got := change(`{"remove":["https://b.example/y"]}`); got == nil || len(got) != 0 {
		t.Errorf("after removing all = %v, want an empty array", got)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.call("POST", "/accounts", `{"name":"acme"}`, nil)
	o.call("POST", "/accounts", `{"name":"other"}`, nil)
	var made accounthttp.Key
	status := o.call(
		"POST",
		"/accounts/acme/keys",
		`{"permissions":["read","run"],"expires_at":"2099-01-02T03:04:05Z",`+
			`"restrict":{"apps":["notes"],"read_only_tools":true,"ip_cidrs":["10.0.0.0/8"]}}`,
		&made,
	)
	if status != http.StatusCreated || !strings.HasPrefix(made.Secret, made.Prefix) || made.Prefix == "" ||
		made.Name == "" || made.ExpiresAt == nil {
		t.Fatalf("create = %d %+v", status, made)
	}
	if diff := cmp.Diff([]string{"read", "run"}, made.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	want := accounthttp.Restrict{Apps: []string{"notes"}, ReadOnly: true, Networks: []string{"10.0.0.0/8"}}
	if diff := cmp.Diff(want, made.Restrict); diff != "" {
		t.Errorf("restrict (-want +got):\n%s", diff)
	}
	var list accounthttp.Keys
	o.call("GET", "/accounts/acme/keys", "", &list)
	if len(list.Keys) != 1 || list.Keys[0].ID != made.ID || list.Keys[0].Secret != "" || list.Keys[0].RevokedAt != nil {
		t.Errorf("keys = %+v, want the key without its secret", list.Keys)
	}
	var others accounthttp.Keys
	o.call("GET", "/accounts/other/keys", "", &others)
	if others.Keys == nil || len(others.Keys) != 0 {
		t.Errorf("keys of another account = %v, want an empty array", others.Keys)
	}
	if status := o.call("DELETE", "/keys/"+made.ID, "", nil); status/100 != 2 {
		t.Errorf("revoke = %d", status)
	}
	o.call("GET", "/accounts/acme/keys", "", &list)
	if len(list.Keys) != 1 || list.Keys[0].RevokedAt == nil {
		t.Errorf("keys = %+v, want the revoked one", list.Keys)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.call("POST", "/accounts", `{"name":"acme"}`, nil)
	tests := []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"unknown account", "POST", "/accounts/none/link", "", 404, "account_not_found"},
		{"redirects of an unknown account", "GET", "/accounts/none/redirect-urls", "", 404, "account_not_found"},
		{"change of an unknown account", "PATCH", "/accounts/none/redirect-urls", `{}`, 404, "account_not_found"},
		{"keys of an unknown account", "GET", "/accounts/none/keys", "", 404, "account_not_found"},
		{
			"key of an unknown account",
			"POST",
			"/accounts/none/keys",
			`{"permissions":["read"]}`,
			404,
			"account_not_found",
		},
		{"unknown key", "DELETE", "/keys/key_none", "", 404, "api_key_not_found"},
		{"name in use", "POST", "/accounts", `{"name":"acme"}`, 409, "account_exists"},
		{"unknown permission", "POST", "/accounts/acme/keys", `{"permissions":["fly"]}`, 400, ""},
		{
			"no network",
			"POST",
			"/accounts/acme/keys",
			`{"permissions":["read"],"restrict":{"ip_cidrs":["x"]}}`,
			400,
			"",
		},
		{"unknown path", "GET", "/nothing", "", 404, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if status, code := o.code(
				tt.method,
				tt.path,
				tt.body,
			); status != tt.status ||
				tt.code != "" && code != tt.code {
				t.Errorf("%d %s, want %d %s", status, code, tt.status, tt.code)
			}
		})
	}
}

func TestUnknownApps(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.call("POST", "/accounts", `{"name":"demo"}`, nil)
	var refusal struct{ Code, Detail string }
	for app, want := range map[string]string{
		"note": "Did you mean notes?", "zebra": "There is no such app: zebra.",
		strings.Repeat("z", 99): "There is no such app.",
	} {
		body := `{"permissions":["read"],"restrict":{"apps":["desk","` + app + `"]}}`
		if status := o.call("POST", "/accounts/demo/keys", body, &refusal); status != http.StatusBadRequest ||
			refusal.Code != "unknown_app" || !strings.Contains(refusal.Detail, want) {
			t.Errorf("a key for %s = %d %+v, want %s", app, status, refusal, want)
		}
	}
}

func TestOAuthClients(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var all accounthttp.OAuthClients
	if o.call("GET", "/oauth-clients", "", &all); all.Clients == nil || len(all.Clients) != 0 {
		t.Errorf("clients at first = %+v", all)
	}
	want := accounthttp.OAuthClient{App: "desk", ClientID: "id1", RedirectURI: "https://p.example/oauth/callback/desk"}
	var set accounthttp.OAuthClient
	if status := o.call("PUT", "/oauth-clients/desk", `{"client_id":"id1","client_secret":"sesame"}`, &set); status !=
		http.StatusOK || set != want {
		t.Errorf("setting a client = %d %+v", status, set)
	}
	if o.call("GET", "/oauth-clients", "", &all); len(all.Clients) != 1 || all.Clients[0] != want {
		t.Errorf("clients = %+v", all)
	}
	tests := []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{
			"no such app",
			"PUT",
			"/oauth-clients/des",
			`{"client_id":"x"}`,
			http.StatusBadRequest,
			"unknown_app",
		},
		{
			"no use for it",
			"PUT",
			"/oauth-clients/notes",
			`{"client_id":"x"}`,
			http.StatusConflict,
			"no_oauth_client_needed",
		},
		{
			"no id",
			"PUT",
			"/oauth-clients/desk",
			`{"client_id":""}`,
			http.StatusBadRequest,
			"invalid_oauth_client",
		},
		{"none to delete", "DELETE", "/oauth-clients/notes", "", http.StatusNotFound, "oauth_client_not_found"},
	}
	for _, tt := range tests {
		if status, code := o.code(tt.method, tt.path, tt.body); status != tt.status || code != tt.code {
			t.Errorf("%s = %d %s, want %d %s", tt.name, status, code, tt.status, tt.code)
		}
	}
	if status := o.call("DELETE", "/oauth-clients/desk", "", nil); status != http.StatusNoContent {
		t.Errorf("deleting = %d", status)
	}
	if o.call("GET", "/oauth-clients", "", &all); len(all.Clients) != 0 {
		t.Errorf("clients at the end = %+v", all)
	}
}
