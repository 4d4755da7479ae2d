package catalog_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/platform/app"
	"ace/internal/platform/library"
	"ace/internal/platform/toolpack"
	"ace/internal/platform/toolpack/derive"
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
// row names.
func TestRows(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, a := range curated(t) {
		ids[a.ID] = "curated"
	}
	const path = "apps.jsonl"
	last := ""
	for _, a := range rows(t, path) {
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

// TestDerivedTools reads every tool of the pack and checks it as a definition is
// checked.
func TestDerivedTools(t *testing.T) {
	t.Parallel()
	data, err := catalog.Files.ReadFile(catalog.Pack)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 8<<20 {
		t.Errorf("the pack has %d bytes, more than 8 MB", len(data))
	}
	pack, err := toolpack.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(catalog.Lock)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lock, err := derive.ReadLock(file)
	if err != nil {
		t.Fatal(err)
	}
	tools := 0
	for _, a := range rows(t, catalog.Rows) {
		if a.Stored = pack.Of(a); a.Stored == nil {
			continue
		}
		list, err := a.Stored.Load()
		if err != nil {
			t.Errorf("%s: %v", a.ID, err)
			continue
		}
		tools += len(list)
		for _, one := range list {
			if frozen := lock[derive.Key{App: a.ID, Call: one.Call}]; frozen != one.Name {
				t.Errorf("%s: the lock names %s %q, not %q", a.ID, one.Call, frozen, one.Name)
			}
		}
		a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, list...)
		for _, f := range a.Check(false) {
			t.Errorf("%s: %s", a.ID, f)
		}
	}
	if tools < 5000 {
		t.Errorf("%d tools are derived: rebuild the pack where the bases of apps have changed", tools)
	}
}

// TestLeftOutOperationsMakeNoTool compares the pack with the list of operations
// whose requests are not what their descriptions say.
func TestLeftOutOperationsMakeNoTool(t *testing.T) {
	t.Parallel()
	file, err := os.Open(catalog.Refused)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	refused, err := derive.ReadRefused(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := catalog.Files.ReadFile(catalog.Pack)
	if err != nil {
		t.Fatal(err)
	}
	pack, err := toolpack.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	apps, err := library.ReadRows(catalog.Files, catalog.Rows)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, a := range apps {
		known[a.ID] = true
		tools := pack.Of(a)
		if tools == nil {
			continue
		}
		for _, o := range tools.Outlines() {
			if reason := refused[derive.Key{App: a.ID, Call: o.Call}]; reason != "" {
				t.Errorf("%s has %s, which is left out: %s", a.ID, o.Call, reason)
			}
		}
	}
	for key, reason := range refused {
		if !known[key.App] || reason == "" {
			t.Errorf("%v is left out for %q, of an app that there is not or for no reason", key, reason)
		}
	}
}
