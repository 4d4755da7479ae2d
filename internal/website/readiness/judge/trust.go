package judge

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"
	"ace/internal/website/readiness/prose"
)

var (
	aboutWords = regexp.MustCompile(
		`(?i)(^|[/_\-\s])(about([-_ ]?(us|me))?|company|who-we-are|team|über[-_ ` +
			`]?uns|ueber-uns|wir|unternehmen|qui-sommes-nous|à propos|a-propos|apropos|chi-siamo|chi ` +
			`siamo|quienes-somos|quiénes somos|sobre(-?nos|-?nosotros)?|sobre nós|over-ons|over ons|om-oss|om ` +
			`oss|om-os|o-nas|o nas|会社概要|关于我们|о нас|о компании)([/_\-\s.]|$)`,
	)
	contactWords = regexp.MustCompile(
		`(?i)(^|[/_\-\s])(contact([-_ ]?us)?|kontakt|contacto|contato|contatti|contactez-nous|nous ` +
			`contacter|support|help|impressum|imprint|legal-notice|mentions-legales|yhteystiedot|kapcsolat|お問い合わせ` +
			`|联系我们|контакты)([/_\-\s.]|$)`,
	)
)

// IsAbout reports whether a path, or the text of a link, leads to a page about
// the owner, in the languages that the table knows.
func IsAbout(path, text string) bool {
	return aboutWords.MatchString(path) || len(text) < 40 && aboutWords.MatchString(text)
}

// IsContact is the same for a way to get in touch.
func IsContact(path, text string) bool {
	return contactWords.MatchString(path) || len(text) < 40 && contactWords.MatchString(text)
}

// checkIdentity: who is behind the website can be found, under one name.
func checkIdentity(a *Audit) SiteFinding {
	home := a.Home()
	if f, skip := a.needsPage(home); skip {
		return SiteFinding{Finding: f, URL: home.URL.String()}
	}
	value, notes := 0.0, []string(nil)
	if where, ok := a.reachable(IsAbout); ok {
		value += 0.35
		notes = append(notes, "about: "+where)
	} else {
		notes = append(notes, "no page about the owner within two clicks")
	}
	if where, ok := a.reachable(IsContact); ok {
		value += 0.35
		notes = append(notes, "contact: "+where)
	} else if where, ok := a.mailOrPhone(); ok {
		value += 0.35
		notes = append(notes, "contact: "+where)
	} else {
		notes = append(notes, "no way to get in touch within two clicks")
	}
	more, text := a.judgeNames()
	return SiteFinding{
		Finding: Measured(value+more, "%s", strings.Join(append(notes, text), "; ")),
		URL:     home.URL.String(),
	}
}

// reachable finds a page by its path or the text of links to it, on the home
// page or one click from it.
func (a *Audit) reachable(is func(path, text string) bool) (string, bool) {
	for _, p := range a.Readable() {
		if p != a.Home() && is(p.URL.Path, "") {
			return prose.Cut(p.Path(), 80), true
		}
		for _, l := range p.Document.Links {
			if l.URL == nil || !crawl.SameDomain(l.URL, p.URL) || !is(l.URL.Path, l.Text) ||
				l.URL.String() == a.Home().URL.String() {
				continue
			}
			if r := a.Targets[l.URL.String()]; r != nil && !r.Failure.Ours() && (r.Failure != "" || r.Status >= 400) {
				continue // it leads nowhere
			}
			if a.brokenPage(l.URL) {
				continue
			}
			return prose.Cut(l.URL.RequestURI(), 80), true
		}
	}
	return "", false
}

func (a *Audit) brokenPage(u *url.URL) bool {
	for _, p := range a.Pages {
		if p.Asked == u.String() {
			return p.Failure != "" && !p.Failure.Ours() || p.Response.Status >= 400
		}
	}
	return false
}

func (a *Audit) mailOrPhone() (string, bool) {
	for _, p := range a.Readable() {
		for _, l := range p.Document.Links {
			href := strings.ToLower(strings.TrimSpace(l.Href))
			if strings.HasPrefix(href, "mailto:") || strings.HasPrefix(href, "tel:") {
				return prose.Cut(l.Href, 60) + " on " + prose.Cut(p.Path(), 60), true
			}
		}
	}
	return "", false
}

