package generate

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/datapack/markup"
	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Evidence is a reason to take a page for one kind.
type Evidence struct {
	Type   string `json:"type"`
	Points int    `json:"points"`
	Reason string `json:"reason"`
}

// utility are pages without content of their own.
var utility = regexp.MustCompile(
	`(?i)/(cart|basket|checkout|login|log-in|signin|sign-in|register|signup|account|my-account|search|wishlist` +
		`|warenkorb|kasse|anmelden|panier)(\.html?|\.php|/)?$`,
)

// enough is how many points make a page of a kind; with fewer it is a WebPage.
const enough = 3

// kinds are what pages may be, the more particular first: it wins a tie.
var kinds = []string{
	"Product", "Event", "SoftwareApplication", "NewsArticle", "BlogPosting", "Article",
	"LocalBusiness", "FAQPage", "ContactPage", "AboutPage", "CollectionPage",
}

// ogTypes are the types of Open Graph that name a kind.
var ogTypes = map[string]string{
	"product": "Product", "product.item": "Product", "og:product": "Product",
	"article": "Article", "blog": "CollectionPage", "profile": "WebPage", "event": "Event",
	"product.group": "CollectionPage", "business.business": "LocalBusiness", "place": "LocalBusiness",
}

// paths are words in addresses that name a kind.
var paths = []struct {
	pattern *regexp.Regexp
	kind    string
	points  int
}{
	{regexp.MustCompile(`(?i)/(products?|shop|store|item|p|dp|tools|produkt|artikel)/[^/]+/?$`), "Product", 1},
	{regexp.MustCompile(`(?i)/(product|produkt|item)[-_][^/]+/?$`), "Product", 2},
	{regexp.MustCompile(`(?i)/(blog|posts?)/[^/]+`), "BlogPosting", 2},
	{regexp.MustCompile(`(?i)/(news|press|aktuelles)/[^/]+`), "NewsArticle", 2},
	{regexp.MustCompile(`(?i)/(articles?|guides?|tutorials?|stories|magazine|docs|learn|how-to)/[^/]+`), "Article", 2},
	{regexp.MustCompile(`(?i)/\d{4}/\d{2}/`), "BlogPosting", 2},
	{regexp.MustCompile(`(?i)/(events?|konzerte|veranstaltung(en)?|termine|workshops?)/[^/]+`), "Event", 2},
	{
		regexp.MustCompile(
			`(?i)/(about(-us)?|company|team|ueber-uns|uber-uns|a-propos|imprint|impressum)(\.html?|/)?$`,
		),
		"AboutPage",
		3,
	},
	{regexp.MustCompile(`(?i)/(contact(-us)?|kontakt|support)(\.html?|/)?$`), "ContactPage", 3},
	{regexp.MustCompile(`(?i)/(faqs?|questions|fragen)(\.html?|/)?$`), "FAQPage", 3},
	{
		regexp.MustCompile(
			`(?i)/(blog|news|products?|shop|guides|articles|tools|events|category|tag|collections?)(\.html?|/)?$`),
		"CollectionPage", 3,
	},
	{regexp.MustCompile(`(?i)/(download|apps?)(\.html?|/)?$`), "SoftwareApplication", 1},
}

// classify says what kind of page it is, with all evidence. An existing thing
// of a kind that is not made here, such as a recipe, makes the page a WebPage
// that keeps it.
func (g *Generator) classify(v *view) (string, []Evidence) {
	var all []Evidence
	add := func(kind string, points int, format string, args ...any) {
		all = append(all, Evidence{kind, points, fmt.Sprintf(format, args...)})
	}
	g.byMarkup(v, add)
	if f := v.meta("og:type"); f.ok() {
		if kind := ogTypes[strings.ToLower(f.Text)]; kind != "" && (!v.Home || kind != "Article") {
			add(kind, 4, "og:type is %s", excerpt.Chars(f.Text, 40))
		}
	}
	at := v.here().Path
	for _, p := range paths {
		if p.pattern.MatchString(at) {
			add(p.kind, p.points, "the address is %s", excerpt.Chars(at, 80))
		}
	}
	g.bySigns(v, add)
	points := map[string]int{}
	for _, e := range all {
		points[e.Type] += e.Points
	}
	// An article of a blog or of the news is an article first.
	if points["Article"] > 0 {
		for _, special := range []string{"NewsArticle", "BlogPosting"} {
			if points[special] > 0 {
				points[special] += points["Article"]
			}
		}
	}
	best := "WebPage"
	for _, kind := range kinds {
		if points[kind] >= enough && points[kind] > points[best] && !(v.Home && pageOnly(kind)) {
			best = kind
		}
	}
	slices.SortStableFunc(all, func(a, b Evidence) int { return cmp.Compare(b.Points, a.Points) })
	return best, all
}

