package naming

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is one page of a website.
type Page struct {
	Root *html.Node
	URL  *url.URL
	Home bool
}

// Site is what the pages of a website are called.
type Site struct {
	Name        string // that most titles share, or the title of the first page; empty: it has none
	NamePage    int    // index of the page that says it
	Sure        bool   // most titles share the name, or the site's header says it too
	Description string // that several pages share, or that of the first page
	pages       []Described
}

// Described is the name and text of one page. A node is where the text is on
// the page; it is nil where the text is empty.
type Described struct {
	Name            string
	NameNode        *html.Node
	Opening         string
	OpeningNode     *html.Node
	Description     string // of this page alone
	DescriptionNode *html.Node
	Placeholder     string // text of a template that the page still holds
}

// Of returns what the page at an index of Read is called.
func (s *Site) Of(i int) Described { return s.pages[i] }

// page is a page while it is read.
type page struct {
	Page
	title       *html.Node
	parts       []string // of the title
	h1s         []*html.Node
	before      []block // prose above the headline
	behind      []block // prose below it
	description *html.Node
	ogTitle     *html.Node
	brand       string // text of a link to the first page in the header
}

// block is a piece of text with its node.
type block struct {
	node *html.Node
	text string
}

// Read decides the names of all pages of a website at once. The first page is
// the one that the caller named. stated is the name of the site if it states
// one, for example in its markup.
func Read(pages []Page, stated string) *Site {
	s := &Site{}
	if len(pages) == 0 {
		return s
	}
	all := make([]*page, len(pages))
	for i, p := range pages {
		all[i] = look(p)
	}
	shared := sharedParts(all)
	repeated := repeatedText(all)
	numbered := numberedHeadings(all)
	s.Name, s.NamePage = siteName(all, shared)
	s.Sure = shared[s.Name]*2 > len(all) && len(all) > 1 || sameText(s.Name, all[0].brand)
	if stated != "" {
		s.Name, s.Sure = stated, true
	}
	descriptions := map[string]int{}
	for _, p := range all {
		descriptions[p.meta()]++
	}
	for i, p := range all {
		d := Described{Placeholder: placeholderOf(p)}
		d.Name, d.NameNode = p.name(s.Name, shared, repeated, numbered)
		for _, b := range p.inOrder(d.NameNode) {
			if text := usableProse(b, d.Name); text != "" && repeated[b.text] == 0 {
				d.Opening, d.OpeningNode = text, b.node
				break
			}
		}
		if text := p.meta(); text != "" && descriptions[text] == 1 && !Placeholder(text) && !sameText(text, d.Name) {
			d.Description, d.DescriptionNode = text, p.description
		}
		s.pages = append(s.pages, d)
		if i == 0 || descriptions[p.meta()] > 1 && s.Description == "" {
			if text := p.meta(); text != "" && !Placeholder(text) {
				s.Description = text
			}
		}
	}
	return s
}

func (p *page) meta() string {
	if p.description == nil {
		return ""
	}
	return dom.Squeeze(dom.Attr(p.description, "content"))
}

// look collects what the rules need of one page.
func look(in Page) *page {
	p := &page{Page: in}
	for n := range in.Root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Title:
			if p.title == nil && n.Parent != nil && n.Parent.DataAtom == atom.Head {
				p.title = n
			}
		case atom.Meta:
			if p.description == nil && strings.EqualFold(dom.Attr(n, "name"), "description") {
				p.description = n
			}
			if p.ogTitle == nil && strings.EqualFold(dom.Attr(n, "property"), "og:title") {
				p.ogTitle = n
			}
		case atom.H1:
			if !dom.Hidden(n) && !around(n) && headline(n) != "" {
				p.h1s = append(p.h1s, n)
			}
		case atom.A:
			if p.brand == "" && p.leadsHome(n) && within(n, atom.Header, atom.Nav) {
				p.brand = dom.Visible(n)
			}
		}
	}
	if p.title != nil {
		p.parts = titleParts(dom.Squeeze(dom.Text(p.title)))
	}
	p.findProse()
	return p
}

