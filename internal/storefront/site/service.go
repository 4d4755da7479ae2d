package site

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/markdown"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/textindex"
	"ace/internal/storefront/offer"
)

// Options are the parts of a Service that have defaults.
type Options struct {
	// Hosts are further addresses whose pages are these pages: the website that
	// they come from.
	Hosts []string
	// Offers, if set, are pages of their own and fill the pages that list them.
	// They come before all other sources.
	Offers *Offers
	// RefreshEvery is how often the sources are asked for their listing. 0: a
	// minute.
	RefreshEvery time.Duration
}

// Service serves the pages of the store. It is safe for concurrent use.
type Service struct {
	base    *url.URL
	hosts   []string
	sources []Source
	offers  *Offers
	every   time.Duration
	log     *slog.Logger

	refreshing sync.Mutex // one round at a time
	listing    sync.Mutex // guards lists
	lists      [][]Entry  // last listing of each source
	now        atomic.Pointer[Snapshot]

	finishing sync.Mutex        // guards finished
	finished  map[string]loaded // by path
}

// New returns the pages of sources under the address base. It knows no page
// before Refresh.
func New(base *url.URL, sources []Source, log *slog.Logger, o *Options) *Service {
	if o == nil {
		o = new(Options)
	}
	s := &Service{
		base: base, hosts: append([]string{base.String()}, o.Hosts...), offers: o.Offers, sources: sources,
		every: cmp.Or(o.RefreshEvery, time.Minute), log: log, finished: map[string]loaded{},
	}
	if o.Offers != nil {
		s.sources = append([]Source{o.Offers}, sources...)
	}
	s.lists = make([][]Entry, len(s.sources))
	s.now.Store(newSnapshot(nil))
	return s
}

// Snapshot is the list of pages at one moment. It never changes.
type Snapshot struct {
	// Entries are the public pages; shorter paths first, then newer pages.
	Entries []Entry
	// Version changes when an entry does.
	Version string
	// Modified is the newest time that a page states; zero: none does.
	Modified time.Time
	// Nav and Foot are the menus.
	Nav, Foot []Entry
	byPath    map[string]place
	index     *textindex.Index
}

type place struct {
	source          int
	private, absent bool
	entry           int // of the public ones
}

// Snapshot returns the list of pages.
func (s *Service) Snapshot() *Snapshot { return s.now.Load() }

// Entry returns the public page at a path.
func (s *Snapshot) Entry(path string) (Entry, bool) {
	at, ok := s.byPath[path]
	if !ok || at.private || at.absent {
		return Entry{}, false
	}
	return s.Entries[at.entry], true
}

