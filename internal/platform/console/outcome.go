package console

import (
	"net/http"
	"net/url"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
	"ace/internal/platform/console/page"
)

// outcomeView fills outcome.html: how a link ended.
type outcomeView struct {
	page.Frame
	App        appRow
	Tone       string // good, stop
	Heading    string
	Detail     string
	Connection *connectionRow
	Undo       string // path of the form that takes it back; empty: it cannot be
	UndoFor    int    // minutes
	Told       bool   // the app is notified if it is undone
	Return     string // developer's address
	ReturnHost string
	Again      string // how to try again
}

func (c *Console) showOutcome(w http.ResponseWriter, r *http.Request, visit *connection.Visit) {
	f, err := c.public(r, visit.App.Name)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Narrow = true
	view := outcomeView{Frame: f, App: rowOfApp(visit.App), Tone: "stop"}
	status := http.StatusGone
	switch visit.Status {
	case connection.SessionConnected:
		if err := c.connected(r, &view, visit); err != nil {
			c.fail(w, r, err)
			return
		}
		status = http.StatusOK
	case connection.SessionExpired:
		view.Heading, view.Detail = "This link has run out", "Links to connect an app work for a short time only. "+
			"Nothing was connected."
	case connection.SessionCanceled:
		view.Heading, view.Detail = "This link was canceled", "The requester no longer needs it. "+
			"Nothing is connected by it."
		if visit.Session.Code == "undone" {
			view.Heading, view.Detail, status = "Undone", visit.App.Name+
				" is no longer connected. The stored credentials are deleted.", http.StatusOK
		}
	default:
		view.Heading, view.Detail = visit.App.Name+" was not connected", visit.Session.Detail
		if visit.Session.Code == "sign_in_denied" {
			view.Heading, view.Detail, status = "Access denied", "Nothing was connected, "+
				"and the requester is notified.", http.StatusOK
		}
	}
	if view.Tone == "stop" {
		view.Again = "To try again, ask for a new link where you got this one, or connect the app from its own " +
			"page here."
	}
	if visit.Session.Options.RedirectURL != "" && visit.Status == connection.SessionConnected {
		view.Return, view.ReturnHost = visit.Session.Options.RedirectURL, returnHost(visit.Session.Options.RedirectURL)
	}
	c.pages.Show(w, r, status, "outcome", view)
}

// connected fills in what a link that did its work made.
func (c *Console) connected(r *http.Request, view *outcomeView, visit *connection.Visit) error {
	view.Tone, view.Heading = "good", visit.App.Name+" is connected"
	view.Detail = "You can close this page and go back to where you came from."
	if visit.Connection == nil || visit.Connection.Status == connection.Revoked {
		view.Tone, view.Heading, view.Detail = "stop", "This connection was deleted", "The link did its work; the "+
			"connection that it made is gone."
		return nil
	}
	row, err := c.rowOfConnection(r, visit.Connection)
	if err != nil {
		return err
	}
	view.Connection = &row
	if visit.CanUndo {
		view.Undo = r.URL.Path + "/undo"
		scheme, known := visit.App.Scheme(visit.Connection.Scheme)
		view.Told = known && visit.App.CanEnd(scheme)
		left := connection.UndoFor - time.Since(visit.Session.EndedAt)
		view.UndoFor = max(1, int((left+time.Minute-1)/time.Minute))
	}
	return nil
}

// callback is where a vendor sends the browser after a sign-in.
func (c *Console) callback(w http.ResponseWriter, r *http.Request) {
	v, err := c.visitor(w, r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	o, err := c.Connections.Callback(r.Context(), r.PathValue("app"), v, r.URL.Query())
	if problem.Is(err, "sign_in_required") {
		err = problem.New(problem.Gone, "sign_in_unknown",
			"You have been signed out. Sign in here and open the link again.")
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	back(w, r, o.Redirect)
}

// callbackForm turns a callback that is a form of the vendor's page into an
// ordinary one: browsers send our cookies with a GET from elsewhere, but not
// with a form.
func (c *Console) callbackForm(w http.ResponseWriter, r *http.Request) {
	const most = 16 << 10
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, err)
		return
	}
	query := url.Values{}
	for name, values := range r.PostForm {
		query[name] = values[:1]
	}
	back(w, r, r.URL.Path+"?"+query.Encode())
}

// clientDocument is what authorization servers read of this platform as an
// OAuth client (client id metadata document).
func (c *Console) clientDocument(w http.ResponseWriter, r *http.Request) {
	body, err := c.ClientDocument()
	if err != nil {
		c.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(body)
}
