package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of builds
	Test        string
	Output      string
	FailedBuild string
}

type test struct{ pkg, name string }

// report turns events into what people read.
type report struct {
	out    io.Writer
	output map[test][]string // lines of tests that have not ended yet
	passed int
	failed []test
	left   map[string][]test // reason -> tests that were left out
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[test][]string{}, left: map[string][]test{}}
}

func (r *report) read(events io.Reader) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.print(lines.Text() + "\n") // the go command's own words
			continue
		}
		r.add(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	return nil
}

func (r *report) add(e event) {
	key := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		r.print(e.Output)
	case "output":
		if e.Test == "" {
			r.addPackageLine(key, e.Output)
			return
		}
		if !progress(e.Output) {
			r.output[key] = append(r.output[key], e.Output)
		}
	case "pass":
		if e.Test != "" {
			r.passed++
		}
		delete(r.output, key)
	case "skip":
		if e.Test != "" {
			reason := reasonOf(r.output[key])
			r.left[reason] = append(r.left[reason], key)
		}
		delete(r.output, key)
	case "fail":
		if e.Test != "" {
			r.failed = append(r.failed, key)
		}
		r.print(strings.Join(r.output[key], ""))
		delete(r.output, key)
	}
}

// progress reports whether a line only says that a test runs.
func progress(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "=== ") }

// closing finds the line that go test ends a package with.
var closing = regexp.MustCompile(`^(ok  |FAIL|---|\?   |panic:|fatal error:)`)

// addPackageLine prints the closing line of a package at once and keeps the
// rest for the case that it fails.
func (r *report) addPackageLine(key test, line string) {
	switch {
	case line == "PASS\n" || strings.HasSuffix(line, "[no test files]\n"):
	case closing.MatchString(line) && line != "FAIL\n":
		r.print(line)
	default:
		r.output[key] = append(r.output[key], line)
	}
}

// place is the position that testing writes before a message.
var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reasonOf finds why a test was skipped.
func reasonOf(output []string) string {
	var words []string
	for _, line := range output {
		if progress(line) || strings.HasPrefix(strings.TrimSpace(line), "--- ") {
			continue
		}
		words = append(words, strings.TrimSpace(place.ReplaceAllString(line, "")))
	}
	reason := strings.TrimSpace(strings.Join(words, " "))
	if reason == "" {
		return "no reason was given"
	}
	return strings.TrimPrefix(reason, "left out: ")
}

// shownTests limits the number of names per reason.
const shownTests = 6

// finish prints what was left out and what failed.
func (r *report) finish() {
	if len(r.left) > 0 {
		r.print("\nLeft out:\n")
		for _, reason := range slices.Sorted(maps.Keys(r.left)) {
			r.print(fmt.Sprintf("  %s\n    %s\n", reason, names(r.left[reason])))
		}
	}
	skipped := 0
	for _, tests := range r.left {
		skipped += len(tests)
	}
	r.print(fmt.Sprintf("\n%d tests passed, %d failed, %d left out.\n", r.passed, len(r.failed), skipped))
	for _, t := range r.failed {
		r.print(fmt.Sprintf("  failed: %s %s\n", t.pkg, t.name))
	}
}

func names(tests []test) string {
	var shown []string
	for _, t := range tests {
		if len(shown) == shownTests {
			shown = append(shown, fmt.Sprintf("and %d more", len(tests)-shownTests))
			break
		}
		shown = append(shown, strings.TrimPrefix(t.pkg, "ace/")+" "+t.name)
	}
	return strings.Join(shown, ", ")
}

func (r *report) print(text string) { _, _ = io.WriteString(r.out, text) }
