package toolindex

import (
	"cmp"
	"math"
	"slices"

	"ace/internal/platform/app"
)

const (
	synonymWeight = 0.3
	phraseGain    = 1.2
	// nameWeight is what a word of an app's name counts for the tools of that app:
	// in "my Google calendar" it says which app, and hardly what to do.
	nameWeight = 0.25
	perApp     = 3 // tools of one app before those of others if none is named
	// maxOneStep is how many telling words a task of one step has at most.
	maxOneStep = 8
	// maxSearched bounds the words of a task that are searched for, synonyms
	// included. Tasks of people have a few dozen.
	maxSearched = 512
)

// Query is a task, and which tools may be found for it.
type Query struct {
	Task string
	Apps []string // ids; only these; empty: all
	// ReadOnly excludes tools that change something.
	ReadOnly bool
	Limit    int
	// Connected reports whether the caller has connected an app. Its tools are
	// preferred among equals. Nil: none is connected.
	Connected func(app string) bool
	// ConnectedOnly excludes all other apps.
	ConnectedOnly bool
	// Allowed excludes tools that the caller may not run. Nil: none.
	Allowed func(h *Handle) bool
	// RawRequests includes the request tool of an app that the task names and that
	// has no other tool for it.
	RawRequests bool
}

// Hit is a tool that was found.
type Hit struct {
	*Handle            // shared: do not change it
	Score     float64  // 0 to 1; the first hit is nearest
	MatchedOn []string // app, name, phrase, words, verb
}

// Result is what was found for a task.
type Result struct {
	Hits  []Hit    // best first
	Named []string // ids of the apps that the task names
	// Missing are names of apps that the task names and the index lacks. Without a
	// named app there are no hits then: another app is not what was asked for.
	Missing []string
	// NoTool reports that no tool of the named apps fits. The hits are then what
	// they have, and their request tools.
	NoTool bool
}

// Find returns tools for a task.
func (x *Index) Find(q Query) Result {
	t := x.analyze(q.Task)
	r := Result{Named: t.named(), Missing: t.missing}
	if len(r.Missing) > 0 && len(r.Named) == 0 && len(q.Apps) == 0 {
		return r
	}
	var found []candidate
	for i, s := range x.segments {
		found = s.find(&q, t, i, found)
	}
	wanted := r.Named
	if len(q.Apps) > 0 {
		wanted = q.Apps
	}
	if len(wanted) > 0 && !slices.ContainsFunc(found, func(c candidate) bool {
		return c.matched&^(matchedApp|matchedVerb) != 0 && slices.Contains(wanted, c.entry.App)
	}) {
		found = slices.DeleteFunc(found, func(c candidate) bool { return !slices.Contains(wanted, c.entry.App) })
		r.NoTool, r.Hits = true, x.best(found, q.Limit, true)
		r.Hits = append(r.Hits, x.requests(&q, wanted)...)
		r.Hits = r.Hits[:min(len(r.Hits), max(q.Limit, 0))]
		return r
	}
	r.Hits = x.best(found, q.Limit, len(t.mentions) > 0 || len(q.Apps) > 0)
	return r
}

// requestScore is the score of a request tool: it can do the task, which its
// caller has to know the API for.
const requestScore = 0.1

// requests returns the request tools of apps, as far as they may be found.
func (x *Index) requests(q *Query, apps []string) (hits []Hit) {
	for _, s := range x.segments {
		for i := range s.apps {
			a := &s.apps[i]
			if a.request == nil || !q.RawRequests || q.ReadOnly || !slices.Contains(apps, a.id) ||
				q.Allowed != nil && !q.Allowed(a.request) ||
				q.ConnectedOnly && (q.Connected == nil || !q.Connected(a.id)) {
				continue
			}
			hits = append(hits, Hit{a.request, requestScore, matchedApp.list()})
		}
	}
	return hits
}

// task is an analyzed task.
type task struct {
	words     []word
	terms     []queryTerm         // to search for, by stem
	marks     []mark              // of all words and their synonyms
	telling   int                 // words that are no stop words
	class     class               // of its first verb
	mentions  []mention           // of apps
	strongest float64             // of them
	missing   []string            // names of apps that are not here
	numbers   map[string]int      // of marks, by stem
	synonyms  map[string][]string // lexicon
}

// queryTerm is a stem that is searched for.
type queryTerm struct {
	stem   string
	weight float64 // with the inverse document frequency
}

// mark is what a task says of one stem.
type mark struct {
	stem    string
	held    bool     // the task contains it
	count   int      // how often, unless it is a stop word
	sources []string // stems of the task whose synonym it is
}

