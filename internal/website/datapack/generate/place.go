package generate

import (
	"regexp"
	"strings"

	"ace/internal/website/datapack/ld"
	"ace/internal/website/datapack/written"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// address is a postal address as far as it could be taken apart.
type address struct {
	whole Fact
	written.Address
}

// addressOf reads an address element or a small block.
func addressOf(f Fact) (address, bool) {
	parts, ok := written.ParseAddress(f.Text)
	f.Text = parts.Whole
	return address{f, parts}, ok
}

// node writes the address: in parts where they are sure, else as the page's
// text.
func (a address) node(b *notebook, path string) any {
	if a.Street == "" {
		return b.use(path+".address", a.whole)
	}
	n := ld.Of("@type", "PostalAddress")
	for _, part := range []struct{ name, text string }{
		{"streetAddress", a.Street},
		{"postalCode", a.Code},
		{"addressLocality", a.City},
		{"addressRegion", a.Region},
		{"addressCountry", a.Country},
	} {
		n.Set(part.name, part.text)
		if part.text != "" {
			b.use(path+".address."+part.name, Fact{Text: part.text, Source: a.whole.Source})
		}
	}
	return n
}

var addressClass = regexp.MustCompile(`(?i)(^|[\s_-])(address|adr|anschrift|adresse)($|[\s_-])`)

// address finds the one postal address of a part of the page.
func (v *view) address(part *html.Node) (address, bool) {
	var all []address
	add := func(n *html.Node, text, from string) {
		whole, ok1 := addressOf(v.found(from, n, text, text))
		rest, ok2 := addressOf(v.found(from, n, afterName(text), text))
		switch {
		case ok2 && whole.Street == "" && (rest.Street != "" || rest.whole.Text[0] >= '0' && rest.whole.Text[0] <= '9'):
			all = append(all, rest) // the name of the place came first
		case ok1:
			all = append(all, whole)
		}
	}
	for _, n := range dom.All(part,
		10, func(n *html.Node) bool { return n.DataAtom == atom.Address || class(n, addressClass) }) {
		add(n, lines(n), "address element")
	}
	if len(all) == 0 {
		for _, n := range dom.All(part, maxBlocks, func(n *html.Node) bool { return small(n) && !dom.Hidden(n) }) {
			if text := dom.Visible(n); len(text) <= 200 && strings.ContainsAny(text, "0123456789") &&
				strings.Contains(text, ",") {
				add(n, text, "text")
			}
		}
	}
	if len(all) == 0 {
		return address{}, false
	}
	for _, a := range all[1:] {
		if a.whole.Text != all[0].whole.Text && a.Street != all[0].Street {
			return address{}, false // several: which one is meant is not said
		}
	}
	return all[0], true
}

// lines puts commas where an address breaks its lines.
func lines(n *html.Node) string {
	var parts []string
	var b strings.Builder
	flush := func() {
		if text := strings.Trim(dom.Squeeze(b.String()), " ,"); text != "" {
			parts = append(parts, text)
		}
		b.Reset()
	}
	for c := range n.Descendants() {
		switch {
		case c.Type == html.TextNode && !dom.Within(c.Parent,
			func(p *html.Node) bool { return dom.Hidden(p) || p.DataAtom == atom.A }):
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br || dom.Block(c):
			flush()
		}
	}
	flush()
	return strings.Join(parts, ", ")
}

// afterName takes the first part off: "Hollow Oak Tools, 4 Mill Lane, …".
func afterName(text string) string {
	first, rest, ok := strings.Cut(text, ",")
	if !ok || strings.ContainsAny(first, "0123456789") {
		return text
	}
	return strings.TrimSpace(rest)
}

var phonePattern = regexp.MustCompile(`^\+?[\d\s().-]{6,20}$`)

// telephone is the one number that a part of the page links.
func (v *view) telephone(part *html.Node) Fact {
	return v.linked(part, "tel:", func(s string) string {
		if !phonePattern.MatchString(s) {
			return ""
		}
		return s
	})
}

var mailPattern = regexp.MustCompile(`^[\w.+-]+@[\w-]+(\.[\w-]+)+$`)

// email is the one address that a part of the page links.
func (v *view) email(part *html.Node) Fact {
	return v.linked(part, "mailto:", func(s string) string {
		s, _, _ = strings.Cut(s, "?")
		if !mailPattern.MatchString(s) {
			return ""
		}
		return s
	})
}

func (v *view) linked(part *html.Node, scheme string, read func(string) string) Fact {
	var first Fact
	for _, n := range dom.All(part, 50, func(n *html.Node) bool {
		return n.DataAtom == atom.A && strings.HasPrefix(strings.ToLower(strings.TrimSpace(dom.Attr(n, "href"))),
			scheme) && !dom.Hidden(n)
	}) {
		href := strings.TrimSpace(dom.Attr(n, "href"))
		text := read(strings.ReplaceAll(href[len(scheme):], "%20", " "))
		switch {
		case text == "":
		case !first.ok():
			first = v.found("link "+scheme, n, text, href)
		case first.Text != text:
			return Fact{} // several: which one is meant is not said
		}
	}
	return first
}

// openingHours reads the rows that name days and hours.
func (v *view) openingHours(b *notebook, path string) []any {
	var all []any
	seen := map[string]bool{}
	var source Fact
	for _, row := range v.rows() {
		days, opens, closes, ok := written.Opening(row.text)
		if !ok {
			continue
		}
		for _, d := range days {
			if seen[d] {
				return nil // one day twice: seasons, or two places
			}
			seen[d] = true
		}
		n := ld.Of("@type", "OpeningHoursSpecification")
		var list []any
		for _, d := range days {
			list = append(list, "https://schema.org/"+d)
		}
		n.Set("dayOfWeek", list)
		n.Set("opens", opens)
		n.Set("closes", closes)
		all = append(all, n)
		if !source.ok() {
			source = v.found("opening hours", row.node, row.text, row.text)
		}
	}
	b.use(path+".openingHoursSpecification", source)
	return all
}

// rows are table rows and small blocks, each once.
func (v *view) rows() []blockText {
	var all []blockText
	for _, n := range dom.All(v.Doc.Root, 200, func(n *html.Node) bool {
		return (n.DataAtom == atom.Tr || n.DataAtom == atom.Li || n.DataAtom == atom.P || n.DataAtom == atom.Dd) &&
			!dom.Hidden(n)
	}) {
		text := dom.Visible(n)
		if n.DataAtom == atom.Dd && n.PrevSibling != nil {
			for s := n.PrevSibling; s != nil; s = s.PrevSibling {
				if s.DataAtom == atom.Dt {
					text = dom.Visible(s) + " " + text
					break
				}
			}
		}
		if len(text) < 100 {
			all = append(all, blockText{n, text})
		}
	}
	return all
}
