package bench

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"

	"ace/internal/platform/app"
	"ace/internal/platform/toolindex"
)

// labelled is a set of tools and of tasks with the tools that are right.
type labelled struct {
	name  string
	apps  []*app.App
	texts map[string]string // for bleve, by id of the tool
	tasks []labelledTask
}

type labelledTask struct {
	Text     string   `json:"text"`
	Relevant []string `json:"relevant"`
}

func eachLine(t *testing.T, path string, read func(line []byte) error) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if err := read(lines.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// collection reads a set of folder: tools.jsonl and queries.dev.jsonl.
func collection(t *testing.T, folder string) *labelled {
	t.Helper()
	set := &labelled{name: filepath.Base(folder), texts: map[string]string{}}
	byApp, order := map[string][]*app.Tool{}, []string{}
	eachLine(t, filepath.Join(folder, "tools.jsonl"), func(line []byte) error {
		var g struct{ ID, Name, Title, Description, App, Method, Params string }
		if err := json.Unmarshal(line, &g); err != nil {
			return err
		}
		if g.App == "" { // a set without apps: each tool is by itself
			g.App = "\x00" + g.ID
		}
		if _, known := byApp[g.App]; !known {
			order = append(order, g.App)
		}
		_, name, found := strings.Cut(g.Name, "__")
		if !found {
			name = g.Name
		}
		one := &app.Tool{
			ID: g.ID, Name: name, Title: cmp.Or(g.Title, name), About: g.Description,
			Call: cmp.Or(g.Method, "POST") + " /",
		}
		for param := range strings.SplitSeq(g.Params, ";") {
			if input, _, ok := strings.Cut(strings.TrimSpace(param), ":"); ok {
				one.In = append(one.In, app.Input{Name: input})
			}
		}
		byApp[g.App] = append(byApp[g.App], one)
		set.texts[g.ID] = strings.Join(
			[]string{strings.TrimPrefix(g.App, "\x00"+g.ID), g.Name, g.Title, g.Description, g.Params},
			" ",
		)
		return nil
	})
	for i, name := range order {
		a := &app.App{ID: fmt.Sprintf("app%d", i), Name: name}
		if strings.HasPrefix(name, "\x00") {
			a.Name = ""
		}
		a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.ID }, byApp[name]...)
		for _, one := range byApp[name] {
			one.App = a.ID
		}
		set.apps = append(set.apps, a)
	}
	eachLine(t, filepath.Join(folder, "queries.dev.jsonl"), func(line []byte) error {
		var one labelledTask
		err := json.Unmarshal(line, &one)
		set.tasks = append(set.tasks, one)
		return err
	})
	return set
}

// camel finds where bleve has to be told that a word begins.
var camel = regexp.MustCompile(`([a-z0-9])([A-Z])|_`)

// score is how well an engine does over a set.
type score struct {
	recall1, recall5, recall10, ndcg float64
	p50, p99                         time.Duration
}

func evaluate(tasks []labelledTask, find func(task string) []string) score {
	var s score
	var took []time.Duration
	for _, one := range tasks {
		began := time.Now()
		found := find(one.Text)
		took = append(took, time.Since(began))
		gain, ideal := 0.0, 0.0
		for i, id := range found[:min(len(found), 10)] {
			if !slices.Contains(one.Relevant, id) {
				continue
			}
			gain += 1 / math.Log2(float64(i)+2)
			share := 1 / float64(len(one.Relevant))
			if i < 1 {
				s.recall1 += share
			}
			if i < 5 {
				s.recall5 += share
			}
			s.recall10 += share
		}
		for i := range min(len(one.Relevant), 10) {
			ideal += 1 / math.Log2(float64(i)+2)
		}
		s.ndcg += gain / ideal
	}
	n := float64(len(tasks))
	s.recall1, s.recall5, s.recall10, s.ndcg = s.recall1/n, s.recall5/n, s.recall10/n, s.ndcg/n
	slices.Sort(took)
	s.p50, s.p99 = took[len(took)/2], took[len(took)*99/100]
	return s
}

// bleveIndex indexes one field of all words of a tool, its identifiers split,
// with the English analyzer: the best of the arrangements that were tried.
func bleveIndex(t *testing.T, set *labelled) func(task string) []string {
	t.Helper()
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = en.AnalyzerName
	index, err := bleve.New(filepath.Join(t.TempDir(), "bleve"), mapping)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = index.Close() })
	batch := index.NewBatch()
	for id, text := range set.texts {
		if err := batch.Index(id, map[string]string{"text": camel.ReplaceAllString(text, "$1 $2")}); err != nil {
			t.Fatal(err)
		}
		if batch.Size() == 1000 {
			if err := index.Batch(batch); err != nil {
				t.Fatal(err)
			}
			batch.Reset()
		}
	}
	if err := index.Batch(batch); err != nil {
		t.Fatal(err)
	}
	return func(task string) []string {
		query := bleve.NewMatchQuery(task)
		query.SetField("text")
		result, err := index.Search(bleve.NewSearchRequestOptions(query, 10, 0, false))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, hit := range result.Hits {
			ids = append(ids, hit.ID)
		}
		return ids
	}
}

// TestSearch prints how well tools are found, beside bleve, and fails where bleve
// finds better. Durations are printed alone.
func TestSearch(t *testing.T) {
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR names no folder with labelled sets")
	}
	folders, err := filepath.Glob(filepath.Join(shared, "search", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no sets in %s: %v", shared, err)
	}
	fmt.Printf("%-10s %6s %6s  %-6s %6s %6s %6s %8s %8s %8s\n", "set", "tools", "tasks", "engine", "R@1", "R@5", "R@10",
		"NDCG@10", "p50", "p99")
	for _, folder := range folders {
		set := collection(t, folder)
		index := toolindex.New(set.apps)
		own := evaluate(set.tasks, func(task string) []string {
			var ids []string
			for _, hit := range index.Find(toolindex.Query{Task: task, Limit: 10}).Hits {
				ids = append(ids, hit.Tool)
			}
			return ids
		})
		other := evaluate(set.tasks, bleveIndex(t, set))
		for _, engine := range []struct {
			name string
			s    score
		}{{"ace", own}, {"bleve", other}} {
			fmt.Printf(
				"%-10s %6d %6d  %-6s %6.3f %6.3f %6.3f %8.3f %8s %8s\n",
				set.name,
				len(set.texts),
				len(set.tasks),
				engine.name,
				engine.s.recall1,
				engine.s.recall5,
				engine.s.recall10,
				engine.s.ndcg,
				engine.s.p50.Round(10*time.Microsecond),
				engine.s.p99.Round(10*time.Microsecond),
			)
		}
		if own.ndcg < other.ndcg {
			t.Errorf("%s: bleve finds better", set.name)
		}
	}
}
