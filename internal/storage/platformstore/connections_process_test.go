package platformstore_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/connectiontest"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// workerVariable tells the test binary to be one of several processes.
const workerVariable = "ACE_TEST_REFRESH_WORKER"

// workerOrder is what a process has to do.
type workerOrder struct {
	Database, Vendor string
	Account, ID      string
	Calls            int
	DieAt            string // step at which the process ends
}

// vendorOverHTTP is the vendor of the parent process, seen from a child.
type vendorOverHTTP struct {
	*connectiontest.Vendor // for what is never called
	address                string
}

func (v vendorOverHTTP) Refresh(ctx context.Context, _ *app.App, _ *app.Scheme, _ *connection.Client,
	_ *connection.Connection, old connection.Credentials,
) (*connection.Grant, error) {
	form := url.Values{"refresh_token": {old["refresh_token"]}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, v.address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, &connection.RefreshError{Class: connection.Temporary, Code: "network"}
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, &connection.RefreshError{
			Class: connection.GrantOver, Status: response.StatusCode,
			Code: "invalid_grant",
		}
	}
	var answer map[string]string
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	return &connection.Grant{Credentials: answer, ExpiresAt: time.Now().Add(time.Hour)}, nil
}

// serveVendor serves refreshes over HTTP.
func serveVendor(t *testing.T, vendor *connectiontest.Vendor) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grant, err := vendor.Refresh(r.Context(), nil, nil, nil, nil,
			connection.Credentials{"refresh_token": r.PostFormValue("refresh_token")})
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string(grant.Credentials))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func openStore(t *testing.T, address string) (*sqldb.DB, *platformstore.Store) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), address, &sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	return db, platformstore.New(db, nil)
}

func execute(t *testing.T, db *sqldb.DB, statement string, args ...any) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), statement, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func connections(t *testing.T, s *platformstore.Store, vendor connection.Authorizer,
	step func(string),
) *connection.Service {
	t.Helper()
	fake := &connectiontest.Vendor{}
	return connection.New(connection.Ports{
		Store: platformstore.Connections{Store: s}, Apps: connectiontest.Catalog(),
		Clients:    connectiontest.Clients{"notes": {App: "notes", ID: "client"}},
		Authorizer: vendor, Checker: fake, Stepper: fake,
	}, box(t), &connection.Options{BaseURL: "https://platform.test", Step: step})
}

// TestRefreshWorker is the body of a child process; it does nothing in an
// ordinary run.
func TestRefreshWorker(t *testing.T) {
	text := os.Getenv(workerVariable)
	if text == "" {
		return
	}
	var order workerOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		t.Fatal(err)
	}
	_, store := openStore(t, order.Database)
	service := connections(t, store, vendorOverHTTP{address: order.Vendor}, func(step string) {
		if step == order.DieAt {
			os.Exit(3) // as a kill would: nothing is tidied up
		}
	})
	tokens := make([]string, order.Calls)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			live, err := service.Use(t.Context(), order.Account, order.ID)
			if err != nil {
				tokens[i] = err.Error()
				return
			}
			tokens[i], _ = live.Values.Value("access_token")
		})
	}
	wg.Wait()
	out, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("tokens %s\n", out)
}

// child runs the test binary as one process and returns what its calls got.
func child(t *testing.T, order workerOrder) (tokens []string, exit int) {
	t.Helper()
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRefreshWorker$", "-test.v")
	command.Env = append(os.Environ(), workerVariable+"="+string(text))
	out, err := command.CombinedOutput()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, ended.ExitCode()
	}
	if err != nil {
		t.Errorf("running a process: %v", err)
	}
	_, after, found := bytes.Cut(out, []byte("tokens "))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	if err := json.Unmarshal(line, &tokens); !found || err != nil {
		t.Errorf("a process answered %q", out)
	}
	return tokens, 0
}

