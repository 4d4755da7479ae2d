package app_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

func TestSent(t *testing.T) {
	t.Parallel()
	object := map[string]any{"a": true}
	tests := []struct {
		name  string
		input app.Input
		value any
		want  any
	}{
		{"as it is", app.Input{}, "x", "x"},
		{
			"a structure",
			app.Input{As: []any{map[string]any{"text": map[string]any{"content": "{}"}, "n": 1}}},
			"x",
			[]any{map[string]any{"text": map[string]any{"content": "x"}, "n": 1}},
		},
		{"a value that is no text", app.Input{As: map[string]any{"v": "{}"}}, object, map[string]any{"v": object}},
		{"part of a text", app.Input{As: "issue:{}"}, 7, "issue:7"},
		{"a filter", app.Input{As: "{|base64}"}, "hi", "aGk="},
		{
			"every entry",
			app.Input{Each: map[string]any{"address": "{}"}},
			[]any{"a", "b"},
			[]any{map[string]any{"address": "a"}, map[string]any{"address": "b"}},
		},
		{
			"every entry, then all",
			app.Input{Each: "<{}>", As: map[string]any{"to": "{}"}},
			[]any{"a"},
			map[string]any{"to": []any{"<a>"}},
		},
		{"each of no list", app.Input{Each: "<{}>"}, "a", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.input.Sent(tt.value)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Sent (-want +got):\n%s%v", diff, err)
			}
		})
	}
	if _, err := (&app.Input{As: "{other}"}).Sent("x"); err == nil {
		t.Error("an unknown name was accepted")
	}
}

func TestPut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		places [][2]string
		want   map[string]any
	}{
		{"a name", [][2]string{{"a", "1"}, {"b/c", "2"}}, map[string]any{"a": "1", "b/c": "2"}},
		{
			"a pointer",
			[][2]string{{"/a/b", "1"}, {"/a/c", "2"}},
			map[string]any{"a": map[string]any{"b": "1", "c": "2"}},
		},
		{
			"a list",
			[][2]string{{"/a/1/b", "2"}, {"/a/0/b", "1"}, {"/a/0/c", "3"}},
			map[string]any{"a": []any{map[string]any{"b": "1", "c": "3"}, map[string]any{"b": "2"}}},
		},
		{
			"a list with gaps",
			[][2]string{{"/a/2/b", "2"}, {"/a/0", "1"}, {"/x/y/1", "3"}},
			map[string]any{"a": []any{"1", map[string]any{"b": "2"}}, "x": map[string]any{"y": []any{"3"}}},
		},
		{"escaped", [][2]string{{"/a~1b/~0", "1"}}, map[string]any{"a/b": map[string]any{"~": "1"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := map[string]any{}
			for _, place := range tt.places {
				if err := app.Put(got, place[0], place[1]); err != nil {
					t.Fatal(err)
				}
			}
			app.Compact(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Put (-want +got):\n%s", diff)
			}
		})
	}
	given := map[string]any{"x": 1}
	body := map[string]any{"fields": given}
	if err := app.Put(body, "/fields/y", 2); err != nil || len(given) != 1 ||
		len(body["fields"].(map[string]any)) != 2 {
		t.Errorf("Put changed what the caller passed: %v, %v, %v", given, body, err)
	}
	for _, place := range []string{"/a/b", "/l/b", "/o/0"} {
		if err := app.Put(map[string]any{"a": "text", "l": []any{}, "o": map[string]any{}}, place, 1); err == nil {
			t.Errorf("Put(%s) found a place where there is none", place)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	got, err := app.Fill(map[string]any{"a": []any{"{x}", 1}, "b": "{{}}"}, app.Map{"x": "y"})
	if diff := cmp.Diff(map[string]any{"a": []any{"y", 1}, "b": "{}"}, got); err != nil || diff != "" {
		t.Errorf("Fill (-want +got):\n%s%v", diff, err)
	}
	if _, err := app.Fill([]any{map[string]any{"a": "{z}"}}, app.Map{}); err == nil {
		t.Error("an unknown name was accepted")
	}
}

func TestResolveBy(t *testing.T) {
	t.Parallel()
	a := &app.App{Resolve: []app.Step{
		{Call: "GET /1"},
		{Call: "GET /2", Scheme: "oauth"},
		{Call: "GET /3", Scheme: "key"},
	}}
	if got := a.ResolveBy("oauth"); len(got) != 2 || got[1].Call != "GET /2" || len(a.Resolve) != 3 {
		t.Errorf("ResolveBy = %v", got)
	}
}
