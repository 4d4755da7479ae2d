package generate

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/rules"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is one page of a website to describe.
type Page struct {
	Doc   *dom.Document
	Graph *markup.Graph
	Home  bool
}

// view is a page prepared for the extractors.
type view struct {
	*Page
	url    string // of the page, as it is to be named
	origin string
	main   *html.Node
	h1     *html.Node
	text   string // visible, of the main part
	blocks []blockText
	metas  map[string]*html.Node
	links  []anchor
	title  *html.Node
	report *rules.Report // of the page's own data; nil: not asked
	priced []priced      // nil: not looked for
}

// blockText is the text of one small block of the main part.
type blockText struct {
	node *html.Node
	text string
}

// anchor is a link with its words.
type anchor struct {
	node *html.Node
	url  *url.URL
	text string
	main bool
}

// Limits of what is looked at on one page.
const (
	maxBlocks = 3_000
	maxLinks  = 2_000
	maxBlock  = 300 // bytes of the text of a small block
)

func newView(p *Page) *view {
	v := &view{Page: p, metas: map[string]*html.Node{}}
	at := *p.Doc.URL
	at.Fragment = ""
	v.origin = at.Scheme + "://" + at.Host
	v.url = canonical(p.Doc, &at)
	v.main = mainPart(p.Doc.Root)
	v.text = dom.VisibleUpTo(v.main, 200_000)
	v.collect(p.Doc.Root)
	return v
}

// canonical is the address that the page is known under: its own, or the
// canonical one where that differs in nothing but parameters, slashes or scheme.
func canonical(d *dom.Document, at *url.URL) string {
	if at.Path == "" {
		at.Path = "/"
	}
	link := dom.First(d.Root,
		func(n *html.Node) bool { return n.DataAtom == atom.Link && dom.Words(dom.Attr(n, "rel"), "canonical") })
	if link == nil {
		return at.String()
	}
	u, err := d.Base.Parse(strings.TrimSpace(dom.Attr(link, "href")))
	if err != nil || u.Host != at.Host || strings.Trim(u.Path, "/") != strings.Trim(at.Path, "/") {
		return at.String()
	}
	u.Fragment = ""
	return u.String()
}

// mainPart is the element that holds what the page is about.
func mainPart(root *html.Node) *html.Node {
	for _, is := range []func(*html.Node) bool{
		func(n *html.Node) bool { return n.DataAtom == atom.Main || dom.Attr(n, "role") == "main" },
		func(n *html.Node) bool { return dom.Attr(n, "id") == "main" || dom.Attr(n, "id") == "content" },
	} {
		if n := dom.First(root, is); n != nil && dom.Visible(n) != "" {
			return n
		}
	}
	articles := dom.All(root, 2, func(n *html.Node) bool { return n.DataAtom == atom.Article })
	if len(articles) == 1 {
		return articles[0]
	}
	if body := dom.First(root, func(n *html.Node) bool { return n.DataAtom == atom.Body }); body != nil {
		return body
	}
	return root
}

// aside reports whether an element is in a part of the page that is about
// other things.
func aside(n *html.Node) bool {
	return dom.Within(n, func(n *html.Node) bool {
		switch n.DataAtom {
		case atom.Nav, atom.Aside, atom.Footer, atom.Form, atom.Dialog:
			return n.DataAtom != atom.Form // a form may be the one that buys
		case atom.Header:
			return n.Parent != nil && n.Parent.DataAtom == atom.Body
		}
		return elsewhere.MatchString(dom.Attr(n, "class")+" "+dom.Attr(n, "id")) || dom.Hidden(n)
	})
}

var elsewhere = regexp.MustCompile(
	`(?i)(^|[\s_-])(related|recommend\w*|upsell|cross-?sell|similar|also-?(like|bought|viewed)|sidebar|comments?` +
		`|newsletter|cookie\w*|popup|modal|carousel-other|footer|site-?header|menu|nav)($|[\s_-])`,
)

