package judge

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html/atom"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// articles are the types whose readers ask when they were written, and by whom.
var articles = []string{
	"Article", "NewsArticle", "BlogPosting", "TechArticle", "Report", "ScholarlyArticle",
	"OpinionNewsArticle", "ReportageNewsArticle", "AnalysisNewsArticle", "ReviewNewsArticle",
}

// article returns the node that describes a page as an article; ok is false for
// other pages.
func (a *Audit) article(p *crawl.Page) (n node, ok bool) {
	for _, n := range a.factsOf(p).nodes {
		if n.is(articles...) {
			return n, true
		}
	}
	return node{}, strings.EqualFold(p.Document.Meta("og:type"), "article")
}

// pageDatesAuthor: an article shows the date that its data states, and who
// wrote it.
func pageDatesAuthor(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	n, ok := a.article(p)
	if !ok {
		return NotApplicable("not marked as an article")
	}
	d := p.Document
	value, notes := 0.0, []string(nil)
	stated := statedDates(n, d)
	shown := shownDates(p, a.factsOf(p).visible)
	switch {
	case len(stated) == 0:
		notes = append(notes, "no datePublished or dateModified")
	case len(shown) == 0:
		value += 0.4
		notes = append(notes, "no visible date; the data says "+stated[0])
	case !slices.ContainsFunc(stated, func(s string) bool { return slices.Contains(shown, s) }):
		value += 0.4
		notes = append(notes, "visible "+shown[0]+", but the data says "+strings.Join(stated, " and "))
	default:
		value += 0.6
	}
	name, link := author(n, d)
	switch {
	case name == "":
		notes = append(notes, "no author")
	case link == "":
		value += 0.2
		notes = append(notes, "author "+prose.Quote(name)+" without a url")
	default:
		value += 0.4
	}
	if len(notes) == 0 {
		return Measured(1, "%s, visible and in the data; by %s", stated[0], prose.Quote(name))
	}
	return Measured(value, "%s", strings.Join(notes, "; "))
}

func statedDates(n node, d *crawl.Document) []string {
	var days []string
	for _, text := range []string{
		n.text("datePublished"), n.text("dateModified"), d.Meta("article:published_time"),
		d.Meta("article:modified_time"),
	} {
		if t := crawl.ParseTime(text); !t.IsZero() && !slices.Contains(days, t.Format(time.DateOnly)) {
			days = append(days, t.Format(time.DateOnly))
		}
	}
	return days
}

func shownDates(p *crawl.Page, visible string) []string {
	days := prose.DatesIn(visible)
	for n := range p.Document.Root.Descendants() {
		if n.DataAtom == atom.Time && !hiddenInside(n) && dom.Text(n) != "" {
			if t := crawl.ParseTime(dom.Attr(n, "datetime")); !t.IsZero() {
				days = append(days, t.Format(time.DateOnly))
			}
		}
	}
	return days
}

func author(n node, d *crawl.Document) (name, link string) {
	for _, m := range n.maps("author") {
		inner := node{props: m}
		name, link = inner.text("name"), inner.text("url")
		if link == "" {
			link = inner.text("sameAs")
		}
		if id := inner.text("@id"); link == "" && strings.HasPrefix(id, "http") {
			link = id
		}
		if name != "" {
			return name, link
		}
	}
	if name = n.text("author"); name == "" || strings.HasPrefix(name, "http") {
		name = d.Meta("author")
	}
	for _, l := range d.Links {
		if slices.Contains(strings.Fields(l.Rel), "author") && l.URL != nil {
			if name == "" {
				name = l.Text
			}
			return name, l.URL.String()
		}
	}
	return name, ""
}

// checkFresh: something was written within a year, and the dates agree.
func checkFresh(a *Audit) SiteFinding {
	var newest time.Time
	where, said := a.Home().URL.String(), ""
	consider := func(t time.Time, url, text string) {
		if t.After(newest) && t.Before(a.Now.Add(24*time.Hour)) {
			newest, where, said = t, url, text
		}
	}
	pages := a.Readable()
	if len(pages) == 0 {
		return SiteFinding{Finding: Unmeasured("no page could be read"), URL: where}
	}
	for _, m := range a.Site.Sitemaps {
		for _, e := range m.Entries {
			consider(e.Time, e.URL, "sitemap lastmod")
		}
	}
	var clash string
	for _, p := range pages {
		var stated time.Time
		for _, n := range a.factsOf(p).nodes {
			for _, name := range []string{"dateModified", "datePublished"} {
				if t := crawl.ParseTime(n.text(name)); t.After(stated) {
					stated = t
				}
			}
		}
		if t := crawl.ParseTime(p.Document.Meta("article:modified_time")); t.After(stated) {
			stated = t
		}
		listed := crawl.ParseTime(p.LastMod)
		consider(stated, p.URL.String(), "structured data")
		consider(listed, p.URL.String(), "sitemap lastmod")
		if t := lastModified(p); a.Now.Sub(t) > time.Hour {
			consider(t, p.URL.String(), "Last-Modified")
		}
		if gap := listed.Sub(stated).Abs(); clash == "" && !stated.IsZero() && !listed.IsZero() &&
			gap > 31*24*time.Hour {
			clash = "; on " + prose.Cut(p.Path(), 80) + " the sitemap says " + listed.Format(time.DateOnly) +
				" and the data " + stated.Format(time.DateOnly)
		}
	}
	return SiteFinding{Finding: judgeAge(a.Now, newest, said, clash), URL: where}
}

func judgeAge(now, newest time.Time, said, clash string) Finding {
	if newest.IsZero() {
		return Measured(0, "no date in sitemap, structured data or Last-Modified")
	}
	value := 1.0
	switch age := now.Sub(newest); {
	case age > 730*24*time.Hour:
		value = 0
	case age > 366*24*time.Hour:
		value = 0.5
	}
	if clash != "" {
		value *= 0.7
	}
	return Measured(value, "newest %s (%s)%s", newest.Format(time.DateOnly), said, clash)
}

func lastModified(p *crawl.Page) time.Time {
	t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", p.Response.Header.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return t
}
