package sqldb

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// ErrInUse says that another process holds the SQLite file.
var ErrInUse = errors.New("another process uses this database; stop it, or use PostgreSQL for several processes")

// Migrate brings the schema up to the newest of the *.sql files at the root
// of migrations (goose format) and returns how many it applied. Replicas that
// start together wait for one another.
func (db *DB) Migrate(ctx context.Context, migrations fs.FS) (applied int, err error) {
	schema, err := db.Schema(ctx, migrations)
	if err != nil {
		return 0, err
	}
	if err := schema.newer(); err != nil {
		return 0, err
	}
	provider, err := db.provider(ctx, migrations)
	if err != nil {
		return 0, err
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrating the database: %w", err)
	}
	return len(results), nil
}

// Pending returns how many migrations Migrate would apply.
func (db *DB) Pending(ctx context.Context, migrations fs.FS) (int, error) {
	provider, err := db.provider(ctx, migrations)
	if err != nil {
		return 0, err
	}
	status, err := provider.Status(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the state of migrations: %w", err)
	}
	pending := 0
	for _, s := range status {
		if s.State == goose.StatePending {
			pending++
		}
	}
	return pending, nil
}

func (db *DB) provider(ctx context.Context, migrations fs.FS) (*goose.Provider, error) {
	dialect := goose.DialectSQLite3
	opts := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if db.engine == enginePostgres {
		dialect = goose.DialectPostgres
		locker, err := db.migrationLock(ctx)
		if err != nil {
			return nil, fmt.Errorf("preparing the migration lock: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(dialect, db.write, migrations, opts...)
	if err != nil {
		return nil, fmt.Errorf("reading migrations: %w", err)
	}
	return provider, nil
}

// migrationLock is held by the replica that migrates; others wait for it, five
// minutes at most. Advisory locks belong to a whole database: each schema has one of
// its own, so that several installations in a database do not wait for one another.
func (db *DB) migrationLock(ctx context.Context) (lock.SessionLocker, error) {
	var schema string
	if err := db.write.QueryRowContext(ctx, "SELECT coalesce(current_schema(), '')").Scan(&schema); err != nil {
		return nil, err
	}
	digest := fnv.New64a()
	_, _ = io.WriteString(digest, "ace migrations "+schema) // a digest accepts everything
	return lock.NewPostgresSessionLocker(lock.WithLockID(int64(digest.Sum64())), lock.WithLockTimeout(1, 300))
}
