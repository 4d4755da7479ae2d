// Package storage is all the SQL of both hosts. Each file holds the statements
// of one aggregate and implements the port of the package that owns it:
//
//	sessions.go, moves.go  checkout.Store, offer.Counter
//	orders.go, refunds.go  order.Store
//	jobs.go                jobs.Queue
//	idempotency.go         idempotency.Store
//	keys.go                keys for signatures, sealed
//	a2a.go                 a2a.Store
//
// One text serves SQLite and PostgreSQL; every test runs on both.
package storage

import (
	"embed"
	"io/fs"
	"sync/atomic"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the schema of both hosts, for sqldb.Migrate.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}

// Store is the database of both hosts.
type Store struct {
	db    *sqldb.DB
	lanes *jobs.Lanes
	// changes counts the writes of this process to what Taken counts.
	changes atomic.Uint64
}

// New returns a store on an open, migrated database. Jobs that it schedules go
// to lanes; nil serves tests.
func New(db *sqldb.DB, lanes *jobs.Lanes) *Store { return &Store{db: db, lanes: lanes} }