// siteName is the name that the website gives itself; empty: none.
func (a *Audit) siteName() string {
	for _, p := range a.Readable() {
		if name := p.Document.Meta("og:site_name"); name != "" {
			return name
		}
		for _, n := range a.factsOf(p).nodes {
			if name := n.text("name"); name != "" && n.is(append([]string{"WebSite"}, organizations...)...) &&
				!n.is("Person", "Brand") {
				return name
			}
		}
	}
	return ""
}

// judgeNames compares the names in title, og:site_name and structured data.
func (a *Audit) judgeNames() (value float64, note string) {
	home := a.Home()
	var names, from []string
	add := func(name, source string) {
		if name = prose.Squeeze(name); name != "" {
			names, from = append(names, name), append(from, source)
		}
	}
	add(home.Document.Meta("og:site_name"), "og:site_name")
	for _, n := range a.factsOf(home).nodes {
		if n.is(organizations...) && !n.is("Brand") {
			add(n.text("name"), n.types[0])
			break
		}
	}
	for _, n := range a.factsOf(home).nodes {
		if n.is("WebSite") {
			add(n.text("name"), "WebSite")
			break
		}
	}
	title := home.Document.Title()
	switch {
	case len(names) == 0:
		return 0, "no name in og:site_name or structured data"
	case title != "" && !holdsName(title, names[0]):
		return 0.15, fmt.Sprintf("%s says %s, the title %s", from[0], prose.Quote(names[0]), prose.Quote(title))
	}
	for i, name := range names[1:] {
		if !holdsName(name, names[0]) && !holdsName(names[0], name) {
			return 0.1, fmt.Sprintf("%s says %s, %s says %s", from[0], prose.Quote(names[0]), from[i+1],
				prose.Quote(name))
		}
	}
	return 0.3, "name: " + prose.Quote(names[0])
}

// holdsName reports whether a text holds a name, give or take case, spaces and
// the form of a company.
func holdsName(text, name string) bool {
	plain := func(s string) string {
		s = strings.ToLower(s)
		for _, form := range []string{" gmbh", " ltd", " inc", " llc", " ag", " s.a.", " corp", " co.", ",", "."} {
			s = strings.ReplaceAll(s, form, "")
		}
		return strings.Join(strings.Fields(s), "")
	}
	return strings.Contains(plain(text), plain(name))
}

// pageLinks: links on the page lead to pages, and crawlers can follow them.
func pageLinks(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	checked, broken, firstBad := 0, 0, crawl.Link{}
	why := ""
	for _, l := range d.Links {
		if l.URL == nil || !strings.EqualFold(l.URL.Host, p.URL.Host) {
			continue
		}
		fault, known := a.linkFault(l.URL)
		if !known {
			continue
		}
		checked++
		if fault != "" {
			broken++
			if why == "" {
				firstBad, why = l, fault
			}
		}
	}
	dead := uncrawlable(d)
	if broken == 0 && len(dead) == 0 {
		if checked == 0 && len(d.Links) == 0 {
			return Measured(0.5, "no link that a crawler could follow")
		}
		return Measured(1, "%s, all good", prose.Count(checked, "link followed", "links followed"))
	}
	var notes []string
	value := 1.0
	at := crawl.Place{}
	if broken > 0 {
		share := 1 - float64(broken)/float64(checked)
		if share < 0.95 {
			value *= share
		}
		at = d.Where(firstBad.Node)
		notes = append(notes,
			fmt.Sprintf("%d of %d followed lead nowhere: %s %s", broken, checked, prose.Quote(firstBad.Href), why))
	}
	if len(dead) > 0 {
		value *= 1 - float64(len(dead))/float64(len(dead)+len(d.Links))
		if at.Line == 0 {
			at = d.Where(dead[0])
		}
		notes = append(notes,
			fmt.Sprintf("%s no crawler can follow: %s", prose.Count(len(dead), "link that", "links that"),
				prose.Quote(dom.Text(dead[0]))))
	}
	return Measured(value, "%s", strings.Join(notes, "; ")).At(at)
}

