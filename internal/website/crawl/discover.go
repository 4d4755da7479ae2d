package crawl

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Candidate is an address of the website that may be worth reading.
type Candidate struct {
	URL       *url.URL
	Entry     Entry // of the sitemap; zero: it names no such address
	InSitemap bool
	Nav       int    // place in the navigation of the first page, from 1; 0: not there
	Footer    bool   // linked in the footer of the first page
	Links     int    // links to it on the first page
	Text      string // of the first such link
	Cluster   string // first segment of the path, below the folder that was asked for
}

// maxCandidates bounds the addresses that are weighed.
const maxCandidates = MaxSitemapURLs

// Candidates returns the addresses that the sitemaps and the first page name:
// of this host, without what is no page by its name, each once. Sitemaps are
// read the first time.
func (s *Site) Candidates(ctx context.Context) ([]*Candidate, error) {
	if s.collected {
		return s.candidates, nil
	}
	if err := s.readSitemaps(ctx); err != nil {
		return nil, err
	}
	s.collected = true
	byKey := map[string]*Candidate{}
	add := func(u *url.URL) *Candidate {
		key := candidateKey(u)
		c := byKey[key]
		if c == nil && len(s.candidates) < maxCandidates {
			c = &Candidate{URL: u}
			byKey[key] = c
			s.candidates = append(s.candidates, c)
		}
		return c
	}
	for _, m := range s.Sitemaps {
		for _, e := range m.Entries {
			u, err := s.Origin.Parse(e.URL)
			if err != nil || !s.own(u) || !pageName(u) {
				continue
			}
			u.Fragment, u.RawFragment = "", ""
			if c := add(u); c != nil && !c.InSitemap {
				c.InSitemap, c.Entry = true, e
			}
		}
	}
	s.addLinks(add)
	cluster(s.candidates, s.folder())
	return s.candidates, nil
}

func (s *Site) addLinks(add func(*url.URL) *Candidate) {
	if s.Home == nil || s.Home.Document == nil {
		return
	}
	nav := 0
	for _, l := range s.Home.Document.Links {
		if l.URL == nil || !s.own(l.URL) || !pageName(l.URL) || l.URL.RawQuery != "" {
			continue
		}
		c := add(l.URL)
		if c == nil {
			continue
		}
		c.Links++
		if c.Text == "" {
			c.Text = l.Text
		}
		if (l.Part == InNav || l.Part == InHeader) && c.Nav == 0 {
			nav++
			c.Nav = nav
		}
		c.Footer = c.Footer || l.Part == InFooter
	}
}

// own reports whether an address is on the host that is crawled.
func (s *Site) own(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && strings.EqualFold(u.Host, s.Origin.Host)
}

