package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/console/page"
	"ace/internal/platform/platformhttp/gate"
)

const (
	accountPath = "/account"
	maxForm     = 64 << 10 // bytes of a form
	maxNext     = 4 << 10  // bytes of a path that a sign-in leads on to: requests of MCP clients are long
)

// signInView fills signin.html.
type signInView struct {
	page.Frame
	Next     string
	Name     string // as typed
	Fault    string
	Notice   string
	Provider string // name of the OpenID provider; empty: none
	ForLink  bool   // the person came to connect an app
	ForMCP   bool   // the person came to let an MCP client in
}

// linkView fills link.html.
type linkView struct {
	page.Frame
	Action string
}

// signInPath is the sign-in page that leads on to a path.
func signInPath(next string) string {
	if next == "" || next == accountPath {
		return "/sign-in"
	}
	return "/sign-in?" + url.Values{"next": {next}}.Encode()
}

// localPath returns a path that a sign-in may lead on to: one of our own, or
// the account page. Whatever a browser might read as another host is none.
func localPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil, len(next) > maxNext, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "":
	case !strings.HasPrefix(next, "/"), strings.HasPrefix(next, "//"), strings.Contains(next, `\`),
		strings.ContainsFunc(next, unicode.IsControl):
	case strings.HasPrefix(u.Path, "//"), strings.HasPrefix(u.Path, "/sign-"):
	default:
		return next
	}
	return accountPath
}

func (c *Console) signInView(r *http.Request, next string) signInView {
	view := signInView{
		Frame: c.pages.Frame(r, nil, "Sign in"), Next: next,
		ForLink: strings.HasPrefix(next, "/connect/"),
	}
	view.Narrow, view.ForMCP = true, strings.HasPrefix(next, authorizePath+"?")
	if c.Identities != nil {
		view.Provider = c.Identities.Name()
	}
	return view
}

func (c *Console) showSignIn(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	session, err := c.gate.Session(r)
	switch {
	case err != nil:
		c.fail(w, r, err)
		return
	case session != nil:
		back(w, r, next)
		return
	}
	view := c.signInView(r, next)
	if r.URL.Query().Has("out") {
		view.Notice = "You are signed out."
	}
	c.remember(w.Header(), next)
	c.pages.Show(w, r, http.StatusOK, "signin", view)
}

func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := gate.SameSite(r); err != nil {
		c.fail(w, r, err)
		return
	}
	next := localPath(r.PostFormValue("next"))
	secret, err := c.bySignIn(r)
	if err != nil {
		c.signInFailed(w, r, next, err)
		return
	}
	c.enter(w, r, secret, next)
}

// bySignIn tries the name and password of a form.
func (c *Console) bySignIn(r *http.Request) (secret string, err error) {
	if err := c.gate.MayTry(r); err != nil {
		return "", err
	}
	_, secret, err = c.Accounts.SignIn(r.Context(), gate.Actor(r), r.PostFormValue("name"), r.PostFormValue("password"))
	if problem.Is(err, "sign_in_refused") {
		if err := c.gate.Failed(r); err != nil {
			return "", err
		}
	}
	return secret, err
}

// signInFailed shows the sign-in page again, with the error.
func (c *Console) signInFailed(w http.ResponseWriter, r *http.Request, next string, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	if p.Kind == problem.Internal {
		c.fail(w, r, err)
		return
	}
	view := c.signInView(r, next)
	view.Fault, view.Name = p.Detail, r.PostFormValue("name")
	status := p.Kind.Status()
	if p.Kind == problem.Unauthenticated {
		status = http.StatusUnprocessableEntity // 401 would ask for a scheme of HTTP
	}
	if wait := httpserver.RetryAfterSeconds(p); wait > 0 {
		view.Fault += " Try again in " + page.Count((wait+59)/60, "minute") + "."
	}
	c.pages.Show(w, r, status, "signin", view)
}

// enter gives the browser a new session, ends the one it had, and leads on.
func (c *Console) enter(w http.ResponseWriter, r *http.Request, secret, next string) {
	before, err := c.gate.Session(r)
	if err == nil && before != nil {
		err = c.Accounts.SignOut(r.Context(), gate.ByPerson(r, before).Actor, before)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.gate.SetSession(w.Header(), secret)
	c.remember(w.Header(), accountPath)
	back(w, r, next)
}

// showLink asks for a press of the button: programs that look at links before
// people do must not use them up.
func (c *Console) showLink(w http.ResponseWriter, r *http.Request) {
	session, err := c.gate.Session(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	view := linkView{Frame: c.pages.Frame(r, session, "Sign in"), Action: r.URL.Path}
	view.Narrow = true
	c.pages.Show(w, r, http.StatusOK, "link", view)
}

func (c *Console) redeem(w http.ResponseWriter, r *http.Request) {
	err := gate.SameSite(r)
	if err == nil {
		err = c.gate.MayTry(r)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	_, secret, err := c.Accounts.Redeem(r.Context(), gate.Actor(r), r.PathValue("token"))
	if problem.Is(err, "link_invalid") {
		if failed := c.gate.Failed(r); failed != nil {
			err = failed
		}
		c.signInFailed(w, r, c.remembered(r), err)
		return
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.enter(w, r, secret, c.remembered(r))
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	caller := gate.From(r.Context())
	if err := c.Accounts.SignOut(r.Context(), caller.Actor, caller.Session); err != nil {
		c.fail(w, r, err)
		return
	}
	c.gate.ClearSession(w.Header())
	w.Header().Set("Clear-Site-Data", `"cache"`)
	back(w, r, "/sign-in?out")
}

// Names of our cookies besides the session.
const (
	cookieNext    = "ace_next"    // where a sign-in by link leads on to
	cookieOpenID  = "ace_openid"  // a sign-in at the OpenID provider under way
	cookieConnect = "ace_connect" // the browser of connect pages
)

const waitInCookie = 15 * time.Minute

// cookie makes a cookie that only this host reads; maxAge 0 takes it away.
func (c *Console) cookie(h http.Header, name, value string, maxAge time.Duration) {
	cookie := http.Cookie{
		Name: c.cookieName(name), Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		HttpOnly: true, Secure: c.Site.Secure(), SameSite: http.SameSiteLaxMode,
	}
	if maxAge == 0 {
		cookie.MaxAge = -1
	}
	h.Add("Set-Cookie", cookie.String())
}

func (c *Console) cookieName(name string) string {
	if c.Site.Secure() {
		return "__Host-" + name
	}
	return name
}

func (c *Console) readCookie(r *http.Request, name string) string {
	cookie, err := r.Cookie(c.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// remember keeps where a sign-in leads on to: a link from the command line is
// opened beside the page that asked for it.
func (c *Console) remember(h http.Header, next string) {
	if next == accountPath {
		c.cookie(h, cookieNext, "", 0)
		return
	}
	c.cookie(h, cookieNext, url.QueryEscape(next), waitInCookie)
}

func (c *Console) remembered(r *http.Request) string {
	next, err := url.QueryUnescape(c.readCookie(r, cookieNext))
	if err != nil {
		return accountPath
	}
	return localPath(next)
}