func (p *page) leadsHome(a *html.Node) bool {
	u, err := p.URL.Parse(strings.TrimSpace(dom.Attr(a, "href")))
	if err != nil || u.Host != p.URL.Host {
		return false
	}
	path := strings.TrimSuffix(strings.Trim(u.Path, "/"), "index.html")
	return path == "" || p.Home && strings.Trim(u.Path, "/") == strings.Trim(p.URL.Path, "/") && u.Fragment == ""
}

// around reports whether an element is part of what surrounds the page's own
// content.
func around(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Nav, atom.Footer, atom.Aside, atom.Dialog:
			return true
		}
		if role := dom.Attr(p, "role"); role == "navigation" || role == "contentinfo" || role == "complementary" {
			return true
		}
		if p.DataAtom != atom.Body && p.DataAtom != atom.Html &&
			frame.MatchString(dom.Attr(p, "class")+" "+dom.Attr(p, "id")) {
			return true
		}
		if dom.Hidden(p) {
			return true
		}
	}
	return false
}

// frame is how pages call what surrounds their content.
var frame = regexp.MustCompile(`(?i)(^|[\s_-])(footer|sidebar|sphinxsidebar|breadcrumbs?|toc|table-of-contents|` +
	`contents-list|pagination|cookie\w*|navbar|nav|menu|related|comments?|byline|post-meta|modal|skip-link)($|[\s_-])`)

func within(n *html.Node, atoms ...atom.Atom) bool {
	return dom.Within(n, func(p *html.Node) bool { return slices.Contains(atoms, p.DataAtom) })
}

