// Package prose measures a text without understanding it.
//
//	text -> words that say what it is about, compared give or take an ending
//	     -> shingles: how much two texts have in common
//	     -> dates that it shows, in the ways that people write them
//	     -> a sentence that states something
//	     -> cut to a length, on one line, without what does not print
package prose

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/excerpt"
	"ace/internal/website/crawl"
)

// HasStatement reports whether a text holds a sentence that states something: of
// six words or more, ended by a full stop.
func HasStatement(text string) bool {
	start := 0
	for i, r := range text {
		switch r {
		case '.', '!', '。', '！', '।':
			if end := i + len(string(r)); end < len(text) && !unicode.IsSpace(rune(text[end])) && r == '.' {
				continue // inside a number or a name
			}
			if crawl.Words(text[start:i]) >= 6 {
				return true
			}
			start = i + len(string(r))
		case '?', '？':
			start = i + len(string(r))
		}
	}
	return false
}

// Squeeze puts a text on one line with single spaces.
func Squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// Invisible reports whether a character prints nothing and can so carry
// invisible text.
func Invisible(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0x180e:
		return true
	case r >= 0xe0000 && r <= 0xe007f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// Cut shortens a text that is quoted in a report, and takes out what does not
// print.
func Cut(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 || r == 0x2028 || r == 0x2029
	}), " ")
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || Invisible(r) {
			return -1
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return excerpt.Chars(text, limit-1)
}

// Quote is cut in quotation marks.
func Quote(text string) string { return "“" + Cut(text, 120) + "”" }

// Count is a number and its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
