package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

func TestBuiltin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, change, to string
		want             string // ids of all tools that are not the definition's own
	}{
		{"both", "", "", "demo_notes__whoami demo_notes__request"},
		{"one of the same name", "create_note:", "whoami:", "demo_notes__request"},
		{"no address", "\nbase: ", "\nicon: ", "demo_notes__whoami"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := notes
			if tt.change != "" {
				text = strings.Replace(notes, tt.change, tt.to, 1)
			}
			a, err := app.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			all, err := a.AllTools()
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, one := range all {
				if one.Builtin {
					ids = append(ids, one.ID)
				}
				if !json.Valid(one.InputSchema) || one.App != a.ID || one.Effect == "" {
					t.Errorf("%s is not complete: %+v", one.ID, one)
				}
			}
			if got := strings.Join(ids, " "); got != tt.want {
				t.Errorf("Builtin = %s, want %s", got, tt.want)
			}
			c, err := app.NewCatalog(a)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if of, found, err := c.Tool(id); err != nil || of != a || found.ID != id {
					t.Errorf("Tool(%s) = %v, %v", id, found, err)
				}
				_, first, _ := c.Tool(id)
				if _, second, _ := c.Tool(id); first != second {
					t.Errorf("Tool(%s) is made each time", id)
				}
			}
		})
	}
}

func TestWhoami(t *testing.T) {
	t.Parallel()
	a := &app.App{ID: "x", Name: "X", Base: "https://x.example", Who: &app.Who{
		Call: "POST /me", Body: `{"a":{}}`,
		ID: "/id", Email: "/mail", Query: map[string]string{"v": "1"},
	}}
	list, err := a.Builtin()
	if err != nil || len(list) != 2 {
		t.Fatalf("Builtin = %v, %v", list, err)
	}
	who := list[0]
	if diff := cmp.Diff(map[string]string{"id": "/id", "email": "/mail"}, who.Out); diff != "" ||
		who.Call != "POST /me" || who.Fixed.Raw != `{"a":{}}` || !who.ReadOnly() {
		t.Errorf("whoami = %+v\n%s", who, diff)
	}
	a.Who = nil
	if list, err = a.Builtin(); err != nil || list[0].Call != "" {
		t.Errorf("whoami of an app that does not tell = %+v, %v", list[0], err)
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	free := &app.Tool{Free: true, Call: "POST /", Effect: app.Writes}
	tests := []struct {
		arguments    map[string]any
		call, effect string
		repeat       bool
	}{
		{map[string]any{"path": "/a"}, "GET /a", app.Reads, true},
		{map[string]any{"method": "head", "path": "/a"}, "HEAD /a", app.Reads, true},
		{map[string]any{"method": "POST", "path": "/a"}, "POST /a", app.Writes, false},
		{map[string]any{"method": "PATCH", "path": "/a"}, "PATCH /a", app.Writes, false},
		{map[string]any{"method": "DELETE", "path": "/a"}, "DELETE /a", app.Destroys, true},
	}
	for _, tt := range tests {
		made := free.With(tt.arguments)
		if made.Call != tt.call || made.Effect != tt.effect || made.SafeToRepeat() != tt.repeat {
			t.Errorf("With(%v) = %s %s %v, want %s %s %v", tt.arguments, made.Call, made.Effect, made.SafeToRepeat(),
				tt.call, tt.effect, tt.repeat)
		}
	}
	if free.Call != "POST /" {
		t.Error("With changed the tool that all share")
	}
	own := &app.Tool{Call: "GET /a"}
	if own.With(map[string]any{"method": "DELETE"}) != own {
		t.Error("With changed a tool of a definition")
	}
}
