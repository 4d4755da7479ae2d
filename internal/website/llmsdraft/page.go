package llmsdraft

import (
	"net/url"
	"path"
	"strings"

	"ace/internal/website/crawl"
)

// page is what is known about one address of the website.
type page struct {
	url     *url.URL
	key     string
	segment string // first folder below the drafted one; empty: is that folder itself
	depth   int

	// From sitemaps and links.
	inSitemap   bool
	inNav       bool // of the first page
	footer      bool
	linkText    string
	labels      []string        // that the navigation gives it
	from        map[string]bool // pages that link to it
	navs        int             // pages whose navigation links to it
	hreflang    string
	twin        string // Markdown twin that the page names
	twinChecked bool

	// From the page itself, once it was read.
	read                                    bool
	doc                                     *crawl.Document
	title, h1, description, social, opening string
	called                                  string // by the rules of naming
	lang, text                              string
	words                                   int
	kinds                                   []string // types of schema.org
	checked                                 string   // read, head, no
	reason                                  Reason   // why it is left out; empty: it is not
	detail                                  string
	score                                   float64
	section, name, notes, notesFrom         string
	hidden                                  bool // holds words that hide and give orders
}

// keyOf takes /about, /about/ and /about/index.html for one address.
func keyOf(u *url.URL) string {
	p := u.EscapedPath()
	switch strings.ToLower(path.Base(p)) {
	case "index.html", "index.htm", "index.php":
		p = p[:strings.LastIndexByte(p, '/')+1]
	}
	p = strings.TrimSuffix(p, "/")
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

// add returns the page at an address, a new one if it is not known; nil for
// addresses of other hosts and for what is no page by its name.
func (w *work) add(u *url.URL) *page {
	if u == nil || u.User != nil || !strings.EqualFold(u.Host, w.site.Origin.Host) ||
		u.Scheme != w.site.Origin.Scheme || len(u.Path) > 512 || !pageName(u.Path) {
		return nil
	}
	key := keyOf(u)
	if p := w.byKey[key]; p != nil {
		return p
	}
	if len(w.pages) >= maxKnown {
		return nil
	}
	clean := *u
	clean.Fragment, clean.RawFragment = "", ""
	p := &page{url: &clean, key: key, from: map[string]bool{}, checked: "no"}
	below := strings.Trim(strings.TrimPrefix(clean.Path, w.folder), "/")
	if below != "" {
		p.depth = 1 + strings.Count(below, "/")
	}
	if first, _, deeper := strings.Cut(below, "/"); deeper || strings.HasSuffix(clean.Path, "/") && below != "" {
		p.segment = first
		if deeper && year.MatchString(first) { // /2024/03/title and /2025/01/title are one group
			p.segment = dated
		}
	}
	w.byKey[key] = p
	w.pages = append(w.pages, p)
	p.reason, p.detail = w.byAddress(p)
	return p
}

// maxKnown bounds the addresses that are kept of one website.
const maxKnown = 20_000

// pageName leaves out files by their names.
func pageName(p string) bool {
	switch ext := strings.ToLower(path.Ext(p)); ext {
	case "", ".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".do", ".cgi", ".pl":
		return true
	default: // /v1.2 and /a.b-c are no files
		return len(ext) < 3 || len(ext) > 6 || strings.ContainsAny(ext[1:], "-_ %") || strings.Trim(ext[1:],
			"0123456789") == ""
	}
}

// fill takes over what a page says.
func (w *work) fill(p *page, got *crawl.Page) {
	d := got.Document
	p.read, p.doc, p.checked = true, d, "read"
	p.title, p.description, p.social = plain(d.Title()), plain(d.Description), plain(d.Meta("og:description"))
	p.text, p.words = strings.ToLower(clean(d.MainText)), d.MainWords
	for _, h := range d.Headings {
		if h.Level == 1 && h.Text != "" {
			p.h1 = plain(h.Text)
			break
		}
	}
	if garbled(clean(d.MainText)) {
		w.warn("charset", p.url.String(),
			"Read in its charset ("+d.Charset+
				") the page is garbled: declare the one that it is written in, best UTF-8.")
	}
	if d.Declared != "" {
		w.warn("charset", p.url.String(), "The page is written in "+d.Charset+" and served as "+d.Declared+
			": declare the one that it is written in.")
	}
	p.lang = primary(d.Lang)
	ld := readData(d)
	p.kinds = ld.kinds
	p.hidden = ordersInside(d)
	for _, a := range d.Alternates {
		if a.URL == nil {
			continue
		}
		if a.Type == "text/markdown" && strings.EqualFold(a.URL.Host, w.site.Origin.Host) {
			p.twin = a.URL.String()
		}
		if lang := primary(a.Hreflang); lang != "" {
			w.stated[lang] = true
			if other := w.add(a.URL); other != nil && other.hreflang == "" {
				other.hreflang = lang
			}
		}
	}
	w.countLinks(p, d)
	w.evaluate(p, got)
}

// countLinks records what a page links to.
func (w *work) countLinks(p *page, d *crawl.Document) {
	inNav := map[string]bool{}
	for _, l := range d.Links {
		to := w.add(l.URL)
		if to == nil || to == p {
			continue
		}
		to.from[p.key] = true
		text := plain(l.Text)
		if to.linkText == "" && !vague(text) {
			to.linkText = text
		}
		switch l.Part {
		case crawl.InNav, crawl.InHeader:
			if !inNav[to.key] {
				inNav[to.key] = true
				to.navs++
			}
			if p == w.home {
				to.inNav = true
			}
			if label := labelOf(l.Node); label != "" {
				to.labels = append(to.labels, label)
			}
		case crawl.InFooter:
			to.footer = to.footer || p == w.home
		case crawl.InAside, crawl.InMain:
		}
	}
}
