package htmltext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Markdown is the main part of the page as CommonMark with tables. It ends in
// a newline unless it is empty.
func (d *Document) Markdown() string { return d.write(&writer{doc: d, markdown: true}) }

// Text is the main part of the page without markup: blocks on lines of their
// own, list markers kept, links as "text (address)".
func (d *Document) Text() string { return d.write(&writer{doc: d}) }

// Words is Text without the addresses of links: what a reader sees.
func (d *Document) Words() string { return d.write(&writer{doc: d, inLink: true}) }

func (d *Document) write(w *writer) string {
	for _, n := range d.content {
		w.children(n)
	}
	w.flush()
	if w.out.Len() == 0 {
		return ""
	}
	return strings.TrimRight(w.out.String(), "\n ") + "\n"
}

// maxIndent bounds how deep quotes and lists are drawn; what lies deeper is
// written at this depth, so that a page cannot multiply its size.
const maxIndent = 12

// writer writes blocks. Inline text gathers in line until a block ends it.
type writer struct {
	doc      *Document
	markdown bool
	out      strings.Builder
	line     strings.Builder // text of the block so far
	space    bool            // a space is due before the next word
	prefix   []string        // of each line: quotes and indents
	marker   string          // of the next line alone: "- " or "1. "
	tight    bool            // no empty line before the next block
	inLink   bool
	inMark   bool
	inCell   bool // of a table, where | ends the cell even in code
}

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

func (w *writer) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data)
	case html.ElementNode:
		if !dropped(n) {
			w.element(n)
		}
	}
}

func (w *writer) element(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.heading(n)
	case atom.Br:
		w.lineBreak()
	case atom.Hr:
		w.flush()
		w.block(w.mark("---"))
	case atom.Pre:
		w.pre(n)
	case atom.Blockquote:
		w.nested(n, "> ")
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Dt, atom.Summary, atom.Legend:
		w.flush()
		w.wrap(n, "**")
		w.flush()
	case atom.Table:
		w.table(n)
	case atom.A:
		w.link(n)
	case atom.Img:
		w.image(n)
	case atom.Strong, atom.B:
		w.wrap(n, "**")
	case atom.Em, atom.I, atom.Cite:
		w.wrap(n, "*")
	case atom.Del, atom.S:
		w.wrap(n, "~~")
	case atom.Code, atom.Kbd, atom.Samp:
		w.inlineCode(n)
	default:
		if block(n) {
			w.flush()
			w.children(n)
			w.flush()
			return
		}
		w.children(n)
	}
}

// mark is a piece of markup; plain text has none.
func (w *writer) mark(s string) string {
	if w.markdown {
		return s
	}
	return ""
}

// text adds running text: spaces collapse, and what Markdown would read as
// markup is escaped.
func (w *writer) text(s string) {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if unicode.IsSpace(r) {
			w.space = true
		} else if keeps(r) {
			w.word(r)
		}
		s = s[size:]
	}
}

// keeps leaves out what does not print: it would only hide things in a text.
func keeps(r rune) bool {
	switch r {
	case 0x200b, 0x2060, 0xfeff, 0x00ad, utf8.RuneError:
		return false
	}
	return !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) && (r < 0xe0000 || r > 0xe007f)
}

func (w *writer) word(r rune) {
	if w.space && w.line.Len() > 0 {
		w.line.WriteByte(' ')
	}
	w.space = false
	if w.markdown && strings.ContainsRune("\\`*_[]<>|~", r) {
		w.line.WriteByte('\\')
	}
	if w.markdown && r == '&' {
		w.line.WriteString("&amp;")
		return
	}
	w.line.WriteRune(r)
}

// raw adds markup as it is.
func (w *writer) raw(s string) {
	if s == "" {
		return
	}
	if w.space && w.line.Len() > 0 {
		w.line.WriteByte(' ')
	}
	w.space = false
	w.line.WriteString(s)
}

