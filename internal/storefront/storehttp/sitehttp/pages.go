package sitehttp

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/discovery"
)

// How long clients may keep a page, in seconds: one with offers as long as the
// catalog.
const (
	pageMaxAge  = 300
	offerMaxAge = 30
)

// Forms of a page and of its companions.
const (
	typeHTML     = "text/html"
	typeMarkdown = "text/markdown"
	typeJSON     = "application/json"
	typeXML      = "application/xml"

	charset = "; charset=utf-8"
)

// minCompressed is the size from which compressing a failure is worth it, in bytes.
const minCompressed = 1400

// Unrouted serves what no route matched: pages, whose paths are known only while
// the store runs, and everything that does not exist, in the shape that the
// client asked for.
func (f *Handler) Unrouted(w http.ResponseWriter, r *http.Request, err error) {
	f.secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := problem.From(err)
		switch {
		case !ok || p.Code != "not_found" || forPrograms(r.URL.Path):
			f.writeFailure(w, r, err)
		case looped(r):
			f.writeFailure(w, r, problem.New(problem.Unprocessable, "loop_detected",
				"This request comes from this store itself. Serve the website's pages from the website."))
		default:
			f.servePage(w, r)
		}
	})).ServeHTTP(w, r)
}

// looped reports whether the store asks itself for a page, because the website
// that it reads leads back to it (RFC 8586).
func looped(r *http.Request) bool {
	for _, v := range r.Header.Values("CDN-Loop") {
		for name := range strings.SplitSeq(v, ",") {
			if name, _, _ = strings.Cut(strings.TrimSpace(name), ";"); name == "ace" {
				return true
			}
		}
	}
	return false
}

// forPrograms reports whether a path belongs to interfaces, not to pages.
func forPrograms(path string) bool {
	for _, prefix := range []string{"/agent", "/v1", "/mcp", "/.well-known", "/webhooks", "/sitemaps", "/problems"} {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return true
		}
	}
	return false
}

// servePage writes a page, as HTML or as its Markdown twin.
func (f *Handler) servePage(w http.ResponseWriter, r *http.Request) {
	path, err := site.CleanPath(r.URL.EscapedPath())
	if err != nil {
		f.writeFailure(w, r, err)
		return
	}
	page, err := f.Pages.Page(r.Context(), path)
	if err != nil {
		f.writeFailure(w, r, err)
		return
	}
	twin := strings.HasSuffix(path, ".md") && page.Path != path
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		f.writeFailure(w,
			r, problem.New(problem.MethodNotAllowed, "method_not_allowed", "Pages are read with GET or HEAD."))
	case !twin && r.URL.Path != page.Path:
		to := site.EscapePath(page.Path)
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, to, http.StatusPermanentRedirect)
	default:
		httpserver.NoteOperation(r.Context(), "page")
		f.writeSitePage(w, r, page, twin)
	}
}

// form is one of the ways in which a page is served.
type form struct {
	path string
	kind formKind
}

type formKind int

const (
	asHTML     formKind = iota
	asMarkdown          // at the path of the page, because the client prefers it
	asTwin              // at the path of its Markdown
)

// pageBasis is what the bytes of a page follow from, beside the settings.
type pageBasis struct {
	page *site.Page
	all  *site.Snapshot // menus and trail
}

// maxStored bounds the stored pages, in bytes.
const maxStored = 32 << 20

func (f *Handler) writeSitePage(w http.ResponseWriter, r *http.Request, page *site.Page, twin bool) {
	kind := asHTML
	switch {
	case twin:
		kind = asTwin
	case prefersMarkdown(r.Header.Get("Accept")):
		kind = asMarkdown
	}
	d, err := f.documents.Get(form{page.Path, kind}, pageBasis{page, f.Pages.Snapshot()},
		func() (*answer.Document, error) { return f.document(r.Context(), page, kind) })
	if err != nil {
		f.writeFailure(w, r, err)
		return
	}
	d.Write(w, r)
}

// document renders a page in one of its forms.
func (f *Handler) document(ctx context.Context, page *site.Page, kind formKind) (*answer.Document, error) {
	h := http.Header{}
	h.Set("Content-Language", langOf(page.Lang))
	h.Set("X-Content-Type-Options", "nosniff")
	if f.Site.ContentSignal != "" {
		h.Set("Content-Signal", f.Site.ContentSignal)
	}
	h.Set("Access-Control-Allow-Origin", "*")
	if !page.Modified.IsZero() {
		h.Set("Last-Modified", page.Modified.UTC().Format(http.TimeFormat))
	}
	h.Set("Vary", "Accept, Accept-Encoding")
	o := &answer.Options{MaxAge: ageOf(page), Header: h}
	if kind == asHTML {
		body, err := f.htmlPage(ctx, page)
		if err != nil {
			return nil, err
		}
		if page.Path == "/" && f.Companions.Script() != "" {
			h.Set("Content-Security-Policy", f.policy)
		}
		if page.Offer != nil {
			h.Set("Content-Security-Policy", f.buyPolicy)
		}
		f.setLinks(h, link(discovery.TwinPath(page.Path), "alternate", typeMarkdown),
			link(page.Canonical, "canonical", ""))
		return answer.NewDocument(typeHTML+charset, body, o)
	}
	body := f.markdownPage(page)
	f.setLinks(h, link(page.Canonical, "canonical", ""))
	h.Set("X-Markdown-Tokens", strconv.Itoa((utf8.RuneCountInString(body)+3)/4))
	if kind == asTwin {
		h.Set("X-Robots-Tag", "noindex")
	} else {
		h.Set("Content-Location", discovery.TwinPath(page.Path))
	}
	return answer.NewDocument(typeMarkdown+charset, []byte(body), o)
}