// expired signs in and lets the token end.
func expired(t *testing.T, db *sqldb.DB, s *platformstore.Store, vendor *connectiontest.Vendor,
	accountID string,
) string {
	t.Helper()
	service := connections(t, s, vendor, nil)
	session, err := service.Open(t.Context(), audit.System(), accountID,
		connection.Request{App: "notes", Options: connection.ConnectOptions{Scheme: "oauth2"}})
	if err != nil {
		t.Fatal(err)
	}
	person := connection.Visitor{Browser: strings.Repeat("b", 40), AccountID: accountID}
	link := service.Link(session.ID)
	o, err := service.Submit(t.Context(), link[strings.LastIndexByte(link, '/')+1:], person, connection.Form{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(o.Redirect)
	if err != nil {
		t.Fatal(err)
	}
	if o, err = service.Callback(t.Context(), "notes", person,
		url.Values{"state": {at.Query().Get("state")}, "code": {"good"}}); err != nil || o.Connection == nil {
		t.Fatalf("Callback = %+v, %v", o, err)
	}
	execute(t, db, `UPDATE connection SET token_expires_at = $1, refreshed_at = $2`,
		time.Now().Add(-time.Minute).UnixMilli(), time.Now().Add(-time.Hour).UnixMilli())
	return o.Connection.ID
}

// TestThreeProcessesRefreshOnce is fifty calls of three processes over one
// PostgreSQL, whose token is over: one refresh reaches the vendor, which ends the
// grant when a refresh token comes twice.
func TestThreeProcessesRefreshOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		slow      time.Duration
		die       string
		refreshes int
		token     string
	}{
		{"at once", 0, "", 1, "access-2"},
		{"a slow vendor", 1500 * time.Millisecond, "", 1, "access-2"},
		{"one killed before the vendor was asked", 200 * time.Millisecond, "lease taken", 1, "access-2"},
		{"one killed after the vendor answered", 200 * time.Millisecond, "vendor answered", 2, "access-3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address := sqldbtest.Postgres(t)
			db, store := openStore(t, address)
			_, account, _ := newAccount(t, store, "demo", "")
			vendor := &connectiontest.Vendor{Slow: tt.slow, Reuse: true}
			order := workerOrder{Database: address, Vendor: serveVendor(t, vendor), Account: account.ID, Calls: 17}
			order.ID = expired(t, db, store, vendor, account.ID)
			if tt.die != "" {
				doomed := order
				doomed.DieAt = tt.die
				if _, exit := child(t, doomed); exit != 3 {
					t.Fatalf("the process that was to die ended with %d", exit)
				}
				// A minute later its lease has run out.
				execute(t, db, `UPDATE connection SET lease_until = 1 WHERE lease_until > 0`)
			}
			var all [3][]string
			var wg sync.WaitGroup
			for i := range all {
				wg.Go(func() { all[i], _ = child(t, order) })
			}
			wg.Wait()
			calls := 0
			for _, tokens := range all {
				for _, token := range tokens {
					calls++
					if token != tt.token {
						t.Errorf("a call got %q, want %s", token, tt.token)
					}
				}
			}
			if calls != 51 || vendor.Refreshes() != tt.refreshes {
				t.Errorf("%d calls made %d refreshes, want 51 and %d", calls, vendor.Refreshes(), tt.refreshes)
			}
		})
	}
}

// TestSwappedSecretsDoNotOpen exchanges two rows' secrets in the database, within
// an account and between two.
func TestSwappedSecretsDoNotOpen(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, store := openStore(t, address(t))
			_, mine, _ := newAccount(t, store, "mine", "")
			_, theirs, _ := newAccount(t, store, "theirs", "")
			vendor := &connectiontest.Vendor{}
			first := expired(t, db, store, vendor, mine.ID)
			second := expired(t, db, store, vendor, theirs.ID)
			execute(
				t,
				db,
				`UPDATE connection SET secret = (SELECT secret FROM connection AS other WHERE other.id = $2) WHERE
					id = $1`,
				first,
				second,
			)
			service := connections(t, store, vendor, nil)
			if live, err := service.Use(t.Context(), mine.ID, first); err == nil {
				t.Errorf("another account's secret opened: %v", live)
			}
			c, err := service.Get(t.Context(), mine.ID, first)
			if err != nil || c.Status != connection.Failing || c.Reason != connection.ReasonUndecryptable {
				t.Errorf("connection = %+v, %v, want vault_undecryptable", c, err)
			}
		})
	}
}

// TestNothingSecretIsReadable looks for what was typed and issued in the whole
// database.
func TestNothingSecretIsReadable(t *testing.T) {
	t.Parallel()
	path := sqldbtest.SQLite(t)
	db, store := openStore(t, path)
	_, account, _ := newAccount(t, store, "demo", "")
	vendor := &connectiontest.Vendor{}
	expired(t, db, store, vendor, account.ID)
	service := connections(t, store, vendor, nil)
	session, err := service.Open(t.Context(), audit.System(), account.ID, connection.Request{App: "keyed"})
	if err != nil {
		t.Fatal(err)
	}
	link := service.Link(session.ID)
	token := link[strings.LastIndexByte(link, '/')+1:]
	person := connection.Visitor{Browser: strings.Repeat("b", 40), AccountID: account.ID}
	if _, err := service.Submit(t.Context(), token, person,
		connection.Form{Fields: connection.Credentials{"key": "sk_canary"}}); err != nil {
		t.Fatal(err)
	}
	file := strings.TrimPrefix(path, "sqlite:")
	for _, name := range []string{file, file + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, secret := range []string{"sk_canary", "access-1", "refresh-1", token, person.Browser} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
}
