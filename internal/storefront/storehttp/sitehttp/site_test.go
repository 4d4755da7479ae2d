package sitehttp_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

func TestPageShapes(t *testing.T) {
	w := storetest.StartSite(t)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	tests := []struct {
		name, method, path, accept string
		status                     int
		kind                       string
		see                        []string
	}{
		{
			"a browser", "GET", "/about", browser, 200, "text/html; charset=utf-8",
			[]string{"<h1 id=", "Example Trading Ltd"},
		},
		{"anything", "GET", "/about", "*/*", 200, "text/html; charset=utf-8", nil},
		{"nothing said", "GET", "/about", "", 200, "text/html; charset=utf-8", nil},
		{
			"markdown", "GET", "/about", "text/markdown", 200, "text/markdown; charset=utf-8",
			[]string{"---\ntitle: \"About\"\n", "# About Test Store"},
		},
		{
			"markdown preferred",
			"GET",
			"/about",
			"text/html;q=0.5, text/markdown",
			200,
			"text/markdown; charset=utf-8",
			nil,
		},
		{
			"markdown liked as much", "GET", "/about", "text/markdown, text/html", 200, "text/markdown; charset=utf-8",
			nil,
		},
		{"html preferred", "GET", "/about", "text/html, text/markdown;q=0.9", 200, "text/html; charset=utf-8", nil},
		{"markdown refused", "GET", "/about", "text/markdown;q=0", 200, "text/html; charset=utf-8", nil},
		{"twin", "GET", "/about.md", browser, 200, "text/markdown; charset=utf-8", []string{"# About Test Store"}},
		{
			"twin of the first page", "GET", "/index.md", browser, 200, "text/markdown; charset=utf-8",
			[]string{"# A store that your assistant can use", "/products/home_box): USD 149.00 once"},
		},
		{
			"twin of an offer", "GET", "/products/home_box.md", "", 200, "text/markdown; charset=utf-8",
			[]string{"# Home Box", "- **Price**: USD 149.00 once, plus tax"},
		},
		{"query", "GET", "/about?cache=buster", browser, 200, "text/html; charset=utf-8", nil},
		{"head", "HEAD", "/about", browser, 200, "text/html; charset=utf-8", nil},
		{
			"missing for a browser", "GET", "/nope", browser, 404, "text/html; charset=utf-8",
			[]string{"This page does not exist", `content="noindex"`},
		},
		{
			"missing as markdown", "GET", "/nope", "text/markdown", 404, "text/markdown; charset=utf-8",
			[]string{"# Not found", "/sitemap.xml"},
		},
		{"missing twin", "GET", "/nope.md", browser, 404, "text/markdown; charset=utf-8", nil},
		{
			"missing as JSON", "GET", "/nope", "application/json", 404, "application/problem+json",
			[]string{`"code":"page_not_found"`},
		},
		{"missing document", "GET", "/nope.json", "", 404, "application/problem+json", nil},
		{
			"missing call", "GET", "/agent/nope", browser, 404, "application/problem+json",
			[]string{`"code":"not_found"`},
		},
		{"missing service", "GET", "/v1/nope", "text/markdown", 404, "application/problem+json", nil},
		{"missing companion", "GET", "/.well-known/nope", browser, 404, "application/problem+json", nil},
		{"missing offer", "GET", "/products/nope", browser, 404, "text/html; charset=utf-8", nil},
		{"nobody's checkout", "GET", "/checkout", browser, 403, "text/html; charset=utf-8", nil},
		{
			"wrong method", "POST", "/about", "", 405, "application/problem+json",
			[]string{`"code":"method_not_allowed"`},
		},
		{"wrong method, no page", "DELETE", "/nope", "", 404, "application/problem+json", nil},
		{"wrong method, document", "POST", "/sitemap.xml", "", 405, "application/problem+json", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := w.Do(tt.method, tt.path, "", "Accept", tt.accept)
			if r.Status != tt.status || r.Header.Get("Content-Type") != tt.kind {
				t.Fatalf("%s %s = %d %s, want %d %s\n%s", tt.method, tt.path, r.Status, r.Header.Get("Content-Type"),
					tt.status, tt.kind, r.Body)
			}
			r.Shows(t, tt.see...)
			if tt.kind != "application/problem+json" && !strings.HasPrefix(r.Header.Get("Vary"), "Accept,") {
				t.Errorf("Vary = %q, want Accept", r.Header.Get("Vary"))
			}
			if tt.status == 405 && r.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow = %q", r.Header.Get("Allow"))
			}
		})
	}
}

