package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/written"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
)

// leastWords is how much a page must show before its data is compared with it:
// what scripts write later cannot be seen here.
const leastWords = 20

// visible compares what blocks claim with what readers see (W2): the name, the
// price, the rating and the date of the things on the page. Microdata and RDFa
// mostly stand on the visible text itself.
func (r *run) visible() {
	if r.doc == nil {
		return
	}
	p := newShown(r.doc)
	if len(strings.Fields(p.text)) < leastWords {
		return
	}
	for _, s := range r.subjects() {
		n := s.node
		if n.Source != markup.JSONLD || s.parent != nil {
			continue
		}
		switch {
		case r.any(n, "Product", "SoftwareApplication"):
			r.shownName(p, n, "name")
			r.shownPrices(p, n)
			r.shownRating(p, n)
		case r.any(n, "Article"):
			r.shownName(p, n, "headline")
			r.shownDate(p, n, "datePublished", "dateModified")
		case r.any(n, "Event"):
			r.shownName(p, n, "name")
			r.shownDate(p, n, "startDate")
			r.shownPrices(p, n)
		case r.any(n, "Recipe", "Course", "LocalBusiness", "Movie", "Book"):
			r.shownName(p, n, "name")
			r.shownRating(p, n)
		case r.any(n, "JobPosting"):
			r.shownName(p, n, "title")
		}
	}
}

func (r *run) any(n *markup.Node, types ...string) bool {
	return slices.ContainsFunc(n.Types, func(t string) bool {
		return slices.ContainsFunc(types, func(want string) bool { return r.v.IsA(t, want) })
	})
}

func (r *run) mismatch(n *markup.Node, property, value, detail string) {
	i := at(Mismatch, "not_on_page", n)
	i.Property, i.Value, i.Message = label(n, property), value, detail
	r.add(i)
}

func (r *run) shownName(p *shown, n *markup.Node, property string) {
	name := n.First(property)
	if name == "" || p.words(name) {
		return
	}
	r.mismatch(n, property, name, fmt.Sprintf("The page does not show the %s %q.", property, excerpt.Chars(name, 100)))
}

func (r *run) shownPrices(p *shown, n *markup.Node) {
	for _, offer := range r.follow(n, "offers") {
		for _, property := range []string{"price", "lowPrice", "highPrice"} {
			price := offer.First(property)
			value, err := strconv.ParseFloat(price, 64)
			if err != nil || value == 0 || p.number(value) {
				continue
			}
			r.mismatch(
				offer,
				property,
				price,
				fmt.Sprintf("The page does not show the price %s.", excerpt.Chars(price, 100)),
			)
		}
	}
}

func (r *run) shownRating(p *shown, n *markup.Node) {
	for _, rating := range r.follow(n, "aggregateRating") {
		text := rating.First("ratingValue")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || p.number(value) {
			continue
		}
		r.mismatch(
			rating,
			"ratingValue",
			text,
			fmt.Sprintf("The page does not show the rating %s.", excerpt.Chars(text, 100)),
		)
	}
}

// shownDate wants one of the dates to be on a page that shows dates at all.
func (r *run) shownDate(p *shown, n *markup.Node, properties ...string) {
	if len(p.dates) == 0 {
		return
	}
	first, value := "", ""
	for _, property := range properties {
		text := n.First(property)
		if len(text) < len(time.DateOnly) {
			continue
		}
		day, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)])
		if err != nil {
			continue
		}
		if p.dates[day.Format(time.DateOnly)] || p.around(day) {
			return
		}
		if first == "" {
			first, value = property, text
		}
	}
	if first != "" {
		r.mismatch(n, first, value, fmt.Sprintf("The page shows other dates than %s.", excerpt.Chars(value, 100)))
	}
}

// shown is what a page shows, prepared for being searched.
type shown struct {
	text    string // lower case letters and digits, one space between words
	numbers map[string]bool
	dates   map[string]bool // 2026-03-19
}

// maxShown bounds the visible text that is searched, in bytes.
const maxShown = 500_000

func newShown(d *dom.Document) *shown {
	visible := dom.VisibleUpTo(d.Root, maxShown)
	p := &shown{text: fold(visible), numbers: map[string]bool{}, dates: map[string]bool{}}
	for _, m := range numberPattern.FindAllString(visible, 20_000) {
		for _, n := range readings(m) {
			p.numbers[n] = true
		}
	}
	for _, day := range written.Dates(visible) {
		p.dates[day] = true
	}
	for _, n := range dom.All(d.Root, 200,
		func(n *html.Node) bool { return n.Data == "time" && dom.Has(n, "datetime") }) {
		if text := dom.Attr(n, "datetime"); len(text) >= len(time.DateOnly) && isDate(text[:len(time.DateOnly)]) {
			p.dates[text[:len(time.DateOnly)]] = true
		}
	}
	return p
}

func fold(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s),
		func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), " ")
}

// words reports whether the page shows a text, or nearly all of its words.
func (p *shown) words(text string) bool {
	folded := fold(text)
	if folded == "" || strings.Contains(p.text, folded) {
		return true
	}
	words := strings.Fields(folded)
	found := 0
	for _, w := range words {
		if strings.Contains(p.text, w) {
			found++
		}
	}
	return found*5 >= len(words)*4
}

var numberPattern = regexp.MustCompile(`\d[\d.,'’ \x{00a0}\x{202f}]{0,20}`)

// readings returns the numbers that a written one may mean: 1.234,50 and
// 1,234.50 and 1 234.50 are 1234.5.
func readings(written string) []string {
	written = strings.TrimRight(written, ".,'’ \u00a0\u202f")
	plain := strings.NewReplacer("'", "", "’", "", " ", "", "\u00a0", "", "\u202f", "").Replace(written)
	var all []string
	for _, point := range []string{".", ","} {
		thousands := map[string]string{".": ",", ",": "."}[point]
		text := strings.ReplaceAll(strings.ReplaceAll(plain, thousands, ""), point, ".")
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			all = append(all, strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	first, _, several := strings.Cut(written, " ") // "4.5 out of 5" and "12 34" are several
	if several && first != written {
		for part := range strings.FieldsSeq(written) {
			all = append(all, readings(part)...)
		}
	}
	return all
}

func (p *shown) number(f float64) bool { return p.numbers[strconv.FormatFloat(f, 'f', -1, 64)] }

// around allows for the time zone: a moment may be the day before or after.
func (p *shown) around(day time.Time) bool {
	return p.dates[day.AddDate(0, 0, 1).Format(time.DateOnly)] || p.dates[day.AddDate(0, 0, -1).Format(time.DateOnly)]
}