func (v *view) collect(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Meta:
			name := strings.ToLower(strings.TrimSpace(dom.Attr(n, "property") + dom.Attr(n, "name")))
			if dom.Has(n, "property") && dom.Has(n, "name") {
				name = strings.ToLower(dom.Attr(n, "property"))
			}
			if name != "" && v.metas[name] == nil && strings.TrimSpace(dom.Attr(n, "content")) != "" {
				v.metas[name] = n
			}
		case atom.Title:
			if v.title == nil && n.Namespace == "" {
				v.title = n
			}
		case atom.H1:
			if v.h1 == nil && !dom.Hidden(n) && dom.Visible(n) != "" {
				v.h1 = n
			}
		case atom.A:
			v.link(n)
		}
	}
	for n := range v.main.Descendants() {
		if len(v.blocks) == maxBlocks {
			break
		}
		if n.Type == html.ElementNode && small(n) && !aside(n) {
			if text := dom.Visible(n); text != "" && len(text) <= maxBlock {
				v.blocks = append(v.blocks, blockText{n, text})
			}
		}
	}
}

// small reports whether an element has text of its own and no blocks inside.
func small(n *html.Node) bool {
	if dom.Silent(n) {
		return false
	}
	own := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			own = own || strings.TrimSpace(c.Data) != ""
		case c.Type == html.ElementNode && dom.Block(c) && c.DataAtom != atom.Br && c.DataAtom != atom.Img:
			return false
		}
	}
	return own || dom.Block(n) && n.FirstChild != nil
}

func (v *view) link(n *html.Node) {
	if len(v.links) == maxLinks || !dom.Has(n, "href") {
		return
	}
	href := strings.TrimSpace(dom.Attr(n, "href"))
	u, err := v.Doc.Base.Parse(href)
	if err != nil || strings.HasPrefix(href, "#") {
		return
	}
	u.Fragment = ""
	text := dom.Visible(n)
	if text == "" {
		text = dom.Squeeze(dom.Attr(n, "aria-label"))
	}
	v.links = append(v.links, anchor{n, u, text, !aside(n)})
}

// meta is the content of a meta element.
func (v *view) meta(names ...string) Fact {
	for _, name := range names {
		if n := v.metas[name]; n != nil {
			text := dom.Squeeze(dom.Attr(n, "content"))
			return v.found(name, n, text, text)
		}
	}
	return Fact{}
}

// existing is the value of a property in the page's own markup, for things of
// one of the types.
func (v *view) existing(g *Generator, types []string, name string) Fact {
	for _, n := range v.things(g, types...) {
		if v.report != nil && v.report.Contradicted(n, name) {
			continue
		}
		for _, value := range n.Prop(name) {
			if text := dom.Squeeze(value.String()); text != "" {
				return v.stated(n, value.Line, text)
			}
		}
	}
	return Fact{}
}

// things are the nodes of the page's own markup with one of the types.
func (v *view) things(g *Generator, types ...string) []*markup.Node {
	var all []*markup.Node
	for _, n := range v.Graph.All() {
		if n.Source != markup.JSONLD && n.Source != markup.Microdata && n.Source != markup.RDFa {
			continue
		}
		if slices.ContainsFunc(n.Types, func(t string) bool {
			return slices.ContainsFunc(types, func(want string) bool { return g.vocabulary.IsA(t, want) })
		}) {
			all = append(all, n)
		}
	}
	return all
}

// lang is the language of the page where it is well-formed.
func (v *view) lang() Fact {
	n := dom.First(v.Doc.Root, func(n *html.Node) bool { return n.DataAtom == atom.Html })
	if n == nil {
		return Fact{}
	}
	text := strings.TrimSpace(dom.Attr(n, "lang"))
	if !language.MatchString(text) {
		return Fact{}
	}
	return v.found("html lang", n, text, text)
}

var language = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?$`)

// class reports whether an element is called one of the names in its class, id
// or itemprop.
func class(n *html.Node, pattern *regexp.Regexp) bool {
	return pattern.MatchString(dom.Attr(n, "class")) || pattern.MatchString(dom.Attr(n, "id")) ||
		pattern.MatchString(dom.Attr(n, "itemprop"))
}
