package docs_test

import (
	"os"
	"strings"
	"testing"

	"ace/docs"
)

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
