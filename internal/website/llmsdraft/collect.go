package llmsdraft

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/crawl"
)

// work is one draft while it is made.
type work struct {
	site     *crawl.Site
	progress crawl.Progress
	limit    int    // pages to read
	folder   string // that is drafted; "/" for the whole host

	pages   []*page // in the order in which they were found
	byKey   map[string]*page
	home    *page
	missing *missing
	read    int
	tried   int            // pages that were asked for, the first one not counted
	heads   int            // links that were asked for by HEAD
	deadIn  map[string]int // dead links of a folder

	stated map[string]bool // languages that pages link to as their translations
	lang   string          // of the site
	others []string        // languages with a section of their own

	name, summary, details string
	called, slogan         string // of the site, by the rules of naming
	named                  string // where the name is from
	sections               []section
	existing               Existing
	twins                  Twins
	found                  map[string]string // verified twins by address of their page
	dropped                map[Reason]int    // addresses that are not even kept
	warnings               []Warning
}

// missing is the website's response for a URL that does not exist.
type missing struct {
	soft            bool // 200
	title, h1, text string
}

// nowhere is the name of a page that no website has.
const nowhere = "ace-page-that-is-not-there-7f3a9c"

// warn notes a warning once.
func (w *work) warn(code, url, text string) {
	entry := Warning{Code: code, URL: url, Text: text}
	if len(w.warnings) < 100 && !slices.Contains(w.warnings, entry) {
		w.warnings = append(w.warnings, entry)
	}
}

// look reads the first page, the llms.txt that may be there, and what a missing
// URL responds.
func (w *work) look(ctx context.Context) error {
	w.folder = "/"
	if u, _, err := crawl.ParseTarget(w.site.Input); err == nil && strings.HasSuffix(u.Path, "/") &&
		u.Path == w.site.Home.URL.Path {
		if first, _, _ := strings.Cut(strings.Trim(u.Path, "/"), "/"); primary(first) == "" {
			w.folder = u.Path
		}
	}
	got, err := w.site.Get(ctx, w.site.Origin.JoinPath(w.folder, nowhere).String())
	if err != nil {
		return err
	}
	if got.Response.OK() {
		w.missing = &missing{soft: true}
		w.warn("soft_404", got.Asked,
			"Addresses that are not there answer 200: crawlers keep dead pages, and links cannot be checked. Answer "+
				"404.")
		if d := got.Document; d != nil {
			p := &page{title: plain(d.Title()), text: strings.ToLower(clean(d.MainText))}
			for _, h := range d.Headings {
				if h.Level == 1 && p.h1 == "" {
					p.h1 = plain(h.Text)
				}
			}
			w.missing.title, w.missing.h1, w.missing.text = p.title, p.h1, p.text
		}
	}
	if w.home = w.add(w.site.Home.URL); w.home == nil { // a first page with an unusual name
		w.home = &page{url: w.site.Home.URL, key: keyOf(w.site.Home.URL), from: map[string]bool{}}
		w.byKey[w.home.key] = w.home
		w.pages = append(w.pages, w.home)
	}
	w.home.reason, w.home.detail = "", ""
	w.read++
	w.fill(w.home, w.site.Home)
	w.lookAtHome()
	return w.readExisting(ctx)
}

// lookAtHome warns of what makes the first page useless for a draft.
func (w *work) lookAtHome() {
	d, address := w.home.doc, w.home.url.String()
	if w.home.hidden {
		w.warn("hidden_orders", address,
			"The first page holds text that people do not see and that gives orders to language models. Remove it: "+
				"readers that find it distrust the site.")
	}
	if w.home.words < 20 {
		w.warn("little_text", address,
			"Without scripts the first page says next to nothing; agents that do not run scripts see an empty site.")
	}
	if dir, no := d.Forbids("", "noindex"); no {
		w.warn("noindex", address,
			"The first page asks not to be listed ("+dir.String()+
				"); many readers will then ignore an llms.txt as well.")
	}
	if c := d.Canonicals; len(c) > 0 && c[0].URL != nil && keyOf(c[0].URL) != w.home.key {
		w.warn("canonical", address, "The first page names another address as its own: "+c[0].URL.String()+".")
	}
}

// collect gathers addresses from the sitemaps and the first page.
func (w *work) collect(ctx context.Context) error {
	w.progress("collect", 0, 0)
	candidates, err := w.site.Candidates(ctx)
	if err != nil {
		return err
	}
	for _, c := range candidates {
		p := w.add(c.URL)
		if p == nil {
			w.dropped[Beyond]++
			continue
		}
		p.inSitemap = p.inSitemap || c.InSitemap
	}
	for _, m := range w.site.Sitemaps {
		if m.Named && m.Kind == "" {
			w.warn("sitemap", m.URL, "robots.txt names this sitemap, which cannot be read.")
		}
	}
	w.trim()
	return nil
}

