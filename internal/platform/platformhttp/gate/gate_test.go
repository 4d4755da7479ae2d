package gate_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/password"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// world is a gate in front of handlers that say who passed.
type world struct {
	handler       http.Handler
	secret        string // of a key that reads
	cookie, token string // of the owner
}

func setup(t *testing.T, secure bool, limits gate.Limits) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldbtest.SQLite(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	store := platformstore.New(db, nil)
	accounts, keys := account.New(store, password.New(), box.MAC), apikey.New(store, box.MAC)
	a, _, err := accounts.Create(t.Context(), audit.Operator(), "demo", "ann@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	if _, w.secret, err = keys.Create(t.Context(), audit.Operator(), a.ID,
		apikey.Settings{Name: "reads", Permissions: apikey.Read}); err != nil {
		t.Fatal(err)
	}
	link, _, err := accounts.Link(t.Context(), audit.Operator(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	session, secret, err := accounts.Redeem(t.Context(), audit.Actor{}, link)
	if err != nil {
		t.Fatal(err)
	}
	name := "ace_session="
	if secure {
		name = "__Host-ace_session="
	}
	w.cookie, w.token = name+secret, session.Token
	rules := gate.Rules{
		"GET /open":     {Open: true},
		"GET /read":     {Operation: operation.ListConnections},
		"POST /run":     {Operation: operation.RunTool},
		"POST /keys":    {Operation: operation.CreateKey},
		"GET /page":     {Operation: operation.ListConnections, Page: true},
		"POST /goodbye": {Person: true, Page: true},
	}
	mux := gate.Mux{Mux: httpserver.NewMux(nil), Gate: gate.New(rules, keys, accounts, limits, secure)}
	for pattern := range rules {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			switch c := gate.From(r.Context()); {
			case c == nil:
				_, _ = w.Write([]byte("nobody"))
			case c.Key != nil:
				_, _ = w.Write([]byte("key of " + c.Actor.Name))
			default:
				_, _ = w.Write([]byte("person " + c.Session.User.Name))
			}
		})
	}
	w.handler = httpserver.Chain(mux, httpserver.ClientAddress(nil))
	return w
}

func free() gate.Limits {
	return gate.Limits{Keys: ratelimit.Unlimited{}, Addresses: ratelimit.Unlimited{}, Failures: ratelimit.Unlimited{}}
}

func (w *world) call(target string, fields ...string) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(target, " ")
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return recorder
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	w := setup(t, false, free())
	key, person := "Bearer "+w.secret, []string{"Cookie", w.cookie}
	signed := append([]string{gate.TokenHeader, w.token}, person...)
	tests := []struct {
		name, target string
		fields       []string
		status       int
		body         string // a part of it
	}{
		{"open", "GET /open", nil, 200, "nobody"},
		{"open with a key", "GET /open", []string{"Authorization", key}, 200, "nobody"},
		{"key", "GET /read", []string{"Authorization", key}, 200, "key of reads"},
		{"scheme in lower case", "GET /read", []string{"Authorization", "bearer " + w.secret}, 200, "key of reads"},
		{"no key", "GET /read", nil, 401, "missing_key"},
		{"other scheme", "GET /read", []string{"Authorization", "Basic " + w.secret}, 401, "missing_key"},
		{"not a key", "GET /read", []string{"Authorization", "Bearer nonsense"}, 401, "invalid_key"},
		{"key in the URL", "GET /read?api_key=" + w.secret, []string{"Authorization", key}, 401, "never in a URL"},
		{"lacks a permission", "POST /run", []string{"Authorization", key}, 403, "permission_required"},
		{"cookie where a key is needed", "GET /read", person, 401, "missing_key"},
		{"key where a person is needed", "POST /keys", []string{"Authorization", key}, 401, "session_required"},
		{"person", "POST /keys", signed, 200, "person demo"},
		{"person without the token", "POST /keys", person, 403, "csrf_token_invalid"},
		{
			"person with a wrong token",
			"POST /keys",
			append([]string{gate.TokenHeader, "x"}, person...),
			403,
			"csrf_token_invalid",
		},
		{"person reads a page", "GET /page", person, 200, "person demo"},
		{"key reads a page", "GET /page", []string{"Authorization", key}, 401, "session_required"},
		{"any person", "POST /goodbye", signed, 200, "person demo"},
		{"unknown cookie", "GET /page", []string{"Cookie", "ace_session=guessed"}, 401, "session_required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := w.call(tt.target, tt.fields...)
			if got.Code != tt.status || !strings.Contains(got.Body.String(), tt.body) {
				t.Errorf("%s = %d %s, want %d %s", tt.target, got.Code, got.Body, tt.status, tt.body)
			}
			challenge := got.Header().Get("WWW-Authenticate")
			if key := strings.Contains(tt.body, "_key") || tt.body == "permission_required"; key != (challenge != "") {
				if tt.status != 200 && tt.body != "never in a URL" {
					t.Errorf("%s: challenge %q", tt.target, challenge)
				}
			}
			if strings.Contains(got.Body.String(), w.secret) {
				t.Errorf("%s repeats the key", tt.target)
			}
		})
	}
}

