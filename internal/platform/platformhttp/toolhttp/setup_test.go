package toolhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
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
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/platform/usage"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

const base = "http://127.0.0.1:8081"

const definition = `
id: desk
name: Desk
base: BASE
auth: [{id: oauth, type: oauth2, oauth: {}}, {id: key, type: key, fields: [{name: key, secret: true}],
  send: {headers: {Authorization: "Bearer {access_token}"}}}]
who: {get: /me, id: /id}
errors: {message: [/error/text]}
paging: {type: cursor, out: /next, in: cursor}
tools:
  search:
    call: GET /search
    about: Finds tickets.
    phrases: [find a ticket]
    in: {query: string, cursor: string, n: {type: integer, minimum: 0, maximum: 100000, default: 3}}
    items: /results
    example: {query: printer}
  create:
    call: POST /tickets
    about: Makes a ticket.
    in: {title!: {type: string, minLength: 1}, status: integer}
  remove:
    call: DELETE /tickets/{id}
    about: Deletes a ticket.
    in: {id!: string}
  attach:
    call: POST /attach
    about: Attaches a file.
    body: multipart
    in: {file!: {type: string, format: ace-file}}
  download:
    call: GET /download
    about: Reads a file.
    in: {}
    binary: true
`

// world is a platform on SQLite whose only app is a fake provider.
type world struct {
	t        testing.TB
	handler  http.Handler
	store    *platformstore.Store
	accounts *account.Service
	keys     *apikey.Service
	account  *account.Account
	tools    *tool.Service
	provider *provider
	conns    *connections
	log      *bytes.Buffer
}

func setup(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, log: &bytes.Buffer{}, conns: &connections{token: "token-secret-1"}}
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
	w.provider = newProvider(t)
	a, err := app.Parse([]byte(strings.Replace(definition, "BASE", w.provider.server.URL, 1)))
	if err != nil {
		t.Fatal(err)
	}
	shelf, err := library.New([]*app.App{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lanes := jobs.NewLanes(map[string]jobs.Lane{tool.JobRun: jobs.LaneRun, tool.JobSweep: jobs.LaneHouse})
	w.store = platformstore.New(db, lanes)
	w.accounts, w.keys = account.New(w.store, password.New(), box.MAC), apikey.New(w.store, box.MAC)
	if w.account, _, err = w.accounts.Create(t.Context(), audit.Operator(), "demo", "ann@acme.example"); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	runs := platformstore.Runs{Store: w.store}
	w.tools = tool.New(tool.Ports{
		Runs: runs, Queue: runs, History: runs, Tools: lookup.Tools{Apps: shelf},
		Files: file.New(runs, box, &file.Options{BaseURL: base}), Connections: w.conns,
		Executor: httptool.New(w.provider.server.Client(), nil), Opener: opener{}, Keys: w.keys,
	}, box, &tool.Options{Log: log})
	queue := storage.New(db, lanes)
	worker := jobs.NewWorker(queue, lanes, w.tools.Jobs(), log, nil)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { worker.Run(ctx) })
	t.Cleanup(func() { stop(); working.Wait(); w.tools.Close() })
	free := ratelimit.Unlimited{}
	face, err := platformhttp.New(platformhttp.Deps{
		Site: platformhttp.Site{BaseURL: base, Name: "Test"}, Accounts: w.accounts, Keys: w.keys,
		Limits: gate.Limits{Keys: free, Addresses: free, Failures: free},
		Operations: operation.New(operation.Ports{
			Apps: shelf, Library: shelf,
			Tools:  w.tools,
			Counts: &usage.Service{Store: platformstore.Runs{Store: w.store}, Settled: w.tools.Settled},
		}, base),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handler = httpserver.Chain(face, httpserver.Instrument(log, "platform", nil), httpserver.ClientAddress(nil),
		httpserver.LimitBody(httpserver.DefaultBodyLimit))
	return w
}

// connections is a tool.Connections with one account of the app.
type connections struct {
	mu      sync.Mutex
	token   string
	renewed string // token that Refused answers
	refuse  error
}

func (c *connections) Choose(_ context.Context, accountID string, a *app.App,
	id, _ string,
) (*connection.Connection, error) {
	if c.refuse != nil {
		return nil, c.refuse
	}
	if id != "" && id != "con_1" {
		return nil, problem.New(problem.NotFound, "connection_not_found", "There is no connection with this id.")
	}
	return &connection.Connection{
		ID: "con_1", AccountID: accountID, App: a.ID, Scheme: "oauth",
		Status: connection.Active,
	}, nil
}

func (c *connections) Use(_ context.Context, accountID, id string) (*connection.Live, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &connection.Live{Connection: &connection.Connection{
		ID: id, AccountID: accountID, App: "desk",
		Scheme: "oauth",
	}, Values: app.Map{"access_token": c.token}}, nil
}

// Worked implements tool.Connections.
func (c *connections) Worked(context.Context, *connection.Live) error { return nil }

func (c *connections) Refused(ctx context.Context, live *connection.Live) (*connection.Live, error) {
	c.mu.Lock()
	if c.renewed == "" {
		c.mu.Unlock()
		return nil, nil
	}
	c.token, c.renewed = c.renewed, ""
	c.mu.Unlock()
	return c.Use(ctx, live.Connection.AccountID, live.Connection.ID)
}

type opener struct{}

func (opener) Link(context.Context, *tool.Caller, string, string, string) (*tool.Link, error) {
	return &tool.Link{URL: base + "/connect/secret-link", SessionID: "cs_1", ExpiresAt: time.Unix(2e9, 0).UTC()}, nil
}

// provider is the app. The request holds what it responds with.
type provider struct {
	server *httptest.Server

	mu    sync.Mutex
	calls []string
	valid string // the token that it accepts
	fails []int  // statuses of the next answers
	retry string // Retry-After of those
	gate  chan struct{}
}

func newProvider(t testing.TB) *provider {
	t.Helper()
	p := &provider{valid: "token-secret-1"}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

func (p *provider) set(change func(*provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *provider) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.calls...)
}

// ServeHTTP is the app's API.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.calls = append(p.calls, r.Method+" "+r.URL.RequestURI())
	status, retry, wait := 0, p.retry, p.gate
	if len(p.fails) > 0 {
		status, p.fails = p.fails[0], p.fails[1:]
	}
	authorized := r.Header.Get("Authorization") == "Bearer "+p.valid
	p.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-r.Context().Done():
			return
		}
	}
	answer := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		if status >= 400 {
			w.Header().Set("Retry-After", retry)
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch {
	case !authorized:
		answer(401, map[string]any{"error": map[string]string{"text": "who are you? " + r.Header.Get("Authorization")}})
	case status > 0:
		answer(status, map[string]any{"error": map[string]string{"text": "no: " + strconv.Itoa(status)}})
	case r.URL.Path == "/search":
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		results := make([]any, n)
		for i := range results {
			results[i] = map[string]any{"id": i, "subject": fmt.Sprintf("ticket %d %s", i, strings.Repeat("x", 80))}
		}
		next := any("page2")
		if r.URL.Query().Get("cursor") != "" {
			next = nil
		}
		answer(200, map[string]any{"results": results, "next": next})
	case r.URL.Path == "/download":
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Disposition", `attachment; filename="a.png"`)
		_, _ = w.Write([]byte("\x89PNG\x00\xff"))
	case r.URL.Path == "/echo":
		answer(200, map[string]any{
			"auth": r.Header.Get("Authorization"), "method": r.Method, "query": r.URL.RawQuery,
			"body": string(body), "own": r.Header.Get("X-Own"),
		})
	case r.URL.Path == "/attach":
		answer(201, map[string]any{
			"holds": strings.Contains(string(body), "file content"),
			"named": strings.Contains(string(body), `filename="note.txt"`),
		})
	default:
		answer(201, map[string]any{"id": "t1"})
	}
}

