package reportpage_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"ace/internal/browsertest"
	"ace/internal/foundation/egress"
	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/readiness"
	"ace/internal/website/readiness/reportpage"
	"ace/internal/website/webfetch"

	"golang.org/x/net/html"
)

// report audits one of the websites of the tests.
func report(t *testing.T, name string) *readiness.Report {
	t.Helper()
	site := testsites.Serve(t, name)
	guard := egress.New(&egress.Options{OnlyTrusted: true})
	fetcher := webfetch.New(
		guard,
		"https://store.example",
		&webfetch.Options{Trusted: []string{site.URL}, Timeout: time.Second},
	)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := readiness.New(fetcher, &readiness.Options{Crawl: &crawl.Options{Interval: -1}}).Run(ctx,
		readiness.Request{URL: site.Home()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t *testing.T, r *readiness.Report) string {
	t.Helper()
	p, err := reportpage.New()
	if err != nil {
		t.Fatal(err)
	}
	page, err := p.Render(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestStandsAlone: the page holds no script, loads nothing and forbids both.
func TestStandsAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"good", "bad", "hostile", "blog", "soft404", "studio"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := report(t, name)
			page := render(t, r)
			if again := render(t, r); again != page {
				t.Error("the same report gives two pages")
			}
			root, err := html.Parse(strings.NewReader(page))
			if err != nil {
				t.Fatal(err)
			}
			ids := map[string]bool{}
			for n := range root.Descendants() {
				if n.Type == html.ElementNode {
					checkElement(t, n, ids)
				}
			}
			for _, c := range r.Checks {
				if !ids[c.ID] {
					t.Errorf("the page does not show %s", c.ID)
				}
			}
			for n := range root.Descendants() {
				for _, a := range n.Attr {
					if at, ok := strings.CutPrefix(a.Val, "#"); ok && a.Key == "href" && !ids[at] {
						t.Errorf("a link leads to #%s, which is not there", at)
					}
				}
			}
			if !strings.Contains(page, `content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;`) &&
				!strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'`) {
				t.Error("the page does not forbid itself to load")
			}
		})
	}
}

func checkElement(t *testing.T, n *html.Node, ids map[string]bool) {
	t.Helper()
	switch n.Data {
	case "script", "iframe", "object", "embed", "img", "link", "base", "form", "input":
		t.Errorf("the page has a <%s>", n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "srcset":
			t.Errorf("<%s> has the attribute %s", n.Data, a.Key)
		case a.Key == "href" && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://") &&
			!strings.HasPrefix(a.Val, "#"):
			t.Errorf("a link leads to %q", a.Val)
		case a.Key == "id":
			if ids[a.Val] {
				t.Errorf("the id %s stands twice", a.Val)
			}
			ids[a.Val] = true
		case strings.Contains(a.Val, "ZgotmplZ"):
			t.Errorf("<%s> has an unsafe value in %s", n.Data, a.Key)
		}
	}
}

// TestForeignText: what a website says of itself stays text.
func TestForeignText(t *testing.T) {
	t.Parallel()
	r := report(t, "good")
	evil := `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	r.Target.FinalURL, r.Target.Origin = "javascript:alert(3)", "https://"+evil
	for i := range r.Checks {
		for j := range r.Checks[i].Pages {
			r.Checks[i].Pages[j].Observed, r.Checks[i].Pages[j].URL = evil, "javascript:alert(4)"
		}
		r.Checks[i].Fix = &readiness.Fix{Effort: 1, Text: evil, Snippet: evil, DocsURL: "javascript:alert(5)"}
	}
	r.Pages[0].Lang, r.Pages[0].Types = evil, []string{evil}
	r.Bots[0].Rule = evil
	page := render(t, r)
	for _, bad := range []string{"<script", "<img", `href="javascript:`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
}

// TestEmptyReport: the zero report renders, too.
func TestEmptyReport(t *testing.T) {
	t.Parallel()
	if page := render(t, &readiness.Report{}); !strings.Contains(page, "0 of 100") {
		t.Error("the page of an empty report does not say 0 of 100")
	}
}

var screens = map[string]browsertest.Options{
	"phone": browsertest.Phone(), "phone-dark": {Width: 360, Height: 740, Mobile: true, Dark: true}, "desktop": {},
	"desktop-dark": {Width: 1440, Height: 900, Dark: true},
}

// TestInBrowser shows the page on small and large screens, light and dark, and
// lets axe-core look for what people with disabilities would stumble over.
func TestInBrowser(t *testing.T) {
	names := []string{"bad", "hostile", "studio"}
	pages := map[string]string{}
	for _, name := range names {
		pages[name] = render(t, report(t, name))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(pages[path.Base(r.URL.Path)])) // the browser reads it
	}))
	t.Cleanup(server.Close)
	b := browsertest.Start(t)
	axe := ""
	if file := os.Getenv("ACE_AXE"); file != "" {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		axe = string(source)
	} else {
		t.Log("axe-core: left out: ACE_AXE is not set")
	}
	for screen, opts := range screens {
		t.Run(screen, func(t *testing.T) {
			tab := b.Tab(t, opts)
			for _, name := range names {
				tab.Open(server.URL + "/" + name)
				tab.Shot("report-" + name + "-" + screen)
				browsertest.Eval[bool](tab, `document.querySelectorAll("details").forEach(d => d.open = true); true`)
				if over := browsertest.Eval[float64](tab,
					`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					t.Errorf("%s is %v pixels wider than the screen", name, over)
				}
				if axe != "" && name != "hostile" {
					for _, v := range violations(t, tab, axe) {
						t.Errorf("%s: %s", name, v)
					}
				}
			}
		})
	}
}

func violations(t *testing.T, tab *browsertest.Tab, axe string) (found []string) {
	t.Helper()
	browsertest.Eval[bool](tab,
		axe+"; window.found = null; axe.run(document, {resultTypes: ['violations']}).then(r => { window.found = "+
			"r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 5).map(n => n.target.join(' ')).join(', ')) }); true")
	for {
		text := browsertest.Eval[string](tab, `JSON.stringify(window.found)`)
		if text == "null" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
}
