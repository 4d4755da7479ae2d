package crawl

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Page is one URL of the website and its response.
type Page struct {
	Asked    string   // the address that was asked for
	URL      *url.URL // where the redirects ended
	Home     bool     // the page that the caller named
	Cluster  string   // first segment of the path that it was sampled for; empty: none
	LastMod  string   // of the sitemap, as written
	Response *Response
	// Document is the parsed HTML, whatever the status was; nil if there is none
	// to read, and then Failure says why.
	Document *Document
	Failure  Failure
}

// OK reports whether the response is 200 with HTML that could be parsed.
func (p *Page) OK() bool { return p.Document != nil && p.Response.OK() }

// Path is the path and query of the page.
func (p *Page) Path() string { return p.URL.RequestURI() }

// Modified is the time of LastMod, or else of the header Last-Modified; zero:
// neither is there.
func (p *Page) Modified() time.Time {
	if t := ParseTime(p.LastMod); !t.IsZero() {
		return t
	}
	t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", p.Response.Header.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// NewPage reads a response as a page.
func NewPage(res *Response) *Page { return newPage(res.URL, res) }

func newPage(asked string, res *Response) *Page {
	p := &Page{Asked: asked, Response: res, Failure: res.Failure}
	if res.Header == nil {
		res.Header = Header{}
	}
	u, err := url.Parse(res.URL)
	if err != nil {
		u = &url.URL{Path: "/"}
	}
	p.URL = u
	if p.Failure != "" && len(res.Body) == 0 || res.Status == 0 {
		return p
	}
	switch kind := res.MediaType(); kind {
	case "text/html", "application/xhtml+xml", "":
	default:
		if p.Failure == "" {
			p.Failure = NotHTML
		}
		return p
	}
	d, err := ParseDocument(res.Body, res.Header.Get("Content-Type"), u)
	if err != nil {
		if p.Failure == "" {
			p.Failure = TooComplex
		}
		return p
	}
	for _, v := range res.Header["x-robots-tag"] {
		d.Robots = append(d.Robots, headerDirectives(v)...)
	}
	p.Document = d
	return p
}

// refresh returns where a page that says next to nothing sends its visitors by
// a meta element; nil: nowhere.
func (p *Page) refresh() *url.URL {
	if !p.OK() || p.Document.MainWords >= noticeWords {
		return nil
	}
	for _, m := range p.Document.Metas {
		if m.Name != "refresh" {
			continue
		}
		delay, target, ok := strings.Cut(m.Content, ";")
		seconds, err := strconv.ParseFloat(strings.TrimSpace(delay), 64)
		name, address, named := strings.Cut(target, "=")
		if !ok || err != nil || seconds > 5 || !named || !strings.EqualFold(strings.TrimSpace(name), "url") {
			continue
		}
		if u := p.Document.Resolve(
			strings.Trim(strings.TrimSpace(address), `'"`),
		); u != nil &&
			u.String() != p.URL.String() {
			return u
		}
	}
	return nil
}
