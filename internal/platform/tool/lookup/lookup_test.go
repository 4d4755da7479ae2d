package lookup_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/tool/lookup"
)

const helpdesk = `
id: desk
name: Desk
base: https://desk.example
tools:
  search: {call: GET /search, about: Finds tickets., in: {}}
  create: {call: POST /tickets, about: Creates a ticket., in: {}}
  replace: {call: PUT /tickets, was: [overwrite], about: Replaces a ticket., in: {}}
`

const notes = `
id: big-notes
name: Notes
base: https://notes.example
tools:
  create_note: {call: POST /notes, about: Creates a note., in: {}}
`

type apps struct{ *app.Catalog }

func (a apps) App(_ context.Context, _, id string) (*app.App, error) { return a.Catalog.App(id) }

func (a apps) Tool(_ context.Context, _, id string) (*app.App, *app.Tool, error) {
	return a.Catalog.Tool(id)
}

func (a apps) Apps(context.Context, string) ([]*app.App, error) { return a.Catalog.Apps(), nil }

func tools(t *testing.T) lookup.Tools {
	t.Helper()
	var all []*app.App
	for _, text := range []string{helpdesk, notes} {
		a, err := app.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	catalog, err := app.NewCatalog(all...)
	if err != nil {
		t.Fatal(err)
	}
	return lookup.Tools{Apps: apps{catalog}}
}

func TestGet(t *testing.T) {
	t.Parallel()
	all := tools(t)
	for _, tt := range []struct {
		name     string
		restrict *apikey.Restrictions // nil: a signed-in user
		id       string
		want     string // id, or code of the problem and suggestions
	}{
		{"a user", nil, "desk__search", "desk__search"},
		{"an earlier id", nil, "desk__overwrite", "desk__replace"},
		{"a key", &apikey.Restrictions{}, "desk__create", "desk__create"},
		{"a key for the app", &apikey.Restrictions{Apps: []string{"desk"}}, "desk__create", "desk__create"},
		{"a key for another app", &apikey.Restrictions{Apps: []string{"x"}}, "desk__create", "key_restricted"},
		{"a key for the tool", &apikey.Restrictions{Tools: []string{"desk__create"}}, "desk__create", "desk__create"},
		{
			"a key for its earlier id", &apikey.Restrictions{Tools: []string{"desk__overwrite"}}, "desk__replace",
			"desk__replace",
		},
		{"a key for another tool", &apikey.Restrictions{Tools: []string{"x"}}, "desk__create", "key_restricted"},
		{"a key for reading", &apikey.Restrictions{ReadOnlyTools: true}, "desk__create", "key_restricted"},
		{"a key for reading reads", &apikey.Restrictions{ReadOnlyTools: true}, "desk__search", "desk__search"},
		{"a raw request", &apikey.Restrictions{}, "desk__request", "key_restricted"},
		{"a raw request, allowed", &apikey.Restrictions{RawRequests: true}, "desk__request", "desk__request"},
		{"a typo", nil, "desk__serach", "tool_not_found [desk__search]"},
		{"dots and dashes", nil, "big-notes.create-note", "tool_not_found [big_notes__create_note]"},
		{"a typo of the app", nil, "dask__search", "tool_not_found [desk__search]"},
		{
			"a suggestion that the key may not use", &apikey.Restrictions{Tools: []string{"x"}}, "desk__serach",
			"tool_not_found <nil>",
		},
		{"nothing like it", nil, "qqqqqqqqqq", "tool_not_found <nil>"},
		{"nothing", nil, "", "tool_not_found <nil>"},
	} {
		var key *apikey.Key
		if tt.restrict != nil {
			key = &apikey.Key{AccountID: "acc_a", Restrict: *tt.restrict}
		}
		_, found, err := all.Get(t.Context(), "acc_a", key, tt.id)
		got := ""
		if p, ok := problem.From(err); ok {
			if got = p.Code; p.Code == "tool_not_found" {
				got += " " + fmt.Sprint(p.Members["did_you_mean"])
			}
		} else if err == nil {
			got = found.ID
		}
		if got != tt.want {
			t.Errorf("%s: Get(%s) = %s, want %s", tt.name, tt.id, got, tt.want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	all := tools(t)
	reading := &apikey.Key{AccountID: "acc_a", Restrict: apikey.Restrictions{ReadOnlyTools: true}}
	for _, tt := range []struct {
		name, app string
		key       *apikey.Key
		ids       []string
		want      []string
		code      string
	}{
		{"named", "", nil, []string{"desk__search", "big_notes__create_note"}, []string{
			"desk__search", "big_notes__create_note",
		}, ""},
		{
			"named, of an app", "desk", nil,
			[]string{"desk__search", "big_notes__create_note"},
			[]string{"desk__search"},
			"",
		},
		{"named, not allowed", "", reading, []string{"desk__create"}, nil, "key_restricted"},
		{"named, unknown", "", nil, []string{"desk__x"}, nil, "tool_not_found"},
		{"of an app", "desk", nil, nil, []string{
			"desk__search", "desk__create", "desk__replace", "desk__whoami", "desk__request",
		}, ""},
		{"of an app, allowed ones", "desk", reading, nil, []string{"desk__search", "desk__whoami"}, ""},
		{"of an unknown app", "x", nil, nil, nil, "app_not_found"},
	} {
		apps, found, err := all.List(t.Context(), "acc_a", tt.key, tt.app, tt.ids)
		var ids []string
		for i, one := range found {
			ids = append(ids, one.ID)
			if apps[i].ID != one.App {
				t.Errorf("%s: %s comes with the app %s", tt.name, one.ID, apps[i].ID)
			}
		}
		if diff := cmp.Diff(tt.want, ids); diff != "" || tt.code != "" && !problem.Is(err, tt.code) ||
			tt.code == "" && err != nil {
			t.Errorf("%s: List = %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

func TestRestrictions(t *testing.T) {
	t.Parallel()
	key := &apikey.Key{
		AccountID: "acc_a",
		Restrict:  apikey.Restrictions{Tools: []string{"desk__replace", "desk__gone"}},
	}
	got, err := tools(t).Restrictions(t.Context(), key)
	if err != nil || !slices.Contains(got.Tools, "desk__overwrite") || !slices.Contains(got.Tools, "desk__gone") {
		t.Errorf("Restrictions = %v, %v, want all ids of desk__replace, and desk__gone", got.Tools, err)
	}
	if len(key.Restrict.Tools) != 2 {
		t.Errorf("the key was changed: %v", key.Restrict.Tools)
	}
}
