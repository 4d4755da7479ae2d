package testsites_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/testsites"
)

// get asks a site without following redirects.
func get(t *testing.T, rt http.RoundTripper, url string) (answer, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test")
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		t.Fatalf("reading %s: %v", url, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Errorf("closing %s: %v", url, err)
	}
	return answer{res.StatusCode, res.Header}, string(body)
}

type answer struct {
	StatusCode int
	Header     http.Header
}

func TestSites(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(testsites.Names()) || len(testsites.Names()) < 15 {
		t.Errorf("Names() = %v, want at least 15 in order", testsites.Names())
	}
	tests := []struct {
		site, path string
		status     int
		want       string // part of the body
	}{
		{"good", "/", 200, "<title>Hollow Oak Tools: hand tools for joiners</title>"},
		{"good", "/tools/bench-plane", 200, `"price":"285.00"`},
		{"good", "/tools/bench-plane?x=1", 200, "Bench plane"},
		{"good", "/sitemap.xml", 200, "http://site.example/guides</loc>"},
		{"good", "/nothing", 404, "Not found"},
		{"bad", "/gone", 404, "Oops"},
		{"bad", "/old-about", 302, "Moved"},
		{"blocked", "/robots.txt", 200, "Disallow: /\n"},
		{"challenge", "/", 403, "human"},
		{"docs", "/docs/install.md", 200, "# Install"},
		{"docs", "/reference/queue", 200, "type Queue"},
		{"down", "/robots.txt", 503, "unavailable"},
		{"hostile", "/calendar?month=7", 200, "month=8"},
		{"hostile", "/maze/left/left/", 200, "right/"},
		{"hostile", "/hidden", 200, "Visible words"},
		{"huge", "/lamps/item-09990", 200, "Item 9990"},
		{"huge", "/lamps/item-00001", 404, "not found"},
		{"loop", "/", 301, ""},
		{"multilingual", "/de/preise", 200, `lang="de"`},
		{"redirects", "/chain/12", 301, ""},
		{"redirects", "/inwards", 302, ""},
		{"single", "/robots.txt", 404, ""},
		{"slow", "/", 200, "quick"},
		{"soft404", "/robots.txt", 200, "could not find the page /robots.txt"},
		{"spa", "/", 200, `<div id="app"></div>`},
		{"studio", "/workshops/raku.html", 200, "Raku"},
	}
	for _, tt := range tests {
		t.Run(tt.site+tt.path, func(t *testing.T) {
			t.Parallel()
			s := testsites.InMemory(t, tt.site)
			res, body := get(t, s.Transport(), s.URL+tt.path)
			if res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("GET %s = %d %.300q, want %d with %q", tt.path, res.StatusCode, body, tt.status, tt.want)
			}
			if strings.Contains(body, "{{") {
				t.Errorf("GET %s holds a placeholder: %.300q", tt.path, body)
			}
			if got := s.Count(tt.path); got != 1 {
				t.Errorf("Count(%s) = %d, want 1", tt.path, got)
			}
		})
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	for _, name := range testsites.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "stalled" {
				t.Skip("left out: its first page never ends")
			}
			s := testsites.Serve(t, name)
			res, body := get(t, http.DefaultTransport, s.Home())
			if res.StatusCode == 0 || s.About == "" || s.Name != name {
				t.Errorf("Serve(%s) = %+v", name, s)
			}
			if stable := s.Stable(body); strings.Contains(stable, "127.0.0.1:") && name != "hostile" {
				t.Errorf("Stable leaves the address of this run in %.300q", stable)
			}
		})
	}
}

// TestMeasures checks that the sites are as large, slow and wicked as they say.
func TestMeasures(t *testing.T) {
	t.Parallel()
	s := testsites.InMemory(t, "huge")
	if _, body := get(t, s.Transport(), s.URL+"/sitemap.xml"); strings.Count(body, "<loc>") != 10_000 {
		t.Errorf("the sitemap names %d pages, want 10,000", strings.Count(body, "<loc>"))
	}
	if _, body := get(t, s.Transport(), s.URL+"/big"); len(body) < 10<<20 {
		t.Errorf("/big has %d bytes, want 10 MB", len(body))
	}
	s = testsites.InMemory(t, "bomb")
	res, body := get(t, s.Transport(), s.URL+"/bomb")
	if len(body) < 9<<20 || len(body) > 11<<20 || res.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("/bomb has %d bytes on the wire, want about 10 MB", len(body))
	}
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(z, 256<<20)); n != 256<<20 {
		t.Errorf("/bomb decodes to %d bytes (%v), want more than 256 MB", n, err)
	}
	if _, body = get(t, s.Transport(), s.URL+"/nested"); len(body) > 4<<10 {
		t.Errorf("/nested has %d bytes on the wire, want few", len(body))
	}
}

// TestSlow runs in fake time: a page that takes a minute takes none.
func TestSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testsites.InMemory(t, "slow")
		start := time.Now()
		if _, body := get(t, s.Transport(), s.URL+"/late"); !strings.Contains(body, "minute") ||
			time.Since(start) != time.Minute {
			t.Errorf("/late came after %v: %q, want after a minute", time.Since(start), body)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3100*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/drip", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Transport().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !errors.Is(err, context.DeadlineExceeded) || strings.Count(string(body), ".") != 11 {
			t.Errorf("/drip gave %q and %v in 3.1 s, want eleven dots and the deadline", body, err)
		}
	})
}

func TestGold(t *testing.T) {
	t.Parallel()
	if got := testsites.WithGold(t); len(got) < 5 {
		t.Errorf("WithGold() = %v, want at least five", got)
	}
	for _, name := range testsites.WithGold(t) {
		s := testsites.InMemory(t, name)
		for line := range strings.Lines(s.Gold) {
			_, rest, ok := strings.Cut(line, "](")
			if !ok {
				continue
			}
			link, _, _ := strings.Cut(rest, ")")
			if res, _ := get(t, s.Transport(), link); res.StatusCode != http.StatusOK {
				t.Errorf("the gold of %s names %s, which answers %d", name, link, res.StatusCode)
			}
		}
	}
}

func TestTransportRefusesOtherHosts(t *testing.T) {
	t.Parallel()
	s := testsites.InMemory(t, "good")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://elsewhere.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := s.Transport().RoundTrip(req); err == nil {
		_ = res.Body.Close()
		t.Error("another host was answered, want an error")
	}
}
