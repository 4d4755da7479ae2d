package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

const notes = `
id: demo-notes
name: Demo Notes
docs: https://notes.example/docs
checked: 2026-11-21
base: https://api.notes.example
params:
  workspace: {title: Workspace, match: "^[a-z]+$", strip_suffix: .notes.example}
auth:
  - id: oauth
    type: oauth2
    oauth:
      authorize: {url: https://notes.example/authorize, params: {prompt: consent}}
      token: {url: https://notes.example/token}
      refresh: {rotation: always}
      scopes: {default: [notes.read]}
  - {type: key, fields: [{name: key, secret: true}], send: {headers: {Authorization: "Bearer {key}"}}}
who: {get: /me, id: /id, label: /email}
paging: {type: cursor, out: /next, in: cursor, size: {name: limit, max: 100}}
tools:
  list_notes:
    call: GET /notes
    about: Lists notes, newest first.
    in: {search: string, limit: {type: integer, default: 20}, cursor: string}
    items: /notes
  create_note:
    call: POST /workspaces/{workspace_id}/notes
    about: Writes a note.
    in:
      workspace_id!: string
      title!: {type: string, maxLength: 200, about: What it is about.}
      labels: [string]
      color: {enum: [red, green], wire: colour}
  delete_note:
    call: DELETE /notes/{id}
    about: Deletes a note for good.
    in: {id!: string, hard: {type: boolean, where: query}}
`

func TestParse(t *testing.T) {
	t.Parallel()
	a, err := app.Parse([]byte(notes))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for name, tool := range a.Tools.All() {
		var places []string
		for i := range tool.In {
			places = append(places, tool.In[i].WireName()+":"+tool.Place(&tool.In[i]))
		}
		got = append(got, strings.Join([]string{name, tool.ID, tool.Effect, tool.Body, strings.Join(places, ",")}, " "))
	}
	want := []string{
		"list_notes demo_notes__list_notes read none search:query,limit:query,cursor:query",
		"create_note demo_notes__create_note write json workspace_id:path,title:body,labels:body,colour:body",
		"delete_note demo_notes__delete_note destructive none id:path,hard:query",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	create, _ := a.Tools.Get("create_note")
	wantSchema := `{"additionalProperties":false,"properties":{"color":{"enum":["red","green"],"type":"string"},` +
		`"labels":{"items":{"type":"string"},"type":"array"},` +
		`"title":{"description":"What it is about.","maxLength":200,"type":"string"},` +
		`"workspace_id":{"type":"string"}},"required":["workspace_id","title"],"type":"object"}`
	if diff := cmp.Diff(wantSchema, string(create.InputSchema)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if scheme, ok := a.Scheme("key"); !ok || scheme.Send.Headers["Authorization"] != "Bearer {key}" ||
		scheme.NeedsClient() {
		t.Errorf("scheme key = %+v", scheme)
	}
	if scheme, ok := a.Scheme(""); !ok || scheme.OAuth.Refresh.Rotation != app.RotateAlways || !scheme.NeedsClient() {
		t.Errorf("first scheme = %+v", scheme)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, change, to, want string }{
		{"a member that is unknown", "who: {get: /me", "who: {gett: /me", "gett"},
		{"an unknown member of a tool", "items: /notes", "item: /notes", "item"},
		{"an unknown member of a scheme", "refresh: {rotation", "refresh: {rotate", "rotate"},
		{"a tool twice", "create_note:", "list_notes:", "twice"},
		{"an input twice", "title!:", "labels:", "twice"},
		{"an input without a type", "{type: boolean, where: query}", "{where: query}", "no type"},
		{"an array of nothing", "[string]", "[]", "names the type"},
		{"two apps in a file", "name: Demo Notes", "name: Demo Notes\n---\nid: other", "one app"},
		{"no mapping", "tools:", "tools: [1]\nother:", "mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(notes, tt.change, tt.to, 1)
			if text == notes {
				t.Fatalf("%q is not in the definition", tt.change)
			}
			if _, err := app.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %v, want an error about %q", err, tt.want)
			}
		})
	}
}

func TestToolID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 80)
	tests := []struct{ app, name, want string }{
		{"demo-notes", "create_note", "demo_notes__create_note"},
		{"gmail", "send_email", "gmail__send_email"},
		{"x", long, "x__" + long[:54] + "_"},
	}
	for _, tt := range tests {
		got := app.ToolID(tt.app, tt.name)
		if len(got) > 64 || !strings.HasPrefix(got, tt.want) || len(tt.want) < 40 && got != tt.want {
			t.Errorf("ToolID(%s, %s) = %s", tt.app, tt.name, got)
		}
	}
	if app.ToolID("x", long) == app.ToolID("x", long+"b") {
		t.Error("two long names have one id")
	}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	a, err := app.Parse([]byte(notes))
	if err != nil {
		t.Fatal(err)
	}
	c, err := app.NewCatalog(a)
	if err != nil {
		t.Fatal(err)
	}
	if of, tool, err := c.Tool("demo_notes__create_note"); err != nil || of != a || tool.Name != "create_note" {
		t.Errorf("Tool = %v, %v, %v", of, tool, err)
	}
	if _, _, err := c.Tool("demo_notes__nothing"); err == nil {
		t.Error("a tool that is not there was found")
	}
	if _, err := c.App("nothing"); err == nil {
		t.Error("an app that is not there was found")
	}
	if _, err := app.NewCatalog(a, a); err == nil {
		t.Error("two apps of one id were accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(notes))
	f.Add([]byte("id: a\ntools: {a: {call: GET /, in: {b!: {enum: [1]}}}}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := app.Parse(data)
		if err == nil && a == nil {
			t.Error("neither an app nor an error")
		}
	})
}
