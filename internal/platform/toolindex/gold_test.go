package toolindex_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ace/internal/platform/app"
	"ace/internal/platform/toolindex"
)

// goldTool is a tool of a labelled collection.
type goldTool struct {
	ID, Name, Title, Description, App, Method, Params string
}

// lines calls read with every line of a file.
func lines(t *testing.T, path string, read func(line []byte) error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 4<<20)
	for scanner.Scan() {
		if err := read(scanner.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
}

// collection reads the tools of a labelled collection as apps. The id of a tool
// is its number, since those of the collection are none of ours.
func collection(t *testing.T, folder string) (apps []*app.App, ids map[string]string) {
	t.Helper()
	of, order := map[string][]*app.Tool{}, []string{}
	ids = map[string]string{}
	lines(t, filepath.Join(folder, "tools.jsonl"), func(line []byte) error {
		var g goldTool
		if err := json.Unmarshal(line, &g); err != nil {
			return err
		}
		id := fmt.Sprintf("t%05d", len(ids))
		ids[id] = g.ID
		if _, known := of[g.App]; !known {
			order = append(order, g.App)
		}
		_, name, found := strings.Cut(g.Name, "__") // APP__VERB_OBJECT
		if !found {
			name = g.Name
		}
		tool := &app.Tool{
			ID: id, Name: name + "#" + id, App: g.App, Title: cmp.Or(g.Title, name), About: g.Description,
			Call: cmp.Or(g.Method, "POST") + " /",
		}
		for param := range strings.SplitSeq(g.Params, ";") {
			if input, _, ok := strings.Cut(strings.TrimSpace(param), ":"); ok {
				tool.In = append(tool.In, app.Input{Name: input})
			}
		}
		of[g.App] = append(of[g.App], tool)
		return nil
	})
	for i, name := range order {
		a := &app.App{
			ID: fmt.Sprintf("app%d", i), Name: name,
			Tools: app.OrderedOf(func(t *app.Tool) string { return t.Name }, of[name]...),
		}
		for _, tool := range of[name] {
			tool.App, tool.Name = a.ID, strings.TrimSuffix(tool.Name, "#"+tool.ID)
		}
		apps = append(apps, a)
	}
	return apps, ids
}

// ndcg is the normalised discounted cumulative gain of a list, where each
// relevant entry counts 1.
func ndcg(found, relevant []string) float64 {
	gain, ideal := 0.0, 0.0
	for i, id := range found {
		if slices.Contains(relevant, id) {
			gain += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(len(relevant), 10) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	return gain / ideal
}

// TestCollections reports how well tools of labelled collections are found. It
// asserts nothing: the collections are for development.
func TestCollections(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	for _, name := range []string{"appsgold", "livemcp", "restbench"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(shared, "search", name)
			apps, ids := collection(t, folder)
			index := toolindex.New(apps)
			sum, first, n := 0.0, 0, 0
			lines(t, filepath.Join(folder, "queries.dev.jsonl"), func(line []byte) error {
				var q struct {
					Text     string
					Relevant []string
				}
				if err := json.Unmarshal(line, &q); err != nil {
					return err
				}
				hits := index.Find(toolindex.Query{Task: q.Text, Limit: 10}).Hits
				var found []string
				for _, h := range hits {
					found = append(found, ids[h.Tool])
				}
				n++
				sum += ndcg(found, q.Relevant)
				if len(found) > 0 && slices.Contains(q.Relevant, found[0]) {
					first++
				}
				return nil
			})
			t.Logf("%s: %d tasks over %d tools: NDCG@10 %.3f, hit@1 %.3f", name, n, index.Len(), sum/float64(n),
				float64(first)/float64(n))
		})
	}
}
