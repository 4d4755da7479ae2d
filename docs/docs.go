// Package docs embeds the documents that the program itself shows: the table of
// error codes of errors.md, which is generated from the code.
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed errors.md
var files embed.FS

// Failure is an error code of errors.md.
type Failure struct {
	Code      string
	Status    string   // HTTP status; several are separated by commas; may be empty
	Sentences []string // messages with this code; … marks the parts filled in at run time
	Advice    string   // what the caller should do next
}

// Failures returns the error codes by name.
func Failures() (map[string]Failure, error) {
	page, err := files.ReadFile("errors.md")
	if err != nil {
		return nil, fmt.Errorf("reading the list of error codes: %w", err)
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
		one := Failure{
			Code: strings.Trim(code, "`"), Status: strings.TrimSpace(cells[1]),
			Advice: strings.TrimSuffix(cells[3], " |"),
		}
		for sentence := range strings.SplitSeq(cells[2], "<br>") {
			if sentence = strings.TrimSpace(sentence); sentence != "" {
				one.Sentences = append(one.Sentences, sentence)
			}
		}
		all[one.Code] = one
	}
	return all, nil
}
