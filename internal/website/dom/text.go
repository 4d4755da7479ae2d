package dom

import (
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/excerpt"

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
		case n != top && n.Type == html.ElementNode && (Silent(n) || skip(n)):
			enter = false
		case n.Type == html.ElementNode && Block(n):
			b.WriteByte(' ')
		}
		n = next(n, top, enter, &b)
	}
	return excerpt.Prefix(Squeeze(b.String()), most)
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

// Silent reports whether an element holds no text for readers.
func Silent(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Iframe, atom.Svg, atom.Object,
		atom.Select, atom.Textarea, atom.Datalist:
		return true
	}
	return false
}

// Hidden reports whether the page declares an element hidden in its own markup:
// by an attribute or an inline style. Style sheets are not read.
func Hidden(n *html.Node) bool {
	if Has(n, "hidden") || strings.EqualFold(strings.TrimSpace(Attr(n, "aria-hidden")), "true") {
		return true
	}
	_, hidden := HidingStyle(Attr(n, "style"))
	return hidden
}

// HidingStyle returns the declaration of an inline style that hides text from
// people.
func HidingStyle(style string) (declaration string, hidden bool) {
	if style == "" {
		return "", false
	}
	for part := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch name + ":" + value {
		case "display:none", "visibility:hidden", "visibility:collapse", "opacity:0", "opacity:0.0", "opacity:0%",
			"font-size:0", "font-size:0px", "font-size:0em", "font-size:0rem", "font-size:0pt":
			return name + ":" + value, true
		}
		if (name == "text-indent" || name == "left" || name == "top" || name == "margin-left") &&
			strings.HasPrefix(value, "-") && len(value) >= 6 {
			return name + ":" + value, true
		}
	}
	return "", false
}

// Block reports whether an element parts words: "a</p><p>b" is two words.
func Block(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn,
		atom.Em, atom.Font,
		atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Meta, atom.Link, atom.Q, atom.S, atom.Samp, atom.Small,
		atom.Span, atom.Strike,
		atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Script, atom.Style,
		atom.Template, atom.Noscript:
		return false
	}
	return true
}

// Limits of selectors.
const (
	maxSelectorSteps = 12
	maxSiblings      = 500
)

// Selector returns a CSS selector that finds n. It starts at the nearest
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

// nth distinguishes n from siblings of its name.
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
