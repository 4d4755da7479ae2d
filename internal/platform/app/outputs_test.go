package app_test

import (
	"testing"

	"ace/internal/platform/app"
)

// TestOutputSchema is made of the results that a definition names.
func TestOutputSchema(t *testing.T) {
	t.Parallel()
	a, err := app.Parse([]byte(`
id: desk
name: Desk
base: https://desk.example
auth: [{id: open, type: none}]
tools:
  named: {call: GET /a, about: A., out: {id: /data/id, title: /data/title}}
  whole: {call: GET /b, about: B.}
  file: {call: GET /c, about: C., binary: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"named": `{"properties":{"id":{},"title":{}},"type":"object"}`,
		"whole": "", "file": "",
	} {
		one, ok := a.Tools.Get(name)
		if !ok {
			t.Fatalf("no tool %s", name)
		}
		if got := string(one.OutputSchema); got != want {
			t.Errorf("%s answers %s, want %s", name, got, want)
		}
	}
}
