// Package derive makes tools of the API descriptions that vendors publish: facts
// only, in our own words.
//
//	apps + sources ── same server ──> description of an app
//	description ── openapiimport ──> operations
//	operation   -> name (frozen in the lock), call, inputs without sentences
//	            -> Check of package app ── finding ──> left out, with the reason
//
// A method, a path, the name and the type of a parameter are facts; what a vendor
// says about them is not ours to publish, and is left out.
package derive

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/openapiimport"
	"ace/internal/platform/toolpack"
)

// Source is a description that may be of an app.
type Source struct {
	File    string   // its name
	Servers []string // that the description names
	Date    string   // 2026-08-21
	Read    func() ([]byte, error)
}

// Options are what Make works with.
type Options struct {
	Apps    []*app.App // apps without tools of their own
	Sources []Source
	Lock    Lock
	// MaxTools bounds the tools of one app: those with the shortest paths are taken,
	// after those that the lock names.
	MaxTools int
	// Refused are operations that make no tool, with the reason: those whose requests
	// an independent validator found to be other than the description says.
	Refused map[Key]string
}

// LeftOut is something that has no tool.
type LeftOut struct{ App, What, Reason string }

// Result is what Make made.
type Result struct {
	Tools   []toolpack.Tools    // by id of the app
	Used    map[string][]string // files by app
	LeftOut []LeftOut
	Lock    Lock
}

// Make derives tools. The same input gives the same result.
func Make(o Options) *Result {
	r := &Result{Used: map[string][]string{}, Lock: maps.Clone(o.Lock)}
	if r.Lock == nil {
		r.Lock = Lock{}
	}
	apps := slices.SortedFunc(slices.Values(o.Apps), func(a, b *app.App) int { return cmp.Compare(a.ID, b.ID) })
	for _, a := range apps {
		found := r.operations(a, o.Sources)
		if len(found) == 0 {
			continue
		}
		if tools := r.choose(a, found, &o); len(tools) > 0 {
			r.Tools = append(r.Tools, toolpack.Tools{App: a.ID, Base: a.Base, Tools: tools})
		}
	}
	return r
}

// maxRecord bounds the schema of a tool's inputs, in bytes: more is not read by a
// model to any good.
const maxRecord = 12 << 10

// operations returns the operations of all descriptions of an app, by call. The
// newest description of a call counts.
func (r *Result) operations(a *app.App, sources []Source) map[string]*app.Tool {
	found := map[string]*app.Tool{}
	var fitting []fit
	for i := range sources {
		if f, ok := fits(a, &sources[i]); ok {
			fitting = append(fitting, f)
		}
	}
	slices.SortStableFunc(fitting, func(x, y fit) int {
		return cmp.Or(cmp.Compare(y.source.Date, x.source.Date), cmp.Compare(x.source.File, y.source.File))
	})
	for _, f := range fitting {
		data, err := f.source.Read()
		if err == nil {
			var imported *openapiimport.Result
			if imported, err = openapiimport.Import(
				data,
				openapiimport.Options{AppID: a.ID, Base: f.base},
			); err == nil {
				r.add(a, f, imported, found)
				continue
			}
		}
		r.LeftOut = append(r.LeftOut, LeftOut{a.ID, f.source.File, err.Error()})
	}
	return found
}

func (r *Result) add(a *app.App, f fit, imported *openapiimport.Result, found map[string]*app.Tool) {
	used := false
	for _, t := range imported.Tools {
		path, ok := f.path(t.Path())
		if !ok {
			r.LeftOut = append(r.LeftOut, LeftOut{a.ID, t.Call, "not below the base of the app"})
			continue
		}
		t.Call = t.Method() + " " + path
		if found[t.Call] == nil {
			found[t.Call] = t
			used = true
		}
	}
	for _, s := range imported.Skipped {
		r.LeftOut = append(r.LeftOut, LeftOut{a.ID, s.Operation, s.Code})
	}
	if used {
		r.Used[a.ID] = append(r.Used[a.ID], f.source.File)
	}
}

