package crawl

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TextOf is the text inside a node on one line, as it would be seen: scripts,
// styles and templates are left out.
func TextOf(n *html.Node) string {
	var b strings.Builder
	appendText(&b, n, false)
	return squeeze(b.String())
}

// VisibleText is TextOf without what is hidden by attributes or inline styles.
func VisibleText(n *html.Node) string {
	var b strings.Builder
	appendText(&b, n, true)
	return squeeze(b.String())
}

func appendText(b *strings.Builder, n *html.Node, seen bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			b.WriteString(c.Data)
		case html.ElementNode:
			if unprinted(c) || seen && Hidden(c) {
				continue
			}
			gap := breaks(c)
			if gap {
				b.WriteByte(' ')
			}
			appendText(b, c, seen)
			if gap {
				b.WriteByte(' ')
			}
		}
	}
}

func unprinted(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Iframe, atom.Object, atom.Textarea, atom.Select, atom.Datalist:
		return true
	}
	return n.Namespace != "" && n.Data != "text" && n.Data != "svg" && n.Data != "g"
}

// breaks reports whether an element stands apart from the words around it.
func breaks(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.I, atom.Ins, atom.Kbd, atom.Mark,
		atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr, atom.Font:
		return false
	}
	return true
}

// Hidden reports whether an element is hidden by itself: by an attribute or an
// inline style. Style sheets are not read.
func Hidden(n *html.Node) bool {
	if HasAttr(n, "hidden") || strings.EqualFold(Attr(n, "aria-hidden"), "true") {
		return true
	}
	_, hidden := HidingStyle(Attr(n, "style"))
	return hidden
}

// HidingStyle answers the declaration of an inline style that hides text from
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
		if (name == "text-indent" || name == "left" || name == "top" || name == "margin-left") && strings.HasPrefix(value, "-") && len(value) >= 6 {
			return name + ":" + value, true
		}
	}
	return "", false
}

// Words counts the words of a text. Scripts without spaces between words count
// one for two characters.
func Words(text string) int {
	words, dense, inside := 0, 0, false
	for _, r := range text {
		switch {
		case spaceless(r):
			dense++
			inside = false
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if !inside {
				words++
			}
			inside = true
		case r == '\'' || r == '’' || r == '-' || r == '.' || r == '_' || r == ',': // inside a word or a number
		default:
			inside = false
		}
	}
	return words + (dense+1)/2
}

func spaceless(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
