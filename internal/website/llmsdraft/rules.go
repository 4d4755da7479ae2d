package llmsdraft

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/website/crawl"
)

// Reason says why an address is not in the draft.
type Reason string

// The reasons.
const (
	NotFound     Reason = "status"    // a status other than 200
	NotRead      Reason = "unread"    // could not be read
	Redirects    Reason = "redirect"  // leads to another address
	Elsewhere    Reason = "canonical" // names another address as its own
	NoIndex      Reason = "noindex"
	Excluded     Reason = "robots" // robots.txt keeps crawlers out
	SoftMissing  Reason = "soft_404"
	Duplicate    Reason = "duplicate" // says what another page says
	NoText       Reason = "no_text"   // says nothing until a script has run
	Account      Reason = "account"   // sign-in, basket, checkout
	Search       Reason = "search"
	Listing      Reason = "listing" // tags, authors, archives, further pages of a list
	Parameters   Reason = "parameters"
	Technical    Reason = "technical" // feeds, print versions, endpoints
	OldVersion   Reason = "old_version"
	OtherFolder  Reason = "outside" // of the folder that was asked for
	OtherLang    Reason = "language"
	HostileWords Reason = "hostile"
	Full         Reason = "full" // the section has its share
	Beyond       Reason = "beyond"
)

// inWords says what a reason means, for people.
var inWords = map[Reason]string{
	NotFound: "does not answer 200", NotRead: "could not be read", Redirects: "redirects",
	Elsewhere: "names another address as canonical",
	NoIndex:   "asks not to be listed", Excluded: "is excluded by robots.txt",
	SoftMissing: "is an error page that answers 200",
	Duplicate:   "says what another page says", NoText: "says nothing without a script",
	Account: "belongs to an account or a purchase",
	Search:  "is a search", Listing: "is a further page, a tag or an archive", Parameters: "has parameters",
	Technical:  "is for programs, not for readers",
	OldVersion: "is an older version of another page", OtherFolder: "is outside of the folder",
	OtherLang:    "is in another language",
	HostileWords: "gives orders to language models", Full: "its section has its share of links",
	Beyond: "comes after the addresses that were compared",
}

// drops are the folders and names that are no pages for a reader.
var drops = map[Reason][]string{
	Account: {
		"login", "log-in", "signin", "sign-in", "logout", "register", "signup", "sign-up", "account", "my-account",
		"password", "reset-password", "wp-login", "wp-admin", "admin",
		"cart", "basket", "checkout", "wishlist", "warenkorb", "kasse", "panier", "anmelden", "connexion",
	},
	Search:  {"search", "suche", "recherche", "buscar"},
	Listing: {"tag", "tags", "author", "authors", "archive", "archives", "label", "page"},
	Technical: {
		"feed", "print", "amp", "embed", "trackback", "wp-json", "xmlrpc", "cdn-cgi", "unsubscribe", "404",
		"offline", "sitemap", "api-proxy", "graphql",
	},
}

// Pages that belong into Optional, by the last part of their address.
var (
	legalName = regexp.MustCompile(
		`^(privacy|cookies?|terms|legal|imprint|impressum|disclaimer|gdpr|datenschutz|agb|widerruf|licen[cs]es?` +
			`|mentions-legales|accessibility|changelog|release-notes|releases)$|^(privacy|cookies?|terms|legal` +
			`|datenschutz|licen[cs]e)[-_](policy|notice|statement|of|and|agreement|conditions|settings|erklaerung)`,
	)
	version   = regexp.MustCompile(`^v?\d+(\.\d+)*(\.x)?$`)
	year      = regexp.MustCompile(`^(19|20)\d\d$`)
	archive   = regexp.MustCompile(`^(19|20)\d\d(/\d{1,2}){0,2}$`)
	furtherOn = regexp.MustCompile(`^page[-_]?\d+$`)
	company   = regexp.MustCompile(
		`^(about|about-us|company|team|people|contact|contact-us|jobs|careers|press|history|imprint|ueber-uns` +
			`|kontakt|shipping|returns|delivery|support|help|faq|find-us|arrive|location|locations` +
			`|opening-hours)([-_](and|us|a-propos|us|returns|shipping|hours).*)?$`,
	)
)

// byAddress judges an address by its spelling alone.
func (w *work) byAddress(p *page) (Reason, string) {
	if w.folder != "/" && !strings.HasPrefix(p.url.Path+"/", w.folder) {
		return OtherFolder, w.folder
	}
	if p.url.RawQuery != "" {
		return Parameters, ""
	}
	parts := w.parts(p)
	for i, part := range parts {
		for _, reason := range []Reason{Account, Search, Listing, Technical} {
			if slices.Contains(drops[reason], part) && !(reason == Listing && i == 0 && len(parts) == 1) {
				return reason, part
			}
		}
	}
	if archive.MatchString(strings.Join(parts, "/")) {
		return Listing, "posts of a time"
	}
	if len(parts) > 1 && furtherOn.MatchString(parts[len(parts)-1]) {
		return Listing, parts[len(parts)-1]
	}
	if !w.site.Allowed(p.url) {
		return Excluded, ""
	}
	return "", ""
}

