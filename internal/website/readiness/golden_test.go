package readiness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/readiness"
	"ace/internal/website/webfetch"
)

// inMemory makes clients of a website that no network is needed for.
type inMemory struct{ site *testsites.Site }

func (m inMemory) Client(p egress.Purpose) *http.Client {
	return &http.Client{
		Transport: m.site.Transport(), Timeout: p.Deadline,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// TestSites audits the websites of the tests, good and hostile ones, in fake
// time and at the pace of the product.
func TestSites(t *testing.T) {
	t.Parallel()
	for _, name := range testsites.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var report *readiness.Report
			var failed error
			var took time.Duration
			var requests int
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(today))
				site := testsites.InMemory(t, name)
				fetcher := webfetch.New(inMemory{site}, "https://store.example", nil)
				start := time.Now()
				report, failed = readiness.New(fetcher, nil).Run(t.Context(), readiness.Request{URL: site.Home()}, nil)
				took, requests = time.Since(start), len(site.Requests())
			})
			if took > 92*time.Second || requests > 60 {
				t.Errorf("the audit took %s and %d requests", took, requests)
			}
			if failed != nil {
				p, known := problem.From(failed)
				if !known {
					t.Fatal(failed)
				}
				golden(t, name+".txt", p.Error()+"\n")
				return
			}
			golden(t, name+".txt", digest(report))
			if name == "bad" || name == "good" {
				golden(t, name+".md", report.Markdown())
				text, err := json.MarshalIndent(report, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+".json", string(text)+"\n")
			}
		})
	}
}

// digest is a report on a page: the score, what bounds it, and each check with
// what was observed where it is worst.
func digest(r *readiness.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\nstatus %s, coverage %.3f, %d requests, agent level %d\n", r.Verdict(), r.Headline(),
		r.Status, r.Coverage, r.Limits.RequestsMade, r.Agent.Level)
	for _, n := range r.Notes() {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, p := range r.Pages {
		fmt.Fprintf(&b, "page %s %d %s %d words, score %d\n", p.URL, p.Status, p.Failure, p.WordsMain, p.Score)
	}
	for _, c := range slices.Concat(r.Checks, r.AgentChecks) {
		worst := c.Worst()
		fmt.Fprintf(&b, "%-26s %-8s %.3f  %s: %s\n", c.ID, c.Status, c.Value, worst.URL, worst.Observed)
	}
	return b.String()
}

// TestRepeatable: the same answers give the same report, and the same id.
func TestRepeatable(t *testing.T) {
	t.Parallel()
	first, second := audit(t, cleanWeb(t), nil), audit(t, cleanWeb(t), nil)
	a, b := asJSON(t, first), asJSON(t, second)
	if a != b {
		t.Errorf("two audits of one website differ:\n%s\n%s", a, b)
	}
	w := cleanWeb(t)
	w.edit(t, "/prices", "<title>", "<title>x")
	if other := audit(t, w, nil); other.ID == first.ID || !strings.HasPrefix(other.ID, "audit_") {
		t.Errorf("a different website has the id %s, the first %s", other.ID, first.ID)
	}
}

func asJSON(t *testing.T, r *readiness.Report) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestShape: the report has the members that its readers know.
func TestShape(t *testing.T) {
	t.Parallel()
	var got map[string]any
	if err := json.Unmarshal([]byte(asJSON(t, audit(t, cleanWeb(t), nil))), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"report_version", "id", "target", "started_at", "finished_at", "score", "grade", "coverage", "caps",
		"agent_level", "summary", "categories", "checks", "bots", "pages",
		"limits", "ruleset",
	} {
		if v, ok := got[name]; !ok || v == nil {
			t.Errorf("the report has no %s", name)
		}
	}
	if got["report_version"] != "1" {
		t.Errorf("report_version = %v", got["report_version"])
	}
}

