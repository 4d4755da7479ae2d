package platformhttp_test

import (
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// bearer is the field that a key goes into.
func bearer(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

// caller sends requests with one key.
type caller struct {
	*world
	secret string
}

func (w *world) by(t *testing.T, permissions apikey.Permissions) caller {
	t.Helper()
	secret, _ := w.key(t, permissions)
	return caller{w, secret}
}

func (c caller) do(method, path, body string, fields ...string) *httptest.ResponseRecorder {
	return c.call(method, path, body, append(bearer(c.secret), fields...)...)
}

// restricted is a key with restrictions.
func (w *world) restricted(t *testing.T, r apikey.Restrictions) caller {
	t.Helper()
	_, secret, err := w.keys.Create(t.Context(), audit.Operator(), w.account.ID,
		apikey.Settings{Name: "restricted", Permissions: apikey.All, Restrict: r})
	if err != nil {
		t.Fatal(err)
	}
	return caller{w, secret}
}

// connected types a key on the page of a link.
func (w *world) connected(t *testing.T, link string) string {
	t.Helper()
	v := connection.Visitor{Browser: strings.Repeat("b", 40), AccountID: w.account.ID}
	o, err := w.connections.Submit(t.Context(), path.Base(link), v,
		connection.Form{Scheme: "key", Fields: connection.Credentials{"key": "nk_ABC"}})
	if err != nil {
		t.Fatal(err)
	}
	return o.Connection.ID
}

func TestConnectOverREST(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	key := w.by(t, apikey.All)
	got := key.do("POST", "/api/v1/apps/demo-notes/connect",
		`{"label":"Work","auth":"key","redirect_url":"https://agent.example/done","state":"s"}`)
	if got.Code != 201 {
		t.Fatalf("connect: %d %s", got.Code, got.Body)
	}
	link := decode(t, got)
	id, _ := link["session_id"].(string)
	if !strings.HasPrefix(link["url"].(string), base+"/connect/") || link["status"] != "pending" ||
		link["app"] != "demo-notes" || link["reconnects"] != nil ||
		link["status_url"] != base+"/api/v1/connect-sessions/"+id ||
		got.Header().Get("Location") != link["status_url"] || len(link["existing_connections"].([]any)) != 0 {
		t.Errorf("link = %v", link)
	}
	connectionID := w.connected(t, link["url"].(string))
	session := decode(t, key.do("GET", "/api/v1/connect-sessions/"+id+"?wait=5", ""))
	if session["status"] != "connected" || session["connection_id"] != connectionID || session["error"] != nil {
		t.Errorf("session = %v", session)
	}
	list := decode(t, key.do("GET", "/api/v1/connections?app=demo-notes", ""))["connections"].([]any)
	if len(list) != 1 {
		t.Fatalf("connections = %v", list)
	}
	c := list[0].(map[string]any)
	if c["id"] != connectionID || c["app_name"] != "Demo Notes" || c["label"] != "Work" || c["status"] != "active" ||
		c["status_reason"] != nil || c["auth"] != "key" || c["end_user"] != nil ||
		c["account"].(map[string]any)["email"] != "ann@acme.example" || c["is_default"] != false ||
		c["token_expires_at"] != nil {
		t.Errorf("connection = %v", c)
	}
	apps := decode(t, key.do("GET", "/api/v1/apps?search=demo", ""))["apps"].([]any)
	if one := apps[0].(map[string]any); one["connection_status"] != "connected" ||
		one["default_connection_id"] != connectionID {
		t.Errorf("app = %v", one)
	}
	for _, answer := range []string{
		got.Body.String(),
		key.do("GET", "/api/v1/connections/"+connectionID, "").Body.String(),
	} {
		if strings.Contains(answer, "nk_ABC") || strings.Contains(answer, "hush") {
			t.Errorf("a secret in %s", answer)
		}
	}
}

func TestConnectIsIdempotent(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	key := w.by(t, apikey.Connect)
	connect := func(k, body string) *httptest.ResponseRecorder {
		return key.do("POST", "/api/v1/apps/demo-notes/connect", body, "Idempotency-Key", k)
	}
	first, again := connect("k1", `{"label":"a"}`), connect("k1", `{"label":"a"}`)
	if first.Code != 201 || again.Code != 201 || again.Body.String() != first.Body.String() ||
		first.Header().Get("Idempotency-Replayed") != "" || again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("repetition: %d %v %s, first %s", again.Code, again.Header(), again.Body, first.Body)
	}
	if other := connect("k1", `{"label":"b"}`); other.Code != 422 ||
		decode(t, other)["code"] != "idempotency_key_reused" {
		t.Errorf("another body: %d %s", other.Code, other.Body)
	}
	if fresh := connect("k2", `{"label":"a"}`); fresh.Code != 201 ||
		decode(t, fresh)["session_id"] == decode(t, first)["session_id"] {
		t.Errorf("another key: %d %s", fresh.Code, fresh.Body)
	}
	if none := key.do("POST", "/api/v1/apps/demo-notes/connect", ""); none.Code != 201 {
		t.Errorf("without a body: %d %s", none.Code, none.Body)
	}
}

func TestConnectRefusals(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	key := w.by(t, apikey.All)
	tests := []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"no such app", "POST", "/api/v1/apps/none/connect", "", 404, "app_not_found"},
		{
			"a param that it has not", "POST", "/api/v1/apps/demo-notes/connect", `{"params":{"x":"y"}}`, 422,
			"unknown_app_params",
		},
		{
			"a member that it has not", "POST", "/api/v1/apps/demo-notes/connect", `{"api_key":"nk_ABC"}`, 400,
			"invalid_request",
		},
		{
			"an open redirect", "POST", "/api/v1/apps/demo-notes/connect", `{"redirect_url":"http://evil.test"}`, 400,
			"invalid_request",
		},
		{"too long", "POST", "/api/v1/apps/demo-notes/connect", `{"expires_in":86401}`, 400, "invalid_request"},
		{"no such session", "GET", "/api/v1/connect-sessions/cs_none", "", 404, "connect_session_not_found"},
		{"too long a wait", "GET", "/api/v1/connect-sessions/cs_none?wait=31", "", 400, "invalid_request"},
		{"no such connection", "GET", "/api/v1/connections/con_none", "", 404, "connection_not_found"},
		{"reconnects nothing", "POST", "/api/v1/connections/con_none/reconnect", "", 404, "connection_not_found"},
		{"no such status", "GET", "/api/v1/connections?status=lost", "", 400, "invalid_request"},
		{"another list's cursor", "GET", "/api/v1/connections?cursor=AAAAAAAAAAAA", "", 400, "invalid_cursor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := key.do(tt.method, tt.path, tt.body)
			if got.Code != tt.status || decode(t, got)["code"] != tt.code {
				t.Errorf("%d %s, want %d %s", got.Code, got.Body, tt.status, tt.code)
			}
			if strings.Contains(got.Body.String(), "nk_ABC") {
				t.Errorf("the refusal repeats a secret: %s", got.Body)
			}
		})
	}
}

