package llmsdraft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ace/internal/protocol/llmstxt"
	"ace/internal/testsites"
)

// TestQuality compares drafts with files that a person wrote: which pages are
// linked (F1), how they are grouped (adjusted Rand index of the pages that both
// have), and how much of the person's notes is in those of the draft (share
// of words). The bounds are below what is reached today: they catch a fall.
func TestQuality(t *testing.T) {
	t.Parallel()
	var sumF1, sumRand, n float64
	for _, name := range testsites.WithGold(t) {
		site, draft, err := run(t, name)
		if err != nil {
			t.Fatal(err)
		}
		got, want := llmstxt.Parse([]byte(draft.LLMSTxt)), llmstxt.Parse([]byte(site.Gold))
		precision, recall, f1 := overlap(urls(got), urls(want))
		grouping := rand(sectionsOf(got), sectionsOf(want))
		t.Logf("%-14s precision %.2f recall %.2f F1 %.2f, grouping %.2f, words of notes %s, %d bytes", name, precision,
			recall, f1, grouping, notes(got, want), len(draft.LLMSTxt))
		sumF1, sumRand, n = sumF1+f1, sumRand+grouping, n+1
	}
	t.Logf("mean of %.0f sites: F1 %.3f, grouping %.3f", n, sumF1/n, sumRand/n)
	if sumF1/n < .75 {
		t.Errorf("mean F1 of the links is %.3f, want .75", sumF1/n)
	}
	if sumRand/n < .5 {
		t.Errorf("mean agreement of the sections is %.3f, want .5", sumRand/n)
	}
}

func urls(f *llmstxt.File) []string {
	var all []string
	for _, l := range f.Links() {
		all = append(all, l.URL)
	}
	return all
}

func overlap(got, want []string) (precision, recall, f1 float64) {
	both := 0
	for _, u := range got {
		if slices.Contains(want, u) {
			both++
		}
	}
	if both == 0 {
		return 0, 0, 0
	}
	precision, recall = float64(both)/float64(len(got)), float64(both)/float64(len(want))
	return precision, recall, 2 * precision * recall / (precision + recall)
}

func sectionsOf(f *llmstxt.File) map[string]string {
	found := map[string]string{}
	for _, s := range f.Sections {
		for _, l := range s.Links {
			found[l.URL] = s.Name
		}
	}
	return found
}

// rand is the adjusted Rand index of two groupings of the pages that both
// have: 1 is the same grouping, 0 what chance would give.
func rand(a, b map[string]string) float64 {
	cells, rows, columns := map[[2]string]int{}, map[string]int{}, map[string]int{}
	n := 0
	for page, group := range a {
		if other, ok := b[page]; ok {
			cells[[2]string{group, other}]++
			rows[group]++
			columns[other]++
			n++
		}
	}
	if n < 2 {
		return 1
	}
	pairs := func(k int) float64 { return float64(k*(k-1)) / 2 }
	var index, inRows, inColumns float64
	for _, k := range cells {
		index += pairs(k)
	}
	for _, k := range rows {
		inRows += pairs(k)
	}
	for _, k := range columns {
		inColumns += pairs(k)
	}
	expected := inRows * inColumns / pairs(n)
	most := (inRows + inColumns) / 2
	if most == expected {
		return 1
	}
	return (index - expected) / (most - expected)
}

// notes is the share of the words of a person's notes that are in the
// draft's name or notes of the same page.
func notes(got, want *llmstxt.File) string {
	words := map[string]string{}
	for _, l := range got.Links() {
		words[l.URL] = strings.ToLower(l.Name + " " + l.Notes)
	}
	there, all := 0, 0
	for _, l := range want.Links() {
		have, ok := words[l.URL]
		if !ok {
			continue
		}
		for _, word := range strings.FieldsFunc(strings.ToLower(l.Notes),
			func(r rune) bool { return strings.ContainsRune(" ,.:;()", r) }) {
			all++
			if strings.Contains(have, word) {
				there++
			}
		}
	}
	if all == 0 {
		return "(none were written)"
	}
	return fmt.Sprintf("%.2f", float64(there)/float64(all))
}