func TestCaps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		apply func(*testing.T, web)
		cap   string
		limit int
	}{
		{"the home page fails", answer("/", failing(500)), "unreachable", 0},
		{"the home page leads in a circle", answer("/", redirect("/")), "unreachable", 0},
		{
			"no crawler for search", robots("User-agent: *\nDisallow: /\nUser-agent: ACE-Audit\nAllow: /\n"),
			"search_bots_blocked", 30,
		},
		{
			"noindex on the home page", edit("/", "</head>", `<meta name="robots" content="noindex"></head>`),
			"home_noindex", 40,
		},
		{"a home page that a script fills", func(_ *testing.T, w web) {
			a := w["/"]
			a.Body = `<!doctype html><html lang="en"><title>Bicycle repair</title><div id="app"></div>` +
				`<script type="module" src="/a.js"></script>`
			w["/"] = a
		}, "no_text_without_scripts", 55},
		{
			"nosnippet on the home page", edit("/", "</head>", `<meta name="robots" content="nosnippet"></head>`),
			"snippet_blocked", 60,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := cleanWeb(t)
			tt.apply(t, w)
			r := audit(t, w, nil)
			if !slices.ContainsFunc(r.Caps, func(c readiness.Cap) bool {
				return c.ID == tt.cap && c.Limit == tt.limit &&
					c.Reason != ""
			}) || r.Score > tt.limit {
				t.Errorf("caps %v, score %d, want %s at %d", r.Caps, r.Score, tt.cap, tt.limit)
			}
		})
	}
	t.Run("a challenge bounds nothing, since little is known", func(t *testing.T) {
		t.Parallel()
		w := cleanWeb(t)
		for path := range w {
			if path != "/robots.txt" && path != "/sitemap.xml" && path != "/about" {
				w[path] = failing(403)
			}
		}
		if r := audit(t, w, nil); len(r.Caps) != 0 {
			t.Errorf("caps %v, coverage %v", r.Caps, r.Coverage)
		}
	})
}

// TestNothingRead: a website of which no page was usable is not audited.
func TestNothingRead(t *testing.T) {
	t.Parallel()
	everyPage := func(a crawltest.Answer) func(*testing.T, web) {
		return func(_ *testing.T, w web) {
			for path := range w {
				if path != "/robots.txt" && path != "/sitemap.xml" {
					w[path] = a
				}
			}
		}
	}
	tests := []struct {
		name       string
		apply      func(*testing.T, web)
		code, want string
	}{
		{
			"robots.txt forbids all",
			robots("User-agent: *\nDisallow: /\n"),
			"site_excludes_crawler",
			`line 2 of robots.txt says "Disallow: /"`,
		},
		{
			"robots.txt fails",
			answer("/robots.txt", crawltest.Answer{Status: 503}),
			"site_excludes_crawler",
			"status 503",
		},
		{
			"robots.txt hangs",
			answer("/robots.txt", crawltest.Answer{Failure: crawl.TimedOut}),
			"site_excludes_crawler",
			"RFC 9309",
		},
		{"500 everywhere", everyPage(failing(500)), "site_not_readable", "status 500"},
		{"a challenge everywhere", everyPage(failing(403)), "site_not_readable", "human"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := cleanWeb(t)
			tt.apply(t, w)
			_, err := readiness.New(crawltest.New(w.full()), &readiness.Options{Crawl: &crawl.Options{Interval: -1}}).
				Run(t.Context(), readiness.Request{URL: base + "/"}, nil)
			if p, ok := problem.From(err); !ok || p.Code != tt.code || !strings.Contains(p.Detail, tt.want) {
				t.Errorf("Run = %v, want %s with %q", err, tt.code, tt.want)
			}
		})
	}
}

func TestAgentLevel(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name  string
		apply func(*testing.T, web)
		level int
		next  string
	}{
		{"robots.txt and sitemap", func(*testing.T, web) {}, 1, "ag.content_signal"},
		{
			"signals", robots("User-agent: GPTBot\nUser-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"),
			2, "ag.markdown_negotiation",
		},
		{"Markdown", func(_ *testing.T, w web) {
			a := text("text/markdown", "# Riverside Cycles\n")
			a.Header["Vary"] = "Accept"
			w["/ text/markdown"] = a
		}, 3, "ag.mcp_card ag.a2a_card ag.skills_index ag.api_catalog"},
		{
			"a card",
			answer("/.well-known/mcp/server-card.json", text("application/json", `{"name":"riverside","version":"1"}`)),
			4, "ag.bot_auth_dir ag.a2a_card ag.skills_index ag.api_catalog ag.auth_md",
		},
		{"bot keys and auth.md", func(_ *testing.T, w web) {
			w["/.well-known/http-message-signatures-directory"] = text(
				"application/http-message-signatures-directory+json", `{"keys":[{"kty":"OKP"}]}`)
			w["/auth.md"] = text("text/markdown", "# auth.md\n")
		}, 5, ""},
	}
	w := cleanWeb(t)
	for _, s := range steps {
		s.apply(t, w)
		r := audit(t, w, nil)
		if r.Agent.Level != s.level || strings.Join(r.Agent.Next, " ") != s.next || r.Agent.Name == "" {
			t.Errorf("%s: level %+v, want %d, next %q", s.name, r.Agent, s.level, s.next)
		}
		if r.Score != 100 {
			t.Errorf("%s: the score is %d; the agent level must not touch it", s.name, r.Score)
		}
	}
	none := cleanWeb(t)
	delete(none, "/robots.txt")
	delete(none, "/sitemap.xml")
	if r := audit(t, none, nil); r.Agent.Level != 0 {
		t.Errorf("without robots.txt and sitemap the level is %d", r.Agent.Level)
	}
}