func ageOf(page *site.Page) int {
	if page.Offer != nil || page.Lists {
		return offerMaxAge
	}
	return pageMaxAge
}

// prefersMarkdown reports whether Accept names Markdown and likes it at least
// as much as HTML. A range such as */* means people's browsers and gets HTML.
func prefersMarkdown(accept string) bool {
	named := false
	for part := range strings.SplitSeq(accept, ",") {
		name, _, _ := strings.Cut(part, ";")
		named = named || strings.EqualFold(strings.TrimSpace(name), typeMarkdown)
	}
	if !named {
		return false
	}
	q := answer.Quality(accept, typeMarkdown)
	return q > 0 && q >= answer.Quality(accept, typeHTML)
}

// markdownPage is the twin of a page: a head, a pointer to the site's
// companions, and the text.
func (f *Handler) markdownPage(page *site.Page) string {
	var b strings.Builder
	b.WriteString("---\n")
	for _, line := range [][2]string{
		{"title", page.Title}, {"description", page.Description}, {"canonical", page.Canonical}, {
			"last_updated",
			timeText(page.Modified),
		},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], strconv.Quote(line[1]))
		}
	}
	b.WriteString("---\n\n")
	if llms, ok := f.Companions.Link("llms_txt"); ok {
		fmt.Fprintf(&b, "> For AI agents: all pages and interfaces of this site are in [llms.txt](%s).\n\n", llms.URL)
	}
	b.WriteString(page.Markdown)
	return b.String()
}

// writeText writes a text that is not stored, and that no cache stores.
func writeText(w http.ResponseWriter, r *http.Request, status int, mediaType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType+charset)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if len(body) < minCompressed || !answer.AcceptsGzip(r) {
		h.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(body) // the client has gone if this fails
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	zip := gzip.NewWriter(w)
	_, _ = zip.Write(body)
	_ = zip.Close()
}

// writeFailure writes a failure as a problem, as Markdown or as a page.
func (f *Handler) writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	h := w.Header()
	for _, name := range []string{"Last-Modified", "Content-Signal", "Content-Location"} {
		h.Del(name)
	}
	shape := failureShape(r)
	if shape == typeJSON {
		httpserver.WriteProblem(w, r, err)
		return
	}
	p := httpserver.ProblemOf(r.Context(), err)
	h.Set("Vary", "Accept, Accept-Encoding")
	h.Set("X-Robots-Tag", "noindex")
	if seconds := httpserver.RetryAfterSeconds(p); seconds > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds))
	}
	if shape == typeMarkdown {
		writeText(w, r, p.Kind.Status(), typeMarkdown, []byte(f.failureMarkdown(p)))
		return
	}
	body, failed := f.failurePage(p)
	if failed != nil {
		httpserver.WriteProblem(w, r, failed)
		return
	}
	writeText(w, r, p.Kind.Status(), typeHTML, body)
}

// failureShape is the media type in which a client wants to read a failure.
func failureShape(r *http.Request) string {
	accept := r.Header.Get("Accept")
	path := r.URL.Path
	switch {
	case forPrograms(path), strings.HasSuffix(path, ".json"), strings.HasSuffix(path, ".xml"),
		r.Method != http.MethodGet && r.Method != http.MethodHead:
		return typeJSON
	case strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".txt"), prefersMarkdown(accept):
		return typeMarkdown
	}
	if best, ok := answer.Preferred(accept, typeHTML, typeJSON, "application/problem+json"); ok && best != typeHTML {
		return typeJSON
	}
	return typeHTML
}

func (f *Handler) failureMarkdown(p *problem.Problem) string {
	var b strings.Builder
	b.WriteString("# " + p.Kind.Title() + "\n\n" + p.Detail + "\n")
	for _, key := range []string{"sitemap", "llms_txt", "search"} {
		if l, ok := f.Companions.Link(key); ok {
			b.WriteString("\n- [" + l.Path + "](" + l.URL + ")")
		}
	}
	return b.String() + "\n"
}
