package library_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"ace/internal/platform/app"
	"ace/internal/platform/library"
	"ace/internal/platform/toolindex"
)

func definition(id, tool string) string {
	return "id: " + id + "\nname: " + id + "\nbase: ${base}\ntools:\n  " + tool + ": {call: GET /x, title: " + tool +
		", about: Does.}\n"
}

func parse(t *testing.T, id, tool string) *app.App {
	t.Helper()
	a, err := app.Parse([]byte(definition(id, tool)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// own is an Own whose results a test sets.
type own struct {
	apps    []*app.App
	version string
	err     error
	calls   int
}

func (o *own) OwnApps(_ context.Context, accountID, _ string) ([]*app.App, string, error) {
	o.calls++
	if accountID == "nobody" {
		return nil, "", nil
	}
	return o.apps, o.version, o.err
}

func TestFor(t *testing.T) {
	t.Parallel()
	o := &own{apps: []*app.App{parse(t, "x-acme", "count_boxes")}, version: "1"}
	l, err := library.New([]*app.App{parse(t, "notes", "list_notes")}, o)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := l.For(t.Context(), "acc_1")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"notes__list_notes", "x_acme__count_boxes"} {
		if _, _, err := mine.Catalog.Tool(id); err != nil {
			t.Errorf("Tool(%s): %v", id, err)
		}
	}
	if hits := mine.Index.Find(toolindex.Query{Task: "count the boxes", Limit: 1}).Hits; len(hits) != 1 ||
		hits[0].App != "x-acme" {
		t.Errorf("Find = %v", hits)
	}
	if again, _ := l.For(t.Context(), "acc_1"); again != mine {
		t.Error("a view that did not change was made again")
	}
	o.version, o.apps = "2", []*app.App{parse(t, "x-acme", "count_crates")}
	changed, err := l.For(t.Context(), "acc_1")
	if err != nil || changed == mine {
		t.Errorf("a view that changed was kept (%v)", err)
	}
	other, err := l.For(t.Context(), "nobody")
	if err != nil || other != l.Shared() {
		t.Errorf("an account without connectors sees %v, %v", other, err)
	}
	if _, _, err := l.Shared().Catalog.Tool("x_acme__count_boxes"); err == nil {
		t.Error("a connector of one account is in the shared catalogue")
	}
	o.err = errors.New("away")
	if _, err := l.For(t.Context(), "acc_1"); err == nil {
		t.Error("a failure was hidden")
	}
}

// TestOverlay holds that an account's view shares what all accounts can use.
func TestOverlay(t *testing.T) {
	t.Parallel()
	shared := parse(t, "notes", "list_notes")
	o := &own{apps: []*app.App{parse(t, "x-acme", "count_boxes")}, version: "1"}
	l, err := library.New([]*app.App{shared}, o)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := l.For(t.Context(), "acc_1")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := mine.Catalog.App("notes"); err != nil || a != shared {
		t.Errorf("the shared app is %p, %v in the account's view, want %p", a, err, shared)
	}
	var names []string
	for _, a := range mine.Catalog.Apps() {
		names = append(names, a.Name)
	}
	if strings.Join(names, " ") != "notes x-acme" || mine.Index.Len() != 2 || l.Shared().Index.Len() != 1 {
		t.Errorf("the account has %v and %d tools; all have %d", names, mine.Index.Len(), l.Shared().Index.Len())
	}
	o.version, o.apps = "2", []*app.App{parse(t, "notes", "list_notes")}
	if _, err := l.For(t.Context(), "acc_1"); err == nil {
		t.Error("an account has an app with the id of a shared one")
	}
}

// TestOverlaysAreBounded caches more overlays than there is room for: the least
// recently used one is built again.
func TestOverlaysAreBounded(t *testing.T) {
	t.Parallel()
	const tools = 100
	var text strings.Builder
	text.WriteString("id: x-big\nname: Big\nbase: https://big.example\ntools:\n")
	for i := range tools {
		fmt.Fprintf(&text, "  list_%d: {call: GET /x, about: Does.}\n", i)
	}
	big, err := app.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := library.New(nil, &own{apps: []*app.App{big}, version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	view := func(i int) *library.View {
		v, err := l.For(t.Context(), fmt.Sprint("acc_", i))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first, second := view(0), view(1)
	for i := range 250 { // 25,000 tools
		view(i)
		if view(0) != first {
			t.Fatalf("an overlay in use was dropped after %d others", i)
		}
	}
	if view(1) == second {
		t.Error("every overlay is still cached")
	}
}

// BenchmarkFor measures what the first search of an account with a connector of
// 50 tools costs beside the shared apps.
func BenchmarkFor(b *testing.B) {
	var all []*app.App
	for i := range 500 {
		var text strings.Builder
		fmt.Fprintf(&text, "id: app%d\nname: App%d\nbase: https://a.example\ntools:\n", i, i)
		for j := range 50 {
			fmt.Fprintf(&text, "  list_things_%d: {call: GET /x, about: Lists all things of a kind.}\n", j)
		}
		a, err := app.Parse([]byte(text.String()))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, a)
	}
	o := &own{apps: all[:1], version: "1"}
	l, err := library.New(all[1:], o)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		o.version = fmt.Sprint(i)
		if _, err := l.For(b.Context(), "acc_1"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"curated/notes.yaml": {Data: []byte(definition("notes", "list_notes"))},
		"curated/README.md":  {Data: []byte("words")},
	}
	apps, err := library.Read(files, "curated", strings.NewReplacer("${base}", "https://notes.example"))
	if err != nil || len(apps) != 1 || apps[0].Base != "https://notes.example" {
		t.Errorf("Read = %v, %v", apps, err)
	}
	files["curated/broken.yaml"] = &fstest.MapFile{Data: []byte("id: [")}
	if _, err := library.Read(files, "curated", nil); err == nil || !strings.Contains(err.Error(),
		"curated/broken.yaml") {
		t.Errorf("a broken definition: %v", err)
	}
	if none, err := library.Read(files, "nothing", nil); err != nil || none != nil {
		t.Errorf("an empty folder: %v, %v", none, err)
	}
	if _, err := library.New([]*app.App{apps[0], apps[0]}, nil); err == nil {
		t.Error("two apps of one id were accepted")
	}
}

func TestReadRows(t *testing.T) {
	t.Parallel()
	row := func(id string) string {
		return `{"id":"` + id + `","name":"Acme","about":"Acme.","auth":[{"type":"none"}]}`
	}
	tests := []struct{ name, text, want, err string }{
		{"rows in their order", row("b") + "\n" + row("a") + "\n", "b a", ""},
		{"without a line at the end", row("a"), "a", ""},
		{"the first error counts", row("a") + "\n{}}\n" + row("c") + "\nx: [\n", "", "rows.jsonl:2: "},
		{"two on a line", row("a") + row("b") + "\n", "", "rows.jsonl:1: "},
		{"an empty line", row("a") + "\n\n" + row("b") + "\n", "", "rows.jsonl:2: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			apps, err := library.ReadRows(fstest.MapFS{"rows.jsonl": {Data: []byte(tt.text)}}, "rows.jsonl")
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("ReadRows: %v, want %q", err, tt.err)
				}
				return
			}
			var ids []string
			for _, a := range apps {
				ids = append(ids, a.ID)
			}
			if got := strings.Join(ids, " "); err != nil || got != tt.want {
				t.Errorf("ReadRows = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
