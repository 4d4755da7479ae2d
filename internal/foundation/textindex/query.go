package textindex

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Weights of words that are not exactly those of the query.
const (
	factorPrefix = 0.8
	factorParts  = 0.9
	factorTypo   = 0.6
)

const (
	minPrefix   = 2  // letters that the last word of a query needs to find longer ones
	maxPrefixed = 64 // longer words that it may find
	minTypo     = 4  // letters of a word that may be misspelled
	maxTypos    = 6  // words that a misspelled one may stand for
	maxTerms    = 16 // bits of the mask of a tally
)

// term is one word of a query and the words of the index that may be meant.
type term struct {
	worth    float32
	variants []variant // best first
}

type variant struct {
	word   int32
	factor float32
}

func (x *Index) terms(query string) []term {
	var words []string
	for _, w := range Words(query) {
		if !slices.Contains(words, w) && len(words) < MaxQueryWords {
			words = append(words, w)
		}
	}
	words = x.together(words)
	var terms []term
	for i, w := range words {
		if parts := x.inTwo(w); parts != nil {
			for _, p := range parts {
				terms = append(terms, x.weigh([]variant{{p, factorParts}}))
			}
			continue
		}
		terms = append(terms, x.weigh(x.variants(w, i == len(words)-1)))
	}
	return terms[:min(len(terms), maxTerms)]
}

// weigh returns a term with its weight: that of the most common word that it
// stands for, or of a word that no entry has.
func (x *Index) weigh(variants []variant) term {
	holders := 0
	for _, v := range variants {
		holders = max(holders, len(x.postings[v.word]))
	}
	return term{x.worth(holders), variants}
}

// variants returns the words that w may mean.
func (x *Index) variants(w string, last bool) []variant {
	var found []variant
	id, known := x.words[w]
	if known {
		found = append(found, variant{id, 1})
	}
	if last {
		found = append(found, x.longer(w)...)
	}
	if len(found) == 0 {
		found = x.neighbours(w)
	}
	return found
}

// together joins two words of a query that the index knows only as one:
// "set up" finds setup.
func (x *Index) together(words []string) []string {
	for i := 0; i+1 < len(words); i++ {
		if _, joined := x.words[words[i]+words[i+1]]; joined && !(x.knows(words[i]) && x.knows(words[i+1])) {
			words = slices.Replace(words, i, i+2, words[i]+words[i+1])
		}
	}
	return words
}

func (x *Index) knows(w string) bool {
	_, ok := x.words[w]
	return ok
}

// inTwo splits a word that the index has only as two: "sitemap" finds site-map.
// Of several ways the rarest words win.
func (x *Index) inTwo(w string) []int32 {
	if x.knows(w) || len(w) < 5 {
		return nil
	}
	var best []int32
	rarest := x.entries + 1
	for i := 2; i <= len(w)-2; i++ {
		a, okA := x.words[w[:i]]
		b, okB := x.words[singular(w[i:])]
		if holders := max(x.holders(a, okA), x.holders(b, okB)); okA && okB && holders < rarest {
			best, rarest = []int32{a, b}, holders
		}
	}
	return best
}

func (x *Index) holders(word int32, ok bool) int {
	if !ok {
		return 0
	}
	return len(x.postings[word])
}

// longer returns the words that begin with w, the most common ones first.
func (x *Index) longer(w string) []variant {
	if utf8.RuneCountInString(w) < minPrefix {
		return nil
	}
	from, _ := slices.BinarySearchFunc(x.sorted, w,
		func(id int32, w string) int { return cmp.Compare(x.spelled[id], w) })
	var found []variant
	for _, id := range x.sorted[from:] {
		if !strings.HasPrefix(x.spelled[id], w) {
			break
		}
		if x.spelled[id] != w {
			found = append(found, variant{id, factorPrefix})
		}
	}
	return x.mostCommon(found, maxPrefixed)
}

// neighbors returns the words that are one typo from w.
func (x *Index) neighbours(w string) []variant {
	letters := []rune(w)
	if len(letters) < minTypo || letters[0] >= '0' && letters[0] <= '9' {
		return nil
	}
	var found []variant
	seen := map[int32]bool{}
	for _, hash := range typoHashes(letters) {
		from, _ := slices.BinarySearchFunc(x.typos, hash, func(s typo, h uint32) int { return cmp.Compare(s.hash, h) })
		for _, s := range x.typos[from:] {
			if s.hash != hash {
				break
			}
			if !seen[s.word] && oneTypo(letters, []rune(x.spelled[s.word])) {
				found = append(found, variant{s.word, factorTypo})
			}
			seen[s.word] = true
		}
	}
	return x.mostCommon(found, maxTypos)
}

// mostCommon returns the words that most entries have, without sorting the
// rest.
func (x *Index) mostCommon(found []variant, most int) []variant {
	order := func(a, b variant) int {
		return cmp.Or(cmp.Compare(len(x.postings[b.word]), len(x.postings[a.word])),
			cmp.Compare(x.spelled[a.word], x.spelled[b.word]))
	}
	chosen := make([]variant, 0, min(len(found), most)+1)
	for _, v := range found {
		if len(chosen) == most && order(v, chosen[most-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(chosen, v, order)
		chosen = slices.Insert(chosen, at, v)
		chosen = chosen[:min(len(chosen), most)]
	}
	return chosen
}

// typo is a word with one letter left out: two words that are one typo apart
// have such a form in common, so that neighbors are found without comparing
// all words.
type typo struct {
	hash uint32
	word int32
}

func typosOf(spelled []string) []typo {
	var all []typo
	for id, w := range spelled {
		letters := []rune(w)
		if len(letters) < minTypo-1 || letters[0] >= '0' && letters[0] <= '9' {
			continue
		}
		for _, hash := range typoHashes(letters) {
			all = append(all, typo{hash, int32(id)}) //nolint:gosec // words are counted by int32
		}
	}
	slices.SortFunc(all,
		func(a, b typo) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.word, b.word)) })
	return all
}

// typoHashes returns the hashes of the word and of the word without each
// letter.
func typoHashes(letters []rune) []uint32 {
	hashes := make([]uint32, 0, len(letters)+1)
	for out := -1; out < len(letters); out++ {
		hash := uint32(2166136261) // FNV-1a
		for i, r := range letters {
			if i != out {
				hash = (hash ^ uint32(r)) * 16777619
			}
		}
		hashes = append(hashes, hash)
	}
	return hashes
}

// oneTypo reports whether one letter inserted, deleted, replaced or swapped
// with its neighbor turns a into b.
func oneTypo(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	if i == len(a) || slices.Equal(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}
