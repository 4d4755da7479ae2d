package library_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"ace/internal/platform/app"
	"ace/internal/platform/library"
	"ace/internal/platform/toolindex"
)

func definition(id, tool string) string {
	return "id: " + id + "\nname: " + id + "\nbase: ${base}\ntools:\n  " + tool + ": {call: GET /x, title: " + tool + ", about: Does.}\n"
}

func parse(t *testing.T, id, tool string) *app.App {
	t.Helper()
	a, err := app.Parse([]byte(definition(id, tool)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// own is an Own whose answers a test sets.
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
	if hits, _ := mine.Index.Find(toolindex.Query{Task: "count the boxes", Limit: 1}); len(hits) != 1 || hits[0].App.ID != "x-acme" {
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

func TestRead(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"curated/notes.yaml": {Data: []byte(definition("notes", "list_notes"))}, "curated/README.md": {Data: []byte("words")}}
	apps, err := library.Read(files, "curated", strings.NewReplacer("${base}", "https://notes.example"))
	if err != nil || len(apps) != 1 || apps[0].Base != "https://notes.example" {
		t.Errorf("Read = %v, %v", apps, err)
	}
	files["curated/broken.yaml"] = &fstest.MapFile{Data: []byte("id: [")}
	if _, err := library.Read(files, "curated", nil); err == nil || !strings.Contains(err.Error(), "curated/broken.yaml") {
		t.Errorf("a broken definition: %v", err)
	}
	if none, err := library.Read(files, "nothing", nil); err != nil || none != nil {
		t.Errorf("an empty folder: %v, %v", none, err)
	}
	if _, err := library.New([]*app.App{apps[0], apps[0]}, nil); err == nil {
		t.Error("two apps of one id were accepted")
	}
}
