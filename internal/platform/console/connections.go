package console

import (
	"context"
	"net/http"
	"slices"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/console/page"
	"ace/internal/platform/operation"
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

func healthOf(status connection.Status, reason, name string) health {
	switch status {
	case connection.Active:
		if reason == connection.ReasonScopesMissing {
			return health{
				"wait", "Works in part", name + " did not allow everything that was asked for.",
				"Reconnect it and allow all, if tools are refused.", true,
			}
		}
		return health{Tone: "good", State: "Works"}
	case connection.Disabled:
		return health{
			Tone: "off", State: "Switched off", Why: "No key can use it.",
			Do: "Switch it on to use it again.",
		}
	case connection.Revoked:
		return health{Tone: "off", State: "Deleted"}
	case connection.NeedsReconnect:
		return health{
			"stop", "Needs you", whyStopped(reason, name),
			"Reconnect it: the connection and everything that uses it stay the same.", true,
		}
	case connection.Failing:
	}
	switch reason {
	case connection.ReasonClient:
		return health{
			Tone: "stop", State: "Not usable",
			Why: name + " no longer knows the OAuth client of this platform.",
			Do:  "Tell the operator of this platform. Reconnecting does not help.",
		}
	case connection.ReasonUnavailable:
		return health{
			Tone: "wait", State: "No answer", Why: name + " does not answer at the moment.",
			Do: "Wait; it goes on by itself.",
		}
	}
	return health{
		"stop", "Check failed", name + " answered, but not as it should.",
		"Check it again in a while. If that does not help, reconnect it.", true,
	}
}

// whyStopped is why only the user can fix a connection.
func whyStopped(reason, name string) string {
	switch reason {
	case connection.ReasonTokenExpired:
		return "The sign-in at " + name + " has run out."
	case connection.ReasonUserRevoked:
		return name + " refuses the sign-in: access was revoked there, or the key was deleted."
	case connection.ReasonUndecryptable:
		return "The stored credentials cannot be decrypted."
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
		ID:      conn.ID,
		App:     conn.App,
		AppName: name,
		Label:   conn.Label,
		Whose:   whose(conn.Identity),
		Tenant:  conn.Identity.Tenant,
		EndUser: conn.EndUser,
		Default: conn.Default,
		Health: healthOf(
			conn.Status,
			conn.Reason,
			name,
		),
		CreatedAt: conn.CreatedAt,
		UsedAt:    conn.LastUsedAt,
		CheckedAt: conn.LastCheckedAt,
	}, nil
}

// rowOfShown is rowOfConnection for what operations return.
func rowOfShown(conn *operation.Connection) connectionRow {
	identity := connection.Identity{
		ID: text(conn.Account.ID), Name: text(conn.Account.Name), Email: text(conn.Account.Email),
		Tenant: text(conn.Account.Tenant),
	}
	return connectionRow{
		ID: conn.ID, App: conn.App, AppName: conn.AppName, Label: text(conn.Label), Whose: whose(identity),
		Tenant: identity.Tenant, EndUser: text(conn.EndUser), Default: conn.Default,
		Health:    healthOf(connection.Status(conn.Status), text(conn.Reason), conn.AppName),
		CreatedAt: conn.CreatedAt, UsedAt: orZero(conn.LastUsed), CheckedAt: orZero(conn.Checked),
	}
}

// text is a text that may be missing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
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
func (c *Console) connectionRows(ctx context.Context, caller *operation.Caller) ([]connectionRow, error) {
	rows := []connectionRow{}
	in := operation.ListConnectionsRequest{Limit: 100}
	for {
		list, err := c.Operations.ListConnections(ctx, caller, in)
		if err != nil {
			return nil, err
		}
		for i := range list.Connections {
			rows = append(rows, rowOfShown(&list.Connections[i]))
		}
		if list.NextCursor == nil {
			break
		}
		in.Cursor = *list.NextCursor
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
	Told       bool // the app is notified of the deletion
	Scopes     []string
	Params     []choice
	Disabled   bool
	Connects   bool // the reader may change it
	Notice     string
	Fault      string
}

func connectionNotices() map[string]string {
	return map[string]string{
		"saved": "Saved.", "checked": "The app was asked just now: this is how it stands.",
		"off": "It is switched off: no key can use it.", "on": "It is switched on.",
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
	conn, err := c.Operations.Connection(r.Context(), caller, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	status := connection.Status(conn.Status)
	if status == connection.Revoked {
		return nil, problem.New(problem.Gone, "connection_not_found", "This connection was deleted.")
	}
	f.Title, f.Narrow = conn.AppName, true
	view := &connectionView{
		Frame: f, Connection: rowOfShown(conn), Scheme: conn.Scheme, Scopes: conn.Scopes,
		Disabled: status == connection.Disabled, Connects: caller.Session.User.Role.Connects(),
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
	path, err := accountPath+"/connections/"+id, error(nil)
	change := func(in operation.ConnectionChange, done string) {
		_, err = c.Operations.ChangeConnection(r.Context(), caller, id, in)
		path += "?done=" + done
	}
	on, off := true, false
	switch r.PostFormValue("do") {
	case "label":
		label := r.PostFormValue("label")
		change(operation.ConnectionChange{Label: &label}, "saved")
	case "default":
		change(operation.ConnectionChange{Default: &on}, "saved")
	case "off":
		change(operation.ConnectionChange{Disabled: &on}, "off")
	case "on":
		change(operation.ConnectionChange{Disabled: &off}, "on")
	case "check":
		_, err = c.Operations.CheckConnection(r.Context(), caller, id)
		path += "?done=checked"
	case "reconnect":
		var link *operation.ConnectLink
		if link, _, err = c.Operations.Reconnect(
			r.Context(),
			caller,
			"",
			id,
			operation.ReconnectRequest{},
		); err == nil {
			path = link.URL
		}
	case "delete":
		err = c.Operations.DeleteConnection(r.Context(), caller, id, true)
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

// connectApp creates a link for a person who wants to connect an app, and leads
// to it.
func (c *Console) connectApp(w http.ResponseWriter, r *http.Request) {
	link, _, err := c.Operations.ConnectApp(r.Context(), gate.From(r.Context()), "", r.PathValue("app"),
		operation.ConnectRequest{})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	back(w, r, link.URL)
}
