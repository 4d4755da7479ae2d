package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/console/page"
	"ace/internal/platform/library"
)

// appRow is an app as lists show it.
type appRow struct {
	ID, Name, About string
	Categories      []string
	Tools           int
	Closed          bool // its sign-in needs an OAuth client that is not set
}

func rowOfApp(a *app.App) appRow {
	return appRow{ID: a.ID, Name: a.Name, About: a.About, Categories: a.Categories, Tools: a.ToolCount()}
}

// appsView fills apps.html.
type appsView struct {
	page.Frame
	Query, Category string
	Categories      []string
	Apps            []appRow
	Found, All      int    // of the catalogue
	Own             int    // found of what this installation or account has added
	Page, Pages     int    // from 1
	Earlier, Later  string // paths of other pages
}

const appsPage = 60

// usable returns what the reader can use: the apps for everybody, and those that
// the account of a signed-in user has added.
func (c *Console) usable(r *http.Request) (*library.View, error) {
	session, err := c.gate.Session(r)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return c.Library.Shared(), nil
	}
	return c.Library.For(r.Context(), session.Account.ID)
}

// catalog returns the apps that the reader can use.
func (c *Console) catalog(r *http.Request) (*app.Catalog, error) {
	view, err := c.usable(r)
	if err != nil {
		return nil, err
	}
	return view.Catalog, nil
}

