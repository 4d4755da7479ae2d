// Package docs embeds the documents that the program itself shows: the guide to the
// platform, and the table of error codes, which is generated from the code.
package docs

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"
)

//go:embed errors.md platform.md
var files embed.FS

// Pages are the documents for users of a platform.
var Pages = []string{"platform.md", "errors.md"}

// development is the URL of the platform in the documents.
const development = "http://127.0.0.1:8081"

var (
	// mark is a comment for the tests that run the documents.
	mark = regexp.MustCompile(`(?m)^<!-- .* -->\n`)
	// link is a link within the repository: text, path, fragment.
	link = regexp.MustCompile(`\[([^\]\[]+)\]\(([\w./-]+)(#[\w-]+)?\)`)
)

// Page returns one of Pages for the readers of a platform: it names the platform's
// URL, and links to no file of the repository. It returns an error if there is no
// such page.
func Page(name, platformURL string) ([]byte, error) {
	page, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	text := mark.ReplaceAllString(string(page), "")
	text = link.ReplaceAllStringFunc(text, func(found string) string {
		parts := link.FindStringSubmatch(found)
		for _, one := range Pages {
			if path.Clean(parts[2]) == one {
				return found
			}
		}
		return parts[1]
	})
	text = strings.NewReplacer(development, platformURL, "PLATFORM_URL", platformURL).Replace(text)
	return []byte(text), nil
}

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