// headline returns the text of a heading without its permalink.
func headline(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type != html.TextNode || dom.Within(c.Parent, func(p *html.Node) bool {
			return p != n && (permalink.MatchString(dom.Attr(p, "class")) || dom.Hidden(p) || dom.Silent(p))
		}) {
			continue
		}
		if c.PrevSibling != nil && c.PrevSibling.DataAtom == atom.Br {
			b.WriteByte(' ')
		}
		if p := c.Parent; p != n && dom.Block(p) {
			b.WriteByte(' ')
		}
		b.WriteString(c.Data)
		if p := c.Parent; p != n && dom.Block(p) {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(strings.TrimRight(dom.Squeeze(b.String()), "¶#§ "))
}

var permalink = regexp.MustCompile(`(?i)(^|[\s_-])(headerlink|permalink|anchor(-?link)?|header-?anchor)($|[\s_-])`)

// separators are between the parts of a title.
var separators = regexp.MustCompile(`\s+(?:-|–|—|--|\||·|•|:|›|»|«|::|/)\s+|\s*[|›»«]\s*|:\s+`)

func titleParts(title string) []string {
	var parts []string
	for _, part := range separators.Split(title, -1) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	if m := inBrackets.FindStringSubmatch(title); len(parts) == 1 && m != nil {
		parts = []string{strings.TrimSpace(m[1]), strings.TrimSpace(m[2])}
	}
	return parts
}

// inBrackets is a title such as "Expansion (The Z Shell Manual)".
var inBrackets = regexp.MustCompile(`^(.{2,}) \(([^()]{2,})\)$`)

// sharedParts returns the parts that at least two pages and a third of all
// have at the beginning or at the end of their titles.
func sharedParts(pages []*page) map[string]int {
	count := map[string]int{}
	for _, p := range pages {
		if len(p.parts) == 0 {
			continue
		}
		ends := []string{p.parts[0]}
		for _, part := range p.parts[1:] {
			if !slices.Contains(ends, part) {
				ends = append(ends, part)
			}
		}
		for _, part := range ends {
			count[part]++
		}
	}
	for part, n := range count {
		if n < 2 || n*3 < len(pages) {
			delete(count, part)
		}
	}
	return count
}

// repeatedText counts the headlines and pieces of prose that at least two
// pages and a tenth of all repeat.
func repeatedText(pages []*page) map[string]int {
	count := map[string]int{}
	known := map[string]bool{}
	for _, p := range pages {
		key := slices.Clone(p.parts)
		seen := map[string]bool{}
		for _, h := range p.h1s {
			seen[headline(h)] = true
			key = append(key, headline(h))
		}
		prose := p.inOrder(nil)
		for _, b := range prose[:min(len(prose), 3)] {
			key = append(key, b.text)
		}
		id := strings.Join(key, "\x00")
		if known[id] { // the same page at another URL
			continue
		}
		known[id] = true
		for _, b := range prose {
			seen[b.text] = true
		}
		for text := range seen {
			count[text]++
		}
	}
	for text, n := range count {
		if n < 2 || n*10 < len(pages) {
			delete(count, text)
		}
	}
	return count
}

// sectionNumber is the number that chapters of a book begin with.
var sectionNumber = regexp.MustCompile(`^(?:[A-Z]\.|\d{1,2}(?:\.\d{1,2})*\.?)[\s\x{a0}]+`)

// numberedHeadings reports whether headlines of the site begin with the number
// of their section.
func numberedHeadings(pages []*page) bool {
	n := 0
	for _, p := range pages {
		if len(p.h1s) > 0 && sectionNumber.MatchString(headline(p.h1s[0])) {
			n++
		}
	}
	return n >= 2
}

// name returns what a page is called.
func (p *page) name(site string, shared, repeated map[string]int, numbered bool) (string, *html.Node) {
	tidy := func(text string) string {
		if numbered {
			text = sectionNumber.ReplaceAllString(text, "")
		}
		if len(strings.Fields(text)) <= 5 && strings.Count(text, ".") == 1 {
			text = strings.TrimSuffix(text, ".")
		}
		return strings.TrimSpace(text)
	}
	title := ""
	if p.title != nil {
		title = tidy(p.own(dom.Squeeze(dom.Text(p.title)), site, shared))
	}
	if !p.acceptable(title) {
		title = ""
	}
	var heads []*html.Node
	for _, h := range p.h1s {
		if text := headline(h); repeated[text] == 0 && p.acceptable(text) &&
			(p.Home || !sameText(text, site)) {
			heads = append(heads, h)
		}
	}
	switch {
	case title == "" && len(heads) > 0:
		return tidy(headline(heads[0])), heads[0]
	case len(heads) == 0 && p.ogTitle != nil:
		text := tidy(p.own(dom.Squeeze(dom.Attr(p.ogTitle, "content")), site, shared))
		if p.acceptable(text) && repeated[text] == 0 {
			return text, p.ogTitle
		}
		if title != "" {
			return title, p.title
		}
		return "", nil
	case len(heads) == 0 && title == "":
		if p.Home && p.title != nil && p.acceptable(site) {
			return site, p.title
		}
		return "", nil
	case len(heads) == 0:
		return title, p.title
	}
	for _, h := range heads { // a headline that the title confirms is the best name
		text := tidy(headline(h))
		section := len(p.h1s) > 1 && sectionNumber.MatchString(headline(h)) && !sectionNumber.MatchString(title)
		if related(text, title) && !section || p.Home && sameText(text, site) {
			return text, h
		}
	}
	if p.Home && len(p.parts) > 1 && p.acceptable(site) && slices.ContainsFunc(p.parts, func(s string) bool {
		return sameText(s, site)
	}) && len(heads) == 0 {
		return site, p.title
	}
	if len(heads) == 1 && len(p.h1s) == 1 && utf8.RuneCountInString(headline(heads[0])) <= 90 &&
		!p.Home && p.behindFirstSection(heads[0]) {
		return tidy(headline(heads[0])), heads[0]
	}
	return title, p.title
}

// behindFirstSection reports whether a headline comes before all other
// headings of the page.
func (p *page) behindFirstSection(h *html.Node) bool {
	for n := range p.Root.Descendants() {
		if n == h {
			return true
		}
		switch n.DataAtom {
		case atom.H2, atom.H3, atom.P:
			if !around(n) && len(dom.Visible(n)) > 80 {
				return false
			}
		}
	}
	return true
}

// own is a title without the parts that it shares with other pages.
func (p *page) own(whole, site string, shared map[string]int) string {
	var own []string
	parts := titleParts(whole)
	for _, part := range parts {
		if shared[part] == 0 && !strings.EqualFold(part, site) {
			own = append(own, part)
		}
	}
	switch {
	case len(own) == len(parts):
		return whole
	case len(own) == 0:
		return ""
	}
	// The remaining parts stay together: the title is cut at its ends, with its own separators.
	first, last := strings.Index(whole, own[0]), strings.LastIndex(whole, own[len(own)-1])
	return whole[first : last+len(own[len(own)-1])]
}

// acceptable reports whether a text may name a page: no host, no URL, no date,
// no number, no placeholder.
func (p *page) acceptable(text string) bool {
	n := utf8.RuneCountInString(text)
	if n < 1 || n > 160 || strings.Contains(text, "://") || IsHost(text, p.URL) || Placeholder(text) ||
		isDate(text) || genericName.MatchString(text) {
		return false
	}
	return strings.IndexFunc(text, unicode.IsLetter) >= 0
}

// genericName matches what templates and servers call any page.
var genericName = regexp.MustCompile(`(?i)^(untitled( document)?|new page|page \d+|index|home ?page|home|welcome|` +
	`redirecting\W*|loading\W*|document|title|\d+(\.\d+)+|\(\d+\)|menu|navigation|sidebar|search)$`)

// IsHost reports whether a text is nothing but the host of a URL.
func IsHost(text string, u *url.URL) bool {
	bare := func(s string) string { return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "www.") }
	return u != nil && (bare(text) == bare(u.Host) || bare(text) == bare(u.Hostname())) ||
		strings.HasPrefix(strings.ToLower(text), "www.")
}