func (c *Console) apps(w http.ResponseWriter, r *http.Request) {
	f, err := c.public(r, "Apps")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Hidden, f.Description = false, "Every app that an agent can use here, with its tools."
	usable, err := c.usable(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	catalog, query := usable.Catalog, r.URL.Query()
	view := appsView{
		Frame: f, Query: strings.TrimSpace(query.Get("q")), Category: query.Get("category"),
		All: listed(catalog),
	}
	for _, a := range catalog.Apps() {
		for _, category := range a.Categories {
			if !slices.Contains(view.Categories, category) {
				view.Categories = append(view.Categories, category)
			}
		}
	}
	var found []*app.App
	for _, hit := range usable.Index.Apps(view.Query) {
		a, err := catalog.App(hit.App)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		if view.Category == "" || slices.Contains(a.Categories, view.Category) {
			found = append(found, a)
		}
	}
	slices.Sort(view.Categories)
	for _, a := range found {
		if a.Listed {
			view.Found++
		} else {
			view.Own++
		}
	}
	page, err := strconv.Atoi(query.Get("page"))
	last := max(0, (len(found)-1)/appsPage)
	if err != nil || page < 0 || page > last {
		page = 0
	}
	connectable, err := c.connectable(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	for _, a := range found[page*appsPage : min(len(found), (page+1)*appsPage)] {
		row := rowOfApp(a)
		open, _ := connectable(a)
		row.Closed = !open && a.NeedsClient()
		view.Apps = append(view.Apps, row)
	}
	view.Page, view.Pages = page+1, last+1
	at := func(n int) string {
		return "/apps?" + url.Values{"q": {view.Query}, "category": {view.Category}, "page": {strconv.Itoa(n)}}.Encode()
	}
	if page > 0 {
		view.Earlier = at(page - 1)
	}
	if page < last {
		view.Later = at(page + 1)
	}
	c.pages.Show(w, r, http.StatusOK, "apps", view)
}

// connectable returns whether the reader can connect an app.
func (c *Console) connectable(r *http.Request) (func(a *app.App) (ok bool, reason string), error) {
	session, err := c.gate.Session(r)
	if err != nil {
		return nil, err
	}
	account := ""
	if session != nil {
		account = session.Account.ID
	}
	return c.Connections.ConnectableApps(r.Context(), account)
}

// listed counts the apps of the catalogue.
func listed(catalog *app.Catalog) (n int) {
	for _, a := range catalog.Apps() {
		if a.Listed {
			n++
		}
	}
	return n
}

// appView fills app.html.
type appView struct {
	page.Frame
	App      *app.App
	Ways     []way
	Tools    []toolRow
	Builtin  []toolRow // of every app
	Source   string    // where its facts were checked; empty: an app with tools made by hand
	Free     bool      // it needs no connection
	Closed   bool      // it cannot be connected here yet
	Back     string    // URL that the operator registers with the vendor; empty: no OAuth client is needed
	Connects bool
}

// markClients says which ways to connect an app need an OAuth client that is not
// set, and which URL is registered with the vendor for one.
func (c *Console) markClients(r *http.Request, a *app.App, view *appView) error {
	connectable, err := c.connectable(r)
	if err != nil {
		return err
	}
	for i := range a.Schemes {
		if !a.Schemes[i].NeedsClient() {
			continue
		}
		view.Back = c.Connections.RedirectURI(a.ID)
		alone := *a
		alone.Schemes = a.Schemes[i : i+1]
		ready, _ := connectable(&alone)
		view.Ways[i].Missing = !ready
	}
	return nil
}

// way is one way to connect an app.
type way struct {
	Title, About string
	Missing      bool // it needs an OAuth client that is not set
}

// toolRow is a tool as the page of its app shows it.
type toolRow struct {
	ID, Title, About string
	Effect           string // in words
	Risk             string // read, write, destructive
	Inputs           []inputRow
	Phrases          []string
}

type inputRow struct {
	Name, Type, About string
	Required          bool
}

func (c *Console) app(w http.ResponseWriter, r *http.Request) {
	catalog, err := c.catalog(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	a, err := catalog.App(r.PathValue("app"))
	if err != nil {
		c.fail(w,
			r, problem.New(problem.NotFound, "app_not_found",
				"There is no app of this name here. The list of apps shows all."))
		return
	}
	f, err := c.public(r, a.Name)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Hidden, f.Description = !a.Listed, a.About
	view := appView{Frame: f, App: a}
	for i := range a.Schemes {
		view.Ways = append(view.Ways, wayOf(a, &a.Schemes[i]))
	}
	tools, err := a.OwnTools()
	if err != nil {
		c.fail(w, r, err)
		return
	}
	for _, t := range tools {
		view.Tools = append(view.Tools, rowOfTool(t))
	}
	builtin, err := a.Builtin()
	if err != nil {
		c.fail(w, r, err)
		return
	}
	for _, t := range builtin {
		view.Builtin = append(view.Builtin, rowOfTool(t))
	}
	view.Source = map[string]string{
		"spec": "the API description of the vendor", "docs": "the documentation of the vendor",
		"lists": "two independent lists that agree",
	}[a.Verified]
	session, err := c.gate.Session(r)
	if err == nil {
		account := ""
		if session != nil {
			account, view.Connects = session.Account.ID, session.User.Role.Connects()
		}
		var open bool
		open, _, err = c.Connections.Connectable(r.Context(), account, a)
		view.Closed = !open
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if err := c.markClients(r, a, &view); err != nil {
		c.fail(w, r, err)
		return
	}
	view.Free = connection.NeedsNone(a)
	c.pages.Show(w, r, http.StatusOK, "app", view)
}

// wayOf describes a scheme to people.
func wayOf(a *app.App, s *app.Scheme) way {
	title := map[string]string{
		app.TypeOAuth2: "Sign in at " + a.Name, app.TypeOAuth1: "Sign in at " + a.Name,
		app.TypeMCP:    "Sign in at " + a.Name,
		app.TypeClient: "Client id and secret", app.TypeKey: "API key", app.TypeBasic: "User name and password",
		app.TypeJWT:      "Service account",
		app.TypeExchange: "Sign-in data", app.TypeSigV4: "Access key", app.TypeNone: "No sign-in needed",
	}[s.Type]
	if s.Title != "" {
		title = s.Title
	}
	return way{Title: title, About: s.About}
}

func rowOfTool(t *app.Tool) toolRow {
	row := toolRow{
		ID: t.ID, Title: t.Title, About: t.About, Phrases: t.Phrases, Effect: "Changes something",
		Risk: t.Effect,
	}
	if row.Title == "" {
		row.Title = t.Name
	}
	switch {
	case t.ReadOnly():
		row.Effect = "Only reads"
	case t.Destructive():
		row.Effect = "May delete"
	}
	for _, in := range t.In {
		about, _ := in.Schema["description"].(string)
		row.Inputs = append(row.Inputs, inputRow{in.Name, typeOf(in.Schema), about, in.Required})
	}
	return row
}

// typeOf says in a word or two what a value of a schema is.
func typeOf(schema map[string]any) string {
	if choices, ok := schema["enum"].([]any); ok && len(choices) <= 6 {
		texts := make([]string, 0, len(choices))
		for _, one := range choices {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, " | ")
	}
	kind, _ := schema["type"].(string)
	if items, ok := schema["items"].(map[string]any); ok && kind == "array" {
		return "list of " + typeOf(items)
	}
	if kind == "" {
		return "any"
	}
	return kind
}
