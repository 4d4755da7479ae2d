// Package demosite is a small website to practise on: a bicycle shop with good
// pages and pages that are faulty on purpose, so that an audit, a data pack and
// an llms.txt draft have something to find without a network.
//
//	pages/<name>.html -> fields and body -> layout.html -> one response each,
//	                     put together once, by New
//	Handler   the pages, below the prefix
//	Robots    robots.txt, which belongs to the root of the listener: crawlers
//	          look for it nowhere else. It names the sitemap below the prefix.
//
// There is no llms.txt: to draft one is what the site is for. What is wrong
// with each page is on the page answers.
package demosite

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed layout.html robots.txt sitemap.xml pages assets
var files embed.FS

// Site is the website.
type Site struct {
	prefix, origin string
	pages          map[string]*answer // by path below the prefix
	files          map[string]*answer
	robots         *answer
}

// answer is the response of one URL. {{root}} and {{origin}} in it stand for
// addresses that may differ from caller to caller.
type answer struct {
	status   int
	kind     string
	location string
	robots   string
	body     string
}

// New reads the pages. prefix is where the site is mounted, for example
// "/site"; origin is the address of the listener, or empty for the one that
// each caller used.
func New(prefix, origin string) (*Site, error) {
	s := &Site{
		prefix: prefix, origin: strings.TrimSuffix(origin, "/"), pages: map[string]*answer{},
		files: map[string]*answer{},
	}
	layout, err := files.ReadFile("layout.html")
	if err != nil {
		return nil, fmt.Errorf("reading the practice site: %w", err)
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		switch folder, _, _ := strings.Cut(name, "/"); folder {
		case "pages":
			where, a, err := readPage(string(text), string(layout))
			if err != nil {
				return fmt.Errorf("page %s: %w", name, err)
			}
			s.pages[where] = a
		case "assets", "sitemap.xml":
			s.files["/"+name] = &answer{status: http.StatusOK, kind: kindOf(name), body: string(text)}
		case "robots.txt":
			s.robots = &answer{status: http.StatusOK, kind: "text/plain; charset=utf-8", body: string(text)}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the practice site: %w", err)
	}
	if s.pages["404"] == nil || s.pages["/"] == nil || s.robots == nil {
		return nil, fmt.Errorf("reading the practice site: the first page, the page for 404 or robots.txt is missing")
	}
	return s, nil
}

func kindOf(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/xml; charset=utf-8"
}

// readPage reads "name: value" lines, an empty line, and the body. Names are
// path, title, description, canonical (- for none), head (a line of HTML),
// status, location, robots (X-Robots-Tag) and frame (none: the body is all).
func readPage(text, layout string) (where string, a *answer, err error) {
	head, body, _ := strings.Cut(text, "\n\n")
	a = &answer{status: http.StatusOK, kind: "text/html; charset=utf-8"}
	var title, description, extra, frame string
	canonical := ""
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			return "", nil, fmt.Errorf("the line %q is no field", line)
		}
		switch name {
		case "path":
			where = value
		case "title":
			title = value
		case "description":
			description = `<meta name="description" content="` + html.EscapeString(value) + "\">\n"
		case "canonical":
			canonical = value
		case "head":
			extra += value + "\n"
		case "status":
			if a.status, err = strconv.Atoi(value); err != nil {
				return "", nil, fmt.Errorf("reading a status: %w", err)
			}
		case "location":
			a.location = value
		case "robots":
			a.robots = value
		case "frame":
			frame = value
		default:
			return "", nil, fmt.Errorf("the field %q is not known", name)
		}
	}
	switch canonical {
	case "-":
	case "":
		extra = `<link rel="canonical" href="{{root}}` + where + "\">\n" + extra
	default:
		extra = `<link rel="canonical" href="` + canonical + "\">\n" + extra
	}
	a.body = body
	if frame != "none" {
		a.body = strings.NewReplacer("{{title}}", html.EscapeString(title), "{{head}}", description+extra, "{{body}}",
			body, "{{here}}", where).Replace(layout)
	}
	return where, a, nil
}

// Handler serves the pages and files below the prefix.
func (s *Site) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This page can only be read.", http.StatusMethodNotAllowed)
			return
		}
		where, below := strings.CutPrefix(r.URL.Path, s.prefix)
		if below && where == "" {
			http.Redirect(w, r, s.prefix+"/", http.StatusMovedPermanently)
			return
		}
		a := s.pages[where]
		if a == nil {
			a = s.files[where]
		}
		if a == nil {
			a = s.pages["404"]
		}
		s.send(w, r, a)
	})
}

// Robots serves robots.txt for the whole listener.
func (s *Site) Robots() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.send(w, r, s.robots) })
}

// policy lets scripts and styles come from the site alone.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

func (s *Site) send(w http.ResponseWriter, r *http.Request, a *answer) {
	origin := s.origin
	if origin == "" {
		origin = "http://" + r.Host
		if r.TLS != nil {
			origin = "https://" + r.Host
		}
	}
	origin = html.EscapeString(origin) // a caller may name any host
	fill := strings.NewReplacer("{{root}}", origin+s.prefix, "{{origin}}", origin, "{{prefix}}", s.prefix)
	body := fill.Replace(a.body)
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Ace-Sandbox", "true")
	if a.location != "" {
		h.Set("Location", fill.Replace(a.location))
	}
	if a.robots != "" {
		h.Set("X-Robots-Tag", a.robots)
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(body)) // a reader that went away is no fault
	}
}
