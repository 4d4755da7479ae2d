package docs_test

import (
	"os"
	"strings"
	"testing"

	"ace/docs"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for _, name := range docs.Pages {
		page, err := docs.Page(name, "https://apps.example")
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []string{
			"http://127.0.0.1:8081", "PLATFORM_URL", "<!--", "](../", "](configuration.md)",
		} {
			if strings.Contains(string(page), wrong) {
				t.Errorf("%s holds %q", name, wrong)
			}
		}
		if !strings.HasPrefix(string(page), "# ") {
			t.Errorf("%s starts with %.20q, want a title", name, page)
		}
	}
	guide, err := docs.Page("platform.md", "https://apps.example")
	if err != nil || !strings.Contains(string(guide), "https://apps.example/mcp") ||
		!strings.Contains(string(guide), "](errors.md)") {
		t.Errorf("the guide: %v, without the URL of the platform or its link to the errors", err)
	}
	if _, err := docs.Page("operations.md", "https://apps.example"); err == nil {
		t.Error("a page for operators is served")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	all, err := docs.Failures()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| Code | Status | Sentence | What to do |")
	table, _, _ = strings.Cut(table, "\n## ")
	if want := strings.Count(table, "\n| `"); len(all) != want || want < 50 {
		t.Errorf("read %d codes, want %d as on the page", len(all), want)
	}
	got := all["invalid_key"]
	if got.Status != "401" || len(got.Sentences) == 0 || !strings.Contains(got.Advice, "create a new one") {
		t.Errorf("invalid_key = %+v", got)
	}
	for code, one := range all {
		if one.Advice == "" || one.Code != code || strings.ContainsAny(code, "`| ") {
			t.Errorf("%s = %+v", code, one)
		}
	}
}
