package connector

import (
	"bytes"
	"slices"

	"ace/internal/platform/app"
	"ace/internal/platform/openapiimport"
)

// Diff is what an import changed.
type Diff struct {
	Added   []string
	Changed []Change
	Removed []string
}

// Change is a tool that is not what was approved.
type Change struct {
	Tool          string   // name
	What          []string // title, description, inputs, call, effect
	Before, After Version
}

// Version is what a model reads of a tool, and what a run of it does.
type Version struct {
	Title, About string
	Inputs       []byte // JSON Schema
	Call, Effect string
}

func version(t *app.Tool) Version {
	return Version{Title: t.Title, About: t.About, Inputs: t.InputSchema, Call: t.Call, Effect: t.Effect}
}

// merge takes an import in: tools that are new are shown, tools that changed
// are withheld until they are approved. The first import is accepted as it is:
// the caller reads its result.
func (c *Connector) merge(result *openapiimport.Result, first bool) (Diff, error) {
	known := map[string]*Tool{}
	for _, t := range c.Tools {
		known[t.Tool.Name] = t
	}
	var tools []*Tool
	var diff Diff
	for _, t := range result.Tools {
		sum, err := digest(t)
		if err != nil {
			return diff, err
		}
		old := known[t.Name]
		delete(known, t.Name)
		switch {
		case old == nil || first:
			tools = append(tools, &Tool{Tool: t, Digest: sum})
			diff.Added = append(diff.Added, t.Name)
		case old.Digest == sum: // also where a change was reverted
			tools = append(tools, &Tool{Tool: old.Tool, Digest: sum, ReadOnly: old.ReadOnly})
		default:
			tools = append(tools, &Tool{
				Tool: old.Tool, Digest: old.Digest, Pending: t, PendingDigest: sum, ReadOnly: old.ReadOnly,
			})
			diff.Changed = append(diff.Changed, change(old.Tool, t))
		}
	}
	for _, t := range c.Tools {
		if known[t.Tool.Name] != nil {
			diff.Removed = append(diff.Removed, t.Tool.Name)
		}
	}
	c.Tools, c.Skipped = tools, result.Skipped
	return diff, nil
}

func change(old, now *app.Tool) Change {
	one := Change{Tool: old.Name, Before: version(old), After: version(now)}
	for _, part := range []struct {
		name string
		same bool
	}{
		{"title", old.Title == now.Title},
		{"description", old.About == now.About},
		{"inputs", bytes.Equal(old.InputSchema, now.InputSchema)},
		{"call", old.Call == now.Call && old.Body == now.Body},
		{"effect", old.Effect == now.Effect && old.Idempotent == now.Idempotent},
	} {
		if !part.same {
			one.What = append(one.What, part.name)
		}
	}
	if len(one.What) == 0 {
		one.What = []string{"call"}
	}
	return one
}

// Waiting are the changes that wait for approval.
func (c *Connector) Waiting() []Change {
	var list []Change
	for _, t := range c.Tools {
		if t.Pending != nil {
			list = append(list, change(t.Tool, t.Pending))
		}
	}
	return list
}

// approve shows changed tools; none means all. It returns names that do not
// wait.
func (c *Connector) approve(names []string) (unknown []string) {
	for _, name := range names {
		if !slices.ContainsFunc(c.Tools, func(t *Tool) bool { return t.Tool.Name == name && t.Pending != nil }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return unknown
	}
	for _, t := range c.Tools {
		if t.Pending == nil || len(names) > 0 && !slices.Contains(names, t.Tool.Name) {
			continue
		}
		*t = Tool{Tool: t.Pending, Digest: t.PendingDigest}
	}
	return nil
}