// key creates a key of the account and returns its secret.
func (w *world) key(change func(*apikey.Settings)) string {
	w.t.Helper()
	return w.keyOf(w.account.ID, change)
}

func (w *world) keyOf(accountID string, change func(*apikey.Settings)) string {
	w.t.Helper()
	settings := apikey.Settings{Name: "test", Permissions: apikey.All, Restrict: apikey.Restrictions{RawRequests: true}}
	if change != nil {
		change(&settings)
	}
	_, secret, err := w.keys.Create(w.t.Context(), audit.Operator(), accountID, settings)
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// person signs the owner in and returns the header fields of a session.
func (w *world) person() []string {
	w.t.Helper()
	link, _, err := w.accounts.Link(w.t.Context(), audit.Operator(), w.account.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	session, secret, err := w.accounts.Redeem(w.t.Context(), audit.Actor{}, link)
	if err != nil {
		w.t.Fatal(err)
	}
	return []string{"Cookie", "ace_session=" + secret, "X-CSRF-Token", session.Token}
}

// call sends a request; fields are pairs of names and values.
func (w *world) call(method, path, body string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return recorder
}

func bearer(key string) []string { return []string{"Authorization", "Bearer " + key} }

// run runs a tool and returns status and body.
func (w *world) run(key, id, body string, fields ...string) (int, map[string]any) {
	w.t.Helper()
	got := w.call(http.MethodPost, "/api/v1/tools/"+id+"/run", body, append(bearer(key), fields...)...)
	return got.Code, w.decode(got)
}

func (w *world) decode(got *httptest.ResponseRecorder) map[string]any {
	w.t.Helper()
	var v map[string]any
	if err := json.Unmarshal(got.Body.Bytes(), &v); err != nil {
		w.t.Fatalf("%d %s: %v", got.Code, got.Body, err)
	}
	return v
}

// until reads a run until it is over.
func (w *world) until(key, id string) map[string]any {
	w.t.Helper()
	for range 20000 {
		run := w.decode(w.call(http.MethodGet, "/api/v1/runs/"+id, "", bearer(key)...))
		if status := run["status"]; status != "running" && status != "awaiting_approval" {
			return run
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("run %s does not come to an end", id)
	return nil
}

// upload sends a form with one part.
func (w *world) upload(key, field, name string, data []byte) *httptest.ResponseRecorder {
	w.t.Helper()
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", fmt.Sprintf(`form-data; name=%q; filename=%q`, field, name))
	h.Set("Content-Type", "text/plain")
	part, err := m.CreatePart(h)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = part.Write(data)
	_ = m.Close()
	r := httptest.NewRequest(http.MethodPost, "/api/v1/files", &form)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+key)
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return recorder
}
