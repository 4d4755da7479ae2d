package storehttp

import "testing"

func TestPreferred(t *testing.T) {
	t.Parallel()
	tests := []struct {
		accept, want string
		ok           bool
	}{
		{"", typeJSON, true},
		{"  ", typeJSON, true},
		{"*/*", typeJSON, true},
		{"text/*", typeMarkdown, true},
		{"application/ld+json", typeLD, true},
		{"Application/LD+JSON; profile=x", typeLD, true},
		{"text/markdown, application/json", typeJSON, true}, // a tie: the default
		{"application/json;q=0.5, text/markdown", typeMarkdown, true},
		{"text/html, */*;q=0.1", typeJSON, true},
		{"*/*;q=0.1, application/json;q=0, text/markdown;q=0.05", typeLD, true},
		{"text/html", "", false},
		{"application/json;q=0", "", false},
		{"application/json;q=7", "", false},
		{"application/json;q=x", "", false},
		{",,;;,", "", false},
	}
	for _, tt := range tests {
		got, ok := preferred(tt.accept, typeJSON, typeLD, typeMarkdown)
		if got != tt.want || ok != tt.ok {
			t.Errorf("preferred(%q) = %q, %v, want %q, %v", tt.accept, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzPreferred(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/markdown;q=0.5, application/json", "a/b;q=1;q=0", ",;="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		got, ok := preferred(accept, typeJSON, typeMarkdown)
		if ok != (got == typeJSON || got == typeMarkdown) {
			t.Errorf("preferred(%q) = %q, %v", accept, got, ok)
		}
	})
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `"b", "a"`: true, `*`: true, ``: false, `"b"`: false, `a`: false,
	} {
		if got := matches(header, `"a"`); got != want {
			t.Errorf("matches(%s) = %v, want %v", header, got, want)
		}
	}
}
