package toolindex

import (
	"cmp"
	"slices"
	"strings"

	"ace/internal/platform/app"
)

// nameOf is an app with all that it is called.
func nameOf(a *app.App) named {
	n := named{app: a}
	for _, name := range append([]string{a.Name, a.ID}, a.Aliases...) {
		if s := squash(name); s != "" && !slices.Contains(n.names, s) {
			n.names = append(n.names, s)
		}
	}
	return n
}

const mentionWords = 4 // of the longest name that is looked for

// mention is an app that a task names: how sure that is, and which words of the
// task are its name.
type mention struct {
	strength float64
	stems    map[string]bool
}

// mentions are the apps that a task names, with how sure that is: 1 for a name
// as it is, less for a slip of one letter, and little for a common word (box,
// close, notion) that nothing marks as a name.
func (x *Index) mentions(task []word) map[string]mention {
	found := map[string]mention{}
	for i := range task {
		text, misspelt := "", false
		for n := 0; n < mentionWords && i+n < len(task); n++ {
			text += task[i+n].written
			misspelt = misspelt || x.postings[task[i+n].stem] == nil
			for _, a := range x.apps {
				strength := a.mentioned(text, n == 0, misspelt, task, i)
				if strength == 0 {
					continue
				}
				m := found[a.app.ID]
				if m.stems == nil {
					m.stems = map[string]bool{}
				}
				m.strength = max(m.strength, strength)
				for _, w := range task[i : i+n+1] {
					m.stems[w.stem] = m.stems[w.stem] || strength > sure
				}
				found[a.app.ID] = m
			}
		}
	}
	return found
}

// sure is the strength above which a task is taken to name an app.
const sure = 0.5

// mentioned answers how sure it is that a text is a name of the app. Only a word
// that no tool knows can be a slip: "email" is not meant to be Gmail.
func (n *named) mentioned(text string, single, misspelt bool, task []word, at int) float64 {
	for _, name := range n.names {
		switch {
		case name == text && single && ambiguous(name) && !cued(task, at):
			return 0.2
		case name == text:
			return 1
		case misspelt && len(name) >= 5 && len(text) >= 5 && slip(name, text):
			return 0.8
		}
	}
	return 0
}

// ambiguous reports whether the name of an app is a word that tasks are made of.
func ambiguous(name string) bool {
	switch name {
	case "box", "close", "front", "monday", "notes", "drive", "calendar", "sheets", "teams", "mail", "wise", "square", "buffer", "linear", "notion", "messages", "forms", "docs", "tasks", "meet", "chat", "contacts":
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

// slip reports whether two words are one letter apart: one too many, one too
// few, one other, or two exchanged.
func slip(a, b string) bool {
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

func strongest(apps map[string]mention) float64 {
	most := 0.0
	for _, m := range apps {
		most = max(most, m.strength)
	}
	return most
}

func (x *Index) mentionedApps(found map[string]mention) []*app.App {
	var list []*app.App
	for _, a := range x.apps {
		if found[a.app.ID].strength > sure {
			list = append(list, a.app)
		}
	}
	return list
}

// AppHit is an app that was found.
type AppHit struct {
	App   *app.App
	Score float64  // 0 to 1
	On    []string // name, alias, category, description
}

// Apps finds apps by name, by other names, by what they are for. An empty
// search lists all, by name.
func (x *Index) Apps(search string) []AppHit {
	wanted := squash(search)
	var hits []AppHit
	for _, a := range x.apps {
		score, on := 1.0, "name"
		if wanted != "" {
			score, on = a.match(wanted, stems(search))
		}
		if score > 0 {
			hits = append(hits, AppHit{a.app, score, []string{on}})
		}
	}
	slices.SortFunc(hits, func(a, b AppHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(strings.ToLower(a.App.Name), strings.ToLower(b.App.Name)), cmp.Compare(a.App.ID, b.App.ID))
	})
	return hits
}

func (n *named) match(wanted string, task []string) (float64, string) {
	score, on := 0.0, ""
	take := func(s float64, what string) {
		if s > score {
			score, on = s, what
		}
	}
	for i, name := range n.names {
		what, full := "name", 1.0
		if i > 0 {
			what, full = "alias", 0.97
		}
		switch {
		case name == wanted:
			take(full, what)
		case strings.HasPrefix(name, wanted) && len(wanted) >= 2:
			take(full*(0.7+0.2*float64(len(wanted))/float64(len(name))), what)
		case strings.Contains(name, wanted) && len(wanted) >= 3:
			take(full*0.6, what)
		case len(name) >= 4 && len(wanted) >= 4 && slip(name, wanted):
			take(full*0.8, what)
		}
	}
	for _, text := range []struct {
		words []string
		score float64
		what  string
	}{{stems(strings.Join(n.app.Categories, " ")), 0.5, "category"}, {stems(n.app.About), 0.4, "description"}} {
		held := 0
		for _, w := range task {
			if slices.Contains(text.words, w) {
				held++
			}
		}
		if len(task) > 0 && held == len(task) {
			take(text.score, text.what)
		}
	}
	return score, on
}

// Closest answers the app whose name is nearest to a text, for hints.
func (x *Index) Closest(text string) (*app.App, bool) {
	if hits := x.Apps(text); len(hits) > 0 && hits[0].Score >= 0.5 {
		return hits[0].App, true
	}
	return nil, false
}
