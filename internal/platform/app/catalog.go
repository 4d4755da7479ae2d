package app

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ace/internal/foundation/problem"
)

// Catalog is a set of apps that does not change. It is safe for concurrent use.
type Catalog struct {
	apps  map[string]*App
	tools map[string]*Tool
	order []*App // by name
}

// NewCatalog answers a catalog of apps. Two apps or two tools of one id are an
// error.
func NewCatalog(apps ...*App) (*Catalog, error) {
	c := &Catalog{apps: map[string]*App{}, tools: map[string]*Tool{}}
	for _, a := range apps {
		if c.apps[a.ID] != nil {
			return nil, fmt.Errorf("there are two apps %s", a.ID)
		}
		c.apps[a.ID] = a
		all, err := a.AllTools()
		if err != nil {
			return nil, fmt.Errorf("the tools of %s: %w", a.ID, err)
		}
		for _, tool := range all {
			if other := c.tools[tool.ID]; other != nil {
				return nil, fmt.Errorf("tool %s of %s has the id of %s of %s", tool.Name, a.ID, other.Name, other.App)
			}
			c.tools[tool.ID] = tool
		}
	}
	if err := c.alias(); err != nil {
		return nil, err
	}
	c.order = slices.SortedFunc(maps.Values(c.apps), func(a, b *App) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return c, nil
}

// alias lets ids that tools had lead to them. An id that another tool has, or
// had, is an error: callers would reach what they never meant.
func (c *Catalog) alias() error {
	for _, t := range slices.Collect(maps.Values(c.tools)) {
		for _, was := range t.Was {
			id := ToolID(t.App, was)
			if other := c.tools[id]; other != nil {
				return fmt.Errorf("tool %s of %s was called %s, which is %s of %s", t.Name, t.App, was, other.Name, other.App)
			}
			c.tools[id] = t
		}
	}
	return nil
}

// Apps answers all apps by name.
func (c *Catalog) Apps() []*App { return c.order }

// App returns app_not_found (NotFound).
func (c *Catalog) App(id string) (*App, error) {
	if a := c.apps[id]; a != nil {
		return a, nil
	}
	return nil, problem.New(problem.NotFound, "app_not_found", "There is no app with this id. Search the apps by name.").Advise("find_tools")
}

// Tool answers a tool by its id, or by one that it had. It returns
// tool_not_found (NotFound).
func (c *Catalog) Tool(id string) (*App, *Tool, error) {
	if t := c.tools[id]; t != nil {
		return c.apps[t.App], t, nil
	}
	return nil, nil, problem.New(problem.NotFound, "tool_not_found", "There is no tool with this id. Describe the task to find one.").Advise("find_tools")
}
