package catalog_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"ace/internal/platform/app"
)

// categories are what rows may be filed under.
var categories = strings.Fields(`
	ai analytics accounting advertising automation banking business-intelligence calendar chat cloud communication
	community construction crm customer-support data databases design developer-tools documents e-commerce education
	email events erp files finance fitness food forms gaming government health hr identity insurance iot knowledge legal
	logistics maps marketing media meetings messaging monitoring music news payments photos productivity
	project-management real-estate recruiting sales search security seo signatures sms social spreadsheets sports ` +
	`storage
	surveys tasks telephony time-tracking transport travel video weather websites`)

// rows reads the apps of a file with one definition on each line.
func rows(t *testing.T, path string) []*app.App {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var apps []*app.App
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		a, err := app.Parse(lines.Bytes())
		if err != nil {
			t.Errorf("%s:%d: %v", path, len(apps)+1, err)
			continue
		}
		apps = append(apps, a)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return apps
}

// TestRows checks apps.jsonl, whose facts were checked at the source that each
// row names, and candidates.jsonl, whose facts still have to be: their rows say
// neither how nor when.
func TestRows(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, a := range curated(t) {
		ids[a.ID] = "curated"
	}
	for _, path := range []string{"apps.jsonl", "candidates.jsonl"} {
		last := ""
		for _, a := range rows(t, path) {
			if path == "candidates.jsonl" {
				if a.Verified != "" || a.Checked != "" {
					t.Errorf("%s: %s says that it was checked: move it to apps.jsonl", path, a.ID)
				}
				a.Verified, a.Checked = "docs", "2026-11-22"
			}
			for _, f := range a.Check(false) {
				t.Errorf("%s: %s: %s", path, a.ID, f)
			}
			if there := ids[a.ID]; there != "" {
				t.Errorf("%s: %s is in %s, too", path, a.ID, there)
			}
			if a.ID < last {
				t.Errorf("%s: %s comes after %s", path, a.ID, last)
			}
			ids[a.ID], last = path, a.ID
			if len(a.About) < 15 || len(a.About) > 160 || !strings.HasSuffix(a.About, ".") {
				t.Errorf("%s: %s: about is a sentence of 15 to 160 characters, not %q", path, a.ID, a.About)
			}
			for _, c := range a.Categories {
				if !slices.Contains(categories, c) {
					t.Errorf("%s: %s has the category %q, which is not in the list", path, a.ID, c)
				}
			}
			for _, s := range a.Schemes {
				sent := len(s.Send.Headers)+len(s.Send.Query) > 0 || s.Send.Path != "" || s.Send.Basic != nil
				if s.Type == app.TypeKey && !sent || s.Type == app.TypeMCP && s.URL == "" {
					t.Errorf("%s: %s: the scheme %s does not say where its credentials go", path, a.ID, s.ID)
				}
			}
			for _, part := range []string{
				"sandbox", "staging", "nonprod", "azurewebsites", "execute-api",
				"localhost",
			} {
				if strings.Contains(a.Base, part) {
					t.Errorf("%s: %s: %s is no production host", path, a.ID, a.Base)
				}
			}
		}
	}
}
