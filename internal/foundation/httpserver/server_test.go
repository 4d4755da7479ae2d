package httpserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
)

// start runs a server with one listener on a free port. stop ends its context
// and returns what Run returned.
func start(t *testing.T, h http.Handler, o *httpserver.Options) (srv *httpserver.Server, base string,
	stop func() error,
) {
	t.Helper()
	srv = httpserver.New(slog.New(slog.DiscardHandler),
		[]httpserver.Listener{{Name: "store", Addr: "127.0.0.1:0", Handler: h}}, o)
	if err := srv.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	var ended bool
	stop = func() error {
		cancel()
		if ended {
			return nil
		}
		ended = true
		return <-done
	}
	t.Cleanup(func() { _ = stop() })
	return srv, "http://" + srv.Addr("store"), stop
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

func TestListenNamesTheSetting(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	srv := httpserver.New(slog.New(slog.DiscardHandler), []httpserver.Listener{
		{Name: "platform", Addr: "127.0.0.1:0", Handler: http.NotFoundHandler()},
		{Name: "store", Addr: taken.Addr().String(), Setting: "ACE_STORE_ADDR", Handler: http.NotFoundHandler()},
	}, nil)
	err = srv.Run(t.Context())
	if err == nil {
		t.Fatal("Run on a taken address = nil, want an error")
	}
	for _, want := range []string{"store", taken.Addr().String(), "already listens", "ACE_STORE_ADDR"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Run = %q, want it to say %q", err, want)
		}
	}
	if got := srv.Addr("platform"); got != "" {
		t.Errorf("Addr(platform) = %q after a failed bind, want nothing bound", got)
	}
}

func TestRunDrains(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "done")
	})
	srv, base, stop := start(t, mux, nil)
	answer := make(chan string, 1)
	go func() { answer <- get(t, base+"/slow") }()
	<-entered
	if !srv.Ready() {
		t.Error("Ready() = false while serving, want true")
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	for srv.Ready() {
		time.Sleep(time.Millisecond)
	}
	close(release)
	if got := <-answer; got != "done" {
		t.Errorf("request in flight answered %q, want done", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Run = %v, want nil after a clean drain", err)
	}
}

func TestLongPollsAreToldToFinish(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	_, base, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		select {
		case <-httpserver.Draining(r.Context()):
			_, _ = io.WriteString(w, "what I have")
		case <-r.Context().Done():
		}
	}), nil)
	answer := make(chan string, 1)
	go func() { answer <- get(t, base) }()
	<-entered
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if got := <-answer; got != "what I have" {
		t.Errorf("long poll answered %q, want what it had", got)
	}
}

func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	cut := make(chan error, 1)
	_, base, stop := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		cut <- r.Context().Err()
	}), &httpserver.Options{DrainTimeout: 20 * time.Millisecond})
	go func() { get(t, base) }()
	<-entered
	if err := stop(); err == nil || !strings.Contains(err.Error(), "still had requests in flight") {
		t.Errorf("Run = %v, want it to say that requests were cut", err)
	}
	if err := <-cut; !errors.Is(err, context.Canceled) {
		t.Errorf("context of a cut request = %v, want canceled", err)
	}
}

// Clients open connections in advance: one that has sent nothing is not waited
// for, and is no request that was cut.
func TestDrainWithAnUnusedConnection(t *testing.T) {
	t.Parallel()
	_, base, stop := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "served")
	}), &httpserver.Options{DrainTimeout: 20 * time.Millisecond})
	unused, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unused.Close() }()
	if got := get(t, base); got != "served" { // by then the connection before it has been accepted
		t.Fatalf("GET = %q", got)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want no error for a connection without a request", err)
	}
}

func TestAllowTimeOutlivesTheTimeouts(t *testing.T) {
	t.Parallel()
	// Both the read and the write timeout end long before the handler does.
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			_, _ = io.WriteString(w, "ended: "+r.Context().Err().Error())
		case <-time.After(300 * time.Millisecond):
			_, _ = io.WriteString(w, "waited")
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/plain", slow)
	mux.Handle("/long", httpserver.AllowTime(10*time.Second)(slow))
	h := httpserver.Chain(mux, httpserver.LimitTime(50*time.Millisecond))
	_, base, _ := start(t,
		h, &httpserver.Options{ReadTimeout: 100 * time.Millisecond, WriteTimeout: 100 * time.Millisecond})
	if got := get(t, base+"/long"); got != "waited" {
		t.Errorf("GET /long = %q, want waited", got)
	}
	if got := get(t, base+"/plain"); got != "ended: context deadline exceeded" {
		t.Errorf("GET /plain = %q, want its context to end", got)
	}
}

func TestAllowTimeStillEndsWithTheClient(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	entered := make(chan struct{})
	h := httpserver.Chain(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		derived, cancel := context.WithCancel(r.Context())
		defer cancel()
		close(entered)
		<-derived.Done()
		ended <- derived.Err()
	}), httpserver.LimitTime(time.Minute), httpserver.AllowTime(time.Minute))
	_, base, _ := start(t, h, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("context after the client left = %v, want canceled", err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	peer := httptest.NewTLSServer(http.NotFoundHandler()) // lends its certificate and a client that trusts it
	t.Cleanup(peer.Close)
	srv := httpserver.New(slog.New(slog.DiscardHandler), []httpserver.Listener{{
		Name: "store", Addr: "127.0.0.1:0", TLS: &tls.Config{
			Certificates: peer.TLS.Certificates,
			MinVersion:   tls.VersionTLS12,
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }),
	}}, nil)
	if err := srv.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+srv.Addr("store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := peer.Client()
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(res.Body); !strings.HasPrefix(string(body), "HTTP/") {
		t.Errorf("GET over TLS = %q", body)
	}
	_ = res.Body.Close()
	client.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

// A listener that breaks stops the others, and Run says which one.
func TestOneListenerFailing(t *testing.T) {
	t.Parallel()
	srv := httpserver.New(slog.New(slog.DiscardHandler), []httpserver.Listener{
		{Name: "good", Addr: "127.0.0.1:0", Handler: http.NotFoundHandler()},
		{
			Name: "bad", Addr: "127.0.0.1:0", Handler: http.NotFoundHandler(),
			TLS: &tls.Config{MinVersion: tls.VersionTLS12},
		},
	}, nil)
	if err := srv.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "serving bad") {
		t.Errorf("Run with a listener without certificate = %v, want it to name bad", err)
	}
	if srv.Ready() {
		t.Error("Ready() = true after Run ended")
	}
}
