package markup

import (
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// microdata reads the items of the page by the rules of the HTML standard
// (https://html.spec.whatwg.org/multipage/microdata.html), with one addition
// that search engines make and the examples of schema.org use: content counts
// on every element, not on meta alone.
func (c *collector) microdata() {
	m := &items{c: c, byID: map[string]*html.Node{}}
	var tops []*html.Node
	orphans := 0
	for n := range c.doc.Root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if id := dom.Attr(n, "id"); id != "" && m.byID[id] == nil {
			m.byID[id] = n
		}
		scope, prop := dom.Has(n, "itemscope"), dom.Has(n, "itemprop")
		m.refs = m.refs || dom.Has(n, "itemref")
		switch {
		case scope && !prop:
			tops = append(tops, n)
		case prop && !dom.Within(n.Parent, func(p *html.Node) bool { return dom.Has(p, "itemscope") }):
			m.orphans = append(m.orphans, n)
		case !scope && !prop && dom.Has(n, "itemtype") && orphans < 5:
			orphans++
			c.fault(Fault{
				Code: "itemscope_missing", Source: Microdata, Path: dom.Selector(n), Line: dom.Line(n),
				Detail: "The element has itemtype without itemscope: it describes nothing.",
			})
		}
	}
	for _, n := range tops {
		if item := m.item(n, nil, 0); item != nil {
			c.roots = append(c.roots, item)
		}
	}
	m.lost()
}

// items reads items. used marks the properties that belong to some item.
type items struct {
	c       *collector
	byID    map[string]*html.Node
	refs    bool // the page uses itemref
	orphans []*html.Node
	used    map[*html.Node]bool
	visits  int
}

// maxVisits bounds the elements that are looked at for properties: with itemref
// many items may share a large part of the page.
const maxVisits = 1_000_000

// lost reports properties outside all items that no itemref fetches either.
func (m *items) lost() {
	told := 0
	for _, n := range m.orphans {
		if m.used[n] || told == 5 {
			continue
		}
		told++
		m.c.fault(Fault{
			Code: "itemprop_outside", Source: Microdata, Path: dom.Selector(n), Line: dom.Line(n),
			Detail: "The property " + excerpt.Chars(dom.Attr(n, "itemprop"), 100) + " is in no item.",
		})
	}
}

// item reads an item; around are the items that it is in.
func (m *items) item(n *html.Node, around []*html.Node, depth int) *Node {
	if !m.c.hasRoom(Microdata, dom.Line(n), depth) {
		return nil
	}
	item := &Node{Source: Microdata, Path: dom.Selector(n), Line: dom.Line(n)}
	for address := range strings.FieldsSeq(dom.Attr(n, "itemtype")) {
		name, ok := schemaorg.Short(address)
		if !ok && !strings.Contains(address, ":") {
			m.c.fault(Fault{
				Code:   "itemtype_relative",
				Source: Microdata,
				Path:   item.Path,
				Line:   item.Line,
				Detail: "itemtype is " + excerpt.Chars(
					address,
					100,
				) + ", which is no whole address: write https://schema.org/" +
					excerpt.Chars(
						strings.TrimPrefix(address, "/"),
						100,
					) + ".",
			})
		}
		item.Types = append(item.Types, name)
	}
	if id := strings.TrimSpace(dom.Attr(n, "itemid")); id != "" {
		item.ID = m.c.doc.Resolve(id)
	}
	around = append(slices.Clip(around), n)
	for _, p := range m.properties(n) {
		m.property(item, p, around, depth)
	}
	return item
}

// properties finds the elements that carry properties of an item: those inside
// it and inside what itemref names, but not inside other items.
func (m *items) properties(root *html.Node) []*html.Node {
	seen := map[*html.Node]bool{root: true}
	var found []*html.Node
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if m.visits++; n.Type != html.ElementNode || m.visits > maxVisits {
			return
		}
		if seen[n] {
			m.c.fault(Fault{
				Code: "itemref_cycle", Source: Microdata, Path: dom.Selector(n), Line: dom.Line(n),
				Detail: "itemref names an element that belongs to the item already.",
			})
			return
		}
		if m.refs {
			seen[n] = true
		}
		if dom.Has(n, "itemprop") && strings.TrimSpace(dom.Attr(n, "itemprop")) != "" {
			found = append(found, n)
		}
		if !dom.Has(n, "itemscope") {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
		}
	}
	for c := root.FirstChild; c != nil; c = c.NextSibling {
		walk(c)
	}
	if m.visits > maxVisits {
		m.c.overflow(Microdata, dom.Line(root))
	}
	for i, id := range strings.Fields(dom.Attr(root, "itemref")) {
		if i == 100 {
			break
		}
		if n := m.byID[id]; n != nil {
			walk(n)
		} else {
			m.c.fault(Fault{
				Code: "itemref_missing", Source: Microdata, Path: dom.Selector(root), Line: dom.Line(root),
				Detail: "itemref names " + excerpt.Chars(id, 100) + ", and no element has this id.",
			})
		}
	}
	return found
}

func (m *items) property(item *Node, n *html.Node, around []*html.Node, depth int) {
	if m.used == nil {
		m.used = map[*html.Node]bool{}
	}
	m.used[n] = true
	v := Value{Line: dom.Line(n)}
	if dom.Has(n, "itemscope") {
		if slices.Contains(around, n) {
			m.c.fault(Fault{
				Code: "itemref_cycle", Source: Microdata, Path: dom.Selector(n), Line: v.Line,
				Detail: "An item is a property of itself.",
			})
			return
		}
		v.Kind, v.Node = Thing, m.item(n, around, depth+1)
		if v.Node == nil {
			return
		}
	} else {
		v = literal(m.c.doc, n)
	}
	names := strings.Fields(dom.Attr(n, "itemprop"))
	for i, name := range names {
		if strings.Contains(name, ":") {
			names[i] = shorten(name)
		}
	}
	m.c.add(item, v, names...)
}

// literal is the value of an element that is no item.
func literal(d *dom.Document, n *html.Node) Value {
	v := Value{Kind: Text, Line: dom.Line(n)}
	if dom.Has(n, "content") {
		v.Text = strings.TrimSpace(dom.Attr(n, "content"))
		return v
	}
	switch n.DataAtom {
	case atom.Meta:
	case atom.A, atom.Area, atom.Link:
		return link(d, n, "href")
	case atom.Audio, atom.Embed, atom.Iframe, atom.Img, atom.Source, atom.Track, atom.Video:
		return link(d, n, "src")
	case atom.Object:
		return link(d, n, "data")
	case atom.Data, atom.Meter:
		v.Text = strings.TrimSpace(dom.Attr(n, "value"))
	case atom.Time:
		v.Text = strings.TrimSpace(dom.Attr(n, "datetime"))
		if v.Text == "" {
			v.Text = dom.Text(n)
		}
	default:
		v.Text = dom.Text(n)
	}
	return v
}

// link is the address in an attribute; without the attribute the text counts.
func link(d *dom.Document, n *html.Node, name string) Value {
	if !dom.Has(n, name) {
		return Value{Kind: Text, Text: dom.Text(n), Line: dom.Line(n)}
	}
	return Value{Kind: Link, Text: d.Resolve(dom.Attr(n, name)), Line: dom.Line(n)}
}
