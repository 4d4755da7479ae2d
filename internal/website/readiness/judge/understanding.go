package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// pageTitle: a title of its own, long enough to say something.
func pageTitle(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	title := d.Title()
	n := utf8.RuneCountInString(title)
	at := d.Find("<title")
	switch {
	case title == "":
		return Measured(0, "no title")
	case a.shared(p, func(q *crawl.Document) string { return q.Title() }) != "":
		return Measured(0.5, "%s, the same as on %s", prose.Quote(title),
			a.shared(p, func(q *crawl.Document) string { return q.Title() })).At(at)
	case n < 10 || n > 70 && !prose.IsWide(title):
		return Measured(0.5, "%d characters: %s", n, prose.Quote(title)).At(at)
	case len(d.Titles) > 1:
		return Measured(0.7, "%d title elements", len(d.Titles)).At(at)
	}
	return Measured(1, "%d characters: %s", n, prose.Quote(title)).At(at)
}

// shared returns the path of an earlier page of the sample where a text is the
// same; empty: there is none.
func (a *Audit) shared(p *crawl.Page, text func(*crawl.Document) string) string {
	for _, q := range a.Pages {
		if q == p {
			return ""
		}
		if q.OK() && q.URL.String() != p.URL.String() && strings.EqualFold(text(q.Document), text(p.Document)) {
			return prose.Cut(q.Path(), 100)
		}
	}
	return ""
}

// pageDescription: a description of its own.
func pageDescription(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	n := utf8.RuneCountInString(d.Description)
	var at crawl.Place
	for _, m := range d.Metas {
		if m.Name == "description" {
			at = d.Where(m.Node)
			break
		}
	}
	least := 50
	if prose.IsWide(d.Description) {
		least = 25
	}
	description := func(q *crawl.Document) string { return q.Description }
	switch {
	case n == 0:
		return Measured(0, "no meta description")
	case a.shared(p, description) != "":
		return Measured(0.5, "%s, the same as on %s", prose.Quote(d.Description), a.shared(p, description)).At(at)
	case n < least || n > 320:
		return Measured(0.5, "%d characters: %s", n, prose.Quote(d.Description)).At(at)
	}
	return Measured(1, "%d characters: %s", n, prose.Quote(d.Description)).At(at)
}

// pageHeadings: one h1 that fits the title, and no level left out.
func pageHeadings(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	value, notes, at := 1.0, []string(nil), crawl.Place{}
	tops, last := 0, 0
	for _, h := range d.Headings {
		if hiddenInside(h.Node) {
			continue
		}
		if h.Level == 1 {
			tops++
		}
		if last > 0 && h.Level > last+1 && len(notes) == 0 {
			value, at = value-0.25, d.Where(h.Node)
			notes = append(notes, fmt.Sprintf("h%d follows h%d: %s", h.Level, last, prose.Quote(h.Text)))
		}
		last = h.Level
	}
	f := a.factsOf(p)
	switch {
	case tops == 0:
		return Measured(0, "no h1")
	case dom.Text(f.h1) == "" && !inside(f.h1):
		return Measured(0, "the h1 is empty").At(d.Where(f.h1))
	case tops > 1:
		value -= 0.4
		notes = append(notes, fmt.Sprintf("%d h1 elements", tops))
	}
	if at.Line == 0 {
		at = d.Where(f.h1)
	}
	h1 := dom.Text(f.h1)
	if title := d.Title(); title != "" && prose.Overlap(prose.ContentWords(title), prose.ContentWords(h1)) == 0 &&
		len(prose.ContentWords(title)) > 0 && len(prose.ContentWords(h1)) > 0 {
		value -= 0.35
		notes = append(notes, fmt.Sprintf("h1 %s and title %s share no word", prose.Quote(h1), prose.Quote(title)))
	}
	if len(notes) == 0 {
		notes = append(notes, "one h1: "+prose.Quote(h1))
	}
	return Measured(value, "%s", strings.Join(notes, "; ")).At(at)
}

// languageTag is BCP 47 as far as pages use it: language, script, region,
// variants and private parts.
var languageTag = regexp.MustCompile(
	`^(?i)(x(-[a-z0-9]{1,8})+|[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,` +
		`8}|[0-9][a-z0-9]{3}))*(-x(-[a-z0-9]{1,8})+)?)$`,
)

// pageLang: the page says its language, rightly, and so do its translations.
func pageLang(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	at := d.Find("<html")
	detected := a.factsOf(p).lang
	switch {
	case d.Lang == "":
		return Measured(0, "no lang on <html>").At(at)
	case !languageTag.MatchString(d.Lang):
		return Measured(0, "lang=%s is no language tag", prose.Quote(d.Lang)).At(at)
	case detected != "" && !sameLanguage(d.Lang, detected):
		return Measured(0.3, "lang=%q, but the text is in %q", prose.Cut(d.Lang, 20), detected).At(at)
	}
	if f, bad := a.judgeHreflang(p); bad {
		return f
	}
	if detected == "" {
		return Measured(1, "lang=%q; the language of the text is unknown", prose.Cut(d.Lang, 20)).At(at)
	}
	return Measured(1, "lang=%q, and the text is in %q", prose.Cut(d.Lang, 20), detected).At(at)
}

func sameLanguage(tag, lang string) bool {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return primary == lang || (primary == "no" || primary == "nn") && lang == "nb" || primary == "cmn" &&
		lang == "zh" || primary == "yue" && lang == "zh"
}

