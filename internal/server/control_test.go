package server

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/config"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
)

// socketDir is a folder whose name is short enough for the path of a socket.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ace") //nolint:usetesting // the path of a socket has 100 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestControlSocketOfAnotherProcessStays(t *testing.T) {
	t.Parallel()
	dir := socketDir(t)
	first, err := listenControl(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := listenControl(t.Context(), dir)
	if err != nil {
		t.Fatalf("a second process = %v, want a socket of its own", err)
	}
	if a, b := first.Addr().String(), second.Addr().String(); a == b || filepath.Base(a) != controlSocket ||
		!accepts(t.Context(), a) {
		t.Errorf("sockets %s and %s; the first must go on", a, b)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := servedSocket(t.Context(), dir); got != second.Addr().String() {
		t.Errorf("servedSocket = %q, want that of the process that is left", got)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if got := servedSocket(t.Context(), dir); got != "" {
		t.Errorf("servedSocket = %q, want none", got)
	}
}

func TestStaleControlSocketIsReplaced(t *testing.T) {
	t.Parallel()
	dir := socketDir(t)
	died, err := net.Listen("unix", filepath.Join(dir, controlSocket))
	if err != nil {
		t.Fatal(err)
	}
	died.(*net.UnixListener).SetUnlinkOnClose(false) // as a process that was killed leaves it
	if err := died.Close(); err != nil {
		t.Fatal(err)
	}
	if Running(t.Context(), dir) {
		t.Error("a stale socket counts as a running server")
	}
	next, err := listenControl(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = next.Close() }()
	if got := servedSocket(t.Context(), dir); filepath.Base(got) != controlSocket {
		t.Errorf("servedSocket = %q, want %s", got, controlSocket)
	}
}

func operate(ctx context.Context, cfg *config.Settings) error {
	_, done, err := Operate(ctx, cfg)
	if err != nil {
		return err
	}
	return done()
}

// Commands of operators neither create a store nor migrate one.
func TestOperateOnDatabasesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cfg := &config.Settings{DataDir: dir}
			dsn := address(t)
			if name == "postgres" {
				cfg.DatabaseURL = dsn
			} else {
				dsn = cfg.Database()
			}
			refused := func(step, want string) {
				t.Helper()
				if err := operate(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) ||
					strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: Operate = %v, want one sentence with %q", step, err, want)
				}
			}
			refused("empty", "there is no store in")
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("the folder holds %v, %v, want nothing", entries, err)
			}
			db, err := sqldb.Open(t.Context(), dsn, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
				t.Fatal(err)
			}
			set := func(statement string) {
				t.Helper()
				change, err := sqldb.Open(t.Context(), dsn, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = change.Close() }()
				exec(t, change, statement)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			set(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`)
			refused("newer", "a newer version of ace has used this database (schema 9999")
			if _, err := Migrate(
				t.Context(),
				cfg,
			); err == nil ||
				!strings.Contains(err.Error(), "a newer version of ace") {
				t.Errorf("Migrate of a newer schema = %v", err)
			}
			set(`DELETE FROM goose_db_version WHERE version_id >= 27`)
			refused("older", "ace migrate")
		})
	}
}