// analyze prepares a task for all segments.
func (x *Index) analyze(text string) *task {
	t := &task{
		words:    x.lexicon.foreign.translate(words(text), x.has),
		numbers:  map[string]int{},
		synonyms: x.lexicon.similar,
	}
	t.class = x.lexicon.taskClass(t.words)
	x.findMentions(t)
	weights := map[string]float64{}
	for _, w := range t.words {
		m := t.mark(w.stem)
		m.held = true
		if !stopped(w.written) {
			m.count++
			t.telling++
			weights[w.stem] = 1
		}
		for _, other := range t.synonyms[w.stem] {
			if m := t.mark(other); !slices.Contains(m.sources, w.stem) {
				m.sources = append(m.sources, w.stem)
			}
		}
	}
	for _, w := range t.words {
		if weights[w.stem] != 1 {
			continue
		}
		for _, other := range t.synonyms[w.stem] {
			if _, own := weights[other]; !own {
				weights[other] = synonymWeight
			}
		}
	}
	tools := x.Len()
	for stem, weight := range weights {
		if holders := x.holders(stem); holders > 0 {
			idf := math.Log(1 + (float64(tools-holders)+0.5)/(float64(holders)+0.5))
			t.terms = append(t.terms, queryTerm{stem, weight * idf})
		}
	}
	// In a fixed order, since sums of floats depend on it.
	slices.SortFunc(t.terms, func(a, b queryTerm) int { return cmp.Compare(a.stem, b.stem) })
	t.terms = t.terms[:min(len(t.terms), maxSearched)]
	return t
}

func (t *task) mark(stem string) *mark {
	i, found := t.numbers[stem]
	if !found {
		i = len(t.marks)
		t.numbers[stem] = i
		t.marks = append(t.marks, mark{stem: stem})
	}
	return &t.marks[i]
}

// holders returns the number of tools with a stem.
func (x *Index) holders(stem string) int {
	n := 0
	for _, s := range x.segments {
		if id, known := s.terms[stem]; known {
			n += len(s.postings[id])
		}
	}
	return n
}

// candidate is a tool with its score.
type candidate struct {
	entry   *entry
	score   float64
	matched matched
}

// matched says what of a tool fits a task.
type matched uint8

const (
	matchedApp matched = 1 << iota
	matchedName
	matchedPhrase
	matchedWords
	matchedVerb
)