// TestCookieIsBoundToTheHost: over https the cookie's name binds it, and the
// plain one is not read.
func TestCookieIsBoundToTheHost(t *testing.T) {
	t.Parallel()
	w := setup(t, true, free())
	if got := w.call("GET /page", "Cookie", w.cookie); got.Code != 200 {
		t.Errorf("the bound cookie: %d %s", got.Code, got.Body)
	}
	if got := w.call("GET /page", "Cookie", strings.TrimPrefix(w.cookie, "__Host-")); got.Code != 401 {
		t.Errorf("the plain cookie over https: %d", got.Code)
	}
}

// TestGuessesAreStopped: after too many wrong keys of an address, text that is no
// key is refused unread, and real keys still work.
func TestGuessesAreStopped(t *testing.T) {
	t.Parallel()
	_, _, failures := gate.Policies()
	limits := free()
	limits.Failures = ratelimit.NewTable(nil).Limiter(failures)
	w := setup(t, false, limits)
	for range failures.Burst {
		if got := w.call("GET /read", "Authorization", "Bearer guess"); got.Code != 401 {
			t.Fatalf("a guess: %d", got.Code)
		}
	}
	if got := w.call(
		"GET /read",
		"Authorization",
		"Bearer guess",
	); got.Code != 429 ||
		got.Header().Get("Retry-After") == "" {
		t.Errorf("a guess too many: %d", got.Code)
	}
	if got := w.call("GET /read", "Authorization", "Bearer "+w.secret); got.Code != 200 {
		t.Errorf("a real key from the same address: %d %s", got.Code, got.Body)
	}
}

// TestRouteWithoutRule: a route that the table does not know cannot be mounted.
func TestRouteWithoutRule(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a route without a rule was mounted")
		}
	}()
	mux := gate.Mux{Mux: httpserver.NewMux(nil), Gate: gate.New(gate.Rules{}, nil, nil, free(), false)}
	mux.HandleFunc("GET /new", func(http.ResponseWriter, *http.Request) {})
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err      error
		metadata string
		want     string
	}{
		{problem.New(problem.Unauthenticated, "missing_key", "Send a key."), "", `Bearer realm="platform"`},
		{
			problem.New(problem.Unauthenticated, "missing_key", "Send a key."), "https://p.example/meta",
			`Bearer realm="platform", resource_metadata="https://p.example/meta", scope="read connect run"`,
		},
		{
			problem.New(problem.Forbidden, "permission_required", "").With("required", []string{"run"}),
			"https://p.example/meta",
			`Bearer realm="platform", error="insufficient_scope", scope="run", ` +
				`resource_metadata="https://p.example/meta"`,
		},
		{
			problem.New(problem.Unauthenticated, "invalid_key", `No "such" key.`), "",
			`Bearer realm="platform", error="invalid_token", error_description="No \"such\" key."`,
		},
		{
			problem.New(problem.Forbidden, "permission_required", "").With("required", []string{"run"}),
			"", `Bearer realm="platform", error="insufficient_scope", scope="run"`,
		},
		{problem.New(problem.Unauthenticated, "session_required", ""), "", ""},
		{problem.New(problem.NotFound, "run_not_found", ""), "", ""},
		{http.ErrBodyNotAllowed, "", ""},
	}
	for _, tt := range tests {
		h := http.Header{}
		gate.Challenge(h, tt.err, tt.metadata)
		if got := h.Get("WWW-Authenticate"); got != tt.want {
			t.Errorf("Challenge(%v) = %s, want %s", tt.err, got, tt.want)
		}
	}
}
