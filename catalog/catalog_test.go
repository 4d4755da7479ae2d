package catalog_test

import (
	"io/fs"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/platform/app"
)

func TestDefinitionsAreRead(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(catalog.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		text, err := fs.ReadFile(catalog.Files, path)
		if err != nil {
			return err
		}
		a, err := app.Parse([]byte(strings.ReplaceAll(string(text), "${sandbox}", "http://127.0.0.1:8082")))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		for _, fault := range a.Check(strings.HasPrefix(path, "demo/")) {
			t.Errorf("%s: %s", path, fault)
		}
		if want := a.ID + ".yaml"; !strings.HasSuffix(path, "/"+want) {
			t.Errorf("%s defines %s: the file is called like the app", path, a.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
