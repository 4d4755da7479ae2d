package platformhttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ace/internal/platform/apikey"
)

func TestKeysOfAPerson(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	cookie, token := w.signIn(t)
	person := []string{"Cookie", cookie, "X-CSRF-Token", token}
	made := w.call(
		http.MethodPost,
		"/api/v1/keys",
		`{"name":"CI","permissions":["read","run"],"restrict":{"apps":["demo-notes"],"ip_cidrs":["192.0.2.9/24"]},`+
			`"approval":"writes"}`,
		person...)
	if made.Code != 201 {
		t.Fatalf("create: %d %s", made.Code, made.Body)
	}
	key := decode(t, made)
	secret, id := key["key"].(string), key["id"].(string)
	if !apikey.WellFormed(secret) || fmt.Sprint(key["permissions"]) != "[read run]" ||
		fmt.Sprint(key["restrict"].(map[string]any)["ip_cidrs"]) != "[192.0.2.0/24]" {
		t.Errorf("created %v", key)
	}
	// httptest requests come from 192.0.2.1, inside the network of the key.
	if got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+secret); got.Code != 200 {
		t.Errorf("the new key: %d %s", got.Code, got.Body)
	}
	list := w.call(http.MethodGet, "/api/v1/keys", "", person...)
	if list.Code != 200 || strings.Contains(list.Body.String(), secret) || !strings.Contains(list.Body.String(), id) {
		t.Errorf("list: %d %s", list.Code, list.Body)
	}
	changed := decode(t, w.call(http.MethodPatch, "/api/v1/keys/"+id, `{"name":"CI 2"}`, person...))
	if changed["name"] != "CI 2" || changed["approval"] != "writes" ||
		fmt.Sprint(changed["permissions"]) != "[read run]" {
		t.Errorf("changed %v: what was left out must stay", changed)
	}
	next := decode(t, w.call(http.MethodPost, "/api/v1/keys/"+id+"/rotate", `{}`, person...))
	if next["key"] == secret || next["name"] != "CI 2" {
		t.Errorf("rotated %v", next)
	}
	if got := w.call(http.MethodGet, "/api/v1/me", "", "Authorization", "Bearer "+secret); got.Code != 401 {
		t.Errorf("the old key without grace: %d", got.Code)
	}
	if got := w.call(http.MethodDelete, "/api/v1/keys/"+next["id"].(string), "", person...); got.Code != 204 {
		t.Errorf("revoke: %d %s", got.Code, got.Body)
	}
	log := decode(t, w.call(http.MethodGet, "/api/v1/audit-log?limit=3", "", person...))
	entries := log["entries"].([]any)
	if len(entries) != 3 || entries[0].(map[string]any)["action"] != "key.revoked" || log["next_cursor"] == nil {
		t.Errorf("audit log %v", log)
	}
	rest := decode(t, w.call(http.MethodGet, "/api/v1/audit-log?cursor="+log["next_cursor"].(string), "", person...))
	if len(rest["entries"].([]any)) == 0 || rest["next_cursor"] != nil {
		t.Errorf("the rest of the audit log %v", rest)
	}
}

func TestKeyRequestsRefused(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	cookie, token := w.signIn(t)
	person := []string{"Cookie", cookie, "X-CSRF-Token", token}
	tests := []struct {
		name, method, path, body string
		fields                   []string
		status                   int
		code                     string
	}{
		{"nobody", http.MethodGet, "/api/v1/keys", "", nil, 401, "session_required"},
		{
			"a made-up session", http.MethodGet, "/api/v1/keys", "",
			[]string{"Cookie", "ace_session=made-up"},
			401,
			"session_required",
		},
		{
			"another site's form", http.MethodPost, "/api/v1/keys", `{"name":"a","permissions":["read"]}`,
			[]string{"Cookie", cookie},
			403, "csrf_token_invalid",
		},
		{
			"no such permission", http.MethodPost, "/api/v1/keys", `{"name":"a","permissions":["admin"]}`, person, 400,
			"invalid_permissions",
		},
		{
			"no permission", http.MethodPost, "/api/v1/keys", `{"name":"a","permissions":[]}`, person,
			400, "invalid_request",
		},
		{
			"no name", http.MethodPost, "/api/v1/keys", `{"name":" ","permissions":["read"]}`, person,
			400, "invalid_name",
		},
		{
			"over already", http.MethodPost, "/api/v1/keys",
			`{"name":"a","permissions":["read"],"expires_at":"2020-01-01T00:00:00Z"}`, person, 400, "invalid_expiry",
		},
		{
			"no network", http.MethodPost, "/api/v1/keys",
			`{"name":"a","permissions":["read"],"restrict":{"ip_cidrs":["all"]}}`, person, 400, "invalid_network",
		},
		{
			"an unknown member", http.MethodPost, "/api/v1/keys", `{"name":"a","permissions":["read"],"admin":true}`,
			person, 400, "invalid_request",
		},
		{"unknown key", http.MethodGet, "/api/v1/keys/key_none", "", person, 404, "api_key_not_found"},
		{"unknown key to revoke", http.MethodDelete, "/api/v1/keys/key_none", "", person, 404, "api_key_not_found"},
		{"a wrong method", http.MethodPut, "/api/v1/keys", `{}`, person, 405, "method_not_allowed"},
		{"a wrong path", http.MethodGet, "/api/v1/nothing", "", person, 404, "not_found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := w.call(tt.method, tt.path, tt.body, tt.fields...)
			if got.Code != tt.status || decode(t, got)["code"] != tt.code {
				t.Errorf("answer %d %s, want %d %s", got.Code, got.Body, tt.status, tt.code)
			}
		})
	}
}

