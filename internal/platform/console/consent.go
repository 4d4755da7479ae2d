package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/authserver"
	"ace/internal/platform/console/page"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
)

// consentView fills consent.html.
type consentView struct {
	page.Frame
	Request   *authserver.Request
	ReturnsTo string // host, or the scheme of an app
	Loopback  bool   // to a program on the person's computer
	App       bool   // to an app, by a scheme of its own
	Elsewhere bool   // to another host than the one that publishes the client's name
	Sealed    string
	Form      keyForm
	Spans     []choice
	Fault     string
}

// authorize shows an MCP client's request for access to the person who is signed in.
// Visitors sign in first: before that, a link sends nobody to another site.
func (c *Console) authorize(w http.ResponseWriter, r *http.Request) {
	session, err := c.gate.Session(r)
	switch {
	case err != nil:
		c.fail(w, r, err)
		return
	case session == nil:
		back(w, r, signInPath(r.URL.RequestURI()))
		return
	}
	request, err := c.MCPSignIn.Read(r.Context(), r.URL.RawQuery)
	switch {
	case err != nil && request != nil:
		c.refuseClient(w, r, request, err)
		return
	case err != nil:
		c.fail(w, r, asPage(err))
		return
	}
	form := keyForm{Read: true, Connect: true, Run: true, Approval: string(apikey.ApproveDestructive), Days: "90"}
	if request.Asked != 0 {
		form.Read, form.Connect = request.Asked.Has(apikey.Read), request.Asked.Has(apikey.Connect)
		form.Run = request.Asked.Has(apikey.Run)
	}
	c.showConsent(w, r, session, request, form, nil)
}

// showConsent shows the page, with what was wrong with its form.
func (c *Console) showConsent(w http.ResponseWriter, r *http.Request, session *account.Session,
	request *authserver.Request, form keyForm, fault *problem.Problem,
) {
	sealed, err := c.MCPSignIn.Seal(request, session.ID)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	view := consentView{
		Frame: c.pages.Frame(r, session, "Let an MCP client in"), Request: request, ReturnsTo: request.ReturnsTo(),
		Loopback: authserver.Loopback(request.RedirectURI), Sealed: sealed, Form: form, Spans: spans(),
	}
	view.Narrow = true
	view.App = strings.HasSuffix(view.ReturnsTo, ":")
	view.Elsewhere = request.Publisher != "" && !view.Loopback && !view.App && view.ReturnsTo != request.Publisher
	status := http.StatusOK
	if fault != nil {
		view.Fault, status = fault.Detail, http.StatusUnprocessableEntity
	}
	w.Header().Set("Content-Security-Policy", page.ContentPolicy(formTarget(request.RedirectURI)))
	c.pages.Show(w, r, status, "consent", view)
}

// formTarget is where the form of a consent page leads, as a source of a content
// security policy. It knows no IPv6 addresses.
func formTarget(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return ""
	case u.Scheme != "https" && u.Scheme != "http" || strings.Contains(u.Host, "["):
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// decideConsent takes what the person chose.
func (c *Console) decideConsent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	caller := gate.From(r.Context())
	request, err := c.MCPSignIn.Unseal(r.PostFormValue("request"), caller.Session.ID)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	switch r.PostFormValue("decision") {
	case "allow":
		c.allowClient(w, r, caller, request)
	case "deny":
		c.refuseClient(w, r, request, problem.New(problem.Forbidden, "access_denied", "The person refused."))
	case "switch":
		if err := c.Accounts.SignOut(r.Context(), caller.Actor, caller.Session); err != nil {
			c.fail(w, r, err)
			return
		}
		c.gate.ClearSession(w.Header())
		back(w, r, signInPath(authorizePath+"?"+request.Query))
	default:
		c.fail(w, r, problem.New(problem.Invalid, "invalid_request", "The form does not say what was decided."))
	}
}

// authorizePath is the authorization endpoint.
const authorizePath = "/oauth/authorize"

func (c *Console) allowClient(w http.ResponseWriter, r *http.Request, caller *gate.Caller,
	request *authserver.Request,
) {
	if err := operation.Authorize(caller, operation.CreateKey); err != nil {
		c.fail(w, r, err)
		return
	}
	form := readKeyForm(r)
	choice := authserver.Choice{Approval: apikey.Approval(form.Approval)}
	for on, permission := range map[*bool]apikey.Permissions{
		&form.Read: apikey.Read, &form.Connect: apikey.Connect, &form.Run: apikey.Run,
	} {
		if *on {
			choice.Permissions |= permission
		}
	}
	var err error
	if form.Days != "" {
		if choice.Days, err = strconv.Atoi(form.Days); err != nil || choice.Days == 0 {
			choice.Days = -1 // refused: nothing lasts for ever because a form was read wrongly
		}
	}
	code, err := c.MCPSignIn.Approve(r.Context(), request, caller.Account, caller.Actor, choice)
	if p, ok := problem.From(err); ok && p.Kind == problem.Invalid {
		c.showConsent(w, r, caller.Session, request, form, p)
		return
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.answerClient(w, r, request, url.Values{"code": {code}})
}

// refuseClient reports a problem to the client (OAuth 2.1, 4.1.2.1). Failures of ours
// are shown to the person.
func (c *Console) refuseClient(w http.ResponseWriter, r *http.Request, request *authserver.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	if p.Kind == problem.Internal {
		c.fail(w, r, err)
		return
	}
	httpserver.NoteProblem(r.Context(), p.Code)
	c.answerClient(w, r, request, url.Values{"error": {p.Code}, "error_description": {p.Detail}})
}

// answerClient sends the browser to the redirect URI of a request.
func (c *Console) answerClient(w http.ResponseWriter, r *http.Request, request *authserver.Request,
	answer url.Values,
) {
	answer.Set("iss", c.Site.BaseURL) // RFC 9207
	if request.State != "" {
		answer.Set("state", request.State)
	}
	separator := "?"
	if strings.Contains(request.RedirectURI, "?") {
		separator = "&"
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	back(w, r, request.RedirectURI+separator+answer.Encode())
}

// asPage makes a wrong client a fault of the link: 401 would ask the browser for
// credentials.
func asPage(err error) error {
	if p, ok := problem.From(err); ok && p.Code == "invalid_client" {
		p.Kind = problem.Invalid
		return p
	}
	return err
}
