// Package htmltext turns HTML into Markdown and plain text.
//
//	bytes -> size limit -> charset -> estimate of the tree -> parser (depth
//	         limit) -> tree
//	      -> head: title, description, language, canonical, robots
//	      -> main part: main or article, without navigation, forms and
//	         what is hidden
//	      -> Markdown (links absolute, text escaped)   or   plain text
//
// The result holds no HTML: what a foreign page says stays text. Addresses
// other than http, https, mailto and tel are dropped.
package htmltext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Limits of a document. The zero value of Options stands for these.
const (
	DefaultMaxBytes = 4 << 20
	maxDepth        = 400 // elements inside one another; the parser itself stops at 512
)

// Errors of Parse.
var (
	ErrTooLarge = errors.New("the document is larger than the limit")
	ErrTooDeep  = errors.New("the document nests its elements too deep, or would grow past all measure")
)

// Options are the parts of Parse that have defaults.
type Options struct {
	MaxBytes    int64  // of the document; 0: DefaultMaxBytes
	ContentType string // header that came with it; names the charset
	WholeBody   bool   // take everything in the body, not the main part alone
}

// Document is a parsed page.
type Document struct {
	Title       string // of the head, or else of the first heading
	Description string
	Lang        string   // as the page states it; may be empty
	Canonical   *url.URL // nil: not stated
	NoIndex     bool     // the page asks not to be listed
	base        *url.URL
	content     []*html.Node
	holders     map[*html.Node]bool // nodes with a block somewhere inside
}

// Parse reads a page with the URL base, against which links are resolved. It
// returns ErrTooLarge, ErrTooDeep or what reading fails with.
func Parse(r io.Reader, base *url.URL, o *Options) (*Document, error) {
	if o == nil {
		o = new(Options)
	}
	limit := o.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading a page: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	decoded, err := charset.NewReader(bytes.NewReader(data), o.ContentType)
	if err != nil && !errors.Is(err, io.EOF) { // an empty page has no charset
		return nil, fmt.Errorf("reading the charset of a page: %w", err)
	}
	if decoded == nil {
		decoded = bytes.NewReader(data)
	}
	text, err := io.ReadAll(decoded)
	if err != nil {
		return nil, fmt.Errorf("reading the charset of a page: %w", err)
	}
	if Oversized(text) {
		return nil, ErrTooDeep
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil { // reading memory does not fail: the parser gave up on the depth
		return nil, ErrTooDeep
	}
	if tooDeep(root) {
		return nil, ErrTooDeep
	}
	d := &Document{base: base, holders: holdersOf(root)}
	if d.base == nil {
		d.base = &url.URL{}
	}
	d.readHead(root)
	d.content = mainPart(root, o.WholeBody)
	if d.Title == "" {
		if h := first(root, func(n *html.Node) bool { return n.DataAtom == atom.H1 }); h != nil {
			d.Title = plain(h)
		}
	}
	return d, nil
}

// tooDeep walks without recursion: the depth is what is in question.
func tooDeep(root *html.Node) bool {
	depth := 0
	for n := root; n != nil; {
		if n.FirstChild != nil {
			n, depth = n.FirstChild, depth+1
			if depth > maxDepth {
				return true
			}
			continue
		}
		for n != nil && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return false
}

func (d *Document) readHead(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			d.Lang = strings.TrimSpace(attr(n, "lang"))
		case atom.Base:
			if u, err := d.base.Parse(strings.TrimSpace(attr(n, "href"))); err == nil && webScheme(u) {
				d.base = u
			}
		case atom.Title:
			if d.Title == "" {
				d.Title = plain(n)
			}
		case atom.Meta:
			d.readMeta(n)
		case atom.Link:
			if hasWord(attr(n, "rel"), "canonical") && d.Canonical == nil {
				d.Canonical = d.resolve(attr(n, "href"))
			}
		}
	}
}

func (d *Document) readMeta(n *html.Node) {
	content := squeeze(attr(n, "content"))
	switch strings.ToLower(attr(n, "name") + attr(n, "property")) {
	case "description":
		d.Description = content
	case "og:description":
		if d.Description == "" {
			d.Description = content
		}
	case "robots":
		for word := range strings.FieldsFuncSeq(strings.ToLower(content),
			func(r rune) bool { return r == ',' || r == ' ' }) {
			d.NoIndex = d.NoIndex || word == "noindex" || word == "none"
		}
	}
}

// Opening is the first paragraph of the main part on one line, without what is
// hidden and what serves to move about.
func (d *Document) Opening() string {
	for _, top := range d.content {
		for n := range top.Descendants() {
			if n.Type == html.ElementNode && n.DataAtom == atom.P && !droppedBelow(n, top) {
				if text := plain(n); text != "" {
					return text
				}
			}
		}
	}
	return ""
}

// droppedBelow reports whether an element, or one around it up to top, is no
// part of what the page says.
func droppedBelow(n, top *html.Node) bool {
	for ; n != nil && n != top; n = n.Parent {
		if n.Type == html.ElementNode && dropped(n) {
			return true
		}
	}
	return false
}

// Links are the addresses of the page's links in reading order, each once,
// without fragments; navigation is part of it.
func (d *Document) Links() []*url.URL {
	var links []*url.URL
	seen := map[string]bool{}
	root := d.content
	for len(root) > 0 && root[0].Parent != nil {
		root = []*html.Node{root[0].Parent}
	}
	for _, top := range root {
		for n := range top.Descendants() {
			if n.Type != html.ElementNode || n.DataAtom != atom.A {
				continue
			}
			u := d.resolve(attr(n, "href"))
			if u == nil || !webScheme(u) {
				continue
			}
			u.Fragment, u.RawFragment = "", ""
			if !seen[u.String()] {
				seen[u.String()] = true
				links = append(links, u)
			}
		}
	}
	return links
}

// resolve makes a link absolute, or returns nil for what is no safe address.
func (d *Document) resolve(href string) *url.URL {
	href = strings.TrimSpace(href)
	if href == "" || strings.ContainsFunc(href, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil
	}
	u, err := d.base.Parse(href)
	if err != nil {
		return nil
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" || u.User != nil {
			return nil
		}
	case "mailto", "tel":
	case "":
		if d.base.Scheme != "" { // the base had a scheme, the link lost it
			return nil
		}
	default:
		return nil
	}
	return u
}

func webScheme(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// plain is the text of a node on one line.
func plain(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		switch {
		case child.Type == html.TextNode:
			b.WriteString(child.Data)
		case child.DataAtom == atom.Br || block(child):
			b.WriteByte(' ')
		}
	}
	return squeeze(b.String())
}

func first(root *html.Node, is func(*html.Node) bool) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			return n
		}
	}
	return nil
}
