package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/foundation/egress"
	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/datapack"
	"ace/internal/website/webfetch"

	"golang.org/x/tools/txtar"
)

// judge has blocks judged by structureddata.mjs. The context is made of the
// published vocabulary: what it does not name is unknown. ACE_NODE is the program
// that runs it, ACE_NODE_MODULES the folder that the judges are installed in.
func judge(t *testing.T, blocks map[string]any) map[string][]string {
	t.Helper()
	if os.Getenv("ACE_NODE") == "" || os.Getenv("ACE_NODE_MODULES") == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	for _, name := range []string{"jsonld", "schema-dts", "typescript"} {
		if _, err := os.Stat(filepath.Join(os.Getenv("ACE_NODE_MODULES"), name)); err != nil {
			t.Skipf("left out: the package %s is not installed in ACE_NODE_MODULES", name)
		}
	}
	input, err := json.Marshal(map[string]any{"context": schemaContext(t), "blocks": blocks})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Getenv("ACE_NODE"), "structureddata.mjs")
	var out, faults bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &faults
	if err := cmd.Run(); err != nil {
		t.Fatalf("structureddata.mjs: %v\n%s", err, faults.String())
	}
	var found map[string][]string
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatalf("structureddata.mjs wrote %s: %v", out.String(), err)
	}
	return found
}

// schemaContext makes a JSON-LD context out of the published vocabulary.
func schemaContext(t *testing.T) map[string]any {
	t.Helper()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/schemaorg/schemaorg-current-https.jsonld"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Graph []struct {
			ID string `json:"@id"`
		} `json:"@graph"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	context := map[string]any{"type": "@type", "id": "@id"}
	for _, term := range doc.Graph {
		if name, ok := strings.CutPrefix(term.ID, "schema:"); ok {
			context[name] = "https://schema.org/" + name
		}
	}
	return context
}

// packs makes packs of the websites for tests and of the one with a page of
// every kind, and returns their blocks by site and page.
func packs(t *testing.T) map[string]any {
	t.Helper()
	blocks := map[string]any{}
	add := func(site string, fetcher crawl.Fetcher, r datapack.Request) {
		p, err := datapack.New(fetcher, &datapack.Options{Crawl: &crawl.Options{Interval: -1}})
		if err != nil {
			t.Fatal(err)
		}
		pack, err := p.Run(t.Context(), r, nil)
		if err != nil {
			t.Fatalf("packing %s: %v", site, err)
		}
		for _, page := range pack.Pages {
			if len(page.Generated) > 0 {
				blocks[site+" "+page.URL] = page.Generated
			}
		}
	}
	for _, name := range []string{"good", "bad", "docs", "hostile", "multilingual", "studio", "encodings", "single"} {
		site := testsites.Serve(t, name)
		guard := egress.New(&egress.Options{OnlyTrusted: true})
		add(
			name,
			webfetch.New(guard, "https://store.example", &webfetch.Options{Trusted: []string{site.URL}}),
			datapack.Request{URL: site.Home()},
		)
	}
	archive, err := txtar.ParseFile("../../internal/website/datapack/testdata/kinds.txtar")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]crawltest.Answer{}
	for _, f := range archive.Files {
		answers["https://orchard.example"+f.Name] = crawltest.Page(string(f.Data))
	}
	add("kinds", crawltest.New(answers), datapack.Request{URL: "https://orchard.example/", MaxPages: 20, FAQ: true})
	return blocks
}

// TestStructuredData has the blocks of structured data packs judged by the
// JSON-LD processor and by the types of schema.org that others publish.
func TestStructuredData(t *testing.T) {
	t.Parallel()
	blocks := packs(t)
	if len(blocks) < 30 {
		t.Fatalf("%d blocks, want those of nine websites", len(blocks))
	}
	for name, faults := range judge(t, blocks) {
		t.Errorf("%s:\n  %s", name, strings.Join(faults, "\n  "))
	}
}

// TestJudges shows that the judges find faults.
func TestJudges(t *testing.T) {
	t.Parallel()
	graph := func(n map[string]any) map[string]any {
		return map[string]any{"@context": "https://schema.org", "@graph": []any{n}}
	}
	offer := map[string]any{"@type": "Offer", "price": "5.00", "priceCurrency": "EUR"}
	tests := map[string]struct {
		block map[string]any
		by    []string // who finds it
	}{
		"good": {graph(map[string]any{"@type": "Product", "name": "x", "offers": offer}), nil},
		"unknown property": {
			graph(map[string]any{"@type": "Product", "naame": "x"}),
			[]string{"jsonld", "schema-dts"},
		},
		"unknown type":      {graph(map[string]any{"@type": "Prodcut", "name": "x"}), []string{"jsonld", "schema-dts"}},
		"wrong type for it": {graph(map[string]any{"@type": "Product", "price": "5.00"}), []string{"schema-dts"}},
		"wrong thing":       {graph(map[string]any{"@type": "Person", "address": offer}), []string{"schema-dts"}},
		"foreign context": {
			map[string]any{"@context": "https://foreign.example", "@graph": []any{}},
			[]string{"jsonld", "schema-dts"},
		},
	}
	blocks := map[string]any{}
	for name, tt := range tests {
		blocks[name] = tt.block
	}
	found := judge(t, blocks)
	for name, tt := range tests {
		all := strings.Join(found[name], "\n")
		for _, by := range []string{"jsonld", "schema-dts"} {
			want := false
			for _, who := range tt.by {
				want = want || who == by
			}
			if got := strings.Contains(all, by+":"); got != want {
				t.Errorf("%s: %s finds a fault = %v, want %v\n%s", name, by, got, want, all)
			}
		}
	}
}
