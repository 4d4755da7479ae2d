package mcphttp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/password"
	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connection/connectiontest"
	"ace/internal/platform/connector"
	"ace/internal/platform/httptool"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

const base = "http://127.0.0.1:8081"

// definition is an app that is connected with a key that the user types.
const definition = `
id: desk
name: Desk
about: Tickets of customers.
base: BASE
auth: [{id: key, type: key, fields: [{name: key, secret: true}], send: {headers: {Authorization: "Bearer {key}"}}}]
errors: {message: [/error/text]}
paging: {type: cursor, out: /next, in: cursor}
tools:
  search:
    call: GET /search
    about: Finds tickets.
    phrases: [find a ticket]
    in: {query: string, cursor: string, n: {type: integer, minimum: 0, maximum: 100000, default: 2}}
    items: /results
    example: {query: printer}
  create:
    call: POST /tickets
    about: Creates a ticket.
    phrases: [open a ticket]
    in: {title!: {type: string, minLength: 1}}
  remove:
    call: DELETE /tickets/{id}
    about: Deletes a ticket.
    in: {id!: string}
  fail:
    call: GET /fail
    about: Is out of order.
    in: {}
  download:
    call: GET /download
    about: Reads the file of a ticket.
    in: {}
    binary: true
`

// world is a platform on SQLite with one account and one app.
type world struct {
	t           testing.TB
	handler     http.Handler
	keys        *apikey.Service
	accounts    *account.Service
	account     *account.Account
	connections *connection.Service
	tools       *tool.Service

	mu   sync.Mutex
	seen []string // requests that reached the app
}

func setup(t testing.TB) *world {
	free := ratelimit.Unlimited{}
	return setupWith(t, gate.Limits{Keys: free, Addresses: free, Failures: free})
}

