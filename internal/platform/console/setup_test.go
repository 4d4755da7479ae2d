package console_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/docs"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/password"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/authserver"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connector"
	"ace/internal/platform/console"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

const base = "http://platform.example"

// document describes an API with three calls.
const document = `{"paths": {
	"/api/v1/me": {"get": {"summary": "Who this key acts for", "tags": ["keys"]}},
	"/api/v1/tools/{tool}/run": {"post": {"summary": "Run a tool"}},
	"/api/v1/tools/find": {"post": {"summary": "Find tools for a task"}}
}}`

// definitions are the apps of these tests. The vendor of all of them is fake.
var definitions = []string{`
id: desk
name: Desk
about: Keeps tickets of people who need help.
domain: desk.example
categories: [support, productivity]
base: https://{subdomain}.desk.example/api
params:
  subdomain: {title: Workspace, about: The first part of its address., example: acme, strip_prefix: "https://",
    strip_suffix: .desk.example, match: "[a-z0-9-]+"}
  region: {title: Region, enum: [eu, us], default: eu}
auth:
  - id: oauth
    type: oauth2
    oauth:
      authorize: {url: "https://{subdomain}.desk.example/oauth/authorize"}
      token: {url: "https://{subdomain}.desk.example/oauth/token"}
      scopes: {default: [tickets.read, tickets.write]}
  - id: key
    type: key
    title: Key of an agent
    help: Settings, then API.
    fields:
      - {name: email, title: E-mail address of the agent, example: ann@acme.example}
      - {name: key, title: API key, about: Forty letters., secret: true, prefix: dk_}
    send: {headers: {X-Key: "{key}"}}
who: {get: /me, id: /id}
tools:
  list_tickets:
    call: GET /tickets
    title: List tickets
    about: Lists tickets, newest first.
    in: {state: {enum: [open, closed], about: Which ones.}, limit: integer, labels: [string]}
    phrases: [show my tickets]
    example: {limit: 5}
  delete_ticket:
    call: DELETE /tickets/{id}
    title: Delete ticket
    about: Deletes a ticket for good.
    in: {id!: string}
`, `
id: sky
name: Sky
about: Tells the weather.
domain: sky.example
categories: [science]
base: https://sky.example
auth: [{id: none, type: none}]
tools:
  now: {call: GET /now, title: Weather now, about: Tells the weather of a place., in: {place!: string}}
`, `
id: locked
name: Locked
about: Needs a client of the operator's.
domain: locked.example
categories: [support]
base: https://locked.example
auth:
  - id: oauth
    type: oauth2
    oauth: {authorize: {url: "https://locked.example/authorize"}, token: {url: "https://locked.example/token"}}
tools:
  look: {call: GET /look, title: Look, about: Looks.}
`}

// vendor is everybody's vendor: codes and keys that begin with "good" or
// "dk_good" work, and the account name follows the dash.
type vendor struct {
	begun []string
	fault error // of Begin
}

func (v *vendor) Start(_ context.Context, a *app.App, _ *app.Scheme, _ *connection.Client, _ map[string]string,
	attempt *connection.Attempt,
) (string, error) {
	if v.fault != nil {
		return "", v.fault
	}
	v.begun = append(v.begun, attempt.State)
	return "https://" + a.ID + ".example/authorize?" + url.Values{"state": {attempt.State}}.Encode(), nil
}

func (v *vendor) Finish(_ context.Context, a *app.App, _ *app.Scheme, _ *connection.Client, _ map[string]string,
	_ *connection.Attempt, callback url.Values,
) (*connection.Grant, error) {
	if callback.Get("error") == "access_denied" {
		return nil, problem.New(problem.Forbidden, "sign_in_denied", "Access was refused at "+a.Name+".")
	}
	whose, ok := strings.CutPrefix(callback.Get("code"), "good-")
	if !ok {
		return nil, problem.New(problem.Unprocessable, "sign_in_failed",
			a.Name+" did not accept the sign-in. Try again.")
	}
	return &connection.Grant{Credentials: connection.Credentials{"access_token": "secret-token", "whose": whose}}, nil
}

func (v *vendor) Exchange(_ context.Context, _ *app.App, _ *app.Scheme, _ *connection.Client, _ map[string]string,
	typed connection.Credentials,
) (*connection.Grant, error) {
	return &connection.Grant{Credentials: typed}, nil
}

