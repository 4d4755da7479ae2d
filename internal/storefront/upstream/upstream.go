// Package upstream is a source of pages that reads an existing website.
//
//	List: robots.txt -> Sitemap lines, or /sitemap.xml
//	        -> sitemaps and indexes, asked again with their validators
//	        -> none: the first page and the links on it
//	Read: listed? -> cache, younger than PageAge -> fetch with validators
//	        304 keeps the page, 200 becomes Markdown, 404 is page_not_found
//	        the website is unavailable: the last copy, for a day
//
// Only pages that the website lists are fetched, so that callers cannot make
// the store ask for others. All calls go through the client that New is given,
// which is the egress guard's.
package upstream

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/htmltext"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/site"
)

// Options are the parts of a Site that have defaults.
type Options struct {
	SitemapAge time.Duration // how old the listing may be; 0: ten minutes
	PageAge    time.Duration // how old a page may be before it is asked for again; 0: five minutes
	StaleAge   time.Duration // how long a page outlives a website that is unavailable; 0: a day
	CacheBytes int64         // 0: 64 MiB
	// LoopName names this store in the CDN-Loop header (RFC 8586) of its calls.
	LoopName string
}

// maxFetches is how many calls the website gets at the same time.
const maxFetches = 4

// Site is one website. It is safe for concurrent use.
type Site struct {
	origin *url.URL
	client *http.Client
	log    *slog.Logger
	o      Options
	slots  chan struct{}
	flight singleflight.Group

	listing  sync.Mutex // held while sitemaps are read
	files    map[string]*sitemap
	listedAt time.Time
	entries  []site.Entry

	mu        sync.Mutex
	addresses map[string]string // of pages, by path
	cache     *cache
}

// New returns the pages of the website at origin, a URL without a path.
func New(origin *url.URL, client *http.Client, log *slog.Logger, o *Options) *Site {
	if o == nil {
		o = new(Options)
	}
	options := Options{
		SitemapAge: cmp.Or(o.SitemapAge, 10*time.Minute), PageAge: cmp.Or(o.PageAge, 5*time.Minute),
		StaleAge:   cmp.Or(o.StaleAge, 24*time.Hour),
		CacheBytes: cmp.Or(o.CacheBytes, 64<<20), LoopName: cmp.Or(o.LoopName, "ace"),
	}
	return &Site{
		origin: &url.URL{Scheme: origin.Scheme, Host: origin.Host, Path: "/"}, client: client, log: log, o: options,
		slots: make(chan struct{}, maxFetches), files: map[string]*sitemap{}, addresses: map[string]string{},
		cache: newCache(options.CacheBytes),
	}
}

// Read returns a page of the listing. It returns page_not_found (NotFound),
// page_private (Forbidden) where the website asks for credentials,
// page_not_text (UnsupportedMedia), page_too_large (Unprocessable) and
// site_unreachable (Unavailable).
func (s *Site) Read(ctx context.Context, at string) (*site.Page, error) {
	s.mu.Lock()
	address, ok := s.addresses[at]
	old := s.cache.get(at)
	s.mu.Unlock()
	if !ok {
		return nil, notFound()
	}
	if old != nil && time.Since(old.checked) < s.o.PageAge {
		return old.page, nil
	}
	// The fetch outlives a caller who leaves: the next one wants it too.
	result := s.flight.DoChan(at, func() (any, error) { return s.renew(context.WithoutCancel(ctx), at, address, old) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*cached).page, nil
	}
}

// renew asks the website for a page, and returns the copy from before where
// that is still good or the website is unavailable.
func (s *Site) renew(ctx context.Context, at, address string, old *cached) (*cached, error) {
	s.mu.Lock()
	now := s.cache.get(at)
	s.mu.Unlock()
	if now != nil && now != old {
		return now, nil // renewed since the caller looked
	}
	fresh, err := s.fetchPage(ctx, at, address, old)
	p, known := problem.From(err)
	switch {
	case err == nil:
		s.mu.Lock()
		s.cache.put(at, fresh)
		s.mu.Unlock()
		return fresh, nil
	case known && !p.Kind.Temporary():
		s.mu.Lock()
		s.cache.drop(at)
		s.mu.Unlock()
	case old != nil && time.Since(old.confirmed) < s.o.StaleAge:
		s.log.WarnContext(ctx, "showing the last copy of a page", "path", at, "error", egress.Cause(err))
		stale := *old
		stale.checked = time.Now() // spare a website that is unavailable
		s.mu.Lock()
		s.cache.put(at, &stale)
		s.mu.Unlock()
		return &stale, nil
	}
	return nil, err
}