// trim keeps the addresses that are compared to their number: those of the
// navigation, then folders take turns.
func (w *work) trim() {
	folders := map[string][]*page{}
	var names []string
	count := 0
	for _, p := range w.pages {
		switch {
		case p.reason != "":
		case p.read || p.inNav:
			count++
		default:
			if folders[p.segment] == nil {
				names = append(names, p.segment)
			}
			folders[p.segment] = append(folders[p.segment], p)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		slices.SortStableFunc(folders[name], func(a, b *page) int {
			return cmp.Or(len(b.from)-len(a.from), a.depth-b.depth, len(a.key)-len(b.key),
				strings.Compare(a.key, b.key))
		})
	}
	for turn := 0; len(names) > 0; turn++ {
		var left []string
		for _, name := range names {
			members := folders[name]
			if turn >= len(members) {
				continue
			}
			left = append(left, name)
			if count++; count > maxWeighed {
				w.drop(members[turn], Beyond, "")
			}
		}
		names = left
	}
}

// readPages reads the most promising pages. Each page that was read of a folder
// makes the next one of it less urgent.
func (w *work) readPages(ctx context.Context) error {
	taken := map[string]int{}
	silent := 0
	for attempts := 0; w.read < w.limit && attempts < w.limit+10; attempts++ {
		p := w.next(taken)
		if p == nil {
			return nil
		}
		taken[p.segment]++
		w.tried++
		w.progress("pages", w.read, w.limit)
		got, err := w.site.Get(ctx, p.url.String())
		if err != nil {
			return err
		}
		switch got.Failure {
		case crawl.OutOfBudget, crawl.AskedToWait:
			w.warn("cut_short", "", "Not all pages could be read: "+p.url.String()+" "+got.Failure.String()+".")
			return nil
		case crawl.TimedOut, crawl.Unreachable, crawl.BadAnswer:
			if silent++; silent >= 3 {
				w.drop(p, NotRead, got.Failure.String())
				w.warn("cut_short", p.url.String(), "The website stopped answering: not all pages could be read.")
				return nil
			}
		default:
			silent = 0
		}
		w.addPage(p, got)
	}
	return nil
}

// addPage stores the response of a URL.
func (w *work) addPage(p *page, got *crawl.Page) {
	switch {
	case got.Failure == crawl.ByRobots:
		w.drop(p, Excluded, "")
	case len(got.Response.Chain) > 0 && (got.Failure != "" || keyOf(got.URL) != p.key):
		detail := got.Response.Chain[len(got.Response.Chain)-1].Location
		if got.Failure != "" {
			detail = got.Failure.String()
		}
		w.drop(p, Redirects, clipped(detail))
		if !got.OK() {
			return
		}
		if to := w.add(got.URL); to != nil && !to.read && to.reason == "" {
			to.inNav, to.from[p.key] = to.inNav || p.inNav, true
			to.linkText = cmp.Or(to.linkText, p.linkText)
			w.read++
			w.fill(to, got)
		}
	case got.Failure != "" && (got.Failure != crawl.NotHTML || got.Response.Status == 200):
		w.drop(p, NotRead, got.Failure.String())
		if !got.Failure.Ours() {
			w.warn("unread", p.url.String(), "The page "+got.Failure.String()+".")
		}
	case got.Response.Status != 200:
		w.drop(p, NotFound, itoa(got.Response.Status))
		w.dead(p)
		if len(p.from) > 0 || p.inSitemap {
			w.warn("dead_link", p.url.String(),
				"The address answers "+itoa(got.Response.Status)+", and the site still names it.")
		}
	default:
		w.read++
		w.fill(p, got)
	}
}

// next is the page to read next; nil: there is none.
func (w *work) next(taken map[string]int) *page {
	var best *page
	var score float64
	for _, p := range w.pages {
		if p.read || p.reason != "" || p.checked == "failed" {
			continue
		}
		w.rate(p)
		s := p.score - .8*float64(taken[p.segment])
		if lang := w.pathLanguage(p); lang != "" && w.home.lang != "" && lang != w.home.lang {
			s -= 2
		}
		if best == nil || s > score {
			best, score = p, s
		}
	}
	return best
}

// settle decides what the pages are to each other, and chooses.
func (w *work) settle(context.Context) error {
	w.trim()
	w.settleCopies()
	w.settleLanguages()
	w.describe()
	w.introduce()
	w.sections = w.choose()
	return nil
}

// verify asks for chosen pages that were not read, and chooses again where they
// are not there.
func (w *work) verify(ctx context.Context) error {
	for range 4 {
		changed := false
		for _, p := range flat(w.sections) {
			if p.read || p.checked != "no" || w.heads >= maxChecks {
				continue
			}
			w.heads++
			w.progress("links", w.heads, maxChecks)
			res, err := w.site.Fetch(ctx, crawl.Request{URL: p.url.String(), Method: "HEAD"})
			if err != nil {
				return err
			}
			switch {
			case res.Failure.Ours() && res.Failure != crawl.ByRobots:
				return nil
			case res.Failure != "":
				w.drop(p, NotRead, res.Failure.String())
			case res.Status == 405 || res.Status == 501: // it takes no HEAD
				continue
			case res.Status != 200:
				w.drop(p, NotFound, itoa(res.Status))
			case len(res.Chain) > 0:
				w.drop(p, Redirects, res.URL)
			case strings.Contains(strings.ToLower(res.Header.Get("X-Robots-Tag")), "noindex"):
				w.drop(p, NoIndex, "X-Robots-Tag")
			case res.MediaType() != "" && !strings.Contains(res.MediaType(), "html"):
				w.drop(p, NotRead, crawl.NotHTML.String())
			default:
				p.checked = "head"
				continue
			}
			changed = true
			w.dead(p)
		}
		if !changed {
			return nil
		}
		w.sections = w.choose()
	}
	return nil
}

// dead counts the dead links of a folder. With two of them and no page that
// lives, what was not read there is left out.
func (w *work) dead(p *page) {
	if w.deadIn == nil {
		w.deadIn = map[string]int{}
	}
	if w.deadIn[p.segment]++; w.deadIn[p.segment] < 2 || p.segment == "" {
		return
	}
	for _, q := range w.pages {
		if q.segment == p.segment && q.read && q.reason == "" {
			return
		}
	}
	for _, q := range w.pages {
		if !q.read && q.checked == "no" && q.segment == p.segment {
			w.drop(q, NotFound, "links of this folder are dead")
		}
	}
}

func clipped(s string) string {
	s = clean(s)
	if utf8.RuneCountInString(s) <= 200 {
		return s
	}
	return excerpt.Chars(s, 199)
}