// parts are the folders and the name of an address below the drafted folder, in
// lower case and without an ending such as .html.
func (w *work) parts(p *page) []string {
	below := strings.ToLower(strings.Trim(strings.TrimPrefix(p.url.Path, w.folder), "/"))
	if below == "" {
		return nil
	}
	parts := strings.Split(below, "/")
	last := parts[len(parts)-1]
	if name, ext, ok := strings.Cut(last, "."); ok &&
		(strings.HasPrefix(ext, "htm") || ext == "php" || strings.HasPrefix(ext, "asp")) {
		parts[len(parts)-1] = name
	}
	return parts
}

func (w *work) legal(p *page) bool {
	parts := w.parts(p)
	if len(parts) == 0 {
		return false
	}
	return legalName.MatchString(parts[len(parts)-1]) || len(parts) > 1 &&
		(parts[0] == "legal" || parts[0] == "policies")
}

func (w *work) aboutCompany(p *page) bool {
	parts := w.parts(p)
	return len(parts) == 1 && company.MatchString(parts[0])
}

// evaluate drops a page by its response. The first page stays whatever it
// says: without it there is no draft.
func (w *work) evaluate(p *page, got *crawl.Page) {
	d := got.Document
	if p == w.home {
		return
	}
	if to := canonical(d); to != nil {
		// A copy of a site, for example its preview, names the original's host on
		// every page; a page that alone does so is no page of this site.
		own := crawl.SameSite(to, p.url)
		if home := canonical(w.home.doc); own && keyOf(to) != p.key ||
			!own && (home == nil || !crawl.SameSite(to, home)) {
			w.drop(p, Elsewhere, to.String())
			if q := w.add(to); q != nil {
				q.from[p.key] = true
			}
			return
		}
	}
	if dir, no := d.Forbids("", "noindex"); no {
		w.drop(p, NoIndex, dir.String())
		return
	}
	switch {
	case w.missing.resembles(p):
		w.drop(p, SoftMissing, "")
	case p.words == 0 && p.h1 == "", strings.Count(p.text, "\ufffd")*20 > len(p.text):
		w.warn("no_text", p.url.String(),
			"The page says nothing until a script has run: send its text with the page, and it can be listed.")
		w.drop(p, NoText, "")
	case p.hidden:
		w.warn("hidden_orders", p.url.String(),
			"The page holds text that people do not see and that gives orders to language models. It is not in the "+
				"draft.")
		w.drop(p, HostileWords, "hidden text")
	}
}

func canonical(d *crawl.Document) *url.URL {
	if len(d.Canonicals) == 0 {
		return nil
	}
	return d.Canonicals[0].URL
}

// drop leaves a page out, for the first reason that was found.
func (w *work) drop(p *page, r Reason, detail string) {
	if p.reason == "" {
		p.reason, p.detail = r, detail
	}
}

// resembles reports whether a page is the one that a missing address gives.
func (m *missing) resembles(p *page) bool {
	if m == nil || !m.soft {
		return false
	}
	return m.title == p.title && m.h1 == p.h1 && similar(m.text, p.text)
}

// similar compares texts by their words, those of addresses left out.
func similar(a, b string) bool {
	if a == b {
		return true
	}
	set := map[string]int{}
	for word := range strings.FieldsSeq(a) {
		set[word] |= 1
	}
	for word := range strings.FieldsSeq(b) {
		set[word] |= 2
	}
	both, words := 0, 0
	for word, in := range set {
		if strings.Contains(word, "/") {
			continue
		}
		words++
		if in == 3 {
			both++
		}
	}
	return words > 0 && both*10 >= words*9
}

// settleCopies drops pages that say what a better one says, and old versions.
func (w *work) settleCopies() {
	first := map[string]*page{}
	for _, p := range w.pages {
		if !p.read || p.reason != "" || p.words < 20 {
			continue
		}
		if other := first[p.text]; other == nil {
			first[p.text] = p
		} else {
			w.drop(p, Duplicate, other.url.String())
			w.warn("duplicate", p.url.String(),
				"The page says word for word what "+other.url.String()+" says: let one name the other as canonical.")
		}
	}
	for _, p := range w.pages {
		if p.reason != "" {
			continue
		}
		parts := w.parts(p)
		for i, part := range parts {
			if !version.MatchString(part) || part == "404" || len(parts) == 1 {
				continue
			}
			newer := w.folder + strings.Join(append(append([]string{}, parts[:i]...), parts[i+1:]...), "/")
			if q := w.byKey[strings.TrimSuffix(newer, "/")]; q != nil && q.reason == "" && q != w.home {
				w.drop(p, OldVersion, q.url.String())
			}
		}
	}
}
