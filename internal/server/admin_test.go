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
			s := &Server{cfg: &config.Settings{}}
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
	short := &Server{cfg: &config.Settings{AdminToken: filepath.Join(t.TempDir(), "short")}}
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