func (v *vendor) Refresh(context.Context, *app.App, *app.Scheme, *connection.Client, *connection.Connection,
	connection.Credentials,
) (*connection.Grant, error) {
	return nil, &connection.RefreshError{Class: connection.GrantOver, Code: "invalid_grant"}
}

func (v *vendor) Revoke(context.Context, *app.App, *app.Scheme, *connection.Client, *connection.Connection,
	connection.Credentials,
) error {
	return nil
}

func (v *vendor) Check(_ context.Context, _ *app.App, _ *app.Scheme, live *connection.Live) (connection.Identity,
	error,
) {
	whose, ok := live.Values.Value("whose")
	if key, typed := live.Values.Value("key"); typed {
		whose, ok = strings.CutPrefix(key, "dk_good-")
	}
	if !ok {
		return connection.Identity{}, problem.New(problem.Forbidden, "app_unauthorized",
			"The app refuses the credentials.")
	}
	return connection.Identity{ID: whose, Name: "Person " + whose, Email: whose + "@desk.example", Tenant: "acme"}, nil
}

func (v *vendor) Steps(context.Context, *app.App, *app.Scheme, *connection.Live,
	[]app.Step,
) (map[string]string, error) {
	return nil, nil
}

// world is a platform with its pages on SQLite, with one account.
type world struct {
	handler     http.Handler
	db          *sqldb.DB
	store       *platformstore.Store
	accounts    *account.Service
	keys        *apikey.Service
	connections *connection.Service
	vendor      *vendor
	account     *account.Account
	identities  *provider
	base        string
	runs        *runs
	library     *library.Library
	mcpSignIn   *authserver.Service
}

// noDocuments are those of clients that publish none.
type noDocuments struct{}

func (noDocuments) Fetch(context.Context, string) ([]byte, error) {
	return nil, problem.New(problem.Unauthenticated, "invalid_client", "There is no document.")
}

// options are what worlds differ in.
type options struct {
	base       string
	limits     bool
	identity   bool // with a provider that is fake
	identities console.Identities
	apps       []*app.App
	clients    []*connection.Client // of the operator, besides the one of desk
	vendor     interface {
		connection.Authorizer
		connection.Checker
		connection.Stepper
	}
}

func setup(t *testing.T, o options) *world {
	t.Helper()
	if o.base == "" {
		o.base = base
	}
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
	w := &world{base: o.base, runs: &runs{}, db: db, store: platformstore.New(db, nil), vendor: &vendor{}}
	w.accounts, w.keys = account.New(w.store, password.New(), box.MAC), apikey.New(w.store, box.MAC)
	if w.account, _, err = w.accounts.Create(t.Context(), audit.Operator(), "demo", ""); err != nil {
		t.Fatal(err)
	}
	shared := newLibrary(t, o.apps)
	w.library = shared
	keeper := clients.New(w.store, box)
	if err := keeper.StoreAll(t.Context(),
		append(o.clients, &connection.Client{App: "desk", ID: "client", Secret: "hush"})); err != nil {
		t.Fatal(err)
	}
	if o.vendor == nil {
		o.vendor = w.vendor
	}
	w.connections = connection.New(connection.Ports{
		Store: platformstore.Connections{Store: w.store}, Apps: shared, Clients: keeper, Authorizer: o.vendor,
		Checker: o.vendor, Stepper: o.vendor,
	}, box, &connection.Options{BaseURL: o.base})
	w.mcpSignIn = authserver.New(platformstore.Grants{Store: w.store}, w.keys, noDocuments{}, box, o.base+"/mcp")
	guides := map[string][]byte{}
	for _, name := range docs.Pages {
		page, err := docs.Page(name, base)
		if err != nil {
			t.Fatal(err)
		}
		guides[name] = page
	}
	deps := console.Deps{
		Guides:     guides,
		MCPSignIn:  w.mcpSignIn,
		Identities: o.identities, Approvals: w.runs, Failures: map[string]console.Failure{"invalid_key": {
			"401",
			[]string{"There is no such API key."},
			"Send `Authorization: Bearer ace_…`.",
		}},
		Site: console.Site{BaseURL: o.base, Name: "ACE Test", Contact: "help@platform.example"}, Accounts: w.accounts,
		Library: shared, Connections: w.connections,
		Operations: operation.New(operation.Ports{
			Accounts: w.accounts, Keys: w.keys, Audit: w.store, Connections: w.connections,
			ConnectionCounts: platformstore.Connections{Store: w.store}, Clients: keeper, Apps: shared,
			Library:    shared,
			Connectors: connector.New(connector.Ports{Store: w.store, Connections: w.connections}, nil),
			Triggers: trigger.New(trigger.Ports{
				Store: platformstore.Triggers{Store: w.store}, Apps: shared, Connections: w.connections,
			}, box, nil),
		}, o.base),
		Sealer: box, Log: slog.New(slog.DiscardHandler), Document: []byte(document),
		ClientDocument: func() ([]byte, error) { return []byte(`{"client_id":"x"}`), nil },
	}
	if o.identity {
		w.identities = &provider{}
		deps.Identities = w.identities
	}
	pages, err := console.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	w.serve(o, pages)
	return w
}