func (w *writer) lineBreak() {
	if w.line.Len() > 0 && !strings.HasSuffix(w.line.String(), "\n") {
		w.line.WriteString(w.mark("\\") + "\n")
	}
	w.space = false
}

// flush ends the block that text has gathered for.
func (w *writer) flush() {
	text := strings.TrimRight(w.line.String(), "\\\n ")
	if strings.HasSuffix(w.line.String(), "\\"+"\\") { // an escaped backslash at the end is text
		text = strings.TrimRight(w.line.String(), " ")
	}
	w.line.Reset()
	w.space = false
	if text != "" {
		w.block(guardLines(text, w.markdown))
	}
}

// guardLines keeps lines of running text from being read as headings, lists
// or rules.
func guardLines(text string, markdown bool) string {
	if !markdown {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = guardLine(l)
	}
	return strings.Join(lines, "\n")
}

func guardLine(l string) string {
	if l == "" {
		return l
	}
	if strings.ContainsRune("#+-=", rune(l[0])) {
		return "\\" + l
	}
	digits := 0
	for digits < len(l) && l[digits] >= '0' && l[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(l) && (l[digits] == '.' || l[digits] == ')') {
		return l[:digits] + "\\" + l[digits:]
	}
	return l
}

// block writes finished lines below what was written before.
func (w *writer) block(text string) {
	if text == "" {
		return
	}
	prefix := strings.Join(w.prefix, "")
	if w.out.Len() > 0 && !w.tight {
		w.out.WriteString(strings.TrimRight(w.outer(prefix), " ") + "\n")
	}
	w.tight = false
	for i, l := range strings.Split(text, "\n") {
		start := prefix
		if w.marker != "" && i == 0 {
			start = w.outer(prefix) + w.marker
			w.marker = ""
		}
		w.out.WriteString(strings.TrimRight(start+l, " ") + "\n")
	}
}

// outer is the prefix without the indent that the marker of an item fills.
func (w *writer) outer(prefix string) string {
	if w.marker == "" {
		return prefix
	}
	return prefix[:len(prefix)-len(w.marker)]
}

func (w *writer) heading(n *html.Node) {
	w.flush()
	level, _ := strconv.Atoi(n.Data[1:])
	w.children(n)
	text := strings.ReplaceAll(strings.ReplaceAll(strings.TrimRight(w.line.String(), "\\\n "), "\\\n", " "), "\n", " ")
	w.line.Reset()
	w.space = false
	if text != "" {
		if w.markdown && strings.HasSuffix(text, "#") {
			text = text[:len(text)-1] + "\\#"
		}
		w.block(w.mark(strings.Repeat("#", level)+" ") + text)
	}
}

func (w *writer) nested(n *html.Node, prefix string) {
	w.flush()
	if len(w.prefix) < maxIndent {
		w.prefix = append(w.prefix, prefix)
		defer func() { w.prefix = w.prefix[:len(w.prefix)-1] }()
	}
	w.children(n)
	w.flush()
}

func (w *writer) list(n *html.Node) {
	w.flush()
	number, _ := strconv.Atoi(attr(n, "start"))
	if number < 1 || number > 1e6 {
		number = 1
	}
	inner := w.marker != "" // a list that is all there is in an item
	w.tight = w.tight || len(w.prefix) > 0 && !inner && w.out.Len() > 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || dropped(c) {
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		w.item(c, marker)
	}
	w.marker = ""
	w.tight = false
}

func (w *writer) item(n *html.Node, marker string) {
	if len(w.prefix) >= maxIndent {
		w.children(n)
		w.flush()
		w.tight = true
		return
	}
	if w.marker != "" { // the item around it has no text of its own
		w.block(" ")
		w.tight = true
	}
	w.prefix = append(w.prefix, strings.Repeat(" ", len(marker)))
	w.marker = marker
	w.children(n)
	w.flush()
	if w.marker == "" {
		w.tight = true
	}
	w.marker = ""
	w.prefix = w.prefix[:len(w.prefix)-1]
}
