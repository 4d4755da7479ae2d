package dom_test

import (
	"errors"
	"strings"
	"testing"

	"ace/internal/website/dom"

	"golang.org/x/net/html"
)

func parse(t testing.TB, page string) *dom.Document {
	t.Helper()
	d, err := dom.Parse([]byte(page), "https://shop.example/a/b", "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// byTitle finds the element that a test marks with the attribute title.
func byTitle(d *dom.Document, mark string) *html.Node {
	return dom.First(d.Root, func(n *html.Node) bool { return dom.Attr(n, "title") == mark })
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	const page = "<!doctype html>\n<html><head>\n<script title=js>if (a < b) {\n}</script>\n<title>a " +
		"<b>\n</title></head><body>\n<div id=main><p>one<p title=p2\n class=x>two<br " +
		"title=br/>\n</div><svg><title>x\n</title><g/></svg><ul><li>1<li>2<li title=li>3</ul>\n<table><div " +
		"title=moved>out</div><tr><td title=td>c</table><span title=span>s</span>"
	d := parse(t, page)
	tests := []struct {
		mark     string
		line     int
		selector string
	}{
		{"js", 3, "head > script"},
		{"p2", 7, "#main > p:nth-of-type(2)"},
		{"li", 10, "body > ul > li:nth-of-type(3)"},
		{"br/", 8, "#main > p:nth-of-type(2) > br"},
		{"moved", 11, "body > div:nth-of-type(2)"},
		{"td", 11, "body > table > tbody > tr > td"},
		{"span", 11, "body > span"},
	}
	for _, tt := range tests {
		n := byTitle(d, tt.mark)
		if n == nil {
			t.Errorf("there is no element %s", tt.mark)
			continue
		}
		if got := dom.Line(n); got != tt.line {
			t.Errorf("Line(%s) = %d, want %d", tt.mark, got, tt.line)
		}
		if got := dom.Selector(n); got != tt.selector {
			t.Errorf("Selector(%s) = %s, want %s", tt.mark, got, tt.selector)
		}
	}
	if got := dom.TextLine(byTitle(d, "p2")); got != 8 {
		t.Errorf("TextLine = %d, want the line of the end of the tag, 8", got)
	}
	body := dom.First(d.Root, func(n *html.Node) bool { return n.Data == "tbody" })
	if got := dom.Line(body); got != 11 {
		t.Errorf("Line of an element that the parser added = %d, want that of the one around it, 11", got)
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	n := byTitle(parse(t, `<p title=x class="a B" empty>`), "x")
	if got := dom.Attr(n, "class"); got != "a B" {
		t.Errorf("Attr(class) = %q, want a B", got)
	}
	if !dom.Has(n, "empty") || dom.Has(n, "none") || dom.Attr(n, "none") != "" {
		t.Error("Has or Attr is wrong about an attribute")
	}
	if !dom.Words("a B", "b") || dom.Words("ab", "a") {
		t.Error("Words is wrong about a list")
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, text, visible string }{
		{"words", "<p>a <b>b</b>c</p><p>d", "a bc d", "a bc d"},
		{"break", "a<br>b<img>c", "a b c", "a b c"},
		{"hidden", `a<i hidden>b</i><i style="DISPLAY: none">c</i><i aria-hidden=true>d</i>e`, "abcde", "ae"},
		{"silent", "a<script>b</script><style>c</style><template>d</template><noscript>e</noscript>f", "af", "af"},
		{"table", "<table><tr><td>a<td>b<tr><td>c</table>", "a b c", "a b c"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		d := parse(t, "<body>"+tt.in)
		if got := dom.Text(d.Root); got != tt.text {
			t.Errorf("%s: Text = %q, want %q", tt.name, got, tt.text)
		}
		if got := dom.Visible(d.Root); got != tt.visible {
			t.Errorf("%s: Visible = %q, want %q", tt.name, got, tt.visible)
		}
	}
	d := parse(t, `<body>x<p title=t>in</p>y`)
	if got := dom.Text(byTitle(d, "t")); got != "in" {
		t.Errorf("Text = %q, want only what is inside", got)
	}
	long := dom.Text(parse(t, strings.Repeat("ä", dom.MaxText)).Root)
	if len(long) > dom.MaxText || strings.Contains(long, "\uFFFD") {
		t.Errorf("Text of a long page has %d bytes", len(long))
	}
}

func TestBaseAndCharset(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, contentType, base, text string }{
		{"none", "<p>x", "", "https://shop.example/a/b", "x"},
		{"base", `<base href="/c/"><p>x`, "", "https://shop.example/c/", "x"},
		{"script base", `<base href="javascript:x"><p>x`, "", "https://shop.example/a/b", "x"},
		{"latin", "<p>caf\xe9", "text/html; charset=iso-8859-1", "https://shop.example/a/b", "café"},
		{"declared", "<meta charset=windows-1252><p>caf\xe9", "", "https://shop.example/a/b", "café"},
		{"wrong", "<p>caf\xe9", "text/html; charset=utf-8", "https://shop.example/a/b", "caf\uFFFD"},
		{"utf-16", "\xff\xfe<\x00p\x00>\x00x\x00", "", "https://shop.example/a/b", "x"},
		{"empty", "", "", "https://shop.example/a/b", ""},
	}
	for _, tt := range tests {
		d, err := dom.Parse([]byte(tt.page), "https://shop.example/a/b", tt.contentType)
		if err != nil || d.Base.String() != tt.base || dom.Text(d.Root) != tt.text {
			t.Errorf("%s: Parse = base %v, text %q, %v", tt.name, d.Base, dom.Text(d.Root), err)
		}
	}
	d := parse(t, "")
	for in, want := range map[string]string{
		" c ": "https://shop.example/a/c", "#x": "https://shop.example/a/b#x",
		"http://[": "http://[",
	} {
		if got := d.Resolve(in); got != want {
			t.Errorf("Resolve(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, page, address string
		want                error
	}{
		{"too large", strings.Repeat("a", dom.MaxBytes+1), "https://a.example/", dom.ErrTooLarge},
		{"too deep", strings.Repeat("<b><div>", 50_000), "https://a.example/", dom.ErrTooDeep},
	}
	for _, tt := range tests {
		if _, err := dom.Parse([]byte(tt.page), tt.address, ""); !errors.Is(err, tt.want) {
			t.Errorf("%s: Parse = %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := dom.Parse(nil, "http://[", ""); err == nil {
		t.Error("Parse took an address that is none")
	}
	flat := parse(t, strings.Repeat("<p>", 20_000)+"<p title=last>x")
	if got := dom.Selector(byTitle(flat, "last")); len(got) > 200 {
		t.Errorf("Selector among many = %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"<p>a<b>c", "<svg><title><b>x</title><style><p></svg>", "<svg><![CDATA[ > <div> ]]></svg>",
		"<script><!--<script></script>", "<a \x01line=9 b",
		"<table><tr><p>x", "<title><p></title><textarea><p></textarea><plaintext><p>",
		"<!doctype html><!-- <p> --><p/><br/ x>", "<p\n\n>\r\n<i",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		d, err := dom.Parse([]byte(page), "https://a.example/", "text/html; charset=utf-8")
		if err != nil {
			return
		}
		lines := strings.Count(page, "\n") + 1
		for n := range d.Root.Descendants() {
			if n.Type == html.ElementNode && !strings.Contains(page, "\x01") && dom.Line(n) > lines {
				t.Errorf("Line = %d of %d in %q", dom.Line(n), lines, page)
			}
		}
		if text := dom.Text(d.Root); strings.Contains(text, "\x01line") && !strings.Contains(page, "<svg") &&
			!strings.Contains(page, "<math") && !strings.Contains(page, "\x01") {
			t.Errorf("the text of %q has marks: %q", page, text)
		}
	})
}