// make connects the demo app by a key and answers the connection's id.
func (c caller) make(t *testing.T, body string) (connectionID, sessionID string) {
	t.Helper()
	got := c.do("POST", "/api/v1/apps/demo-notes/connect", body)
	if got.Code != 201 {
		t.Fatalf("connect: %d %s", got.Code, got.Body)
	}
	link := decode(t, got)
	return c.connected(t, link["url"].(string)), link["session_id"].(string)
}

func TestChangeCheckAndDelete(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	key := w.by(t, apikey.All)
	id, _ := key.make(t, `{"auth":"key"}`)
	path := "/api/v1/connections/" + id
	if c := decode(t, key.do("PATCH", path, `{"label":"Home","is_default":true}`)); c["label"] != "Home" ||
		c["is_default"] != true {
		t.Errorf("changed = %v", c)
	}
	if c := decode(t, key.do("PATCH", path, `{"disabled":true}`)); c["status"] != "disabled" ||
		c["status_reason"] != "disabled_by_user" {
		t.Errorf("switched off = %v", c)
	}
	if got := key.do("POST", path+"/check", ""); got.Code != 409 || decode(t, got)["code"] != "connection_disabled" {
		t.Errorf("check of one that is off: %d %s", got.Code, got.Body)
	}
	key.do("PATCH", path, `{"disabled":false}`)
	if c := decode(t, key.do("POST", path+"/check", "")); c["status"] != "active" || c["last_checked_at"] == nil {
		t.Errorf("checked = %v", c)
	}
	again := decode(t, key.do("POST", path+"/reconnect", `{"label":"Work"}`))
	if again["reconnects"] != id || w.connected(t, again["url"].(string)) != id {
		t.Errorf("reconnected = %v", again)
	}
	for range 2 {
		if got := key.do("DELETE", path+"?revoke=false", ""); got.Code != 204 {
			t.Errorf("delete: %d %s", got.Code, got.Body)
		}
	}
	if c := decode(t, key.do("GET", path, "")); c["status"] != "revoked" ||
		c["account"].(map[string]any)["email"] != nil {
		t.Errorf("deleted = %v", c)
	}
}

func TestConnectionPages(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	key := w.by(t, apikey.All)
	var ids, seen []string
	for i := range 5 {
		w.vendor.Identity.ID = string(rune('a' + i))
		id, _ := key.make(t, `{"auth":"key"}`)
		ids = append(ids, id)
	}
	next := "/api/v1/connections?limit=2"
	for range 4 {
		got := key.do("GET", next, "")
		page := decode(t, got)
		for _, c := range page["connections"].([]any) {
			seen = append(seen, c.(map[string]any)["id"].(string))
		}
		if page["next_cursor"] == nil {
			break
		}
		link, _, _ := strings.Cut(strings.TrimPrefix(got.Header().Get("Link"), "<"), ">")
		next = strings.TrimPrefix(link, base)
	}
	slices.Sort(ids)
	slices.Sort(seen)
	if !slices.Equal(ids, seen) {
		t.Errorf("pages hold %v, want each of %v once", seen, ids)
	}
}

