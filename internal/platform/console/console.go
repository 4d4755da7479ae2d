// Package console is what people see of the platform host: the first page, the
// apps, how to call the API, and the pages on which they sign in, keep keys and
// connect apps.
//
//	/sign-in/{token}   a link from the command line; only the button uses it up
//	/sign-in           e-mail address and password, or the operator's provider
//	     -> session cookie -> /account: keys, connections, password, activity
//
//	/connect/{token}   a link that an agent asked for: whose account, which key,
//	     |             what for; then a form, or a redirect to the vendor
//	     |-> /oauth/callback/{app} -> whose account it is, Undo, or what went wrong
//	     '-> the developer's redirect_url
//
// Every page works without a script, loads nothing from elsewhere and is in
// no frame. What changes something is a POST of our own form: a person's session
// has a token for it, and other forms have to come from this site. Links can be
// looked at by programs without using them up.
package console

import (
	"log/slog"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/seal"
	"ace/internal/platform/account"
	"ace/internal/platform/authserver"
	"ace/internal/platform/connection"
	"ace/internal/platform/console/page"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/sdkfiles"
	"ace/sdk"
)

// Site is what the pages say about the platform.
type Site = page.Site

// Deps are what the pages call.
type Deps struct {
	Site Site
	// Operations are what a person may do, by the rules of the REST API.
	Operations *operation.Service
	Accounts   *account.Service // signs people in
	Library    *library.Library
	// Connections is what stands behind a connect link.
	Connections *connection.Service
	Sealer      *seal.Sealer // seals what waits in a cookie while a person is elsewhere
	Log         *slog.Logger
	// Approvals are runs that wait for a person.
	Approvals Approvals
	// ClientDocument is what authorization servers read of this platform as an
	// OAuth client; nil: it is not published.
	ClientDocument func() ([]byte, error)
	// Document is the OpenAPI document of the host.
	Document []byte
	// Guides are the guide to the platform and the list of errors as Markdown, by name:
	// platform.md and errors.md.
	Guides map[string][]byte
	// Failures explains the codes of problems.
	Failures map[string]Failure
	// Identities is the operator's OpenID provider; nil: there is none.
	Identities Identities
	// MCPSignIn lets MCP clients in.
	MCPSignIn *authserver.Service
}

// Failure explains the code of a problem.
type Failure struct {
	Status    string
	Sentences []string // that come with it
	Advice    string   // what its reader does next; `…` is code
}

// Console returns the pages. It is safe for concurrent use once it is mounted.
type Console struct {
	Deps
	pages   *page.Set
	calls   []call // of the API
	clients *sdkfiles.Set
	gate    *gate.Gate
}

// New returns the pages; Mount puts them behind a gate.
func New(d Deps) (*Console, error) {
	c := &Console{Deps: d}
	var err error
	if c.pages, err = page.New(d.Site); err != nil {
		return nil, err
	}
	if c.calls, err = readCalls(d.Document); err != nil {
		return nil, err
	}
	if c.clients, err = sdkfiles.Build(sdk.Files, d.Site.BaseURL); err != nil {
		return nil, err
	}
	return c, nil
}

// Rules are what each page needs of its visitor.
func Rules() gate.Rules {
	var (
		open   = gate.Need{Open: true, Page: true}
		person = gate.Need{Person: true, Page: true}
		page   = func(id operation.ID) gate.Need { return gate.Need{Operation: id, Page: true} }
	)
	return gate.Rules{
		"GET /{$}":                      open,
		"GET /docs":                     open,
		"GET /docs/platform.md":         open,
		"GET /docs/errors.md":           open,
		"GET /llms.txt":                 open,
		"GET /sdk/{$}":                  open,
		"GET /sdk/{file}":               open,
		"GET /apps":                     open,
		"GET /apps/{app}":               open,
		"GET /problems/{code}":          open,
		"GET /robots.txt":               open,
		"GET /.well-known/security.txt": open,
		"GET /assets/{file}":            open,
		"GET /favicon.ico":              open,

		"GET /sign-in":                 open,
		"POST /sign-in":                open,
		"GET /sign-in/{token}":         open,
		"POST /sign-in/{token}":        open,
		"GET /sign-in/openid":          open,
		"GET /sign-in/openid/callback": open,
		"POST /sign-out":               person,

		"GET /account":                    person,
		"GET /account/activity":           page(operation.ReadAuditLog),
		"GET /account/keys/new":           page(operation.CreateKey),
		"POST /account/keys":              page(operation.CreateKey),
		"GET /account/keys/{id}":          page(operation.GetKey),
		"POST /account/keys/{id}/rotate":  page(operation.RotateKey),
		"POST /account/keys/{id}/revoke":  page(operation.RevokeKey),
		"POST /account/password":          page(operation.SetPassword),
		"POST /account/sign-ins/end":      page(operation.EndSession),
		"POST /account/redirects":         page(operation.SetRedirectURLs),
		"GET /account/connections/{id}":   page(operation.GetConnection),
		"POST /account/connections/{id}":  page(operation.ChangeConnection),
		"POST /apps/{app}/connect":        page(operation.ConnectApp),
		"GET /approvals/{id}":             page(operation.GetApproval),
		"POST /approvals/{id}":            page(operation.DecideApproval),
		"GET /connectors/{id}":            page(operation.GetCustomConnector),
		"POST /connectors/{id}/approve":   page(operation.ApproveCustomConnector),
		"POST /connectors/{id}/read-only": page(operation.SetReadOnlyTools),

		"GET /oauth/authorize":  open,
		"POST /oauth/authorize": person,

		"GET /connect/{token}":       open,
		"POST /connect/{token}":      open,
		"POST /connect/{token}/deny": open,
		"POST /connect/{token}/undo": open,
		"GET /oauth/callback/{app}":  open,
		"POST /oauth/callback/{app}": open,
		"GET /oauth/client.json":     open,
	}
}

