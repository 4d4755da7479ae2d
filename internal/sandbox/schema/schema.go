// Package schema holds the tables of the sandbox's database. The parts of the
// sandbox share one file, so that one list of migrations says what is in it.
//
//	migrations/00001_objects.sql  the payment processor
//	migrations/00002_x402.sql     the x402 ledger
//	migrations/00003_notes.sql    the demo app
//
// Apply is called by each part when it is opened.
package schema

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"ace/internal/foundation/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the migrations of the sandbox's database, for sqldb.Migrate.
func Migrations() (fs.FS, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("reading the sandbox's migrations: %w", err)
	}
	return files, nil
}

// Apply brings db, which belongs to the sandbox alone, up to date.
func Apply(ctx context.Context, db *sqldb.DB) error {
	files, err := Migrations()
	if err != nil {
		return err
	}
	if _, err := db.Migrate(ctx, files); err != nil {
		return fmt.Errorf("preparing the sandbox's database: %w", err)
	}
	return nil
}
