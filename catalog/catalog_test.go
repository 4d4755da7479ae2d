package catalog_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/foundation/jsonschema"
	"ace/internal/platform/app"
)

func TestDefinitionsAreRead(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(catalog.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" { // TestRows reads the rows
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

// curated are the apps whose tools were made by hand.
func curated(t testing.TB) []*app.App {
	t.Helper()
	paths, err := fs.Glob(catalog.Files, "curated/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var apps []*app.App
	for _, path := range paths {
		text, err := fs.ReadFile(catalog.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := app.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		apps = append(apps, a)
	}
	return apps
}

// What an app that is made by hand has at least.
const (
	fewestApps    = 30
	fewestTools   = 8
	fewestPhrases = 3
)

func TestCuratedAppsAreWhole(t *testing.T) {
	t.Parallel()
	apps := curated(t)
	if len(apps) < fewestApps {
		t.Errorf("%d apps, want %d at least", len(apps), fewestApps)
	}
	if _, err := app.NewCatalog(apps...); err != nil {
		t.Error(err)
	}
	for _, a := range apps {
		switch {
		case a.Tier != app.Full:
			t.Errorf("%s is %s", a.ID, a.Tier)
		case a.Tools.Len() < fewestTools:
			t.Errorf("%s has %d tools, want %d at least", a.ID, a.Tools.Len(), fewestTools)
		case a.Who == nil || len(a.Errors.Message) == 0:
			t.Errorf("%s does not say who is connected, or what errors look like", a.ID)
		case a.Icon == "" || a.Domain == "":
			t.Errorf("%s has no icon or domain", a.ID)
		}
		reads, writes := 0, 0
		for name, tool := range a.Tools.All() {
			if len(tool.Phrases) < fewestPhrases || tool.Example == nil {
				t.Errorf("%s/%s has %d phrases and example %v", a.ID, name, len(tool.Phrases), tool.Example)
			}
			if tool.ReadOnly() {
				reads++
			} else {
				writes++
			}
		}
		if reads == 0 || writes == 0 {
			t.Errorf("%s has %d tools that read and %d that write", a.ID, reads, writes)
		}
	}
}

func TestSchemesSayHow(t *testing.T) {
	t.Parallel()
	for _, a := range curated(t) {
		for i := range a.Schemes {
			s := &a.Schemes[i]
			if s.Title == "" {
				t.Errorf("%s/%s has no title", a.ID, s.ID)
			}
			if len(s.Fields) > 0 && s.Help == "" {
				t.Errorf("%s/%s does not say where to find what is typed", a.ID, s.ID)
			}
			if s.Type == app.TypeOAuth2 && s.OAuth.Scopes.Profiles["read_only"] == nil {
				t.Errorf("%s/%s has no profile read_only", a.ID, s.ID)
			}
			for _, f := range s.Fields {
				if clean, fault := f.Clean(f.Example); f.Example != "" && (fault != "" || clean != f.Example) {
					t.Errorf("%s/%s: the example of %s does not fit: %s", a.ID, s.ID, f.Name, fault)
				}
			}
		}
		for name, p := range a.Params {
			if clean, fault := p.Clean(p.Example); p.Example != "" && fault != "" {
				t.Errorf("%s: the example of %s does not fit: %s (%s)", a.ID, name, fault, clean)
			}
			if p.Default != "" {
				if _, fault := p.Clean(p.Default); fault != "" {
					t.Errorf("%s: the default of %s does not fit: %s", a.ID, name, fault)
				}
			}
		}
	}
}

// TestParamsKeepToTheVendor types what could lead calls elsewhere.
func TestParamsKeepToTheVendor(t *testing.T) {
	t.Parallel()
	for _, a := range curated(t) {
		for name, p := range a.Params {
			if p.Learned {
				continue
			}
			for _, value := range []string{
				"evil.example/", "evil.example#", "evil.example?", "a@evil.example",
				"evil.example:8080", "a b", "a\nb", "..", "{key}", "https://evil.example/x",
			} {
				if value == "evil.example:8080" && a.ID == "gitea" {
					continue // a server of one's own often has another port; the egress guard says which may be called
				}
				if clean, fault := p.Clean(value); fault == "" {
					t.Errorf("%s: %s takes %q as %q", a.ID, name, value, clean)
				}
			}
			if _, fault := p.Clean("evil.example"); fault == "" && !p.Host && strings.Contains(a.Base,
				"//{"+name+"}/") {
				t.Errorf("%s: %s takes a foreign host and does not say so", a.ID, name)
			}
		}
	}
}

func TestExamplesFit(t *testing.T) {
	t.Parallel()
	for _, a := range curated(t) {
		for name, tool := range a.Tools.All() {
			schema, err := jsonschema.Compile(tool.InputSchema)
			if err != nil {
				t.Errorf("%s/%s: %v", a.ID, name, err)
				continue
			}
			if err := schema.CheckValue(filled(t, tool)); err != nil {
				t.Errorf("%s/%s: %v", a.ID, name, err)
			}
		}
	}
}

// TestScopesAreAskedFor holds what tools need against what signing in asks for.
func TestScopesAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, a := range curated(t) {
		for i := range a.Schemes {
			s := &a.Schemes[i]
			if s.Type != app.TypeOAuth2 {
				continue
			}
			known := slices.Concat(s.OAuth.Scopes.Default, s.OAuth.Scopes.Optional)
			for _, profile := range s.OAuth.Scopes.Profiles {
				known = append(known, profile...)
			}
			for name, tool := range a.Tools.All() {
				for _, scope := range tool.Scopes {
					if !slices.Contains(known, scope) {
						t.Errorf("%s/%s needs %s, which %s never asks for", a.ID, name, scope, s.ID)
					}
				}
			}
		}
	}
}
