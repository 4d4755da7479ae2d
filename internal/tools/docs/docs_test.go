package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../../.."

func TestDocumentsAreUpToDate(t *testing.T) {
	t.Parallel()
	all, err := documents(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%s is not there: run \"make docs\"", name)
			continue
		}
		if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(string(want), "\n")); diff != "" {
			t.Errorf("%s is out of date: run \"make docs\" (-committed +code):\n%s", name, diff)
		}
	}
}

// TestVersionMeansOneDocument fails on a changed API document with an
// unchanged version, also where somebody wrote the document by hand.
func TestVersionMeansOneDocument(t *testing.T) {
	t.Parallel()
	for name, describe := range apis {
		document, err := describe()
		if err != nil {
			t.Fatal(err)
		}
		version, line, err := digestLine(document)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := released(root, name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(lines, line) {
			t.Errorf(
				"the document of the API %q is not the one that was noted as version %s: raise the API's constant "+
					"Version and run \"make docs\"", name, version)
		}
	}
}

func TestReleaseRefusesAChangedDocument(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := []byte(`{"info":{"version":"1.0.0"},"paths":{}}`), []byte(
		`{"info":{"version":"1.0.0"},"paths":{"/a":{}}}`)
	raised := []byte(`{"info":{"version":"1.1.0"},"paths":{"/a":{}}}`)
	steps := []struct {
		name     string
		document []byte
		ok       bool
	}{
		{"first", first, true},
		{"the same again", first, true},
		{"changed", second, false},
		{"raised", raised, true},
		{"the old one", first, true},
	}
	for _, step := range steps {
		if err := release(dir, "store", step.document); (err == nil) != step.ok {
			t.Errorf("%s: release = %v, want success %v", step.name, err, step.ok)
		}
	}
	if lines, err := released(dir, "store"); err != nil || len(lines) != 2 {
		t.Errorf("released = %q, %v; want both versions", lines, err)
	}
}

// known are calls whose code comes from elsewhere: it passes through.
var known = []string{
	"internal/foundation/jsonread Err",                      // the code of the first fault
	"internal/protocol/acp NewError",                        // codes of the protocol
	"internal/protocol/ucp NewProtocolError",                // codes of the protocol
	"internal/storefront/storehttp/ucphttp toolAnswer",      // a response over REST, returned over MCP
	"internal/storefront/storehttp/ucphttp checkoutRequest", // a message of the protocol
}

func TestEveryCodeIsFound(t *testing.T) {
	t.Parallel()
	s, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.found) < 50 {
		t.Errorf("%d calls of problem.New were found; the scanner misses some", len(s.found))
	}
	for _, place := range s.vague {
		if !slices.Contains(known, place) {
			t.Errorf(
				"%s answers a problem whose code is no constant: write it there, so that docs/errors.md can list it",
				place)
		}
	}
}

// TestTablesAreFound fails where a transport has moved or renamed the table from
// our codes to those of its protocol.
func TestTablesAreFound(t *testing.T) {
	t.Parallel()
	page, err := errorsPage(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| `out_of_stock` | 200 | `sold_out` |", "| `out_of_stock` | 409 | `sold_out` |"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q: fix writeProtocols in errors.go", want)
		}
	}
}

func TestAdviceIsNotStale(t *testing.T) {
	t.Parallel()
	page, err := errorsPage(root)
	if err != nil {
		t.Fatal(err)
	}
	for code := range advice {
		if !strings.Contains(string(page), "| `"+code+"` |") {
			t.Errorf("advice.go speaks of %s, which nothing answers", code)
		}
	}
}

func TestConfigurationNamesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := configuration()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| `ACE_STORE_ADDR` | `--store-addr HOST:PORT` | `127.0.0.1:8080` |",
		"| `ACE_DEV_TLS` | `--dev-tls` | `false` |", "## Payments", "(auto,on,off)",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
