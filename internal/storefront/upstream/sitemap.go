package upstream

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"ace/internal/foundation/htmltext"
	"ace/internal/storefront/site"
)

// Limits of the sitemaps of one website.
const (
	maxSitemaps = 60
	maxURLs     = 200_000
	maxSitemap  = 64 << 20 // bytes of one file, unpacked
)

// sitemap is one file as it was read last.
type sitemap struct {
	validators validators
	pages      []listed
	more       []string // sitemaps that it names
}

// listed is one address of a sitemap.
type listed struct {
	address  string
	modified time.Time // zero: not stated, or not to be believed
}

// List returns the pages of the website, asking for its sitemaps again when
// they are older than Options.SitemapAge. A file that cannot be read counts as
// it was before; without any file, the links of the first page are in.
func (s *Site) List(ctx context.Context) ([]site.Entry, error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	if s.entries != nil && time.Since(s.listedAt) < s.o.SitemapAge {
		return s.entries, nil
	}
	all, err := s.collect(ctx)
	if err != nil {
		return nil, err
	}
	home := s.origin.String()
	addresses := map[string]string{"/": home}
	entries := []site.Entry{{Path: "/"}}
	for _, l := range all {
		u, err := url.Parse(l.address)
		if err != nil {
			continue
		}
		at, ok := s.page(u)
		if !ok {
			continue
		}
		if at == "/" {
			entries[0].Modified = l.modified
			continue
		}
		if _, twice := addresses[at]; !twice {
			u.Fragment = ""
			addresses[at] = u.String()
			entries = append(entries, site.Entry{Path: at, Modified: l.modified})
		}
	}
	s.mu.Lock()
	s.addresses = addresses
	s.mu.Unlock()
	s.entries, s.listedAt = entries, time.Now()
	return entries, nil
}

// collect reads all sitemaps, following indexes.
func (s *Site) collect(ctx context.Context) ([]listed, error) {
	queue, err := s.entrances(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string]*sitemap{}
	var all []listed
	for len(queue) > 0 && len(files) < maxSitemaps && len(all) < maxURLs {
		address := queue[0]
		queue = queue[1:]
		if _, twice := files[address]; twice {
			continue
		}
		file, err := s.sitemap(ctx, address)
		if err != nil {
			s.log.WarnContext(ctx, "reading a sitemap", "address", address, "error", err)
			if file = s.files[address]; file == nil {
				continue
			}
		}
		files[address] = file
		all = append(all, file.pages[:min(len(file.pages), maxURLs-len(all))]...)
		queue = append(queue, file.more...)
	}
	s.files = files
	if len(all) == 0 {
		return s.linked(ctx)
	}
	return all, nil
}

// entrances are the sitemaps that robots.txt names, or the usual place.
func (s *Site) entrances(ctx context.Context) ([]string, error) {
	res, err := s.get(ctx, s.origin.JoinPath("robots.txt").String(), "text/plain", validators{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // a bounded part is all that is wanted
	var found []string
	if res.StatusCode == http.StatusOK {
		lines := bufio.NewScanner(io.LimitReader(res.Body, 512<<10))
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ":")
			if !strings.EqualFold(strings.TrimSpace(name), "sitemap") {
				continue
			}
			if u, err := s.origin.Parse(strings.TrimSpace(value)); err == nil && s.own(u) {
				found = append(found, u.String())
			}
		}
	}
	if len(found) == 0 {
		found = []string{s.origin.JoinPath("sitemap.xml").String()}
	}
	return found, nil
}

// sitemap reads one file, or returns it as it was if it did not change.
func (s *Site) sitemap(ctx context.Context, address string) (*sitemap, error) {
	old := s.files[address]
	var known validators
	if old != nil {
		known = old.validators
	}
	res, err := s.get(ctx, address, "application/xml, text/xml;q=0.9, */*;q=0.1", known)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read as far as it is wanted
	switch {
	case res.StatusCode == http.StatusNotModified && old != nil:
		return old, nil
	case res.StatusCode == http.StatusNotFound:
		return &sitemap{}, nil
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the website answered status %d", res.StatusCode)
	}
	file, err := parseSitemap(res.Body, time.Now())
	if err != nil {
		return nil, err
	}
	file.validators = validatorsOf(res.Header)
	more := file.more[:0]
	for _, address := range file.more {
		if u, err := s.origin.Parse(address); err == nil && s.own(u) {
			more = append(more, u.String())
		}
	}
	file.more = more
	return file, nil
}

// parseSitemap reads a urlset or a sitemapindex of sitemaps.org 0.9, packed by
// gzip or not. Times after now are not believed.
func parseSitemap(r io.Reader, now time.Time) (*sitemap, error) {
	plain, err := unpacked(r)
	if err != nil {
		return nil, err
	}
	decoder := xml.NewDecoder(io.LimitReader(plain, maxSitemap))
	decoder.CharsetReader = charset.NewReaderLabel
	decoder.Strict = false
	file := &sitemap{}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return file, nil
		}
		if err != nil {
			return file.salvage(fmt.Errorf("reading a sitemap: %w", err))
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "url" && start.Name.Local != "sitemap" {
			continue
		}
		var item struct {
			Loc     string `xml:"loc"`
			Lastmod string `xml:"lastmod"`
		}
		if err := decoder.DecodeElement(&item, &start); err != nil {
			return file.salvage(fmt.Errorf("reading a sitemap: %w", err))
		}
		file.add(start.Name.Local, strings.TrimSpace(item.Loc), lastmod(item.Lastmod, now))
		if len(file.pages) > maxURLs || len(file.more) > maxSitemaps {
			return file, nil
		}
	}
}

func (f *sitemap) add(kind, address string, modified time.Time) {
	switch {
	case address == "" || len(address) >= 2048:
	case kind == "sitemap":
		f.more = append(f.more, address)
	default:
		f.pages = append(f.pages, listed{address, modified})
	}
}

// salvage keeps what a broken file held before its fault.
func (f *sitemap) salvage(err error) (*sitemap, error) {
	if len(f.pages)+len(f.more) > 0 {
		return f, nil
	}
	return nil, err
}

func unpacked(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading a sitemap: %w", err)
	}
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("unpacking a sitemap: %w", err)
	}
	return unzipped, nil
}

// lastmod reads a time of the W3C format.
func lastmod(text string, now time.Time) time.Time {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, text); err == nil && t.Before(now.Add(24*time.Hour)) && t.Year() > 1990 {
			return t
		}
	}
	return time.Time{}
}

// linked returns the first page's links, for a website without a sitemap.
func (s *Site) linked(ctx context.Context) ([]listed, error) {
	res, err := s.get(ctx, s.origin.String(), "text/html", validators{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // read to its end or not wanted
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the first page of the website answered status %d", res.StatusCode)
	}
	d, err := htmltext.Parse(res.Body, res.Request.URL,
		&htmltext.Options{MaxBytes: maxPage, ContentType: res.Header.Get("Content-Type")})
	if err != nil {
		return nil, fmt.Errorf("reading the first page of the website: %w", err)
	}
	var all []listed
	for _, u := range d.Links() {
		all = append(all, listed{address: u.String()})
	}
	return all, nil
}
