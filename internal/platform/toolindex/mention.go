package toolindex

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

const (
	mentionWords = 4 // of the longest name that is looked for
	minTypo      = 5 // letters of a name that may be misspelled

	// sure is the strength above which a task is considered to name an app.
	sure = 0.5
)

// mention is an app that a task names.
type mention struct {
	segment  int
	app      int32
	id       string
	strength float64  // how sure that is
	stems    []string // words of the task that are its name, if it is sure
	telling  int      // of these words, those that are no stop words
}

// has reports whether a stem is part of the name.
func (m *mention) has(stem string) bool { return m != nil && slices.Contains(m.stems, stem) }

// appNames finds apps by name.
type appNames struct {
	exact   map[string][]int32 // apps by squashed name
	spelled []string           // all names
	owners  [][]int32          // their apps
	typos   []typo             // by hash
	filter  []uint64           // bits of their hashes: most lookups find nothing
	longest int                // bytes
}

// typo is a name with one letter left out, as a hash: two words that are one typo
// apart have such a form in common, so that not all names have to be compared.
type typo struct {
	hash uint32
	name int32
}

func newAppNames(apps []appEntry) appNames {
	n := appNames{exact: map[string][]int32{}}
	for i := range apps {
		for _, name := range apps[i].names {
			if _, known := n.exact[name]; !known {
				n.spelled = append(n.spelled, name)
			}
			n.exact[name] = append(n.exact[name], int32(i)) //nolint:gosec // few
			n.longest = max(n.longest, len(name))
		}
	}
	n.owners = make([][]int32, len(n.spelled))
	for i, name := range n.spelled {
		n.owners[i] = n.exact[name]
		if len(name) < minTypo {
			continue
		}
		for _, hash := range typoHashes(name) {
			n.typos = append(n.typos, typo{hash, int32(i)}) //nolint:gosec // few
		}
	}
	slices.SortFunc(n.typos,
		func(a, b typo) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.name, b.name)) })
	n.filter = make([]uint64, 1<<bits.Len(uint(len(n.typos)/4)))
	for _, t := range n.typos {
		word, bit := n.bit(t.hash)
		n.filter[word] |= bit
	}
	return n
}

// bit returns where in the filter a hash is.
func (n *appNames) bit(hash uint32) (word int, bit uint64) {
	return int(hash>>6) & (len(n.filter) - 1), 1 << (hash & 63)
}

// typoHashes returns the hashes of a word and of the word without each byte.
func typoHashes(word string) []uint32 {
	hashes := make([]uint32, 0, len(word)+1)
	const offset, prime = 2166136261, 16777619 // FNV-1a
	before := uint32(offset)                   // of what is before the omitted byte
	for out := range len(word) {
		hash := before
		for i := out + 1; i < len(word); i++ {
			hash = (hash ^ uint32(word[i])) * prime
		}
		hashes = append(hashes, hash)
		before = (before ^ uint32(word[out])) * prime
	}
	return append(hashes, before)
}

// misspelled calls found with the apps that have a name one typo from text.
func (n *appNames) misspelled(text string, found func(app int32)) {
	for _, hash := range typoHashes(text) {
		if word, bit := n.bit(hash); n.filter[word]&bit == 0 {
			continue
		}
		from, _ := slices.BinarySearchFunc(n.typos, hash, func(t typo, h uint32) int { return cmp.Compare(t.hash, h) })
		for _, t := range n.typos[from:] {
			if t.hash != hash {
				break
			}
			if name := n.spelled[t.name]; name != text && oneTypo(name, text) {
				for _, app := range n.owners[t.name] {
					found(app)
				}
			}
		}
	}
}

