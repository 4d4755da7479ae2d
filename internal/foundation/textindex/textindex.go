// Package textindex finds short texts, such as the words of a path, in memory.
//
//	text -> Words: fold, split, singular        the same for entries and queries
//	     -> vocabulary -> postings (entry, weight)
//	query word: known? itself and, for the last one, longer words
//	            unknown? written in two, or one typo from a known one
//	     -> score per entry; entries with every word come first
//
// An index never changes: build a new one and swap it in. Ranking and pages
// are deterministic, and the cost of a page does not grow with its number.
package textindex

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// MaxQueryWords bounds the different words of a query; further ones are
// ignored.
const MaxQueryWords = 10

// Index is an immutable set of entries. It is safe for concurrent use.
type Index struct {
	entries  int
	words    map[string]int32
	sorted   []int32  // word numbers in alphabetical order
	spelled  []string // word by number
	postings [][]posting
	typos    []typo // sorted by hash
	scratch  sync.Pool
}

// posting says that an entry holds a word, and how much it counts there.
type posting struct {
	entry  int32
	weight float32
}

// Add is called for each text of an entry; weight says how much its words
// count, above 0.
type Add func(text string, weight float32)

// New builds an index of n entries. texts is called once for each entry, in
// order, and adds its texts. Of entries with the same score, the one with the
// lower number comes first.
func New(n int, texts func(entry int, add Add)) *Index {
	x := &Index{entries: n, words: map[string]int32{}}
	held := map[int32]float32{}
	for entry := range n {
		clear(held)
		texts(entry, func(text string, weight float32) {
			for _, word := range Words(text) {
				id := x.intern(word)
				held[id] = max(held[id], weight)
			}
		})
		for id, weight := range held {
			x.postings[id] = append(x.postings[id],
				posting{int32(entry), weight}) //nolint:gosec // entries are counted by int32
		}
	}
	x.sorted = make([]int32, len(x.spelled))
	for i := range x.sorted {
		x.sorted[i] = int32(i) //nolint:gosec // words are counted by int32
	}
	slices.SortFunc(x.sorted, func(a, b int32) int { return cmp.Compare(x.spelled[a], x.spelled[b]) })
	x.typos = typosOf(x.spelled)
	x.scratch.New = func() any { return &tally{score: make([]float32, n), mask: make([]uint16, n)} }
	return x
}

func (x *Index) intern(word string) int32 {
	id, ok := x.words[word]
	if !ok {
		id = int32(len(x.spelled)) //nolint:gosec // words are counted by int32
		x.words[word] = id
		x.spelled = append(x.spelled, word)
		x.postings = append(x.postings, nil)
	}
	return id
}

// Len returns the number of entries.
func (x *Index) Len() int { return x.entries }

// Hit is one entry that was found.
type Hit struct {
	Entry int
	Score float32 // from 0 to 1; 1 holds every word of the query exactly
	Whole bool    // it holds every word of the query
}

// Result is one page of hits, best first.
type Result struct {
	Hits  []Hit
	Total int  // entries found on all pages
	More  bool // there are hits after these
}

// Search returns at most limit hits after the hit after (nil: from the best
// one). A query without a word finds nothing.
func (x *Index) Search(query string, limit int, after *Hit) Result {
	terms := x.terms(query)
	if len(terms) == 0 || limit <= 0 {
		return Result{}
	}
	t := x.scratch.Get().(*tally)
	defer x.scratch.Put(t)
	defer t.reset()
	var best float32
	for i, term := range terms {
		best += term.worth
		t.count(x, term, uint16(1)<<i)
	}
	return t.page(uint16(1)<<len(terms)-1, best, limit, after)
}

// worth returns the weight of a word: rare ones count more.
func (x *Index) worth(holders int) float32 {
	return float32(math.Log(1 + float64(x.entries)/float64(1+holders)))
}

// tally adds up the scores of one search.
type tally struct {
	score   []float32
	mask    []uint16 // words of the query that the entry holds
	touched []int32
}

func (t *tally) reset() {
	for _, entry := range t.touched {
		t.score[entry], t.mask[entry] = 0, 0
	}
	t.touched = t.touched[:0]
}

// count adds a word of the query to every entry that has it. Its variants are
// sorted, best first; an entry counts with the best one.
func (t *tally) count(x *Index, term term, bit uint16) {
	for _, v := range term.variants {
		factor := term.worth * v.factor
		for _, p := range x.postings[v.word] {
			if t.mask[p.entry]&bit != 0 {
				continue
			}
			if t.mask[p.entry] == 0 {
				t.touched = append(t.touched, p.entry)
			}
			t.mask[p.entry] |= bit
			t.score[p.entry] += factor * p.weight
		}
	}
}

// page returns the best limit hits after the given one, without sorting the
// rest.
func (t *tally) page(all uint16, best float32, limit int, after *Hit) Result {
	r := Result{Total: len(t.touched)}
	heap := make([]Hit, 0, limit+1) // the least of the kept hits is on top
	for _, entry := range t.touched {
		score, whole := min(1, t.score[entry]/best), t.mask[entry] == all
		if len(heap) == limit && whole == heap[0].Whole && score < heap[0].Score || len(heap) == limit && !whole &&
			heap[0].Whole {
			r.More = true // most entries of a common word end here
			continue
		}
		h := Hit{Entry: int(entry), Score: score, Whole: whole}
		if after != nil && compare(h, *after) <= 0 {
			continue
		}
		if len(heap) == limit {
			r.More = true
			if compare(h, heap[0]) > 0 {
				continue
			}
			heap[0] = h
			sink(heap)
			continue
		}
		heap = append(heap, h)
		raise(heap)
	}
	slices.SortFunc(heap, compare)
	r.Hits = heap
	return r
}

// compare orders hits as they are shown.
func compare(a, b Hit) int {
	if a.Whole != b.Whole {
		if a.Whole {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Entry, b.Entry))
}

func raise(heap []Hit) {
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if compare(heap[i], heap[parent]) <= 0 {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

func sink(heap []Hit) {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && compare(heap[child+1], heap[child]) > 0 {
			child++
		}
		if compare(heap[child], heap[i]) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