func newLibrary(t *testing.T, more []*app.App) *library.Library {
	t.Helper()
	for _, text := range definitions {
		a, err := app.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		more = append(more, a)
	}
	l, err := library.New(more, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (w *world) serve(o options, pages *console.Console) {
	free := ratelimit.Unlimited{}
	limits := gate.Limits{Keys: free, Addresses: free, Failures: free}
	if o.limits {
		keys, addresses, failures := gate.Policies()
		table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1024})
		limits = gate.Limits{
			Keys: ratelimit.NewWindow(keys, nil), Addresses: table.Limiter(addresses),
			Failures: table.Limiter(failures),
		}
	}
	g := gate.New(console.Rules(), w.keys, w.accounts, limits, strings.HasPrefix(o.base, "https://"))
	mux := gate.Mux{Mux: httpserver.NewMux(nil), Gate: g}
	pages.Mount(mux)
	w.handler = httpserver.Chain(mux, httpserver.Instrument(slog.New(slog.DiscardHandler), "platform", nil),
		httpserver.ClientAddress(nil), httpserver.LimitBody(1<<20))
}

// browser keeps cookies and follows nothing.
type browser struct {
	t       *testing.T
	base    string
	handler http.Handler
	cookies map[string]string
	site    string // Sec-Fetch-Site; empty: same-origin
}

func (w *world) browser(t *testing.T) *browser {
	t.Helper()
	return &browser{t: t, base: w.base, handler: w.handler, cookies: map[string]string{}}
}

// page is an answer.
type page struct {
	*httptest.ResponseRecorder
	text string
}

func (p page) to() string { return p.Header().Get("Location") }

