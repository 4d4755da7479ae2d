package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Listener is one address and what is served there.
type Listener struct {
	Name    string       // "store"; unique in a Server; named in errors and logs
	Addr    string       // host:port; port 0 takes a free one
	Setting string       // the setting that holds Addr, named when it cannot be bound
	Handler http.Handler // usually a Chain around a Mux
	TLS     *tls.Config  // nil: plain HTTP; otherwise it must hold certificates
}

// Options are the settings of a Server that have defaults.
type Options struct {
	// ReadHeaderTimeout bounds the reading of a request's header. Default 5 s.
	ReadHeaderTimeout time.Duration
	// ReadTimeout bounds the reading of a whole request. Default 30 s.
	ReadTimeout time.Duration
	// WriteTimeout bounds a request from the end of its header to the end of
	// the response. Default 60 s, which leaves room for a long poll of 30 s;
	// AllowTime moves it for one route.
	WriteTimeout time.Duration
	// IdleTimeout closes a kept-alive connection without a request. Default 120 s.
	IdleTimeout time.Duration
	// MaxHeaderBytes bounds a request's header. Default 32 KiB.
	MaxHeaderBytes int
	// DrainDelay is the time between "not ready" and refusing connections, so
	// that a balancer can take the process out. Long polls go on meanwhile: a
	// client that was answered would only come back. Default 0.
	DrainDelay time.Duration
	// DrainTimeout bounds the wait for requests in flight. Default 20 s.
	DrainTimeout time.Duration
}

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	setDefault(&out.ReadHeaderTimeout, 5*time.Second)
	setDefault(&out.ReadTimeout, 30*time.Second)
	setDefault(&out.WriteTimeout, 60*time.Second)
	setDefault(&out.IdleTimeout, 120*time.Second)
	setDefault(&out.MaxHeaderBytes, 32<<10)
	setDefault(&out.DrainTimeout, 20*time.Second)
	return out
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// Server serves a set of listeners that start and stop together.
type Server struct {
	log       *slog.Logger
	listeners []Listener
	options   Options
	bound     []net.Listener
	ready     atomic.Bool
	draining  chan struct{}
}

// New returns a server that has bound nothing yet. Nil options are the
// defaults.
func New(log *slog.Logger, listeners []Listener, o *Options) *Server {
	return &Server{log: log, listeners: listeners, options: o.withDefaults(), draining: make(chan struct{})}
}

// Listen binds every address, or none: the error names the listener, its
// address, the cause in plain words and the setting to change. Connections
// queue until Run.
func (s *Server) Listen(ctx context.Context) error {
	var config net.ListenConfig
	for _, l := range s.listeners {
		bound, err := config.Listen(ctx, "tcp", l.Addr)
		if err != nil {
			s.closeBound()
			return bindError(l, err)
		}
		s.bound = append(s.bound, bound)
	}
	return nil
}

func (s *Server) closeBound() {
	for _, b := range s.bound {
		_ = b.Close() // nothing was served; the cause of the failure is reported
	}
	s.bound = nil
}

func bindError(l Listener, err error) error {
	why := "the address cannot be used"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		why = "another program already listens there"
	case errors.Is(err, syscall.EACCES):
		why = "this user may not open that port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		why = "this machine does not have that address"
	}
	advice := ""
	if l.Setting != "" {
		advice = "; choose another address with " + l.Setting
	}
	return fmt.Errorf("%s cannot listen on %s: %s%s: %w", l.Name, l.Addr, why, advice, err)
}

// Addr is the bound address of the listener with that name, with the real
// port, or "" when nothing is bound under that name.
func (s *Server) Addr(name string) string {
	for i, l := range s.listeners {
		if l.Name == name && i < len(s.bound) {
			return s.bound[i].Addr().String()
		}
	}
	return ""
}

// Ready reports whether the process should get new requests: true from the
// moment Run serves until it is stopped.
func (s *Server) Ready() bool { return s.ready.Load() }

// Run serves until ctx ends, drains, and returns nil when every request in
// flight was answered. It binds first if Listen was not called. When one
// listener fails, all stop and the failure is returned. A second signal is the
// caller's affair: Run does not look at signals.
func (s *Server) Run(ctx context.Context) error {
	if s.bound == nil {
		if err := s.Listen(ctx); err != nil {
			return err
		}
	}
	base, cut := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), drainKey{}, s.draining))
	defer cut()

	servers := make([]*http.Server, len(s.listeners))
	requests := make([]atomic.Int64, len(s.listeners)) // in flight
	failed := make(chan error, len(s.listeners))
	for i, l := range s.listeners {
		l.Handler = counted(&requests[i], l.Handler)
		servers[i] = s.httpServer(base, l)
		go func() { failed <- serve(servers[i], s.bound[i], l) }()
	}
	s.ready.Store(true)

	var failure error
	select {
	case <-ctx.Done():
	case failure = <-failed:
	}
	s.ready.Store(false)
	if failure == nil {
		time.Sleep(s.options.DrainDelay)
	}
	close(s.draining)
	return errors.Join(failure, s.drain(servers, requests))
}

// counted counts the requests that are in flight.
func counted(requests *atomic.Int64, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		defer requests.Add(-1)
		h.ServeHTTP(w, r)
	})
}

func (s *Server) httpServer(base context.Context, l Listener) *http.Server {
	return &http.Server{
		Handler:           l.Handler,
		TLSConfig:         l.TLS.Clone(),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: s.options.ReadHeaderTimeout,
		ReadTimeout:       s.options.ReadTimeout,
		WriteTimeout:      s.options.WriteTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    s.options.MaxHeaderBytes,
		// The standard server reports here what strangers do to it: broken
		// handshakes and scans. It is worth no more than a debug line.
		ErrorLog: slog.NewLogLogger(s.log.With("listener", l.Name).Handler(), slog.LevelDebug),
	}
}

func serve(server *http.Server, bound net.Listener, l Listener) error {
	var err error
	if l.TLS != nil {
		err = server.ServeTLS(bound, "", "")
	} else {
		err = server.Serve(bound)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving %s: %w", l.Name, err)
}

// drain stops the servers: gently up to the bound, then by cutting what is
// left. A connection that has sent nothing yet is no request: clients open some
// in advance, and the standard server waits for those, too.
func (s *Server) drain(servers []*http.Server, requests []atomic.Int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.DrainTimeout)
	defer cancel()
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			server.SetKeepAlivesEnabled(false)
			if err := server.Shutdown(ctx); err == nil {
				return
			}
			if requests[i].Load() > 0 {
				errs[i] = fmt.Errorf("%s still had requests in flight after %s; they were cut", s.listeners[i].Name,
					s.options.DrainTimeout)
			}
			_ = server.Close() // the log entry above already reports it
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// Draining returns a channel that is closed when the listeners close, after the
// drain delay.
func (s *Server) Draining() <-chan struct{} { return s.draining }

type drainKey struct{}

// Draining returns a channel that is closed when the server of ctx's request
// closes its listeners. A long poll that sees it responds with what it has. The
// channel is nil, which never fires, outside of a Server.
func Draining(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(drainKey{}).(chan struct{})
	return c
}
