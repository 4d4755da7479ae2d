package judge

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// leadWords is how much of the text behind the h1 counts as its opening.
const leadWords = 60

// pageAnswerLead: the text opens with a statement about what the title names.
func pageAnswerLead(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	f := a.factsOf(p)
	if d.MainWords < noText {
		return NotApplicable("%s of main text are too few to judge", prose.Count(d.MainWords, "word", "words"))
	}
	lead := leadOf(d, f)
	wanted := prose.ContentWords(mainTitle(d, a.siteName()))
	if len(wanted) == 0 {
		return NotApplicable("the title has no word to look for")
	}
	at := d.Where(f.h1)
	found := prose.Overlap(wanted, prose.ContentWords(lead))
	value := 0.6 * min(float64(found)/float64(min(2, len(wanted))), 1)
	statement := prose.HasStatement(lead)
	if statement {
		value += 0.4
	}
	what := "a statement"
	if !statement {
		what = "no statement (a sentence of six words or more that is no question)"
	}
	return Measured(value, "%d of the title's words %s and %s in the opening: %s", found,
		prose.Quote(strings.Join(wanted, " ")), what, prose.Quote(lead)).At(at)
}

// mainTitle is the title without the name of the website.
func mainTitle(d *crawl.Document, name string) string {
	title := d.Title()
	for _, sep := range []string{" | ", " – ", " — ", " - ", " · ", " :: ", " » "} {
		parts := strings.Split(title, sep)
		if len(parts) < 2 {
			continue
		}
		if name != "" && strings.EqualFold(strings.TrimSpace(parts[0]), name) {
			return strings.Join(parts[1:], sep)
		}
		return parts[0]
	}
	return title
}

// leadOf is the first words of text behind the h1, or of the main part.
func leadOf(d *crawl.Document, f *facts) string {
	text := d.MainText
	if f.h1 != nil {
		h1 := dom.Text(f.h1)
		if _, after, ok := strings.Cut(prose.Squeeze(text), h1); ok && h1 != "" {
			text = after
		}
	}
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), leadWords)], " ")
}

// pageStructure: a long text has lists, tables, terms or questions.
func pageStructure(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	if d.MainWords <= 600 {
		return NotApplicable("%s of main text need none", prose.Count(d.MainWords, "word", "words"))
	}
	for n := range mainNodes(d, a.factsOf(p)) {
		switch n.DataAtom {
		case atom.Ul, atom.Ol, atom.Table, atom.Dl, atom.Details:
			if !outsideMain(n) && !hiddenInside(n) && crawl.Words(dom.Text(n)) >= 6 {
				return Measured(1, "%s of main text with <%s>", prose.Count(d.MainWords, "word", "words"),
					n.Data).At(d.Where(n))
			}
		}
	}
	questions := 0
	for _, h := range d.Headings {
		if h.Level > 1 && strings.HasSuffix(h.Text, "?") {
			questions++
		}
	}
	if questions >= 2 {
		return Measured(1, "%s of main text under %d questions", prose.Count(d.MainWords, "word", "words"), questions)
	}
	return Measured(0, "%s of main text without list, table, terms or questions",
		prose.Count(d.MainWords, "word", "words"))
}

// mainNodes walks the main part, or the body where a page marks none.
func mainNodes(d *crawl.Document, f *facts) func(yield func(*html.Node) bool) {
	if f.main != nil {
		return f.main.Descendants()
	}
	return d.Root.Descendants()
}

// outsideMain reports whether an element is in navigation, header, footer
// or aside.
func outsideMain(n *html.Node) bool {
	for p := n; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Nav, atom.Footer, atom.Aside, atom.Form:
			return true
		case atom.Header:
			return p.Parent == nil || p.Parent.DataAtom == atom.Body
		}
	}
	return false
}