func (b *browser) send(method, path string, form url.Values) page {
	b.t.Helper()
	path = strings.TrimPrefix(path, b.base)
	r := httptest.NewRequest(method, b.base+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.site != "" {
		r.Header.Set("Sec-Fetch-Site", b.site)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	recorder := httptest.NewRecorder()
	b.handler.ServeHTTP(recorder, r)
	for _, c := range recorder.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return page{recorder, recorder.Body.String()}
}

func (b *browser) get(path string) page { b.t.Helper(); return b.send(http.MethodGet, path, nil) }

// post sends a form with the session's token, as the pages' own forms do.
func (b *browser) post(path string, pairs ...string) page {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	if b.cookies["ace_session"] != "" && !form.Has("csrf_token") {
		form.Set("csrf_token", b.token())
	}
	return b.send(http.MethodPost, path, form)
}

var tokenField = regexp.MustCompile(`name="csrf_token" value="([^"]+)"`)

// token reads the session's token off a page, as a browser does.
func (b *browser) token() string {
	b.t.Helper()
	found := tokenField.FindStringSubmatch(b.get("/docs").text)
	if found == nil {
		return ""
	}
	return found[1]
}

// signedIn returns a browser whose person owns an account.
func (w *world) signedIn(t *testing.T, a *account.Account) *browser {
	t.Helper()
	b := w.browser(t)
	link, _, err := w.accounts.Link(t.Context(), audit.Operator(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.post("/sign-in/" + link); got.Code != http.StatusSeeOther || b.cookies["ace_session"] == "" {
		t.Fatalf("signing in: %d %s", got.Code, got.text)
	}
	return b
}

// other makes another account.
func (w *world) other(t *testing.T, name string) *account.Account {
	t.Helper()
	a, _, err := w.accounts.Create(t.Context(), audit.Operator(), name, name+"@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// setRole gives everybody another role; no command does that yet.
func (w *world) setRole(t *testing.T, role account.Role) {
	t.Helper()
	err := w.db.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE account_user SET role = $1`, string(role))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// setHealth puts a connection into a state.
func (w *world) setHealth(t *testing.T, id string, status connection.Status, reason string) {
	t.Helper()
	change := func(c *connection.Connection) error {
		c.Status, c.Reason = status, reason
		return nil
	}
	if _, err := (platformstore.Connections{Store: w.store}).ChangeConnection(t.Context(), w.account.ID, id, change,
		audit.Entry{}); err != nil {
		t.Fatal(err)
	}
}

// ask makes a connect session on behalf of a key.
func (w *world) ask(t *testing.T, app string, wish connection.ConnectOptions) *connection.Session {
	t.Helper()
	by := audit.Actor{Kind: audit.ByKey, ID: "key_1", Name: "Laptop"}
	s, err := w.connections.Open(t.Context(), by, w.account.ID, connection.Request{App: app, Options: wish})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runs are runs that wait for a person, in memory.
type runs struct{ all []*tool.Awaiting }

func (r *runs) Approvals(_ context.Context, accountID string) ([]*tool.Awaiting, error) {
	var found []*tool.Awaiting
	for _, one := range r.all {
		if one.Run.AccountID == accountID && one.Run.Status == tool.AwaitingApproval {
			found = append(found, one)
		}
	}
	return found, nil
}

func (r *runs) Approval(_ context.Context, accountID, id string) (*tool.Awaiting, error) {
	for _, one := range r.all {
		if one.Run.AccountID == accountID && one.Run.Approval.ID == id {
			return one, nil
		}
	}
	return nil, problem.New(problem.NotFound, "approval_not_found", "There is no such approval.")
}

func (r *runs) Decide(ctx context.Context, by audit.Actor, accountID, id string, agreed bool,
	reason string,
) (*tool.Run, error) {
	one, err := r.Approval(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	if one.Run.Status != tool.AwaitingApproval {
		return nil, problem.New(problem.Conflict, "approval_over", "This run does not wait for an approval any more.")
	}
	one.Run.Status = tool.Running
	if !agreed {
		one.Run.Status = tool.Denied
	}
	one.Run.Approval.DecidedBy, one.Run.Approval.DecidedAt, one.Run.Approval.Reason = by, time.Now(), reason
	return one.Run, nil
}

// wait makes a run of the account that waits for a person.
func (w *world) wait(t *testing.T, accountID, arguments string) string {
	t.Helper()
	a, found, err := w.library.Shared().Catalog.Tool("desk__delete_ticket")
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("apr_%d", len(w.runs.all)+1)
	w.runs.all = append(w.runs.all, &tool.Awaiting{
		Run: &tool.Run{
			ID: "run_1", AccountID: accountID, By: audit.Actor{Kind: audit.ByKey, Name: "Laptop"}, Tool: found.ID,
			App: a.ID, EndUser: "u_42", Status: tool.AwaitingApproval,
			CreatedAt: time.Now(), Approval: tool.Approval{ID: id, ExpiresAt: time.Now().Add(time.Hour)},
		}, App: a, Tool: found, Arguments: []byte(arguments),
	})
	return id
}

// provider is an OpenID provider that vouches for whom its callback names.
type provider struct {
	state, nonce, verifier string
}

func (p *provider) Name() string { return "id.example" }

func (p *provider) Start(_ context.Context, state, nonce, verifier string) (string, error) {
	p.state, p.nonce, p.verifier = state, nonce, verifier
	return "https://id.example/authorize?state=" + state, nil
}

func (p *provider) Finish(_ context.Context, callback url.Values,
	nonce, verifier string,
) (issuer, subject, email string, err error) {
	if nonce != p.nonce || verifier != p.verifier || callback.Get("code") == "" {
		return "", "", "", problem.New(problem.Forbidden, "identity_refused", "The provider does not vouch for you.")
	}
	return "https://id.example", "sub " + callback.Get("code"), callback.Get("code"), nil
}

func contains(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, one := range want {
		if !strings.Contains(text, one) {
			t.Errorf("%s does not hold %q:\n%s", what, one, text)
		}
	}
}

func escape(text string) string { return url.QueryEscape(text) }
