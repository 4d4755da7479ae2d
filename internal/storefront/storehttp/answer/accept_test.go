package answer

import "testing"

func TestPreferred(t *testing.T) {
	t.Parallel()
	tests := []struct {
		accept, want string
		ok           bool
	}{
		{"", "application/json", true},
		{"  ", "application/json", true},
		{"*/*", "application/json", true},
		{"text/*", "text/markdown", true},
		{"application/ld+json", "application/ld+json", true},
		{"Application/LD+JSON; profile=x", "application/ld+json", true},
		{"text/markdown, application/json", "application/json", true}, // a tie: the default
		{"application/json;q=0.5, text/markdown", "text/markdown", true},
		{"text/html, */*;q=0.1", "application/json", true},
		{"*/*;q=0.1, application/json;q=0, text/markdown;q=0.05", "application/ld+json", true},
		{"text/html", "", false},
		{"application/json;q=0", "", false},
		{"application/json;q=7", "", false},
		{"application/json;q=x", "", false},
		{",,;;,", "", false},
	}
	for _, tt := range tests {
		got, ok := Preferred(tt.accept, "application/json", "application/ld+json", "text/markdown")
		if got != tt.want || ok != tt.ok {
			t.Errorf("Preferred(%q) = %q, %v, want %q, %v", tt.accept, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzPreferred(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/markdown;q=0.5, application/json", "a/b;q=1;q=0", ",;="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		got, ok := Preferred(accept, "application/json", "text/markdown")
		if ok != (got == "application/json" || got == "text/markdown") {
			t.Errorf("Preferred(%q) = %q, %v", accept, got, ok)
		}
	})
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `"b", "a"`: true, `*`: true, ``: false, `"b"`: false, `a`: false,
	} {
		if got := Matches(header, `"a"`); got != want {
			t.Errorf("Matches(%s) = %v, want %v", header, got, want)
		}
	}
}
