// Package docs holds what the product shows of its own documents: the table of
// failures of errors.md, which follows from the code.
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed errors.md
var files embed.FS

// Failure is a code of errors.md.
type Failure struct {
	Code      string
	Status    string   // of HTTP; several with commas between, or empty
	Sentences []string // that come with the code; … stands for what is filled in
	Advice    string   // what its reader does next
}

// Failures answers the codes by name.
func Failures() (map[string]Failure, error) {
	page, err := files.ReadFile("errors.md")
	if err != nil {
		return nil, fmt.Errorf("reading the list of failures: %w", err)
	}
	all := map[string]Failure{}
	_, table, _ := strings.Cut(string(page), "\n## Codes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		code, isCode := strings.CutPrefix(cells[0], "| `")
		if !isCode || len(cells) != 4 {
			continue
		}
		one := Failure{Code: strings.Trim(code, "`"), Status: strings.TrimSpace(cells[1]), Advice: strings.TrimSuffix(cells[3], " |")}
		for sentence := range strings.SplitSeq(cells[2], "<br>") {
			if sentence = strings.TrimSpace(sentence); sentence != "" {
				one.Sentences = append(one.Sentences, sentence)
			}
		}
		all[one.Code] = one
	}
	return all, nil
}
