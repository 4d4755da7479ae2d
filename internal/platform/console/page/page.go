// Package page is the frame of every page that people see of the platform: its
// templates and what they load, the words for times and numbers, and the headers
// that keep a page safe in a browser.
//
//	New -> every template parsed, every asset named after its digest
//	Show(page, view) -> HTML that nobody keeps, loads nothing from elsewhere and
//	                    cannot be framed
package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/platform/account"
)

//go:embed pages/*.html
var files embed.FS

// Site is what pages say about the platform.
type Site struct {
	BaseURL string // without a slash at the end
	Name    string
	Contact string // e-mail address; may be empty
	// SecurityContact is an e-mail address or URL for reports of vulnerabilities;
	// empty: Contact.
	SecurityContact string
}

// Secure reports whether the site is served over https.
func (s Site) Secure() bool { return strings.HasPrefix(s.BaseURL, "https://") }

// Set is all pages. It is safe for concurrent use.
type Set struct {
	site      Site
	templates map[string]*template.Template
	assets    assets
}

// Names are the pages by name.
func Names() []string {
	return []string{
		"home", "docs", "sdk", "apps", "app", "problem", "failure",
		"signin", "link",
		"account", "activity", "newkey", "key", "madekey", "connection",
		"connect", "outcome", "approval", "connector", "consent",
	}
}

// New reads all pages.
func New(site Site) (*Set, error) {
	s := &Set{site: site, templates: map[string]*template.Template{}}
	for _, name := range Names() {
		file := name + ".html"
		t, err := template.New(file).Funcs(functions()).ParseFS(files, "pages/"+file, "pages/layout.html")
		if err != nil {
			return nil, fmt.Errorf("reading the page %s: %w", name, err)
		}
		s.templates[name] = t
	}
	var err error
	s.assets, err = loadAssets()
	return s, err
}

// functions are what templates call.
func functions() template.FuncMap {
	return template.FuncMap{
		"ago": Ago, "used": Used, "day": Day, "hour": Hour, "stamp": Stamp, "hue": hue,
		"initial": initial, "join": strings.Join, "told": tell, "ticks": ticks,
	}
}

// Template returns a page for a check of its types.
func (s *Set) Template(name string) *template.Template {
	return s.templates[name].Lookup(name + ".html")
}

// Frame is what every page shows around its content. Views embed it.
type Frame struct {
	Site        Site
	Title       string
	Description string
	Path        string
	Style       string // path of the style sheet
	Script      string
	Hidden      bool // from search engines
	Narrow      bool // one column, for forms and messages

	Person  string // who is signed in; empty: nobody
	Account string
	Token   string // of the session, for forms
	Manages bool
	Audits  bool
}

// Here reports whether the page belongs to a part of the site.
func (f Frame) Here(path string) bool { return f.Path == path || strings.HasPrefix(f.Path, path+"/") }

// Frame is the frame of a page for a person, or for anybody where session is
// nil.
func (s *Set) Frame(r *http.Request, session *account.Session, title string) Frame {
	f := Frame{
		Site: s.site, Title: title, Path: r.URL.Path, Style: s.assets.style, Script: s.assets.script,
		Hidden: true,
	}
	if session != nil {
		f.Person, f.Account, f.Token = session.User.Name, session.Account.Name, session.Token
		if session.User.Email != "" {
			f.Person = session.User.Email
		}
		f.Manages, f.Audits = session.User.Role.Manages(), session.User.Role.Audits()
	}
	return f
}

// Show writes a page. Pages of people are kept by nobody.
func (s *Set) Show(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	var body bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&body, name+".html", view); err != nil {
		httpserver.WriteProblem(w, r, fmt.Errorf("rendering the page %s: %w", name, err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	// Addresses hold links that work once: they go nowhere else. Our own forms
	// need to say where they come from, which no-referrer would hide.
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// Guard sets the headers of pages.
func (s *Set) Guard(next http.Handler) http.Handler {
	return httpserver.SecurePages(httpserver.PagePolicy{
		ContentSecurityPolicy: ContentPolicy(""),
		HTTPSOnly:             s.site.Secure(),
	})(next)
}

// ContentPolicy is what a page may load, and where its forms may lead besides
// this host: browsers follow the redirects of a form with the same rule.
func ContentPolicy(formsTo string) string {
	if formsTo != "" {
		formsTo = " " + formsTo
	}
	return fmt.Sprintf(
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'%s; "+
			"base-uri 'none'; frame-ancestors 'none'", formsTo)
}

// Serve returns what pages load, by the wildcard file of its route.
func (s *Set) Serve(w http.ResponseWriter, r *http.Request) { s.assets.serve(w, r) }

// Favicon returns the icon where browsers look for it.
func (s *Set) Favicon(w http.ResponseWriter, r *http.Request) { s.assets.favicon(w, r) }

// Robots lets search engines read what is for everybody.
func (s *Set) Robots(w http.ResponseWriter, r *http.Request) { robots(w, r) }

// told is what a field says to those who hear the page.
type told struct {
	Ids string // of what describes it
	Bad bool
}

func tell(i int, about, fault string) told {
	id := "f" + strconv.Itoa(i)
	t := told{Bad: fault != ""}
	if about != "" {
		t.Ids = id + "-about"
	}
	if t.Bad {
		t.Ids = strings.TrimSpace(t.Ids + " " + id + "-fault")
	}
	return t
}

// part is a stretch of text, or of code in it.
type part struct {
	Text string
	Code bool
}

// ticks splits text at the signs that enclose code.
func ticks(text string) []part {
	var parts []part
	for i, one := range strings.Split(text, "`") {
		if one != "" {
			parts = append(parts, part{one, i%2 == 1})
		}
	}
	return parts
}
