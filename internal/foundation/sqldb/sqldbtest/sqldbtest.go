// Package sqldbtest runs a test on every engine that sqldb knows.
//
//	sqldbtest.Run(t, migrations, func(t *testing.T, db *sqldb.DB) { … })
//
// SQLite is a file in the test's own folder. PostgreSQL is the server of
// ACE_TEST_POSTGRES_URL or, without it, a private cluster that the first test
// starts from the installed binaries and that ends with the test process; each
// test has a schema of its own. ACE_TEST_ENGINES=sqlite leaves PostgreSQL out.
package sqldbtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/typeid"
)

// Run calls test once per engine, on a fresh database with the migrations
// applied. The subtests run in parallel.
func Run(t *testing.T, migrations fs.FS, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	onEngines(t, func(t testing.TB) string { return Migrated(t, migrations) }, func(t *testing.T, dsn string) {
		test(t, open(t, dsn, migrations))
	})
}

// RunDSN calls test once per engine with the address of an empty database.
func RunDSN(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	onEngines(t, SQLite, test)
}

func onEngines(t *testing.T, sqlite func(testing.TB) string, test func(t *testing.T, dsn string)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{"sqlite": sqlite, "postgres": Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, address(t))
		})
	}
}

// SQLite returns the address of a database file that is not there yet.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "ace.db")
}

// templates holds migrated SQLite files by the digest of their migrations. The
// values are functions that return the file.
var templates sync.Map

// Migrated returns the address of a SQLite file with the migrations applied. They
// run once per process: each test gets a copy of the file. Parsing and running
// them for each test took a fifth of the time of tests that start a whole store.
func Migrated(t testing.TB, migrations fs.FS) string {
	t.Helper()
	digest, err := digestOf(migrations)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := templates.LoadOrStore(digest, sync.OnceValues(func() ([]byte, error) { return migrate(migrations) }))
	content, err := file.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ace.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

func digestOf(migrations fs.FS) (string, error) {
	digest := sha256.New()
	err := fs.WalkDir(migrations, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(migrations, name)
		_, _ = fmt.Fprintf(digest, "%s %d\n%s", name, len(text), text) // a digest accepts everything
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading the migrations: %w", err)
	}
	return string(digest.Sum(nil)), nil
}

// migrate returns a SQLite file with the migrations applied.
func migrate(migrations fs.FS) (content []byte, err error) {
	dir, err := os.MkdirTemp("", "ace-template-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "ace.db")
	ctx := context.Background() // the file outlives the first test that wants it
	db, err := sqldb.Open(ctx, "sqlite:"+path, nil)
	if err != nil {
		return nil, err
	}
	_, err = db.Migrate(ctx, migrations)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path) // closing has written the log into it
}

// Postgres returns the address of an empty schema, dropped after the test.
func Postgres(t testing.TB) string {
	t.Helper()
	if engines := os.Getenv("ACE_TEST_ENGINES"); engines != "" && !strings.Contains(engines, "postgres") {
		t.Skip("left out: ACE_TEST_ENGINES does not name postgres")
	}
	base := os.Getenv("ACE_TEST_POSTGRES_URL")
	if base == "" {
		var err error
		if base, err = privateCluster(); err != nil {
			t.Fatalf(
				"PostgreSQL for tests: %v (set ACE_TEST_POSTGRES_URL, install the server, or set "+
					"ACE_TEST_ENGINES=sqlite)", err)
		}
	}
	schema := strings.ReplaceAll(typeid.New("t"), "_", "")
	run(t, base, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { run(t, base, "DROP SCHEMA "+schema+" CASCADE") })
	return withSearchPath(t, base, schema)
}

func open(t testing.TB, dsn string, migrations fs.FS) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("closing the database: %v", err)
		}
	})
	if _, err := db.Migrate(t.Context(), migrations); err != nil {
		t.Fatal(err)
	}
	return db
}

func run(t testing.TB, dsn, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := execStatement(ctx, dsn, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func withSearchPath(t testing.TB, dsn, schema string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal("ACE_TEST_POSTGRES_URL cannot be read")
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

func execStatement(ctx context.Context, dsn, statement string) error {
	db, err := sqldb.Open(ctx, dsn, &sqldb.Options{MaxConns: 1})
	if err != nil {
		return err
	}
	if _, err = db.Reader().ExecContext(ctx, statement); err != nil {
		err = fmt.Errorf("running a statement: %w", err)
	}
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return err
}
