package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/console/page"
	"ace/internal/platform/platformhttp/gate"
)

// connectView fills connect.html: the question, and the form.
type connectView struct {
	page.Frame
	Action     string // path of the link
	App        appRow
	Whose      string // name of the account
	AskedBy    string
	Doubt      bool // others than people of the account may open it: ask whether it is theirs
	Label      string
	EndUser    string
	Reconnects *connectionRow
	Expires    time.Time
	Minutes    int // until then

	Ways   []wayTab // empty: there is one
	Scheme string
	Away   bool // the button leads to the vendor
	Help   string
	Scopes []string
	Inputs []field
	Fault  string
	Return string // host that the browser goes back to
	Verify string // host of the page that says who is there, asked first; empty: none
}

// wayTab is one way to connect among several.
type wayTab struct {
	Title, Path string
	Chosen      bool
}

// field is one thing to type.
type field struct {
	Name     string // of the form
	Title    string
	About    string
	Value    string
	Example  string
	Before   string // text before and after the value
	After    string
	Choices  []string
	Secret   bool
	Long     bool // several lines
	Optional bool
	Fault    string
}

// visitor is the browser at a connect page. Each browser gets a secret.
func (c *Console) visitor(w http.ResponseWriter, r *http.Request) (connection.Visitor, error) {
	v := connection.Visitor{Browser: c.readCookie(r, cookieConnect), Actor: gate.Actor(r)}
	if len(v.Browser) != len(random()) {
		v.Browser = ""
		if r.Method == http.MethodGet {
			v.Browser = random()
			c.cookie(w.Header(), cookieConnect, v.Browser, connection.MaxSessionLifetime)
		}
	}
	session, err := c.gate.Session(r)
	if err != nil || session == nil {
		return v, err
	}
	v.AccountID, v.Actor = session.Account.ID, gate.ByPerson(r, session).Actor
	return v, nil
}

