package testsites

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// hostileSite serves sites/hostile.txtar and, beside it, responses without end
// or measure.
func hostileSite(origin string) http.Handler {
	a, err := readArchive("hostile")
	if err != nil { // an embedded file; the tests of this package read it
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", a.handler(origin))
	// A calendar without an end, and folders inside folders.
	mux.HandleFunc("GET /calendar", func(w http.ResponseWriter, r *http.Request) {
		month, _ := strconv.Atoi(r.URL.Query().Get("month"))
		var b strings.Builder
		for day := 1; day <= 31; day++ {
			fmt.Fprintf(&b, "<a href=\"/calendar?month=%d&amp;day=%d\">%d</a> ", month, day, day)
		}
		fmt.Fprintf(&b,
			"<a rel=next href=\"/calendar?month=%d\">Next month</a> <a href=\"/calendar?month=%d\">Last month</a>",
			month+1, month-1)
		page(w, fmt.Sprintf("Month %d", month), b.String())
	})
	mux.HandleFunc("GET /maze/", func(w http.ResponseWriter, r *http.Request) {
		page(w, fmt.Sprintf("Level %d of the maze", strings.Count(r.URL.Path, "/")),
			`<p><a href="left/">Go left</a> <a href="right/">Go right</a></p>`)
	})
	mux.HandleFunc("GET /session", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("sid"))
		page(w, "Session",
			fmt.Sprintf(`<p><a href="/session?sid=%d">Go on</a> <a href="/session;jsessionid=%d">or here</a></p>`,
				n*31+7, n))
	})
	whole := func(contentType string, text func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, text())
		}
	}
	const page = "text/html; charset=utf-8"
	mux.HandleFunc("GET /deep", whole(page, func() string {
		return "<!doctype html><title>Deep</title><h1>Deep</h1>" + strings.Repeat("<div><span>",
			5_000) + "The bottom." + strings.Repeat("</span></div>", 5_000)
	}))
	mux.HandleFunc("GET /attributes", whole(page, func() string {
		return "<!doctype html><title>Attributes</title><body data-a=\"" + strings.Repeat("a",
			1<<20) + "\" " + strings.Repeat("b=c ", 50_000) + "><h1>Attributes</h1><p>Few words."
	}))
	mux.HandleFunc("GET /many-links", whole(page, func() string {
		var b strings.Builder
		b.WriteString("<!doctype html><title>Many links</title><h1>Many links</h1>")
		for i := range 20_000 {
			fmt.Fprintf(&b, "<a href=\"/link/%d\">Link %d</a>\n", i, i)
		}
		return b.String()
	}))
	mux.HandleFunc("GET /long-title", whole(page, func() string {
		return "<!doctype html><title>" + strings.Repeat("Long title ", 20_000) + "</title><h1>Long</h1><p>Few words."
	}))
	mux.HandleFunc("GET /headers", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 2_000 {
			w.Header().Add("X-Pad-"+strconv.Itoa(i), strings.Repeat("x", 500))
			w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s", i, strings.Repeat("y", 200)))
		}
		_, _ = io.WriteString(w, "<!doctype html><title>Headers</title><h1>Headers</h1>")
	})
	mux.HandleFunc("GET /links-header", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat(`<https://evil.example/>; rel="canonical", `, 500)+`<<<;;"`)
		w.Header().Set("X-Robots-Tag", strings.Repeat("unavailable_after: never, ", 500))
		_, _ = io.WriteString(w, "<!doctype html><title>Links in the header</title><h1>Links in the header</h1>")
	})
	mux.HandleFunc("GET /binary",
		whole(page, func() string { return "\x7fELF" + strings.Repeat("\x00\x01\xfe\xff", 40_000) }))
	mux.HandleFunc("GET /inwards", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/iam/", http.StatusFound)
	})
	mux.HandleFunc("GET /abort", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, "<!doctype html><title>Abort</title>")
		panic(http.ErrAbortHandler)
	})
	// The XML of the sitemap grows when its entities are expanded.
	mux.HandleFunc("GET /sitemap-entities.xml", whole("application/xml", func() string {
		var b strings.Builder
		b.WriteString("<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY a0 \"aaaaaaaaaa\">")
		for i := 1; i < 12; i++ {
			fmt.Fprintf(&b, "<!ENTITY a%d \"%s\">", i, strings.Repeat(fmt.Sprintf("&a%d;", i-1), 10))
		}
		b.WriteString("<!ENTITY file SYSTEM \"file:///etc/passwd\">]><urlset><url><loc>" + origin +
			"/&a11;&file;</loc></url></urlset>")
		return b.String()
	}))
	mux.HandleFunc("GET /sitemap-circle.xml", whole("application/xml", func() string {
		return `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>` + origin +
			`/sitemap-circle.xml</loc></sitemap><sitemap><loc>http://169.254.169.254/sitemap.xml</loc></sitemap>` +
			`</sitemapindex>`
	}))
	return mux
}

