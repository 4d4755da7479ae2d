package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"ace/internal/config"
	"ace/internal/storage"
	"ace/internal/storefront/operatorhttp"
)

// Operators speak HTTP with the running server over a socket that only the
// owner of the process may open. Without a running server, the same handler is
// called in the operator's own process.

func controlSocket(cfg *config.Settings) string { return filepath.Join(cfg.DataDir, "control.sock") }

// control answers the handler for operators.
func (s *Server) control() http.Handler {
	mux := http.NewServeMux()
	store := storage.New(s.db, func() { s.worker.Wake() })
	mux.Handle("/", operatorhttp.New(s.orders, store, s.services, storage.Paid{Store: store}))
	vault := s.vaultControl()
	mux.Handle("/vault", vault)
	mux.Handle("/vault/", vault)
	platform := s.platform.control(s.cfg.PlatformBaseURL())
	for _, pattern := range []string{"/accounts", "/accounts/", "/keys/"} {
		mux.Handle(pattern, platform)
	}
	return mux
}

// serveControl serves the socket until ctx ends.
func (s *Server) serveControl(ctx context.Context) error {
	path := controlSocket(s.cfg)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing an old control socket: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("opening the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("closing the control socket to others: %w", err), listener.Close())
	}
	server := &http.Server{Handler: s.control(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(bound)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the control socket: %w", err)
	}
	return nil
}

// Operate answers a client for the operator's handler: of the server that runs
// on this data folder, or of one built for the occasion. Addresses are like
// http://ace/orders. Call done at the end.
func Operate(ctx context.Context, cfg *config.Settings) (client *http.Client, done func() error, err error) {
	path := controlSocket(cfg)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	if conn, err := dial(ctx, "", ""); err == nil {
		_ = conn.Close()
		return &http.Client{Transport: &http.Transport{DialContext: dial}}, func() error { return nil }, nil
	}
	s, err := New(ctx, cfg, slog.New(slog.DiscardHandler), Options{})
	if err != nil {
		return nil, nil, err
	}
	return &http.Client{Transport: inProcess{s.control()}}, s.close, nil
}

// Running reports whether a server runs on a data folder, on this machine and
// for this user.
func Running(ctx context.Context, dataDir string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", controlSocket(&config.Settings{DataDir: dataDir}))
	return err == nil && conn.Close() == nil
}

// inProcess calls a handler without a network.
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.handler.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
