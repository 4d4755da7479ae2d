package server

import (
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ace/internal/config"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
	"ace/internal/storage/backup"
)

// TestRestoreDrill restores a backup that was taken while accounts came and went:
// their keys work on the restored server, and everything that would repeat what
// the world has seen waits until the operator resumes it.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		first := newHostWith(t, Options{}, func(c *config.Settings) {
			if strings.HasPrefix(dsn, "postgres") {
				c.DatabaseURL = dsn
			}
		})
		ann := first.party(t, "ann")
		dir, m, err := Backup(t.Context(), first.cfg, filepath.Join(t.TempDir(), "backups"), "v1")
		if err != nil {
			t.Fatal(err)
		}
		if m.Tables["account"].Rows != 1 || m.KEK == "" {
			t.Errorf("the backup has %d accounts, its key is %q", m.Tables["account"].Rows, m.KEK)
		}
		first.party(t, "later") // no longer in the backup
		if _, err := Restore(t.Context(), first.cfg, dir); err == nil {
			t.Error("a backup was restored under a server that runs")
		}

		second := newHostWith(t, Options{}, func(c *config.Settings) {
			copied := *c // the host has not written its key yet: it is that of the first
			copied.MasterKey = first.cfg.MasterKeyFile()
			if _, err := Restore(t.Context(), &copied, dir); err != nil {
				t.Fatal(err)
			}
		})
		again := *ann
		again.host, again.t = second, t
		again.must(http.StatusOK, http.MethodGet, "/me", "")

		handlers := second.handlers()
		held, err := second.splitHeld(t.Context(), handlers)
		want := heldKinds()
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(held)); err != nil || !slices.Equal(got, want) || second.held == nil {
			t.Errorf("held are %v, %v, want %v", got, err, want)
		}
		for _, kind := range want {
			if _, ok := handlers[kind]; ok {
				t.Errorf("%s is held and done", kind)
			}
		}
		w := httptest.NewRecorder()
		second.control().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/resume", nil))
		if at, err := backup.Held(
			t.Context(),
			second.db,
		); w.Code != http.StatusNoContent || err != nil ||
			!at.IsZero() {
			t.Errorf("POST /resume = %d, held as of %v, %v", w.Code, at, err)
		}
	})
}

// TestMoveNeedsAStoppedServer holds that no row is lost to a server that goes on
// writing into the database that was moved.
func TestMoveNeedsAStoppedServer(t *testing.T) {
	t.Parallel()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		target := sqldbtest.SQLite(t)
		if _, err := MoveDatabase(t.Context(), "sqlite:"+t.TempDir()+"/none.db", target); err == nil {
			t.Error("a database that is not there was moved")
		}
		cfg := &config.Settings{DataDir: t.TempDir(), DatabaseURL: dsn}
		if err := makePrivate(cfg.DataDir); err != nil {
			t.Fatal(err)
		}
		s := &Server{cfg: cfg, log: slog.New(slog.DiscardHandler)}
		var err error
		if s.db, err = sqldb.Open(t.Context(), dsn, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.db.Migrate(t.Context(), storage.Migrations()); err != nil {
			t.Fatal(err)
		}
		if err := s.openVault(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := MoveDatabase(t.Context(), dsn, target); err == nil {
			t.Error("a database that a server uses was moved")
		}
		if err := s.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows, err := MoveDatabase(t.Context(), dsn, target); err != nil || rows == 0 {
			t.Errorf("MoveDatabase = %d rows, %v", rows, err)
		}
	})
}
