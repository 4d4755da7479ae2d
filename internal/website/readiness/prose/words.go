package prose

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fillers are words of titles that say little of what a page is about.
var fillers = map[string]bool{
	"with": true, "from": true, "your": true, "this": true, "that": true, "what": true, "when": true, "where": true,
	"which": true, "about": true, "home": true,
	"page": true, "welcome": true, "have": true, "will": true, "into": true, "more": true, "best": true, "them": true,
	"their": true, "they": true, "than": true,
	"und": true, "oder": true, "eine": true, "einen": true, "der": true, "die": true, "das": true, "für": true,
	"mit": true, "wir": true, "sind": true,
	"pour": true, "avec": true, "dans": true, "nous": true, "vous": true, "para": true, "como": true, "nuestro": true,
	"http": true, "https": true, "and": true, "the": true, "our": true, "for": true, "are": true, "you": true,
	"how": true, "why": true, "who": true, "can": true, "not": true, "all": true, "new": true,
}

// ContentWords are the words of a text that say what it is about, in lower
// case, each once.
func ContentWords(text string) []string {
	var words []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if utf8.RuneCountInString(w) < 3 && !IsWide(w) || fillers[w] || seen[w] {
			continue
		}
		seen[w] = true
		words = append(words, w)
	}
	return words
}

// Overlap counts the words of a that b holds too, give or take an ending.
func Overlap(a, b []string) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if sameWord(x, y) {
				n++
				break
			}
		}
	}
	return n
}

// sameWord takes "repair" and "repairs" for one word.
func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if IsWide(a) {
		return strings.Contains(b, a)
	}
	return len(a) >= 4 && strings.HasPrefix(b, a[:len(a)-1]) && len(b)-len(a) <= 3
}

// Shingles are the hashes of every five words that follow one another.
func Shingles(text string) map[uint64]bool {
	const size, most = 5, 20_000
	words := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	set := map[uint64]bool{}
	for i := 0; i+size <= len(words) && len(set) < most; i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+size] {
			_, _ = h.Write([]byte(w)) // never fails
			_, _ = h.Write([]byte{0})
		}
		set[h.Sum64()] = true
	}
	return set
}

// Jaccard is the share of shingles that two texts have in common.
func Jaccard(a, b map[uint64]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for h := range a {
		if b[h] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// IsWide reports whether a text is written in characters that say more each.
func IsWide(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
			return true
		}
	}
	return false
}
