package sitehttp

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/answer"
)

// sitemapURLs is how many addresses one file of the sitemap holds at most
// (sitemaps.org 0.9).
const sitemapURLs = 50_000

const (
	sitemapHead  = xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
	sitemapIndex = xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
)

// writeSitemap writes all pages, or the index of the parts where one file
// cannot hold them.
func (f *Handler) writeSitemap(w http.ResponseWriter, r *http.Request) {
	snapshot := f.Pages.Snapshot()
	switch {
	case len(snapshot.Entries) <= storedURLs:
		d, err := f.sitemap.Get(snapshot, func() (*answer.Document, error) { return f.sitemapDocument(snapshot) })
		if err != nil {
			httpserver.WriteProblem(w, r, err)
			return
		}
		d.Write(w, r)
		return
	case len(snapshot.Entries) <= sitemapURLs:
		f.streamSitemap(w, r, snapshot, snapshot.Entries, "all")
		return
	}
	if !sitemapHeaders(w, r, snapshot, "index") {
		return
	}
	out := bufio.NewWriter(w)
	_, _ = out.WriteString(sitemapIndex)
	for part := 0; part*sitemapURLs < len(snapshot.Entries); part++ {
		entries := sitemapPart(snapshot, part)
		_, _ = fmt.Fprintf(out, "<sitemap><loc>%s/sitemaps/pages-%04d.xml</loc>%s</sitemap>\n",
			escapeXML(f.Site.BaseURL), part+1, lastmodXML(newest(entries)))
	}
	_, _ = out.WriteString("</sitemapindex>\n")
	_ = out.Flush() // the client has gone if this fails
}

// writeSitemapPart writes one file that the index names.
func (f *Handler) writeSitemapPart(w http.ResponseWriter, r *http.Request) {
	snapshot := f.Pages.Snapshot()
	var part int
	name := r.PathValue("part")
	_, err := fmt.Sscanf(name, "pages-%04d.xml", &part)
	if err != nil || name != fmt.Sprintf("pages-%04d.xml", part) || part < 1 ||
		(part-1)*sitemapURLs >= len(snapshot.Entries) {
		httpserver.WriteProblem(w,
			r, problem.New(problem.NotFound, "sitemap_not_found",
				"There is no such part of the sitemap. /sitemap.xml names the parts."))
		return
	}
	f.streamSitemap(w, r, snapshot, sitemapPart(snapshot, part-1), name)
}

func sitemapPart(s *site.Snapshot, part int) []site.Entry {
	return s.Entries[part*sitemapURLs : min(len(s.Entries), (part+1)*sitemapURLs)]
}

// sitemapHeaders writes the head of the response and reports whether a body is
// wanted.
func sitemapHeaders(w http.ResponseWriter, r *http.Request, snapshot *site.Snapshot, part string) bool {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", pageMaxAge))
	h.Set("ETag", answer.ETag([]byte(snapshot.Version+part)))
	if !snapshot.Modified.IsZero() {
		h.Set("Last-Modified", snapshot.Modified.UTC().Format(http.TimeFormat))
	}
	if answer.Matches(r.Header.Get("If-None-Match"), h.Get("ETag")) {
		w.WriteHeader(http.StatusNotModified)
		return false
	}
	h.Set("Content-Type", typeXML)
	return r.Method != http.MethodHead
}

// storedURLs is up to how many addresses the sitemap is stored as it is sent.
// Larger ones are written again for each request, without a copy in memory.
const storedURLs = 1000

func (f *Handler) sitemapDocument(snapshot *site.Snapshot) (*answer.Document, error) {
	var body bytes.Buffer
	f.writeEntries(&body, snapshot.Entries)
	h := http.Header{"Access-Control-Allow-Origin": {"*"}, "X-Content-Type-Options": {"nosniff"}}
	if !snapshot.Modified.IsZero() {
		h.Set("Last-Modified", snapshot.Modified.UTC().Format(http.TimeFormat))
	}
	return answer.NewDocument(typeXML, body.Bytes(), &answer.Options{
		MaxAge: pageMaxAge, Basis: []byte(snapshot.Version), Header: h,
	})
}

// streamSitemap writes the entries as they are, without a copy of the file
// in memory.
func (f *Handler) streamSitemap(w http.ResponseWriter, r *http.Request, snapshot *site.Snapshot, entries []site.Entry,
	part string,
) {
	if !sitemapHeaders(w, r, snapshot, part) {
		return
	}
	out := bufio.NewWriterSize(w, 32<<10)
	f.writeEntries(out, entries)
	_ = out.Flush() // the client has gone if this fails
}

func (f *Handler) writeEntries(out io.Writer, entries []site.Entry) {
	base := escapeXML(f.Site.BaseURL)
	_, _ = io.WriteString(out, sitemapHead)
	for i := range entries {
		e := &entries[i]
		address := escapeXML(site.EscapePath(e.Path))
		if len(base)+len(address) >= 2048 {
			continue // longer addresses are not allowed in a sitemap
		}
		_, _ = io.WriteString(out, "<url><loc>"+base+address+"</loc>"+lastmodXML(e.Modified)+"</url>\n")
	}
	_, _ = io.WriteString(out, "</urlset>\n")
}

// lastmodXML says when a page changed, or nothing where that is not known.
func lastmodXML(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(24 * time.Hour)):
		return "<lastmod>" + t.UTC().Format(time.DateOnly) + "</lastmod>"
	default:
		return "<lastmod>" + rfc3339(t) + "</lastmod>"
	}
}

func newest(entries []site.Entry) time.Time {
	var t time.Time
	for i := range entries {
		if entries[i].Modified.After(t) {
			t = entries[i].Modified
		}
	}
	return t
}

func escapeXML(s string) string {
	for _, escape := range [][2]string{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {`"`, "&quot;"}, {"'", "&apos;"}} {
		s = strings.ReplaceAll(s, escape[0], escape[1])
	}
	return s
}