func TestSoftNotFound(t *testing.T) {
	t.Parallel()
	w := cleanWeb(t)
	for _, path := range []string{
		"/llms.txt", "/.well-known/mcp/server-card.json", "/.well-known/agent-card.json",
		"/openapi.json", "/.well-known/ucp", "/auth.md", "/index.md",
	} {
		w[path] = w["/"]
	}
	r := audit(t, w, nil)
	for _, c := range r.AgentChecks {
		if c.Status == readiness.Pass && c.ID != "ag.robots_ai_rules" {
			t.Errorf("%s passes on a page of HTML: %s", c.ID, c.Worst().Observed)
		}
	}
}

func TestValidator(t *testing.T) {
	t.Parallel()
	var seen []string
	validate := func(p *crawl.Page) []readiness.Issue {
		seen = append(seen, p.Path())
		if p.Path() == "/blog/cargo" {
			return []readiness.Issue{
				{Error: true, Message: "BlogPosting.headlin is no property", Line: 9},
				{Message: "image is recommended"},
			}
		}
		return []readiness.Issue{{Message: "image is recommended"}}
	}
	r := audit(t, cleanWeb(t), &readiness.Options{Validate: validate})
	c, _ := r.Check("und.jsonld_valid")
	if worst := c.Worst(); c.Status != readiness.Some || !strings.Contains(worst.Observed, "headlin") ||
		worst.Line != 9 || !strings.HasSuffix(worst.URL, "/blog/cargo") {
		t.Errorf("und.jsonld_valid = %s, worst %+v", c.Status, worst)
	}
	if slices.Contains(seen, "/prices") {
		t.Errorf("pages without structured data were judged: %v", seen)
	}
}

func TestRequestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		r    readiness.Request
		code string
	}{
		{readiness.Request{URL: "example.com"}, ""},
		{readiness.Request{URL: "https://example.com/x", MaxPages: 25}, ""},
		{readiness.Request{}, "invalid_url"},
		{readiness.Request{URL: "mailto:a@b.example"}, "invalid_url"},
		{readiness.Request{URL: "example.com", MaxPages: 26}, "invalid_max_pages"},
		{readiness.Request{URL: "example.com", MaxPages: -1}, "invalid_max_pages"},
	}
	for _, tt := range tests {
		if err := tt.r.Check(); tt.code == "" && err != nil || tt.code != "" && !problem.Is(err, tt.code) {
			t.Errorf("Check(%+v) = %v, want %q", tt.r, err, tt.code)
		}
	}
}

// TestEarlyEnd: what a limit kept from being measured is unknown, not wrong.
func TestEarlyEnd(t *testing.T) {
	t.Parallel()
	r := audit(t, cleanWeb(t), &readiness.Options{Crawl: &crawl.Options{MaxRequests: 5}})
	if r.Status != readiness.Partial || r.Limits.Stopped == "" || r.Limits.RequestsMade > 5 {
		t.Errorf("status %s, stopped %q after %d requests", r.Status, r.Limits.Stopped, r.Limits.RequestsMade)
	}
	for _, c := range r.Checks {
		if c.Status == readiness.Fail {
			t.Errorf("%s fails: %s", c.ID, c.Worst().Observed)
		}
	}
	for _, c := range r.AgentChecks {
		if c.Status == readiness.Fail && c.ID != "ag.link_headers" && !strings.HasPrefix(c.ID, "ag.content") {
			t.Errorf("%s fails: %s", c.ID, c.Worst().Observed)
		}
	}
}
