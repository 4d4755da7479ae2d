package sitehttp_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"ace/internal/browsertest"
	"ace/internal/storefront/storehttp/storetest"
)

// axe returns the source of axe-core, the checker of accessibility.
func axe(t *testing.T) string {
	t.Helper()
	file := os.Getenv("ACE_AXE")
	if file == "" {
		t.Skip("left out: ACE_AXE is not set; scripts/install-test-needs node installs axe-core and says where")
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// TestPagesInBrowser opens every kind of page on a phone and on a desktop, in
// light and dark: it fits the screen, loads nothing that fails, and axe-core
// finds nothing that keeps people out.
func TestPagesInBrowser(t *testing.T) {
	w := storetest.StartSite(t)
	b := browsertest.Start(t)
	pages := []struct {
		name, path string
		status     int
	}{
		{"home", "/", 200},
		{"products", "/products", 200},
		{"services", "/services", 200},
		{"product", "/products/home_box", 200},
		{"sold-out", "/products/founders_mug", 200},
		{"docs", "/docs", 200},
		{"about", "/about", 200},
		{"contact", "/contact", 200},
		{"support", "/support", 200},
		{"terms", "/terms", 200},
		{"privacy", "/privacy", 200},
		{"refunds", "/refunds", 200},
		{"missing", "/no/such/page", 404},
	}
	screens := []struct {
		name string
		opts browsertest.Options
	}{
		{"phone-light", browsertest.Phone()},
		{"phone-dark", browsertest.Options{Width: 360, Height: 740, Mobile: true, Dark: true}},
		{"desktop-light", browsertest.Options{}},
		{"desktop-dark", browsertest.Options{Width: 1440, Height: 900, Dark: true}},
	}
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			tab := b.Tab(t, screen.opts)
			for _, p := range pages {
				if got := tab.Open(w.URL + p.path); got != p.status {
					t.Errorf("%s answers %d, want %d", p.path, got, p.status)
				}
				if over := browsertest.Eval[float64](tab,
					`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					t.Errorf("%s is %v pixels wider than the screen", p.path, over)
				}
				if h1 := browsertest.Eval[float64](tab, `document.querySelectorAll("h1").length`); h1 != 1 {
					t.Errorf("%s has %v first headings, want one", p.path, h1)
				}
				if broken := browsertest.Eval[float64](
					tab,
					`[...document.images].filter(i => i.complete && i.naturalWidth === 0 && `+
						`i.src.startsWith(location.origin)).length`,
				); broken > 0 {
					t.Errorf("%s shows %v pictures that do not load", p.path, broken)
				}
				tab.Shot("site-" + p.name + "-" + screen.name)
			}
		})
	}
}

// TestPagesAreAccessible runs axe-core on every kind of page, in both color
// schemes and sizes, and wants no violation at all.
func TestPagesAreAccessible(t *testing.T) {
	source := axe(t)
	w := storetest.StartSite(t)
	b := browsertest.Start(t)
	screens := map[string]browsertest.Options{
		"phone": browsertest.Phone(), "phone in the dark": {Width: 360, Height: 740, Mobile: true, Dark: true},
		"desktop": {}, "desktop in the dark": {Width: 1440, Height: 900, Dark: true},
	}
	for name, opts := range screens {
		t.Run(name, func(t *testing.T) {
			tab := b.Tab(t, opts)
			for _, path := range []string{
				"/", "/products", "/services", "/products/home_box", "/products/founders_mug",
				"/docs", "/about", "/contact", "/support", "/terms", "/privacy", "/refunds", "/missing",
			} {
				tab.Open(w.URL + path)
				browsertest.Eval[bool](tab,
					source+
						"; window.found = null; axe.run(document, {resultTypes: ['violations']}).then(r => { "+
						"window.found = r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' "+
						"')).join(', ')) }); true")
				var violations []string
				for {
					text := browsertest.Eval[string](tab, `JSON.stringify(window.found)`)
					if text == "null" {
						continue
					}
					if err := json.Unmarshal([]byte(text), &violations); err != nil {
						t.Fatal(err)
					}
					break
				}
				if len(violations) > 0 {
					t.Errorf("%s: %s", path, strings.Join(violations, "\n"))
				}
			}
		})
	}
}

// TestWebMCP offers the tools of the first page to an assistant, as a browser
// with WebMCP does, and calls one.
func TestWebMCP(t *testing.T) {
	w := storetest.StartSite(t)
	tab := browsertest.Start(t).Tab(t, browsertest.Options{})
	tab.Open(w.URL + "/")
	wait := func(name string) string {
		for {
			if text := browsertest.Eval[string](tab, `String(window.`+name+` ?? "")`); text != "" {
				return text
			}
		}
	}
	browsertest.Eval[bool](tab, `window.tools = [];
		Object.defineProperty(navigator, "modelContext", {value: {registerTool(t) { tools.push(t) }}, `+
		`configurable: true});
		import("/assets/webmcp.js?again").then(() => { window.names = tools.map(t => t.name).join(" ") }, `+
		`e => { window.names = "failed: " + e }); true`)
	if got := wait("names"); got != "site_info search_pages read_page list_products get_checkout list_services" {
		t.Fatalf("tools = %s, want those that change nothing", got)
	}
	browsertest.Eval[bool](
		tab,
		`tools[1].execute({query: "refunds"}).then(r => { window.found = r.structuredContent.results[0].path }, `+
			`e => { window.found = "failed: " + e }); true`,
	)
	if got := wait("found"); got != "/refunds" {
		t.Errorf("search_pages = %s, want /refunds", got)
	}
	browsertest.Eval[bool](
		tab,
		`tools[2].execute({path: "/none"}).then(r => { window.missing = String(r.isError) + " " + `+
			`r.content[0].text }, e => { window.missing = "failed: " + e }); true`,
	)
	if got := wait("missing"); !strings.HasPrefix(got, "true ") || !strings.Contains(got, "search_pages") {
		t.Errorf("read_page of nothing = %s, want what to do instead", got)
	}
	tab.Open(w.URL + "/about")
	if n := browsertest.Eval[float64](tab, `document.scripts.length`); n != 1 {
		t.Errorf("another page has %v scripts, want its data alone", n)
	}
}

// TestWalkWithoutScripts goes from the first page to an offer and to the terms
// by keyboard and clicks, with scripts switched off.
func TestWalkWithoutScripts(t *testing.T) {
	w := storetest.StartSite(t)
	tab := browsertest.Start(t).Tab(t, browsertest.Options{Width: 360, Height: 740, Mobile: true, NoScript: true})
	tab.Open(w.URL + "/")
	if got := tab.Press(`nav[aria-label="Main"] a[href="/products"]`); got != http.StatusOK {
		t.Fatalf("products = %d", got)
	}
	tab.See("Home Box")
	if got := tab.Press(`.tile a[href="/products/home_box"]`); got != http.StatusOK {
		t.Fatalf("offer = %d", got)
	}
	tab.See("USD 149.00")
	tab.See("Or ask your AI assistant")
	if got := tab.Press(`footer a[href="/terms"]`); got != http.StatusOK {
		t.Fatalf("terms = %d", got)
	}
	tab.See("Buying through an assistant")
}
