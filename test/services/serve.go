package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ace/internal/foundation/egress"
)

// server serves all sites on one listener, each under its own host.
type server struct {
	listener net.Listener
	http     *http.Server
	mu       sync.Mutex
	requests int
}

func serve(sites []site) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	folders := map[string]site{}
	for _, s := range sites {
		folders[s.host] = s
	}
	s := &server{listener: listener}
	s.http = &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			s.requests++
			s.mu.Unlock()
			serveFile(w, r, folders[r.Host])
		}),
	}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

func (s *server) close() { _ = s.http.Close() }

// serveFile serves a page as the usual web servers do: an index for a folder,
// and /page for page.html. A site whose package has no index.html is served
// from its first page.
func serveFile(w http.ResponseWriter, r *http.Request, s site) {
	if s.host == "" {
		http.NotFound(w, r)
		return
	}
	name := path.Clean("/" + r.URL.Path)
	if strings.Contains(name, "/.") {
		http.NotFound(w, r)
		return
	}
	file := filepath.Join(s.folder, filepath.FromSlash(name))
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir() && !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
		return
	case err == nil && info.IsDir():
		file = filepath.Join(file, "index.html")
	case errors.Is(err, os.ErrNotExist) && path.Ext(name) == "":
		file += ".html"
	}
	body, err := os.ReadFile(file)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	kind := map[string]string{
		".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript",
		".xml": "application/xml", ".rss": "application/rss+xml", ".atom": "application/atom+xml",
		".png": "image/png", ".jpg": "image/jpeg", ".svg": "image/svg+xml", ".txt": "text/plain",
		".pdf": "application/pdf",
	}[path.Ext(file)]
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body)
}

// Client implements webfetch.Guard: whatever the host, the listener responds.
func (s *server) Client(p egress.Purpose) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DisableCompression: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, s.listener.Addr().String())
			},
		},
		Timeout:       p.Deadline,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
