package dom

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text is the text inside a node on one line, scripts and styles left out. It
// ends after MaxText bytes.
func Text(n *html.Node) string {
	return text(n, MaxText, func(*html.Node) bool { return false })
}

// Visible is Text without what the page itself declares hidden.
func Visible(n *html.Node) string { return text(n, MaxText, Hidden) }

// VisibleUpTo is Visible with another limit than MaxText.
func VisibleUpTo(n *html.Node, most int) string { return text(n, most, Hidden) }

// text goes without recursion from node to node; a node that skip refuses is
// left out with all that is inside.
func text(top *html.Node, most int, skip func(*html.Node) bool) string {
	var b strings.Builder
	for n := top; n != nil && b.Len() < most; {
		enter := true
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && (Silent(n) || skip(n)):
			enter = false
		case n.Type == html.ElementNode && Block(n):
			b.WriteByte(' ')
		}
		n = next(n, top, enter, &b)
	}
	return cut(Squeeze(b.String()), most)
}

// next is the node after n in reading order. Blocks that end on the way part
// the words before and after them.
func next(n, top *html.Node, enter bool, b *strings.Builder) *html.Node {
	if enter && n.FirstChild != nil {
		return n.FirstChild
	}
	for n != top && n.NextSibling == nil {
		n = n.Parent
		if Block(n) {
			b.WriteByte(' ')
		}
	}
	if n == top {
		return nil
	}
	if Block(n) {
		b.WriteByte(' ')
	}
	return n.NextSibling
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 { // in the middle of a character
		most--
	}
	return s[:most]
}

// Silent reports whether an element holds no text for readers.
func Silent(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Iframe, atom.Svg, atom.Object, atom.Select, atom.Textarea:
		return true
	}
	return false
}

// Hidden reports whether the page declares an element hidden in its own markup.
// What style sheets hide is not seen.
func Hidden(n *html.Node) bool {
	if Has(n, "hidden") || strings.EqualFold(strings.TrimSpace(Attr(n, "aria-hidden")), "true") {
		return true
	}
	style := Attr(n, "style")
	if style == "" {
		return false
	}
	style = strings.ToLower(strings.Join(strings.Fields(style), ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// Block reports whether an element parts words: "a</p><p>b" is two words.
func Block(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font,
		atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Meta, atom.Link, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike,
		atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Script, atom.Style, atom.Template, atom.Noscript:
		return false
	}
	return true
}

// Limits of selectors.
const (
	maxSelectorSteps = 12
	maxSiblings      = 500
)

// Selector answers a CSS selector that finds n. It starts at the nearest
// element with an id. For elements very deep inside or among very many siblings
// it is no more than near.
func Selector(n *html.Node) string {
	var steps []string
	for ; n != nil && n.Type == html.ElementNode && len(steps) < maxSelectorSteps; n = n.Parent {
		if id := Attr(n, "id"); plainName(id) {
			steps = append(steps, "#"+id)
			break
		}
		steps = append(steps, n.Data+nth(n))
		if n.DataAtom == atom.Body || n.DataAtom == atom.Head || n.DataAtom == atom.Html {
			break
		}
	}
	var b strings.Builder
	for i, step := range slices.Backward(steps) {
		b.WriteString(step)
		if i > 0 {
			b.WriteString(" > ")
		}
	}
	return b.String()
}

// nth tells n from siblings of its name.
func nth(n *html.Node) string {
	place, seen := 1, 0
	for s := n.PrevSibling; s != nil && seen < maxSiblings; s = s.PrevSibling {
		seen++
		if s.Type == html.ElementNode && s.Data == n.Data {
			place++
		}
	}
	if place == 1 && !anyAfter(n) {
		return ""
	}
	return ":nth-of-type(" + strconv.Itoa(place) + ")"
}

func anyAfter(n *html.Node) bool {
	seen := 0
	for s := n.NextSibling; s != nil && seen < maxSiblings; s = s.NextSibling {
		seen++
		if s.Type == html.ElementNode && s.Data == n.Data {
			return true
		}
	}
	return false
}

func plainName(id string) bool {
	if id == "" || len(id) > 64 || id[0] >= '0' && id[0] <= '9' || id[0] == '-' {
		return false
	}
	for _, c := range id {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}
