package main

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	t.Parallel()
	wide, words := strings.Repeat("x", 90), strings.TrimSpace(strings.Repeat("word ", 17))
	tests := []struct {
		name, in string
		hang     int
		want     string
	}{
		{"nothing", "", 2, ""},
		{"short lines stay", "a\n  b\n\n", 2, "a\n  b\n\n"},
		{"80 columns fit", strings.Repeat("é", 78) + " y", 2, strings.Repeat("é", 78) + " y"},
		{"81 do not", strings.Repeat("é", 79) + " y", 3, strings.Repeat("é", 79) + "\n   y"},
		{
			"further in than the line began", "  " + words + "\nnext",
			2, "  " + strings.TrimSpace(strings.Repeat("word ", 15)) + "\n    word word\nnext",
		},
		{"an address stays whole", "GET " + wide, 2, "GET " + wide},
		{"after a long line", "  " + wide + " z", 2, "  " + wide + "\n    z"},
	}
	for _, tt := range tests {
		if got := fold(tt.in, tt.hang); got != tt.want {
			t.Errorf("%s: fold = %q, want %q", tt.name, got, tt.want)
		}
	}
}
