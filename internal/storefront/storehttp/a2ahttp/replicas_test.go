package a2ahttp_test

import (
	"fmt"
	"sync"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/a2a"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/a2ahttp"
)

// replicas are agents over one database, and one world of checkouts.
func replicas(t *testing.T, dsn string, n int) []*world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	shared := newSales()
	all := make([]*world, n)
	for i := range all {
		all[i] = setup(t,
			func(d *a2ahttp.Deps) { d.Tasks, d.Sales = storage.Tasks{Store: storage.New(db, nil)}, shared })
		all[i].sales = shared
	}
	return all
}

// TestReplicas has several services over one database: a task is the same in
// all of them, no matter which made it and which changes it.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := replicas(t, address(t), 2)
			a, b := all[0], all[1]
			const mine = "context-of-some-length"

			task := a.send(message("1", dataPart(buyBox), `"contextId":"`+mine+`"`))
			if again := b.send(message("1", dataPart(buyBox), `"contextId":"`+mine+`"`)); again.ID != task.ID {
				t.Errorf("repeated at the other: %s, want %s", again.ID, task.ID)
			}
			if page := b.list(`{"contextId":"` + mine + `"}`); len(page.Tasks) != 1 || page.Tasks[0].ID != task.ID {
				t.Errorf("listed at the other: %+v", page)
			}
			a.sales.move(a.sales.only(t).ID, checkout.Completed, "")
			var both sync.WaitGroup
			for _, w := range all {
				both.Go(func() {
					if got := w.get(task.ID); got.Status.State != a2a.Completed || len(got.Artifacts) != 1 {
						t.Errorf("read while the other reads it: %+v", got)
					}
				})
			}
			both.Wait()

			asks := a.send(message("2", hello, `"contextId":"`+mine+`"`))
			done := b.send(message("3", dataPart(search), `"taskId":"`+asks.ID+`"`))
			if got := a.get(asks.ID); got.Status.State != a2a.Completed || len(got.History) != len(done.History) {
				t.Errorf("what the other completed = %+v", got)
			}
		})
	}
}

// TestReplicasAtOnce sends one message to all of them at once, many times over.
func TestReplicasAtOnce(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := replicas(t, address(t), 2)
			const rounds = 5
			for i := range rounds {
				var mu sync.Mutex
				ids := map[string]bool{}
				var round sync.WaitGroup
				for n := range 6 {
					round.Go(func() {
						task := all[n%len(all)].send(message(fmt.Sprintf("message-of-round-%d", i), dataPart(buyBox)))
						mu.Lock()
						defer mu.Unlock()
						ids[task.ID] = true
					})
				}
				round.Wait()
				if len(ids) != 1 {
					t.Errorf("round %d: tasks %v, want one", i, ids)
				}
			}
			if n := len(all[0].sales.sessions); n != rounds {
				t.Errorf("there are %d sessions, want %d", n, rounds)
			}
		})
	}
}