// TestConnectionsOfOthers asks for one account's things with the keys of
// another, and of keys that are narrower.
func TestConnectionsOfOthers(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	mine := w.by(t, apikey.All)
	id, session := mine.make(t, `{"auth":"key","end_user":"ann"}`)
	stranger, _, err := w.accounts.Create(t.Context(), audit.Operator(), "stranger", "")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := w.keys.Create(t.Context(), audit.Operator(), stranger.ID,
		apikey.Settings{Name: "theirs", Permissions: apikey.All})
	if err != nil {
		t.Fatal(err)
	}
	callers := map[string]caller{
		"another account":    {w, secret},
		"another end user's": w.restricted(t, apikey.Restrictions{EndUser: "bob"}),
		"another app's":      w.restricted(t, apikey.Restrictions{Apps: []string{"other"}}),
	}
	routes := []struct{ method, path, body string }{
		{"GET", "/api/v1/connect-sessions/" + session, ""},
		{"DELETE", "/api/v1/connect-sessions/" + session, ""},
		{"POST", "/api/v1/connect-sessions/" + session + "/confirm", `{"flow_id":"f","end_user":"ann"}`},
		{"GET", "/api/v1/connections/" + id, ""},
		{"PATCH", "/api/v1/connections/" + id, `{"disabled":true}`},
		{"DELETE", "/api/v1/connections/" + id, ""},
		{"POST", "/api/v1/connections/" + id + "/check", ""},
		{"POST", "/api/v1/connections/" + id + "/reconnect", ""},
		{"POST", "/api/v1/apps/demo-notes/connect", `{"connection_id":"` + id + `"}`},
	}
	for name, c := range callers {
		for _, route := range routes {
			got := c.do(route.method, route.path, route.body)
			if want := 404; got.Code != want && (got.Code != 403 || name == "another account") {
				t.Errorf("%s %s for %s: %d %s", route.method, route.path, name, got.Code, got.Body)
			}
		}
		for _, query := range []string{"", "?end_user=ann", "?app=demo-notes"} {
			if list := decode(t, c.do("GET", "/api/v1/connections"+query, ""))["connections"].([]any); len(list) != 0 {
				t.Errorf("list%s for %s = %v", query, name, list)
			}
		}
	}
	if c := decode(t, mine.do("GET", "/api/v1/connections/"+id, "")); c["status"] != "active" {
		t.Errorf("afterwards = %v", c)
	}
	own := w.restricted(t, apikey.Restrictions{EndUser: "ann", Apps: []string{"demo-notes"}})
	if got := own.do("GET", "/api/v1/connections/"+id, ""); got.Code != 200 {
		t.Errorf("a key for this end user and app: %d %s", got.Code, got.Body)
	}
	if got := decode(t,
		own.do("POST", "/api/v1/apps/demo-notes/connect", "")); len(got["existing_connections"].([]any)) != 1 {
		t.Errorf("it connects for its end user by itself: %v", got)
	}
}

func TestOAuthClientsOverREST(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	cookie, token := w.signIn(t)
	person := func(method, path, body string) *httptest.ResponseRecorder {
		return w.call(method, path, body, "Cookie", cookie, "X-CSRF-Token", token)
	}
	got := person("PUT", "/api/v1/oauth-clients/demo-notes",
		`{"client_id":"own","client_secret":"s3cret","extra":{"developer_token":"dev"}}`)
	if c := decode(t, got); got.Code != 200 || c["client_id"] != "own" ||
		c["redirect_uri"] != base+"/oauth/callback/demo-notes" || strings.Contains(got.Body.String(), "s3cret") {
		t.Errorf("set: %d %s", got.Code, got.Body)
	}
	if list := decode(t, person("GET", "/api/v1/oauth-clients", ""))["oauth_clients"].([]any); len(list) != 1 {
		t.Errorf("list = %v", list)
	}
	if got := person("PUT", "/api/v1/oauth-clients/none", `{"client_id":"own"}`); got.Code != 404 {
		t.Errorf("an app that is not there: %d %s", got.Code, got.Body)
	}
	if got := w.call(http.MethodPut, "/api/v1/oauth-clients/demo-notes", `{"client_id":"x"}`, "Cookie",
		cookie); got.Code != 403 {
		t.Errorf("from another site: %d %s", got.Code, got.Body)
	}
	if got := person("DELETE", "/api/v1/oauth-clients/demo-notes", ""); got.Code != 204 {
		t.Errorf("delete: %d %s", got.Code, got.Body)
	}
	if got := person("DELETE", "/api/v1/oauth-clients/demo-notes", ""); got.Code != 404 {
		t.Errorf("delete twice: %d %s", got.Code, got.Body)
	}
}
