package console

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/console/page"
	"ace/internal/platform/mcpclients"
	"ace/internal/platform/platformhttp/gate"
)

// call is one operation of the API, as its OpenAPI document tells it.
type call struct {
	Method, Path, Summary, Tag string
	Needs                      string // in words
}

// readCalls finds the operations in an OpenAPI document, by path.
func readCalls(document []byte) ([]call, error) {
	var d struct {
		Paths map[string]map[string]struct {
			Summary string   `json:"summary"`
			Tags    []string `json:"tags"`
		} `json:"paths"`
	}
	if len(document) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("reading the description of the API: %w", err)
	}
	var calls []call
	for path, methods := range d.Paths {
		for method, operation := range methods {
			one := call{Method: strings.ToUpper(method), Path: path, Summary: operation.Summary}
			if len(operation.Tags) > 0 {
				one.Tag = operation.Tags[0]
			}
			calls = append(calls, one)
		}
	}
	order := []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete}
	slices.SortFunc(calls, func(a, b call) int {
		if n := strings.Compare(a.Path, b.Path); n != 0 {
			return n
		}
		return slices.Index(order, a.Method) - slices.Index(order, b.Method)
	})
	return calls, nil
}

// needs says in words what a route asks of its caller.
func needs(n gate.Need) string {
	rule := n.Rule()
	switch {
	case rule.Open:
		return "nothing"
	case n.ByPerson():
		return "a person"
	case rule.Permissions == 0:
		return "any key"
	}
	names := rule.Permissions.Names()
	for i, name := range names {
		names[i] = strings.ToUpper(name[:1]) + name[1:]
	}
	if rule.RawRequests {
		names = append(names, "raw requests")
	}
	return strings.Join(names, ", ")
}

// docsView fills docs.html.
type docsView struct {
	page.Frame
	Calls  []call
	Limit  int     // requests a minute per key
	Sample *sample // nil: no tool has an example
	Setups []setup
}

// setup is how one MCP client is set up.
type setup struct {
	mcpclients.Client
	Open template.URL // opens the client; empty: it has no such links
}

// setups returns how MCP clients are set up with a key.
func (c *Console) setups(key string) (all []setup) {
	for _, client := range mcpclients.For(c.Site.BaseURL+"/mcp", key) {
		// Links of clients have schemes that templates do not know. Nothing of them
		// comes from a visitor.
		all = append(all, setup{client, template.URL(client.Link)})
	}
	return all
}

// Has reports whether the host has a route.
func (v docsView) Has(method, path string) bool {
	return slices.ContainsFunc(v.Calls, func(c call) bool { return c.Method == method && c.Path == "/api/v1"+path })
}

func (c *Console) docs(w http.ResponseWriter, r *http.Request) {
	f, err := c.public(r, "How to use the API")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Hidden, f.Description = false, "Connect an app, find a tool and run it, with curl."
	view := docsView{Frame: f, Calls: slices.Clone(c.calls), Setups: c.setups(mcpclients.Placeholder)}
	for i := range view.Calls {
		if need, known := c.gate.Need(view.Calls[i].Method + " " + view.Calls[i].Path); known {
			view.Calls[i].Needs = needs(need)
		}
	}
	policy, _, _ := gate.Policies()
	view.Limit = policy.Quantity
	if view.Sample, err = c.sample(); err != nil {
		c.fail(w, r, err)
		return
	}
	c.pages.Show(w, r, http.StatusOK, "docs", view)
}

// sample is the app and the tool that examples use.
type sample struct {
	App, Tool string // ids
	Task      string // in plain words
	Run       string // body of a run
	Arguments string // of the same run, as JSON
}

// sample picks a tool with an example: of the demo app, or else of the first
// app that has one.
func (c *Console) sample() (*sample, error) {
	var found *app.App
	var tool *app.Tool
	for _, a := range c.Library.Shared().Catalog.Apps() {
		for _, t := range a.Tools.All() {
			if len(t.Example) > 0 && (found == nil || !a.Listed && found.Listed) {
				found, tool = a, t
			}
		}
	}
	if tool == nil {
		return nil, nil
	}
	text, err := json.Marshal(map[string]any{"arguments": tool.Example})
	if err != nil {
		return nil, fmt.Errorf("writing the example of %s: %w", tool.ID, err)
	}
	arguments, err := json.Marshal(tool.Example)
	if err != nil {
		return nil, fmt.Errorf("writing the example of %s: %w", tool.ID, err)
	}
	one := &sample{
		App: found.ID, Tool: tool.ID, Task: strings.ToLower(tool.Title), Run: string(text),
		Arguments: string(arguments),
	}
	if len(tool.Phrases) > 0 {
		one.Task = tool.Phrases[0]
	}
	return one, nil
}

// homeView fills home.html.
type homeView struct {
	page.Frame
	Apps   []appRow
	All    int
	Tools  int
	Sample *sample // nil: no tool has an example
}

const homeApps = 12

func (c *Console) home(w http.ResponseWriter, r *http.Request) {
	f, err := c.public(r, "")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Hidden, f.Description = false, "One API key gives an agent the apps that its account has connected."
	catalog, err := c.catalog(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	view := homeView{Frame: f, All: listed(catalog)}
	for _, a := range catalog.Apps() {
		if a.Listed {
			view.Tools += a.ToolCount()
		}
		if len(view.Apps) < homeApps && a.ToolCount() > 0 {
			view.Apps = append(view.Apps, rowOfApp(a))
		}
	}
	if view.Sample, err = c.sample(); err != nil {
		c.fail(w, r, err)
		return
	}
	c.pages.Show(w, r, http.StatusOK, "home", view)
}

// problemView fills problem.html.
type problemView struct {
	page.Frame
	Code string
	Failure
}

// problem explains a code, at the address that problems name as their type.
func (c *Console) problem(w http.ResponseWriter, r *http.Request) {
	code := strings.ReplaceAll(r.PathValue("code"), "-", "_")
	failure, known := c.Failures[code]
	if !known {
		c.fail(w, r, problem.New(problem.NotFound, "not_found", "No problem has this code."))
		return
	}
	f, err := c.public(r, code)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Hidden, f.Narrow = false, true
	c.pages.Show(w, r, http.StatusOK, "problem", problemView{f, code, failure})
}
