package console

import (
	"net/http"
	"strconv"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/console/page"
	"ace/internal/platform/platformhttp/gate"
)

// personal is the frame of a page behind the gate, and who reads it.
func (c *Console) personal(r *http.Request, title string) (page.Frame, *gate.Caller) {
	caller := gate.From(r.Context())
	return c.pages.Frame(r, caller.Session, title), caller
}

// public is the frame of a page that anybody may read.
func (c *Console) public(r *http.Request, title string) (page.Frame, error) {
	session, err := c.gate.Session(r)
	return c.pages.Frame(r, session, title), err
}

// failureView fills failure.html.
type failureView struct {
	page.Frame
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
	c.pages.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.fail(w, r, err) })).ServeHTTP(w, r)
}

// fail shows a problem as a page. Visitors who are not signed in are sent to the sign-in page.
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
	view := failureView{
		Frame: c.pages.Frame(r, session, p.Kind.Title()), Status: p.Kind.Status(),
		Heading: headingOf(p), Detail: p.Detail, Next: "/", NextText: "Go to the first page",
	}
	view.Narrow = true
	if session != nil {
		view.Next, view.NextText = accountPath, "Go to your account"
	}
	if p.Kind == problem.Internal {
		view.RequestID = httpserver.RequestID(r.Context())
	}
	if wait := httpserver.RetryAfterSeconds(p); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	c.pages.Show(w, r, view.Status, "failure", view)
}

// headingOf says in a few words what went wrong.
func headingOf(p *problem.Problem) string {
	heading, ok := map[problem.Kind]string{
		problem.NotFound: "There is nothing here", problem.Gone: "This is over",
		problem.Forbidden: "This is not allowed", problem.RateLimited: "Too much at once",
		problem.Conflict: "This does not fit", problem.Unavailable: "Not right now", problem.Timeout: "Not right now",
		problem.Internal: "Something went wrong on our side",
	}[p.Kind]
	if !ok {
		return "This does not work"
	}
	return heading
}

// lost returns what no route takes: a page to browsers, a problem to programs.
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
