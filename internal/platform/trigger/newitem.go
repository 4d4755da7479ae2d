package trigger

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// itemsCall returns the tool that a config of new_item names, and the arguments
// there. They are no templates.
func (s *Service) itemsCall(ctx context.Context, a *app.App, p *app.Poll, t *Trigger) (*app.Tool, map[string]any,
	error,
) {
	of, called, err := s.Apps.Tool(ctx, t.AccountID, p.Tool)
	if problem.Is(err, "tool_not_found") || err == nil && (of.ID != a.ID || !called.ReadOnly()) {
		detail := a.Name + " has no tool " + p.Tool + " that only reads."
		if a.Custom && a.MCP != nil {
			detail += " Of a tool of an MCP server a person has to confirm that, on the page of the connector."
		}
		err = badConfig("tool", detail)
	}
	given := maps.Clone(p.Arguments)
	if given == nil {
		given = map[string]any{}
	}
	return called, given, err
}

func badConfig(name, detail string) error {
	return problem.New(problem.Unprocessable, "invalid_arguments", detail).At("/config/" + name).Advise("fix_arguments")
}

// readItems adds the items of one response of a tool that a config names. Where
// the config does not say where they are, it finds them.
func (f *found) readItems(a *app.App, p *app.Poll, answer *tool.Answer) error {
	output := answer.Output
	if text, ok := output.(string); ok { // of an MCP server: JSON inside a text
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var inside any
		if decoder.Decode(&inside) == nil {
			output = inside
		}
	}
	if f.list == "" {
		lists := listsOf(output)
		if len(lists) != 1 {
			return badConfig("items", "The output of "+p.Tool+" has no list, or several: "+strings.Join(lists, ", ")+
				". Say which one is watched.")
		}
		f.list = lists[0]
	}
	value, there := app.Pick(output, f.list)
	list, isList := value.([]any)
	if there && value != nil && !isList {
		return badConfig("items", "At "+f.list+" of the output of "+p.Tool+" is no list.")
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(one any) bool { return app.PickText(one, p.ID) != "" }) {
		return badConfig("id", "The items that "+a.Name+" returns have nothing at "+p.ID+"; they have "+
			strings.Join(fieldsOf(list[0]), ", ")+".")
	}
	return f.read(p, output, nil)
}

// listsOf returns pointers to the lists at the top of a document, in order.
func listsOf(document any) []string {
	switch v := document.(type) {
	case []any:
		return []string{"/"}
	case map[string]any:
		var lists []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, ok := v[name].([]any); ok {
				lists = append(lists, pointer(name))
			}
		}
		return lists
	}
	return nil
}

// fieldsOf returns pointers to the fields of an item, at most ten.
func fieldsOf(item any) []string {
	fields, _ := item.(map[string]any)
	names := slices.Sorted(maps.Keys(fields))
	names = names[:min(len(names), 10)]
	for i, name := range names {
		names[i] = pointer(name)
	}
	if len(names) == 0 {
		return []string{"no fields"}
	}
	return names
}

func pointer(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
