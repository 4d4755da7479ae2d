// Package toolindex finds tools and apps by plain words, in memory.
//
//	New(apps): words of names, phrases, titles, descriptions, inputs
//	             -> postings with a precomputed weight (BM25F)
//	Find(task) -> apps that the task names (aliases, slips of one letter)
//	           -> score per tool: words, then words that mean the same,
//	              then what the name has in common with the task
//	           -> the named app first, agreement of doing (create, read, …),
//	              apps that are connected a little
//	           -> at most three tools of one app where none is named
//
// An index never changes; whoever has other apps builds another. The same index
// and task give the same answer, byte for byte. Nothing leaves the process.
package toolindex

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"ace/internal/platform/app"
)

// Weights of the fields of a tool, and how much their length counts.
const (
	weightName    = 4.0
	weightPhrase  = 4.0
	weightApp     = 3.0
	weightTitle   = 3.0
	weightAbout   = 1.5
	weightGroup   = 0.7
	weightInput   = 0.3
	saturation    = 1.2
	lengthShare   = 0.4
	synonymWeight = 0.3
	phraseGain    = 1.2
	perApp        = 3 // tools of one app where none is named
)

// Index is a set of tools. It is safe for concurrent use.
type Index struct {
	entries  []entry
	postings map[string][]posting
	idf      map[string]float64
	similar  map[string][]string // stems that mean the same
	verbs    map[string]string
	apps     []named
}

type entry struct {
	app     *app.App
	tool    *app.Tool
	name    []string   // stems of name and title
	phrases [][]string // stems of the phrases, without words that say nothing
	class   string     // of doing
}

type posting struct {
	entry  int
	weight float64
}

// named is an app with all that it is called.
type named struct {
	app   *app.App
	names []string // squashed, the name first
}

// New builds the index of all tools of apps.
func New(apps []*app.App) *Index {
	x := &Index{postings: map[string][]posting{}, idf: map[string]float64{}, similar: map[string][]string{}, verbs: verbs()}
	for _, group := range synonyms() {
		for _, a := range group {
			for _, b := range group {
				if a != b {
					x.similar[stemOf(a)] = append(x.similar[stemOf(a)], stemOf(b))
				}
			}
		}
	}
	var fields []map[string]float64
	total := 0.0
	for _, a := range apps {
		x.apps = append(x.apps, nameOf(a))
		for _, t := range a.Tools.All() {
			weights := fieldsOf(a, t)
			x.entries = append(x.entries, entry{a, t, stems(t.Name + " " + t.Title), phrasesOf(t), x.classOf(t)})
			fields = append(fields, weights)
			total += sum(weights)
		}
	}
	x.build(fields, total/math.Max(1, float64(len(fields))))
	return x
}

func phrasesOf(t *app.Tool) [][]string {
	var all [][]string
	for _, phrase := range t.Phrases {
		var telling []string
		for _, w := range words(phrase) {
			if !stopped(w.written) {
				telling = append(telling, w.stem)
			}
		}
		all = append(all, telling)
	}
	return all
}

// likeness is how much a phrase and a task have in common, from 0 to 1.
func likeness(phrase []string, task []word) float64 {
	held, telling := 0.0, 0.0
	for _, w := range task {
		if stopped(w.written) {
			continue
		}
		telling++
		if slices.Contains(phrase, w.stem) {
			held++
		}
	}
	if held == 0 {
		return 0
	}
	return 2 * held / (telling + float64(len(phrase)))
}

func stemOf(w string) string {
	all := stems(w)
	if len(all) == 0 {
		return w
	}
	return all[0]
}

// fieldsOf are the weighted counts of the words of a tool.
func fieldsOf(a *app.App, t *app.Tool) map[string]float64 {
	weights := map[string]float64{}
	add := func(text string, weight float64) {
		for _, w := range words(text) {
			if !stopped(w.written) {
				weights[w.stem] += weight
			}
		}
	}
	add(t.Name, weightName)
	add(t.Title, weightTitle)
	add(t.About, weightAbout)
	for _, phrase := range t.Phrases {
		add(phrase, weightPhrase/math.Sqrt(float64(len(t.Phrases))))
	}
	add(a.Name+" "+strings.Join(a.Aliases, " "), weightApp)
	add(strings.Join(a.Categories, " "), weightGroup)
	for _, in := range t.In {
		add(in.Name, weightInput)
	}
	return weights
}

func sum(weights map[string]float64) float64 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	return total
}

func (x *Index) build(fields []map[string]float64, average float64) {
	for i, weights := range fields {
		long := 1 - lengthShare + lengthShare*sum(weights)/math.Max(average, 1)
		for stem, weight := range weights {
			x.postings[stem] = append(x.postings[stem], posting{i, weight * (saturation + 1) / (weight + saturation*long)})
		}
	}
	n := float64(len(fields))
	for stem, list := range x.postings {
		x.idf[stem] = math.Log(1 + (n-float64(len(list))+0.5)/(float64(len(list))+0.5))
	}
}

// classOf is what a tool does: by its name, else by its effect.
func (x *Index) classOf(t *app.Tool) string {
	for _, w := range words(t.Name) {
		if class, ok := x.verbs[w.written]; ok {
			return class
		}
	}
	switch t.Effect {
	case app.Reads:
		return "read"
	case app.Destroys:
		return "delete"
	}
	return "update"
}

// Len is the number of tools.
func (x *Index) Len() int { return len(x.entries) }

// Query is what is looked for.
type Query struct {
	Task string
	Apps []string // only these; empty: all
	// ReadOnly leaves out what changes something.
	ReadOnly bool
	Limit    int
	// Connected says whether the caller has connected an app; such come first
	// among equals. Nil: none is.
	Connected func(app string) bool
	// ConnectedOnly leaves out all others.
	ConnectedOnly bool
	// Allowed leaves out what the caller may not run. Nil: nothing.
	Allowed func(*app.App, *app.Tool) bool
}

