package app

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ace/internal/foundation/problem"
)

// Catalog is a set of apps that does not change. It is safe for concurrent use.
type Catalog struct {
	shared *Catalog // nil; or the catalog that this one extends
	apps   map[string]*App
	tools  map[string]*Tool // of definitions, by id, and by each id that a tool had
	stored map[string]*App  // apps of stored tools, by id of the tool
	order  []*App           // own apps by name
	// builtin are the tools of App.Builtin that were asked for, *Tool by id. Most
	// of some thousands of apps are never called, so that theirs are not made at
	// the start.
	builtin sync.Map
}

// NewCatalog returns a catalog of apps. It returns an error if two apps or two
// tools have the same id.
func NewCatalog(apps ...*App) (*Catalog, error) { return (*Catalog)(nil).With(apps...) }

// With returns a catalog of the apps of c and these, under the same rules. It
// takes time and memory for the given apps only.
func (c *Catalog) With(apps ...*App) (*Catalog, error) {
	with := &Catalog{shared: c, apps: map[string]*App{}, tools: map[string]*Tool{}, stored: map[string]*App{}}
	for _, a := range apps {
		if with.app(a.ID) != nil {
			return nil, fmt.Errorf("there are two apps %s", a.ID)
		}
		for _, name := range []string{NameWhoami, NameRequest} {
			if other := with.tool(ToolID(a.ID, name)); other != nil {
				return nil, fmt.Errorf("tool %s of %s has the id of %s of %s", other.Name, other.App, name, a.ID)
			}
		}
		with.apps[a.ID] = a
		for _, tool := range a.Tools.All() {
			if other := with.tool(tool.ID); other != nil {
				return nil, fmt.Errorf("tool %s of %s has the id of %s of %s", tool.Name, a.ID, other.Name, other.App)
			}
			with.tools[tool.ID] = tool
		}
		if err := with.addStored(a); err != nil {
			return nil, err
		}
	}
	if err := with.addEarlierIDs(); err != nil {
		return nil, err
	}
	with.order = slices.SortedFunc(maps.Values(with.apps), byName)
	return with, nil
}

// addStored registers the ids of stored tools.
func (c *Catalog) addStored(a *App) error {
	if a.Stored == nil {
		return nil
	}
	for _, outline := range a.Stored.Outlines() {
		id := ToolID(a.ID, outline.Name)
		if other := c.stored[id]; other != nil {
			return fmt.Errorf("tool %s of %s has the id of one of %s", outline.Name, a.ID, other.ID)
		}
		if other := c.tool(id); other != nil {
			return fmt.Errorf("tool %s of %s has the id of %s of %s", outline.Name, a.ID, other.Name, other.App)
		}
		c.stored[id] = a
	}
	return nil
}

// storedTool returns the stored tool with an id, or nil.
func (c *Catalog) storedTool(id string) (*Tool, error) {
	for ; c != nil; c = c.shared {
		a := c.stored[id]
		if a == nil {
			continue
		}
		tools, err := a.Stored.Load()
		if err != nil {
			return nil, fmt.Errorf("reading the tools of %s: %w", a.ID, err)
		}
		for _, t := range tools {
			if t.ID == id {
				return t, nil
			}
		}
	}
	return nil, nil
}

func byName(a, b *App) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) }

// addEarlierIDs lets the ids that tools had lead to them. It returns an error if
// another tool has, or had, such an id: callers would reach the wrong one.
func (c *Catalog) addEarlierIDs() error {
	for _, t := range slices.Collect(maps.Values(c.tools)) {
		for _, was := range t.Was {
			id := ToolID(t.App, was)
			if other := c.tool(id); other != nil {
				return fmt.Errorf("tool %s of %s was called %s, which is %s of %s", t.Name, t.App, was, other.Name,
					other.App)
			}
			c.tools[id] = t
		}
	}
	return nil
}

func (c *Catalog) app(id string) *App {
	for ; c != nil; c = c.shared {
		if a := c.apps[id]; a != nil {
			return a
		}
	}
	return nil
}

func (c *Catalog) tool(id string) *Tool {
	for ; c != nil; c = c.shared {
		if t := c.tools[id]; t != nil {
			return t
		}
		if t := c.builtinTool(id); t != nil {
			return t
		}
	}
	return nil
}

// builtinTool returns the tool of App.Builtin with an id, or nil. The same id
// returns the same tool.
func (c *Catalog) builtinTool(id string) *Tool {
	if t, made := c.builtin.Load(id); made {
		return t.(*Tool)
	}
	prefix, name, found := strings.Cut(id, "__")
	if !found || name != NameWhoami && name != NameRequest {
		return nil
	}
	a := c.apps[strings.ReplaceAll(prefix, "_", "-")] // ids of apps have no underscore
	if a == nil {
		return nil
	}
	list, err := a.Builtin()
	if err != nil {
		return nil // their schemas are constant
	}
	for _, t := range list {
		if t.Name == name {
			kept, _ := c.builtin.LoadOrStore(id, t)
			return kept.(*Tool)
		}
	}
	return nil
}

// Apps returns all apps by name. The caller must not change the list.
func (c *Catalog) Apps() []*App {
	if c.shared == nil {
		return c.order
	}
	all := slices.Concat(c.shared.Apps(), c.order)
	slices.SortFunc(all, byName)
	return all
}

// App returns app_not_found (NotFound) if there is none.
func (c *Catalog) App(id string) (*App, error) {
	if a := c.app(id); a != nil {
		return a, nil
	}
	return nil, problem.New(problem.NotFound, "app_not_found",
		"There is no app with this id. Search the apps by name.").Advise("find_tools")
}

// withholder returns the app that withholds a tool with an id, or nil.
func (c *Catalog) withholder(id string) *App {
	prefix, name, _ := strings.Cut(id, "__")
	if a := c.app(strings.ReplaceAll(prefix, "_", "-")); a != nil && slices.Contains(a.Withheld, name) {
		return a
	}
	return nil
}

// Tool returns a tool by its id, or by one that it had. It returns
// tool_not_found (NotFound) if there is none, and tool_withheld (Conflict) if it
// waits for approval.
func (c *Catalog) Tool(id string) (*App, *Tool, error) {
	t := c.tool(id)
	if t == nil {
		var err error
		if t, err = c.storedTool(id); err != nil {
			return nil, nil, err
		}
	}
	if t != nil {
		return c.app(t.App), t, nil
	}
	if a := c.withholder(id); a != nil {
		return nil, nil, problem.New(problem.Conflict, "tool_withheld",
			"This tool of "+a.Name+" has changed at its server and waits for approval. Ask somebody who manages the "+
				"connectors of the account to look at the change and to approve it.").
			With("app", a.ID).Advise("ask_owner_for_permission")
	}
	return nil, nil, problem.New(problem.NotFound, "tool_not_found",
		"There is no tool with this id. Describe the task to find one.").Advise("find_tools")
}
