package judge

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// facts is what several checks ask of a page.
type facts struct {
	visible      string // text that is seen, navigation included
	visibleWords int
	main         *html.Node // main, or the only article; nil: neither
	h1           *html.Node // the first that is seen
	blocks       []block    // of JSON-LD
	nodes        []node     // of JSON-LD and microdata
	types        []string   // of nodes, sorted, each once
	shingles     map[uint64]bool
	lang         string // detected; empty: unsure
}

// block is one script element of JSON-LD.
type block struct {
	place crawl.Place
	fault string // of the syntax; empty: none
}

// node is one thing that structured data describes.
type node struct {
	types []string
	props map[string]any // of JSON-LD values: string, float64, bool, map, list
}

func (a *Audit) factsOf(p *crawl.Page) *facts {
	if f := a.facts[p]; f != nil {
		return f
	}
	d := p.Document
	f := &facts{visible: dom.Visible(d.Root), main: mainOf(d.Root)}
	f.visibleWords = crawl.Words(f.visible)
	for _, h := range d.Headings {
		if h.Level == 1 && f.h1 == nil && !hiddenInside(h.Node) {
			f.h1 = h.Node
		}
	}
	f.readData(d)
	f.lang = detect(d.MainText)
	if f.lang == "" {
		f.lang = detect(f.visible)
	}
	f.shingles = prose.Shingles(d.MainText)
	a.facts[p] = f
	return f
}

// mainOf finds the landmark of a page's main part.
func mainOf(root *html.Node) *html.Node {
	var articles []*html.Node
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.DataAtom == atom.Main || strings.EqualFold(dom.Attr(n, "role"), "main") {
			return n
		}
		if n.DataAtom == atom.Article {
			articles = append(articles, n)
		}
	}
	if len(articles) == 1 {
		return articles[0]
	}
	return nil
}

// hiddenInside reports whether an element or one around it is hidden.
func hiddenInside(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && dom.Hidden(n) {
			return true
		}
	}
	return false
}

func (f *facts) readData(d *crawl.Document) {
	for n := range d.Root.Descendants() {
		switch {
		case n.DataAtom == atom.Script && strings.HasPrefix(strings.ToLower(strings.TrimSpace(dom.Attr(n, "type"))),
			"application/ld+json"):
			f.readJSON(d, n)
		case len(f.nodes) < maxDataNodes && n.Type == html.ElementNode && dom.Has(n, "itemscope") &&
			dom.Has(n, "itemtype"):
			f.nodes = append(f.nodes, microdata(n, 0))
		}
	}
	for _, n := range f.nodes {
		f.types = append(f.types, n.types...)
	}
	sort.Strings(f.types)
	f.types = slices.Compact(f.types)
}

func (f *facts) readJSON(d *crawl.Document, n *html.Node) {
	var text strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		text.WriteString(c.Data)
	}
	source := strings.TrimSpace(text.String())
	source = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(source, "<!--"), "-->"))
	b := block{place: d.Where(n)}
	value, err := decode(source)
	if err != nil {
		b.fault = prose.Cut(err.Error(), 100)
	} else {
		f.collect(value, 0)
	}
	f.blocks = append(f.blocks, b)
}

// decode reads one JSON value; numbers of any size are fine.
func decode(source string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(source))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows behind the value")
	}
	return value, nil
}

const (
	maxDataDepth = 40
	maxDataNodes = 2000
)

// collect finds the typed nodes inside a JSON value, outer ones first.
func (f *facts) collect(value any, depth int) {
	if depth > maxDataDepth || len(f.nodes) >= maxDataNodes {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, x := range v {
			f.collect(x, depth+1)
		}
	case map[string]any:
		if types := typeNames(v["@type"]); len(types) > 0 {
			f.nodes = append(f.nodes, node{types: types, props: v})
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			f.collect(v[k], depth+1)
		}
	}
}

func typeNames(value any) []string {
	var names []string
	for _, s := range texts(value) {
		names = append(names, prose.Cut(s[strings.LastIndexAny(s, "/#:")+1:], 60))
	}
	return names
}

// texts are the strings of a value that may be one or a list.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		if v = strings.TrimSpace(v); v != "" {
			return []string{v}
		}
	case []any:
		var all []string
		for _, x := range v {
			all = append(all, texts(x)...)
		}
		return all
	case map[string]any:
		for _, key := range []string{"@value", "url", "@id", "name"} {
			if t := texts(v[key]); len(t) > 0 {
				return t
			}
		}
	}
	return nil
}

// text is the first string of a property.
func (n node) text(name string) string {
	if t := texts(n.props[name]); len(t) > 0 {
		return t[0]
	}
	return ""
}

// maps are the nodes that a property holds.
func (n node) maps(name string) []map[string]any {
	switch v := n.props[name].(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		var all []map[string]any
		for _, x := range v {
			if m, ok := x.(map[string]any); ok {
				all = append(all, m)
			}
		}
		return all
	}
	return nil
}

func (n node) is(names ...string) bool {
	return slices.ContainsFunc(n.types, func(t string) bool { return slices.Contains(names, t) })
}

// microdata reads an item and the items inside it, far enough for the checks.
func microdata(n *html.Node, depth int) node {
	item := node{types: typeNames(anyList(strings.Fields(dom.Attr(n, "itemtype")))), props: map[string]any{}}
	readProps(n, item.props, depth)
	return item
}

func anyList(words []string) []any {
	var list []any
	for _, w := range words {
		list = append(list, w)
	}
	return list
}

func readProps(n *html.Node, props map[string]any, depth int) {
	if depth > maxDataDepth {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		for name := range strings.FieldsSeq(dom.Attr(c, "itemprop")) {
			list, _ := props[name].([]any)
			props[name] = append(list, itemValue(c, depth))
		}
		if !dom.Has(c, "itemscope") {
			readProps(c, props, depth+1)
		}
	}
}

func itemValue(n *html.Node, depth int) any {
	if dom.Has(n, "itemscope") {
		inner := map[string]any{}
		readProps(n, inner, depth+1)
		return inner
	}
	for _, name := range []string{"content", "datetime", "href", "src"} {
		if v := dom.Attr(n, name); v != "" {
			return v
		}
	}
	return dom.Text(n)
}
