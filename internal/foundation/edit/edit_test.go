package edit_test

import (
	"strings"
	"testing"

	"ace/internal/foundation/edit"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "abcd", 1},
		{"abc", "ac", 1},
		{"abc", "axc", 1},
		{"abc", "acb", 1},
		{"create_issue", "craete_isue", 2},
		{"ca", "abc", 3}, // an exchanged pair is not edited further
		{"github", "gitlab", 2},
	}
	for _, tt := range tests {
		if got := edit.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := edit.Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
		for limit := range 4 {
			if got := edit.Within(tt.a, tt.b, limit); got != (tt.want <= limit) {
				t.Errorf("Within(%q, %q, %d) = %t", tt.a, tt.b, limit, got)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"limit", "cursor", "ACE_STORE_ADDR", "ACE_STORE_URL", "demo-notes"}
	tests := []struct{ name, in, want string }{
		{"a letter too many", "limitt", "limit"},
		{"the beginning", "cur", "cursor"},
		{"other case", "ace_store_adr", "ACE_STORE_ADDR"},
		{"another line", "demo_note", "demo-notes"},
		{"the nearer of two", "ACE_STORE_URI", "ACE_STORE_URL"},
		{"nothing alike", "colour", ""},
		{"nothing", "", ""},
		{"too long", "limit" + strings.Repeat("t", edit.Longest), ""},
	}
	for _, tt := range tests {
		if got := edit.Nearest(tt.in, known); got != tt.want {
			t.Errorf("%s: Nearest(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}