// judgeHreflang looks at the translations that a page names: that the tags are
// valid and that those of the sample name this page in turn.
func (a *Audit) judgeHreflang(p *crawl.Page) (Finding, bool) {
	d := p.Document
	for _, alt := range d.Alternates {
		if alt.Hreflang == "" {
			continue
		}
		if !strings.EqualFold(alt.Hreflang, "x-default") && !languageTag.MatchString(alt.Hreflang) {
			return Measured(0.7, "hreflang=%s is no language tag", prose.Quote(alt.Hreflang)).At(d.Where(alt.Node)),
				true
		}
		if alt.URL == nil {
			continue
		}
		for _, q := range a.Pages {
			if q == p || !q.OK() || q.URL.String() != alt.URL.String() {
				continue
			}
			back := slices.ContainsFunc(q.Document.Alternates, func(b crawl.LinkTag) bool {
				return b.Hreflang != "" && b.URL != nil && b.URL.String() == p.URL.String()
			})
			if !back {
				return Measured(0.6, "hreflang=%q leads to %s, which does not lead back", prose.Cut(alt.Hreflang, 20),
					prose.Cut(q.Path(), 80)).At(d.Where(alt.Node)), true
			}
		}
	}
	return Finding{}, false
}

// Issue is one fault of structured data.
type Issue struct {
	Error   bool   // else advice, which does not count
	Message string // what is wrong and where, in words
	Line    int    // in the source of the page; 0: not known
}

// Validator judges the structured data of a page against the vocabulary of
// schema.org and the rules of rich results.
type Validator func(p *crawl.Page) []Issue

// pageJSONLD: every block of structured data parses and is valid.
func pageJSONLD(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	f := a.factsOf(p)
	for i, b := range f.blocks {
		if b.fault != "" {
			return Measured(0, "block %d of JSON-LD cannot be read: %s", i+1, b.fault).At(b.place)
		}
	}
	if len(f.nodes) == 0 {
		if len(f.blocks) > 0 {
			return Measured(0.5, "%s of JSON-LD without a type",
				prose.Count(len(f.blocks), "block", "blocks")).At(f.blocks[0].place)
		}
		if a.anyData() {
			return NotApplicable("no structured data on this page")
		}
		return Measured(0, "no structured data on any page of the sample")
	}
	names := strings.Join(f.types, ", ")
	if a.Validate == nil {
		return Measured(1, "parses: %s (the vocabulary was not checked)", prose.Cut(names, 150))
	}
	var faults []Issue
	for _, issue := range a.Validate(p) {
		if issue.Error {
			faults = append(faults, issue)
		}
	}
	if len(faults) > 0 {
		var texts []string
		for _, i := range faults[:min(len(faults), 3)] {
			texts = append(texts, prose.Cut(i.Message, 140))
		}
		return Measured(0.75-0.25*float64(len(faults)), "%s: %s", prose.Count(len(faults), "fault", "faults"),
			strings.Join(texts, "; ")).At(crawl.Place{Line: faults[0].Line})
	}
	return Measured(1, "valid: %s", prose.Cut(names, 150))
}

func (a *Audit) anyData() bool {
	return slices.ContainsFunc(a.Readable(),
		func(p *crawl.Page) bool { return len(a.factsOf(p).blocks)+len(a.factsOf(p).nodes) > 0 })
}

// organizations are the types that say who is behind a website.
var organizations = []string{
	"Organization", "Corporation", "Person", "LocalBusiness", "OnlineBusiness", "OnlineStore", "Store", "NGO",
	"NewsMediaOrganization", "EducationalOrganization",
	"CollegeOrUniversity", "GovernmentOrganization", "ProfessionalService", "Restaurant", "FoodEstablishment",
	"MedicalBusiness", "MedicalOrganization", "Hotel",
	"LodgingBusiness", "LegalService", "FinancialService", "HomeAndConstructionBusiness", "AutomotiveBusiness",
	"SportsOrganization", "Project", "ResearchOrganization",
	"PerformingGroup", "MusicGroup", "Library", "RealEstateAgent", "TravelAgency", "EntertainmentBusiness",
	"HealthAndBeautyBusiness", "Airline", "SoftwareCompany", "Brand",
	"LibrarySystem", "FundingScheme", "Consortium", "WorkersUnion", "SearchRescueOrganization", "PoliticalParty",
	"School", "Museum",
}

// checkEntity: structured data on the home or about page says who is behind it.
func checkEntity(a *Audit) SiteFinding {
	home := a.Home()
	if f, skip := a.needsPage(home); skip {
		return SiteFinding{Finding: f, URL: home.URL.String()}
	}
	best := SiteFinding{Finding: Measured(0, "no Organization or Person in structured data"), URL: home.URL.String()}
	for _, p := range a.Readable() {
		if p != home && !IsAbout(p.URL.Path, "") {
			continue
		}
		for _, n := range a.factsOf(p).nodes {
			if !n.is(organizations...) {
				continue
			}
			if f := judgeEntity(n); f.Value > best.Value {
				best = SiteFinding{Finding: f, URL: p.URL.String()}
			}
		}
	}
	return best
}

func judgeEntity(n node) Finding {
	value, missing := 0.0, []string(nil)
	has := func(name string, ok bool) {
		if ok {
			value += 0.25
		} else {
			missing = append(missing, name)
		}
	}
	logo := n.text("logo") != "" || n.text("image") != ""
	if len(n.maps("logo"))+len(n.maps("image")) > 0 {
		logo = true
	}
	has("name", n.text("name") != "")
	has("url", n.text("url") != "")
	has("logo", logo)
	has("two sameAs addresses", len(texts(n.props["sameAs"])) >= 2)
	if len(missing) == 0 {
		return Measured(1, "%s %s with name, url, logo and sameAs", n.types[0], prose.Quote(n.text("name")))
	}
	return Measured(max(value, 0.05), "%s %s lacks %s", n.types[0], prose.Quote(n.text("name")),
		strings.Join(missing, ", "))
}
