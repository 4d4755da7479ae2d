package server

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/seal/kek/transittest"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage/row"
)

// vaultServer is a server of which only database, vault and front are there.
func vaultServer(t *testing.T, cfg *config.Settings, log *slog.Logger) (*Server, error) {
	t.Helper()
	s := &Server{cfg: cfg, log: log}
	var err error
	if s.db, err = openDatabase(t.Context(), cfg); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = s.db.Close() })
	if err := s.openVault(t.Context()); err != nil {
		return nil, err
	}
	s.front = httpserver.New(log,
		[]httpserver.Listener{{Name: "x", Addr: "127.0.0.1:0", Handler: http.NotFoundHandler()}}, nil)
	return s, nil
}

// Readiness says so when a replica cannot open what others seal, and the
// operator's handler when the service refuses; nothing anywhere shows the token.
func TestVaultTroubleIsTold(t *testing.T) {
	t.Parallel()
	sqldbtest.RunDSN(t, func(t *testing.T, dsn string) {
		kms := transittest.Start(t)
		var log bytes.Buffer
		cfg := &config.Settings{
			DataDir: t.TempDir(), KEKURL: kms.Address(), KEKTokenFile: transittest.TokenFile(t),
			DatabaseURL: dsn,
		}
		s, err := vaultServer(t, cfg, slog.New(slog.NewJSONHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if files, _ := filepath.Glob(filepath.Join(cfg.DataDir, "master.key")); len(files) > 0 {
			t.Error("a master key file was made although a service wraps")
		}
		if err := s.front.Listen(t.Context()); err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.front.Run(running) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		ready := func() (int, string) {
			w := httptest.NewRecorder()
			s.ready(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			return w.Code, w.Body.String()
		}
		for !s.front.Ready() {
			time.Sleep(time.Millisecond)
		}
		if code, text := ready(); code != http.StatusOK {
			t.Errorf("readyz = %d %s", code, text)
		}
		// Others use a key that this replica cannot read.
		exec(t, s.db, `UPDATE keyset SET revision = revision + 1, primary_id = 'ffffffff'`)
		kms.Refuse(http.StatusForbidden, "permission denied")
		s.vault.Refresh(t.Context())
		code, text := ready()
		if code != http.StatusServiceUnavailable || !strings.Contains(text, "ACE_KEK_TOKEN_FILE") {
			t.Errorf("readyz = %d %s, want 503 with ACE_KEK_TOKEN_FILE", code, text)
		}
		w := httptest.NewRecorder()
		s.vaultControl().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/vault/rewrap", nil))
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "vault_unavailable") {
			t.Errorf("rewrap = %d %s, want 503 vault_unavailable", w.Code, w.Body)
		}
		for _, said := range []string{text, w.Body.String(), log.String()} {
			if strings.Contains(said, transittest.Token) {
				t.Errorf("the token is disclosed: %s", said)
			}
		}
		kms.Fail(nil)
		s.vault.Refresh(t.Context())
		if code, text := ready(); code != http.StatusOK {
			t.Errorf("readyz after the service is back = %d %s", code, text)
		}
	})
}

// The operator's calls move a keyset from the file to a service.
func TestVaultControl(t *testing.T) {
	t.Parallel()
	kms := transittest.Start(t)
	cfg := &config.Settings{DataDir: t.TempDir()}
	quiet := slog.New(slog.DiscardHandler)
	s, err := vaultServer(t, cfg, quiet)
	if err != nil {
		t.Fatal(err)
	}
	at := seal.Place{Table: "signing_key", Column: "sealed", Row: "a"}
	text, err := s.sealer.Seal([]byte("sesame"), at)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, s.db, `INSERT INTO signing_key (name, sealed) VALUES ('a', $1)`, text)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.KEKURL, cfg.KEKTokenFile, cfg.KEKOldURL = kms.Address(), transittest.TokenFile(t), "file://"+
		filepath.Join(cfg.DataDir, "master.key")
	if s, err = vaultServer(t, cfg, quiet); err != nil {
		t.Fatal(err)
	}
	call := func(method, path string) VaultProgress {
		t.Helper()
		w := httptest.NewRecorder()
		s.vaultControl().ServeHTTP(w, httptest.NewRequest(method, path, nil))
		var p VaultProgress
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s %s = %d %s", method, path, w.Code, w.Body)
		}
		return p
	}
	if p := call(http.MethodGet, "/vault"); p.Status.Settled {
		t.Error("settled before rewrap")
	}
	if p := call(http.MethodPost, "/vault/rewrap"); !p.Status.Settled || !strings.HasPrefix(p.Status.KEK, "hcvault ") {
		t.Errorf("after rewrap: %+v", p.Status)
	}
	if err := s.vault.Rotate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		done = call(http.MethodPost, "/vault/work").Done
	}
	if p := call(http.MethodGet, "/vault"); p.Status.Left != 0 || p.Status.Values != 1 {
		t.Errorf("after a rotation: %+v", p.Status)
	}
	w := httptest.NewRecorder()
	s.vaultControl().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/vault/keys/00000000", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("enabling a made-up key = %d %s, want 404", w.Code, w.Body)
	}
}

func exec(t *testing.T, db *sqldb.DB, statement string, args ...any) {
	t.Helper()
	err := db.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := row.Exec(t.Context(), tx, statement, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
