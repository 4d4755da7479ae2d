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

// wantOfEnglish is the share of the tasks found in English that has to be found
// in each other language.
const wantOfEnglish = 0.85

// TestTasksInOtherLanguages compares how many tasks find their tool first, and
// among the first ten, in English and in the same words of other languages.
func TestTasksInOtherLanguages(t *testing.T) {
	t.Parallel()
	index := toolindex.New(curated(t))
	first, ten, all := map[string]int{}, map[string]int{}, map[string]int{}
	for line := range strings.Lines(languagesText(t)) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 3 {
			continue
		}
		language, text, want := parts[0], parts[1], parts[2]
		all[language]++
		hits := index.Find(toolindex.Query{Task: text, Limit: 10}).Hits
		place := slices.IndexFunc(hits, func(h toolindex.Hit) bool { return h.Tool == want })
		if place == 0 {
			first[language]++
		} else {
			t.Logf("%s: %q finds %s at place %d", language, text, want, place+1)
		}
		if place >= 0 {
			ten[language]++
		}
	}
	if first["en"] == 0 || len(all) != 8 {
		t.Fatalf("found %v of %v", first, all)
	}
	for language, n := range all {
		t.Logf("%s: %d tasks, first %d, among ten %d", language, n, first[language], ten[language])
		if float64(first[language]) < wantOfEnglish*float64(first["en"]) ||
			float64(ten[language]) < wantOfEnglish*float64(ten["en"]) {
			t.Errorf("%s finds too little: English first %d, among ten %d", language, first["en"], ten["en"])
		}
	}
}

func languagesText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/languages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
