package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/llmstxt"
	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/llmsdraft"
	"ace/internal/website/webfetch"

	"github.com/google/go-cmp/cmp"
)

// parsedFile is what a parser finds in an llms.txt.
type parsedFile struct {
	Title    string          `json:"title"`
	Summary  string          `json:"summary"`
	Details  string          `json:"details"`
	Sections []parsedSection `json:"sections"`
}

type parsedSection struct {
	Name  string       `json:"name"`
	Links []parsedLink `json:"links"`
}

type parsedLink struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	Notes string `json:"notes"`
}

// TestDraftsWithTheReferenceParser drafts for each test site and reads the
// drafts with the parser that belongs to the proposal: it finds what ours
// finds. ACE_LLMSTXT_PYTHON is a Python that has the package llms-txt.
func TestDraftsWithTheReferenceParser(t *testing.T) {
	t.Parallel()
	python := os.Getenv("ACE_LLMSTXT_PYTHON")
	if python == "" {
		t.Skip("left out: ACE_LLMSTXT_PYTHON is not set")
	}
	var names, texts []string
	for _, name := range testsites.Names() {
		if slices.Contains([]string{"slow", "stalled"}, name) { // its own package waits for them
			continue
		}
		site := testsites.Serve(t, name)
		guard := egress.New(&egress.Options{OnlyTrusted: true})
		service := llmsdraft.New(
			webfetch.New(guard, "https://store.example", &webfetch.Options{Trusted: []string{site.URL}}),
			&llmsdraft.Options{Crawl: &crawl.Options{Interval: -1}},
		)
		draft, err := service.Run(t.Context(), llmsdraft.Request{URL: site.Home()}, nil)
		if _, refused := problem.From(err); refused {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		names, texts = append(names, name), append(texts, draft.LLMSTxt)
	}
	if len(texts) < 10 {
		t.Fatalf("there are drafts for %v alone", names)
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "llmstxt.py")
	var out, faults bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &faults
	if err := cmd.Run(); err != nil {
		t.Fatalf("the reference parser: %v\n%s", err, faults.String())
	}
	var theirs []parsedFile
	if err := json.Unmarshal(out.Bytes(), &theirs); err != nil || len(theirs) != len(texts) {
		t.Fatalf("the reference parser answers %d of %d files: %v", len(theirs), len(texts), err)
	}
	for i, name := range names {
		if diff := cmp.Diff(ours(texts[i]), theirs[i]); diff != "" {
			t.Errorf("%s: the reference parser reads the draft differently (-ours +theirs):\n%s", name, diff)
		}
	}
}

func ours(text string) parsedFile {
	f := llmstxt.Parse([]byte(text))
	p := parsedFile{Title: f.Title, Summary: f.Summary, Details: f.Details}
	for _, s := range f.Sections {
		section := parsedSection{Name: s.Name}
		for _, l := range s.Links {
			section.Links = append(section.Links, parsedLink{l.Name, l.URL, l.Notes})
		}
		p.Sections = append(p.Sections, section)
	}
	return p
}
