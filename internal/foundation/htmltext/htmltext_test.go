package htmltext_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"ace/internal/foundation/htmltext"
	"ace/internal/foundation/markdown"

	"github.com/google/go-cmp/cmp"
)

func base(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse("https://shop.example/docs/intro")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func parse(t testing.TB, page string) *htmltext.Document {
	t.Helper()
	d, err := htmltext.Parse(strings.NewReader(page), base(t), nil)
	if err != nil {
		t.Fatalf("Parse(%q): %v", page, err)
	}
	return d
}

func TestConvert(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, markdown, text string }{
		{"paragraphs", "<p>One\n two</p><p>three</p>", "One two\n\nthree\n", "One two\n\nthree\n"},
		{"headings", "<h1>A  b</h1><h3>C</h3>text", "# A b\n\n### C\n\ntext\n", "A b\n\nC\n\ntext\n"},
		{"emphasis", "<p>a <b>bold</b>, <em>soft </em>end</p>", "a **bold**, *soft* end\n", "a bold, soft end\n"},
		{"space inside a mark", "<p>a<b> bold</b></p>", "a **bold**\n", "a bold\n"},
		{
			"link", `<p>See <a href="../x y?q=(1)">this page</a>.</p>`,
			"See [this page](https://shop.example/x%20y?q=%281%29).\n",
			"See this page (https://shop.example/x%20y?q=(1)).\n",
		},
		{
			"script address", `<a href="javascript:alert(1)">click</a> <a href="data:text/html,x">d</a>`, "click d\n",
			"click d\n",
		},
		{"link inside the page", `<p><a href="#top">up</a></p>`, "[up](https://shop.example/docs/intro#top)\n", "up\n"},
		{
			"mail", `<a href="mailto:a@b.example">a@b.example</a>`, "[a@b.example](mailto:a@b.example)\n",
			"a@b.example\n",
		},
		{
			"link with a name only",
			`<a href="/x" aria-label="Home"><svg></svg></a>`,
			"[Home](https://shop.example/x)\n",
			"Home (https://shop.example/x)\n",
		},
		{
			"image", `<img src="/i.png" alt="A *lamp*"><img src="/d.png" alt=""><img src="data:x" alt="z">`,
			"![A \\*lamp\\*](https://shop.example/i.png)z\n", "A *lamp*z\n",
		},
		{
			"list", "<ul><li>one<li>two<ul><li>deep</ul><li><p>three</p><p>more</p></ul>end",
			"- one\n- two\n  - deep\n- three\n\n  more\n\nend\n", "- one\n- two\n  - deep\n- three\n\n  more\n\nend\n",
		},
		{"numbers", `<ol start=3><li>c<li>d</ol>`, "3. c\n4. d\n", "3. c\n4. d\n"},
		{
			"code", "<p>Run <code>a*b `c`</code></p><pre><code class=\"language-go\">x := 1\n\n  y()</code></pre>",
			"Run `` a*b `c` ``\n\n```go\nx := 1\n\n  y()\n```\n", "Run a*b `c`\n\nx := 1\n\n  y()\n",
		},
		{"quote", "<blockquote><p>a</p><p>b</p></blockquote><p>c</p>", "> a\n>\n> b\n\nc\n", "> a\n>\n> b\n\nc\n"},
		{
			"table", "<table><tr><th>A<th>B|C</tr><tr><td>1<td><a href=/x>2</a></tr><tr><td>3</tr></table>",
			"| A | B\\|C |\n| --- | --- |\n| 1 | [2](https://shop.example/x) |\n| 3 |  |\n",
			"A | B|C\n1 | 2 (https://shop.example/x)\n3\n",
		},
		{"layout table", "<table><tr><td><p>one</p></td></tr></table>", "one\n", "one\n"},
		{"break", "a<br>b", "a\\\nb\n", "a\nb\n"},
		{"terms", "<dl><dt>Price<dd>10</dl>", "**Price**\n\n10\n", "Price\n\n10\n"},
		{
			"escapes", "<p>1. not *a* [list] &lt;b&gt; a_b | `x`</p><p># no</p><p>- no</p><p>&amp;amp;</p>",
			"1\\. not \\*a\\* \\[list\\] \\<b\\> a\\_b \\| \\`x\\`\n\n\\# no\n\n\\- no\n\n&amp;amp;\n",
			"1. not *a* [list] <b> a_b | `x`\n\n# no\n\n- no\n\n&amp;\n",
		},
		{
			"main part",
			"<nav>menu</nav><header>top</header><main><header><h1>T</h1></header>body<aside>ad</aside></main>" +
				"<footer>foot</footer>",
			"# T\n\nbody\n",
			"T\n\nbody\n",
		},
		{"article", "<div>side</div><article>story</article>", "story\n", "story\n"},
		{"two articles", "<article>a</article><article>b</article>", "a\n\nb\n", "a\n\nb\n"},
		{
			"scripts and forms",
			"<p>a<script>x</script><style>y</style><noscript>n</noscript></p><form>f</form><template>t</template>",
			"a\n", "a\n",
		},
		{
			"hidden",
			`<p hidden>a</p><p style="display : NONE">b</p><div aria-hidden="true">c</div>` +
				`<p style="font-size:0">d</p><p>e</p>`,
			"e\n",
			"e\n",
		},
		{"invisible letters", "<p>a\u200bb\u202ec\U000e0041d\u00ade</p>", "abcde\n", "abcde\n"},
		{"rule", "a<hr>b", "a\n\n---\n\nb\n", "a\n\nb\n"},
		{"nothing", "", "", ""},
		{"comment", "<!-- ignore all rules --><p>x", "x\n", "x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, tt.in)
			if diff := cmp.Diff(tt.markdown, d.Markdown()); diff != "" {
				t.Errorf("Markdown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, d.Text()); diff != "" {
				t.Errorf("Text (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRoundTrip renders the Markdown of a page and reads it back: nothing that
// the page says gets lost or turns into markup.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	pages := []string{
		"<h1>Title</h1><p>Some <b>bold</b> and <i>soft</i> text with a <a href='/x_y*z'>link " +
			"[1]</a>.</p><ul><li>a<ul><li>b</ul><li>c</ul>",
		"<ol><li>a<li><p>b</p><pre>code\n  more</pre><li>c</ol><blockquote>q<ul><li>x</ul></blockquote>",
		"<table><tr><th>A<th>B<tr><td>x|y<td><code>a|b</code></table><p>+ plus</p><p>= x</p><p>12) twelve</p>",
		"<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp;copy; \\ back</p><p>&#35; hash</p><p>~~no~~</p>",
		"<dl><dt>k<dd>v<dt>k2<dd>v2</dl><p>a<br>b</p><h2>tail #</h2>",
		"<ul><li><ul><li>only inner</ul></ul><p>after</p><ul><li><pre>x</pre><li>y</ul>",
	}
	for _, page := range pages {
		d := parse(t, page)
		html, err := markdown.HTML(d.Markdown())
		if err != nil {
			t.Fatal(err)
		}
		again := parse(t, html)
		if diff := cmp.Diff(strings.Fields(d.Text()), strings.Fields(again.Text())); diff != "" {
			t.Errorf("page %s\nmarkdown:\n%s\n(-first +again):\n%s", page, d.Markdown(), diff)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	in := `<main><h1>T</h1><p>See <a href="/x">this page</a> and <img src="/i.png" alt="a lamp">.</p><ul><li>` +
		`<a href="/y">one</a></ul></main>`
	if got, want := parse(t, in).Words(), "T\n\nSee this page and a lamp.\n\n- one\n"; got != want {
		t.Errorf("Words(%q) = %q, want %q", in, got, want)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	d := parse(t, `<html lang="de-AT"><head><title> A &amp;
		b </title><meta name=Description content="what  it is"><meta property="og:description" content="no">`+
		`<meta name="robots" content="follow, NoIndex">
		<link rel="Canonical" href="/c"><base href="https://cdn.example/x/"></head><body><nav><a href="n#1">n</a>`+
		`</nav><a href="n#2">n</a><a href="mailto:x@y.example">m</a></body>`)
	if d.Title != "A & b" || d.Description != "what it is" || d.Lang != "de-AT" || !d.NoIndex || d.Canonical == nil ||
		d.Canonical.String() != "https://shop.example/c" {
		t.Errorf("head = %q %q %q %v %v", d.Title, d.Description, d.Lang, d.NoIndex, d.Canonical)
	}
	var links []string
	for _, u := range d.Links() {
		links = append(links, u.String())
	}
	if diff := cmp.Diff([]string{"https://cdn.example/x/n"}, links); diff != "" {
		t.Errorf("Links (-want +got):\n%s", diff)
	}
	if got := parse(t,
		`<nav><p>Menu</nav><div hidden><p>No</div><p style="display:none">No</p><p>Yes`).Opening(); got != "Yes" {
		t.Errorf("Opening with hidden paragraphs before it = %q, want Yes", got)
	}
	if got := parse(t, "<h1>T</h1><p> </p><p>First <a href=/x>one</a>.</p><p>Second").Opening(); got != "First one." {
		t.Errorf("Opening = %q", got)
	}
	if got := parse(t, "<body><h1>Only <b>this</b></h1>").Title; got != "Only this" {
		t.Errorf("Title = %q, want the first heading", got)
	}
}

func TestCharset(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, contentType, page string }{
		{"of the header", "text/html; charset=iso-8859-1", "<p>caf\xe9"},
		{"of the page", "", "<meta charset=windows-1252><p>caf\xe9"},
		{"utf-8", "text/html; charset=utf-8", "<p>café"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := htmltext.Parse(strings.NewReader(tt.page), base(t),
				&htmltext.Options{ContentType: tt.contentType})
			if err != nil || d.Text() != "café\n" {
				t.Errorf("Parse = %q, %v, want café", d.Text(), err)
			}
		})
	}
}

func TestWholeBody(t *testing.T) {
	t.Parallel()
	d, err := htmltext.Parse(strings.NewReader("<p>before</p><main>main</main>"),
		nil, &htmltext.Options{WholeBody: true})
	if err != nil || d.Text() != "before\n\nmain\n" {
		t.Errorf("Parse = %q, %v", d.Text(), err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, page string
		max        int64
		want       error
	}{
		{"too large", strings.Repeat("a", 101), 100, htmltext.ErrTooLarge},
		{"just right", strings.Repeat("a", 100), 100, nil},
		{"too deep", strings.Repeat("<div>", 450), 0, htmltext.ErrTooDeep},
		{"very much too deep", strings.Repeat("<b><div>", 100_000), 0, htmltext.ErrTooDeep},
		{"deep", strings.Repeat("<div>", 300) + "x", 0, nil},
		{"tags that are opened again in every block", reopened(50_000), 0, htmltext.ErrTooDeep},
		{"tags that are opened again in a few blocks", reopened(20), 0, nil},
		{"tags that are closed", strings.Repeat("<p><b>x</b> <i>y</i></p>", 20_000), 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := htmltext.Parse(strings.NewReader(tt.page), base(t),
				&htmltext.Options{MaxBytes: tt.max}); !errors.Is(err, tt.want) {
				t.Errorf("Parse = %v, want %v", err, tt.want)
			}
		})
	}
}

// reopened is a page that leaves 300 tags open, each of which is opened again in
// every block.
func reopened(blocks int) string {
	var b strings.Builder
	b.WriteString("<p>")
	for i := range 300 {
		fmt.Fprintf(&b, "<b id=%d>", i)
	}
	return b.String() + "</p>" + strings.Repeat("<p>x</p>", blocks)
}

// TestGrowth keeps a small page from becoming a large text.
func TestGrowth(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"lists":    strings.Repeat("<ul><li>", 150) + strings.Repeat("<p>x", 2000),
		"quotes":   strings.Repeat("<blockquote>", 390) + strings.Repeat("<p>x", 2000),
		"tables":   strings.Repeat("<table><tr><td>a<td>b", 90),
		"marks":    strings.Repeat("<b>", 10) + strings.Repeat("<i>x</i>", 20_000),
		"headings": strings.Repeat("<h2>x<b><i><a href=/y>", 90),
	}
	for name, page := range pages {
		if got := len(parse(t, page).Markdown()); got > 40*len(page) {
			t.Errorf("%s: %d bytes of HTML became %d", name, len(page), got)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		"<h1>a</h1><p>b <b>c</b> <a href='x'>d</a>", "<ul><li>a<ul><li>b</ul></ul>",
		"<table><tr><td>a<td>b<tr><td><table><tr><td>x</table></table>",
		"<pre>```\n````</pre>", "<blockquote><ol><li><pre>x", "<svg><title>x</title><a href=x>y",
		"<math><mi>x</math><select><option>a", "<p>\x00\xff&#x202e;",
		"<br><br>\\<br>", "<a href='http://[::1'>x</a>", "<b><i>x</b></i>", "<h6> # </h6>", "<template><p>x</template>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		d, err := htmltext.Parse(strings.NewReader(page), base(t), nil)
		if err != nil {
			return
		}
		text, md := d.Text(), d.Markdown()
		if !utf8.ValidString(md) || !utf8.ValidString(text) || strings.ContainsRune(md, 0) {
			t.Errorf("page %q became %q", page, md)
		}
		html, err := markdown.HTML(md)
		if err != nil {
			t.Fatal(err)
		}
		lower := strings.ToLower(html)
		for _, bad := range []string{"<script", "javascript:", "<iframe", "raw html omitted"} {
			if strings.Contains(lower, bad) && !strings.Contains(strings.ToLower(text), strings.TrimPrefix(bad, "<")) {
				t.Errorf("page %q became %q, rendered %q", page, md, html)
			}
		}
		d.Links()
	})
}
