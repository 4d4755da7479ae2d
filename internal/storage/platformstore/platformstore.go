// Package platformstore is the SQL of the platform host. Each file holds the
// statements of one aggregate and implements the port of the package that owns
// it:
//
//	accounts.go, sessions.go  account.Store
//	keys.go                   apikey.Store
//	audit.go                  audit.Store; entries that other changes bring along
//	connections*.go           connection.Store
//	oauthclients.go           clients.Store
//
// One text serves SQLite and PostgreSQL; every test runs on both.
package platformstore

import (
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/apikey"
)

// Store is the platform's part of the database.
type Store struct {
	db    *sqldb.DB
	lanes *jobs.Lanes

	keysByDigest      sqldb.Memo[string, *apikey.Key]
	connectorVersions sqldb.Memo[string, string] // by account
}

// New returns a store on an open, migrated database. Jobs that it schedules go
// to lanes; nil serves tests.
func New(db *sqldb.DB, lanes *jobs.Lanes) *Store { return &Store{db: db, lanes: lanes} }
