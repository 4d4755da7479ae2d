package generate

import (
	"fmt"
	"regexp"
	"strings"

	"ace/internal/storefront/datapack/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// address is a postal address as far as it could be taken apart.
type address struct {
	whole                            Fact
	street, code, city, region, land string
}

// Forms of addresses whose parts are sure. Everything else stays one text.
var (
	ukAddress = regexp.MustCompile(`^(\d+[A-Za-z]?(?:-\d+)? [\p{L}'’. -]+),\s*([\p{L}'’ -]+?),?(?:\s*[\p{L} ]+,)?\s+([A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})\b`)
	usAddress = regexp.MustCompile(`^(\d+ [\p{L}\d'’.# -]+?(?:, (?:Suite|Ste|Apt|Unit|Floor)\.? ?[\w-]+)?),\s*([\p{L}'’. -]+),\s*([A-Z]{2})\s+(\d{5}(?:-\d{4})?)\b`)
	deAddress = regexp.MustCompile(`^([\p{L}'’. -]+? \d+\s?[a-zA-Z]?(?:\s?[-/]\s?\d+\s?[a-zA-Z]?)?),?\s+(?:D-|A-|CH-)?(\d{4,5})\s+([\p{L}'’ ./()-]{2,40}?)$`)
	roadWords = regexp.MustCompile(`(?i)\b(street|st\.?|road|rd\.?|lane|avenue|ave\.?|drive|way|square|place|boulevard|blvd|court|close|mews|terrace|hill|quay|row|straße|strasse|str\.|weg|platz|allee|gasse|rue|place|calle|via|plaza|straat)\b`)
)

// addressOf reads an address element or a small block.
func addressOf(f Fact) (address, bool) {
	text := strings.Trim(dom.Squeeze(f.Text), " ,.")
	a := address{whole: f}
	a.whole.Text = text
	if m := ukAddress.FindStringSubmatch(text); m != nil {
		a.street, a.city, a.code, a.land = m[1], strings.TrimSpace(m[2]), m[3], "GB"
		return a, true
	}
	if m := usAddress.FindStringSubmatch(text); m != nil {
		a.street, a.city, a.region, a.code, a.land = m[1], m[2], m[3], m[4], "US"
		return a, true
	}
	if m := deAddress.FindStringSubmatch(text); m != nil {
		a.street, a.code, a.city = m[1], m[2], m[3]
		return a, true
	}
	digits := strings.ContainsAny(text, "0123456789")
	return a, digits && roadWords.MatchString(text) && strings.Contains(text, ",") && len(text) <= 160
}

// node writes the address: in parts where they are sure, else as the page's
// text.
func (a address) node(b *notebook, path string) any {
	if a.street == "" {
		return b.use(path+".address", a.whole)
	}
	n := Node{{"@type", "PostalAddress"}}
	for _, part := range []struct{ name, text string }{
		{"streetAddress", a.street}, {"postalCode", a.code}, {"addressLocality", a.city}, {"addressRegion", a.region}, {"addressCountry", a.land},
	} {
		n.set(part.name, part.text)
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
		case ok2 && whole.street == "" && (rest.street != "" || rest.whole.Text[0] >= '0' && rest.whole.Text[0] <= '9'):
			all = append(all, rest) // the name of the place stood before
		case ok1:
			all = append(all, whole)
		}
	}
	for _, n := range dom.All(part, 10, func(n *html.Node) bool { return n.DataAtom == atom.Address || class(n, addressClass) }) {
		add(n, lines(n), "address element")
	}
	if len(all) == 0 {
		for _, n := range dom.All(part, maxBlocks, func(n *html.Node) bool { return small(n) && !dom.Hidden(n) }) {
			if text := dom.Visible(n); len(text) <= 200 && strings.ContainsAny(text, "0123456789") && strings.Contains(text, ",") {
				add(n, text, "text")
			}
		}
	}
	if len(all) == 0 {
		return address{}, false
	}
	for _, a := range all[1:] {
		if a.whole.Text != all[0].whole.Text && a.street != all[0].street {
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
		case c.Type == html.TextNode && !dom.Within(c.Parent, func(p *html.Node) bool { return dom.Hidden(p) || p.DataAtom == atom.A }):
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
		return n.DataAtom == atom.A && strings.HasPrefix(strings.ToLower(strings.TrimSpace(dom.Attr(n, "href"))), scheme) && !dom.Hidden(n)
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

var (
	dayNames = []struct {
		words *regexp.Regexp
		name  string
	}{
		{regexp.MustCompile(`(?i)\b(mon(day)?s?|montags?|mo)\b`), "Monday"},
		{regexp.MustCompile(`(?i)\b(tue(s(day)?)?s?|dienstags?|di)\b`), "Tuesday"},
		{regexp.MustCompile(`(?i)\b(wed(nesday)?s?|mittwochs?|mi)\b`), "Wednesday"},
		{regexp.MustCompile(`(?i)\b(thu(r(s(day)?)?)?s?|donnerstags?|do)\b`), "Thursday"},
		{regexp.MustCompile(`(?i)\b(fri(day)?s?|freitags?|fr)\b`), "Friday"},
		{regexp.MustCompile(`(?i)\b(sat(urday)?s?|samstags?|sonnabends?|sa)\b`), "Saturday"},
		{regexp.MustCompile(`(?i)\b(sun(day)?s?|sonntags?|so)\b`), "Sunday"},
	}
	hours     = regexp.MustCompile(`(?i)\b(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|uhr|h)?\s*(?:-|–|—|to|bis|till|until)\s*(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|uhr|h)?\b`)
	dayRange  = regexp.MustCompile(`(?i)^[^\d]*?(-|–|—|\bto\b|\bbis\b)`)
	closedDay = regexp.MustCompile(`(?i)\b(closed|geschlossen|fermé|cerrado)\b`)
)

// openingHours reads the rows that name days and hours.
func (v *view) openingHours(b *notebook, path string) []any {
	var all []any
	seen := map[string]bool{}
	var source Fact
	for _, row := range v.rows() {
		days, opens, closes, ok := opening(row.text)
		if !ok {
			continue
		}
		for _, d := range days {
			if seen[d] {
				return nil // one day twice: seasons, or two places
			}
			seen[d] = true
		}
		n := Node{{"@type", "OpeningHoursSpecification"}}
		var list []any
		for _, d := range days {
			list = append(list, "https://schema.org/"+d)
		}
		n.set("dayOfWeek", list)
		n.set("opens", opens)
		n.set("closes", closes)
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
		return (n.DataAtom == atom.Tr || n.DataAtom == atom.Li || n.DataAtom == atom.P || n.DataAtom == atom.Dd) && !dom.Hidden(n)
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

// opening reads "Mon-Fri 9:00-17:30". Hours such as "9-5" are not sure and are
// left alone.
func opening(text string) (days []string, opens, closes string, ok bool) {
	times := hours.FindAllStringSubmatchIndex(text, 2)
	if len(times) != 1 || closedDay.MatchString(text) {
		return nil, "", "", false
	}
	m := times[0]
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	opens, sure1 := clock(group(1), group(2), group(3))
	closes, sure2 := clock(group(4), group(5), group(6))
	if !sure1 || !sure2 {
		return nil, "", "", false
	}
	before := text[:m[0]]
	var at []int
	for i, d := range dayNames {
		if d.words.MatchString(before) {
			at = append(at, i)
		}
	}
	switch {
	case len(at) == 2 && dayRange.MatchString(before) && at[0] < at[1]:
		for i := at[0]; i <= at[1]; i++ {
			days = append(days, dayNames[i].name)
		}
	case len(at) > 0 && !dayRange.MatchString(strings.TrimRight(before, " -–—:")):
		for _, i := range at {
			days = append(days, dayNames[i].name)
		}
	default:
		return nil, "", "", false
	}
	return days, opens, closes, true
}

// clock makes "5", "30", "pm" 17:30. An hour alone, without minutes or words,
// is not sure.
func clock(hour, minute, word string) (string, bool) {
	h := 0
	for _, c := range hour {
		h = h*10 + int(c-'0')
	}
	switch strings.ToLower(word) {
	case "pm":
		if h < 12 {
			h += 12
		}
	case "am":
		if h == 12 {
			h = 0
		}
	case "":
		if minute == "" {
			return "", false
		}
	}
	if minute == "" {
		minute = "00"
	}
	if h > 24 || minute > "59" {
		return "", false
	}
	return fmt.Sprintf("%02d:%s", h, minute), true
}