// Run keeps the list of pages fresh until ctx ends. While a source fails it is
// asked more often.
func (s *Service) Run(ctx context.Context) {
	const hurry = 5 * time.Second
	for {
		wait := s.every
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "listing pages", "error", err)
			wait = min(wait, hurry)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Refresh asks every source for its listing, at the same time: a slow one does
// not hold up the others. The listing of one that fails stays as it was; its
// error is returned.
func (s *Service) Refresh(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	errs := make([]error, len(s.sources))
	var all sync.WaitGroup
	for i, source := range s.sources {
		all.Go(func() {
			list, err := source.List(ctx)
			if err != nil {
				errs[i] = err
				return
			}
			s.setEntries(i, list)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// setEntries swaps in the listing of one source, if it changes what there is.
func (s *Service) setEntries(source int, list []Entry) {
	s.listing.Lock()
	defer s.listing.Unlock()
	s.lists[source] = list
	byPath, entries := merge(s.lists)
	if version := versionOf(entries, byPath); version != s.now.Load().Version {
		next := newSnapshot(entries)
		next.byPath, next.Version = byPath, version
		s.now.Store(next)
	}
}

// merge lets the first source of a path win and sorts the public entries.
func merge(lists [][]Entry) (map[string]place, []Entry) {
	byPath := map[string]place{}
	var public []Entry
	for source, list := range lists {
		for _, e := range list {
			if _, taken := byPath[e.Path]; taken || shut(e.Path) {
				continue
			}
			byPath[e.Path] = place{source: source, private: e.Private, absent: e.Absent}
			if !e.Private && !e.Absent {
				public = append(public, e)
			}
		}
	}
	slices.SortFunc(public, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(utf8.RuneCountInString(a.Path), utf8.RuneCountInString(b.Path)),
			b.Modified.Compare(a.Modified), strings.Compare(a.Path, b.Path))
	})
	for i := range public {
		at := byPath[public[i].Path]
		at.entry = i
		byPath[public[i].Path] = at
	}
	return byPath, public
}

// versionOf identifies a listing.
func versionOf(entries []Entry, byPath map[string]place) string {
	sum := sha256.New()
	for i := range entries {
		e := &entries[i]
		line := []string{
			e.Path, e.Title, e.Description, e.Label, strconv.Itoa(e.Nav), strconv.Itoa(e.Foot),
			strconv.FormatInt(e.Modified.UnixMilli(), 10),
			strconv.Itoa(byPath[e.Path].source),
		}
		for _, part := range line {
			_, _ = sum.Write([]byte(strconv.Itoa(len(part)) + ":" + part)) // a digest takes everything
		}
	}
	_, _ = sum.Write([]byte(strconv.Itoa(len(byPath)))) // private pages come and go unseen otherwise
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12])
}

// How much the words of a path count: those of its last part most.
const (
	weightLast   = 1.0
	weightNear   = 0.7 // the two folders before it
	weightDistal = 0.5
)

func newSnapshot(entries []Entry) *Snapshot {
	s := &Snapshot{Entries: entries, byPath: map[string]place{}}
	s.index = textindex.New(len(entries), func(i int, add textindex.Add) {
		parts := strings.Split(strings.Trim(entries[i].Path, "/"), "/")
		if entries[i].Path == "/" {
			parts = []string{"home"}
		}
		for at, part := range parts {
			switch back := len(parts) - 1 - at; {
			case back == 0:
				add(part, weightLast)
			case back <= 2:
				add(part, weightNear)
			default:
				add(part, weightDistal)
			}
		}
	})
	for i := range entries {
		e := entries[i]
		if e.Modified.After(s.Modified) {
			s.Modified = e.Modified
		}
		if e.Nav > 0 {
			s.Nav = append(s.Nav, e)
		}
		if e.Foot > 0 {
			s.Foot = append(s.Foot, e)
		}
	}
	slices.SortStableFunc(s.Nav, func(a, b Entry) int { return a.Nav - b.Nav })
	slices.SortStableFunc(s.Foot, func(a, b Entry) int { return a.Foot - b.Foot })
	return s
}

// Page returns the page at a path as CleanPath returns it; the twin /x.md and
// the index /x/index stand for /x. It returns page_not_found (NotFound),
// page_private (Forbidden), and what the source of the page returns.
func (s *Service) Page(ctx context.Context, path string) (*Page, error) {
	if shut(path) {
		return nil, private()
	}
	snapshot := s.now.Load()
	for _, p := range spellings(path) {
		if at, ok := snapshot.byPath[p]; ok {
			switch {
			case at.absent:
				return nil, notFound()
			case at.private:
				return nil, private()
			}
			return s.load(ctx, at.source, p)
		}
	}
	if s.offers != nil { // on sale since the last listing
		for _, p := range spellings(path) {
			page, err := s.offers.Read(ctx, p)
			if err == nil || !problem.Is(err, "page_not_found") {
				return page, err
			}
		}
	}
	return nil, notFound()
}

func private() error {
	return problem.New(problem.Forbidden, "page_private",
		"This page is private: it is neither listed nor read here.").At("path")
}

// loaded is a page with what it was made of.
type loaded struct {
	source   *Page           // as its source returned it
	offers   *offer.Snapshot // that it lists; nil: it lists none
	finished *Page
}

// maxLoaded is how many pages are stored with what they list.
const maxLoaded = 1024

// load reads a page and finishes it: its canonical URL, and the offers that it
// lists. It is finished again only when one of them changed.
func (s *Service) load(ctx context.Context, source int, path string) (*Page, error) {
	page, err := s.sources[source].Read(ctx, path)
	if err != nil {
		return nil, err
	}
	if page.Canonical != "" && page.list == "" {
		return page, nil
	}
	var offers *offer.Snapshot
	unavailable := false
	if page.list != "" && s.offers != nil {
		offers, err = s.offers.catalog.Snapshot(ctx)
		p, ok := problem.From(err)
		unavailable = err != nil && ok && p.Kind.Temporary()
		if err != nil && !unavailable {
			return nil, err
		}
	}
	s.finishing.Lock()
	last, ok := s.finished[path]
	s.finishing.Unlock()
	if ok && !unavailable && last.source == page && last.offers == offers {
		return last.finished, nil
	}
	finished := *page
	if finished.Canonical == "" {
		finished.Canonical = s.Address(page.Path)
	}
	if page.list != "" {
		finished.Lists = true
		s.appendOffers(&finished, offers, unavailable)
	}
	if !unavailable {
		s.finishing.Lock()
		defer s.finishing.Unlock()
		if len(s.finished) >= maxLoaded {
			clear(s.finished)
		}
		s.finished[path] = loaded{source: page, offers: offers, finished: &finished}
	}
	return &finished, nil
}

// maxOnFirst is how many offers the first page shows.
const maxOnFirst = 6

// appendOffers appends the offers that a page lists. The page is complete
// without them while the processor is unavailable.
func (s *Service) appendOffers(page *Page, offers *offer.Snapshot, unavailable bool) {
	switch {
	case unavailable:
		page.Markdown += "\nThe offers cannot be read right now. Please look again in a minute.\n"
		return
	case offers == nil:
		return
	}
	all := listedIn(offers, page.list)
	more := page.Path == "/" && len(all) > maxOnFirst
	if more {
		all = all[:maxOnFirst]
	}
	page.Offers = all
	text := offersText(all, s.base)
	if text == "" {
		text = "Nothing is for sale here at the moment.\n"
	}
	if more {
		text += "\n[All products](" + s.Address("/products") + ")\n"
	}
	page.Markdown += "\n" + text
}

// Address is the address of a page.
func (s *Service) Address(path string) string { return s.base.JoinPath(EscapePath(path)).String() }

// whole renders the page with what it lists, for readers who get it as text.
func (p *Page) whole() (string, error) {
	if !p.Lists {
		return p.HTML, nil
	}
	return markdown.HTML(p.Markdown)
}
