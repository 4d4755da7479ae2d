// Package testsites serves websites that tests read: good ones, careless ones
// and hostile ones, each on a server of its own. It is support for tests and
// linked into nothing else.
//
//	Serve(t, "good")     -> *Site with a listener on loopback: URL, Gold
//	InMemory(t, "good")  -> *Site without one: Transport answers for its
//	                        address, also in the fake time of testing/synctest
//	  s.Home() …         what to point a crawler at
//	  s.Requests()       who asked for what, to check politeness
//	  s.Stable(text)     the text with a fixed address, for golden files
//
// Sites of plain pages are data (sites/<name>.txtar, read by archive.go); those
// that misbehave on the wire are handlers. Names lists all, Gold those for which
// somebody wrote down by hand which pages an llms.txt should name.
package testsites

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// StableURL is the address that Stable puts in place of a site's own, and the
// address of sites in memory.
const StableURL = "http://site.example"

// Site is a website that runs for a test.
type Site struct {
	Name  string
	About string // what is the matter with it, in a sentence
	URL   string // its origin, without a slash at the end
	Gold  string // an llms.txt that a person would write for it; empty: none was written

	handler  http.Handler
	mu       sync.Mutex
	requests []Request
}

// Request is one request that a site took.
type Request struct{ Method, Path, UserAgent, Accept string }

// Names lists the sites in alphabetical order.
func Names() []string {
	var names []string
	for _, d := range definitions() {
		names = append(names, d.name)
	}
	slices.Sort(names)
	return names
}

// WithGold lists the sites that have a hand-made llms.txt.
func WithGold(t testing.TB) []string {
	t.Helper()
	return slices.DeleteFunc(Names(), func(name string) bool { return build(t, name, StableURL).Gold == "" })
}

// Serve serves a site on loopback until the test ends.
func Serve(t testing.TB, name string) *Site {
	t.Helper()
	var s *Site
	server := httptest.NewUnstartedServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, r) }))
	s = build(t, name, "http://"+server.Listener.Addr().String())
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections() // of returns that never end
		server.Close()
	})
	return s
}

// InMemory returns a site at StableURL that only its Transport reaches.
func InMemory(t testing.TB, name string) *Site {
	t.Helper()
	return build(t, name, StableURL)
}

func build(t testing.TB, name, origin string) *Site {
	t.Helper()
	for _, d := range definitions() {
		if d.name != name {
			continue
		}
		s := &Site{Name: name, About: d.about, URL: origin}
		if d.handler != nil {
			s.handler = d.handler(origin)
			return s
		}
		a, err := readArchive(name)
		if err != nil {
			t.Fatal(err)
		}
		s.handler, s.Gold = a.handler(origin), strings.ReplaceAll(a.gold, "{{origin}}", origin)
		return s
	}
	t.Fatalf("there is no test site %q; the sites are %s", name, strings.Join(Names(), ", "))
	return nil
}

// Home is the address of the first page.
func (s *Site) Home() string { return s.URL + "/" }

// Stable replaces the site's address, which differs from run to run.
func (s *Site) Stable(text string) string {
	text = strings.ReplaceAll(text, s.URL, StableURL)
	return strings.ReplaceAll(text, strings.TrimPrefix(s.URL, "http://"), strings.TrimPrefix(StableURL, "http://"))
}

// Requests lists what was asked for so far.
func (s *Site) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns how often a path with its query was asked for.
func (s *Site) Count(path string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Path == path {
			n++
		}
	}
	return n
}

// ServeHTTP returns as the site does and notes the request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.RequestURI(), r.UserAgent(), r.Header.Get("Accept")})
	s.mu.Unlock()
	s.handler.ServeHTTP(w, r)
}

// definition is a site: data, or a handler that knows its own origin.
type definition struct {
	name, about string
	handler     func(origin string) http.Handler // nil: sites/<name>.txtar
}

func definitions() []definition {
	return []definition{
		{
			"bad",
			"a careless shop: titles missing, pages that ask not to be listed, broken links, wrong canonical " +
				"addresses, copies", nil,
		},
		{"blocked", "robots.txt forbids everything to everybody", nil},
		{"blog", "a personal blog with dated addresses, categories, tags and archives", nil},
		{"bomb", "answers that grow a thousandfold when they are decompressed, also nested", bombSite},
		{"challenge", "a bot wall: every page answers 403 with a puzzle for people", challengeSite},
		{"docs", "documentation with versions, Markdown twins and a section that is far larger than the others", nil},
		{"down", "every address answers 503", downSite},
		{"encodings", "charsets that are missing, wrong or rare, and bytes that are none", encodingsSite},
		{"good", "a well-kept shop with guides: sitemap, JSON-LD, llms.txt, good texts", nil},
		{
			"hostile",
			"instructions in hidden text, links without end, nesting, huge attributes and headers, redirects inwards",
			hostileSite,
		},
		{"huge", "10,000 pages in the sitemap and one page of 10 MB", hugeSite},
		{"loop", "the first page redirects to itself", loopSite},
		{"multilingual", "English pages with German ones (as many) and a few French ones", nil},
		{
			"redirects", "long chains, circles, redirects elsewhere and inwards, without a target, to other schemes",
			redirectsSite,
		},
		{"saas", "a product with a mega menu, features, documentation, a blog and customers", nil},
		{"single", "one page and nothing else", nil},
		{"slow", "pages that drip, stall or start late beside quick ones", slowSite},
		{"soft404", "every address answers 200 with a page, also robots.txt, sitemap.xml and llms.txt", nil},
		{"spa", "pages that are empty until a script has run", nil},
		{"stalled", "the first page never ends", stalledSite},
		{"studio", "a small business without a sitemap and with few descriptions", nil},
	}
}

// page writes a small page.
func page(w http.ResponseWriter, title, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w,
		"<!doctype html>\n<html "+
			"lang=\"en\">\n<head><title>%s</title></head>\n<body><main><h1>%s</h1>\n%s</main></body>\n</html>\n",
		title, title, body)
}
