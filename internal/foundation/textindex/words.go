package textindex

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the length at which words are cut, in runes.
const maxWord = 40

// Words splits a text in the way entries and queries are split: case, accents
// and plural endings are removed, "camelCase", "snake_case" and "v2" are
// separated, and scripts without spaces become pairs of characters.
func Words(text string) []string {
	var words []string
	var word []rune
	var before rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, finish(word)...)
			word = word[:0]
		}
	}
	for _, r := range norm.NFKD.String(apart(text)) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue // an accent belongs to the letter before
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		default:
			if len(word) > 0 && splits(before, r) {
				flush()
			}
			word = append(word, unicode.ToLower(r))
		}
		before = r
	}
	flush()
	return words
}

// apart separates words written in camelCase, before case is folded.
func apart(text string) string {
	var b strings.Builder
	var before rune
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// splits reports whether a new word begins between two characters.
func splits(a, b rune) bool {
	return unicode.IsDigit(a) != unicode.IsDigit(b) || spaceless(a) != spaceless(b)
}

// spaceless reports whether a script has no spaces between words.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func finish(word []rune) []string {
	if len(word) > maxWord {
		word = word[:maxWord]
	}
	if !spaceless(word[0]) {
		return []string{singular(string(word))}
	}
	if len(word) == 1 {
		return []string{string(word)}
	}
	pairs := make([]string, 0, len(word)-1)
	for i := range len(word) - 1 {
		pairs = append(pairs, string(word[i:i+2]))
	}
	return pairs
}

// singular removes the plural ending of an English word. Words that only look
// like a plural lose it too, in entries and queries alike.
func singular(w string) string {
	switch {
	case len(w) < 4 || !strings.HasSuffix(w, "s"):
		return w
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w,
		"shes"), strings.HasSuffix(w, "zzes"):
		return w[:len(w)-2]
	}
	return w[:len(w)-1]
}
