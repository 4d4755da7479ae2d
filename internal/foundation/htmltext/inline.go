package htmltext

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// capture writes the children of n into a text of their own.
func (w *writer) capture(n *html.Node) string {
	inner := &writer{doc: w.doc, markdown: w.markdown, inLink: w.inLink, inCell: w.inCell, inMark: w.inMark}
	inner.inline(n)
	return strings.TrimRight(inner.line.String(), " \n\\")
}

// inline writes running text only: blocks inside become spaces.
func (w *writer) inline(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			w.text(c.Data)
		case c.Type != html.ElementNode || dropped(c):
		case c.DataAtom == atom.Br:
			w.space = true
		case block(c):
			w.space = true
			w.inline(c)
			w.space = true
		default:
			w.element(c)
		}
	}
}

// wrap puts marks around inline content. Inside other marks, around blocks and
// around nothing they are left out.
func (w *writer) wrap(n *html.Node, mark string) {
	if !w.markdown || w.inMark || w.doc.holders[n] {
		w.children(n)
		return
	}
	space := w.space
	w.inMark = true
	text := w.capture(n)
	w.inMark = false
	text, leads := strings.CutPrefix(text, " ")
	w.space = space || leads || startsWithSpace(n)
	if text == "" {
		return
	}
	if strings.Contains(text, mark[:1]) { // the end of the mark would be ambiguous
		mark = ""
	}
	w.raw(mark + text + mark)
	w.space = endsWithSpace(n)
}

func startsWithSpace(n *html.Node) bool {
	s := edge(n, func(n *html.Node) *html.Node { return n.FirstChild })
	return strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n")
}

func endsWithSpace(n *html.Node) bool {
	s := edge(n, func(n *html.Node) *html.Node { return n.LastChild })
	return strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\n")
}

// edge is the first or last text inside n.
func edge(n *html.Node, next func(*html.Node) *html.Node) string {
	for n != nil && n.Type != html.TextNode {
		n = next(n)
	}
	if n == nil {
		return ""
	}
	return n.Data
}

func (w *writer) link(n *html.Node) {
	to := w.doc.resolve(attr(n, "href"))
	if to == nil || w.inLink {
		w.children(n)
		return
	}
	space := w.space
	w.inLink = true
	text := strings.TrimLeft(w.capture(n), " ")
	w.inLink = false
	w.space = space || startsWithSpace(n)
	switch {
	case text == "" && first(n, func(n *html.Node) bool { return n.DataAtom == atom.Img }) == nil:
		text = squeeze(attr(n, "aria-label"))
		if text == "" {
			return
		}
		text = escapeText(text, w.markdown)
	case text == "":
		return
	}
	address := to.String()
	switch {
	case w.markdown:
		w.raw("[" + text + "](" + destination(address) + ")")
	case strings.HasPrefix(attr(n, "href"), "#") || address == text || strings.TrimPrefix(address, "mailto:") == text:
		w.raw(text)
	default:
		w.raw(text + " (" + address + ")")
	}
	w.space = endsWithSpace(n)
}

// destination spells an address so that Markdown reads it whole.
func destination(address string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\\", "%5C", "|",
		"%7C").Replace(address)
}

func (w *writer) image(n *html.Node) {
	alt := squeeze(attr(n, "alt"))
	src := w.doc.resolve(attr(n, "src"))
	switch {
	case alt == "":
	case !w.markdown || w.inLink:
		w.text(alt)
	case src == nil || !webScheme(src):
		w.text(alt)
	default:
		w.raw("![" + escapeText(alt, true) + "](" + destination(src.String()) + ")")
	}
}

// escapeText escapes a text outside the running text.
func escapeText(s string, markdown bool) string {
	inner := &writer{markdown: markdown}
	inner.text(s)
	return inner.line.String()
}

func (w *writer) inlineCode(n *html.Node) {
	text := cleaned(plain(n))
	if text == "" {
		return
	}
	if !w.markdown {
		w.raw(text)
		return
	}
	fence := strings.Repeat("`", longestRun(text)+1)
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	if w.inCell {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	w.raw(fence + pad + text + pad + fence)
}

func cleaned(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || keeps(r) {
			return r
		}
		return -1
	}, s)
}

func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

func (w *writer) pre(n *html.Node) {
	w.flush()
	var b strings.Builder
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		}
	}
	text := strings.Trim(cleaned(strings.ReplaceAll(b.String(), "\r\n", "\n")), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	if w.markdown {
		fence := strings.Repeat("`", max(3, longestRun(text)+1))
		text = fence + codeLanguage(n) + "\n" + text + "\n" + fence
	}
	w.block(text)
}

// codeLanguage reads class="language-go", the common way to say it.
func codeLanguage(n *html.Node) string {
	classes := attr(n, "class")
	if code := first(n, func(n *html.Node) bool { return n.DataAtom == atom.Code }); code != nil {
		classes += " " + attr(code, "class")
	}
	for class := range strings.FieldsSeq(classes) {
		for _, prefix := range []string{"language-", "lang-"} {
			name, ok := strings.CutPrefix(class, prefix)
			if ok && name != "" && utf8.RuneCountInString(name) <= 20 && !strings.ContainsAny(name, "`~") {
				return name
			}
		}
	}
	return ""
}
