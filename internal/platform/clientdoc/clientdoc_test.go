package clientdoc_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/platform/clientdoc"
)

const document = `{"client_id":"https://client.example/agent.json"}`

// site is a client's website, with the paths of the tests.
type site struct {
	*httptest.Server
	calls atomic.Int64
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		size := len(document)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/agent.json", http.StatusFound)
			return
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
		case "/untyped":
			w.Header()["Content-Type"] = nil
		case "/suffixed":
			w.Header().Set("Content-Type", "application/client+json")
		case "/full":
			size = 16 << 10
		case "/large", "/stream":
			size = 16<<10 + 1
		}
		if r.URL.Path != "/stream" {
			w.Header().Set("Content-Length", strconv.Itoa(size))
		}
		_, _ = w.Write([]byte(document + strings.Repeat(" ", size-len(document))))
	}))
	t.Cleanup(s.Close)
	return s
}

// fetcher is one behind the guard of egress, with the networks that it allows.
func (s *site) fetcher(allow ...netip.Prefix) clientdoc.Fetcher {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	guard := egress.New(&egress.Options{Allow: allow, TLS: &tls.Config{RootCAs: roots}})
	return clientdoc.Fetcher{HTTP: guard.Client(egress.ClientDocument())}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	f := s.fetcher(netip.MustParsePrefix("127.0.0.0/8"))
	for path, want := range map[string]bool{
		"/agent.json": true, "/suffixed": true, "/full": true,
		"/moved": false, "/missing": false, "/page": false, "/untyped": false, "/large": false, "/stream": false,
	} {
		text, err := f.Fetch(t.Context(), s.URL+path)
		if !want {
			if !problem.Is(err, "invalid_client") || text != nil {
				t.Errorf("Fetch(%s) = %d bytes, %v; want invalid_client", path, len(text), err)
			}
			continue
		}
		if err != nil || strings.TrimSpace(string(text)) != document {
			t.Errorf("Fetch(%s) = %.80q, %v", path, text, err)
		}
	}
	if got := s.calls.Load(); got != 9 {
		t.Errorf("%d requests, want 9: redirects are not followed", got)
	}
}

// TestFetchPrivate: a client id leads to no private address.
func TestFetchPrivate(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.fetcher().Fetch(t.Context(), s.URL+"/agent.json"); !problem.Is(err, "invalid_client") {
		t.Errorf("Fetch of a private address: %v, want invalid_client", err)
	}
	if got := s.calls.Load(); got != 0 {
		t.Errorf("%d requests reached a private address, want none", got)
	}
}
