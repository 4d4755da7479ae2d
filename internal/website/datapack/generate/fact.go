package generate

import (
	"maps"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
)

// Fact is something that the page says, with the place where it says it.
type Fact struct {
	Text   string
	Source Source
}

// Source is where a fact was found.
type Source struct {
	Page     string `json:"page,omitempty"` // where it is another page than the one that is described
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

// found makes a fact of what is at an element.
func (v *view) found(from string, n *html.Node, text, raw string) Fact {
	return Fact{Text: visible(text), Source: Source{
		Page: v.url, From: from, Selector: dom.Selector(n),
		Line: dom.Line(n), Text: excerpt.Chars(visible(raw), 200),
	}}
}

// stated makes a fact of what the page's own markup says.
func (v *view) stated(n *markup.Node, line int, text string) Fact {
	return Fact{Text: visible(text), Source: Source{
		Page: v.url, From: "existing " + string(n.Source), Selector: n.Path,
		Line: line, Text: excerpt.Chars(visible(text), 200),
	}}
}

// visible takes out invisible letters: zero-width ones, those that turn
// the direction of text, and tags.
func visible(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 0x200b && c <= 0x200f && c != 0x200c && c != 0x200d, c >= 0x202a && c <= 0x202e, c >= 0x2060 &&
			c <= 0x206f, c >= 0xe0000 && c <= 0xe007f, c == 0xad, c == 0xfeff:
			return -1
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return ' '
		}
		return c
	}, s)
}

func (f Fact) ok() bool { return f.Text != "" }

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
