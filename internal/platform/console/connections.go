package console

import (
	"net/http"
	"slices"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/console/page"
	"ace/internal/platform/platformhttp/gate"
)

// connectionRow is a connection as lists show it.
type connectionRow struct {
	ID, App, AppName, Label string
	Whose                   string // at the vendor
	Tenant                  string
	EndUser                 string
	Default                 bool
	Health                  health
	CreatedAt               time.Time
	UsedAt                  time.Time
	CheckedAt               time.Time
}

// health is how a connection stands, in words.
type health struct {
	Tone      string // good, wait, stop or off: the colour
	State     string
	Why       string
	Do        string // what the owner does about it; empty: nothing
	Reconnect bool   // that is what helps
}

func healthOf(c *connection.Connection, name string) health {
	switch c.Status {
	case connection.Active:
		if c.Reason == connection.ReasonScopesMissing {
			return health{"wait", "Works in part", name + " did not allow everything that was asked for.", "Reconnect it and allow all, if tools are refused.", true}
		}
		return health{Tone: "good", State: "Works"}
	case connection.Disabled:
		return health{Tone: "off", State: "Switched off", Why: "No key can use it.", Do: "Switch it on to use it again."}
	case connection.Revoked:
		return health{Tone: "off", State: "Deleted"}
	case connection.NeedsReconnect:
		return health{"stop", "Needs you", whyStopped(c.Reason, name), "Reconnect it: the connection and everything that uses it stay the same.", true}
	case connection.Failing:
	}
	switch c.Reason {
	case connection.ReasonClient:
		return health{Tone: "stop", State: "Not usable", Why: name + " no longer knows the OAuth client of this platform.", Do: "Tell whoever runs this platform. Reconnecting does not help."}
	case connection.ReasonUnavailable:
		return health{Tone: "wait", State: "No answer", Why: name + " does not answer at the moment.", Do: "Wait; it goes on by itself."}
	}
	return health{"stop", "Check failed", name + " answered, but not as it should.", "Check it again in a while. If that does not help, reconnect it.", true}
}

// whyStopped is why only the person can mend a connection.
func whyStopped(reason, name string) string {
	switch reason {
	case connection.ReasonTokenExpired:
		return "The sign-in at " + name + " has run out."
	case connection.ReasonUserRevoked:
		return name + " refuses the sign-in: access was taken back there, or the key was deleted."
	case connection.ReasonUndecryptable:
		return "What was kept of the sign-in cannot be read any more."
	}
	return name + " does not accept the sign-in any more."
}

func (c *Console) rowOfConnection(r *http.Request, conn *connection.Connection) (connectionRow, error) {
	name := conn.App
	view, err := c.Library.For(r.Context(), conn.AccountID)
	if err != nil {
		return connectionRow{}, err
	}
	if a, err := view.Catalog.App(conn.App); err == nil {
		name = a.Name
	}
	return connectionRow{
		ID: conn.ID, App: conn.App, AppName: name, Label: conn.Label, Whose: whose(conn.Identity), Tenant: conn.Identity.Tenant, EndUser: conn.EndUser, Default: conn.Default,
		Health: healthOf(conn, name), CreatedAt: conn.CreatedAt, UsedAt: conn.LastUsedAt, CheckedAt: conn.LastCheckedAt,
	}, nil
}

// whose names an account at a vendor.
func whose(i connection.Identity) string {
	switch {
	case i.Name != "" && i.Email != "" && i.Name != i.Email:
		return i.Name + " (" + i.Email + ")"
	case i.Email != "":
		return i.Email
	case i.Name != "":
		return i.Name
	}
	return i.ID
}

// connectionRows are all connections of an account, those that need somebody
// first.
func (c *Console) connectionRows(r *http.Request, accountID string) ([]connectionRow, error) {
	list, err := c.Connections.List(r.Context(), accountID, connection.Query{AnyEndUser: true})
	if err != nil {
		return nil, err
	}
	rows := make([]connectionRow, 0, len(list))
	for _, conn := range list {
		row, err := c.rowOfConnection(r, conn)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b connectionRow) int { return urgency(a) - urgency(b) })
	return rows, nil
}

func urgency(row connectionRow) int {
	return slices.Index([]string{"stop", "wait", "good", "off"}, row.Health.Tone)
}

// connectionView fills connection.html.
type connectionView struct {
	page.Frame
	Connection connectionRow
	Scheme     string
	Told       bool // the app is told, if it is deleted
	Scopes     []string
	Params     []choice
	Disabled   bool
	Connects   bool // the reader may change it
	Notice     string
	Fault      string
}

func connectionNotices() map[string]string {
	return map[string]string{
		"saved": "Saved.", "checked": "The app was asked just now: this is how it stands.", "off": "It is switched off: no key can use it.", "on": "It is switched on.",
	}
}

