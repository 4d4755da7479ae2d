package platformstore_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// anonymous is a tool.Connections for an app that needs no credentials.
type anonymous struct{ tool.Connections }

func (anonymous) Choose(_ context.Context, account string, a *app.App, _, _ string) (*connection.Connection, error) {
	return &connection.Connection{AccountID: account, App: a.ID, Scheme: "open"}, nil
}

func (anonymous) Worked(context.Context, *connection.Live) error { return nil }

// countingApp is a tool.Executor that counts its calls; release, if not nil,
// holds them until it is closed.
type countingApp struct {
	tool.Executor
	calls   atomic.Int64
	release chan struct{}
}

func (c *countingApp) Execute(context.Context, *tool.Call) (*tool.Answer, error) {
	n := c.calls.Add(1)
	if c.release != nil {
		<-c.release
	}
	return &tool.Answer{Status: 200, Output: map[string]any{"id": n}}, nil
}

type apps struct{ *app.Catalog }

func (a apps) App(_ context.Context, _, id string) (*app.App, error) { return a.Catalog.App(id) }

func (a apps) Tool(_ context.Context, _, id string) (*app.App, *app.Tool, error) {
	return a.Catalog.Tool(id)
}

func (a apps) Apps(context.Context, string) ([]*app.App, error) { return a.Catalog.Apps(), nil }

// replica is one process that runs tools on a database.
func replica(t *testing.T, db *sqldb.DB, executor *countingApp) *tool.Service {
	t.Helper()
	a, err := app.Parse([]byte(`
id: desk
name: Desk
base: https://desk.example
auth: [{id: open, type: none}]
tools:
  create: {call: POST /tickets, about: Creates a ticket., in: {title!: string}}
  search: {call: GET /tickets, about: Finds tickets., in: {query: string}}
`))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := app.NewCatalog(a)
	if err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	runs := platformstore.Runs{Store: platformstore.New(db, nil)}
	s := tool.New(tool.Ports{
		Runs: runs, Queue: runs, History: runs, Tools: lookup.Tools{Apps: apps{catalog}},
		Files: file.New(runs, box, nil), Connections: anonymous{}, Executor: executor,
	}, box, nil)
	t.Cleanup(s.Close)
	return s
}

func caller() *tool.Caller {
	return &tool.Caller{
		AccountID: "acc_a", Key: &apikey.Key{ID: "key_1", AccountID: "acc_a", Permissions: apikey.All},
		Actor: audit.Actor{Kind: audit.ByKey, ID: "key_1"},
	}
}

func keyed(title, key string) tool.Request {
	return tool.Request{
		Tool: "desk__create", Arguments: fmt.Appendf(nil, `{"title":%q}`, title), IdempotencyKey: key,
	}
}

func eachEngine(t *testing.T, test func(t *testing.T, open func() *sqldb.DB)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := address(t)
			var first *sqldb.DB
			test(t, func() *sqldb.DB {
				if first != nil && !first.Shared() {
					return first // SQLite serves one process
				}
				db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 8})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
					t.Fatal(err)
				}
				first = db
				return db
			})
		})
	}
}

// TestWriteTransactionsOfARun counts what a run costs the database.
func TestWriteTransactionsOfARun(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func() *sqldb.DB) {
		db := open()
		s := replica(t, db, &countingApp{})
		for _, tt := range []struct {
			name string
			in   tool.Request
			want uint64
		}{
			{"with a key", keyed("a", "k1"), 2},
			{"repeated", keyed("a", "k1"), 0},
			{"not safe to repeat, without a key", keyed("a", ""), 2},
			{"reading, without a key", tool.Request{Tool: "desk__search"}, 1},
			{"reading, with a key", tool.Request{Tool: "desk__search", IdempotencyKey: "k2"}, 2},
		} {
			before := db.Commits()
			if res, err := s.Run(t.Context(), caller(), tt.in); err != nil || !res.OK() {
				t.Fatalf("%s: Run = %+v, %v", tt.name, res, err)
			}
			if err := s.Settled(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := db.Commits() - before; got != tt.want {
				t.Errorf("%s: %d write transactions, want %d", tt.name, got, tt.want)
			}
		}
	})
}

// TestKeyedRun runs the same request on two replicas, one after the other.
func TestKeyedRun(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func() *sqldb.DB) {
		called := &countingApp{}
		one, two := replica(t, open(), called), replica(t, open(), called)
		first, err := one.Run(t.Context(), caller(), keyed("a", "k"))
		if err != nil || first.Replayed {
			t.Fatalf("Run = %+v, %v", first, err)
		}
		second, err := two.Run(t.Context(), caller(), keyed("a", "k"))
		if err != nil || !second.Replayed || second.Run.ID != first.Run.ID ||
			string(second.Output) != string(first.Output) {
			t.Errorf("the repeated Run = %+v, %v, want %+v", second, err, first)
		}
		if _, err := two.Run(t.Context(), caller(), keyed("b", "k")); !problem.Is(err, "idempotency_key_reused") {
			t.Errorf("Run of another request = %v, want idempotency_key_reused", err)
		}
		for name, change := range map[string]func(c *tool.Caller){
			"another API key": func(c *tool.Caller) { c.Key.ID = "key_2" },
			"another account": func(c *tool.Caller) { c.AccountID, c.Key.AccountID = "acc_b", "acc_b" },
		} {
			c := caller()
			change(c)
			if res, err := two.Run(t.Context(), c, keyed("b", "k")); err != nil || res.Replayed {
				t.Errorf("%s: Run = %+v, %v, want a run of its own", name, res, err)
			}
		}
		if n := called.calls.Load(); n != 3 {
			t.Errorf("the app was called %d times, want 3", n)
		}
	})
}

// TestKeyedRunsAtOnce sends the same request to two replicas many times at once.
func TestKeyedRunsAtOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, open func() *sqldb.DB) {
		called := &countingApp{release: make(chan struct{})}
		replicas := []*tool.Service{replica(t, open(), called), replica(t, open(), called)}
		const requests = 16
		results := make(chan error, requests)
		var all sync.WaitGroup
		for i := range requests {
			all.Go(func() {
				_, err := replicas[i%2].Run(t.Context(), caller(), keyed("a", "k"))
				results <- err
			})
		}
		for range requests - 1 { // all but the one that is held
			if err := <-results; !problem.Is(err, "idempotency_in_progress") {
				t.Errorf("Run = %v, want idempotency_in_progress", err)
			}
		}
		close(called.release)
		all.Wait()
		if err := <-results; err != nil {
			t.Errorf("the first Run = %v", err)
		}
		if n := called.calls.Load(); n != 1 {
			t.Errorf("the app was called %d times, want once", n)
		}
		if res, err := replicas[1].Run(t.Context(), caller(), keyed("a", "k")); err != nil || !res.Replayed {
			t.Errorf("Run afterwards = %+v, %v, want the first one", res, err)
		}
	})
}