func (m matched) list() []string {
	list := make([]string, 0, 4)
	for i, name := range []string{"app", "name", "phrase", "words", "verb"} {
		if m&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// scratch is the memory of one search in one segment. Between searches all of it
// is zero.
type scratch struct {
	scores  []float64 // by tool
	touched []int32   // tools with a score
	fits    []bool    // by tool: more of the task fits than the name of the app
	marks   []int32   // by term: 1 + the number of the task's mark
	mention []int32   // by app: 1 + the number of the task's mention
	filter  []uint8   // by app: what is known of it
}

// What is known of an app in a search.
const (
	appKnown uint8 = 1 << iota
	appExcluded
	appConnected
)

func newScratch(s *segment) *scratch {
	return &scratch{
		scores: make([]float64, len(s.tools)), fits: make([]bool, len(s.tools)), marks: make([]int32, len(s.terms)),
		mention: make([]int32, len(s.apps)), filter: make([]uint8, len(s.apps)),
	}
}

// find appends the candidates of a segment, the number-th of its index.
func (s *segment) find(q *Query, t *task, number int, found []candidate) []candidate {
	m := s.scratch.Get().(*scratch)
	for i := range t.marks {
		if id, known := s.terms[t.marks[i].stem]; known {
			m.marks[id] = int32(i + 1) //nolint:gosec // few
		}
	}
	for i, one := range t.mentions {
		if one.segment == number {
			m.mention[one.app] = int32(i + 1) //nolint:gosec // few
		}
	}
	s.score(t, m, number)
	for _, tool := range m.touched {
		e := &s.tools[tool]
		score := m.scores[tool]
		fits := m.fits[tool]
		m.scores[tool], m.fits[tool] = 0, false
		if !q.admits(e, m) {
			continue
		}
		c := candidate{entry: e, score: score}
		var named *mention
		if i := m.mention[e.app]; i > 0 {
			named = &t.mentions[i-1]
			c.score = score*(1+2*named.strength) + named.strength
			c.matched = matchedApp
		} else if len(t.mentions) > 0 {
			c.score *= 1 - 0.85*t.strongest
		}
		if c.score <= 0 {
			continue
		}
		c.refine(t, m, named)
		if fits && c.matched&(matchedName|matchedPhrase) == 0 {
			c.matched |= matchedWords
		}
		if m.filter[e.app]&appConnected != 0 {
			c.score *= 1.15
		}
		found = append(found, c)
	}
	m.touched = m.touched[:0]
	clear(m.filter)
	for i := range t.marks {
		if id, known := s.terms[t.marks[i].stem]; known {
			m.marks[id] = 0
		}
	}
	for _, one := range t.mentions {
		if one.segment == number {
			m.mention[one.app] = 0
		}
	}
	s.scratch.Put(m)
	return found
}

// score adds up the terms of a task.
func (s *segment) score(t *task, m *scratch, number int) {
	var nameOf []int32 // apps whose name the term is part of
	for _, term := range t.terms {
		id, known := s.terms[term.stem]
		if !known {
			continue
		}
		nameOf = nameOf[:0]
		for i := range t.mentions {
			if one := &t.mentions[i]; one.segment == number && slices.Contains(one.stems, term.stem) {
				nameOf = append(nameOf, one.app)
			}
		}
		for _, p := range s.postings[id] {
			weight := term.weight * float64(p.weight)
			if len(nameOf) > 0 && slices.Contains(nameOf, s.tools[p.tool].app) {
				weight *= nameWeight
			} else {
				m.fits[p.tool] = true
			}
			if m.scores[p.tool] == 0 {
				m.touched = append(m.touched, p.tool)
			}
			m.scores[p.tool] += weight
		}
	}
}

// admits reports whether a tool may be found.
func (q *Query) admits(e *entry, m *scratch) bool {
	known := &m.filter[e.app]
	if *known == 0 {
		*known = appKnown
		if q.Connected != nil && q.Connected(e.App) {
			*known |= appConnected
		}
		if len(q.Apps) > 0 && !slices.Contains(q.Apps, e.App) || q.ConnectedOnly && *known&appConnected == 0 {
			*known |= appExcluded
		}
	}
	return *known&appExcluded == 0 && (!q.ReadOnly || e.Effect == app.Reads) &&
		(q.Allowed == nil || q.Allowed(&e.Handle))
}

// refine raises the score of a tool whose name or phrases fit the task, and of
// one that does the same kind of thing. named is the mention of its app, whose
// words are no part of what to do.
func (c *candidate) refine(t *task, m *scratch, named *mention) {
	e := c.entry
	covered := 0.0
	for _, id := range e.name {
		if i := m.marks[id]; i > 0 {
			covered += t.marks[i-1].coverage(named)
		}
	}
	if len(e.name) > 0 {
		covered /= float64(len(e.name))
	}
	c.score *= 1 + 0.9*covered
	if covered > 0.5 {
		c.matched |= matchedName
	}
	telling := t.telling
	if named != nil {
		telling -= named.telling
	}
	nearest := 0.0
	for i := range e.phrases {
		p := &e.phrases[i]
		held := 0
		for _, id := range p.terms {
			if i := m.marks[id]; i > 0 && !named.has(t.marks[i-1].stem) {
				held += t.marks[i-1].count
			}
		}
		if held > 0 {
			nearest = max(nearest, 2*float64(held)/float64(telling+p.length))
		}
	}
	c.score *= 1 + phraseGain*nearest
	if nearest >= 0.5 {
		c.matched |= matchedPhrase
	}
	switch {
	case t.class == classNone || t.telling > maxOneStep: // several steps have several verbs
	case t.class == e.class || t.class == classSend && e.class == classCreate ||
		t.class == classCreate && e.class == classSend:
		c.score *= 1.35
		c.matched |= matchedVerb
	case t.class == classDelete || e.class == classDelete:
		c.score *= 0.5
	default:
		c.score *= 0.6
	}
}

// coverage returns how much of one word of a tool's name the task covers.
func (m *mark) coverage(named *mention) float64 {
	switch {
	case m.held && !named.has(m.stem):
		return 1
	case named == nil && len(m.sources) > 0:
		return 0.6
	case slices.ContainsFunc(m.sources, func(stem string) bool { return !named.has(stem) }):
		return 0.6
	}
	return 0
}

// best returns the best hits, with scores from 0 to 1.
func (x *Index) best(found []candidate, limit int, appNamed bool) []Hit {
	hits := make([]Hit, 0, max(0, min(limit, len(found))))
	heap := candidates(found)
	for i := len(heap)/2 - 1; i >= 0; i-- {
		heap.sink(i)
	}
	top, count := 0.0, map[string]int{}
	var behind []candidate // that other apps go before
	add := func(c *candidate) {
		hits = append(hits, Hit{&c.entry.Handle, math.Round(c.score/top*1000) / 1000, c.matched.list()})
	}
	for len(heap) > 0 && len(hits) < limit {
		c := heap[0]
		heap[0] = heap[len(heap)-1]
		heap = heap[:len(heap)-1]
		heap.sink(0)
		if top == 0 {
			top = c.score
		}
		if !appNamed && count[c.entry.App] == perApp {
			if len(behind) < limit {
				behind = append(behind, c)
			}
			continue
		}
		count[c.entry.App]++
		add(&c)
	}
	for i := 0; i < len(behind) && len(hits) < limit; i++ {
		add(&behind[i])
	}
	return hits
}

// candidates is a heap with the best one first: of thousands, a few are needed.
type candidates []candidate

func (h candidates) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// before reports whether a is better than b.
func (c *candidate) before(b *candidate) bool {
	if c.score != b.score {
		return c.score > b.score
	}
	return c.entry.Tool < b.entry.Tool
}
