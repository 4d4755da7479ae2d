package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ace/internal/foundation/excerpt"
)

func TestExcerpts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in                   string
		size                 int
		prefix, bytes, chars string
	}{
		{"", 0, "", "", ""},
		{"", 5, "", "", ""},
		{"abc", 3, "abc", "abc", "abc"},
		{"abcd", 3, "abc", "abc…", "abc…"},
		{"abcd", 0, "", "…", "…"},
		{"äöü", 3, "ä", "ä…", "äöü"},
		{"äöü", 2, "ä", "ä…", "äö…"},
		{"äöü", 1, "", "…", "ä…"},
		{"😀x", 3, "", "…", "😀x"},
		{"😀x", 4, "😀", "😀…", "😀x"},
	}
	for _, tt := range tests {
		if got := excerpt.Prefix(tt.in, tt.size); got != tt.prefix {
			t.Errorf("Prefix(%q, %d) = %q, want %q", tt.in, tt.size, got, tt.prefix)
		}
		if got := excerpt.Bytes(tt.in, tt.size); got != tt.bytes {
			t.Errorf("Bytes(%q, %d) = %q, want %q", tt.in, tt.size, got, tt.bytes)
		}
		if got := excerpt.Chars(tt.in, tt.size); got != tt.chars {
			t.Errorf("Chars(%q, %d) = %q, want %q", tt.in, tt.size, got, tt.chars)
		}
	}
}

func FuzzExcerpts(f *testing.F) {
	f.Add("äöü😀", 3)
	f.Add("\xff\xfe\x80\x80", 2)
	f.Fuzz(func(t *testing.T, s string, size int) {
		size = max(0, size)
		prefix, marked, chars := excerpt.Prefix(s, size), excerpt.Bytes(s, size), excerpt.Chars(s, size)
		if len(prefix) > size && len(s) > size || !strings.HasPrefix(s, prefix) {
			t.Errorf("Prefix(%q, %d) = %q", s, size, prefix)
		}
		if utf8.RuneCountInString(strings.TrimSuffix(chars, excerpt.Mark)) > size && chars != s {
			t.Errorf("Chars(%q, %d) = %q", s, size, chars)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(marked) || !utf8.ValidString(chars)) {
			t.Errorf("an excerpt of %q at %d ends inside a character", s, size)
		}
	})
}