// findMentions finds the apps that a task names: with strength 1 by a name, less
// with one typo, and little by a common word (box, close, notion) that nothing
// marks as a name. Only a word that no tool has can be a typo: "email" does not
// mean Gmail. Names of apps that are not here count as t.missing where no name of
// an app is.
func (x *Index) findMentions(t *task) {
	unknown := make([]bool, len(t.words))
	for i, w := range t.words {
		unknown[i] = x.holders(w.stem) == 0
	}
	for number, s := range x.segments {
		for i := range t.words {
			text, misspelled := "", false
			for n := 0; n < mentionWords && i+n < len(t.words); n++ {
				text += t.words[i+n].written
				if len(text) > s.names.longest+1 {
					break
				}
				misspelled = misspelled || unknown[i+n]
				strength := 1.0
				if n == 0 && ambiguous(text) && !cued(t.words, i) {
					strength = 0.2
				}
				for _, app := range s.names.exact[text] {
					certain := strength
					if n == 0 && s.apps[app].tools == 0 && x.everyday(&t.words[i]) && !t.words[i].capital {
						certain = 0.2
					}
					t.mention(s, number, app, certain, t.words[i:i+n+1])
				}
				if misspelled && len(text) >= minTypo {
					s.names.misspelled(text, func(app int32) {
						if s.apps[app].tools > 0 || len(text) > minTypo && !x.isMissing(text) {
							t.mention(s, number, app, 0.8, t.words[i:i+n+1])
						}
					})
				}
			}
		}
	}
	x.findMissing(t)
	slices.SortFunc(t.mentions, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.app, b.app))
	})
	for i := range t.mentions {
		m := &t.mentions[i]
		t.strongest = max(t.strongest, m.strength)
		for _, w := range t.words {
			if !stopped(w.written) && m.has(w.stem) {
				m.telling++
			}
		}
	}
}

// everyday reports whether a word is one that tasks are made of: tools have it.
func (x *Index) everyday(w *word) bool { return stopped(w.written) || x.holders(w.stem) > 0 }

// findMissing finds names of apps that are not here.
func (x *Index) findMissing(t *task) {
	named := make([]bool, len(t.words)) // by a mention
	for i := range t.mentions {
		for at := range t.words {
			named[at] = named[at] || t.mentions[i].has(t.words[at].stem)
		}
	}
	for i := range t.words {
		text, longest := "", ""
		everyday := true
		for n := 0; n < mentionWords && i+n < len(t.words) && !named[i+n]; n++ {
			w := &t.words[i+n]
			text += w.written
			everyday = everyday && x.everyday(w)
			if name, known := x.missing[text]; known && !x.has(text) && (!everyday || n > 0 && t.words[i].capital) {
				longest = name
			}
		}
		if longest != "" && !slices.Contains(t.missing, longest) {
			t.missing = append(t.missing, longest)
		}
	}
}

// isMissing reports whether a word is the name of an app that is not here.
func (x *Index) isMissing(squashed string) bool { return x.missing[squashed] != "" && !x.has(squashed) }

// has reports whether an app has a name.
func (x *Index) has(squashed string) bool {
	return slices.ContainsFunc(x.segments, func(s *segment) bool { return len(s.names.exact[squashed]) > 0 })
}

// mention adds a mention of an app by some words.
func (t *task) mention(s *segment, number int, app int32, strength float64, name []word) {
	i := slices.IndexFunc(t.mentions, func(m mention) bool { return m.segment == number && m.app == app })
	if i < 0 {
		i = len(t.mentions)
		t.mentions = append(t.mentions, mention{segment: number, app: app, id: s.apps[app].id})
	}
	m := &t.mentions[i]
	m.strength = max(m.strength, strength)
	if strength <= sure {
		return
	}
	for _, w := range name {
		if !slices.Contains(m.stems, w.stem) {
			m.stems = append(m.stems, w.stem)
		}
	}
}

// named returns the ids of the apps that the task surely names.
func (t *task) named() []string {
	var ids []string
	for i := range t.mentions {
		if t.mentions[i].strength > sure {
			ids = append(ids, t.mentions[i].id)
		}
	}
	return ids
}

// ambiguous reports whether the name of an app is a word that tasks are made of.
func ambiguous(name string) bool {
	switch name {
	case "box", "close", "front", "monday", "notes", "drive", "calendar", "sheets", "teams", "mail", "wise", "square",
		"buffer", "linear", "notion", "messages", "forms", "docs", "tasks", "meet", "chat", "contacts":
		return true
	}
	return false
}

// cued reports whether something marks a word as a name: a capital inside a
// sentence, or a word such as "in" before it.
func cued(task []word, at int) bool {
	if task[at].capital {
		return true
	}
	if at == 0 {
		return false
	}
	switch task[at-1].written {
	case "in", "on", "via", "to", "from", "with", "using", "my", "into":
		return true
	}
	return false
}

// oneTypo reports whether two words are one letter apart: one inserted, deleted or
// replaced, or two swapped.
func oneTypo(a, b string) bool {
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
	if len(a) == len(b) {
		return a[i:] == b[i:] || a[min(i+1, len(a)):] == b[min(i+1, len(b)):] ||
			i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return a[i:] == b[i+1:]
}

// squash returns a text without anything between its letters and digits.
func squash(text string) string {
	var b strings.Builder
	for _, w := range split(text) {
		b.WriteString(w.written)
	}
	return b.String()
}
