package crawl

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"ace/internal/foundation/htmltext"
	"ace/internal/website/dom"
)

// ErrTooComplex is returned for HTML whose tree would be too large or too deep.
var ErrTooComplex = errors.New("the page nests its elements past all measure")

// Document is a parsed page.
type Document struct {
	Root    *html.Node
	Source  []byte // decoded to UTF-8; places count in it
	Charset string // that it was decoded from, for example "utf-8"
	// Declared is the charset that the page states or implies if its bytes show
	// that it is written in another one; else "".
	Declared string
	Base     *url.URL

	Titles      []string // of the head, all of them
	Metas       []Meta
	Lang        string    // of the html element, as written
	Canonicals  []LinkTag // link rel=canonical
	Alternates  []LinkTag // link rel=alternate
	Robots      []Directive
	Links       []Link
	Headings    []Heading
	MainText    string // of the main part, links without their addresses
	MainWords   int
	Description string // meta description

	content *htmltext.Document
	places  func() map[*html.Node]Place
}

// Meta is one meta element with a name, property or http-equiv.
type Meta struct {
	Name    string // in lower case
	Content string // white space squeezed
	Node    *html.Node
}

// LinkTag is one link element of the head.
type LinkTag struct {
	Href           string   // as written
	URL            *url.URL // nil: no address
	Hreflang, Type string
	Node           *html.Node
}

// Part is where on the page a link is.
type Part string

// The parts of a page.
const (
	InNav    Part = "nav"
	InHeader Part = "header"
	InFooter Part = "footer"
	InAside  Part = "aside"
	InMain   Part = "main"
)

// Link is one a element with a href.
type Link struct {
	Href string   // as written
	URL  *url.URL // without fragment; nil: no web address
	Text string   // or the accessible name, or the alt text of an image in it
	Rel  string   // in lower case
	Part Part
	Node *html.Node
}

// Heading is h1 to h6.
type Heading struct {
	Level int
	Text  string
	Node  *html.Node
}

// Title is the first title of the head, white space squeezed.
func (d *Document) Title() string {
	if len(d.Titles) == 0 {
		return ""
	}
	return d.Titles[0]
}

// Meta returns the content of the first meta element with a name, or "".
func (d *Document) Meta(name string) string {
	for _, m := range d.Metas {
		if m.Name == name {
			return m.Content
		}
	}
	return ""
}

// Markdown is the main part of the page as Markdown.
func (d *Document) Markdown() string { return d.content.Markdown() }

// ParseDocument parses HTML that is at base. contentType is the header that
// came with it, which may name the charset. It returns ErrTooComplex.
func ParseDocument(body []byte, contentType string, base *url.URL) (*Document, error) {
	encoding, name, _ := charset.DetermineEncoding(body, contentType)
	declared := name
	switch letters, broken := utf8Letters(body); {
	case name == "utf-8" && broken > 4*letters:
		encoding, name = charset.Lookup("windows-1252") // bytes that no UTF-8 has
	case name == "windows-1252" && letters > 0 && broken == 0:
		encoding, name = charset.Lookup("utf-8") // letters that only UTF-8 writes so
	}
	source := body
	if decoded := encoding.NewDecoder().Reader(bytes.NewReader(body)); decoded != nil {
		if text, err := io.ReadAll(decoded); err == nil {
			source = text
		}
	}
	source = bytes.TrimPrefix(bytes.ToValidUTF8(source, []byte("\ufffd")), []byte("\ufeff"))
	if htmltext.Oversized(source) {
		return nil, ErrTooComplex
	}
	root, err := html.Parse(bytes.NewReader(source))
	if err != nil {
		return nil, ErrTooComplex
	}
	content, err := htmltext.Parse(bytes.NewReader(source), base,
		&htmltext.Options{MaxBytes: int64(len(source)) + 1, ContentType: "text/html; charset=utf-8"})
	if err != nil {
		return nil, ErrTooComplex
	}
	d := &Document{Root: root, Source: source, Charset: name, Base: base, content: content}
	if declared != name {
		d.Declared = declared
	}
	d.places = sync.OnceValue(func() map[*html.Node]Place { return locate(source, root) })
	d.MainText = strings.TrimSpace(content.Words())
	d.MainWords = Words(d.MainText)
	r := reader{d: d}
	r.walk(root, InMain)
	d.Description = d.Meta("description")
	return d, nil
}

// utf8Letters counts the letters beyond ASCII that UTF-8 writes in a text, and
// the bytes that it never has there.
func utf8Letters(text []byte) (letters, broken int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			broken++
		case size > 1:
			letters++
		}
		text = text[size:]
	}
	return letters, broken
}