func (s *Site) fetchPage(ctx context.Context, at, address string, old *cached) (*cached, error) {
	var known validators
	if old != nil {
		known = old.validators
	}
	res, err := s.get(ctx, address, "text/html, application/xhtml+xml;q=0.9, text/markdown;q=0.8, text/plain;q=0.5",
		known)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or not wanted
	switch res.StatusCode {
	case http.StatusNotModified:
		if old != nil {
			same := *old
			same.checked, same.confirmed = time.Now(), time.Now()
			return &same, nil
		}
	case http.StatusOK:
		page, err := s.convert(at, res)
		if err != nil {
			return nil, err
		}
		return newCached(page, res.Header), nil
	case http.StatusNotFound, http.StatusGone:
		return nil, notFound()
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, problem.New(problem.Forbidden, "page_private",
			"The website shows this page only to people who sign in.")
	}
	return nil, unreachable()
}

// get calls the website, a few times at once at most.
func (s *Site) get(ctx context.Context, address, accept string, known validators) (*http.Response, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("calling the website: %w", err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("CDN-Loop", s.o.LoopName)
	known.set(req.Header)
	res, err := s.client.Do(req)
	if err != nil {
		s.log.WarnContext(ctx, "calling the website", "path", req.URL.Path, "error", egress.Cause(err))
		return nil, unreachable()
	}
	return res, nil
}

// maxPage is the largest page that is read.
const maxPage = 4 << 20

func (s *Site) convert(at string, res *http.Response) (*site.Page, error) {
	page := &site.Page{Entry: site.Entry{Path: at}, Canonical: res.Request.URL.String()}
	if t, err := http.ParseTime(res.Header.Get("Last-Modified")); err == nil && t.Before(time.Now()) {
		page.Modified = t
	}
	kind := strings.ToLower(strings.TrimSpace(strings.Split(res.Header.Get("Content-Type"), ";")[0]))
	switch kind {
	case "text/html", "application/xhtml+xml":
		return page, s.convertHTML(page, res)
	case "text/markdown", "text/plain":
		text, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
		if err != nil {
			return nil, unreachable()
		}
		if len(text) > maxPage {
			return nil, tooLarge()
		}
		return page, page.SetText(strings.ToValidUTF8(string(text), "\ufffd"), res.Request.URL)
	}
	return nil, problem.New(problem.UnsupportedMedia, "page_not_text",
		"This address holds no page of text. Download it from "+page.Canonical+".")
}

func (s *Site) convertHTML(page *site.Page, res *http.Response) error {
	d, err := htmltext.Parse(res.Body, res.Request.URL,
		&htmltext.Options{MaxBytes: maxPage, ContentType: res.Header.Get("Content-Type")})
	switch {
	case err == htmltext.ErrTooLarge || err == htmltext.ErrTooDeep: //nolint:errorlint // Parse returns them unwrapped
		return tooLarge()
	case err != nil:
		return unreachable()
	}
	page.Title, page.Description, page.Lang = d.Title, d.Description, d.Lang
	if d.Canonical != nil && s.own(d.Canonical) {
		page.Canonical = d.Canonical.String()
	}
	return page.SetText(d.Markdown(), res.Request.URL)
}

// own reports whether an address belongs to the website, with www or without.
func (s *Site) own(u *url.URL) bool {
	bare := func(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }
	return (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && bare(u) == bare(s.origin)
}

// page returns the path under which the store shows a URL of the website; ok is
// false for what it cannot show: other sites, URLs that differ in their query
// only, and files that are no text.
func (s *Site) page(u *url.URL) (at string, ok bool) {
	if !s.own(u) || u.RawQuery != "" {
		return "", false
	}
	at, err := site.CleanPath(u.EscapedPath())
	return at, err == nil && !slices.Contains([]string{
		".pdf", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".ico", ".zip", ".gz", ".mp3", ".mp4", ".webm",
		".css", ".js", ".json", ".xml", ".woff2",
		".docx", ".xlsx", ".pptx",
	}, strings.ToLower(path.Ext(at)))
}

func notFound() error {
	return problem.New(problem.NotFound, "page_not_found",
		"There is no such page. Find pages with /agent/search, or read /sitemap.xml.")
}

func unreachable() error {
	return problem.New(problem.Unavailable, "site_unreachable",
		"The website that holds this page does not answer right now. Try again in a minute.").After(time.Minute)
}

func tooLarge() error {
	return problem.New(problem.Unprocessable, "page_too_large",
		"This page is too large or nested too deep to be read here. Fetch it from the website itself.")
}