// TestKeysAreMadeOnce holds that a request which is repeated with its
// Idempotency-Key creates a key once, and shows its secret once.
func TestKeysAreMadeOnce(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	cookie, token := w.signIn(t)
	post := func(once, body string) (int, string, map[string]any) {
		t.Helper()
		got := w.call("POST", "/api/v1/keys", body, "Cookie", cookie, "X-CSRF-Token", token, "Idempotency-Key", once)
		return got.Code, got.Header().Get("Idempotency-Replayed"), decode(t, got)
	}
	const body = `{"name":"CI","permissions":["read"]}`
	status, replayed, first := post("a", body)
	if status != 201 || replayed != "" || first["key"] == nil {
		t.Fatalf("the first = %d %s %v", status, replayed, first)
	}
	status, replayed, again := post("a", body)
	if status != 201 || replayed != "true" || again["id"] != first["id"] || again["key"] != nil {
		t.Errorf("the repetition = %d %s %v, want the same key without its secret", status, replayed, again)
	}
	if status, _, other := post("a", `{"name":"CI","permissions":["read","run"]}`); status != 422 ||
		other["code"] != "idempotency_key_reused" {
		t.Errorf("another request under the same key = %d %v", status, other)
	}
	if status, replayed, other := post("b", body); status != 201 || replayed != "" || other["id"] == first["id"] {
		t.Errorf("another Idempotency-Key = %d %s %v", status, replayed, other)
	}
	list := decode(t, w.call("GET", "/api/v1/keys", "", "Cookie", cookie))["keys"].([]any)
	if len(list) != 2 {
		t.Errorf("%d keys, want 2", len(list))
	}
}

// TestKeysAreRotatedOnce repeats a rotation whose answer was lost.
func TestKeysAreRotatedOnce(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	cookie, token := w.signIn(t)
	post := func(path, once, body string) (int, string, map[string]any) {
		t.Helper()
		got := w.call("POST", "/api/v1/keys"+path, body, "Cookie", cookie, "X-CSRF-Token", token, "Idempotency-Key",
			once)
		return got.Code, got.Header().Get("Idempotency-Replayed"), decode(t, got)
	}
	_, _, old := post("", "", `{"name":"CI","permissions":["read"]}`)
	_, _, bystander := post("", "", `{"name":"CI 2","permissions":["read"]}`)
	path := "/" + old["id"].(string) + "/rotate"
	works := func(key any) bool {
		return w.call("GET", "/api/v1/me", "", "Authorization", "Bearer "+key.(string)).Code == 200
	}
	status, replayed, first := post(path, "a", `{"grace_seconds":3600}`)
	if status != 201 || replayed != "" || first["key"] == nil || first["name"] != "CI" || !works(first["key"]) ||
		!works(old["key"]) {
		t.Fatalf("the first = %d %s %v", status, replayed, first)
	}
	status, replayed, again := post(path, "a", `{"grace_seconds":3600}`)
	if status != 201 || replayed != "true" || again["id"] != first["id"] || again["key"] != nil {
		t.Errorf("the repetition = %d %s %v, want the same key without its secret", status, replayed, again)
	}
	if status, _, other := post(path, "a", `{}`); status != 422 || other["code"] != "idempotency_key_reused" ||
		!works(old["key"]) {
		t.Errorf("another grace under the same key = %d %v", status, other)
	}
	if status, _, other := post("/"+bystander["id"].(string)+"/rotate", "a", `{"grace_seconds":3600}`); status != 422 ||
		other["code"] != "idempotency_key_reused" {
		t.Errorf("another key under the same Idempotency-Key = %d %v", status, other)
	}
	if status, replayed, next := post(path, "b", `{}`); status != 201 || replayed != "" || next["id"] == first["id"] ||
		works(old["key"]) {
		t.Errorf("another Idempotency-Key = %d %s %v", status, replayed, next)
	}
	if status, replayed, next := post(path, "b", `{}`); status != 201 || replayed != "true" || next["key"] != nil {
		t.Errorf("its repetition, with the old key at its end = %d %s %v", status, replayed, next)
	}
	for range 2 { // a refusal frees the Idempotency-Key
		if status, replayed, refused := post(path, "c", `{}`); status != 409 || replayed != "" ||
			refused["code"] != "key_revoked" {
			t.Errorf("rotating what ended = %d %s %v", status, replayed, refused)
		}
	}
	if list := decode(t, w.call("GET", "/api/v1/keys", "", "Cookie", cookie))["keys"].([]any); len(list) != 4 {
		t.Errorf("%d keys, want 4", len(list))
	}
}