// reader collects what the services ask a page for, in one walk.
type reader struct {
	d      *Document
	inBase bool
}

func (r *reader) walk(n *html.Node, part Part) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		inner := partOf(c, part)
		if c.Namespace == "" {
			r.element(c, inner)
		}
		if c.DataAtom != atom.Template {
			r.walk(c, inner)
		}
	}
}

func partOf(n *html.Node, outer Part) Part {
	role := strings.ToLower(dom.Attr(n, "role"))
	switch {
	case n.DataAtom == atom.Nav || role == "navigation":
		return InNav
	case outer == InNav:
		return InNav
	case n.DataAtom == atom.Footer && outer != InHeader || role == "contentinfo":
		if enclosed(n, atom.Article) || enclosed(n, atom.Main) {
			return outer
		}
		return InFooter
	case n.DataAtom == atom.Header && !enclosed(n, atom.Main) && !enclosed(n, atom.Article) || role == "banner":
		return InHeader
	case n.DataAtom == atom.Aside || role == "complementary":
		return InAside
	case n.DataAtom == atom.Main || role == "main":
		return InMain
	}
	return outer
}

func enclosed(n *html.Node, by atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == by {
			return true
		}
	}
	return false
}

func (r *reader) element(n *html.Node, part Part) {
	d := r.d
	switch n.DataAtom {
	case atom.Html:
		d.Lang = strings.TrimSpace(dom.Attr(n, "lang"))
	case atom.Base:
		if u := d.Resolve(dom.Attr(n, "href")); u != nil && !r.inBase {
			d.Base, r.inBase = u, true
		}
	case atom.Title:
		if n.Parent != nil && n.Parent.DataAtom == atom.Head {
			d.Titles = append(d.Titles, dom.Text(n))
		}
	case atom.Meta:
		r.meta(n)
	case atom.Link:
		tag := LinkTag{
			Href: strings.TrimSpace(dom.Attr(n, "href")), URL: d.Resolve(dom.Attr(n, "href")),
			Hreflang: dom.Attr(n, "hreflang"), Type: dom.Attr(n, "type"), Node: n,
		}
		rel := dom.Attr(n, "rel")
		if dom.Words(rel, "canonical") {
			d.Canonicals = append(d.Canonicals, tag)
		}
		if dom.Words(rel, "alternate") {
			d.Alternates = append(d.Alternates, tag)
		}
	case atom.A:
		if href := dom.Attr(n, "href"); dom.Has(n, "href") {
			d.Links = append(d.Links, Link{
				Href: href, URL: d.Resolve(href), Text: linkText(n),
				Rel: strings.ToLower(dom.Attr(n, "rel")), Part: part, Node: n,
			})
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		d.Headings = append(d.Headings, Heading{Level: int(n.Data[1] - '0'), Text: dom.Text(n), Node: n})
	}
}

func (r *reader) meta(n *html.Node) {
	content := dom.Squeeze(dom.Attr(n, "content"))
	for _, key := range []string{"name", "property", "http-equiv", "itemprop"} {
		name := strings.ToLower(strings.TrimSpace(dom.Attr(n, key)))
		if name == "" {
			continue
		}
		r.d.Metas = append(r.d.Metas, Meta{Name: name, Content: content, Node: n})
		if key == "name" && (name == "robots" || crawlerMeta(name)) {
			agent := name
			if name == "robots" {
				agent = ""
			}
			for _, dir := range directives(content) {
				dir.Agent, dir.Source, dir.Node = agent, "meta", n
				r.d.Robots = append(r.d.Robots, dir)
			}
		}
		return
	}
}

// Resolve makes an address of the page absolute and takes its fragment off; it
// returns nil for what is no web address.
func (d *Document) Resolve(href string) *url.URL {
	href = strings.TrimSpace(href)
	if href == "" || len(href) > 4096 || d.Base == nil {
		return nil
	}
	u, err := d.Base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	return u
}

func linkText(n *html.Node) string {
	if text := dom.Text(n); text != "" {
		return text
	}
	if label := dom.Squeeze(dom.Attr(n, "aria-label")); label != "" {
		return label
	}
	for c := range n.Descendants() {
		if c.DataAtom == atom.Img {
			if alt := dom.Squeeze(dom.Attr(c, "alt")); alt != "" {
				return alt
			}
		}
	}
	return dom.Squeeze(dom.Attr(n, "title"))
}
