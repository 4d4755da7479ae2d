package platformhttp_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/password"
	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/authserver"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connection/connectiontest"
	"ace/internal/platform/connector"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/platform/trigger"
	"ace/internal/platform/usage"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

const base = "http://127.0.0.1:8081"

// world is a platform on SQLite with one account.
type world struct {
	handler  http.Handler
	store    *platformstore.Store
	accounts *account.Service
	keys     *apikey.Service
	account  *account.Account
	signIns  *authserver.Service

	connections *connection.Service
	vendor      *connectiontest.Vendor
}

func setup(t *testing.T) *world {
	t.Helper()
	keys, addresses, failures := gate.Policies()
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1024})
	return setupWith(t, gate.Limits{
		Keys: ratelimit.NewWindow(keys, nil), Addresses: table.Limiter(addresses),
		Failures: table.Limiter(failures),
	})
}

func setupFree(t *testing.T) *world {
	t.Helper()
	free := ratelimit.Unlimited{}
	return setupWith(t, gate.Limits{Keys: free, Addresses: free, Failures: free})
}

func setupWith(t *testing.T, limits gate.Limits) *world {
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
	if w.account, _, err = w.accounts.Create(t.Context(), audit.Operator(), "demo", "ann@acme.example"); err != nil {
		t.Fatal(err)
	}
	apps := shelf(t)
	w.connect(t, apps, box)
	runs := platformstore.Runs{Store: w.store}
	w.signIns = authserver.New(platformstore.Grants{Store: w.store}, w.keys, nil, box, base+"/mcp")
	face, err := platformhttp.New(platformhttp.Deps{
		Operations: operation.New(operation.Ports{
			Accounts: w.accounts, Keys: w.keys, Audit: w.store, Connections: w.connections,
			ConnectionCounts: platformstore.Connections{Store: w.store}, Clients: clients.New(w.store, box), Apps: apps,
			Library:     apps,
			Connectors:  connector.New(connector.Ports{Store: w.store, Connections: w.connections}, nil),
			Idempotency: operation.NewIdempotency(idempotency.New(idempotency.NewMemory(), box.MAC)),
			Tools: tool.New(tool.Ports{
				Runs: runs, Queue: runs, History: runs, Tools: lookup.Tools{Apps: apps},
				Files: file.New(runs, box, &file.Options{BaseURL: base}), Connections: w.connections, Keys: w.keys,
			}, box, nil),
			Triggers: trigger.New(trigger.Ports{
				Store: platformstore.Triggers{Store: w.store}, Apps: apps, Connections: w.connections,
			}, box, nil),
			Counts: &usage.Service{Store: platformstore.Runs{Store: w.store}},
		}, base),
		Site: platformhttp.Site{BaseURL: base, Name: "Test"}, Accounts: w.accounts, Keys: w.keys,
		Limits: limits, Sealer: box, MCPSignIn: w.signIns,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.handler = httpserver.Chain(face, httpserver.Instrument(slog.New(slog.DiscardHandler), "platform", nil),
		httpserver.ClientAddress(nil), httpserver.LimitBody(1<<20))
	return w
}

// connect makes the service of connections, with a vendor in place of the demo
// app's.
func (w *world) connect(t *testing.T, apps connection.Apps, box *seal.Sealer) {
	t.Helper()
	w.vendor = &connectiontest.Vendor{Identity: connection.Identity{ID: "u1", Email: "ann@acme.example"}}
	kept := clients.New(w.store, box)
	if err := kept.Store(t.Context(), audit.Operator(),
		&connection.Client{App: "demo-notes", ID: "client", Secret: "hush"}); err != nil {
		t.Fatal(err)
	}
	w.connections = connection.New(connection.Ports{
		Store: platformstore.Connections{Store: w.store}, Apps: apps, Clients: kept, Authorizer: w.vendor,
		Checker: w.vendor, Stepper: w.vendor,
	}, box, &connection.Options{BaseURL: base})
}

// shelf holds the demo app.
func shelf(t *testing.T) *library.Library {
	t.Helper()
	apps, err := library.Read(catalog.Files, "demo", strings.NewReplacer("${sandbox}", "http://127.0.0.1:8082"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := library.New(apps, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// key creates a key and returns its secret.
func (w *world) key(t *testing.T, permissions apikey.Permissions) (string, *apikey.Key) {
	t.Helper()
	k, secret, err := w.keys.Create(t.Context(), audit.Operator(), w.account.ID,
		apikey.Settings{Name: "test", Permissions: permissions})
	if err != nil {
		t.Fatal(err)
	}
	return secret, k
}

// signIn returns the cookie and the token of a user who is signed in.
func (w *world) signIn(t *testing.T) (cookie, token string) {
	t.Helper()
	link, _, err := w.accounts.Link(t.Context(), audit.Operator(), w.account.ID)
	if err != nil {
		t.Fatal(err)
	}
	session, secret, err := w.accounts.Redeem(t.Context(), audit.Actor{}, link)
	if err != nil {
		t.Fatal(err)
	}
	return "ace_session=" + secret, session.Token
}

// call sends a request with header fields given as name, value pairs.
func (w *world) call(method, path, body string, fields ...string) *httptest.ResponseRecorder {
	var r *http.Request
	if body == "" {
		r = httptest.NewRequest(method, path, nil)
	} else {
		r = httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Host = strings.TrimPrefix(base, "http://")
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return recorder
}

func decode(t *testing.T, recorder *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &v); err != nil {
		t.Fatalf("answer %d %s: %v", recorder.Code, recorder.Body, err)
	}
	return v
}
