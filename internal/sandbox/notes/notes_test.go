package notes_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/sandbox/notes"
)

// world is a running app; paths are below its prefix.
type world struct {
	t      *testing.T
	app    *notes.Notes
	origin string
	client *http.Client
}

func setup(t *testing.T, o *notes.Options) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	app, err := notes.Open(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := app.Handler("/notes", "/styles.css")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/notes/", http.StripPrefix("/notes", handler))
	for pattern, h := range app.Metadata("/notes") {
		mux.HandleFunc(pattern, h)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client := *server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &world{t, app, server.URL + "/notes", &client}
}

// call returns the status and the decoded body.
func (w *world) call(method, path string, body any, fields ...string) (int, map[string]any, http.Header) {
	w.t.Helper()
	var reader io.Reader
	contentType := "application/json"
	switch v := body.(type) {
	case nil:
	case url.Values:
		reader, contentType = strings.NewReader(v.Encode()), "application/x-www-form-urlencoded"
	default:
		encoded, _ := json.Marshal(v)
		reader = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.origin+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out map[string]any
	_ = json.NewDecoder(res.Body).Decode(&out)
	return res.StatusCode, out, res.Header
}

const (
	verifier = "a-verifier-that-is-long-enough-for-the-rule-of-43-characters"
	redirect = "http://127.0.0.1:9/callback"
)

func authorization() url.Values {
	sum := sha256.Sum256([]byte(verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {notes.ClientID}, "redirect_uri": {redirect}, "state": {"s1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

// allow returns where the person is sent after a decision.
func (w *world) decide(form url.Values, person, decision string) *url.URL {
	w.t.Helper()
	form.Set("person", person)
	form.Set("decision", decision)
	status, _, header := w.call(http.MethodPost, "/oauth/authorize", form)
	if status != http.StatusSeeOther {
		w.t.Fatalf("the form answered %d", status)
	}
	back, err := url.Parse(header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	return back
}

func (w *world) token(fields url.Values) (int, map[string]any) {
	w.t.Helper()
	credentials := base64.StdEncoding.EncodeToString([]byte(notes.ClientID + ":" + notes.ClientSecret))
	status, body, _ := w.call(http.MethodPost, "/oauth/token", fields, "Authorization", "Basic "+credentials)
	return status, body
}

func (w *world) connect(person string) map[string]any {
	w.t.Helper()
	back := w.decide(authorization(), person, "allow")
	status, body := w.token(url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")},
		"redirect_uri": {redirect}, "code_verifier": {verifier},
	})
	if status != http.StatusOK || back.Query().Get("state") != "s1" {
		w.t.Fatalf("the token endpoint answered %d %v", status, body)
	}
	return body
}

func TestOAuth(t *testing.T) {
	t.Parallel()
	w := setup(t, nil)
	first := w.connect("Ann")
	bearer := "Bearer " + first["access_token"].(string)
	if status, me, _ := w.call(http.MethodGet, "/api/v1/me", nil, "Authorization", bearer); status != 200 ||
		me["id"] != "Ann" || me["email"] != "ann@notes.example" {
		t.Errorf("me = %d %v", status, me)
	}
	status, second := w.token(url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {first["refresh_token"].(string)},
	})
	if status != 200 || second["refresh_token"] == first["refresh_token"] ||
		second["access_token"] == first["access_token"] {
		t.Fatalf("refresh = %d %v", status, second)
	}
	if status, _, _ := w.call(http.MethodGet, "/api/v1/me", nil, "Authorization", bearer); status != 401 {
		t.Errorf("the access token before = %d", status)
	}
	// A refresh token that is used twice was copied: the grant ends.
	if status, body := w.token(url.Values{
		"grant_type":    {"refresh_token"},
		"refresh_token": {first["refresh_token"].(string)},
	}); status != 400 || body["error"] != "invalid_grant" {
		t.Errorf("a spent refresh token = %d %v", status, body)
	}
	if status, _, _ := w.call(http.MethodGet, "/api/v1/me", nil, "Authorization",
		"Bearer "+second["access_token"].(string)); status != 401 {
		t.Errorf("the grant after its token was used twice = %d", status)
	}
}

func TestAuthorizationRefused(t *testing.T) {
	t.Parallel()
	w := setup(t, nil)
	if back := w.decide(authorization(), "Ann", "deny"); back.Query().Get("error") != "access_denied" ||
		back.Query().Get("state") != "s1" {
		t.Errorf("denied: %s", back)
	}
	tests := []struct {
		name, field, value string
		status             int
		fault              string // told to the client
	}{
		{"unknown client", "client_id", "nobody", 400, ""},
		{"no redirect", "redirect_uri", "", 400, ""},
		{"a redirect that is no address", "redirect_uri", "javascript:alert(1)", 400, ""},
		{"another response", "response_type", "token", 303, "unsupported_response_type"},
		{"no challenge", "code_challenge", "", 303, "invalid_request"},
		{"a plain challenge", "code_challenge_method", "plain", 303, "invalid_request"},
		{"an unknown scope", "scope", "everything", 303, "invalid_scope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := authorization()
			q.Set(tt.field, tt.value)
			status, _, header := w.call(http.MethodGet, "/oauth/authorize?"+q.Encode(), nil)
			if status != tt.status || tt.fault != "" && !strings.Contains(header.Get("Location"), "error="+tt.fault) {
				t.Errorf("answer %d, Location %q", status, header.Get("Location"))
			}
		})
	}
}

func TestTokenRefused(t *testing.T) {
	t.Parallel()
	w := setup(t, nil)
	code := func() string { return w.decide(authorization(), "Ann", "allow").Query().Get("code") }
	used := code()
	if status, _ := w.token(url.Values{
		"grant_type": {"authorization_code"}, "code": {used}, "redirect_uri": {redirect},
		"code_verifier": {verifier},
	}); status != 200 {
		t.Fatalf("the first use = %d", status)
	}
	tests := []struct {
		name   string
		fields url.Values
		code   string
	}{
		{"used", url.Values{
			"grant_type": {"authorization_code"}, "code": {used}, "redirect_uri": {redirect},
			"code_verifier": {verifier},
		}, "invalid_grant"},
		{"another verifier", url.Values{
			"grant_type": {"authorization_code"}, "code": {code()},
			"redirect_uri": {redirect}, "code_verifier": {"other"},
		}, "invalid_grant"},
		{"another redirect", url.Values{
			"grant_type": {"authorization_code"}, "code": {code()},
			"redirect_uri": {redirect + "2"}, "code_verifier": {verifier},
		}, "invalid_grant"},
		{
			"unknown refresh token",
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"nrt_x"}},
			"invalid_grant",
		},
		{"another grant", url.Values{"grant_type": {"password"}}, "unsupported_grant_type"},
	}
	for _, tt := range tests {
		if status, body := w.token(tt.fields); status != 400 || body["error"] != tt.code {
			t.Errorf("%s: %d %v, want %s", tt.name, status, body, tt.code)
		}
	}
	if status, body, _ := w.call(http.MethodPost, "/oauth/token",
		url.Values{
			"grant_type": {"refresh_token"}, "client_id": {notes.ClientID},
			"client_secret": {"wrong"},
		}); status != 401 || body["error"] != "invalid_client" {
		t.Errorf("a wrong secret: %d %v", status, body)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	w := setup(t, nil)
	key, err := w.app.NewKey(t.Context(), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.app.NewKey(t.Context(), "Bob")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, title := range []string{"Milk", "Bread", "Soap"} {
		status, one, _ := w.call(http.MethodPost, "/api/v1/notes", map[string]string{"title": title, "body": "buy"},
			"X-Api-Key", key)
		if status != 201 || one["title"] != title {
			t.Fatalf("create = %d %v", status, one)
		}
		ids = append(ids, one["id"].(string))
	}
	_, first, _ := w.call(http.MethodGet, "/api/v1/notes?limit=2", nil, "X-Api-Key", key)
	_, second, _ := w.call(http.MethodGet, "/api/v1/notes?limit=2&cursor="+first["next"].(string), nil, "X-Api-Key",
		key)
	if len(first["notes"].([]any)) != 2 || len(second["notes"].([]any)) != 1 || second["next"] != nil {
		t.Errorf("pages %v, %v", first, second)
	}
	if _, hits, _ := w.call(http.MethodGet, "/api/v1/notes?search=SOAP", nil, "X-Api-Key",
		key); len(hits["notes"].([]any)) != 1 {
		t.Errorf("search = %v", hits)
	}
	if status, one, _ := w.call(http.MethodPatch, "/api/v1/notes/"+ids[0], map[string]string{"body": "two"},
		"X-Api-Key", key); status != 200 || one["title"] != "Milk" || one["body"] != "two" {
		t.Errorf("change = %d %v", status, one)
	}
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		if status, _, _ := w.call(method, "/api/v1/notes/"+ids[0], map[string]string{"title": "mine"}, "X-Api-Key",
			other); status != 404 {
			t.Errorf("%s of another's note = %d", method, status)
		}
	}
	if status, _, _ := w.call(http.MethodDelete, "/api/v1/notes/"+ids[0], nil, "X-Api-Key", key); status != 204 {
		t.Errorf("delete = %d", status)
	}
	if status, body, _ := w.call(http.MethodPost, "/api/v1/notes", map[string]string{"title": " "}, "X-Api-Key",
		key); status != 422 || body["error"] == nil {
		t.Errorf("a note without a title = %d %v", status, body)
	}
	if status, _, _ := w.call(http.MethodGet, "/api/v1/notes", nil, "X-Api-Key", "nk_wrong"); status != 401 {
		t.Errorf("a wrong key = %d", status)
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	type post struct{ event, signature, body string }
	var mu sync.Mutex
	var posts []post
	fail := 1
	arrived := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if fail > 0 {
			fail--
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		posts = append(posts, post{r.Header.Get("X-Notes-Event"), r.Header.Get("X-Notes-Signature"), string(body)})
		arrived <- struct{}{}
	}))
	t.Cleanup(receiver.Close)
	w := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.app.Run(ctx) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	key, err := w.app.NewKey(t.Context(), "Ann")
	if err != nil {
		t.Fatal(err)
	}
	_, hook, _ := w.call(http.MethodPost, "/api/v1/hooks",
		map[string]any{"url": receiver.URL, "events": []string{"new_note"}}, "X-Api-Key", key)
	_, one, _ := w.call(http.MethodPost, "/api/v1/notes", map[string]string{"title": "Milk"}, "X-Api-Key", key)
	w.call(http.MethodPatch, "/api/v1/notes/"+one["id"].(string), map[string]string{"title": "Oat milk"}, "X-Api-Key",
		key)
	select {
	case <-arrived:
	case <-time.After(4 * time.Minute):
		t.Fatal("nothing arrived")
	}
	mu.Lock()
	defer mu.Unlock()
	mac := hmac.New(sha256.New, []byte(hook["secret"].(string)))
	_, _ = mac.Write([]byte(posts[0].body))
	if posts[0].event != "new_note" || posts[0].signature != "sha256="+hex.EncodeToString(mac.Sum(nil)) ||
		!strings.Contains(posts[0].body, "Milk") {
		t.Errorf("posted %+v", posts[0])
	}
}

func TestMCP(t *testing.T) {
	t.Parallel()
	w := setup(t, nil)
	call := map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "create_note", "arguments": map[string]any{"title": "From a tool"}},
	}
	status, _, header := w.call(http.MethodPost, "/mcp", call)
	if status != 401 || !strings.Contains(header.Get("WWW-Authenticate"),
		"/.well-known/oauth-protected-resource/notes/mcp") {
		t.Errorf("without a token: %d %q", status, header.Get("WWW-Authenticate"))
	}
	granted := w.connect("Ann")
	status, answer, _ := w.call(http.MethodPost, "/mcp", call, "Authorization",
		"Bearer "+granted["access_token"].(string), "Accept", "application/json")
	if status != 200 ||
		answer["result"].(map[string]any)["structuredContent"].(map[string]any)["title"] != "From a tool" {
		t.Errorf("create_note = %d %v", status, answer)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	w := setup(t, nil)
	granted := w.connect("Ann")
	refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {granted["refresh_token"].(string)}}
	if status, _, _ := w.call(http.MethodPost, "/_sandbox/faults",
		map[string]any{"faults": []map[string]any{{"on": "token", "status": 503, "code": "busy"}}}); status != 204 {
		t.Fatalf("setting a fault = %d", status)
	}
	if status, body := w.token(refresh); status != 503 || body["error"] != "busy" {
		t.Errorf("with a fault = %d %v", status, body)
	}
	if status, _ := w.token(refresh); status != 200 {
		t.Errorf("after the fault = %d", status)
	}
}
