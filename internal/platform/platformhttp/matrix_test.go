package platformhttp_test

import (
	"strings"
	"testing"

	"ace/internal/platform/apikey"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
)

// TestPermissionMatrix walks over every route with every kind of caller. What a
// route refuses is refused before anything is read: paths name nothing that
// exists, and bodies are empty.
func TestPermissionMatrix(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	cookie, token := w.signIn(t)
	callers := []struct {
		name        string
		permissions apikey.Permissions
		person      bool
	}{
		{"nobody", 0, false},
		{"read", apikey.Read, false},
		{"connect", apikey.Connect, false},
		{"run", apikey.Run, false},
		{"all", apikey.All, false},
		{"owner", 0, true},
	}
	for pattern, need := range platformhttp.Rules() {
		method, path, found := strings.Cut(pattern, " ")
		if !found { // every method; only POST does something
			method, path = "POST", pattern
		}
		path = concrete(path)
		for _, c := range callers {
			t.Run(pattern+" by "+c.name, func(t *testing.T) {
				t.Parallel()
				var fields []string
				if c.person {
					fields = []string{"Cookie", cookie, "X-CSRF-Token", token}
				} else if c.permissions != 0 {
					secret, _ := w.key(t, c.permissions)
					fields = []string{"Authorization", "Bearer " + secret}
				}
				got := w.call(method, path, "", fields...).Code
				want := expected(need, c.permissions, c.person)
				if want == 0 && (got == 401 || got == 403) || want != 0 && got != want {
					t.Errorf("%s %s by %s: %d, want %d (0: served)", method, path, c.name, got, want)
				}
			})
		}
	}
}

// concrete fills the wildcards of a pattern.
func concrete(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			if parts[i] = "none"; part == "{$}" {
				parts[i] = ""
			}
		}
	}
	return strings.Join(parts, "/")
}

// expected is the refusal of the matrix, 0 where the caller passes.
func expected(need gate.Need, has apikey.Permissions, person bool) int {
	rule := need.Rule()
	switch {
	case rule.Open:
		return 0
	case need.ByPerson():
		if person {
			return 0
		}
		return 401
	case has == 0:
		return 401
	case !has.Has(rule.Permissions) || rule.RawRequests:
		return 403
	}
	return 0
}
