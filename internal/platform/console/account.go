package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/platform/console/page"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
)

// accountView fills account.html.
type accountView struct {
	page.Frame
	Notice      string
	Keys        []keyRow
	Ended       []keyRow // keys that open nothing any more
	User        account.User
	Login       string // what the person types with a password
	Fault       string // of the password form
	NeedsOld    bool   // a new password needs the one so far
	NeedsLink   bool   // a password needs a fresh sign-in by a link
	SignIns     []signInRow
	Activity    []activityRow
	Connections []connectionRow
	Waiting     []approvalRow
	Connectors  []connectorRow
	Connects    bool // the reader may connect apps
	Redirects   redirectsView
}

// signInRow is one place where the person is signed in.
type signInRow struct {
	ID, Method, From string
	At, SeenAt       time.Time
	This             bool
}

// shownEntries is how much of the activity the account page shows.
const shownEntries = 8

// notices are what a form says when it has done its work, by the name in the
// address it leads to.
func notices() map[string]string {
	return map[string]string{
		"key_revoked": "The key is revoked. Every request with it now fails.",
		"connection_deleted": "The connection is deleted. Its credentials are deleted; the sign-in is revoked " +
			"at the app if the app supports it.",
		"password_set":     "The password is set. Your other sessions were signed out.",
		"sign_in_ended":    "That browser is signed out.",
		"sign_ins_ended":   "All other browsers are signed out.",
		"redirect_added":   "The address is on the list. Connect links that are out already stay as they are.",
		"redirect_removed": "The address is off the list. Connect links that are out already stay as they are.",
		"redirects_open":   "The list is empty: connect links may send browsers to any https address again.",
	}
}

func (c *Console) account(w http.ResponseWriter, r *http.Request) {
	view, err := c.accountView(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	view.Notice = notices()[r.URL.Query().Get("done")]
	c.pages.Show(w, r, http.StatusOK, "account", view)
}

func (c *Console) accountView(r *http.Request) (*accountView, error) {
	f, caller := c.personal(r, "Your account")
	view := &accountView{Frame: f, User: caller.Session.User, Login: caller.Session.User.Email}
	if view.Login == "" && caller.Session.User.Role == account.Owner {
		view.Login = caller.Session.Account.Name
	}
	var err error
	if view.Connections, err = c.connectionRows(r.Context(), caller); err != nil {
		return nil, err
	}
	if view.Waiting, err = c.waiting(r.Context(), caller.Account); err != nil {
		return nil, err
	}
	connectors, err := c.Operations.ListCustomConnectors(r.Context(), caller)
	if err != nil {
		return nil, err
	}
	for i := range connectors.Connectors {
		view.Connectors = append(view.Connectors, rowOfConnector(&connectors.Connectors[i]))
	}
	view.Connects = caller.Session.User.Role.Connects()
	if err := c.addSignIns(r.Context(), view, caller); err != nil {
		return nil, err
	}
	if err := c.addSettings(r.Context(), view, caller); err != nil {
		return nil, err
	}
	if view.Audits {
		log, err := c.Operations.AuditLog(r.Context(), caller, operation.AuditRequest{Limit: shownEntries})
		if err != nil {
			return nil, err
		}
		view.Activity = activityRows(log.Entries)
	}
	return view, nil
}

// addSettings adds keys and redirect URLs.
func (c *Console) addSettings(ctx context.Context, view *accountView, caller *operation.Caller) error {
	redirects, err := c.Operations.RedirectURLs(ctx, caller)
	if err != nil {
		return err
	}
	view.Redirects.List = redirects.URLs
	keys, err := c.Operations.ListKeys(ctx, caller)
	if err != nil {
		return err
	}
	for i := range keys.Keys {
		if row := rowOfKey(&keys.Keys[i]); row.Live {
			view.Keys = append(view.Keys, row)
		} else {
			view.Ended = append(view.Ended, row)
		}
	}
	return nil
}

// addSignIns adds where the person is signed in, and what a new password needs.
func (c *Console) addSignIns(ctx context.Context, view *accountView, caller *operation.Caller) error {
	fresh := caller.Session.FreshAt(time.Now())
	view.NeedsOld = view.User.HasPassword && !fresh
	view.NeedsLink = !view.User.HasPassword && !fresh
	sessions, err := c.Operations.Sessions(ctx, caller)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		view.SignIns = append(view.SignIns, signInRow{
			ID: s.PublicID, Method: methodWords(s.Method), From: s.Address, At: s.CreatedAt, SeenAt: s.SeenAt,
			This: s.ID == caller.Session.ID,
		})
	}
	return nil
}

// methodWords is how somebody signed in, in words.
func methodWords(method string) string {
	switch method {
	case account.ByLink:
		return "a link"
	case account.ByIdentity:
		return "the OpenID provider"
	case account.ByPassword:
		return "password"
	}
	return "an earlier version"
}

// endSession ends one of the person's sign-ins, or all others.
func (c *Console) endSession(w http.ResponseWriter, r *http.Request) {
	id, done := r.PostFormValue("sign_in"), "sign_in_ended"
	if id == "" {
		done = "sign_ins_ended"
	}
	err := c.Operations.EndSession(r.Context(), gate.From(r.Context()), id)
	if err != nil && !problem.Is(err, "session_not_found") { // it has ended, which is what was wanted
		c.fail(w, r, err)
		return
	}
	back(w, r, accountPath+"?done="+done)
}

