package crawl_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func document(t testing.TB, source string) *crawl.Document {
	t.Helper()
	u, err := url.Parse(base + "/docs/intro")
	if err != nil {
		t.Fatal(err)
	}
	d, err := crawl.ParseDocument([]byte(source), "text/html", u)
	if err != nil {
		t.Fatalf("ParseDocument: %v", err)
	}
	return d
}

const sample = `<!doctype html>
<html lang="en-GB">
<head><title>A  lamp</title><meta name="Description" content=" Light
for all "><meta property="og:title" content="Lamp">
<meta name="robots" content="noarchive, max-snippet:20"><meta name="bingbot" content="none">
<link rel="canonical" href="/docs/intro"><link rel="alternate" hreflang="de" href="/de/">
<svg><title>not this</title></svg></head>
<body><header><a href="/">Home</a><nav><a href="/docs/">Docs</a></nav></header>
<main><article><header><h1>The lamp</h1></header>
<p>Text with <a href="https://other.example/x#y" rel="NoFollow">a source</a>, ` +
	`<a href="mailto:a@b.example">mail</a> and <a href="#top">top</a>.</p>
<h2>More</h2><!-- a remark --><a href="../img"><img src="i.png" alt="Picture"></a></article></main>
<aside><a href="/ad">Ad</a></aside><footer><a href="/imprint" aria-label="Imprint"></a></footer></body></html>`

func TestDocument(t *testing.T) {
	t.Parallel()
	d := document(t, sample)
	var links []string
	for _, l := range d.Links {
		links = append(links, fmt.Sprintf("%s %v %q %s", l.Part, l.URL, l.Text, l.Rel))
	}
	want := []string{
		`header https://shop.example/ "Home" `, `nav https://shop.example/docs/ "Docs" `,
		`main https://other.example/x "a source" nofollow`,
		`main <nil> "mail" `, `main https://shop.example/docs/intro "top" `, `main https://shop.example/img "Picture" `,
		`aside https://shop.example/ad "Ad" `,
		`footer https://shop.example/imprint "Imprint" `,
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("Links (-want +got):\n%s", diff)
	}
	var rules []string
	for _, r := range d.Robots {
		rules = append(rules, r.String())
	}
	if diff := cmp.Diff([]string{"noarchive", "max-snippet:20", "bingbot: none"}, rules); diff != "" {
		t.Errorf("Robots (-want +got):\n%s", diff)
	}
	got := []string{
		d.Title(), d.Description, d.Meta("og:title"), d.Lang, fmt.Sprint(d.Canonicals[0].URL), d.Alternates[0].Hreflang,
		fmt.Sprint(d.Headings[0].Level, d.Headings[0].Text, d.Headings[1].Level, d.Headings[1].Text),
		fmt.Sprint(len(d.Titles)), d.Charset,
	}
	if diff := cmp.Diff([]string{
		"A lamp", "Light for all", "Lamp", "en-GB", "https://shop.example/docs/intro", "de",
		"1The lamp2More", "1", "windows-1252",
	}, got); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if want := "The lamp\n\nText with a source, mail and top.\n\nMore\n\nPicture"; d.MainText != want ||
		d.MainWords != 11 {
		t.Errorf("MainText = %q, %d words, want %q, 11", d.MainText, d.MainWords, want)
	}
	if _, ok := d.Forbids("BingBot", "noindex"); !ok {
		t.Error("none for bingbot is not read as noindex")
	}
	if dir, ok := d.Forbids("", "noindex"); ok {
		t.Errorf("a rule for bingbot counts for all: %v", dir)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	d := document(t, sample)
	tests := []struct {
		name string
		node *html.Node
		line int
	}{
		{"heading", d.Headings[0].Node, 9},
		{"meta", d.Metas[3].Node, 5},
		{"link", d.Links[2].Node, 10},
		{"last link", d.Links[7].Node, 12},
		{"canonical", d.Canonicals[0].Node, 6},
		{"nothing", nil, 0},
	}
	for _, tt := range tests {
		if got := d.Where(tt.node); got.Line != tt.line || tt.line > 0 && d.Source[got.Byte] != '<' {
			t.Errorf("Where(%s) = %+v, want line %d", tt.name, got, tt.line)
		}
	}
	if got := d.Find("a remark"); got.Line != 11 {
		t.Errorf("Find = %+v, want line 11", got)
	}
	if got := d.Find("not there"); got != (crawl.Place{}) {
		t.Errorf("Find of nothing = %+v", got)
	}
}

func TestHeaderDirectives(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, agent, name string }{
		{"noindex", "anybot", "noindex"},
		{"googlebot: noindex, nofollow", "Googlebot", "noindex"},
		{"unavailable_after: 25 Jun 2030 15:00:00 PST", "anybot", "unavailable_after"},
		{"max-snippet:0", "anybot", "max-snippet"},
		{"NONE", "anybot", "noindex"},
	}
	for _, tt := range tests {
		p := crawl.NewPage(&crawl.Response{
			URL: base + "/", Status: 200,
			Header: crawl.Header{"content-type": {"text/html"}, "x-robots-tag": {tt.value}}, Body: []byte("<p>x"),
		})
		if dir, ok := p.Document.Forbids(tt.agent, tt.name); !ok || dir.Source != "header" {
			t.Errorf("X-Robots-Tag %q: Forbids(%s, %s) = %v, %v", tt.value, tt.agent, tt.name, dir, ok)
		}
		if tt.agent == "Googlebot" {
			if _, ok := p.Document.Forbids("bingbot", tt.name); ok {
				t.Errorf("X-Robots-Tag %q counts for bingbot", tt.value)
			}
		}
	}
}

