package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/platformhttp/gate"
)

//go:embed pages/*.html
var pageFiles embed.FS

// templates are the pages by name.
type templates map[string]*template.Template

// pageNames are the files of pages that are shown; the others hold parts.
func pageNames() []string {
	return []string{
		"home", "docs", "apps", "app", "problem", "failure",
		"signin", "link",
		"account", "activity", "newkey", "key", "madekey", "connection",
		"connect", "outcome", "approval",
	}
}

func loadTemplates() (templates, error) {
	all := templates{}
	for _, name := range pageNames() {
		file := name + ".html"
		t, err := template.New(file).Funcs(functions()).ParseFS(pageFiles, "pages/"+file, "pages/layout.html")
		if err != nil {
			return nil, fmt.Errorf("reading the page %s: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
}

// functions are what templates call.
func functions() template.FuncMap {
	return template.FuncMap{"ago": ago, "used": used, "day": day, "hour": hour, "stamp": stamp, "hue": hue, "initial": initial, "join": strings.Join, "told": tell, "ticks": ticks}
}

// frame is what every page shows around its content.
type frame struct {
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
func (f frame) Here(path string) bool { return f.Path == path || strings.HasPrefix(f.Path, path+"/") }

// frameFor is the frame of a page of a person, or of anybody for nil.
func (c *Console) frameFor(r *http.Request, session *account.Session, title string) frame {
	f := frame{Site: c.Site, Title: title, Path: r.URL.Path, Style: c.assets.style, Script: c.assets.script, Hidden: true}
	if session != nil {
		f.Person, f.Account, f.Token = session.User.Name, session.Account.Name, session.Token
		if session.User.Email != "" {
			f.Person = session.User.Email
		}
		f.Manages, f.Audits = session.User.Role.Manages(), session.User.Role.Audits()
	}
	return f
}

// personal is the frame of a page behind the gate, and who reads it.
func (c *Console) personal(r *http.Request, title string) (frame, *gate.Caller) {
	caller := gate.From(r.Context())
	return c.frameFor(r, caller.Session, title), caller
}

// public is the frame of a page that anybody may read.
func (c *Console) public(r *http.Request, title string) (frame, error) {
	session, err := c.gate.Session(r)
	return c.frameFor(r, session, title), err
}

// show writes a page. Pages of people are kept by nobody.
func (c *Console) show(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	var body bytes.Buffer
	if err := c.templates[name].ExecuteTemplate(&body, name+".html", view); err != nil {
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

// failureView fills failure.html.
type failureView struct {
	frame
	Status       int
	Heading      string
	Detail       string
	RequestID    string // of a fault of ours
	Next         string // path of what helps
	NextText     string
	Instructions []string
}

// refuse is how the gate refuses a page.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, err error) {
	httpserver.SecurePages(httpserver.PagePolicy{ContentSecurityPolicy: contentPolicy(""), HTTPSOnly: c.secure})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, err)
	})).ServeHTTP(w, r)
}

// fail shows a problem as a page. Whoever is not signed in is asked to.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	if p.Code == "session_required" || p.Code == "sign_in_required" {
		next := r.URL.Path
		if r.Method != http.MethodGet {
			next = accountPath
		}
		http.Redirect(w, r, signInPath(next), http.StatusSeeOther)
		return
	}
	session, sessionErr := c.gate.Session(r)
	if sessionErr != nil {
		session = nil // the first fault is the one to tell
	}
	view := failureView{frame: c.frameFor(r, session, p.Kind.Title()), Status: p.Kind.Status(), Heading: headingOf(p), Detail: p.Detail, Next: "/", NextText: "Go to the first page"}
	view.Narrow = true
	if session != nil {
		view.Next, view.NextText = accountPath, "Go to your account"
	}
	if p.Kind == problem.Internal {
		view.RequestID = httpserver.RequestID(r.Context())
	}
	if wait := httpserver.RetryAfterSeconds(p); wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(wait))
	}
	c.show(w, r, view.Status, "failure", view)
}

// headingOf says in a few words what went wrong.
func headingOf(p *problem.Problem) string {
	heading, ok := map[problem.Kind]string{
		problem.NotFound: "There is nothing here", problem.Gone: "This is over", problem.Forbidden: "This is not allowed", problem.RateLimited: "Too much at once",
		problem.Conflict: "This does not fit", problem.Unavailable: "Not right now", problem.Timeout: "Not right now", problem.Internal: "Something went wrong on our side",
	}[p.Kind]
	if !ok {
		return "This does not work"
	}
	return heading
}

// lost answers what no route takes: a page to browsers, a problem to programs.
func (c *Console) lost(w http.ResponseWriter, r *http.Request, err error) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		httpserver.WriteProblem(w, r, err)
		return
	}
	if p, ok := problem.From(err); ok && p.Kind == problem.NotFound {
		err = problem.New(problem.NotFound, "not_found", "Check the address, or look for the page from the first one.")
	}
	c.refuse(w, r, err)
}

// back sends the browser to a page after a form.
func back(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, path, http.StatusSeeOther)
}
