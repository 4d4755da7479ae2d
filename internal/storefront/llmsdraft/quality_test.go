package llmsdraft_test

import (
	"slices"
	"testing"

	"ace/internal/protocol/llmstxt"
	"ace/internal/testsites"
)

// TestLinkSets compares the links of drafts with those that a person chose.
// The bound is below what is reached today: it catches a fall.
func TestLinkSets(t *testing.T) {
	t.Parallel()
	sum, n := 0.0, 0
	for _, name := range testsites.WithGold(t) {
		site, draft, err := run(t, name)
		if err != nil {
			t.Fatal(err)
		}
		p, r, f1 := overlap(urls(draft.LLMSTxt), urls(site.Gold))
		t.Logf("%-14s precision %.2f recall %.2f F1 %.2f", name, p, r, f1)
		sum, n = sum+f1, n+1
	}
	mean := sum / float64(n)
	t.Logf("mean F1 %.3f of %d sites", mean, n)
	if mean < .75 {
		t.Errorf("mean F1 of the links is %.3f, want .75", mean)
	}
}

func urls(text string) []string {
	var all []string
	for _, l := range llmstxt.Parse([]byte(text)).Links() {
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