// linkFault says why a link leads nowhere; known is false for links that were
// not followed.
func (a *Audit) linkFault(u *url.URL) (fault string, known bool) {
	evaluate := func(status int, f crawl.Failure) (string, bool) {
		switch {
		case f.Ours(), status == 401, status == 403, status == 429, status == 503:
			return "", false // nothing is known about what others get
		case f == crawl.NotHTML, f == crawl.OffSite, f == crawl.TooComplex:
			return "", true
		case f != "":
			return f.String(), true
		case status >= 400 || status < 200:
			return fmt.Sprintf("answers %d", status), true
		}
		return "", true
	}
	for _, p := range a.Pages {
		if p.Asked == u.String() || p.URL.String() == u.String() {
			return evaluate(p.Response.Status, p.Failure)
		}
	}
	if r := a.Targets[u.String()]; r != nil {
		return evaluate(r.Status, r.Failure)
	}
	return "", false
}

// uncrawlable are links that only a script can follow.
func uncrawlable(d *crawl.Document) []*html.Node {
	var dead []*html.Node
	for n := range d.Root.Descendants() {
		if n.DataAtom != atom.A || n.Type != html.ElementNode || hiddenInside(n) {
			continue
		}
		href := strings.ToLower(strings.TrimSpace(dom.Attr(n, "href")))
		switch {
		case dom.Has(n, "href") && !strings.HasPrefix(href, "javascript:"):
		case strings.EqualFold(dom.Attr(n, "role"), "button"):
		case !dom.Has(n, "href") && !dom.Has(n, "onclick"): // an anchor, or a menu's current entry
		default:
			dead = append(dead, n)
		}
	}
	return dead
}

// pageNames: what can be pressed, filled in or looked at has a name.
func pageNames(a *Audit, p *crawl.Page) Finding {
	if f, skip := a.needsPage(p); skip {
		return f
	}
	d := p.Document
	labels := labelled(d)
	all, nameless := 0, []*html.Node(nil)
	for n := range d.Root.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" || hiddenInside(n) {
			continue
		}
		named, counts := hasName(n, labels)
		if !counts {
			continue
		}
		all++
		if !named {
			nameless = append(nameless, n)
		}
	}
	if all == 0 {
		return NotApplicable("no link, button, field or picture")
	}
	if len(nameless) == 0 {
		return Measured(1, "all %d have a name", all)
	}
	return Measured(1-float64(len(nameless))/float64(all), "%d of %d have no name, first <%s>", len(nameless), all,
		nameless[0].Data).At(d.Where(nameless[0]))
}

// labelled are the ids that label elements name.
func labelled(d *crawl.Document) map[string]bool {
	ids := map[string]bool{}
	for n := range d.Root.Descendants() {
		if n.DataAtom == atom.Label && dom.Text(n) != "" {
			ids[dom.Attr(n, "for")] = true
		}
	}
	delete(ids, "")
	return ids
}

func hasName(n *html.Node, labels map[string]bool) (named, counts bool) {
	direct := strings.TrimSpace(dom.Attr(n, "aria-label")) != "" || dom.Attr(n, "aria-labelledby") != "" ||
		strings.TrimSpace(dom.Attr(n, "title")) != ""
	switch n.DataAtom {
	case atom.A:
		return direct || inside(n), dom.Has(n, "href")
	case atom.Button:
		return direct || inside(n), true
	case atom.Img:
		role := strings.ToLower(dom.Attr(n, "role"))
		return direct || dom.Has(n, "alt"), role != "presentation" && role != "none"
	case atom.Select, atom.Textarea:
		return direct || labels[dom.Attr(n, "id")] || inLabel(n), true
	case atom.Input:
		switch strings.ToLower(dom.Attr(n, "type")) {
		case "hidden":
			return true, false
		case "submit", "reset":
			return true, true // browsers name these
		case "button":
			return direct || dom.Attr(n, "value") != "", true
		case "image":
			return direct || dom.Attr(n, "alt") != "", true
		}
		return direct || labels[dom.Attr(n, "id")] || inLabel(n), true
	}
	return true, false
}

// inside reports whether an element gets a name from what it holds.
func inside(n *html.Node) bool {
	if dom.Visible(n) != "" {
		return true
	}
	for c := range n.Descendants() {
		switch {
		case c.DataAtom == atom.Img && strings.TrimSpace(dom.Attr(c, "alt")) != "", c.Data == "title" &&
			c.Namespace == "svg" && c.FirstChild != nil,
			strings.TrimSpace(dom.Attr(c, "aria-label")) != "":
			return true
		}
	}
	return false
}

func inLabel(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == atom.Label {
			return dom.Text(p) != ""
		}
	}
	return false
}
