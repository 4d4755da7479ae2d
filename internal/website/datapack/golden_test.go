package datapack_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"ace/internal/testsites"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/datapack"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestSites packs every test site: good, careless, hostile, huge, blocked. The
// golden files hold what a buyer reads, or the problem.
func TestSites(t *testing.T) {
	t.Parallel()
	for _, name := range testsites.Names() {
		if slices.Contains(endless, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := testsites.Serve(t, name)
			pack, err := packer(t, site).Run(t.Context(), datapack.Request{URL: site.Home()}, nil)
			if err != nil {
				golden(t, name+".md", "error: "+site.Stable(err.Error())+"\n")
				return
			}
			checkPromises(t, pack)
			golden(t, name+".md", site.Stable(pack.Markdown()))
		})
	}
}

// TestSlowSites shows that a website which never ends a response costs no more
// than the patience of the fetcher.
func TestSlowSites(t *testing.T) {
	t.Parallel()
	for _, name := range endless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := testsites.Serve(t, name)
			pack, err := packer(t, site).Run(t.Context(), datapack.Request{URL: site.Home(), MaxPages: 2}, nil)
			if err == nil {
				checkPromises(t, pack)
			}
		})
	}
}

// kinds is the website with a page of every kind, in memory.
func kinds(t testing.TB, more map[string]crawltest.Answer) *datapack.Packer {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/kinds.txtar")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]crawltest.Answer{}
	for _, f := range archive.Files {
		answers["https://orchard.example"+f.Name] = crawltest.Page(string(f.Data))
	}
	maps.Copy(answers, more)
	p, err := datapack.New(crawltest.New(answers), &datapack.Options{Crawl: &crawl.Options{Interval: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestKinds packs pages of every kind.
func TestKinds(t *testing.T) {
	t.Parallel()
	pack, err := kinds(t, nil).Run(t.Context(),
		datapack.Request{URL: "https://orchard.example/", MaxPages: 20, FAQ: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkPromises(t, pack)
	got := map[string]string{}
	for _, page := range pack.Pages {
		got[page.URL[len("https://orchard.example"):]] = page.Kind + " " + page.Diff
	}
	want := map[string]string{
		"/": "WebPage add", "/products/windsor-chair": "Product add", "/products/stool": "Product replace",
		"/products/bench": "Product add", "/blog/steam-bending": "BlogPosting merge",
		"/events/open-day": "Event add", "/visit": "LocalBusiness add", "/planner": "SoftwareApplication add",
		"/faq": "FAQPage add",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	golden(t, "kinds.md", pack.Markdown())
}

// TestJSON packs one page: the whole pack as JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	pack, err := kinds(t, nil).Run(t.Context(),
		datapack.Request{URL: "https://orchard.example/products/stool", MaxPages: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := pack.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "zip") // its bytes depend on the compressor; TestFiles opens it
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "stool.json", string(text)+"\n")
}

// TestSameBytes packs the same pages twice.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	var packs [2][]byte
	for i := range packs {
		pack, err := kinds(t, nil).Run(t.Context(), datapack.Request{URL: "orchard.example"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if packs[i], err = pack.JSON(); err != nil {
			t.Fatal(err)
		}
	}
	if string(packs[0]) != string(packs[1]) {
		t.Error("two packs of the same pages differ")
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var stages []string
	last := map[string][2]int{}
	_, err := kinds(t, nil).Run(t.Context(), datapack.Request{URL: "https://orchard.example/", MaxPages: 3},
		func(stage string, done, planned int) {
			if !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
			last[stage] = [2]int{done, planned}
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) < 3 || stages[len(stages)-1] != "pack" || last["check"] != [2]int{3, 3} {
		t.Errorf("stages = %v, last %v", stages, last)
	}
}

// BenchmarkRun packs nine pages that are in memory.
func BenchmarkRun(b *testing.B) {
	p := kinds(b, nil)
	for b.Loop() {
		if _, err := p.Run(b.Context(), datapack.Request{URL: "https://orchard.example/", MaxPages: 20},
			nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Second)/float64(b.Elapsed())*float64(b.N)*9, "pages/s")
}