// related reports whether a headline and a title say the same: one holds most
// words of the other.
func related(a, b string) bool {
	x, y := words(a), words(b)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	shared := 0
	for w := range x {
		if y[w] {
			shared++
		}
	}
	return shared*2 >= min(len(x), len(y)) && shared > 0 && (shared*2 >= len(x) || shared*3 >= len(y)*2)
}

// words returns the words of a text that say something.
func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		switch w {
		case "the", "a", "an", "of", "and", "to", "in", "for", "on", "with", "by":
		default:
			set[w] = true
		}
	}
	return set
}

func sameText(a, b string) bool {
	trim := func(s string) string { return strings.ToLower(strings.Trim(dom.Squeeze(s), " .:!")) }
	return trim(a) == trim(b)
}

// siteName is the part that most titles share, the title of the first page, or
// what the link to the first page says.
func siteName(pages []*page, shared map[string]int) (name string, from int) {
	home := pages[0]
	ok := func(s string) bool {
		return home.acceptable(s) && utf8.RuneCountInString(s) <= 60 && !genericName.MatchString(s)
	}
	best := ""
	for part, n := range shared {
		better := best == "" || n > shared[best] || n == shared[best] && closer(home, part, best)
		if ok(part) && n*2 > len(pages) && better {
			best = part
		}
	}
	if best != "" {
		for i, p := range pages {
			if slices.Contains(p.parts, best) {
				return best, i
			}
		}
	}
	brand := strings.TrimSpace(home.brand)
	for _, part := range home.parts {
		if ok(part) && (sameText(part, brand) || len(home.parts) > 1) {
			return withoutHome(part), 0
		}
	}
	if len(home.parts) == 1 { // "Ferry, a job queue", where header or headline say Ferry
		short := []string{brand}
		for _, h := range home.h1s {
			short = append(short, headline(h))
		}
		for _, text := range short {
			if ok(text) && len(strings.Fields(text)) <= 5 &&
				strings.HasPrefix(strings.ToLower(home.parts[0]), strings.ToLower(text)) {
				return text, 0
			}
		}
	}
	if len(home.parts) == 1 && ok(home.parts[0]) {
		return withoutHome(home.parts[0]), 0
	}
	if ok(brand) && len(strings.Fields(brand)) <= 5 {
		return brand, 0
	}
	for _, h := range home.h1s {
		if text := headline(h); ok(text) && len(strings.Fields(text)) <= 5 {
			return strings.TrimSuffix(text, "."), 0
		}
	}
	return "", 0
}

// closer prefers the part that the first page says earlier, then the shorter.
func closer(home *page, a, b string) bool {
	x, y := slices.Index(home.parts, a), slices.Index(home.parts, b)
	if x < 0 || y < 0 {
		return y < 0 && (x >= 0 || len(a) < len(b) || len(a) == len(b) && a < b)
	}
	return x < y
}

var homeWords = regexp.MustCompile(`(?i)\s+(home ?page|official (web)?site|website)$`)

func withoutHome(s string) string { return homeWords.ReplaceAllString(s, "") }