// Hit is a tool that was found.
type Hit struct {
	App       *app.App
	Tool      *app.Tool
	Score     float64  // 0 to 1; the first hit is nearest
	MatchedOn []string // app, name, phrase, words, verb
}

// Find answers tools for a task, best first, and the apps that the task names.
func (x *Index) Find(q Query) (hits []Hit, mentioned []*app.App) {
	task := words(q.Task)
	apps := x.mentions(task)
	scores := x.scores(task, apps)
	class := x.taskClass(task)
	for i, score := range scores {
		e := &x.entries[i]
		if !q.admits(e) {
			continue
		}
		hit := Hit{App: e.app, Tool: e.tool}
		named, isNamed := apps[e.app.ID]
		switch {
		case isNamed:
			score = score*(1+2*named.strength) + named.strength
			hit.MatchedOn = append(hit.MatchedOn, "app")
		case len(apps) > 0:
			score *= 1 - 0.85*strongest(apps)
		}
		if score <= 0 {
			continue
		}
		score = x.refine(&hit, e, without(task, named.stems), class, score)
		if q.Connected != nil && q.Connected(e.app.ID) {
			score *= 1.15
		}
		hit.Score = score
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Tool.ID, b.Tool.ID))
	})
	return best(hits, q.Limit, len(apps) > 0 || len(q.Apps) > 0), x.mentionedApps(apps)
}

func (q *Query) admits(e *entry) bool {
	return (len(q.Apps) == 0 || slices.Contains(q.Apps, e.app.ID)) && (!q.ReadOnly || e.tool.ReadOnly()) &&
		(q.Allowed == nil || q.Allowed(e.app, e.tool)) && (!q.ConnectedOnly || q.Connected != nil && q.Connected(e.app.ID))
}

// without are the words of a task that are no part of a name.
func without(task []word, name map[string]bool) []word {
	if len(name) == 0 {
		return task
	}
	return slices.DeleteFunc(slices.Clone(task), func(w word) bool { return name[w.stem] })
}

// nameShare is what a word of an app's name still counts for the tools of that
// app: in "my Google calendar" it says which app, and hardly what to do.
const nameShare = 0.25

// scores adds up the words of the task, and what means the same.
func (x *Index) scores(task []word, apps map[string]mention) map[int]float64 {
	scores := map[int]float64{}
	weights := map[string]float64{}
	for _, w := range task {
		if stopped(w.written) {
			continue
		}
		weights[w.stem] = 1
	}
	for _, stem := range slices.Sorted(maps.Keys(weights)) {
		for _, other := range x.similar[stem] {
			if _, own := weights[other]; !own {
				weights[other] = synonymWeight
			}
		}
	}
	// In a fixed order: sums of fractions depend on it.
	for _, stem := range slices.Sorted(maps.Keys(weights)) {
		for _, p := range x.postings[stem] {
			weight := weights[stem] * x.idf[stem] * p.weight
			if apps[x.entries[p.entry].app.ID].stems[stem] {
				weight *= nameShare
			}
			scores[p.entry] += weight
		}
	}
	return scores
}

// refine rewards a name that the task covers, and doing that agrees.
func (x *Index) refine(hit *Hit, e *entry, task []word, class string, score float64) float64 {
	covered, phrase := coverage(e.name, task, x.similar), false
	score *= 1 + 0.9*covered
	if covered > 0.5 {
		hit.MatchedOn = append(hit.MatchedOn, "name")
	}
	likest := 0.0
	for _, p := range e.phrases {
		likest = max(likest, likeness(p, task))
	}
	if likest > 0 {
		score *= 1 + phraseGain*likest
		phrase = likest >= 0.5
	}
	if phrase {
		hit.MatchedOn = append(hit.MatchedOn, "phrase")
	}
	if len(hit.MatchedOn) == 0 {
		hit.MatchedOn = append(hit.MatchedOn, "words")
	}
	switch {
	case class == "":
	case class == e.class || class == "send" && e.class == "create" || class == "create" && e.class == "send":
		score *= 1.35
		hit.MatchedOn = append(hit.MatchedOn, "verb")
	case class == "delete" || e.class == "delete":
		score *= 0.5
	default:
		score *= 0.6
	}
	return score
}

// coverage is the share of a name's words that the task holds, or nearly.
func coverage(name []string, task []word, similar map[string][]string) float64 {
	counted, held := 0.0, 0.0
	for _, stem := range name {
		if stopped(stem) {
			continue
		}
		counted++
		switch {
		case slices.ContainsFunc(task, func(w word) bool { return w.stem == stem }):
			held++
		case slices.ContainsFunc(task, func(w word) bool { return slices.Contains(similar[w.stem], stem) }):
			held += 0.6
		}
	}
	if counted == 0 {
		return 0
	}
	return held / counted
}

// taskClass is what the task wants done: by its first word of doing.
func (x *Index) taskClass(task []word) string {
	for _, w := range task {
		if class, ok := x.verbs[w.written]; ok {
			return class
		}
	}
	return ""
}

// best cuts the list and brings scores to 0..1.
func best(hits []Hit, limit int, appNamed bool) []Hit {
	if len(hits) == 0 {
		return hits
	}
	top := hits[0].Score
	taken, count := []Hit{}, map[string]int{}
	for _, hit := range hits {
		if len(taken) == limit {
			break
		}
		if !appNamed && count[hit.App.ID] == perApp {
			continue
		}
		count[hit.App.ID]++
		hit.Score = math.Round(hit.Score/top*1000) / 1000
		taken = append(taken, hit)
	}
	return taken
}
