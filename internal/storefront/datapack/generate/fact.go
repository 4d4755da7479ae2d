package generate

import (
	"maps"
	"slices"
	"strings"

	"ace/internal/storefront/datapack/dom"

	"golang.org/x/net/html"
)

// Fact is something that the page says, with the place where it says it.
type Fact struct {
	Text   string
	Source Source
}

// Source is where a fact was found.
type Source struct {
	From     string `json:"from"`           // the rule that found it: "h1", "og:title", "existing json-ld"
	Selector string `json:"selector"`       // CSS, or the place in a JSON-LD block
	Line     int    `json:"line,omitempty"` // of the page's source
	Text     string `json:"text"`           // as found, cut to 200 characters
}

// Need is a fact that a search feature asks for and the page does not say.
type Need struct {
	Path   string `json:"path"` // "Product.offers.price"
	Reason string `json:"reason"`
}

// found makes a fact of what stands at an element.
func found(from string, n *html.Node, text, raw string) Fact {
	return Fact{Text: text, Source: Source{From: from, Selector: dom.Selector(n), Line: dom.Line(n), Text: clip(raw, 200)}}
}

func (f Fact) ok() bool { return f.Text != "" }

func clip(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// notebook collects where the facts of a page came from and which are missing.
type notebook struct {
	sources map[string]Source
	needs   []Need
	notes   []string
}

// use notes the source of a fact under the path of its property.
func (b *notebook) use(path string, f Fact) string {
	if f.ok() {
		b.sources[path] = f.Source
	}
	return f.Text
}

func (b *notebook) need(path, reason string) {
	if !slices.ContainsFunc(b.needs, func(n Need) bool { return n.Path == path }) {
		b.needs = append(b.needs, Need{path, reason})
	}
}

func (b *notebook) note(text string) {
	if !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}

// forget drops the sources below a path: the node was left out.
func (b *notebook) forget(path string) {
	maps.DeleteFunc(b.sources, func(key string, _ Source) bool { return strings.HasPrefix(key, path+".") })
}
