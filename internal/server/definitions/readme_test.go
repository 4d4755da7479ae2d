package definitions_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ace/internal/server/definitions"
)

// TestReadme compares the figures of the README with the report: it says "more
// than", in whole hundreds, of what is at most a quarter more.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	claim := regexp.MustCompile(`more than ([\d,]+)\s+apps with more than\s+([\d,]+)\s+tools`).FindSubmatch(text)
	if claim == nil {
		t.Fatal("the README does not say how many apps and tools there are")
	}
	set, err := definitions.Load(definitions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.Report()
	for i, counted := range []int{r.Available, r.Tools} {
		claimed, err := strconv.Atoi(strings.ReplaceAll(string(claim[i+1]), ",", ""))
		if err != nil || claimed >= counted || claimed%100 != 0 || claimed*5/4+100 < counted {
			t.Errorf("the README says more than %s; there are %d: write more than %d", claim[i+1], counted,
				(counted-1)/100*100)
		}
	}
}
