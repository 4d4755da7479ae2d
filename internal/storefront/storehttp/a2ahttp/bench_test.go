package a2ahttp_test

import (
	"fmt"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/a2a"
	"ace/internal/storage"
	"ace/internal/storefront/storehttp/a2ahttp"
)

// onSQLite is an agent whose tasks are in a file.
func onSQLite(b *testing.B) *world {
	b.Helper()
	db, err := sqldb.Open(b.Context(), sqldbtest.SQLite(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Errorf("closing: %v", err)
		}
	})
	if _, err := db.Migrate(b.Context(), storage.Migrations()); err != nil {
		b.Fatal(err)
	}
	return setup(b, func(d *a2ahttp.Deps) { d.Tasks = storage.Tasks{Store: storage.New(db, nil)} })
}

// BenchmarkSend handles a message with an action that does nothing: what is left
// is reading it, the task, and keeping that in a database.
func BenchmarkSend(b *testing.B) {
	w := onSQLite(b)
	n := 0
	for b.Loop() {
		n++
		w.send(message(fmt.Sprint("message-of-the-benchmark-", n), dataPart(search)))
	}
}

// BenchmarkGet reads a task.
func BenchmarkGet(b *testing.B) {
	w := onSQLite(b)
	id := w.send(message("1", dataPart(search))).ID
	for b.Loop() {
		w.get(id)
	}
}

// BenchmarkRefuse refuses a request for a task that is not there.
func BenchmarkRefuse(b *testing.B) {
	w := setup(b)
	for b.Loop() {
		if f := w.call("GetTask", `{"id":"task_none"}`, &a2a.Task{}); f == nil {
			b.Fatal("the task is there")
		}
	}
}
