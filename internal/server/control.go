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
	"strconv"
	"strings"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/server/metrics"
	"ace/internal/storage"
	"ace/internal/storefront/operatorhttp"
)

// Operators speak HTTP with the running server over a socket that only the
// owner of the process may open. Without a running server, the same handler is
// called in the operator's own process: on the database as it is, which is
// neither created nor migrated.
//
// With PostgreSQL, several processes may share a data folder. The first has the
// socket control.sock; a further one has control-PID.sock. A socket is stale if
// nothing accepts a connection there.

const controlSocket = "control.sock"

// control returns the handler for operators.
func (s *Server) control() http.Handler {
	mux := http.NewServeMux()
	store := storage.New(s.db, s.lanes)
	if s.sales != nil {
		mux.Handle("/", operatorhttp.New(s.orders, store, s.services, storage.Paid{Store: store}))
	} else {
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			httpserver.WriteProblem(w, r, problem.New(problem.NotFound, "store_not_served",
				"This process serves the platform alone: ask one that serves the store."))
		})
	}
	mux.HandleFunc("POST /resume", s.resume)
	vault := s.vaultControl()
	mux.Handle("/vault", vault)
	mux.Handle("/vault/", vault)
	platform := s.platform.control(s.cfg.PlatformBaseURL())
	for _, pattern := range []string{
		"/accounts", "/accounts/", "/keys/", "/triggers/", "/oauth-clients", "/oauth-clients/",
	} {
		mux.Handle(pattern, platform)
	}
	return mux
}

// serveControl serves the socket until ctx ends.
func (s *Server) serveControl(ctx context.Context) error {
	listener, err := listenControl(ctx, s.cfg.DataDir)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.control(), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(bound)
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the control socket: %w", err)
	}
	return nil
}

// listenControl opens the control socket of this process. It replaces a socket
// only if nothing accepts connections there.
func listenControl(ctx context.Context, dir string) (net.Listener, error) {
	// Two processes that start together must not both replace a stale socket.
	unlock, err := lockFolder(filepath.Join(dir, "control.lock"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }()
	path := filepath.Join(dir, controlSocket)
	if accepts(ctx, path) {
		path = filepath.Join(dir, "control-"+strconv.Itoa(os.Getpid())+".sock")
	}
	if accepts(ctx, path) {
		return nil, fmt.Errorf("another process serves operators at %s", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("removing the control socket of a process that has ended: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("closing the control socket to others: %w", err), listener.Close())
	}
	return listener, nil
}

// accepts reports whether a process serves a socket.
func accepts(ctx context.Context, path string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	return err == nil && conn.Close() == nil
}

// servedSocket returns the control socket of a server that runs on a data
// folder, or "".
func servedSocket(ctx context.Context, dir string) string {
	first := filepath.Join(dir, controlSocket)
	others, _ := filepath.Glob(filepath.Join(dir, "control-*.sock")) // the pattern is good
	for _, path := range append([]string{first}, others...) {
		if accepts(ctx, path) {
			return path
		}
	}
	return ""
}

// Operate returns a client for the operator's handler: of the server that runs
// on this data folder, or of one built for the occasion, on a database that
// exists and fits this version. URLs are like http://ace/orders. Call done at
// the end.
func Operate(ctx context.Context, cfg *config.Settings) (client *http.Client, done func() error, err error) {
	if path := servedSocket(ctx, cfg.DataDir); path != "" {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		return &http.Client{Transport: &http.Transport{DialContext: dial}}, func() error { return nil }, nil
	}
	s := &Server{
		cfg: cfg, log: slog.New(slog.DiscardHandler), operator: true, lanes: jobs.NewLanes(jobLanes()),
		metrics: metrics.New(metrics.Build{}),
	}
	done = func() error { return s.close(context.WithoutCancel(ctx)) }
	if err := s.build(ctx); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return &http.Client{Transport: inProcess{s.control()}}, done, nil
}

// openExisting opens a database that a server has used before. It creates and
// changes nothing.
func openExisting(ctx context.Context, cfg *config.Settings) (*sqldb.DB, error) {
	none := fmt.Errorf("there is no store in %s: start one with ace serve, or name its folder with ACE_DATA_DIR",
		cfg.DataDir)
	if path, ok := strings.CutPrefix(cfg.Database(), "sqlite:"); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, none
		}
	} else {
		none = errors.New("there is no store in the database of ACE_DATABASE_URL: start one with ace serve")
	}
	db, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	schema, err := db.Schema(ctx, storage.Migrations())
	switch {
	case err != nil:
	case schema.Version == 0:
		err = none
	case schema.Version > schema.Newest:
		err = newerSchema(schema)
	case schema.Pending > 0:
		err = errors.New("the database is of an older version: bring it up to date with ace migrate or ace serve")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// newerSchema says that a later version of ace has used the database.
func newerSchema(s sqldb.Schema) error {
	return fmt.Errorf("a newer version of ace has used this database (schema %d, this version knows %d): "+
		"run that version, or a later one", s.Version, s.Newest)
}

// Running reports whether a server runs on a data folder, on this machine and
// for this user.
func Running(ctx context.Context, dataDir string) bool { return servedSocket(ctx, dataDir) != "" }

// inProcess calls a handler without a network.
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.handler.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}
