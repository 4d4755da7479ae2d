package x402_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// unreadableSites are websites of which nothing usable can be read, each with
// a part of the reason that a payer reads.
var unreadableSites = []struct {
	name, why string
	serve     http.HandlerFunc
}{
	{"500 everywhere", "status 500", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		http.Error(w, "broken", http.StatusInternalServerError)
	}},
	{"robots.txt forbids all", "Disallow: /", onlyAtRoot("text/html", "<p>Text.",
		"User-agent: *\nDisallow: /\n")},
	{"gzip bomb", "decompressed", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb())
	}},
	{"redirect loop", "circle", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, "/?again="+fmt.Sprint(r.URL.Query().Get("again") == ""), http.StatusFound)
	}},
	{"slow drip", "in time", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "<p>")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}},
	{"PDF at the root", "no HTML page", onlyAtRoot("application/pdf", "%PDF-1.7", "")},
	{"sign-in wall", "sign-in form", onlyAtRoot("text/html",
		`<!doctype html><title>Sign in</title><h1>Sign in</h1><form><input name="user"><input type="password"></form>`,
		"")},
	{"empty application shell", "script", onlyAtRoot("text/html",
		`<!doctype html><title>App</title><div id="root"></div><script type="module" src="/app.js"></script>`, "")},
}

// onlyAtRoot serves one body at "/" and, unless it is empty, a robots.txt.
func onlyAtRoot(mediaType, body, robots string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, body)
		case r.URL.Path == "/robots.txt" && robots != "":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, robots)
		default:
			http.NotFound(w, r)
		}
	}
}

// bomb returns 64 MB of zeros, compressed.
func bomb() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 64 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return b.Bytes()
}

// TestNothingReadNothingCharged lets the libraries' client buy each service for
// each unreadable website. No payment settles, and the reason is named.
func TestNothingReadNothingCharged(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	const funds = "1000000"
	for _, service := range []string{"ai-search-audit", pack, draft} {
		var group sync.WaitGroup
		for _, site := range unreadableSites {
			address, key := serveUnreadable(t, site.serve), r.payer(funds)
			group.Go(func() {
				got := r.fetch(key, s.url+"/v1/services/"+service+"/run", map[string]string{"url": address}, nil)
				var p struct{ Code, Detail string }
				if err := json.Unmarshal([]byte(got.Body), &p); err != nil || p.Code != "service_failed" ||
					len(got.Sent) < 2 || !strings.Contains(p.Detail, site.why) ||
					!strings.Contains(p.Detail, "Nothing was charged") {
					t.Errorf("%s, %s: %d %s after %d requests, want the reason %q", service, site.name, got.Status,
						got.Body, len(got.Sent), site.why)
				}
				if left := r.balance(key.Address().String()); left != funds {
					t.Errorf("%s, %s: the payer has %s left, want %s", service, site.name, left, funds)
				}
			})
		}
		group.Wait()
	}
	if got := r.balance(r.receiver); got != "0" {
		t.Errorf("the receiver has %s, want nothing", got)
	}
}

// serveUnreadable serves a site on an address that no other site has.
func serveUnreadable(t *testing.T, serve http.HandlerFunc) (address string) {
	t.Helper()
	server := httptest.NewUnstartedServer(serve)
	if l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.2:0", hosts.Add(1))); err == nil {
		_ = server.Listener.Close()
		server.Listener = l
	}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/"
}
