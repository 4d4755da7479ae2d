package definitions_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"ace/internal/server/definitions"
)

// TestReadme compares the figures of the README with the report: the largest
// ten of apps and the largest hundred of tools that are exceeded.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`more than (\d+) apps with more than\s+(\d+) tools`).FindSubmatch(text)
	if told == nil {
		t.Fatal("the README does not say how many apps and tools there are")
	}
	set, err := definitions.Load(definitions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.Report()
	apps, tools := (r.Apps-1)/10*10, (r.Tools-1)/100*100
	if string(told[1]) != strconv.Itoa(apps) || string(told[2]) != strconv.Itoa(tools) {
		t.Errorf("the README tells of %s apps and %s tools; there are %d and %d: write more than %d and %d", told[1],
			told[2], r.Apps, r.Tools, apps, tools)
	}
}