// hugeSections are the parts of the huge site.
const hugePages = 10_000

// hugeSite has 10,000 generated pages in ten sections, all in one sitemap, and
// /big, a page of 10 MB.
func hugeSite(origin string) http.Handler {
	sections := []string{
		"lamps", "chairs", "tables", "rugs", "clocks", "shelves", "desks", "mirrors", "vases",
		"blankets",
	}
	address := func(i int) string { return fmt.Sprintf("/%s/item-%05d", sections[i%len(sections)], i) }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		b.WriteString(
			"<p>A warehouse with ten thousand things. <a href=\"/big\">The whole list on one page</a></p><nav><ul>")
		for _, s := range sections {
			fmt.Fprintf(&b, "<li><a href=\"/%s/\">%s%s</a></li>", s, strings.ToUpper(s[:1]), s[1:])
		}
		b.WriteString("</ul></nav>")
		page(w, "Warehouse", b.String())
	})
	for k, s := range sections {
		mux.HandleFunc("GET /"+s+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
			var b strings.Builder
			fmt.Fprintf(&b, "<p>All our %s, a thousand of them.</p><ul>", s)
			for i := k; i < hugePages; i += len(sections) {
				fmt.Fprintf(&b, "<li><a href=\"%s\">Item %d</a></li>\n", address(i), i)
			}
			page(w, "All "+s, b.String()+"</ul>")
		})
	}
	mux.HandleFunc("GET /{section}/{item}", func(w http.ResponseWriter, r *http.Request) {
		i, err := strconv.Atoi(strings.TrimPrefix(r.PathValue("item"), "item-"))
		if err != nil || i < 0 || i >= hugePages || r.URL.Path != address(i) {
			http.NotFound(w, r)
			return
		}
		page(w, fmt.Sprintf("Item %d of the %s", i, r.PathValue("section")),
			fmt.Sprintf("<p>This is item %d. It weighs %d grams and costs %d.00 €.</p>", i, 100+i*7%900, 5+i%95))
	})
	mux.HandleFunc("GET /big", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w,
			"<!doctype html><html lang=\"en\"><title>The whole list</title><h1>The whole list</h1>")
		line := bytes.Repeat([]byte("<p>A line of the list that says little and goes on for long.</p>\n"), 160)
		for sent := 0; sent < 10<<20; sent += len(line) {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "User-agent: *\nAllow: /\nSitemap: "+origin+"/sitemap.xml\n")
	})
	mux.HandleFunc("GET /sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		_, _ = io.WriteString(w,
			`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+"\n")
		for i := range hugePages {
			_, _ = fmt.Fprintf(w, "<url><loc>%s%s</loc><lastmod>2026-%02d-%02d</lastmod></url>\n", origin, address(i),
				i%6+1, i%28+1)
		}
		_, _ = io.WriteString(w, "</urlset>\n")
	})
	return mux
}