func setupWith(t testing.TB, limits gate.Limits) *world {
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
	w := &world{t: t}
	desk := httptest.NewServer(http.HandlerFunc(w.desk))
	t.Cleanup(desk.Close)
	a, err := app.Parse([]byte(strings.Replace(definition, "BASE", desk.URL, 1)))
	if err != nil {
		t.Fatal(err)
	}
	shelf, err := library.New([]*app.App{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lanes := jobs.NewLanes(map[string]jobs.Lane{
		tool.JobRun: jobs.LaneRun, tool.JobSweep: jobs.LaneHouse, connection.JobNotify: jobs.LaneHouse,
	})
	store := platformstore.New(db, lanes)
	w.accounts, w.keys = account.New(store, password.New(), box.MAC), apikey.New(store, box.MAC)
	if w.account, _, err = w.accounts.Create(t.Context(), audit.Operator(), "demo", "ann@acme.example"); err != nil {
		t.Fatal(err)
	}
	vendor := &connectiontest.Vendor{Identity: connection.Identity{ID: "u1", Email: "ann@acme.example"}}
	kept := clients.New(store, box)
	w.connections = connection.New(connection.Ports{
		Store: platformstore.Connections{Store: store}, Apps: shelf, Clients: kept, Authorizer: vendor,
		Checker: vendor, Stepper: vendor,
	}, box, &connection.Options{BaseURL: base})
	runs := platformstore.Runs{Store: store}
	log := slog.New(slog.DiscardHandler)
	w.tools = tool.New(tool.Ports{
		Runs: runs, Queue: runs, History: runs, Tools: lookup.Tools{Apps: shelf},
		Files: file.New(runs, box, &file.Options{BaseURL: base}), Connections: w.connections,
		Executor: httptool.New(desk.Client(), nil), Opener: opener{w.connections}, Keys: w.keys,
	}, box, &tool.Options{Log: log})
	worker := jobs.NewWorker(storage.New(db, lanes), lanes, w.tools.Jobs(), log, nil)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { worker.Run(ctx) })
	t.Cleanup(func() { stop(); working.Wait(); w.tools.Close() })
	face, err := platformhttp.New(platformhttp.Deps{
		Site: platformhttp.Site{BaseURL: base, Name: "Test"}, Accounts: w.accounts, Keys: w.keys, Limits: limits,
		Sealer: box, CheckOutput: true,
		Operations: operation.New(operation.Ports{
			Accounts: w.accounts, Keys: w.keys, Audit: store, Connections: w.connections,
			ConnectionCounts: platformstore.Connections{Store: store}, Clients: kept, Apps: shelf, Library: shelf,
			Connectors:  connector.New(connector.Ports{Store: store, Connections: w.connections}, nil),
			Idempotency: operation.NewIdempotency(idempotency.New(idempotency.NewMemory(), box.MAC)), Tools: w.tools,
		}, base),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handler = httpserver.Chain(face, httpserver.Instrument(log, "platform", nil), httpserver.ClientAddress(nil),
		httpserver.LimitBody(httpserver.DefaultBodyLimit))
	return w
}

// opener creates the links of refusals.
type opener struct{ connections *connection.Service }

func (o opener) Link(ctx context.Context, c *tool.Caller, appID, connectionID, endUser string) (*tool.Link, error) {
	s, err := o.connections.Open(ctx, c.Actor, c.AccountID, connection.Request{
		App: appID, Options: connection.ConnectOptions{EndUser: endUser, Reconnects: connectionID},
	})
	if err != nil {
		return nil, err
	}
	return &tool.Link{URL: o.connections.Link(s.ID), SessionID: s.ID, ExpiresAt: s.ExpiresAt}, nil
}

// desk is the app's API.
func (w *world) desk(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.seen = append(w.seen, r.Method+" "+r.URL.RequestURI())
	w.mu.Unlock()
	send := func(status int, v any) {
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(status)
		_ = json.NewEncoder(out).Encode(v)
	}
	switch {
	case r.Header.Get("Authorization") != "Bearer nk_ABC":
		send(http.StatusUnauthorized, map[string]any{"error": map[string]string{"text": "who are you?"}})
	case r.URL.Path == "/search":
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		results := make([]any, n)
		for i := range results {
			results[i] = map[string]any{"id": i, "subject": "ticket " + strconv.Itoa(i)}
		}
		next := any("page2")
		if r.URL.Query().Get("cursor") != "" {
			next = nil
		}
		send(http.StatusOK, map[string]any{"results": results, "next": next})
	case r.URL.Path == "/fail":
		out.Header().Set("Retry-After", "300")
		send(http.StatusServiceUnavailable, map[string]any{"error": map[string]string{"text": "out of order"}})
	case r.URL.Path == "/download":
		out.Header().Set("Content-Type", "image/png")
		out.Header().Set("Content-Disposition", `attachment; filename="a.png"`)
		_, _ = out.Write([]byte("\x89PNG\x00\xff"))
	default:
		_, _ = io.Copy(io.Discard, r.Body)
		send(http.StatusCreated, map[string]any{"id": "t1"})
	}
}

func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.seen...)
}

// key creates a key of the account and returns its secret.
func (w *world) key(change func(*apikey.Settings)) string {
	w.t.Helper()
	settings := apikey.Settings{Name: "Laptop", Permissions: apikey.All}
	if change != nil {
		change(&settings)
	}
	_, secret, err := w.keys.Create(w.t.Context(), audit.Operator(), w.account.ID, settings)
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// signIn types a key on the page of a connect link.
func (w *world) signIn(link string) {
	w.t.Helper()
	v := connection.Visitor{Browser: strings.Repeat("b", 40), AccountID: w.account.ID}
	if _, err := w.connections.Submit(w.t.Context(), path.Base(link), v,
		connection.Form{Scheme: "key", Fields: connection.Credentials{"key": "nk_ABC"}}); err != nil {
		w.t.Fatal(err)
	}
}

// decide approves or denies the run that waits for an approval URL.
func (w *world) decide(approval string, approve bool) {
	w.t.Helper()
	if _, err := w.tools.Decide(w.t.Context(), audit.Operator(), w.account.ID, path.Base(approval), approve,
		"Because."); err != nil {
		w.t.Fatal(err)
	}
}

// post sends one message with fields given as name, value pairs.
func (w *world) post(secret, message string, fields ...string) *httptest.ResponseRecorder {
	return w.postTo("/mcp", secret, message, fields...)
}

func (w *world) postTo(target, secret, message string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, target, strings.NewReader(message))
	r.Host = "127.0.0.1:8081"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", "request-1")
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	got := httptest.NewRecorder()
	w.handler.ServeHTTP(got, r)
	return got
}

// names replaces what differs between two runs of a test by short names.
type names struct {
	short map[string]string
	long  map[string]string
	count map[string]int
}

func newNames() *names {
	return &names{short: map[string]string{}, long: map[string]string{}, count: map[string]int{}}
}

var (
	changing = regexp.MustCompile(`(run|cs|con|apr|file|key|acc|qry)_[0-9a-z]{26}|(/connect/)[A-Za-z0-9_-]{40,}|` +
		`("requestState": ")[^"]{20,}|("next_output_cursor": ")[^"]{20,}|(/files/file-\d+/)[\w.-]+|` +
		`(http://127\.0\.0\.1:)\d+(?:/tickets)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)
	kinds = []string{"", "", "link", "state", "cursor", "signature", "port"}
)

// hide replaces what differs. Ids go first: what signs them follows them.
func (n *names) hide(text string) string {
	text = strings.ReplaceAll(text, `"version": "`+platformhttp.Version+`"`, `"version": "VERSION"`)
	return n.replace(n.replace(text))
}

func (n *names) replace(text string) string {
	return changing.ReplaceAllStringFunc(text, func(found string) string {
		groups := changing.FindStringSubmatch(found)
		for i := 1; i < len(groups); i++ {
			switch {
			case groups[i] == "":
			case i == 1:
				return n.name(groups[i], found)
			default:
				return groups[i] + n.name(kinds[i], strings.TrimPrefix(found, groups[i]))
			}
		}
		return "TIME"
	})
}

// name returns the short name of a value.
func (n *names) name(kind, value string) string {
	if n.short[value] == "" {
		n.count[kind]++
		n.short[value] = kind + "-" + strconv.Itoa(n.count[kind])
		n.long[n.short[value]] = value
	}
	return n.short[value]
}

var shown = regexp.MustCompile(`\$\{([a-z]+-\d+)\}`)

// show replaces names in braces by what they stand for.
func (n *names) show(text string) string {
	return shown.ReplaceAllStringFunc(text, func(found string) string { return n.long[found[2:len(found)-1]] })
}