func TestCharsets(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, contentType, source, want, charset string }{
		{"header", "text/html; charset=iso-8859-1", "<title>caf\xe9</title>", "café", "windows-1252"},
		{"meta", "text/html", "<meta charset=windows-1251><title>\xcc\xe8\xf0</title>", "Мир", "windows-1251"},
		{"byte order mark", "text/html; charset=iso-8859-1", "\ufeff<title>café</title>", "café", "utf-8"},
		{"wrong", "text/html; charset=utf-8", "<title>caf\xe9</title>", "café", "windows-1252"},
		{"UTF-8 declared as Latin 1", "text/html; charset=iso-8859-1", "<title>café</title>", "café", "utf-8"},
		{"UTF-8 without a charset", "text/html", strings.Repeat(" ", 1100) + "<title>café</title>", "café", "utf-8"},
		{"unknown", "text/html; charset=x-none", "<meta charset=utf-8><title>café</title>", "café", "utf-8"},
		{"utf-16", "text/html; charset=utf-16le", "<\x00t\x00i\x00t\x00l\x00e\x00>\x00x\x00", "x", "utf-16le"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := crawl.ParseDocument([]byte(tt.source), tt.contentType,
				&url.URL{Scheme: "https", Host: "a.example", Path: "/"})
			if err != nil {
				t.Fatal(err)
			}
			if d.Title() != tt.want || d.Charset != tt.charset {
				t.Errorf("Title = %q in %s, want %q in %s", d.Title(), d.Charset, tt.want, tt.charset)
			}
		})
	}
}

func TestHostileHTML(t *testing.T) {
	t.Parallel()
	var formats strings.Builder
	for i := range 400 {
		fmt.Fprintf(&formats, "<b id=%d>", i)
	}
	tests := []struct {
		name, source string
		fails        bool
	}{
		{
			"format tags that are opened again in every block",
			"<p>" + formats.String() + "</p>" + strings.Repeat("<p>x</p>", 50_000), true,
		},
		{"deep", strings.Repeat("<div>", 100_000), true},
		{"many elements", strings.Repeat("<br>", 500_000), true},
		{"many attributes", "<a " + strings.Repeat("x=y ", 200_000) + ">", false},
		{"format tags that are left open", strings.Repeat("<p><b>x", 2000), false},
		{"no end", "<!--" + strings.Repeat("-", 100_000), false},
		{"zero bytes", "<p>\x00</p>" + strings.Repeat("\x00", 1000), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := crawl.ParseDocument([]byte(tt.source), "text/html",
				&url.URL{Scheme: "https", Host: "a.example", Path: "/"})
			if fails := errors.Is(err, crawl.ErrTooComplex); fails != tt.fails {
				t.Errorf("ParseDocument fails with %v, want failure %v", err, tt.fails)
			}
			t.Logf("took %s", time.Since(start))
		})
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want int
	}{
		{"", 0},
		{"one two", 2},
		{"it's well-known, 3.5 km", 4},
		{"– … —", 0},
		{"日本語のテキスト", 4},
		{"café naïve", 2},
		{"mix 日本 text", 3},
	}
	for _, tt := range tests {
		if got := crawl.Words(tt.text); got != tt.want {
			t.Errorf("Words(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

func TestVisibleText(t *testing.T) {
	t.Parallel()
	d := document(
		t,
		`<p>a<b>b</b> <span hidden>h</span><span style="display: none !important">n</span>`+
			`<i style="text-indent:-9999px">o</i><script>s</script><style>t</style><template>u</template>c</p>`+
			`<div>d</div>`,
	)
	if got, want := dom.Visible(d.Root), "ab c d"; got != want {
		t.Errorf("VisibleText = %q, want %q", got, want)
	}
	if got, want := dom.Text(d.Root), "ab hnoc d"; got != want {
		t.Errorf("TextOf = %q, want %q", got, want)
	}
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		sample, "<a href='http://[::1'>", "<base href=//x><a href=y>",
		"<meta name=robots content=',,:'>", "<svg><title><p>", "\x00<h1", "<template><main>",
	} {
		f.Add([]byte(seed), "text/html")
	}
	f.Add([]byte("\xff\xfe<\x00"), "text/html; charset=utf-16")
	f.Fuzz(func(t *testing.T, source []byte, contentType string) {
		u := &url.URL{Scheme: "https", Host: "a.example", Path: "/"}
		d, err := crawl.ParseDocument(source, contentType, u)
		if err != nil {
			return
		}
		for n := range d.Root.Descendants() {
			if at := d.Where(n); at.Byte < 0 || at.Byte >= len(d.Source) && at.Line > 0 {
				t.Errorf("Where = %+v of %d bytes", at, len(d.Source))
			}
		}
		for _, l := range d.Links {
			if l.URL != nil && l.URL.Scheme != "http" && l.URL.Scheme != "https" {
				t.Errorf("a link to %s", l.URL)
			}
		}
		_ = dom.Visible(d.Root)
	})
}
