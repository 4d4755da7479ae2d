package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ace/docs"
	"ace/internal/protocol/llmstxt"
)

// TestLLMsTxt checks the form of llms.txt, and reads everything that it links to.
func TestLLMsTxt(t *testing.T) {
	t.Parallel()
	b := setup(t, options{}).browser(t)
	got := b.get("/llms.txt")
	if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("GET /llms.txt = %d %s", got.Code, got.Header().Get("Content-Type"))
	}
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if report := llmstxt.Check([]byte(got.text), at); len(report.Findings) > 0 {
		t.Errorf("findings: %+v", report.Findings)
	}
	links := 0
	for _, section := range llmstxt.Parse([]byte(got.text)).Sections {
		for _, one := range section.Links {
			name, ok := strings.CutPrefix(one.URL, base+"/docs/")
			want, err := docs.Page(name, base)
			if !ok || err != nil {
				t.Fatalf("link to %s: %v", one.URL, err)
			}
			page := b.get("/docs/" + name)
			if page.Code != http.StatusOK || page.text != string(want) ||
				page.Header().Get("Content-Type") != "text/markdown; charset=utf-8" {
				t.Errorf(
					"GET %s = %d, %d bytes of %s",
					one.URL,
					page.Code,
					len(page.text),
					page.Header().Get("Content-Type"),
				)
			}
			links++
		}
	}
	if links != len(docs.Pages) {
		t.Errorf("%d links, want one for each of %v", links, docs.Pages)
	}
	contains(t, "llms.txt", got.text, base+"/mcp", base+"/openapi.json", "/sdk/ace-1.0.0.tgz")
}
