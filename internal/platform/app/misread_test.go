package app_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

// lineWith is the number of the line that holds text.
func lineWith(t *testing.T, definition, text string) int {
	t.Helper()
	i := slices.IndexFunc(strings.Split(definition, "\n"),
		func(line string) bool { return strings.Contains(line, text) })
	if i < 0 {
		t.Fatalf("%q is not in the definition", text)
	}
	return i + 1
}

// TestMisread changes a definition that is right and reads what is told about
// each change: its line in the file as it was written, however deep it stands.
func TestMisread(t *testing.T) {
	t.Parallel()
	const commented = "tools:\n  # A comment takes a line, too.\n\n  list_notes:"
	base := strings.Replace(notes, "tools:\n  list_notes:", commented, 1)
	tests := []struct {
		name    string
		changes []string // pairs: what stands there, and what does instead
		want    []string // fault, and after | what stands on its line
	}{
		{
			"a member of the app",
			[]string{"who: {get: /me", "who: {gett: /me"},
			[]string{`nothing is called "gett" here: correct the name, or remove it|gett`},
		},
		{
			"a member of a scheme",
			[]string{"refresh: {rotation", "refresh: {rotate"},
			[]string{`nothing is called "rotate" here: correct the name, or remove it|rotate:`},
		},
		{
			"a member of a tool",
			[]string{"about: Writes a note.", "abuot: Writes a note."},
			[]string{`nothing is called "abuot" here: correct the name, or remove it|abuot`},
		},
		{
			"members of two tools and the app",
			[]string{
				"about: Writes a note.", "abuot: Writes a note.", "items: /notes", "item: /notes", "checked: ",
				"chequed: ",
			},
			[]string{
				`nothing is called "chequed" here: correct the name, or remove it|chequed`,
				`nothing is called "item" here: correct the name, or remove it|item: /notes`,
				`nothing is called "abuot" here: correct the name, or remove it|abuot`,
			},
		},
		{
			"an input without a type",
			[]string{"{type: boolean, where: query}", "{where: query}"},
			[]string{"input hard: it has no type|{where: query}"},
		},
		{
			"an array of nothing",
			[]string{"[string]", "[]"},
			[]string{"an array names the type of its entries, such as [string]|labels: []"},
		},
		{
			"a tool twice",
			[]string{"create_note:", "list_notes: # again"},
			[]string{"list_notes stands here twice|# again"},
		},
		{
			"a list for a text",
			[]string{"items: /notes", "items: [a]"},
			[]string{"a list stands here where a text belongs|items: [a]"},
		},
		{
			"a text for a list",
			[]string{"scopes: {default: [notes.read]}", "scopes: {default: notes.read}"},
			[]string{"a text stands here where a list belongs|default: notes.read"},
		},
		{
			"a word for a number",
			[]string{"max: 100", "max: many"},
			[]string{"a text stands here where a whole number belongs|max: many"},
		},
		{
			"a member twice",
			[]string{"base: https", "name: Twice\nbase: https"},
			[]string{`"name" stands on line 3 already: keep one of them|name: Twice`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer(tt.changes...).Replace(base)
			_, err := app.Parse([]byte(text))
			var misread *app.Misread
			if !errors.As(err, &misread) {
				t.Fatalf("Parse = %v, want what was misread", err)
			}
			var got, want []string
			for _, f := range misread.Faults {
				got = append(got, f.String())
			}
			for _, w := range tt.want {
				fault, on, _ := strings.Cut(w, "|")
				want = append(want, app.Fault{At: "line " + strconv.Itoa(lineWith(t, text, on)), Text: fault}.String())
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMisreadText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"nothing", "", "the file: it is empty: write one definition"},
		{"no YAML", "id: a\nwho: {{get: /me}\n", "near line "},
		{"no mapping", "- id: a", "line 1: a list stands here where a mapping belongs"},
	}
	for _, tt := range tests {
		_, err := app.Parse([]byte(tt.text))
		var misread *app.Misread
		if !errors.As(err, &misread) || !strings.HasPrefix(misread.Error(), tt.want) {
			t.Errorf("%s: Parse = %v, want %q", tt.name, err, tt.want)
		}
	}
}
