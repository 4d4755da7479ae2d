package app

import (
	"slices"
	"strings"
)

// StoredTools are tools of an app that are read when they are needed: those that
// were derived from its description are too many to hold. It is safe for
// concurrent use.
type StoredTools interface {
	// Outlines returns what is known of each tool without reading it. The caller
	// must not change the list.
	Outlines() []Outline
	// Load returns the tools, complete and in the order of the outlines. The caller
	// must not change them.
	Load() ([]*Tool, error)
}

// Outline is what finding a tool needs to know of it.
type Outline struct {
	Name     string   `json:"n"`
	Call     string   `json:"c"`
	Effect   string   `json:"e"`
	Required []string `json:"r,omitempty"` // inputs
	Optional []string `json:"o,omitempty"` // further inputs
}

// Tool returns a tool of an app that says what its outline says. It cannot be run.
func (o *Outline) Tool(a *App) *Tool {
	t := &Tool{
		ID: ToolID(a.ID, o.Name), App: a.ID, Name: o.Name, Title: TitleOf(o.Name), Call: o.Call, Effect: o.Effect,
		About: AboutCall(o.Call, o.Required, o.Optional),
	}
	for _, name := range o.Required {
		t.In = append(t.In, Input{Name: name, Required: true})
	}
	for _, name := range o.Optional {
		t.In = append(t.In, Input{Name: name})
	}
	return t
}

// TitleOf returns the title of a tool that follows from its name: Create issue.
func TitleOf(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// maxAboutNames bounds the names of inputs that a description lists.
const maxAboutNames = 12

// AboutCall describes a tool by its call and its inputs: what is known of a tool
// whose vendor's sentences are not ours to publish.
func AboutCall(call string, required, optional []string) string {
	about := call + "."
	for _, part := range []struct {
		title string
		names []string
	}{{"Required", required}, {"Optional", optional}} {
		if len(part.names) == 0 {
			continue
		}
		listed := strings.Join(part.names[:min(len(part.names), maxAboutNames)], ", ")
		if len(part.names) > maxAboutNames {
			listed += " and others"
		}
		if len(about)+len(listed) < 480 {
			about += " " + part.title + ": " + listed + "."
		}
	}
	return about
}

// ToolCount returns the number of tools besides those of Builtin.
func (a *App) ToolCount() int {
	if a.Stored == nil {
		return a.Tools.Len()
	}
	return a.Tools.Len() + len(a.Stored.Outlines())
}

// OwnTools returns the tools besides those of Builtin.
func (a *App) OwnTools() ([]*Tool, error) {
	var list []*Tool
	for _, t := range a.Tools.All() {
		list = append(list, t)
	}
	if a.Stored == nil {
		return list, nil
	}
	stored, err := a.Stored.Load()
	return append(list, stored...), err
}

// OutlinedTools returns the tools besides those of Builtin, stored ones as their
// outlines.
func (a *App) OutlinedTools() []*Tool {
	var list []*Tool
	for _, t := range a.Tools.All() {
		list = append(list, t)
	}
	if a.Stored == nil {
		return list
	}
	outlines := a.Stored.Outlines()
	list = slices.Grow(list, len(outlines))
	for i := range outlines {
		list = append(list, outlines[i].Tool(a))
	}
	return list
}
