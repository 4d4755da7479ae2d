package crawl

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
)

// Limits of the sitemaps of one crawl.
const (
	MaxSitemaps    = 5      // files
	MaxSitemapURLs = 50_000 // of all files together
	MaxSitemapText = 20 << 20
)

// Entry is one page of a sitemap.
type Entry struct {
	URL     string
	LastMod string    // as written
	Time    time.Time // of LastMod; zero: none, or unreadable
}

// Sitemap is one file.
type Sitemap struct {
	URL      string
	Named    bool   // by robots.txt or by an index; else tried at the usual place
	Kind     string // "urlset", "index", "text"; empty: it is no sitemap
	Entries  []Entry
	More     []string // sitemaps that an index names
	Cut      bool     // more than was read
	Fault    string   // of the syntax; what came before it was read
	Response *Response
}

// ParseSitemap reads a sitemap or an index of sitemaps.org 0.9, or a list of
// addresses, packed by gzip or not. It never fails: Kind is empty for what is
// none of these.
func ParseSitemap(data []byte, limit int) *Sitemap {
	s := &Sitemap{}
	plain, err := unpack(data)
	if err != nil {
		s.Fault, s.Cut = "the compression is broken: "+err.Error(), true
	}
	if errors.Is(err, errTooLong) {
		s.Fault = ""
	}
	head := bytes.TrimSpace(bytes.TrimPrefix(plain, []byte("\ufeff")))
	if len(head) > 0 && head[0] != '<' {
		s.readText(string(head), limit)
		return s
	}
	s.readXML(plain, limit)
	return s
}

var errTooLong = errors.New("too long")

func unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, MaxSitemapText+1))
	if len(plain) > MaxSitemapText {
		return plain[:MaxSitemapText], errTooLong
	}
	return plain, err
}

// readText reads one address a line.
func (s *Sitemap) readText(text string, limit int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		u, err := url.Parse(line)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			if line != "" && len(s.Entries) == 0 {
				return // some other text
			}
			continue
		}
		if len(s.Entries) >= limit {
			s.Cut = true
			return
		}
		s.Kind = "text"
		s.Entries = append(s.Entries, Entry{URL: line})
	}
}

func (s *Sitemap) readXML(data []byte, limit int) {
	decoder := xml.NewDecoder(bytes.NewReader(data))
	decoder.CharsetReader = charset.NewReaderLabel
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			s.fail(err)
			return
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "urlset":
			s.Kind = "urlset"
		case "sitemapindex":
			s.Kind = "index"
		case "url", "sitemap":
			if s.Kind == "" {
				return
			}
			if !s.readItem(decoder, start, limit) {
				return
			}
		default:
			if s.Kind == "" { // HTML, a feed, anything else
				return
			}
		}
	}
}

func (s *Sitemap) readItem(decoder *xml.Decoder, start xml.StartElement, limit int) bool {
	var item struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
	}
	if err := decoder.DecodeElement(&item, &start); err != nil {
		s.fail(err)
		return false
	}
	loc := strings.TrimSpace(item.Loc)
	switch {
	case loc == "" || len(loc) >= 2048:
		return true
	case start.Name.Local == "sitemap":
		if len(s.More) >= 1000 {
			s.Cut = true
			return false
		}
		s.More = append(s.More, loc)
		return true
	case len(s.Entries) >= limit:
		s.Cut = true
		return false
	}
	mod := strings.TrimSpace(item.LastMod)
	s.Entries = append(s.Entries, Entry{URL: loc, LastMod: mod, Time: ParseTime(mod)})
	return true
}

func (s *Sitemap) fail(err error) {
	if s.Fault == "" && !s.Cut {
		s.Fault = err.Error()
	}
}

// ParseTime reads a time of the W3C format (YYYY to seconds with a zone), or returns zero.
func ParseTime(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05",
		"2006-01-02 15:04:05", time.DateOnly, "2006-01", "2006",
	} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1990 {
			return t
		}
	}
	return time.Time{}
}
