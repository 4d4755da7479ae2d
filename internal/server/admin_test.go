package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/config"
	"ace/internal/server/metrics"
)

// TestAdminIsGuarded holds that profiles are read by operators alone: not by a
// web page whose name leads to this machine, and not without the token where
// there is one.
func TestAdminIsGuarded(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	for _, tt := range []struct {
		name, token, host, sent, path string
		want                          int
	}{
		{"by address", "", "127.0.0.1:9464", "", "/debug/pprof/", 200},
		{"by IPv6 address", "", "[::1]:9464", "", "/debug/pprof/", 200},
		{"by localhost", "", "localhost:9464", "", "/debug/pprof/symbol", 200},
		{"by the name of a web page", "", "evil.example:9464", "", "/debug/pprof/", 421},
		{"heap by the name of a web page", "", "evil.example", "", "/debug/pprof/heap", 421},
		{"health by a name", "", "ace.internal", "", "/healthz", 200},
		{"without the token", token, "127.0.0.1:9464", "", "/debug/pprof/", 401},
		{"with a part of the token", token, "127.0.0.1:9464", token[:8], "/debug/pprof/", 401},
		{"with the token, by a name", token, "ace.internal", token, "/debug/pprof/", 200},
		{"health without the token", token, "10.0.0.1", "", "/healthz", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &Server{cfg: &config.Settings{}, metrics: metrics.New(metrics.Build{})}
			if tt.token != "" {
				s.cfg.AdminToken = filepath.Join(t.TempDir(), "token")
				if err := os.WriteFile(s.cfg.AdminToken, []byte(tt.token+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			h, err := s.admin()
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.path, nil)
			r.Host = tt.host
			if tt.sent != "" {
				r.Header.Set("Authorization", "Bearer "+tt.sent)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("GET %s of %s = %d %s, want %d", tt.path, tt.host, w.Code, w.Body, tt.want)
			}
		})
	}
	short := &Server{
		metrics: metrics.New(metrics.Build{}),
		cfg:     &config.Settings{AdminToken: filepath.Join(t.TempDir(), "short")},
	}
	if err := os.WriteFile(short.cfg.AdminToken, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := short.admin(); err == nil || !strings.Contains(err.Error(), "ACE_ADMIN_TOKEN_FILE") {
		t.Errorf("a short token = %v, want an error that names the setting", err)
	}
}

// TestPlatformAlone holds that a process that serves the platform alone needs no
// processor, and tells operators who ask for orders so.
func TestPlatformAlone(t *testing.T) {
	t.Parallel()
	h := newHostWith(t, Options{}, func(c *config.Settings) {
		c.Sandbox, c.PlatformURL = "auto", "https://platform.example"
	})
	ann := h.party(t, "ann")
	ann.must(http.StatusOK, http.MethodGet, "/me", "")
	w := httptest.NewRecorder()
	h.control().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/orders", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "store_not_served") {
		t.Errorf("orders of a platform alone = %d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	h.control().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/accounts", nil))
	if w.Code != http.StatusOK {
		t.Errorf("accounts of a platform alone = %d %s", w.Code, w.Body)
	}
}

// TestInterruptedStart holds that a server that has to end before it serves
// ends without an error.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	cfg := &config.Settings{
		Hosts: []string{
			"platform",
		},
		Sandbox:      "off",
		PlatformAddr: "127.0.0.1:0",
		DataDir:      t.TempDir(),
		RateLimit:    "off",
	}
	s, err := New(ctx, cfg, slog.New(slog.DiscardHandler), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run after the end = %v, want nil", err)
	}
}

// TestDisabledAccount holds that the keys and sign-ins of a disabled account are
// refused at once, and work again when it is enabled.
func TestDisabledAccount(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{})
	ann := h.party(t, "ann")
	operate := func(path string, want int) string {
		t.Helper()
		w := httptest.NewRecorder()
		h.control().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))
		if w.Code != want {
			t.Fatalf("POST %s = %d %s, want %d", path, w.Code, w.Body, want)
		}
		return w.Body.String()
	}
	ann.must(http.StatusOK, http.MethodGet, "/me", "")
	for range 2 { // twice is as once
		if text := operate("/accounts/ann/disable", http.StatusOK); !strings.Contains(text, "disabled_at") {
			t.Errorf("disabling an account returns %s", text)
		}
	}
	for _, person := range []bool{false, true} {
		path := "/api/v1/me"
		if person {
			path = "/api/v1/keys"
		}
		if got := ann.send(person, http.MethodGet, path, "", nil); got.Code != http.StatusUnauthorized {
			t.Errorf("a disabled account, person %v = %d %s, want 401", person, got.Code, got.Body)
		}
	}
	if text := operate("/accounts/ann/enable", http.StatusOK); strings.Contains(text, "disabled_at") {
		t.Errorf("enabling an account returns %s", text)
	}
	ann.must(http.StatusOK, http.MethodGet, "/me", "")
	if got := ann.send(true, http.MethodGet, "/api/v1/keys", "", nil); got.Code != http.StatusOK {
		t.Errorf("the sign-in of an account that was enabled = %d %s", got.Code, got.Body)
	}
	operate("/accounts/nobody/disable", http.StatusNotFound)
	entries := ann.send(true, http.MethodGet, "/api/v1/audit-log", "", nil).Body.String()
	if strings.Count(entries, `"account.disabled"`) != 1 || strings.Count(entries, `"account.enabled"`) != 1 {
		t.Errorf("the audit log has other entries than one of each: %s", entries)
	}
}
