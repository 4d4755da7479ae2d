package sitehttp

import (
	"testing"

	"ace/internal/storefront/storehttp/answer"

	"github.com/jba/templatecheck"
)

func TestSiteTemplates(t *testing.T) {
	t.Parallel()
	all, err := loadSiteTemplates()
	if err != nil {
		t.Fatal(err)
	}
	if err := templatecheck.CheckHTML(all.page.Lookup("site.html"), siteView{}); err != nil {
		t.Errorf("site.html: %v", err)
	}
	if err := templatecheck.CheckHTML(all.failure.Lookup("failure.html"), failureView{}); err != nil {
		t.Errorf("failure.html: %v", err)
	}
}

func TestPrefersMarkdown(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"": false, "*/*": false, "text/*": false, "text/html": false, "text/markdown": true, "TEXT/Markdown": true,
		"text/markdown;q=0.4, text/html;q=0.5": false,
		"text/markdown;q=0.5, text/*;q=0.4":    true, "text/markdown;q=0": false, "text/markdown;q=2": false,
		"application/json, text/markdown": true, ",;,": false,
	}
	for accept, want := range tests {
		if got := prefersMarkdown(accept); got != want {
			t.Errorf("prefersMarkdown(%q) = %v, want %v", accept, got, want)
		}
	}
}

func FuzzPrefersMarkdown(f *testing.F) {
	f.Add("text/markdown;q=0.5, */*")
	f.Add(";;,,q=")
	f.Fuzz(func(t *testing.T, accept string) {
		if prefersMarkdown(accept) && answer.Quality(accept, typeMarkdown) == 0 {
			t.Errorf("prefersMarkdown(%q) although it is refused", accept)
		}
	})
}
