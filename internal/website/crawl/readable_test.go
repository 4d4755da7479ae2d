package crawl_test

import (
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
)

func TestUnusable(t *testing.T) {
	t.Parallel()
	const script = `<script src="/app.js"></script>`
	tests := []struct {
		name   string
		answer crawltest.Answer
		want   string // part of the reason; empty: the page is usable
	}{
		{"text", crawltest.Page("<title>Tom</title><p>Tom bakes bread in Ulm."), ""},
		{
			"a card with analytics",
			crawltest.Page("<p>Tom's Bakery, 12 Main Street, Ulm. Open Monday to Friday." + script),
			"",
		},
		{"status 500", crawltest.Answer{Status: 500}, "status 500"},
		{"a PDF", crawltest.Text("application/pdf", "%PDF-1.7"), "no HTML page"},
		{"no text", crawltest.Page("<title>x</title>"), "holds no text"},
		{
			"an application shell",
			crawltest.Page(`<title>x</title><div id="root"></div>` + script),
			"until a script has run",
		},
		{"a shell of an unknown kind", crawltest.Page(`<my-app>Loading…</my-app>` + script), "until a script has run"},
		{
			"a notice about scripts", crawltest.Page(`<p>You need to enable JavaScript to run this app.</p>` + script),
			"until a script has run",
		},
		{
			"an article about scripts",
			crawltest.Page(
				"<h1>How to enable JavaScript</h1><p>" + strings.Repeat("Open the settings. ", 30) + script,
			),
			"",
		},
		{
			"a sign-in form",
			crawltest.Page(`<h1>Sign in</h1><form><input name="u"><input type="password"><button>Go</button></form>`),
			"sign-in form",
		},
		{
			"a shop with a sign-in form",
			crawltest.Page(
				"<p>" + strings.Repeat("We sell lamps and chairs. ", 30) + `<form><input type="password"></form>`,
			),
			"",
		},
		{
			"a challenge", crawltest.Page(`<title>Just a moment...</title><p>Checking your browser`),
			"prove that they are human",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fetcher := crawltest.New(map[string]crawltest.Answer{"https://a.example/": tt.answer})
			site, err := crawl.Open(t.Context(), fetcher, "https://a.example/", &crawl.Options{Interval: -1})
			if err != nil {
				t.Fatal(err)
			}
			got := site.Home.Unusable()
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("Unusable = %q, want %q", got, tt.want)
			}
			err = site.CheckReadable(site.Home)
			p, _ := problem.From(err)
			if tt.want != "" && (err == nil || p.Code != "site_not_readable" || !strings.Contains(p.Detail, tt.want)) {
				t.Errorf("CheckReadable = %v, want site_not_readable with %q", p, tt.want)
			}
			if tt.want == "" && err != nil {
				t.Errorf("CheckReadable = %v, want nil", err)
			}
		})
	}
}

func TestCheckReadableNamesTheRule(t *testing.T) {
	t.Parallel()
	fetcher := crawltest.New(map[string]crawltest.Answer{
		"https://a.example/robots.txt": crawltest.Text("text/plain", "# all\nUser-agent: *\nDisallow: /\n"),
	})
	site, err := crawl.Open(t.Context(), fetcher, "https://a.example/", &crawl.Options{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := problem.From(site.CheckReadable())
	if p == nil || p.Code != "site_excludes_crawler" ||
		!strings.Contains(p.Detail, `line 3 of robots.txt says "Disallow: /"`) {
		t.Errorf("CheckReadable = %v, want the rule and its line", p)
	}
}