// pageOnly are kinds that a home page never is.
func pageOnly(kind string) bool {
	return slices.Contains([]string{
		"CollectionPage", "AboutPage", "ContactPage", "FAQPage", "Article", "NewsArticle",
		"BlogPosting",
	}, kind)
}

// byMarkup counts what the page's own markup calls its things.
func (g *Generator) byMarkup(v *view, add func(kind string, points int, format string, args ...any)) {
	count := map[string]int{}
	for _, n := range v.Graph.Nodes {
		if n.Source != markup.JSONLD && n.Source != markup.Microdata && n.Source != markup.RDFa {
			continue
		}
		for _, kind := range kinds {
			if slices.ContainsFunc(n.Types, func(t string) bool { return g.vocabulary.IsA(t, kind) }) {
				count[kind]++
				if count[kind] == 1 {
					add(kind, 5, "the page's %s describes a %s", n.Source, strings.Join(n.Types, " and "))
				}
				break
			}
		}
	}
	for kind, n := range count { // several products make a list
		if n > 1 && (kind == "Product" || kind == "Event") {
			add(kind, -5, "the page describes %d of them", n)
			add("CollectionPage", 4, "the page describes several things of the type %s", kind)
		}
	}
}

// bySigns counts what the page shows.
func (g *Generator) bySigns(v *view, add func(kind string, points int, format string, args ...any)) {
	prices := map[string]bool{}
	for _, p := range v.prices() {
		prices[p.Value] = true
	}
	buys := v.buys() != nil
	switch {
	case buys && len(prices) > 0 && len(prices) <= 3:
		add("Product", 3, "it names a price and has a button that buys")
	case v.meta("product:price:amount").ok():
		add("Product", 3, "it has product:price:amount")
	case len(prices) == 1:
		add("Product", 1, "it names one price")
	case len(prices) > 3:
		add("CollectionPage", 1, "it names %d prices", len(prices))
	}
	if prices := len(prices); prices == 1 && v.sku(g).ok() {
		add("Product", 2, "it names an article number")
	}
	if words := len(strings.Fields(v.text)); words > 150 && v.h1 != nil {
		if v.published(g).ok() {
			add("Article", 2, "it has a date of publication")
		}
		if name, _ := v.author(g); name.ok() {
			add("Article", 2, "it names its author")
		}
	}
	if dom.First(v.main, func(n *html.Node) bool { return n.DataAtom == atom.Article }) != nil ||
		v.main.DataAtom == atom.Article {
		add("Article", 1, "it has an article element")
	}
	if n := len(v.questions()); n >= 3 {
		add("FAQPage", 3, "it answers %d questions", n)
	}
	if f := v.eventStart(g); f.ok() && v.venue(g).ok() {
		add("Event", 2, "it names a day and a place")
	}
	if len(storeLinks(v)) > 0 {
		add("SoftwareApplication", 2, "it links an app store")
	}
	if systems(v).ok() && downloads.MatchString(v.text) {
		add("SoftwareApplication", 2, "it offers a download for an operating system")
	}
	if _, ok := v.address(v.main); ok && len(v.openingHours(&notebook{sources: map[string]Source{}}, "")) > 0 {
		add("LocalBusiness", 4, "it names an address and opening hours")
	}
	if dir := path.Dir(v.here().Path); dir != "/" && dir != "." && v.listsBelow() >= 4 {
		add("CollectionPage", 1, "it lists pages")
	}
}

var downloads = regexp.MustCompile(`(?i)\b(download|install)\b`)

// listsBelow counts the links of the main part to pages below this one.
func (v *view) listsBelow() int {
	below := strings.TrimSuffix(v.here().Path, "/") + "/"
	seen := map[string]bool{}
	for _, a := range v.links {
		if a.main && a.url.Host == v.here().Host && strings.HasPrefix(a.url.Path, below) && a.url.Path != below {
			seen[a.url.Path] = true
		}
	}
	return len(seen)
}
