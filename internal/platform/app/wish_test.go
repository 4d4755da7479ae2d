package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
)

func TestWishedScopes(t *testing.T) {
	t.Parallel()
	scheme := &app.Scheme{
		OAuth: &app.OAuth{Scopes: app.Scopes{Profiles: map[string][]string{"read_only": {"a.read", "b.read"}}}},
	}
	tests := []struct {
		scopes  []string
		profile string
		want    []string
		pointer string // of the refusal; empty: none
	}{
		{nil, "", nil, ""},
		{[]string{"x"}, "", []string{"x"}, ""},
		{[]string{"b.read", "x"}, "read_only", []string{"b.read", "x", "a.read"}, ""},
		{nil, "write", nil, "/scope_profile"},
		{[]string{"ok", "two words"}, "", nil, "/scopes/1"},
		{[]string{`"`}, "", nil, "/scopes/0"},
		{[]string{""}, "", nil, "/scopes/0"},
		{[]string{strings.Repeat("s", 256)}, "", nil, "/scopes/0"},
		{strings.Split(strings.Repeat("s,", 100)+"s", ","), "", nil, "/scopes"},
	}
	for _, tt := range tests {
		got, err := scheme.WishedScopes(tt.scopes, tt.profile)
		if at := pointerOf(err); at != tt.pointer || !cmp.Equal(got, tt.want) {
			t.Errorf("WishedScopes(%.40q, %q) = %v, %v, want %v %s", tt.scopes, tt.profile, got, err, tt.want,
				tt.pointer)
		}
	}
	if _, err := (&app.Scheme{}).WishedScopes(nil, "read_only"); pointerOf(err) != "/scope_profile" {
		t.Errorf("a scheme without OAuth: %v", err)
	}
}

func pointerOf(err error) string {
	p, _ := problem.From(err)
	if err == nil || len(p.Items) == 0 {
		return ""
	}
	return p.Items[0].Pointer
}

func TestTakeParams(t *testing.T) {
	t.Parallel()
	a := &app.App{Name: "Desk", Params: map[string]app.Param{"team": {Match: "[a-z]+"}, "cloud": {Learned: true}}}
	for given, want := range map[string]string{
		"team=acme": "", "team=Acme!": "invalid_request",
		"cloud=x": "unknown_app_params", "other=x": "unknown_app_params",
	} {
		name, value, _ := strings.Cut(given, "=")
		taken, err := a.TakeParams(map[string]string{name: value})
		if want == "" && (err != nil || taken[name] != value) || want != "" &&
			(!problem.Is(err, want) || pointerOf(err) != "/params/"+name) {
			t.Errorf("TakeParams(%s) = %v, %v, want %q", given, taken, err, want)
		}
	}
}
