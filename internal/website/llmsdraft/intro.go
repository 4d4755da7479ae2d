package llmsdraft

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/website/naming"
)

// maxSummary bounds the summary, in characters.
const maxSummary = 300

// introduce finds the site's name, its summary and the facts below it, all in
// the site's own words.
func (w *work) introduce() {
	ld := readData(w.home.doc)
	w.name, w.named = w.siteName(ld)
	w.summary = w.siteSummary(ld)
	w.details = w.siteDetails(ld)
}

// usable reports whether text of the site may be quoted in the draft.
func (w *work) usable(s string, least, most int) bool {
	if n := utf8.RuneCountInString(s); n < least || n > most || strings.Contains(s, "://") {
		return false
	}
	if givesOrders(s) {
		w.warn("orders", w.home.url.String(),
			"Words with which the site describes itself give orders to language models; the draft does not repeat "+
				"them.")
		return false
	}
	return true
}

func (w *work) siteName(ld data) (name, from string) {
	for _, c := range []struct{ name, from string }{
		{ld.siteName, "data"},
		{ld.orgName, "data"},
		{plain(w.home.doc.Meta("og:site_name")), "og"},
		{w.called, "titles"},
		{w.home.called, "heading"},
	} {
		if w.usable(c.name, 2, 80) && !naming.Placeholder(c.name) && !naming.IsHost(c.name, w.home.url) &&
			!strings.EqualFold(c.name, "home") &&
			!strings.EqualFold(c.name, "welcome") {
			return c.name, c.from
		}
	}
	return strings.TrimPrefix(w.home.url.Hostname(), "www."), "host"
}

func (w *work) siteSummary(ld data) string {
	about := ""
	for _, p := range w.pages {
		if p.read && p.reason == "" && w.aboutCompany(p) && strings.HasPrefix(w.parts(p)[0], "about") {
			about = p.opening
			break
		}
	}
	for _, s := range []string{ld.description, w.slogan, w.home.description, w.home.social, w.home.opening, about} {
		if s = cmp.Or(
			naming.Sentences(s, maxSummary),
			sentences(s, maxSummary),
		); !naming.Placeholder(s) && w.usable(s, 20, maxSummary) &&
			!strings.EqualFold(s, w.name) {
			return s
		}
	}
	return ""
}

var mailAddress = regexp.MustCompile(`^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,24}$`)

// forMachines are mailboxes that no person reads for visitors.
var forMachines = regexp.MustCompile(
	`(?i)^(no-?reply|do-?not-?reply|mailer-daemon|bounces?|abuse|postmaster|hostmaster)@|@example\.`)

// siteDetails is a short list of facts. It is never empty: the parser that
// belongs to the proposal finds a summary only if something follows it.
func (w *work) siteDetails(ld data) string {
	var lines []string
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, "- "+label+": "+text)
		}
	}
	add("Website", w.home.url.String())
	if h := w.home.called; !strings.EqualFold(h, w.name) && !strings.Contains(w.summary, h) && w.usable(h, 8, 90) &&
		w.named != "heading" {
		add("Offer", h)
	}
	add("Contact", w.contact(ld))
	if len(w.others) > 0 && w.lang != "" {
		names := []string{languages[w.lang]}
		for _, lang := range w.others {
			names = append(names, languages[lang])
		}
		add("Languages", strings.Join(names, ", "))
	}
	for _, m := range w.site.Sitemaps {
		if u, err := url.Parse(m.URL); m.Kind != "" && err == nil && strings.EqualFold(u.Host, w.site.Origin.Host) {
			add("Sitemap", u.String())
			break
		}
	}
	for _, a := range w.home.doc.Alternates {
		if a.URL != nil && (a.Type == "application/rss+xml" || a.Type == "application/atom+xml") &&
			strings.EqualFold(a.URL.Host, w.site.Origin.Host) {
			add("Feed", a.URL.String())
			break
		}
	}
	for _, p := range w.pages {
		if p.reason == "" && p != w.home && slices.ContainsFunc(w.parts(p),
			func(s string) bool { return s == "api" || s == "openapi" || s == "developers" || s == "api-reference" }) {
			add("API documentation", p.url.String())
			break
		}
	}
	return strings.Join(lines, "\n")
}

// contact joins a mail address and a telephone number that the site gives.
func (w *work) contact(ld data) string {
	var ways []string
	mail, phone := ld.email, ld.telephone
	for _, p := range w.pages {
		if !p.read || p.reason != "" || p != w.home && !w.aboutCompany(p) {
			continue
		}
		for _, l := range p.doc.Links {
			if address, ok := strings.CutPrefix(
				l.Href,
				"mailto:",
			); ok && mail == "" &&
				!forMachines.MatchString(address) {
				mail, _, _ = strings.Cut(address, "?")
			}
			if number, ok := strings.CutPrefix(l.Href, "tel:"); ok && phone == "" {
				phone = number
			}
		}
	}
	if mail = strings.TrimPrefix(mail, "mailto:"); mailAddress.MatchString(mail) && !forMachines.MatchString(mail) &&
		!naming.Placeholder(mail) {
		ways = append(ways, mail)
	}
	if phone = strings.TrimSpace(phone); len(phone) >= 5 && len(phone) <= 30 && strings.Trim(phone,
		"+0123456789 ()-./") == "" {
		ways = append(ways, phone)
	}
	return strings.Join(ways, ", ")
}
