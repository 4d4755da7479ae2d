package judge

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

// pageNoindex: nothing keeps the page out of an index.
func pageNoindex(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	if dir, ok := d.Forbids("googlebot", "noindex"); ok {
		return Measured(0, "%s", whence(dir)).At(d.Where(dir.Node))
	}
	for _, b := range bots {
		if dir, ok := d.Forbids(b.agent, "noindex"); ok && b.purpose == forSearch {
			return Measured(0.5, "%s", whence(dir)).At(d.Where(dir.Node))
		}
	}
	return Measured(1, "no noindex in meta robots and X-Robots-Tag")
}

// whence is a directive with its location.
func whence(d crawl.Directive) string {
	if d.Source == "header" {
		return "X-Robots-Tag: " + prose.Cut(d.String(), 80)
	}
	name := d.Agent
	if name == "" {
		name = "robots"
	}
	return fmt.Sprintf(`<meta name=%q content="…%s…">`, name,
		prose.Cut(strings.TrimPrefix(d.String(), d.Agent+": "), 60))
}

// pageSnippet: the text may be shown and used in answers.
func pageSnippet(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	for _, agent := range []string{"googlebot", "bingbot"} {
		for _, dir := range d.DirectivesFor(agent) {
			if dir.Name == "nosnippet" || dir.Name == "max-snippet" && dir.Value == "0" {
				value := 0.0
				if dir.Agent == "bingbot" {
					value = 0.5
				}
				return Measured(value, "%s", whence(dir)).At(d.Where(dir.Node))
			}
		}
	}
	words, first := 0, (*html.Node)(nil)
	for n := range d.Root.Descendants() {
		if n.Type == html.ElementNode && dom.Has(n, "data-nosnippet") && !insideNosnippet(n) {
			words += crawl.Words(dom.Visible(n))
			if first == nil {
				first = n
			}
		}
	}
	main := max(d.MainWords, 1)
	share := min(float64(words)/float64(main), 1)
	switch {
	case share > 0.3:
		return Measured(1-share, "data-nosnippet covers %.0f %% of the main text", 100*share).At(d.Where(first))
	case words > 0:
		return Measured(1, "data-nosnippet covers %.0f %% of the main text", 100*share).At(d.Where(first))
	}
	return Measured(1, "no nosnippet, max-snippet:0 or data-nosnippet")
}

func insideNosnippet(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if dom.Has(p, "data-nosnippet") {
			return true
		}
	}
	return false
}

// pageArchive: Bing takes noarchive and nocache for answers too.
func pageArchive(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	if dir, ok := d.Forbids("bingbot", "noarchive"); ok {
		return Measured(0, "%s", whence(dir)).At(d.Where(dir.Node))
	}
	if dir, ok := d.Forbids("bingbot", "nocache"); ok {
		return Measured(0.5, "%s", whence(dir)).At(d.Where(dir.Node))
	}
	return Measured(1, "no noarchive or nocache for bingbot")
}

// pageCanonical: one absolute canonical URL that serves this page.
func pageCanonical(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	if len(d.Canonicals) == 0 {
		if link := headerCanonical(p); link != "" {
			return a.judgeCanonical(p, p.Document.Resolve(link), "Link: <"+prose.Cut(link, 100)+`>; rel="canonical"`)
		}
		return Measured(0.5, "no rel=canonical")
	}
	tag := d.Canonicals[0]
	where := d.Where(tag.Node)
	for _, other := range d.Canonicals[1:] {
		if other.Href != tag.Href {
			return Measured(0, "%d canonical addresses that differ: %s and %s", len(d.Canonicals),
				prose.Quote(tag.Href), prose.Quote(other.Href)).At(d.Where(other.Node))
		}
	}
	switch {
	case tag.URL == nil:
		return Measured(0, "rel=canonical is no address: %s", prose.Quote(tag.Href)).At(where)
	case !strings.Contains(tag.Href, "://"):
		return Measured(0.7, "rel=canonical is relative: %s", prose.Quote(tag.Href)).At(where)
	}
	return a.judgeCanonical(p, tag.URL, "rel=canonical "+prose.Cut(tag.Href, 120)).At(where)
}

func headerCanonical(p *crawl.Page) string {
	for _, v := range p.Response.Header["link"] {
		for part := range strings.SplitSeq(v, ",") {
			address, rest, ok := strings.Cut(part, ">")
			if ok && strings.Contains(strings.ToLower(strings.ReplaceAll(rest, `"`, "")), "rel=canonical") {
				return strings.TrimPrefix(strings.TrimSpace(address), "<")
			}
		}
	}
	return ""
}

// judgeCanonical compares a page with the one that it calls the original.
func (a *Audit) judgeCanonical(p *crawl.Page, to *url.URL, said string) Finding {
	if to == nil {
		return Measured(0, "%s is no address", said)
	}
	if to.String() == p.URL.String() {
		return Measured(1, "%s, this page itself", said)
	}
	if !crawl.SameSite(to, p.URL) {
		return Unmeasured("%s is on another website, which was not read", said)
	}
	target := a.Targets[to.String()]
	switch {
	case target == nil || target.Failure.Ours():
		return Unmeasured("%s was not read", said)
	case target.Failure != "":
		return Measured(0, "%s %s", said, target.Failure)
	case target.Status != 200:
		return Measured(0, "%s answers %d", said, target.Status)
	case len(target.Chain) > 0:
		return Measured(0.3, "%s leads on to %s", said, prose.Cut(target.URL, 120))
	}
	other := crawl.NewPage(target)
	if other.Document == nil {
		return Measured(0, "%s is no page", said)
	}
	if c := other.Document.Canonicals; len(c) > 0 && c[0].URL != nil && c[0].URL.String() != to.String() {
		return Measured(0.3, "%s names another original itself: %s", said, prose.Cut(c[0].URL.String(), 120))
	}
	if alike := prose.Jaccard(a.factsOf(p).shingles, prose.Shingles(other.Document.MainText)); alike < 0.5 {
		return Measured(0, "%s is a different page: %.0f %% of the text is the same", said, 100*alike)
	}
	return Measured(1, "%s has the same text", said)
}

