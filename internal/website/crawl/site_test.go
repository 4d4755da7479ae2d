package crawl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"

	"github.com/google/go-cmp/cmp"
)

const base = "https://shop.example"

// site returns the addresses of a website; paths are below base.
func site(answers map[string]crawltest.Answer) *crawltest.Web {
	full := map[string]crawltest.Answer{}
	for path, a := range answers {
		if strings.HasPrefix(path, "/") {
			path = base + path
		}
		full[path] = a
	}
	return crawltest.New(full)
}

func page(title string, links ...string) crawltest.Answer {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><html lang=en><title>%s</title><nav>", title)
	for _, l := range links {
		fmt.Fprintf(&b, "<a href=%q>%s</a> ", l, l)
	}
	fmt.Fprintf(&b, "</nav><main><h1>%s</h1><p>Text of %s.</p></main>", title, title)
	return crawltest.Page(b.String())
}

func asked(w *crawltest.Web) []string {
	var urls []string
	for _, r := range w.Requests() {
		urls = append(urls, strings.TrimPrefix(r.URL, base))
	}
	return urls
}

func quick() *crawl.Options { return &crawl.Options{Interval: -1} }

func TestOpen(t *testing.T) {
	t.Parallel()
	redirects := map[string]crawltest.Answer{"/": crawltest.Redirect(302, "/1")}
	for i := 1; i < 10; i++ {
		redirects[fmt.Sprintf("/%d", i)] = crawltest.Redirect(302, fmt.Sprintf("/%d", i+1))
	}
	tests := []struct {
		name     string
		target   string
		answers  map[string]crawltest.Answer
		problem  string        // code
		failure  crawl.Failure // of the first page
		excluded bool
		final    string
		asked    []string
	}{
		{
			name: "a website", target: base, answers: map[string]crawltest.Answer{"/": page("Home")},
			final: base + "/", asked: []string{"/robots.txt", "/"},
		},
		{
			name: "without a scheme", target: " shop.example/x#y ",
			answers: map[string]crawltest.Answer{"/x": page("X")},
			final:   base + "/x", asked: []string{"/robots.txt", "/x"},
		},
		{
			name: "without a scheme, http alone", target: "shop.example",
			answers: map[string]crawltest.Answer{"http://shop.example/": page("Home")},
			final:   "http://shop.example/", asked: []string{
				"/robots.txt", "http://shop.example/robots.txt",
				"http://shop.example/",
			},
		},
		{
			name: "redirect to another host, whose robots.txt is read first", target: base,
			answers: map[string]crawltest.Answer{
				"/": crawltest.Redirect(301, "https://www.shop.example/"), "https://www.shop.example/": page("Home"),
			},
			final: "https://www.shop.example/", asked: []string{
				"/robots.txt", "/",
				"https://www.shop.example/robots.txt", "https://www.shop.example/",
			},
		},
		{
			name: "excluded", target: base, excluded: true, final: base + "/",
			answers: map[string]crawltest.Answer{"/robots.txt": crawltest.Text("text/plain",
				"User-agent: *\nDisallow: /"), "/": page("Home")},
			asked: []string{"/robots.txt"},
		},
		{
			name: "excluded by a robots.txt that fails", target: base, excluded: true, final: base + "/",
			answers: map[string]crawltest.Answer{"/robots.txt": {Status: 503}, "/": page("Home")},
			asked:   []string{"/robots.txt"},
		},
		{
			name: "excluded by a robots.txt that hangs, on a website that is there", target: base, excluded: true,
			final:   base + "/",
			answers: map[string]crawltest.Answer{"/robots.txt": {Failure: crawl.TimedOut}, "/": page("Home")},
			asked:   []string{"/robots.txt", "/"},
		},
		{
			name: "hangs", target: base, problem: "target_unreachable",
			answers: map[string]crawltest.Answer{
				"/robots.txt": {Failure: crawl.TimedOut},
				"/":           {Failure: crawl.TimedOut},
			}, asked: []string{"/robots.txt", "/"},
		},
		{name: "nobody there", target: base, problem: "target_unreachable", asked: []string{"/robots.txt"}},
		{
			name: "private network", target: base, problem: "target_not_allowed",
			answers: map[string]crawltest.Answer{"/robots.txt": {Failure: crawl.NotAllowed}},
			asked:   []string{"/robots.txt"},
		},
		{
			name: "a circle", target: base, failure: crawl.RedirectLoop, final: base + "/",
			answers: map[string]crawltest.Answer{
				"/":  crawltest.Redirect(302, "/a"),
				"/a": crawltest.Redirect(302, "/"),
			}, asked: []string{"/robots.txt", "/", "/a"},
		},
		{
			name: "many hops", target: base, failure: crawl.ManyHops, final: base + "/", answers: redirects,
			asked: []string{"/robots.txt", "/", "/1", "/2", "/3", "/4", "/5"},
		},
		{
			name: "away from https", target: base, failure: crawl.BadRedirect, final: base + "/",
			answers: map[string]crawltest.Answer{"/": crawltest.Redirect(302, "http://shop.example/")},
			asked:   []string{"/robots.txt", "/"},
		},
		{
			name: "a picture", target: base, failure: crawl.NotHTML, final: base + "/",
			answers: map[string]crawltest.Answer{"/": crawltest.Text("image/png", "x")}, asked: []string{
				"/robots.txt",
				"/",
			},
		},
		{name: "other scheme", target: "ftp://shop.example", problem: "invalid_url"},
		{name: "user name", target: "https://a:b@shop.example", problem: "invalid_url"},
		{name: "nothing", target: " ", problem: "invalid_url"},
		{name: "no name", target: "https://exa mple", problem: "invalid_url"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			web := site(tt.answers)
			s, err := crawl.Open(t.Context(), web, tt.target, quick())
			if diff := cmp.Diff(tt.asked, asked(web)); diff != "" {
				t.Errorf("Open(%q) asked for (-want +got):\n%s", tt.target, diff)
			}
			if tt.problem != "" {
				if !problem.Is(err, tt.problem) {
					t.Errorf("Open(%q) = %v, want %s", tt.target, err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatalf("Open(%q): %v", tt.target, err)
			}
			if excluded := s.Excluded != nil; excluded != tt.excluded {
				t.Fatalf("Open(%q).Excluded = %v, want %v", tt.target, s.Excluded, tt.excluded)
			}
			if tt.excluded {
				return
			}
			if s.Home.Failure != tt.failure {
				t.Errorf("Open(%q).Home.Failure = %q, want %q", tt.target, s.Home.Failure, tt.failure)
			}
			if got := s.Home.URL.String(); tt.failure == "" && got != tt.final {
				t.Errorf("Open(%q).Home.URL = %s, want %s", tt.target, got, tt.final)
			}
		})
	}
}

const urlset = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">%s</urlset>`

func TestSample(t *testing.T) {
	t.Parallel()
	var items strings.Builder
	answers := map[string]crawltest.Answer{"/": page("Home", "/pricing", "/blog/", "https://other.example/")}
	for _, p := range []string{
		"/blog/", "/blog/a", "/blog/b", "/blog/c", "/blog/d", "/about", "/doc/x", "/doc/y",
		"/file.pdf",
	} {
		fmt.Fprintf(&items, "<url><loc>%s%s</loc><lastmod>2026-01-%02d</lastmod></url>", base, p,
			1+len(items.String())%28)
		answers[p] = page(p)
	}
	answers["/pricing"] = page("Pricing")
	answers["/robots.txt"] = crawltest.Text("text/plain",
		"User-agent: ace-audit\nDisallow: /doc/y\nSitemap: "+base+"/index.xml")
	answers["/index.xml"] = crawltest.Text("application/xml",
		`<sitemapindex><sitemap><loc>`+base+`/one.xml</loc></sitemap><sitemap><loc>`+base+
			`/index.xml</loc></sitemap></sitemapindex>`)
	answers["/one.xml"] = crawltest.Text("application/xml", fmt.Sprintf(urlset, items.String()))
	run := func() (paths []string, stages []string) {
		web := site(answers)
		s, err := crawl.Open(t.Context(), web, base, quick())
		if err != nil {
			t.Fatal(err)
		}
		pages, err := s.Sample(t.Context(), 0,
			func(stage string, done, planned int) { stages = append(stages, fmt.Sprint(stage, done, "/", planned)) })
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			paths = append(paths, strings.TrimSpace(p.Path()+" "+string(p.Failure)))
		}
		return paths, stages
	}
	paths, stages := run()
	want := []string{"/", "/pricing", "/blog/", "/doc/x", "/about", "/blog/b", "/doc/y blocked_by_robots", "/blog/d"}
	if len(paths) != len(want) || paths[0] != "/" || paths[1] != "/pricing" || paths[2] != "/blog/" {
		t.Errorf("Sample = %q, want such as %q", paths, want)
	}
	if last := stages[len(stages)-1]; last != "pages8/8" {
		t.Errorf("the last stage is %q", last)
	}
	again, _ := run()
	if diff := cmp.Diff(paths, again); diff != "" {
		t.Errorf("a second crawl differs (-first +second):\n%s", diff)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		robots string
		o      crawl.Options
		took   time.Duration // the first pause is a second: the delay is not known before robots.txt is
	}{
		{"one a second", "", crawl.Options{}, 3 * time.Second},
		{"crawl delay", "User-agent: *\nCrawl-delay: 4", crawl.Options{}, 9 * time.Second},
		{"crawl delay of hours", "User-agent: *\nCrawl-delay: 7200", crawl.Options{}, 21 * time.Second},
		{"own website", "User-agent: *\nCrawl-delay: 7200", crawl.Options{Interval: -1}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				web := site(map[string]crawltest.Answer{
					"/": page("Home"), "/a": page("A"), "/b": page("B"),
					"/robots.txt": crawltest.Text("text/plain", tt.robots),
				})
				start := time.Now()
				s, err := crawl.Open(t.Context(), web, base, &tt.o)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []string{"/a", "/b", "/a"} {
					if p, err := s.Get(t.Context(), p); err != nil || !p.OK() {
						t.Fatalf("Get = %v, %v", p, err)
					}
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("4 requests took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	answers := map[string]crawltest.Answer{
		"/": page("Home"), "/a": page("A"), "/b": page("B"),
		"/slow": crawltest.Page("x"),
	}
	tests := []struct {
		name string
		o    crawl.Options
		ctx  time.Duration
		want []crawl.Failure // of /a and /b
	}{
		{"enough", crawl.Options{}, 0, []crawl.Failure{"", ""}},
		{"requests", crawl.Options{MaxRequests: 3}, 0, []crawl.Failure{"", crawl.OutOfBudget}},
		{"bytes", crawl.Options{MaxBytes: 100}, 0, []crawl.Failure{crawl.OutOfBudget, crawl.OutOfBudget}},
		{"time", crawl.Options{MaxWall: 2500 * time.Millisecond}, 0, []crawl.Failure{"", crawl.OutOfBudget}},
		{
			"time of the caller, with something left",
			crawl.Options{},
			4500 * time.Millisecond,
			[]crawl.Failure{"", crawl.OutOfBudget},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.ctx > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.ctx)
					defer cancel()
				}
				s, err := crawl.Open(ctx, site(answers), base, &tt.o)
				if err != nil {
					t.Fatal(err)
				}
				for i, path := range []string{"/a", "/b"} {
					p, err := s.Get(ctx, path)
					if err != nil {
						t.Fatal(err)
					}
					if p.Failure != tt.want[i] {
						t.Errorf("Get(%s).Failure = %q, want %q", path, p.Failure, tt.want[i])
					}
				}
			})
		})
	}
}

func TestAskedToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		web := site(map[string]crawltest.Answer{
			"/": page("Home"), "/a": {Status: 429, Header: map[string]string{"Retry-After": "5"}}, "/b": page("B"),
			"/c": {Status: 429, Header: map[string]string{"Retry-After": "600"}}, "/d": page("D"),
		})
		s, err := crawl.Open(t.Context(), web, base, nil)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var got []string
		for _, path := range []string{"/a", "/b", "/c", "/d"} {
			p, err := s.Get(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(path, " ", p.Response.Status, string(p.Failure), " ", time.Since(start)))
		}
		want := []string{"/a 429 1s", "/b 200 6s", "/c 429 7s", "/d 0asked_to_wait 7s"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestSharedPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pacer := crawl.NewPacer()
		start := time.Now()
		done := make(chan error)
		for range 3 {
			go func() {
				_, err := crawl.Open(t.Context(), site(map[string]crawltest.Answer{"/": page("Home")}), base,
					&crawl.Options{Pacer: pacer})
				done <- err
			}()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("three crawls with two requests each took %s, want 5s", took)
		}
	})
}

// TestForeignSchemes: what a website names is only ever asked for over HTTP.
func TestForeignSchemes(t *testing.T) {
	t.Parallel()
	web := site(map[string]crawltest.Answer{
		"/": page("Home", "ftp://shop.example/x", "javascript:x"), "/robots.txt": crawltest.Text("text/plain",
			"Sitemap: file:///etc/passwd\nSitemap: https://a:b@shop.example/s.xml"),
	})
	s, err := crawl.Open(t.Context(), web, base, quick())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sample(t.Context(), 0, nil); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"ftp://shop.example/x", "file:///etc/passwd", "https://a:b@shop.example/", "%zz"} {
		p, err := s.Get(t.Context(), address)
		if err != nil || p.OK() || p.Failure == "" {
			t.Errorf("Get(%s) = %+v, %v", address, p, err)
		}
	}
	if diff := cmp.Diff([]string{"/robots.txt", "/"}, asked(web)); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
}

func TestFetcher(t *testing.T) {
	t.Parallel()
	crawltest.RunFetcher(t, func(_ *testing.T, answers map[string]crawltest.Answer) (crawl.Fetcher, string) {
		return site(answers), base
	})
}
