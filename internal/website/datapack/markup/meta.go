package markup

import (
	"slices"
	"strings"

	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// metaPrefixes begin the names of Open Graph and its relatives.
var metaPrefixes = []string{
	"og", "article", "book", "profile", "product", "video", "music", "fb", "al", "business",
	"place", "twitter",
}

// metaNames are the plain meta elements that describe a page.
var metaNames = []string{
	"description", "author", "keywords", "date", "application-name", "publisher", "dc.title",
	"dc.creator", "dc.date", "dcterms.created", "dcterms.modified", "generator", "citation_title", "citation_author",
	"citation_publication_date",
}

const maxMeta = 500

// meta reads the meta elements: one node per family.
func (c *collector) meta() {
	families := map[Source]*Node{}
	for _, n := range dom.All(c.doc.Root, maxMeta, func(n *html.Node) bool { return n.DataAtom == atom.Meta }) {
		name := strings.ToLower(strings.TrimSpace(dom.Attr(n, "property")))
		if name == "" {
			name = strings.ToLower(strings.TrimSpace(dom.Attr(n, "name")))
		}
		content := dom.Squeeze(dom.Attr(n, "content"))
		source, ok := family(name)
		if !ok || content == "" {
			continue
		}
		node := families[source]
		if node == nil {
			node = &Node{Source: source, Path: dom.Selector(n), Line: dom.Line(n)}
			families[source] = node
		}
		if name == "og:type" {
			node.Types = append(node.Types, content)
		}
		node.add(name, Value{Kind: Text, Text: content, Line: dom.Line(n)})
	}
	for _, source := range []Source{OpenGraph, Twitter, Meta} {
		if node := families[source]; node != nil {
			c.roots = append(c.roots, node)
		}
	}
}

func family(name string) (Source, bool) {
	prefix, _, qualified := strings.Cut(name, ":")
	if !qualified {
		return Meta, slices.Contains(metaNames, name)
	}
	if prefix == "twitter" {
		return Twitter, true
	}
	return OpenGraph, slices.Contains(metaPrefixes, prefix)
}
