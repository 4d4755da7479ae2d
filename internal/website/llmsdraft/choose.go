package llmsdraft

import (
	"cmp"
	"slices"
	"strings"

	"ace/internal/protocol/llmstxt"
)

// section is a part of the draft while it is put together.
type section struct {
	name  string
	pages []*page
}

// choose picks and groups the pages of the draft. It may be called again after
// pages were dropped.
func (w *work) choose() []section {
	var pages []*page
	size := map[string]int{}
	for _, p := range w.pages {
		if p.reason == "" || p.reason == Full || p.reason == Beyond {
			size[p.segment]++
		}
	}
	for _, p := range w.pages {
		if p.section != "" && !isLanguage(p.section) {
			p.section = ""
		}
		if p.reason == Full {
			p.reason, p.detail = "", ""
		}
		if p.reason != "" || p == w.home {
			continue
		}
		switch {
		case !w.known(p):
			w.drop(p, Beyond, "not read, and linked by few")
		case !p.read && !p.inNav && p.segment != "" && size[p.segment] > maxPerSection:
			w.drop(p, Full, p.segment) // which of them to take would be arbitrary
		default:
			w.rate(p)
			pages = append(pages, p)
		}
	}
	if len(pages) == 0 { // a site of one page
		w.rate(w.home)
		w.home.section = otherPages
		pages = append(pages, w.home)
	}
	w.group(pages)
	sections := w.share(pages)
	return w.cap(sections)
}

// known reports whether enough is known about a page that was not read to list
// it: the first page or two others link to it, or a sitemap names it. Where
// most links lead to no page, none is believed.
func (w *work) known(p *page) bool {
	if unreliable := w.tried > 5 && (w.read-1)*2 < w.tried; unreliable && p.checked == "no" {
		return p.read
	}
	return p.read || p.linkText != "" && (p.from[w.home.key] || len(p.from) > 1) || p.inSitemap && !w.soft()
}

func (w *work) soft() bool { return w.missing != nil && w.missing.soft }

// share gives each section its part of the places.
func (w *work) share(pages []*page) []section {
	var sections []section
	var rest, last []*page
	at := map[string]int{}
	for _, p := range pages {
		if p.section == optional {
			last = append(last, p)
			continue
		}
		i, ok := at[p.section]
		if !ok {
			i = len(sections)
			at[p.section] = i
			sections = append(sections, section{name: p.section})
		}
		sections[i].pages = append(sections[i].pages, p)
	}
	for i := range sections {
		w.order(&sections[i])
	}
	slices.SortStableFunc(sections, func(a, b section) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(weight(b), weight(a)), strings.Compare(a.name, b.name))
	})
	if len(sections) > maxSections {
		for _, s := range sections[maxSections:] {
			rest = append(rest, s.pages...)
		}
		sections = sections[:maxSections]
	}
	for i := range sections {
		s := &sections[i]
		if len(s.pages) <= maxPerSection {
			continue
		}
		over := s.pages[maxPerSection:]
		s.pages = s.pages[:maxPerSection]
		for _, p := range over {
			if len(s.pages)+len(over) <= 2*maxPerSection && p.read { // little more than fits
				rest = append(rest, p)
			} else {
				w.drop(p, Full, s.name)
			}
		}
	}
	slices.SortStableFunc(last, byScore)
	slices.SortStableFunc(rest, byScore)
	last = append(last, rest...)
	if len(last) > maxOptional {
		for _, p := range last[maxOptional:] {
			w.drop(p, Full, optional)
		}
		last = last[:maxOptional]
	}
	if len(last) > 0 {
		sections = append(sections, section{name: optional, pages: last})
	}
	return sections
}

// rank puts sections in other languages behind those of the site's own, and
// pages about the company behind what it offers.
func rank(s section) int {
	switch {
	case isLanguage(s.name):
		return 2
	case s.name == aboutSection:
		return 1
	}
	return 0
}

// weight is the sum of the scores of the pages that a section would show.
func weight(s section) float64 {
	sum := 0.0
	for _, p := range s.pages[:min(len(s.pages), maxPerSection)] {
		sum += p.score
	}
	return sum
}

// order puts the page of the folder first, then the best.
func (w *work) order(s *section) {
	slices.SortStableFunc(s.pages, func(a, b *page) int {
		return cmp.Or(w.front(b, s)-w.front(a, s), byScore(a, b))
	})
}

// front is 1 for the first page of a section's folder.
func (w *work) front(p *page, s *section) int {
	if s.name == otherPages || s.name == aboutSection {
		return 0
	}
	path := strings.Trim(strings.TrimPrefix(p.url.Path, w.folder), "/")
	if path == "" || strings.Contains(path, "/") {
		return 0
	}
	for _, q := range s.pages {
		if q.segment != path && q != p {
			return 0
		}
	}
	return 1
}

// cap keeps to the number of links: the least of the last sections go first.
func (w *work) cap(sections []section) []section {
	total := 0
	for _, s := range sections {
		total += len(s.pages)
	}
	for i := len(sections) - 1; i >= 0 && total > llmstxt.MaxLinks; i-- {
		s := &sections[i]
		for len(s.pages) > 1 && total > llmstxt.MaxLinks {
			w.drop(s.pages[len(s.pages)-1], Full, s.name)
			s.pages = s.pages[:len(s.pages)-1]
			total--
		}
	}
	return sections
}

func flat(sections []section) []*page {
	var all []*page
	for _, s := range sections {
		all = append(all, s.pages...)
	}
	return all
}