var (
	unitNumber = regexp.MustCompile(
		`(?i)(\d[\d.,]*\s?(%|°|€|\$|£|¥|kr\b|zł|eur\b|usd\b|gbp\b|chf\b|percent|prozent|km\b|cm\b|mm\b|m²|m\b|kg\b` +
			`|g\b|mg\b|lb\b|l\b|ml\b|kwh?\b|w\b|v\b|hz\b|mhz\b|ghz\b|kb\b|mb\b|gb\b|tb\b|ms\b|s\b|sec|seconds?` +
			`|min\b|minutes?|hours?|days?|weeks?|months?|years?|stunden?|minuten|tage?n?|wochen?|monate?n?` +
			`|jahre?n?|heures?|jours?|semaines?|mois|ans?\b|horas?|días?|meses|años?|people|users|customers|times` +
			`|pages|words|mal\b|bar\b|metres?|meters?|miles?|degrees?|million|billion|millionen|milliarden))` +
			`|([€$£¥]\s?\d)`,
	)
	dated = regexp.MustCompile(`\b(19|20)\d\d\b`)
)

// maxSearched is how much of a text is searched for figures and dates, in bytes.
const maxSearched = 200 << 10

// pageEvidence: the text gives figures with units, dates and sources.
func pageEvidence(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	if d.MainWords < 150 {
		return NotApplicable("%s of main text are too few to judge", prose.Count(d.MainWords, "word", "words"))
	}
	var has, lacks []string
	value := 0.0
	count := func(name, found string) {
		if found != "" {
			value += 1.0 / 3
			has = append(has, name+" "+prose.Quote(found))
		} else {
			lacks = append(lacks, name)
		}
	}
	text := d.MainText
	if len(text) > maxSearched {
		text = text[:strings.LastIndexByte(text[:maxSearched], ' ')+1]
	}
	count("figure with a unit", unitNumber.FindString(text))
	count("date", firstDate(text))
	count("link to a source on another domain", citation(p))
	found := strings.Join(has, ", ")
	if len(lacks) > 0 {
		found = strings.TrimPrefix(found+"; without: "+strings.Join(lacks, ", "), "; ")
	}
	return Measured(value, "%s", found)
}

func firstDate(text string) string {
	if days := prose.DatesIn(text); len(days) > 0 {
		return days[0]
	}
	return dated.FindString(text)
}

// notSources are hosts that pages link to for other reasons than to cite.
var notSources = []string{
	"facebook.com", "twitter.com", "x.com", "instagram.com", "linkedin.com", "youtube.com", "tiktok.com",
	"pinterest.com", "wa.me", "whatsapp.com", "t.me", "reddit.com",
	"apple.com", "google.com", "goo.gl",
}

func citation(p *crawl.Page) string {
	for _, l := range p.Document.Links {
		if l.URL == nil || l.Part != crawl.InMain || crawl.SameDomain(l.URL, p.URL) || social(l.URL) {
			continue
		}
		return l.URL.String()
	}
	return ""
}

func social(u *url.URL) bool {
	return slices.Contains(notSources, crawl.RegisteredName(u))
}

// pageDuplicate: no other page of the sample has the same text, unless one of
// them names the other as the original.
func pageDuplicate(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	mine := a.factsOf(p).shingles
	if len(mine) < 10 {
		return NotApplicable("too little text to compare")
	}
	highest, at := 0.0, ""
	for _, q := range a.Readable() {
		if q == p || CanonicalOf(p) == CanonicalOf(q) || alternates(p, q) {
			continue
		}
		if alike := prose.Jaccard(mine, a.factsOf(q).shingles); alike > highest {
			highest, at = alike, prose.Cut(q.Path(), 100)
		}
	}
	switch {
	case highest >= 0.9:
		return Measured(0, "%.0f %% of the text is that of %s, and neither names the other as canonical", 100*highest,
			at)
	case at == "":
		return Measured(1, "no text in common with other pages of the sample")
	}
	return Measured(1, "at most %.0f %% in common with another page (%s)", 100*highest, at)
}

// CanonicalOf is the address that a page calls the original; its own without one.
func CanonicalOf(p *crawl.Page) string {
	if c := p.Document.Canonicals; len(c) > 0 && c[0].URL != nil {
		return c[0].URL.String()
	}
	return p.URL.String()
}

// alternates reports whether two pages name each other as versions of one.
func alternates(p, q *crawl.Page) bool {
	for _, alt := range p.Document.Alternates {
		if alt.URL != nil && alt.Hreflang != "" && alt.URL.String() == q.URL.String() {
			return true
		}
	}
	return false
}
