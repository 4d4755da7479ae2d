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
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/typeid"
)

// Run calls test once per engine, on a fresh database with the migrations
// applied. The subtests run in parallel.
func Run(t *testing.T, migrations fs.FS, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	RunDSN(t, func(t *testing.T, dsn string) {
		test(t, open(t, dsn, migrations))
	})
}

// RunDSN calls test once per engine with the address of an empty database.
func RunDSN(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, address(t))
		})
	}
}

// SQLite answers the address of a database file that is not there yet.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "ace.db")
}

// Postgres answers the address of an empty schema, dropped after the test.
func Postgres(t testing.TB) string {
	t.Helper()
	if engines := os.Getenv("ACE_TEST_ENGINES"); engines != "" && !strings.Contains(engines, "postgres") {
		t.Skip("left out: ACE_TEST_ENGINES does not name postgres")
	}
	base := os.Getenv("ACE_TEST_POSTGRES_URL")
	if base == "" {
		var err error
		if base, err = privateCluster(); err != nil {
			t.Fatalf("PostgreSQL for tests: %v (set ACE_TEST_POSTGRES_URL, install the server, or set ACE_TEST_ENGINES=sqlite)", err)
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
