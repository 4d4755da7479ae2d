package datapack_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/datapack"
	"ace/internal/website/webfetch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// endless are sites that keep a response open.
var endless = []string{"slow", "stalled"}

// packer packs sites on loopback, without pauses between requests.
func packer(t testing.TB, site *testsites.Site) *datapack.Packer {
	t.Helper()
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
	p, err := datapack.New(fetcher, &datapack.Options{Crawl: &crawl.Options{Interval: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
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
		t.Errorf("%s differs; run the test with -update and look at the difference.\ngot:\n%s", path, got)
	}
}
