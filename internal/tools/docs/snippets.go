package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// snippetPages are the pages whose code is checked.
var snippetPages = []string{"README.md", "docs/*.md", "sdk/*/README.md", "examples/README.md"}

// programs are the languages of blocks that a reader would run.
var programs = []string{"sh", "js", "ts", "python", "go"}

// snippets returns the pages with the files that they show. A block of code is
// either run by the tests, or a file that they run:
//
//	<!-- run -->         see test/e2e/docs_test.go
//	<!-- from FILE -->   the block is that file, which test/examples runs
//
// It is an error if a page shows other code.
func snippets(root string) (map[string][]byte, error) {
	pages := map[string][]byte{}
	var errs []error
	for _, pattern := range snippetPages {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("listing pages: %w", err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("reading a page: %w", err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return nil, fmt.Errorf("naming a page: %w", err)
			}
			name = filepath.ToSlash(name)
			filled, found, err := fill(root, name, string(text))
			errs = append(errs, err)
			if found {
				pages[name] = []byte(filled)
			}
		}
	}
	return pages, errors.Join(errs...)
}

// fill returns a page with its files, and whether it shows any.
func fill(root, name, page string) (filled string, found bool, err error) {
	var out strings.Builder
	var errs []error
	mark, inside, shown := "", false, false
	for line := range strings.Lines(page) {
		text := strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(text, "```")
		switch {
		case inside && text == "```":
			inside, shown = false, false
		case inside && shown:
			continue // the file is there already
		case inside:
		case strings.HasPrefix(text, "<!-- "):
			mark = strings.TrimSuffix(strings.TrimPrefix(text, "<!-- "), " -->")
		case fence:
			inside = true
			file, from := strings.CutPrefix(mark, "from ")
			isRun := mark == "run" || strings.HasPrefix(mark, "run, ")
			mark = ""
			if slices.Contains(programs, language) && !from && !isRun {
				errs = append(errs, fmt.Errorf("%s shows code of %s that nothing runs: mark it with <!-- run --> or "+
					"<!-- from FILE -->", name, language))
			}
			if !from {
				break
			}
			shown, found = true, true
			content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			errs = append(errs, err)
			out.WriteString(line)
			out.WriteString(strings.TrimRight(string(content), "\n") + "\n")
			continue
		case text != "":
			mark = ""
		}
		out.WriteString(line)
	}
	return out.String(), found, errors.Join(errs...)
}
