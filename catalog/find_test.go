package catalog_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"ace/internal/platform/toolindex"
)

// Shares of tasks whose tool has to be first, and among the first five.
const (
	wantHit1 = 0.70
	wantHit5 = 0.90
)

type task struct {
	text string
	want []string // any of them
}

func tasks(t testing.TB, path string) []task {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all []task
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text, want, ok := strings.Cut(lines.Text(), "\t")
		if ok && !strings.HasPrefix(text, "#") {
			all = append(all, task{text, strings.Split(want, ",")})
		}
	}
	return all
}

// TestTasksFindTheirTools measures finding over all curated apps.
func TestTasksFindTheirTools(t *testing.T) {
	t.Parallel()
	apps := curated(t)
	known := map[string]bool{}
	for _, a := range apps {
		for _, of := range a.Tools.All() {
			known[of.ID] = true
		}
	}
	index := toolindex.New(apps)
	all := tasks(t, "testdata/tasks.tsv")
	if len(all) < 150 {
		t.Errorf("%d tasks, want 150 at least", len(all))
	}
	hit1, hit5 := 0, 0
	for _, one := range all {
		for _, id := range one.want {
			if !known[id] {
				t.Errorf("%q wants %s, which is no tool", one.text, id)
			}
		}
		hits := index.Find(toolindex.Query{Task: one.text, Limit: 5}).Hits
		place := slices.IndexFunc(hits, func(h toolindex.Hit) bool { return slices.Contains(one.want, h.Tool) })
		if place == 0 {
			hit1++
		}
		if place >= 0 {
			hit5++
		}
		if place != 0 {
			var found []string
			for _, h := range hits {
				found = append(found, h.Tool)
			}
			t.Logf("%d: %q wants %v, found %v", place+1, one.text, one.want, found)
		}
	}
	n := float64(len(all))
	t.Logf("%d tasks over %d tools: hit@1 %.3f, hit@5 %.3f", len(all), index.Len(), float64(hit1)/n, float64(hit5)/n)
	if float64(hit1)/n < wantHit1 || float64(hit5)/n < wantHit5 {
		t.Errorf("hit@1 %.3f and hit@5 %.3f, want %.2f and %.2f at least", float64(hit1)/n, float64(hit5)/n, wantHit1,
			wantHit5)
	}
}

// BenchmarkFind measures a search over the tools of all curated apps, with the
// tasks of the test above.
//
//	go test -run '^$' -bench Find ./catalog
func BenchmarkFind(b *testing.B) {
	index, all := toolindex.New(curated(b)), tasks(b, "testdata/tasks.tsv")
	b.ReportMetric(float64(index.Len()), "tools")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		index.Find(toolindex.Query{Task: all[i%len(all)].text, Limit: 8})
		i++
	}
}
