package readiness_test

import (
	"context"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/readiness"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const base = "https://riverside.example"

// today is the day on which the audits of the tests run.
var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// web is the responses of a website by their paths.
type web map[string]crawltest.Answer

// cleanWeb is a website without a fault.
func cleanWeb(t testing.TB) web {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/clean.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := web{}
	var items strings.Builder
	for i, f := range archive.Files {
		head, body, _ := strings.Cut(string(f.Data), "\n\n")
		fields := map[string]string{}
		for line := range strings.Lines(head) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			fields[name] = value
		}
		w[f.Name] = crawltest.Page(frame(f.Name, fields, body))
		modified := time.Date(2026, 11, 2+i, 8, 0, 0, 0, time.UTC).Format(time.DateOnly)
		if p := fields["published"]; p != "" {
			modified = p
		}
		fmt.Fprintf(&items, "  <url><loc>%s%s</loc><lastmod>%s</lastmod></url>\n", base, f.Name, modified)
	}
	w["/robots.txt"] = crawltest.Text("text/plain", "User-agent: *\nAllow: /\n\nSitemap: "+base+"/sitemap.xml\n")
	w["/sitemap.xml"] = crawltest.Text("application/xml",
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"+
			items.String()+"</urlset>\n")
	return w
}

func frame(path string, fields map[string]string, body string) string {
	data := ""
	switch {
	case path == "/":
		data = `{"@context":"https://schema.org","@type":"Organization","name":"Riverside Cycles","url":"` + base +
			`/","logo":"` + base +
			`/logo.png","sameAs":["https://www.instagram.com/riversidecycles","https://www.wikidata.org/wiki/Q1"]}`
	case fields["type"] == "article":
		name := body[strings.Index(body, `href="/about">`)+len(`href="/about">`):]
		name = name[:strings.Index(name, "<")]
		data = fmt.Sprintf(
			`{"@context":"https://schema.org","@type":"BlogPosting","headline":%q,"datePublished":%q,`+
				`"author":{"@type":"Person","name":%q,"url":%q}}`,
			fields["title"],
			fields["published"],
			name,
			base+"/about",
		)
	}
	if data != "" {
		data = "<script type=\"application/ld+json\">" + data + "</script>\n"
	}
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>` + html.EscapeString(fields["title"]) + `</title>
<meta name="description" content="` + html.EscapeString(fields["description"]) + `">
<meta property="og:site_name" content="Riverside Cycles">
<link rel="canonical" href="` + base + path + `">
` + data + `</head>
<body>
<header><a href="/"><img src="/logo.png" alt="Riverside Cycles"></a>
<nav><a href="/services">Services</a> <a href="/prices">Prices</a> <a href="/blog/winter">Winter</a> <a ` +
		`href="/blog/cargo">Cargo bikes</a></nav></header>
<main>
` + body + `</main>
<footer><a href="/about">About us</a> <a href="/contact">Contact</a></footer>
</body>
</html>
`
}

// edit replaces a piece of a page, which must be there.
func (w web) edit(t testing.TB, path, old, with string) {
	t.Helper()
	a, ok := w[path]
	if !ok || !strings.Contains(a.Body, old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	a.Body = strings.ReplaceAll(a.Body, old, with)
	w[path] = a
}

// head sets a header of a page.
func (w web) head(path, name, value string) {
	a := w[path]
	a.Header = maps.Clone(a.Header)
	a.Header[name] = value
	w[path] = a
}

// everywhere does something to each page.
func (w web) everywhere(do func(path string)) {
	for path, a := range w {
		if strings.HasPrefix(a.Header["Content-Type"], "text/html") {
			do(path)
		}
	}
}

func (w web) full() map[string]crawltest.Answer {
	full := map[string]crawltest.Answer{"http://riverside.example/": crawltest.Redirect(301, base+"/")}
	for path, a := range w {
		if !strings.Contains(path, "://") {
			path = base + path
		}
		full[path] = a
	}
	return full
}

// audit audits a website on the day of the tests, in fake time.
func audit(t *testing.T, w web, o *readiness.Options) (report *readiness.Report) {
	t.Helper()
	return run(t, func(*testing.T) crawl.Fetcher { return crawltest.New(w.full()) }, base+"/", o)
}

func run(t *testing.T, fetcher func(*testing.T) crawl.Fetcher, target string,
	o *readiness.Options,
) (report *readiness.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(today))
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var err error
		if report, err = readiness.New(fetcher(t), o).Run(ctx, readiness.Request{URL: target}, nil); err != nil {
			t.Fatalf("Run(%s): %v", target, err)
		}
	})
	return report
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run the test with -update and look at the difference.\ngot:\n%s", path, got)
	}
}

func failing(status int) crawltest.Answer { return crawltest.Answer{Status: status} }

func redirect(to string) crawltest.Answer { return crawltest.Redirect(302, to) }

func text(kind, body string) crawltest.Answer { return crawltest.Text(kind, body) }
