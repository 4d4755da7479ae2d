// Package toolindex finds tools and apps by plain words, in memory.
//
//	New(apps): words of names, phrases, titles, descriptions, inputs
//	             -> postings with a precomputed weight (BM25F)
//	With(apps): the same index and a small segment of an account's own apps
//	Find(task) -> apps that the task names (aliases, one typo)
//	           -> score per tool: words, then synonyms,
//	              then what the name and the phrases have in common with the task
//	           -> the named app first, the same kind of verb (create, read, …),
//	              connected apps slightly preferred
//	           -> at most three tools of one app if none is named
//	           -> only the request tool of a named app none of whose tools fits;
//	              nothing for an app that is not here
//
// An index refers to tools and apps by Handle and id; it holds no definitions. It
// never changes. The same index and task give the same result, byte for byte.
// Nothing leaves the process.
package toolindex

import (
	"math"
	"slices"
	"strings"
	"sync"

	"ace/internal/platform/app"
)

// Weights of the fields of a tool, and how much their length counts.
const (
	weightName   = 4.0
	weightPhrase = 4.0
	weightApp    = 3.0
	weightTitle  = 3.0
	weightAbout  = 2.0
	weightGroup  = 0.7
	weightInput  = 0.5
	saturation   = 1.2
	lengthShare  = 0.4
)

// Handle refers to a tool, with what a search needs to know of it.
type Handle struct {
	App      string   // id
	Tool     string   // id
	IDs      []string // of the tool: this one, and those that it had
	Effect   string   // of package app
	Required []string // inputs
	Free     bool     // the caller makes the request
}

// Index is a set of tools. It is safe for concurrent use.
type Index struct {
	lexicon *lexicon
	// The second segment, if there is one, is that of With. Indexes share the
	// first.
	segments []*segment
	// missing are names of apps that the index lacks, by their squashed form.
	missing map[string]string
}

// segment is the tools of some apps.
type segment struct {
	tools    []entry
	apps     []appEntry
	names    appNames
	terms    map[string]int32 // numbers of stems
	postings [][]posting      // by term
	average  float64          // length of a tool, weighted
	scratch  sync.Pool        // *scratch
}

type entry struct {
	Handle
	app     int32
	class   class
	name    []int32  // terms of name and title, without stop words
	phrases []phrase // of the tool
}

// phrase is the terms of an example task, each once, and their number in all.
type phrase struct {
	terms  []int32
	length int
}

type posting struct {
	tool   int32
	weight float32
}

// New returns the index of all tools of apps. names are names of apps that tasks
// may be about although the index lacks them.
func New(apps []*app.App, names ...string) *Index {
	x := &Index{lexicon: newLexicon(), missing: map[string]string{}}
	for _, name := range names {
		x.missing[squash(name)] = name
	}
	x.segments = []*segment{newSegment(x.lexicon, apps, 0)}
	return x
}

// With returns an index of these apps besides those of x. It takes time and
// memory for the given apps only.
func (x *Index) With(apps []*app.App) *Index {
	shared := x.segments[0]
	average := 0.0
	if len(shared.tools) > 0 {
		average = shared.average // so that weights compare
	}
	return &Index{
		lexicon: x.lexicon, missing: x.missing,
		segments: []*segment{shared, newSegment(x.lexicon, apps, average)},
	}
}

// Len returns the number of tools.
func (x *Index) Len() int {
	n := 0
	for _, s := range x.segments {
		n += len(s.tools)
	}
	return n
}

// newSegment indexes apps. average is the average length of a tool; 0 means that
// of these apps.
func newSegment(l *lexicon, apps []*app.App, average float64) *segment {
	s := &segment{terms: map[string]int32{}}
	s.scratch.New = func() any { return newScratch(s) }
	stems := stemmer{}
	var counts [][]termCount
	total := 0.0
	c := counter{segment: s, stems: stems, weights: map[int32]float64{}}
	for _, a := range apps {
		s.apps = append(s.apps, newAppEntry(stems, a))
		for _, t := range a.OutlinedTools() {
			e := entry{Handle: handleOf(a, t), app: int32(len(s.apps) - 1), class: l.classOf(t)} //nolint:gosec // few
			for _, w := range stems.words(t.Name + " " + t.Title) {
				if !stopped(w.stem) {
					e.name = append(e.name, s.term(w.stem))
				}
			}
			for _, text := range t.Phrases {
				e.phrases = append(e.phrases, s.phrase(stems, text))
			}
			s.tools = append(s.tools, e)
			terms, length := c.count(a, t)
			counts = append(counts, terms)
			total += length
		}
	}
	s.names = newAppNames(s.apps)
	if s.average = average; average == 0 {
		s.average = total / max(1, float64(len(counts)))
	}
	s.postings = make([][]posting, len(s.terms))
	for tool, terms := range counts {
		length := 0.0
		for _, one := range terms {
			length += one.weight
		}
		long := 1 - lengthShare + lengthShare*length/max(s.average, 1)
		for _, one := range terms {
			s.postings[one.term] = append(s.postings[one.term], posting{
				int32(
					tool,
				),
				float32(one.weight * (saturation + 1) / (one.weight + saturation*long)), //nolint:gosec // few
			})
		}
	}
	return s
}

func handleOf(a *app.App, t *app.Tool) Handle {
	h := Handle{App: a.ID, Tool: t.ID, IDs: t.IDs(), Effect: t.Effect}
	for i := range t.In {
		if t.In[i].Required {
			h.Required = append(h.Required, t.In[i].Name)
		}
	}
	return h
}

// term returns the number of a stem, and numbers a new one.
func (s *segment) term(stem string) int32 {
	id, known := s.terms[stem]
	if !known {
		id = int32(len(s.terms)) //nolint:gosec // a vocabulary is small
		s.terms[stem] = id
	}
	return id
}

func (s *segment) phrase(stems stemmer, text string) phrase {
	var p phrase
	for _, w := range stems.words(text) {
		if stopped(w.written) {
			continue
		}
		p.length++
		if id := s.term(w.stem); !slices.Contains(p.terms, id) {
			p.terms = append(p.terms, id)
		}
	}
	return p
}

// counter counts the words of tools, weighted by their fields.
type counter struct {
	segment *segment
	stems   stemmer
	weights map[int32]float64 // of one tool
	order   []int32           // of its terms
}

type termCount struct {
	term   int32
	weight float64
}

func (c *counter) add(text string, weight float64) {
	for _, w := range c.stems.words(text) {
		if stopped(w.written) {
			continue
		}
		id := c.segment.term(w.stem)
		if _, found := c.weights[id]; !found {
			c.order = append(c.order, id)
		}
		c.weights[id] += weight
	}
}

// count returns the weighted counts of the terms of a tool, and their sum.
func (c *counter) count(a *app.App, t *app.Tool) (terms []termCount, length float64) {
	clear(c.weights)
	c.order = c.order[:0]
	c.add(t.Name, weightName)
	c.add(t.Title, weightTitle)
	c.add(t.About, weightAbout)
	for _, text := range t.Phrases {
		c.add(text, weightPhrase/math.Sqrt(float64(len(t.Phrases))))
	}
	c.add(a.Name+" "+strings.Join(a.Aliases, " "), weightApp)
	c.add(strings.Join(a.Categories, " "), weightGroup)
	for i := range t.In {
		c.add(t.In[i].Name, weightInput)
	}
	terms = make([]termCount, len(c.order))
	for i, id := range c.order {
		terms[i] = termCount{id, c.weights[id]}
		length += c.weights[id]
	}
	return terms, length
}