func (c *Console) connection(w http.ResponseWriter, r *http.Request) {
	view, err := c.connectionView(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	view.Notice = connectionNotices()[r.URL.Query().Get("done")]
	c.pages.Show(w, r, http.StatusOK, "connection", view)
}

func (c *Console) connectionView(r *http.Request) (*connectionView, error) {
	f, caller := c.personal(r, "")
	conn, err := c.Connections.Get(r.Context(), caller.Account, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if conn.Status == connection.Revoked {
		return nil, problem.New(problem.Gone, "connection_not_found", "This connection was deleted.")
	}
	row, err := c.rowOfConnection(r, conn)
	if err != nil {
		return nil, err
	}
	f.Title, f.Narrow = row.AppName, true
	view := &connectionView{
		Frame: f, Connection: row, Scheme: conn.Scheme, Scopes: conn.Scopes, Disabled: conn.Status == connection.Disabled, Connects: caller.Session.User.Role.Connects(),
	}
	lib, err := c.Library.For(r.Context(), caller.Account)
	if err != nil {
		return nil, err
	}
	a, err := lib.Catalog.App(conn.App)
	if err != nil {
		return view, nil //nolint:nilerr // an app that is gone: the connection can still be deleted
	}
	if scheme, known := a.Scheme(conn.Scheme); known {
		view.Scheme, view.Told = wayOf(a, scheme).Title, a.CanEnd(scheme)
	}
	for _, name := range sortedNames(a.Params) {
		if value := conn.Params[name]; value != "" {
			view.Params = append(view.Params, choice{value, titleOf(a.Params[name], name)})
		}
	}
	return view, nil
}

// titleOf names a param to people.
func titleOf(p app.Param, name string) string {
	if p.Title != "" {
		return p.Title
	}
	return name
}

// changeConnection does what the buttons of a connection's page say.
func (c *Console) changeConnection(w http.ResponseWriter, r *http.Request) {
	caller, id := gate.From(r.Context()), r.PathValue("id")
	on, off := true, false
	path := accountPath + "/connections/" + id
	var err error
	switch r.PostFormValue("do") {
	case "label":
		label := r.PostFormValue("label")
		_, err = c.Connections.Update(r.Context(), caller.Actor, caller.Account, id, connection.Change{Label: &label})
		path += "?done=saved"
	case "default":
		_, err = c.Connections.Update(r.Context(), caller.Actor, caller.Account, id, connection.Change{Default: &on})
		path += "?done=saved"
	case "off":
		_, err = c.Connections.Update(r.Context(), caller.Actor, caller.Account, id, connection.Change{Disabled: &on})
		path += "?done=off"
	case "on":
		_, err = c.Connections.Update(r.Context(), caller.Actor, caller.Account, id, connection.Change{Disabled: &off})
		path += "?done=on"
	case "check":
		_, err = c.Connections.Check(r.Context(), caller.Actor, caller.Account, id)
		path += "?done=checked"
	case "reconnect":
		path, err = c.reconnect(r, caller, id)
	case "delete":
		err = c.Connections.Delete(r.Context(), caller.Actor, caller.Account, id, true)
		path = accountPath + "?done=connection_deleted"
	default:
		err = problem.New(problem.Invalid, "invalid_request", "The form does not say what to do.")
	}
	if err == nil {
		back(w, r, path)
		return
	}
	c.changeFailed(w, r, err)
}

// changeFailed shows the connection's page with what went wrong.
func (c *Console) changeFailed(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := problem.From(err)
	if !ok || p.Kind == problem.NotFound {
		c.fail(w, r, err)
		return
	}
	view, viewErr := c.connectionView(r)
	if viewErr != nil {
		c.fail(w, r, viewErr)
		return
	}
	view.Fault = p.Detail
	c.pages.Show(w, r, p.Kind.Status(), "connection", view)
}

// reconnect answers the address of a link that mends a connection.
func (c *Console) reconnect(r *http.Request, caller *gate.Caller, id string) (string, error) {
	conn, err := c.Connections.Get(r.Context(), caller.Account, id)
	if err != nil {
		return "", err
	}
	session, err := c.Connections.Open(r.Context(), caller.Actor, caller.Account, connection.Request{App: conn.App, Wish: connection.Wish{Reconnects: id}})
	if err != nil {
		return "", err
	}
	return c.Connections.Link(session.ID), nil
}

// connectApp makes a link for a person who wants to connect an app, and leads
// to it.
func (c *Console) connectApp(w http.ResponseWriter, r *http.Request) {
	caller := gate.From(r.Context())
	session, err := c.Connections.Open(r.Context(), caller.Actor, caller.Account, connection.Request{App: r.PathValue("app")})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	back(w, r, c.Connections.Link(session.ID))
}