// choose names the operations and returns those that make good tools.
func (r *Result) choose(a *app.App, found map[string]*app.Tool, o *Options) []*app.Tool {
	calls := slices.SortedFunc(maps.Keys(found), func(x, y string) int {
		frozen := func(call string) int {
			if r.Lock[Key{a.ID, call}] != "" {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(frozen(x), frozen(y)), cmp.Compare(strings.Count(x, "/"), strings.Count(y, "/")),
			cmp.Compare(x, y))
	})
	taken := map[string]bool{}
	for key, name := range r.Lock {
		if key.App == a.ID {
			taken[name] = true
		}
	}
	var tools []*app.Tool
	refused := 0
	for _, call := range calls {
		t := found[call]
		key := Key{a.ID, call}
		if reason := o.Refused[key]; reason != "" {
			r.LeftOut = append(r.LeftOut, LeftOut{a.ID, call, reason})
			refused++ // nothing that was not validated takes its place
			continue
		}
		if len(tools)+refused == o.MaxTools {
			r.LeftOut = append(r.LeftOut, LeftOut{a.ID, call, "the app has enough tools"})
			continue
		}
		name := r.Lock[key]
		if name == "" {
			name = openapiimport.Unique(withoutApp(a, t.Name), call, taken)
		}
		if reason := finish(a, t, name); reason != "" {
			r.LeftOut = append(r.LeftOut, LeftOut{a.ID, call, reason})
			continue
		}
		r.Lock[key] = name
		tools = append(tools, t)
	}
	slices.SortFunc(tools, func(x, y *app.Tool) int { return cmp.Compare(x.Name, y.Name) })
	return tools
}

// withoutApp returns the name of an operation without the name of its app at the
// beginning.
func withoutApp(a *app.App, name string) string {
	for _, prefix := range []string{openapiimport.Snake(a.ID), openapiimport.Snake(a.Name)} {
		if rest, cut := strings.CutPrefix(name, prefix+"_"); cut && len(rest) > 2 {
			return rest
		}
	}
	return name
}

// finish turns an imported operation into a tool of an app, or returns why it
// makes none.
func finish(a *app.App, t *app.Tool, name string) (reason string) {
	t.Name, t.App, t.ID = name, a.ID, app.ToolID(a.ID, name)
	overrideHeaders(a, t)
	t.In = slices.DeleteFunc(t.In, func(in app.Input) bool { return sentAnyway(a, &in) })
	var required, optional []string
	for i := range t.In {
		in := &t.In[i]
		bare(in.Schema)
		if in.Required {
			required = append(required, in.Name)
		} else {
			optional = append(optional, in.Name)
		}
	}
	t.Title, t.About = app.TitleOf(name), app.AboutCall(t.Call, required, optional)
	t.InputSchema, t.OutputSchema = nil, nil
	one := *a
	one.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, t)
	if err := one.Complete(); err != nil {
		return "its inputs cannot be written down"
	}
	if len(t.InputSchema) > maxRecord {
		return "its inputs are too large"
	}
	for _, fault := range one.Check(false) {
		if strings.HasPrefix(fault.At, "tools/") {
			return fault.Text
		}
	}
	return ""
}

// overrideHeaders fixes the headers of a tool whose operation allows other values
// than the app sends with every call, such as another version.
func overrideHeaders(a *app.App, t *app.Tool) {
	for i := range t.In {
		in := &t.In[i]
		allowed, _ := in.Schema["enum"].([]any)
		if in.Where != app.InHeader || len(allowed) == 0 {
			continue
		}
		for name, value := range a.Headers {
			first, text := allowed[0].(string)
			if !text || !strings.EqualFold(name, in.WireName()) || strings.Contains(value, "{") ||
				slices.Contains(allowed, any(value)) {
				continue
			}
			fixed := maps.Clone(t.Fixed.Headers)
			if fixed == nil {
				fixed = map[string]string{}
			}
			fixed[name] = first
			t.Fixed.Headers = fixed
		}
	}
}

// sentAnyway reports whether an input is a credential or a header of every call.
func sentAnyway(a *app.App, in *app.Input) bool {
	var names []string
	switch in.Where {
	case app.InHeader:
		names = slices.Collect(maps.Keys(a.Headers))
		for i := range a.Schemes {
			names = slices.AppendSeq(names, maps.Keys(a.Schemes[i].Credentials().Headers))
		}
	case app.InQuery:
		for i := range a.Schemes {
			names = slices.AppendSeq(names, maps.Keys(a.Schemes[i].Credentials().Query))
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, in.WireName()) })
}

// defaultNote is what package openapiimport says of a default.
var defaultNote = regexp.MustCompile(`Default: [^ ]{1,58}\.$`)

// bare removes the sentences of a schema. What remains of a description is its
// default, or how a list is written.
func bare(schema map[string]any) {
	if about, ok := schema["description"].(string); ok {
		delete(schema, "description")
		var notes []string
		if strings.HasPrefix(about, "Comma-separated.") {
			notes = append(notes, "Comma-separated.")
		}
		if note := defaultNote.FindString(about); note != "" {
			notes = append(notes, note)
		}
		if len(notes) > 0 {
			schema["description"] = strings.Join(notes, " ")
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inside, ok := schema[name].(map[string]any); ok {
			bare(inside)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, inside := range properties {
		if m, ok := inside.(map[string]any); ok {
			bare(m)
		}
	}
	branches, _ := schema["anyOf"].([]any)
	for _, inside := range branches {
		if m, ok := inside.(map[string]any); ok {
			bare(m)
		}
	}
}
