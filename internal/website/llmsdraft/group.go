package llmsdraft

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/website/dom"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// labelOf is what the navigation calls the group that a link is in: the
// item of the list around its list, or the heading before it.
func labelOf(link *html.Node) string {
	for n, up := link, 0; n.Parent != nil && up < 12; n, up = n.Parent, up+1 {
		if n.DataAtom == atom.Nav || n.DataAtom == atom.Header || n.DataAtom == atom.Body {
			return ""
		}
		looked := 0
		for s := n.PrevSibling; s != nil && looked < 60; s = s.PrevSibling {
			if s.Type != html.ElementNode {
				continue
			}
			looked++
			if text := headingText(s, n); text != "" {
				return text
			}
		}
		if n.DataAtom == atom.Details {
			return ""
		}
	}
	return ""
}

// headingText is the text of an element that names what comes after it.
func headingText(s, before *html.Node) string {
	switch s.DataAtom {
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Summary, atom.Button, atom.Strong, atom.Legend, atom.Dt:
	case atom.A, atom.Span, atom.P: // only as the name of the list after it
		if before.DataAtom != atom.Ul && before.DataAtom != atom.Ol && before.DataAtom != atom.Div {
			return ""
		}
	default:
		return ""
	}
	if s.DataAtom == atom.A && dom.Words(dom.Attr(s, "class"), "navbar-brand") {
		return "" // the name of the site
	}
	text := plain(dom.Text(s))
	if n := utf8.RuneCountInString(text); n < 2 || n > 40 || vague(text) || framing(text) {
		return ""
	}
	return text
}

// framing reports whether a label names the navigation instead of a group of
// pages.
func framing(label string) bool {
	switch strings.ToLower(strings.Trim(label, " :≡☰")) {
	case "navigation", "menu", "main menu", "site menu", "toggle navigation", "links", "quick links", "pages",
		"site map", "sitemap", "table of contents", "contents", "on this page", "this page", "home", "quick search",
		"next topic", "previous topic", "related topics", "search":
		return true
	}
	return false
}

// rate scores a page by what is known about it so far.
func (w *work) rate(p *page) {
	s := 2*math.Log1p(float64(len(p.from))) + math.Log1p(float64(p.navs)) - float64(p.depth)
	if p.inNav {
		s += 3
	}
	if p.read {
		if p.description != "" {
			s += .7
		}
		if p.h1 != "" {
			s += .5
		}
		s += float64(min(p.words, 1500)) / 1500
	}
	if w.legal(p) {
		s -= 3
	}
	p.score = math.Round(s*1000) / 1000
}

// dated stands for the folders of all years.
const dated = "<year>"

// Names of sections that come from no page.
const (
	otherPages   = "Pages"
	aboutSection = "About"
	articles     = "Articles"
	optional     = "Optional"
)

// group gives each page of the default language its section.
func (w *work) group(pages []*page) {
	members := map[string]int{} // pages of a label
	for _, p := range pages {
		if label := commonest(p.labels); label != "" {
			members[label]++
		}
	}
	folder := map[string]int{}
	for _, p := range pages {
		folder[p.segment]++
	}
	for _, p := range pages {
		label := commonest(p.labels)
		switch {
		case p.section != "": // a language
		case w.legal(p):
			p.section = optional
		case label != "" && members[label] >= 2:
			p.section = label
		case p.segment != "" && folder[p.segment]+w.indexes(p.segment) >= 2:
			p.section = w.folderName(p.segment)
		case w.hasFolder(p, folder): // /tools beside /tools/plane
			p.section = w.folderName(w.parts(p)[0])
		case w.aboutCompany(p) || slices.ContainsFunc(p.kinds,
			func(k string) bool { return k == "AboutPage" || k == "ContactPage" }):
			p.section = aboutSection
		default:
			p.section = otherPages
		}
	}
	mergeSmall(pages)
}

// indexes is 1 if the folder has a page of its own that is beside it.
func (w *work) indexes(segment string) int {
	if p := w.byKey[w.folder+segment]; p != nil && p.segment == "" && p.reason == "" {
		return 1
	}
	return 0
}

func (w *work) hasFolder(p *page, folder map[string]int) bool {
	parts := w.parts(p)
	return p.segment == "" && len(parts) == 1 && folder[strings.Trim(strings.TrimPrefix(p.url.Path, w.folder), "/")] > 0
}

// folderName is the name of a folder: what links call its first page, or its
// spelling in the address.
func (w *work) folderName(segment string) string {
	if segment == dated {
		return articles
	}
	if p := w.byKey[w.folder+segment]; p != nil && p.linkText != "" && utf8.RuneCountInString(p.linkText) <= 30 {
		return p.linkText
	}
	return titled(fromAddress(segment))
}

// mergeSmall moves pages that are alone in their section to the others, and
// takes sections of one name in different spelling for one.
func mergeSmall(pages []*page) {
	spelled, size := map[string]string{}, map[string]int{}
	for _, p := range pages {
		key := strings.ToLower(p.section)
		if spelled[key] == "" {
			spelled[key] = p.section
		}
		p.section = spelled[key]
		size[p.section]++
	}
	for _, p := range pages {
		if size[p.section] < 2 && p.section != optional && p.section != aboutSection && !isLanguage(p.section) {
			p.section = otherPages
		}
	}
}

func isLanguage(section string) bool {
	for _, name := range languages {
		if name == section {
			return true
		}
	}
	return false
}

// commonest is the label that was given most often, the first of equals.
func commonest(labels []string) string {
	count, best := map[string]int{}, ""
	for _, l := range labels {
		count[l]++
	}
	for _, l := range labels {
		if best == "" || count[l] > count[best] {
			best = l
		}
	}
	return best
}

// byScore puts the better page first; the index of a folder before all.
func byScore(a, b *page) int {
	return cmp.Or(cmp.Compare(b.score, a.score), a.depth-b.depth, strings.Compare(a.url.Path, b.url.Path))
}
