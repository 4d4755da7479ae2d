package llmsdraft_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/llmsdraft"
	"ace/internal/website/webfetch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// service drafts from sites on loopback, without pauses between requests.
func service(site *testsites.Site) *llmsdraft.Service {
	guard := egress.New(&egress.Options{OnlyTrusted: true})
	patience := 20 * time.Second
	if slices.Contains(endless, site.Name) {
		patience = time.Second
	}
	fetcher := webfetch.New(
		guard,
		"https://store.example",
		&webfetch.Options{Trusted: []string{site.URL}, Timeout: patience},
	)
	return llmsdraft.New(fetcher, &llmsdraft.Options{Crawl: &crawl.Options{Interval: -1}})
}

// run drafts for the first page of a test site.
func run(t *testing.T, name string) (*testsites.Site, *llmsdraft.Draft, error) {
	t.Helper()
	site := testsites.Serve(t, name)
	draft, err := service(site).Run(t.Context(), llmsdraft.Request{URL: site.Home()}, nil)
	return site, draft, err
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run the test with -update and look at the difference.\ngot:\n%s\nwant:\n%s", path, got,
			want)
	}
}

// canceled is a context that has ended.
func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}
