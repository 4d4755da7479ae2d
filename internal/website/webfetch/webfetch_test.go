package webfetch_test

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/webfetch"
)

func fetcher(o *webfetch.Options) *webfetch.Fetcher {
	guard := egress.New(&egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	return webfetch.New(guard, "https://store.example/", o)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestFetcher(t *testing.T) {
	t.Parallel()
	crawltest.RunFetcher(t, func(t *testing.T, answers map[string]crawltest.Answer) (crawl.Fetcher, string) {
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			a := answers[r.URL.Path]
			for name, value := range a.Header {
				w.Header().Set(name, value)
			}
			if a.Status != 0 {
				w.WriteHeader(a.Status)
			}
			_, _ = io.WriteString(w, a.Body) // a client that leaves is part of the test
		})
		return fetcher(nil), base
	})
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBodies(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte('a' + (i*i*31+i*7)%23)
	}
	long := packed(t, string(noise))
	tests := []struct {
		name      string
		encoding  string
		body      []byte
		declared  string // Content-Length
		length    int    // of the body read
		truncated bool
		failure   crawl.Failure
	}{
		{name: "plain", body: []byte("hello"), length: 5},
		{name: "gzip", encoding: "gzip", body: packed(t, strings.Repeat("hello ", 50)), length: 300},
		{name: "gzip by its old name", encoding: "x-gzip", body: packed(t, "hello"), length: 5},
		{name: "gzip of nothing", encoding: "gzip"},
		{
			name: "gzip, longer than the limit", encoding: "gzip", body: packed(t, strings.Repeat("hello ", 5000)),
			length: 2000, truncated: true,
		},
		{name: "gzip, longer on the wire", encoding: "gzip", body: long, truncated: true, length: -1},
		{name: "longer than the limit", body: bytes.Repeat([]byte("x"), 9000), length: 1001, truncated: true},
		{
			name: "declares more than the limit", body: bytes.Repeat([]byte("x"), 9000), declared: "9000", length: 1001,
			truncated: true,
		},
		{name: "no gzip", encoding: "gzip", body: []byte("hello, this is plain"), failure: crawl.BadEncoding},
		{
			name: "half of a gzip", encoding: "gzip", body: packed(t, "hello hello")[:20], failure: crawl.BadAnswer,
			length: -1,
		},
		{name: "unknown compression", encoding: "br", body: []byte("x"), failure: crawl.BadEncoding},
		{name: "twice", encoding: "gzip, gzip", body: []byte("x"), failure: crawl.BadEncoding},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				if tt.declared != "" {
					w.Header().Set("Content-Length", tt.declared)
				}
				_, _ = w.Write(tt.body)
			})
			res, err := fetcher(nil).Fetch(t.Context(),
				crawl.Request{URL: base + "/", WireLimit: 1000, DecodedLimit: 2000})
			if err != nil {
				t.Fatal(err)
			}
			if res.Failure != tt.failure || res.Truncated != tt.truncated || res.Status != 200 {
				t.Errorf("Fetch = %d, failure %q, truncated %v, want 200, %q, %v", res.Status, res.Failure,
					res.Truncated, tt.failure, tt.truncated)
			}
			if tt.length >= 0 && len(res.Body) != tt.length {
				t.Errorf("Fetch read %d bytes, want %d", len(res.Body), tt.length)
			}
			if res.WireBytes > 1000 || res.DecodedBytes > 2000 {
				t.Errorf("Fetch counted %d bytes, decompressed %d", res.WireBytes, res.DecodedBytes)
			}
		})
	}
}

func TestBomb(t *testing.T) {
	t.Parallel()
	body := packed(t, strings.Repeat("\x00", 8<<20))
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	})
	res, err := fetcher(nil).Fetch(t.Context(),
		crawl.Request{URL: base + "/", WireLimit: 2 << 20, DecodedLimit: 5 << 20})
	if err != nil || res.Failure != crawl.Bomb || len(res.Body) != 0 || res.DecodedBytes > 2<<20 {
		t.Errorf("Fetch of a bomb = %+v, %v", res, err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-hang
		case "/drip":
			_, _ = io.WriteString(w, "begins")
			w.(http.Flusher).Flush()
			<-hang
		case "/abort":
			panic(http.ErrAbortHandler)
		}
	})
	t.Cleanup(func() { close(hang) }) // before the server closes, which waits
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	t.Cleanup(secure.Close)
	closed, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	_ = closed.Close()
	tests := []struct {
		name, url string
		failure   crawl.Failure
		body      string
	}{
		{"hangs", base + "/hang", crawl.TimedOut, ""},
		{"stops in the middle", base + "/drip", crawl.TimedOut, "begins"},
		{"breaks off", base + "/abort", crawl.BadAnswer, ""},
		{"nobody listens", nobody, crawl.Unreachable, ""},
		{"unknown certificate", secure.URL, crawl.BadTLS, ""},
		{"private network", "http://10.0.0.1/", crawl.NotAllowed, ""},
		{"metadata", "http://169.254.169.254/", crawl.NotAllowed, ""},
		{"other scheme", "file:///etc/passwd", crawl.NotAllowed, ""},
		{"no address", "http://[::1", crawl.NotAllowed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			patience := 20 * time.Second
			if tt.failure == crawl.TimedOut {
				patience = 300 * time.Millisecond
			}
			f := fetcher(&webfetch.Options{Timeout: patience})
			res, err := f.Fetch(t.Context(), crawl.Request{URL: tt.url, WireLimit: 100, DecodedLimit: 100})
			if err != nil {
				t.Fatal(err)
			}
			if res.Failure != tt.failure || string(res.Body) != tt.body {
				t.Errorf("Fetch(%s) = %q, %q, want %q, %q", tt.url, res.Failure, res.Body, tt.failure, tt.body)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := webbotauth.NewIdentity("https://store.example", webbotauth.OwnKey{Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	headers := make(chan http.Header, 1)
	base := serve(t, func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header })
	f := fetcher(&webfetch.Options{Sign: func(r *http.Request) error { return id.Sign(r, time.Now()) }})
	res, err := f.Fetch(t.Context(),
		crawl.Request{URL: base + "/", Accept: "text/markdown", WireLimit: 1, DecodedLimit: 1})
	if err != nil || res.FirstByte <= 0 {
		t.Fatalf("Fetch = %+v, %v", res, err)
	}
	got := <-headers
	want := map[string]string{
		"User-Agent": "ACE-Audit/1.0 (+https://store.example/support)", "Accept": "text/markdown",
		"Accept-Encoding": "gzip", "Cookie": "", "Referer": "",
	}
	for name, value := range want {
		if got.Get(name) != value {
			t.Errorf("the request has %s: %q, want %q", name, got.Get(name), value)
		}
	}
	for _, name := range []string{"Signature", "Signature-Input", "Signature-Agent"} {
		if got.Get(name) == "" {
			t.Errorf("the request has no %s", name)
		}
	}
	refusing := fetcher(&webfetch.Options{Sign: func(*http.Request) error { return errors.New("no key") }})
	if _, err := refusing.Fetch(t.Context(), crawl.Request{URL: base + "/"}); err == nil {
		t.Error("Fetch sends what it could not sign")
	}
}
