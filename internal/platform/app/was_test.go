package app_test

import (
	"strings"
	"testing"

	"ace/internal/platform/app"
)

const renamed = `
id: desk
name: Desk
base: https://desk.example
auth: [{id: open, type: none}]
tools:
  find_tickets: {call: GET /a, about: A., was: [search, OLD]}
  create: {call: POST /b, about: B.}
`

// TestOldIDs lead to the tool that has another name now.
func TestOldIDs(t *testing.T) {
	t.Parallel()
	for old, fault := range map[string]string{
		"look_up": "", "create": "which is create of desk",
		"search": "which is find_tickets of desk",
	} {
		a, err := app.Parse([]byte(strings.Replace(renamed, "OLD", old, 1)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := app.NewCatalog(a)
		if fault != "" {
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("a tool that was called %s: %v, want %q", old, err, fault)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if one, _ := a.Tools.Get("find_tickets"); strings.Join(one.IDs(),
			" ") != "desk__find_tickets desk__search desk__look_up" {
			t.Errorf("IDs = %v", one.IDs())
		}
		for _, id := range []string{"desk__find_tickets", "desk__search", "desk__look_up"} {
			if _, one, err := c.Tool(id); err != nil || one.ID != "desk__find_tickets" {
				t.Errorf("Tool(%s) = %+v, %v, want desk__find_tickets", id, one, err)
			}
		}
	}
}
