package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// ErrNewerSchema says that a later version of the program has migrated the
// database.
var ErrNewerSchema = errors.New("the database is of a newer version of this program")

// Schema is what Migrate has done to a database so far.
type Schema struct {
	Version int64 // of the newest migration that was applied; 0: none was
	Newest  int64 // of the newest migration that the program knows
	Pending int   // migrations that Migrate would apply
}

// Schema reads the state of the schema. It writes nothing, and returns the zero
// Version for a database that was never migrated.
func (db *DB) Schema(ctx context.Context, migrations fs.FS) (Schema, error) {
	files, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return Schema{}, fmt.Errorf("reading migrations: %w", err)
	}
	applied, err := db.appliedVersions(ctx)
	if err != nil {
		return Schema{}, err
	}
	var s Schema
	for version := range applied {
		s.Version = max(s.Version, version)
	}
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return Schema{}, fmt.Errorf("reading the number of migration %s: %w", file, err)
		}
		s.Newest = max(s.Newest, version)
		if !applied[version] {
			s.Pending++
		}
	}
	return s, nil
}

// newer returns ErrNewerSchema if the database has migrations that the program
// does not know.
func (s Schema) newer() error {
	if s.Version <= s.Newest {
		return nil
	}
	return fmt.Errorf(
		"%w: its schema is %d and the newest that is known here is %d",
		ErrNewerSchema,
		s.Version,
		s.Newest,
	)
}

func (db *DB) appliedVersions(ctx context.Context) (map[int64]bool, error) {
	applied := map[int64]bool{}
	rows, err := db.read.QueryContext(ctx, `SELECT version_id FROM `+goose.DefaultTablename+` WHERE is_applied`)
	if missingTable(err) {
		return applied, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the version of the schema: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var version int64
		if err := rows.Scan(&version); err != nil {
			return nil, fmt.Errorf("reading the version of the schema: %w", err)
		}
		applied[version] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the version of the schema: %w", err)
	}
	return applied, nil
}

func missingTable(err error) bool {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "42P01"
	}
	return err != nil && strings.Contains(err.Error(), "no such table")
}