// checkSitemap: a valid sitemap whose addresses can be indexed.
func checkSitemap(a *Audit) SiteFinding {
	first := a.Address("sitemap.xml")
	var entries []crawl.Entry
	var notes []string
	value, found := 1.0, false
	for i, m := range a.Site.Sitemaps {
		if i == 0 {
			first = m.URL
		}
		switch {
		case m.Response.Failure.Ours():
			return SiteFinding{Finding: Unmeasured("the sitemap %s", m.Response.Failure), URL: m.URL}
		case m.Response.Failure != "":
			notes = append(notes, prose.Cut(m.URL, 100)+" "+m.Response.Failure.String())
			value -= 0.3
		case m.Response.Status != 200:
			notes = append(notes, fmt.Sprintf("%s answers %d", prose.Cut(m.URL, 100), m.Response.Status))
			value -= 0.3
		case m.Kind == "":
			notes = append(notes, prose.Cut(m.URL, 100)+" holds no sitemap")
			value -= 0.3
		default:
			found = true
			if m.Fault != "" {
				notes = append(notes, prose.Cut(m.URL, 100)+" is broken: "+prose.Cut(m.Fault, 100))
				value -= 0.4
			}
		}
		entries = append(entries, m.Entries...)
	}
	if !found {
		if len(notes) == 0 {
			notes = append(notes, "robots.txt names none")
		}
		return SiteFinding{Finding: Measured(0, "no sitemap: %s", strings.Join(notes, "; ")), URL: first}
	}
	minus, more := a.judgeEntries(entries)
	notes = append(notes, more...)
	f := Measured(max(value-minus, 0.1), "%s; %s", prose.Count(len(entries), "address", "addresses"),
		strings.Join(notes, "; "))
	return SiteFinding{Finding: f, URL: first}
}

// judgeEntries returns what is taken off for the entries of a sitemap.
func (a *Audit) judgeEntries(entries []crawl.Entry) (minus float64, notes []string) {
	if len(entries) == 0 {
		return 0.5, []string{"it names no page"}
	}
	checked, bad := 0, []string(nil)
	for _, e := range entries {
		why, known := a.entryFault(e.URL)
		if !known {
			continue
		}
		checked++
		if why != "" {
			bad = append(bad, prose.Cut(e.URL, 100)+" "+why)
		}
	}
	if len(bad) > 0 {
		minus += 0.2 + 0.4*float64(len(bad))/float64(checked)
		notes = append(notes, fmt.Sprintf("%d of %d sampled cannot be indexed: %s", len(bad), checked,
			strings.Join(bad[:min(len(bad), 3)], ", ")))
	} else {
		notes = append(notes, fmt.Sprintf("%d of %d sampled can be indexed", checked, checked))
	}
	more, text := a.judgeDates(entries)
	return minus + more, append(notes, text)
}

// entryFault says why an address of a sitemap cannot be indexed; known is false
// for those that were not read.
func (a *Audit) entryFault(address string) (why string, known bool) {
	for _, p := range a.Pages {
		if p.Asked != address {
			continue
		}
		switch {
		case p.Failure == crawl.ByRobots:
			return "", false // our token: other crawlers may be let in
		case p.Failure.Ours(), p.Challenge() != "":
			return "", false
		case len(p.Response.Chain) > 0:
			return "redirects", true
		case p.Failure != "":
			return p.Failure.String(), true
		case p.Response.Status != 200:
			return fmt.Sprintf("answers %d", p.Response.Status), true
		}
		if _, no := p.Document.Forbids("googlebot", "noindex"); no {
			return "is noindex", true
		}
		return "", true
	}
	r := a.Targets[address]
	switch {
	case r == nil || r.Failure.Ours():
		return "", false
	case len(r.Chain) > 0:
		return "redirects", true
	case r.Failure != "":
		return r.Failure.String(), true
	case r.Status != 200:
		return fmt.Sprintf("answers %d", r.Status), true
	}
	return "", true
}

func (a *Audit) judgeDates(entries []crawl.Entry) (minus float64, note string) {
	dated, broken, today := 0, 0, 0
	days := map[string]bool{}
	for _, e := range entries {
		switch {
		case e.LastMod == "":
		case e.Time.IsZero():
			broken++
		default:
			dated++
			day := e.Time.UTC().Format(time.DateOnly)
			days[day] = true
			if day == a.Now.UTC().Format(time.DateOnly) {
				today++
			}
		}
	}
	switch {
	case broken > 0:
		return 0.2, prose.Count(broken, "lastmod cannot be read", "lastmod cannot be read")
	case dated == 0:
		return 0.1, "no lastmod"
	case dated >= 3 && today == dated:
		return 0.2, "every lastmod is today, which says nothing"
	case dated >= 5 && len(days) == 1:
		return 0.2, "every lastmod is the same day, which says nothing"
	}
	return 0, prose.Count(dated, "lastmod", "lastmod")
}