func (c *Console) setPassword(w http.ResponseWriter, r *http.Request) {
	err := c.Operations.SetPassword(r.Context(), gate.From(r.Context()), r.PostFormValue("old_password"),
		r.PostFormValue("password"))
	if err == nil {
		back(w, r, accountPath+"?done=password_set")
		return
	}
	c.refuseAccount(w, r, err, func(view *accountView, fault string) { view.Fault = fault })
}

// refuseAccount shows the account page with what was wrong about a form on it.
func (c *Console) refuseAccount(w http.ResponseWriter, r *http.Request, err error,
	put func(view *accountView, fault string),
) {
	p, ok := problem.From(err)
	if !ok {
		c.fail(w, r, err)
		return
	}
	view, err := c.accountView(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	put(view, p.Detail)
	c.pages.Show(w, r, http.StatusUnprocessableEntity, "account", view)
}

// activityView fills activity.html.
type activityView struct {
	page.Frame
	Activity []activityRow
	Older    string // path of the next page; empty: this is the last one
}

// activityRow is one change in words.
type activityRow struct {
	At   time.Time
	What string
	Who  string
	From string // network address
}

const activityPage = 50

func (c *Console) activity(w http.ResponseWriter, r *http.Request) {
	f, caller := c.personal(r, "Activity")
	in := operation.AuditRequest{Limit: activityPage, Cursor: r.URL.Query().Get("before")}
	log, err := c.Operations.AuditLog(r.Context(), caller, in)
	if problem.Is(err, "invalid_cursor") { // of another list, or of an older version: the first page
		in.Cursor = ""
		log, err = c.Operations.AuditLog(r.Context(), caller, in)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	view := activityView{Frame: f, Activity: activityRows(log.Entries)}
	if log.NextCursor != nil {
		view.Older = "/account/activity?before=" + *log.NextCursor
	}
	c.pages.Show(w, r, http.StatusOK, "activity", view)
}

func activityRows(entries []operation.AuditEntry) []activityRow {
	words := actions()
	rows := make([]activityRow, len(entries))
	for i := range entries {
		e := &entries[i]
		rows[i] = activityRow{At: e.At, What: inWords(e, words), Who: whoDid(audit.Actor(e.Actor)), From: e.Actor.IP}
	}
	return rows
}

// actions are the changes in words; {name} is a member of an entry's detail.
func actions() map[string]string {
	return map[string]string{
		"account.created":                "The account was made",
		"account.disabled":               "The account was disabled",
		"account.enabled":                "The account was enabled",
		"account.redirect_urls_set":      "Where connect links may send browsers was changed",
		"sign_in.link_made":              "A sign-in link was made",
		"session.begun":                  "Signed in by {method}",
		"session.ended":                  "Signed out",
		"session.others_ended":           "Signed out everywhere else",
		"sign_in.failed":                 "Somebody tried to sign in with a wrong password",
		"sign_in.blocked":                "Signing in by password was blocked after too many wrong passwords",
		"user.linked":                    "Sign-in by the OpenID provider was set up",
		"user.password_set":              "A password was set",
		"key.created":                    "The key “{name}” was made ({permissions})",
		"key.changed":                    "The key “{name}” was changed ({permissions})",
		"key.revoked":                    "A key was revoked",
		"key.rotated":                    "A key was replaced by a new one",
		"oauth_client.set":               "An OAuth client was set",
		"oauth_client.deleted":           "An OAuth client was deleted",
		"connect.asked":                  "A link to connect {app} was asked for",
		"connect.confirmed":              "Who opened a connect link was confirmed",
		"connect.refused":                "A connect link was opened by somebody else",
		"connect.denied":                 "A request to connect was turned down",
		"connect.failed":                 "Connecting an app did not work ({code})",
		"connect.cancelled":              "A link to connect an app was canceled",
		"connection.made":                "{app} was connected",
		"connection.mended":              "{app} was reconnected",
		"connection.changed":             "A connection was changed",
		"connection.deleted":             "A connection to {app} was deleted",
		"connection.needs_reconnect":     "A connection stopped working ({reason})",
		"connection.ended_at_vendor":     "A sign-in at {app} was revoked",
		"connection.not_ended_at_vendor": "A sign-in at {app} could not be revoked",
		"connection.unreadable":          "The stored credentials of a connection cannot be decrypted",
		"connector.made":                 "The connector {app} was made",
		"connector.changed":              "The connector {app} was changed",
		"connector.refreshed":            "A connector was refreshed",
		"connector.approved":             "Changed tools of the connector {app} were approved",
		"connector.read_only_set":        "It was said which tools of the connector {app} only read",
		"connector.deleted":              "The connector {app} was deleted",
		"run.approved":                   "A run of {tool} was approved",
		"run.denied":                     "A run of {tool} was refused",
		"connect.undone":                 "A new connection was undone",
	}
}

// inWords says what an entry records.
func inWords(e *operation.AuditEntry, words map[string]string) string {
	text, ok := words[e.Action]
	if !ok {
		return strings.NewReplacer(".", ": ", "_", " ").Replace(e.Action)
	}
	for name, value := range e.Detail {
		if e.Action == "session.begun" {
			value = methodWords(value)
		}
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// whoDid names an actor.
func whoDid(a audit.Actor) string {
	switch a.Kind {
	case audit.ByKey:
		return "key " + a.Name
	case audit.ByOperator:
		return "the operator"
	case audit.BySystem:
		return "the platform"
	}
	if a.Name == "" {
		return "somebody of this account"
	}
	return a.Name
}