// Mount registers the pages. The mux's table holds Rules.
func (c *Console) Mount(mux gate.Mux) {
	c.gate = mux.Gate
	mux.Gate.RefusePages(c.refuse)
	mux.ErrorsUnder("/", c.lost)
	mux.ErrorsUnder("/api/", httpserver.WriteProblem)
	show := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, c.pages.Guard(h)) }

	show("GET /{$}", c.home)
	show("GET /docs", c.docs)
	for name, page := range c.Guides {
		mux.HandleFunc("GET /docs/"+name, markdown(page))
	}
	mux.HandleFunc("GET /llms.txt", c.llmsTxt)
	show("GET /sdk/{$}", c.sdk)
	mux.HandleFunc("GET /sdk/{file}", c.sdkFile)
	show("GET /apps", c.apps)
	show("GET /apps/{app}", c.app)
	show("GET /problems/{code}", c.problem)
	show("GET /robots.txt", c.pages.Robots)
	if c.Site.SecurityTxt(time.Now()) != "" {
		show("GET "+page.SecurityPath, c.securityTxt)
	}
	show("GET /assets/{file}", c.pages.Serve)
	show("GET /favicon.ico", c.pages.Favicon)

	show("GET /sign-in", c.showSignIn)
	show("POST /sign-in", c.signIn)
	show("GET /sign-in/{token}", c.showLink)
	show("POST /sign-in/{token}", c.redeem)
	show("GET /sign-in/openid", c.beginIdentity)
	show("GET /sign-in/openid/callback", c.finishIdentity)
	show("POST /sign-out", c.signOut)

	show("GET /account", c.account)
	show("GET /account/activity", c.activity)
	show("GET /account/keys/new", c.newKey)
	show("POST /account/redirects", c.changeRedirects)
	show("POST /account/keys", c.makeKey)
	show("GET /account/keys/{id}", c.key)
	show("POST /account/keys/{id}/rotate", c.rotateKey)
	show("POST /account/keys/{id}/revoke", c.revokeKey)
	show("POST /account/password", c.setPassword)
	show("POST /account/sign-ins/end", c.endSession)
	show("GET /account/connections/{id}", c.connection)
	show("POST /account/connections/{id}", c.changeConnection)
	show("POST /apps/{app}/connect", c.connectApp)
	show("GET /approvals/{id}", c.approval)
	show("POST /approvals/{id}", c.decide)
	show("GET /connectors/{id}", c.connector)
	show("POST /connectors/{id}/approve", c.approveConnector)
	show("POST /connectors/{id}/read-only", c.setReadOnly)

	show("GET "+authorizePath, c.authorize)
	show("POST "+authorizePath, c.decideConsent)

	show("GET /connect/{token}", c.connect)
	show("POST /connect/{token}", c.submitConnect)
	show("POST /connect/{token}/deny", c.denyConnect)
	show("POST /connect/{token}/undo", c.undoConnect)
	show("GET /oauth/callback/{app}", c.callback)
	show("POST /oauth/callback/{app}", c.callbackForm)
	if c.ClientDocument != nil {
		show("GET /oauth/client.json", c.clientDocument)
	}
}

// securityTxt says whom to tell about a vulnerability.
func (c *Console) securityTxt(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write([]byte(c.Site.SecurityTxt(time.Now())))
}