// candidateKey takes /about and /about/ for one address.
func candidateKey(u *url.URL) string {
	p := strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

// pageName leaves out files that are no page by their name.
func pageName(u *url.URL) bool {
	switch ext := strings.ToLower(path.Ext(u.Path)); ext {
	case ".pdf", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg", ".ico", ".zip", ".gz", ".tar", ".mp3",
		".mp4", ".webm", ".css", ".js", ".mjs", ".json",
		".xml", ".rss", ".atom", ".txt", ".md", ".woff2", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".csv",
		".epub", ".dmg", ".exe", ".apk":
		return false
	}
	return true
}

// folder is the path of the first page if that is a folder, such as /shop/ of a
// website that is there; "/" otherwise.
func (s *Site) folder() string {
	if s.Home != nil && strings.HasSuffix(s.Home.URL.Path, "/") {
		return s.Home.URL.Path
	}
	return "/"
}

// cluster names the cluster of each candidate: the first segment of its path
// below the folder.
func cluster(all []*Candidate, folder string) {
	for _, c := range all {
		below, ok := strings.CutPrefix(c.URL.Path, folder)
		if !ok {
			below = strings.TrimPrefix(c.URL.Path, "/")
		}
		segment, _, _ := strings.Cut(below, "/")
		c.Cluster = segment
	}
}

// readSitemaps reads the files that robots.txt names, or /sitemap.xml, and those
// that indexes name.
func (s *Site) readSitemaps(ctx context.Context) error {
	type place struct {
		url   string
		named bool
	}
	var queue []place
	if s.Robots != nil {
		for _, l := range s.Robots.Sitemaps {
			if u, err := s.Origin.Parse(l.Value); err == nil {
				queue = append(queue, place{u.String(), true})
			}
		}
	}
	if len(queue) == 0 && s.Excluded == nil {
		queue = append(queue, place{s.Origin.JoinPath("sitemap.xml").String(), false})
	}
	seen := map[string]bool{}
	left := MaxSitemapURLs
	for len(queue) > 0 && len(s.Sitemaps) < MaxSitemaps {
		at := queue[0]
		queue = queue[1:]
		if seen[at.url] {
			continue
		}
		seen[at.url] = true
		m, err := s.readSitemap(ctx, at.url, left)
		if err != nil {
			return err
		}
		m.Named = at.named
		left -= len(m.Entries)
		s.Sitemaps = append(s.Sitemaps, m)
		for _, more := range m.More {
			if u, err := s.Origin.Parse(more); err == nil && SameDomain(u, s.Origin) {
				queue = append(queue, place{u.String(), true})
			}
		}
	}
	return nil
}

func (s *Site) readSitemap(ctx context.Context, address string, limit int) (*Sitemap, error) {
	// A sitemap that robots.txt names may be read, whatever its rules say of the
	// rest: that is how a website excludes all and still shows what there is.
	res, err := s.follow(ctx, Request{URL: address, Accept: "application/xml, text/xml;q=0.9, */*;q=0.1"}, forRobots)
	if err != nil {
		return nil, err
	}
	m := &Sitemap{}
	if res.OK() {
		m = ParseSitemap(res.Body, limit)
		if res.Truncated {
			m.Cut, m.Fault = true, ""
		}
	}
	m.URL, m.Response = address, res
	return m, nil
}

// perCluster is how many pages of one cluster are read.
const perCluster = 3

// Sample reads the first page and up to n pages in all: of each cluster the one
// that is linked most prominently, the newest and the oldest. Zero n is
// DefaultPages, more than MaxPages is MaxPages. The pages come in the order in
// which they were chosen; those that robots.txt keeps us from are among them,
// with their Failure, and cost no request.
func (s *Site) Sample(ctx context.Context, n int, progress Progress) ([]*Page, error) {
	n = min(cmp.Or(max(n, 0), DefaultPages), MaxPages)
	if progress == nil {
		progress = func(string, int, int) {}
	}
	progress("sitemap", 0, 0)
	candidates, err := s.Candidates(ctx)
	if err != nil || s.Home == nil {
		return nil, err
	}
	chosen := choose(s.withoutHome(candidates), n-1)
	pages := []*Page{s.Home}
	silent := 0
	for i, c := range chosen {
		progress("pages", i+1, len(chosen)+1)
		if silent >= 3 {
			break // it has stopped responding
		}
		p, err := s.Get(ctx, c.URL.String())
		if err != nil {
			return nil, err
		}
		if p.Failure == OutOfBudget || p.Failure == AskedToWait {
			break
		}
		p.Cluster, p.LastMod = c.Cluster, c.Entry.LastMod
		if p.Failure == TimedOut || p.Failure == Unreachable || p.Failure == BadAnswer {
			silent++
		} else {
			silent = 0
		}
		if !slices.Contains(pages, p) && !s.repeats(pages, p) {
			pages = append(pages, p)
		}
	}
	progress("pages", len(pages), len(pages))
	return pages, nil
}

// repeats reports whether redirects led to a page that is there already.
func (s *Site) repeats(pages []*Page, p *Page) bool {
	return len(p.Response.Chain) > 0 && slices.ContainsFunc(pages,
		func(q *Page) bool { return q.URL.String() == p.URL.String() })
}

func (s *Site) withoutHome(all []*Candidate) []*Candidate {
	home := candidateKey(s.Home.URL)
	var rest []*Candidate
	for _, c := range all {
		if candidateKey(c.URL) == home {
			s.Home.LastMod = cmp.Or(s.Home.LastMod, c.Entry.LastMod)
			continue
		}
		rest = append(rest, c)
	}
	return rest
}

// choose picks up to n candidates: clusters take turns, those of the navigation
// first, then the larger ones.
func choose(all []*Candidate, n int) []*Candidate {
	members := map[string][]*Candidate{}
	var names []string
	for _, c := range all {
		if len(members[c.Cluster]) == 0 {
			names = append(names, c.Cluster)
		}
		members[c.Cluster] = append(members[c.Cluster], c)
	}
	for name, m := range members {
		members[name] = rank(m)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := members[a], members[b]
		return cmp.Or(prominence(x)-prominence(y), min(len(y), 2)-min(len(x), 2), newest(y).Compare(newest(x)),
			strings.Compare(a, b))
	})
	var chosen []*Candidate
	for turn := range perCluster {
		for _, name := range names {
			if turn < len(members[name]) && len(chosen) < n {
				chosen = append(chosen, members[name][turn])
			}
		}
	}
	return chosen
}

// prominence is the first place that a cluster has in the navigation; clusters
// of the footer come after those, and the rest last.
func prominence(m []*Candidate) int {
	const footer, nowhere = 1 << 20, 1 << 21
	best := nowhere
	for _, c := range m {
		switch {
		case c.Nav > 0:
			best = min(best, c.Nav)
		case c.Footer:
			best = min(best, footer)
		case c.Links > 0:
			best = min(best, footer+1)
		}
	}
	return best
}

func newest(m []*Candidate) time.Time {
	var t time.Time
	for _, c := range m {
		if c.Entry.Time.After(t) {
			t = c.Entry.Time
		}
	}
	return t
}

// rank puts the pages to read first: the most prominent or shortest, then the
// newest and the oldest by the sitemap's word.
func rank(m []*Candidate) []*Candidate {
	sorted := slices.Clone(m)
	slices.SortStableFunc(sorted, func(a, b *Candidate) int {
		return cmp.Or(prominence([]*Candidate{a})-prominence([]*Candidate{b}),
			strings.Count(a.URL.Path, "/")-strings.Count(b.URL.Path, "/"), len(a.URL.Path)-len(b.URL.Path),
			strings.Compare(a.URL.Path, b.URL.Path))
	})
	if len(sorted) <= perCluster {
		return sorted
	}
	first, rest := sorted[0], sorted[1:]
	old, young := rest[len(rest)-1], rest[0]
	var dated []*Candidate
	for _, c := range rest {
		if !c.Entry.Time.IsZero() {
			dated = append(dated, c)
		}
	}
	if len(dated) > 1 {
		byTime := func(a, b *Candidate) int { return a.Entry.Time.Compare(b.Entry.Time) }
		old, young = slices.MinFunc(dated, byTime), slices.MaxFunc(dated, byTime)
	}
	if old == young {
		old = rest[len(rest)-1]
		if old == young {
			old = rest[0]
		}
	}
	return []*Candidate{first, young, old}
}