// connect shows the page of a link, however it stands.
func (c *Console) connect(w http.ResponseWriter, r *http.Request) {
	v, err := c.visitor(w, r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	visit, err := c.Connections.Visit(r.Context(), r.PathValue("token"), v)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if visit.Status.Over() {
		c.showOutcome(w, r, visit)
		return
	}
	fault := ""
	if visit.Session.Code != "" {
		fault = visit.Session.Detail
	}
	c.ask(w, r, http.StatusOK, visit, connection.Form{Scheme: r.URL.Query().Get("way")},
		problem.New(problem.Invalid, "invalid_fields", fault))
}

// submitConnect takes the form of a link.
func (c *Console) submitConnect(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c.step(w, r, func(v connection.Visitor) (*connection.Outcome, error) {
		return c.Connections.Submit(r.Context(), r.PathValue("token"), v, readConnectForm(r))
	})
}

func (c *Console) denyConnect(w http.ResponseWriter, r *http.Request) {
	c.step(w, r, func(v connection.Visitor) (*connection.Outcome, error) {
		return c.Connections.Deny(r.Context(), r.PathValue("token"), v)
	})
}

func (c *Console) undoConnect(w http.ResponseWriter, r *http.Request) {
	c.step(w, r, func(v connection.Visitor) (*connection.Outcome, error) {
		o, err := c.Connections.Undo(r.Context(), r.PathValue("token"), v)
		if err == nil {
			o.Redirect = o.Page // the person decided here, and reads here what came of it
		}
		return o, err
	})
}

// step does what a form of a connect page asks for and leads on. What the
// user can fix is shown next to the form.
func (c *Console) step(w http.ResponseWriter, r *http.Request,
	do func(connection.Visitor) (*connection.Outcome, error),
) {
	if err := gate.SameSite(r); err != nil {
		c.fail(w, r, err)
		return
	}
	v, err := c.visitor(w, r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	o, err := do(v)
	if err == nil {
		back(w, r, o.Redirect)
		return
	}
	p := httpserver.ProblemOf(r.Context(), err)
	visit, visitErr := c.Connections.Visit(r.Context(), r.PathValue("token"), v)
	if visitErr != nil || visit.Status.Over() || p.Kind == problem.Internal || p.Kind == problem.Unauthenticated {
		c.fail(w, r, err)
		return
	}
	c.ask(w, r, p.Kind.Status(), visit, readConnectForm(r), p)
}

const (
	prefixField = "field."
	prefixParam = "param."
)

func readConnectForm(r *http.Request) connection.Form {
	form := connection.Form{
		Scheme: r.PostFormValue("scheme"), Fields: connection.Credentials{},
		Params: map[string]string{},
	}
	for name, values := range r.PostForm {
		if field, ok := strings.CutPrefix(name, prefixField); ok {
			form.Fields[field] = values[0]
		}
		if param, ok := strings.CutPrefix(name, prefixParam); ok {
			form.Params[param] = values[0]
		}
	}
	return form
}

// ask shows the question and the form of a link that waits. p holds what was
// wrong with what was typed.
func (c *Console) ask(w http.ResponseWriter, r *http.Request, status int, visit *connection.Visit, form connection.Form,
	p *problem.Problem,
) {
	f, err := c.public(r, "Connect "+visit.App.Name)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Narrow = true
	options := visit.Session.Options
	view := connectView{
		Frame: f, Action: r.URL.Path, App: rowOfApp(visit.App), Doubt: options.Verify != connection.VerifyAccount,
		Label: options.Label, EndUser: options.EndUser,
		Expires: visit.Session.ExpiresAt,
		Minutes: int((time.Until(visit.Session.ExpiresAt) + time.Minute - 1) / time.Minute), Fault: p.Detail,
	}
	if i := strings.LastIndex(view.Action, "/deny"); i > 0 {
		view.Action = view.Action[:i]
	}
	if view.Whose, view.AskedBy, err = c.asker(r.Context(), visit.Session, f); err != nil {
		c.fail(w, r, err)
		return
	}
	if visit.Reconnects != nil {
		row, err := c.rowOfConnection(r, visit.Reconnects)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		view.Reconnects, view.Title = &row, "Reconnect "+visit.App.Name
	}
	scheme := chosen(visit.Schemes, form.Scheme)
	view.offer(visit, scheme, form, p)
	w.Header().Set("Content-Security-Policy", page.ContentPolicy(leadsTo(visit, scheme)))
	if back := returnHost(options.RedirectURL); back != "" {
		view.Return = back
	}
	c.pages.Show(w, r, status, "connect", view)
}

// offer fills in how the app can be connected.
func (v *connectView) offer(visit *connection.Visit, scheme *app.Scheme, form connection.Form, p *problem.Problem) {
	v.Scheme, v.Help, v.Away = scheme.ID, scheme.Help, away(scheme)
	if len(visit.Schemes) > 1 {
		for _, s := range visit.Schemes {
			v.Ways = append(v.Ways,
				wayTab{wayOf(visit.App, s).Title, v.Action + "?" + url.Values{"way": {s.ID}}.Encode(), s == scheme})
		}
	}
	v.Scopes = visit.Session.Options.Scopes
	if len(v.Scopes) == 0 && scheme.OAuth != nil {
		v.Scopes = scheme.OAuth.Scopes.Default
	}
	faults := map[string]string{}
	for _, item := range p.Items {
		faults[item.Pointer] = item.Detail
	}
	if options := visit.Session.Options; options.Verify == connection.VerifyCallback && !visit.Session.Confirmed {
		v.Verify = returnHost(options.VerifyURL) // nothing is typed before that
		return
	}
	v.Inputs = append(paramInputs(visit, scheme, form, faults), fieldInputs(scheme, form, faults)...)
}

// paramInputs are what calls need besides credentials, such as a subdomain.
func paramInputs(visit *connection.Visit, scheme *app.Scheme, form connection.Form, faults map[string]string) []field {
	var inputs []field
	names := sortedNames(visit.App.Params)
	slices.SortStableFunc(names,
		func(a, b string) int { return effort(visit.App.Params[a]) - effort(visit.App.Params[b]) })
	for _, name := range names {
		p := visit.App.Params[name]
		if p.Learned || p.Scheme != "" && p.Scheme != scheme.ID {
			continue
		}
		value := p.Default
		if host := visit.Servers[scheme.ID][name]; host != "" {
			value = host
		}
		if visit.Reconnects != nil && visit.Reconnects.Params[name] != "" {
			value = visit.Reconnects.Params[name]
		}
		for _, from := range []map[string]string{visit.Session.Options.Params, form.Params} {
			if given, ok := from[name]; ok {
				value = given
			}
		}
		inputs = append(inputs, field{
			Name: prefixParam + name, Title: titleOf(p, name), About: p.About, Value: value, Example: p.Example,
			Before: p.StripPrefix, After: p.StripSuffix,
			Choices: p.Enum, Optional: p.Optional, Fault: faults["/params/"+name],
		})
	}
	return inputs
}

// effort orders params: what has to be typed comes first.
func effort(p app.Param) int {
	switch {
	case p.Optional:
		return 2
	case p.Default != "":
		return 1
	}
	return 0
}

// fieldInputs are the credentials to type. What was typed into a secret one is
// never shown again.
func fieldInputs(scheme *app.Scheme, form connection.Form, faults map[string]string) []field {
	var inputs []field
	for _, f := range scheme.Fields {
		in := field{
			Name: prefixField + f.Name, Title: f.Title, About: f.About, Example: f.Example, Secret: f.Secret,
			Optional: f.Optional, Fault: faults["/fields/"+f.Name],
			Long: scheme.JWT != nil && strings.Contains(scheme.JWT.Key, "{"+f.Name+"}") && scheme.JWT.Encoding == "",
		}
		if in.Title == "" {
			in.Title = f.Name
		}
		if !f.Secret {
			in.Value = form.Fields[f.Name]
		}
		inputs = append(inputs, in)
	}
	return inputs
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// chosen is the scheme that the person chose, or the first one.
func chosen(schemes []*app.Scheme, id string) *app.Scheme {
	for _, s := range schemes {
		if s.ID == id {
			return s
		}
	}
	return schemes[0]
}

// away reports whether connecting by a scheme leads to the vendor.
func away(s *app.Scheme) bool {
	return s.Type == app.TypeOAuth2 || s.Type == app.TypeOAuth1 || s.Type == app.TypeMCP
}

// leadsTo is where the form of a link may lead besides this host: to the
// vendor, who may lead on to others, to the developer's page that confirms who
// is there, and back to the developer. A form for secrets leads to none but the
// last.
func leadsTo(visit *connection.Visit, scheme *app.Scheme) string {
	var to []string
	options := visit.Session.Options
	if away(scheme) || options.Verify == connection.VerifyCallback {
		to = append(to, "https:")
	}
	addresses := []string{options.RedirectURL, options.VerifyURL}
	if away(scheme) && scheme.OAuth != nil {
		addresses = append(addresses, scheme.OAuth.Authorize.URL)
	}
	if away(scheme) {
		addresses = append(addresses, scheme.URL)
	}
	for _, address := range addresses {
		if origin := originOf(address); origin != "" && !slices.Contains(to, origin) {
			to = append(to, origin)
		}
	}
	return strings.Join(to, " ")
}

// originOf is the origin of an address as policies spell it; empty where a
// template leaves it open.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host, "{}*; ,'\"") || u.Scheme != "https" &&
		u.Scheme != "http" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// returnHost names where the browser goes back to.
func returnHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// asker names the account that a link is for, and who asked for it.
func (c *Console) asker(ctx context.Context, session *connection.Session,
	f page.Frame,
) (account, by string, err error) {
	a, err := c.Accounts.ByID(ctx, session.AccountID)
	if err != nil {
		return "", "", err
	}
	switch session.AskedBy.Kind {
	case audit.ByKey:
		by = "the API key “" + session.AskedBy.Name + "”"
	case audit.ByUser:
		by = session.AskedBy.Name
		if f.Account == a.Name {
			by = "you or a colleague, on the account page"
		}
	default:
		by = "the operator of this platform"
	}
	return a.Name, by, nil
}
