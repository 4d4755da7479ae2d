package connectorhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
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
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connector"
	"ace/internal/platform/httptool"
	"ace/internal/platform/library"
	"ace/internal/platform/mcptool"
	"ace/internal/platform/oauthclient"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// world is a platform on SQLite whose accounts may call software on this
// machine.
type world struct {
	handler     http.Handler
	store       *platformstore.Store
	accounts    *account.Service
	keys        *apikey.Service
	library     *library.Library
	connections *connection.Service
	connectors  *connector.Service
	executor    executor
}

// executor calls each app by its own protocol.
type executor struct {
	http *httptool.Executor
	mcp  *mcptool.Executor
}

func (e executor) of(a *app.App) interface {
	tool.Executor
	connection.Checker
} {
	if a.MCP != nil {
		return e.mcp
	}
	return e.http
}

func (e executor) Check(ctx context.Context, a *app.App, s *app.Scheme, live *connection.Live) (connection.Identity,
	error,
) {
	return e.of(a).Check(ctx, a, s, live)
}

type fetcher struct {
	guard  *egress.Guard
	client *http.Client
}

func (f fetcher) Allowed(address string) error { return f.guard.Check(egress.Connector(), address) }

func (f fetcher) Fetch(ctx context.Context, address string, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := f.client.Do(req)
	if err != nil {
		p, _ := problem.From(err)
		return nil, p
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(io.LimitReader(res.Body, limit+1))
}

func (f fetcher) Reach(ctx context.Context, address string) error {
	_, err := f.Fetch(ctx, address, 1<<20)
	return err
}

func setup(t *testing.T) *world {
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
	w := &world{store: platformstore.New(db, nil)}
	w.accounts, w.keys = account.New(w.store, password.New(), box.MAC), apikey.New(w.store, box.MAC)
	guard := egress.New(&egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	client := guard.Client(egress.Connector())
	w.executor = executor{httptool.New(client, nil), mcptool.New(client, nil)}
	t.Cleanup(w.executor.mcp.Close)
	w.connectors = connector.New(connector.Ports{
		Store: w.store, Lister: w.executor.mcp,
		Fetcher: fetcher{guard, client},
	}, nil)
	if w.library, err = library.New(nil, w.connectors); err != nil {
		t.Fatal(err)
	}
	kept := clients.New(w.store, box)
	vendors := oauthclient.New(client, &oauthclient.Options{Registrations: kept})
	const base = "http://127.0.0.1:8081"
	w.connections = connection.New(connection.Ports{
		Store: platformstore.Connections{Store: w.store}, Apps: w.library, Clients: kept, Authorizer: vendors,
		Checker: w.executor, Stepper: vendors,
	}, box, &connection.Options{BaseURL: base})
	w.connectors.Connections, w.connectors.Clients = w.connections, kept
	free := ratelimit.Unlimited{}
	operations := operation.New(operation.Ports{
		Accounts:         w.accounts,
		Keys:             w.keys,
		Audit:            w.store,
		Connections:      w.connections,
		ConnectionCounts: platformstore.Connections{Store: w.store},
		Clients:          kept,
		Apps:             w.library,
		Library:          w.library,
		Connectors:       w.connectors,
		Idempotency:      operation.NewIdempotency(idempotency.New(idempotency.NewMemory(), box.MAC)),
	}, base)
	face, err := platformhttp.New(platformhttp.Deps{
		Site: platformhttp.Site{BaseURL: base, Name: "Test"}, Accounts: w.accounts, Keys: w.keys,
		Operations: operations,
		Limits:     gate.Limits{Keys: free, Addresses: free, Failures: free},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handler = httpserver.Chain(face, httpserver.ClientAddress(nil))
	return w
}

// caller is somebody with a key of an account of his own, and signed in.
type caller struct {
	*world
	account       string
	secret        string
	cookie, token string
}

func (w *world) newcomer(t *testing.T, name string) *caller {
	t.Helper()
	a, _, err := w.accounts.Create(t.Context(), audit.Operator(), name, name+"@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := w.keys.Create(t.Context(), audit.Operator(),
		a.ID, apikey.Settings{Name: "test", Permissions: apikey.All})
	if err != nil {
		t.Fatal(err)
	}
	link, _, err := w.accounts.Link(t.Context(), audit.Operator(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	session, cookie, err := w.accounts.Redeem(t.Context(), audit.Actor{}, link)
	if err != nil {
		t.Fatal(err)
	}
	return &caller{w, a.ID, secret, "ace_session=" + cookie, session.Token}
}

// decide is call as the person who is signed in.
func (c *caller) decide(t *testing.T, method, path string, body any) (int, map[string]any) {
	t.Helper()
	return c.call(t, method, path, body, "Authorization", "", "Cookie", c.cookie, "X-CSRF-Token", c.token)
}

// call sends a request and returns the status and the decoded body.
func (c *caller) call(t *testing.T, method, path string, body any, fields ...string) (int, map[string]any) {
	t.Helper()
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		reader = strings.NewReader(string(encoded))
	}
	r := httptest.NewRequest(method, "/api/v1"+path, reader)
	r.Header.Set("Authorization", "Bearer "+c.secret)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(fields); i += 2 {
		if r.Header.Set(fields[i], fields[i+1]); fields[i+1] == "" {
			r.Header.Del(fields[i])
		}
	}
	recorder := httptest.NewRecorder()
	c.handler.ServeHTTP(recorder, r)
	var v map[string]any
	if recorder.Body.Len() > 0 {
		if err := json.Unmarshal(recorder.Body.Bytes(), &v); err != nil {
			t.Fatalf("%s %s: %d %s: %v", method, path, recorder.Code, recorder.Body, err)
		}
	}
	return recorder.Code, v
}

// make adds a connector that has to become ready.
func (c *caller) make(t *testing.T, request map[string]any) map[string]any {
	t.Helper()
	status, got := c.call(t, http.MethodPost, "/custom-connectors", request)
	if status != http.StatusCreated || got["status"] != "ready" {
		t.Fatalf("POST /custom-connectors = %d %v, want 201 ready", status, got)
	}
	return got
}

// found are the tools that a task finds.
func (c *caller) found(t *testing.T, task string) []string {
	t.Helper()
	status, got := c.call(t, http.MethodPost, "/tools/find", map[string]any{"task": task})
	if status != http.StatusOK {
		t.Fatalf("find = %d %v", status, got)
	}
	var ids []string
	list, _ := got["tools"].([]any)
	for _, one := range list {
		hit, _ := one.(map[string]any)
		ids = append(ids, fmt.Sprint(hit["tool"]))
	}
	return ids
}

// run calls a tool with the credentials of the account's connection.
func (c *caller) run(t *testing.T, id string, arguments map[string]any) (*tool.Answer, error) {
	t.Helper()
	view, err := c.library.For(t.Context(), c.account)
	if err != nil {
		t.Fatal(err)
	}
	a, one, err := view.Catalog.Tool(id)
	if err != nil {
		return nil, err
	}
	chosen, err := c.connections.Choose(t.Context(), c.account, a, "", "")
	if err != nil {
		return nil, err
	}
	live := connection.Anonymous(c.account, a, &a.Schemes[0])
	if chosen.ID != "" {
		if live, err = c.connections.Use(t.Context(), c.account, chosen.ID); err != nil {
			return nil, err
		}
	}
	return c.executor.of(a).Execute(t.Context(),
		&tool.Call{App: a, Scheme: &a.Schemes[0], Tool: one, Live: live, Arguments: arguments})
}