func TestPageRedirects(t *testing.T) {
	w := storetest.StartSite(t)
	for from, to := range map[string]string{"/about/": "/about", "/index": "/", "/docs/?a=b": "/docs?a=b"} {
		r := w.Do("GET", from, "")
		if r.Status != http.StatusPermanentRedirect || r.Header.Get("Location") != to {
			t.Errorf("%s = %d to %q, want 308 to %q", from, r.Status, r.Header.Get("Location"), to)
		}
	}
}

func TestPageCaching(t *testing.T) {
	w := storetest.StartSite(t)
	tags := map[string]bool{}
	for _, accept := range []string{"text/html", "text/markdown"} {
		first := w.Do("GET", "/terms", "", "Accept", accept, "Accept-Encoding", "identity")
		tag := first.Header.Get("ETag")
		if tag == "" || tags[tag] || first.Header.Get("Cache-Control") != "public, max-age=300" ||
			first.Header.Get("Last-Modified") != "Sat, 21 Nov 2026 00:00:00 GMT" {
			t.Errorf("%s: headers %v", accept, first.Header)
		}
		tags[tag] = true
		again := w.Do("GET", "/terms", "", "Accept", accept, "If-None-Match", tag, "Accept-Encoding", "identity")
		if again.Status != http.StatusNotModified || len(again.Body) != 0 || again.Header.Get("ETag") != tag {
			t.Errorf("%s: the same page again = %d, %d bytes", accept, again.Status, len(again.Body))
		}
		packed := w.Do("GET", "/terms", "", "Accept", accept, "Accept-Encoding", "br, gzip")
		zip, err := gzip.NewReader(bytes.NewReader(packed.Body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(zip)
		if err != nil || !bytes.Equal(body, first.Body) || packed.Header.Get("ETag") == tag {
			t.Errorf("%s: packed page differs or has the same tag", accept)
		}
	}
	live := w.Do("GET", "/products/home_box", "")
	if live.Header.Get("Cache-Control") != "public, max-age=30" || live.Header.Get("Last-Modified") != "" {
		t.Errorf("page of an offer: %v, want 30 seconds and no claim of a time", live.Header)
	}
}

// TestPageHead looks at what programs read in the head of a page and around it.
func TestPageHead(t *testing.T) {
	w := storetest.StartSite(t)
	tests := []struct {
		path string
		kind string // of Open Graph
		want []string
	}{
		{"/", "website", []string{"Organization", "WebSite", "WebPage", "ItemList"}},
		{"/about", "article", []string{"Organization", "WebSite", "WebPage", "BreadcrumbList"}},
		{"/products/home_box", "product", []string{"Organization", "WebSite", "WebPage", "BreadcrumbList", "Product"}},
		{
			"/products/setup_call", "product",
			[]string{"Organization", "WebSite", "WebPage", "BreadcrumbList", "Service"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			r := w.Do("GET", tt.path, "")
			address := w.URL + tt.path
			r.Shows(t, `<link rel="canonical" href="`+address+`">`, `<meta property="og:url" content="`+address+`">`,
				`<meta property="og:type" content="`+tt.kind+`">`,
				`<meta property="og:image" content="`+w.URL+`/assets/card.png">`, `<meta name="description" content="`,
				`<html lang="en">`)
			block := regexp.MustCompile(`(?s)<script type="application/ld\+json">(.*?)</script>`).FindSubmatch(r.Body)
			var linked struct {
				Context string           `json:"@context"`
				Graph   []map[string]any `json:"@graph"`
			}
			if block == nil || json.Unmarshal(block[1], &linked) != nil || linked.Context != "https://schema.org" {
				t.Fatalf("JSON-LD = %s", block)
			}
			var kinds []string
			for _, node := range linked.Graph {
				kinds = append(kinds, node["@type"].(string))
				if offers, ok := node["offers"].(map[string]any); ok &&
					(offers["price"] == nil || offers["priceCurrency"] != "USD" || offers["availability"] == nil ||
						offers["url"] != address) {
					t.Errorf("offer = %v", offers)
				}
			}
			if diff := cmp.Diff(tt.want, kinds); diff != "" {
				t.Errorf("JSON-LD (-want +got):\n%s", diff)
			}
			csp := r.Header.Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp,
				"script-src 'self'; connect-src 'self'") != (tt.path == "/") || strings.Count(csp, "script") > 1 {
				t.Errorf("Content-Security-Policy = %q, want one script of our own on the first page", csp)
			}
			if scripts := strings.Count(string(r.Body),
				"<script"); scripts != map[bool]int{true: 2, false: 1}[tt.path == "/"] {
				t.Errorf("%d scripts", scripts)
			}
			for _, want := range []string{
				`rel="service-desc"`, `rel="service-meta"`, `rel="sitemap"`,
				`rel="alternate"; type="text/markdown"`, `<` + address + `>; rel="canonical"`,
			} {
				if !strings.Contains(r.Header.Get("Link"), want) {
					t.Errorf("Link = %q, want %s", r.Header.Get("Link"), want)
				}
			}
		})
	}
	twin := w.Do("GET", "/about.md", "")
	if twin.Header.Get("X-Robots-Tag") != "noindex" || twin.Header.Get("X-Markdown-Tokens") == "" ||
		!strings.Contains(twin.Header.Get("Link"), `<`+w.URL+`/about>; rel="canonical"`) {
		t.Errorf("headers of the twin = %v", twin.Header)
	}
	if r := w.Do("GET", "/about", "", "Accept", "text/markdown"); r.Header.Get("Content-Location") != "/about.md" ||
		r.Header.Get("X-Robots-Tag") != "" {
		t.Errorf("headers of the negotiated page = %v", r.Header)
	}
}

// TestCompanionsResolve follows every address that the Link header and
// site.json name, and every address of the site on every page.
func TestCompanionsResolve(t *testing.T) {
	w := storetest.StartSite(t)
	for l := range strings.SplitSeq(w.Do("GET", "/about", "").Header.Get("Link"), ", <") {
		m := regexp.MustCompile(`^<?([^>]*)>; rel="([^"]*)"(?:; type="([^"]*)")?$`).FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("link %q cannot be read", l)
		}
		r := w.Do("GET", strings.TrimPrefix(m[1], w.URL), "")
		if r.Status != http.StatusOK || m[3] != "" && !strings.HasPrefix(r.Header.Get("Content-Type"), m[3]) {
			t.Errorf("%s (%s) = %d %s, want 200 %s", m[1], m[2], r.Status, r.Header.Get("Content-Type"), m[3])
		}
	}
	var info struct {
		Links map[string]string `json:"links"`
		Pages int               `json:"pages"`
	}
	answer := w.Do("GET", "/agent/site.json", "")
	answer.Into(t, &info)
	answer.Shows(t, `"legal_name":"Example Trading Ltd"`, `"authentication":"none"`)
	for key, address := range info.Links {
		want := http.StatusOK
		switch key {
		case "search", "read":
			want = http.StatusBadRequest // they need to be asked something
		case "mcp", "a2a":
			want = http.StatusMethodNotAllowed // they take POST
		}
		if r := w.Do("GET", address, ""); r.Status != want {
			t.Errorf("%s: %s = %d, want %d", key, address, r.Status, want)
		}
	}
	seen := map[string]bool{}
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		r := w.Do("GET", queue[0], "")
		if r.Status != http.StatusOK {
			t.Errorf("%s = %d", queue[0], r.Status)
		}
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"#]*)"`).FindAllStringSubmatch(string(r.Body), -1) {
			to := strings.ReplaceAll(strings.TrimPrefix(m[1], w.URL), "&amp;", "&")
			if strings.HasPrefix(to, "/") && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	if len(seen) < 25 || info.Pages != 17 {
		t.Errorf("%d addresses on the pages, %d pages", len(seen), info.Pages)
	}
}

func TestSearchAndRead(t *testing.T) {
	w := storetest.StartSite(t,
		fstest.MapFS{
			"long.md":   storetest.Page("# Long\n\n" + strings.Repeat("Some words in a paragraph.\n\n", 4000)),
			"secret.md": storetest.Page("---\nprivate: true\n---\n# S\n"),
		})
	tests := []struct {
		name, path string
		status     int
		see        []string
	}{
		{"search", "/agent/search?q=refunds", 200, []string{
			`"query":"refunds","total":1`, `"path":"/refunds"`,
			`"lastmod":"2026-11-21T00:00:00Z"`, `"score":1`,
		}},
		{"slip", "/agent/search?q=privcy", 200, []string{`"path":"/privacy"`}},
		{"offer", "/agent/search?q=mugs", 200, []string{`"path":"/products/founders_mug"`}},
		{"nothing found", "/agent/search?q=zebra", 200, []string{`"total":0,"results":[]`}},
		{"page of results", "/agent/search?q=products&limit=2", 200, []string{`"next_cursor":"`}},
		{"no words", "/agent/search", 400, []string{`"pointer":"q"`}},
		{"empty words", "/agent/search?q=%20", 400, []string{`"code":"query_required"`}},
		{"too many results", "/agent/search?q=a&limit=51", 400, []string{`"pointer":"limit"`}},
		{"bad cursor", "/agent/search?q=a&cursor=x", 400, []string{`"code":"invalid_cursor"`}},
		{
			"read", "/agent/read?path=/terms",
			200,
			[]string{`"format":"markdown"`, `"content":"# Terms\n`, `"truncated":false,"next_offset":null`},
		},
		{"read text", "/agent/read?path=/terms&format=text", 200, []string{`"format":"text"`, `"content":"Terms\n`}},
		{"read by address", "/agent/read?url=" + url.QueryEscape(w.URL+"/terms"), 200, []string{`"path":"/terms"`}},
		{"read a long page", "/agent/read?path=/long", 200, []string{`"truncated":true,"next_offset":`}},
		{"read on", "/agent/read?path=/long&offset=40000&limit=10", 200, []string{`"offset":40000,"returned":10`}},
		{"read nothing", "/agent/read", 400, []string{`"code":"path_required"`}},
		{"read another host", "/agent/read?url=https://evil.example/", 403, []string{`"code":"other_host"`}},
		{"read upwards", "/agent/read?path=/../../etc/passwd", 403, []string{`"code":"path_outside_site"`}},
		{"read upwards, escaped", "/agent/read?path=%252e%252e%252fetc", 403, []string{`"code":"path_outside_site"`}},
		{"read a private page", "/agent/read?path=/secret", 403, []string{`"code":"page_private"`}},
		{"read a checkout", "/agent/read?path=/checkout/abc/done", 403, []string{`"code":"page_private"`}},
		{"read what is not there", "/agent/read?path=/nope", 404, []string{`"code":"page_not_found"`, "/agent/search"}},
		{"bad format", "/agent/read?path=/terms&format=pdf", 400, []string{`"pointer":"format"`}},
		{"bad offset", "/agent/read?path=/terms&offset=-1", 400, []string{`"pointer":"offset"`}},
		{"no number", "/agent/read?path=/terms&offset=x", 400, []string{`"pointer":"offset"`}},
		{"offset behind the end", "/agent/read?path=/terms&offset=100000", 400, []string{`"code":"invalid_offset"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := w.Do("GET", tt.path, "")
			if r.Status != tt.status {
				t.Fatalf("%s = %d, want %d\n%s", tt.path, r.Status, tt.status, r.Body)
			}
			r.Shows(t, tt.see...)
			if tt.status == 200 && r.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Error("other web pages may not read the answer")
			}
		})
	}
}

// TestTwinEqualsRead keeps the three ways to a page's Markdown alike.
func TestTwinEqualsRead(t *testing.T) {
	w := storetest.StartSite(t)
	for _, path := range []string{"/about", "/products", "/products/home_box"} {
		var read struct{ Content string }
		w.Do("GET", "/agent/read?path="+path, "").Into(t, &read)
		twin := string(w.Do("GET", path+".md", "").Body)
		_, text, _ := strings.Cut(strings.TrimPrefix(twin, "---\n"),
			"\n---\n\n> For AI agents: all pages and interfaces of this site are in [llms.txt]("+w.URL+
				"/llms.txt).\n\n")
		if text != read.Content || twin != string(w.Do("GET", path, "", "Accept", "text/markdown").Body) {
			t.Errorf("%s differs: twin\n%s\nread\n%s", path, text, read.Content)
		}
	}
}

type urlset struct {
	XMLName xml.Name
	URLs    []struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
	} `xml:"url"`
	Parts []struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
	} `xml:"sitemap"`
}

// TestSitemap keeps 50,000 pages in one file and makes two of 50,001.
func TestSitemap(t *testing.T) {
	read := func(w *storetest.Store, path string) (s urlset) {
		t.Helper()
		r := w.Do("GET", path, "")
		if err := xml.Unmarshal(r.Body, &s); err != nil || r.Header.Get("Content-Type") != "application/xml" ||
			s.XMLName.Space != "http://www.sitemaps.org/schemas/sitemap/0.9" {
			t.Fatalf("%s = %d %v %v", path, r.Status, r.Header, err)
		}
		if again := w.Do("GET", path, "", "If-None-Match",
			r.Header.Get("ETag")); again.Status != http.StatusNotModified || len(again.Body) > 0 {
			t.Errorf("%s again = %d", path, again.Status)
		}
		if head := w.Do("HEAD", path, ""); head.Status != http.StatusOK ||
			head.Header.Get("ETag") != r.Header.Get("ETag") {
			t.Errorf("HEAD %s = %d", path, head.Status)
		}
		return s
	}
	w := storetest.StartMany(t, 50_000)
	one := read(w, "/sitemap.xml")
	if len(one.URLs) != 50_000 || one.URLs[0].Loc != w.URL+"/p&q/000006" ||
		one.URLs[0].LastMod != "2026-01-02T00:00:06Z" || one.URLs[49_999].LastMod != "2026-01-02" {
		t.Errorf("one file: %d addresses, first %+v, last %+v", len(one.URLs), one.URLs[0], one.URLs[len(one.URLs)-1])
	}
	w = storetest.StartMany(t, 50_001)
	index := read(w, "/sitemap.xml")
	if len(index.Parts) != 2 || index.Parts[1].Loc != w.URL+"/sitemaps/pages-0002.xml" || index.Parts[0].LastMod == "" {
		t.Fatalf("index = %+v", index)
	}
	seen := map[string]bool{}
	for i, want := range []int{50_000, 1} {
		part := read(w, strings.TrimPrefix(index.Parts[i].Loc, w.URL))
		if len(part.URLs) != want {
			t.Errorf("part %d holds %d addresses, want %d", i+1, len(part.URLs), want)
		}
		for _, u := range part.URLs {
			seen[u.Loc] = true
		}
	}
	if len(seen) != 50_001 {
		t.Errorf("the parts hold %d addresses", len(seen))
	}
	for _, path := range []string{
		"/sitemaps/pages-0003.xml", "/sitemaps/pages-0000.xml", "/sitemaps/pages-1.xml",
		"/sitemaps/x", "/sitemaps/pages-0001.xmlx",
	} {
		if r := w.Do("GET", path, ""); r.Status != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", path, r.Status)
		}
	}
}

// TestHostilePage shows a page whose text tries to become markup.
func TestHostilePage(t *testing.T) {
	w := storetest.StartSite(t,
		fstest.MapFS{
			"bad.md": storetest.Page(
				"---\ntitle: \"</title><script>alert(1)</script>\"\ndescription: " +
					"\"\\\"><script>alert(2)</script>\"\n---\n# A\n\n<script>alert(3)</script> " +
					"[x](javascript:alert(4)) ![y](data:text/html,x)\n\n</script><img src=x onerror=alert(5)>\n"),
		})
	body := string(w.Do("GET", "/bad", "").Body)
	for _, bad := range []string{"<script>alert", "javascript:", "<img src=x", "data:text/html"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q:\n%s", bad, body)
		}
	}
}

func TestStoreWithoutPages(t *testing.T) {
	w := storetest.Start(t)
	if r := w.Do("GET", "/", ""); r.Status != http.StatusNotFound {
		t.Errorf("first page = %d, want 404", r.Status)
	}
	if r := w.Do("GET", "/sitemap.xml", ""); r.Status != http.StatusOK {
		t.Errorf("sitemap = %d", r.Status)
	}
}

func TestLoop(t *testing.T) {
	w := storetest.StartSite(t)
	if r := w.Do("GET", "/about", "", "CDN-Loop", "other; a=b, ace"); r.Status != http.StatusUnprocessableEntity {
		t.Errorf("page for the store itself = %d, want 422", r.Status)
	}
	if r := w.Do("GET", "/about", "", "CDN-Loop", "other"); r.Status != http.StatusOK {
		t.Errorf("page through another network = %d", r.Status)
	}
}

func TestAssets(t *testing.T) {
	w := storetest.StartSite(t)
	card, err := png.Decode(bytes.NewReader(w.Do("GET", "/assets/card.png", "").Body))
	if err != nil || card.Bounds().Dx() != 1200 || card.Bounds().Dy() != 630 {
		t.Errorf("card = %v, %v", card, err)
	}
	if r := w.Do("GET", "/assets/icon.svg", ""); r.Header.Get("Content-Type") != "image/svg+xml" ||
		xml.Unmarshal(r.Body, new(any)) != nil {
		t.Errorf("icon = %d %v", r.Status, r.Header)
	}
}

// TestOwnFirstPage serves a first page of the operator's: it has the grid of
// products where its head asks for it, and not otherwise.
func TestOwnFirstPage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		head string
		grid bool
	}{{"title: Ours\nlist: offers\n", true}, {"title: Ours\n", false}}
	for _, tt := range tests {
		w := storetest.StartSite(
			t,
			fstest.MapFS{"index.md": {Data: []byte("---\n" + tt.head + "---\n# Hello\n\nOurs.\n")}},
		)
		page := w.Do(http.MethodGet, "/", "")
		page.Shows(t, "<h1", "Hello")
		if got := strings.Contains(string(page.Body), `<ul class="grid">`); got != tt.grid {
			t.Errorf("a first page with the head %q has a grid: %t, want %t", tt.head, got, tt.grid)
		}
	}
}
