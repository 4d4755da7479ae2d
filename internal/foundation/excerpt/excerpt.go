// Package excerpt shortens text that is shown or stored for somebody to read:
// on the border of a character, with a mark where more was.
package excerpt

import "unicode/utf8"

// Mark follows text that was cut.
const Mark = "…"

// Prefix returns the beginning of s, at most size bytes and whole characters,
// without a mark. Bytes at the cut that are not UTF-8 are dropped.
func Prefix(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// Bytes returns s, or if it is longer than size bytes its Prefix and Mark.
func Bytes(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return Prefix(s, size) + Mark
}

// Chars returns s, or if it has more than count characters the first count of
// them and Mark.
func Chars(s string, count int) string {
	if len(s) <= count {
		return s
	}
	for at := range s {
		if count == 0 {
			return s[:at] + Mark
		}
		count--
	}
	return s
}
