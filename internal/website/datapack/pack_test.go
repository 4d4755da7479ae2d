package datapack_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/markdown"
	"ace/internal/foundation/problem"
	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/datapack"
	"ace/internal/website/datapack/rules"
)

// checkPromises checks what holds for every pack.
func checkPromises(t *testing.T, p *datapack.Pack) {
	t.Helper()
	data, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var shape struct {
		Pages []struct {
			URL       string
			Generated map[string]any
			Diff      string
			Install   string
			Patch     string
			Detected  []any
			Issues    []any
			Needs     []any `json:"needs_input"`
			Eligible  []any
		}
		Zip []byte
	}
	if err := json.Unmarshal(data, &shape); err != nil {
		t.Fatalf("the pack is no JSON: %v", err)
	}
	for _, page := range shape.Pages {
		if page.Detected == nil || page.Issues == nil || page.Needs == nil || page.Eligible == nil {
			t.Errorf("%s: a list is null", page.URL)
		}
		made := page.Diff == "add" || page.Diff == "merge" || page.Diff == "replace"
		if made != (page.Install != "") || made != (page.Generated != nil) {
			t.Errorf("%s: diff %q with install %q", page.URL, page.Diff, page.Install)
		}
		if made && (strings.Count(page.Install, "<") != 2 || !strings.HasSuffix(page.Install, "</script>\n")) {
			t.Errorf("%s: the block is no single script element:\n%s", page.URL, page.Install)
		}
	}
	if p.Status == datapack.StatusComplete && len(shape.Zip) == 0 {
		t.Error("there is no zip")
	}
}

// TestFiles opens the zip: it holds the files, and nothing that leaves its
// folder.
func TestFiles(t *testing.T) {
	t.Parallel()
	pack, err := kinds(t, nil).Run(t.Context(), datapack.Request{URL: "https://orchard.example/", MaxPages: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]datapack.File{}
	for _, f := range pack.Files() {
		files[f.Name] = f
	}
	whole := files["structured-data-pack.zip"]
	if whole.MediaType != "application/zip" || !bytes.Equal(whole.Data, pack.Zip) {
		t.Fatalf("the zip is not among the files: %v", whole.MediaType)
	}
	r, err := zip.NewReader(bytes.NewReader(whole.Data), int64(len(whole.Data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil || !bytes.Equal(data, files[f.Name].Data) {
			t.Errorf("%s in the zip differs from the file: %v", f.Name, err)
		}
		if strings.HasPrefix(f.Name, "/") || strings.Contains(f.Name, "..") || strings.Contains(f.Name, "\\") {
			t.Errorf("the name %q leaves its folder", f.Name)
		}
		names = append(names, f.Name)
	}
	for _, want := range []string{
		"README.md", "site/organization.jsonld", "site/website.jsonld", "pages/index.jsonld",
		"pages/index.snippet.html", "pages/index.diff",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("the zip holds %v, want %s", names, want)
		}
	}
	for name, f := range files {
		if strings.HasSuffix(name, ".jsonld") && !json.Valid(f.Data) {
			t.Errorf("%s is no JSON", name)
		}
	}
}

// TestPatches applies each diff to its page with the tool patch.
func TestPatches(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("left out: the program patch is not there")
	}
	block := `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Thing","name":"x",` +
		`"colour":1}</script>`
	more := map[string]crawltest.Answer{}
	pages := map[string]string{
		"/p1": "<html>\n<head>\n<title>One</title>\n</head>\n<body>\n<h1>One</h1>\n</body>\n</html>\n",
		"/p2": "<html><head><title>Two</title></head><body><h1>Two</h1></body></html>",
		"/p3": "<h1>Three</h1>\n<p>No head at all",
		"/p4": "<html>\n<head>\n" + block + "\n</head>\n<body>\n" + strings.Repeat("<p>line\n",
			20) + block + "\n</body>\n</html>",
		"/p5": "<head>" + block + block + "</head><h1>Five</h1>\n",
		"/p6": "<head>\n" + block + "\n" + block + "\n</head>\n<h1>Six</h1>\n",
		"/p7": "<head>\r\n<title>Seven</title>\r\n</head>\r\n<h1>Seven</h1>\r\n",
		"/p8": "",
	}
	home := "<title>x</title>"
	for path, html := range pages {
		more["https://orchard.example"+path] = crawltest.Page(html)
		home += `<a href="` + path + `">` + path + `</a>`
	}
	more["https://orchard.example/"] = crawltest.Page(home)
	pack, err := kinds(t, more).Run(t.Context(), datapack.Request{URL: "https://orchard.example/", MaxPages: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	applied := 0
	for _, page := range pack.Pages {
		source, ok := pages[strings.TrimPrefix(page.URL, "https://orchard.example")]
		if !ok || page.Patch == "" {
			continue
		}
		applied++
		got := apply(t, source, page.Patch)
		if !strings.Contains(got, strings.TrimSpace(page.Install)) || strings.Count(got, "ld+json") != 1 {
			t.Errorf("%s: after the diff the page is\n%s\nthe diff:\n%s", page.URL, got, page.Patch)
		}
		kept := strings.ReplaceAll(strings.ReplaceAll(got, strings.TrimSpace(page.Install), ""), "\n", "")
		if want := strings.ReplaceAll(strings.ReplaceAll(source, block, ""), "\n", ""); kept != want {
			t.Errorf("%s: the diff changed more than the blocks:\n%s", page.URL, got)
		}
	}
	if applied < 7 {
		t.Errorf("%d diffs were applied, want those of the pages", applied)
	}
}

func apply(t *testing.T, source, diff string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "patch", "--binary", "--fuzz=0", "--posix", file)
	cmd.Stdin = strings.NewReader(diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("patch: %v\n%s\n%s", err, out, diff)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		answers map[string]crawltest.Answer
		want    string
		reason  string
	}{
		{
			"some",
			map[string]crawltest.Answer{
				"https://a.example/": crawltest.Page(`<title>x</title><a href="/gone">gone</a>`),
			},
			datapack.StatusPartial, "1 of 2",
		},
		{
			"all",
			map[string]crawltest.Answer{"https://a.example/": crawltest.Page(`<title>x</title><p>A page.`)},
			datapack.StatusComplete, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := datapack.New(crawltest.New(tt.answers), &datapack.Options{Crawl: &crawl.Options{Interval: -1}})
			if err != nil {
				t.Fatal(err)
			}
			pack, err := p.Run(t.Context(), datapack.Request{URL: "https://a.example/"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkPromises(t, pack)
			if pack.Status != tt.want || !strings.Contains(pack.Reason, tt.reason) {
				t.Errorf("status = %s, %s, want %s, %s", pack.Status, pack.Reason, tt.want, tt.reason)
			}
			if !strings.HasPrefix(pack.Markdown(), "# Structured data pack for https://a.example/") {
				t.Errorf("Markdown = %s", pack.Markdown())
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	p := kinds(t, map[string]crawltest.Answer{
		"https://closed.example/robots.txt": crawltest.Text("text/plain", "User-agent: *\nDisallow: /\n"),
		"https://closed.example/":           crawltest.Page("x"),
		"https://broken.example/":           {Status: 500},
		"https://paper.example/":            crawltest.Text("application/pdf", "%PDF"),
	})
	for address, code := range map[string]string{
		"": "invalid_url", "ftp://x.example": "invalid_url",
		"https://nobody.example/": "target_unreachable", "https://closed.example/": "site_excludes_crawler",
		"https://broken.example/": "site_not_readable", "https://paper.example/": "site_not_readable",
	} {
		_, err := p.Run(t.Context(), datapack.Request{URL: address}, nil)
		var problem *problem.Problem
		if !errors.As(err, &problem) || problem.Code != code {
			t.Errorf("Run(%q) = %v, want %s", address, err, code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, datapack.Request{URL: "https://orchard.example/"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Run in a context that has ended = %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := kinds(t, nil)
	good := p.Check(
		[]byte(
			`<h1>Lamp</h1><script type="application/ld+json">{"@context":"https://schema.org","@type":"Product",`+
				`"name":"Lamp","image":"/l.png","offers":{"@type":"Offer","price":"5","priceCurrency":"EUR"}}</script>`,
		), "https://a.example/")
	if strings.Join(good.Types, " ") != "Offer Product" || len(good.Features) != 2 ||
		good.Features[0].Status != rules.Eligible {
		t.Errorf("Check = %+v", good)
	}
	for _, i := range good.Issues {
		if i.Severity == "error" {
			t.Errorf("issue %+v", i)
		}
	}
	bad := p.Check([]byte(`<script type="application/ld+json">{"@type":"Product",}</script>`), "https://a.example/")
	codes := ""
	for _, i := range bad.Issues {
		codes += string(i.Code) + " "
	}
	if !strings.HasPrefix(codes, "E1 E1 E6 E6 ") {
		t.Errorf("codes = %s", codes)
	}
	for name, page := range map[string]string{"deep": strings.Repeat("<b><div>", 50_000), "nothing": ""} {
		got := p.Check([]byte(page), "https://a.example/")
		if (len(got.Issues) == 1) != (name == "deep") {
			t.Errorf("%s: Check = %+v", name, got)
		}
	}
	if got := p.Check(nil, "http://["); len(got.Issues) != 1 || got.Issues[0].Name != "page_unreadable" {
		t.Errorf("Check at no address = %+v", got)
	}
}

// TestHostilePages packs pages that are made to cost much or to break what is
// written about them.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	ld := func(json string) string { return `<script type="application/ld+json">` + json + `</script>` }
	pages := map[string]string{
		"deep": ld(`{"@context":"https://schema.org","@type":"Product","offers":` +
			strings.Repeat(`{"@type":"Offer","itemOffered":`, 10_000)),
		"cycle": ld(
			`{"@context":"https://schema.org","@graph":[{"@id":"#a","@type":"Product","name":"x",` +
				`"isRelatedTo":{"@id":"#b"}},{"@id":"#b","@type":"Product","name":"y","isRelatedTo":{"@id":"#a"}}]}`,
		),
		"self": ld(
			`{"@context":"https://schema.org","@id":"#a","@type":"Product","name":"x","isRelatedTo":{"@id":"#a",` +
				`"@type":"Product","name":"x","isRelatedTo":{"@id":"#a"}}}`,
		),
		"itemref": `<div itemscope itemtype="https://schema.org/Product" itemref="a"></div>` +
			`<div id=a itemprop=isRelatedTo itemscope itemref=a><b itemprop=name>x</b></div>`,
		"attributes": `<meta property="og:title" content="` + strings.Repeat("x",
			1<<20) + `"><h1 class="` + strings.Repeat("price ", 100_000) + `">x</h1>`,
		"ends": `<title>&lt;/script>&lt;script>alert(1)&lt;/script></title>` +
			ld(`{"@context":"https://schema.org","@type":"Person","name":"\u003c/script\u003e\u003cscript\u003e"}`),
		"fences": "<h1>``` \n# x</h1><p>" + strings.Repeat("`",
			50) + " | [a](http://evil.example) <b>x</b> end of the paragraph here",
		"prices": strings.Repeat(`<p class="price">£1,234.56 - $7 EUR 8</p>`, 20_000),
		"dates":  strings.Repeat(`<p>Published 1 January 2026 When: 2 May 2026</p>`, 20_000),
		"crumbs": `<nav aria-label="breadcrumb">` + strings.Repeat(`<a href="/x">x</a>`,
			20_000) + `</nav><h1>x</h1>`,
		"questions": strings.Repeat(`<h2>Why?</h2><p>So.</p>`, 20_000),
		"lines":     strings.Repeat("x", 1<<20),
		"nothing":   "",
	}
	for name, html := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := kinds(
				t,
				map[string]crawltest.Answer{
					"https://orchard.example/products/stool": crawltest.Page(html + "<p>Some words."),
				},
			)
			pack, err := p.Run(t.Context(),
				datapack.Request{URL: "https://orchard.example/products/stool", MaxPages: 1, FAQ: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkPromises(t, pack)
			data, err := pack.JSON()
			if err != nil || len(data) > 4<<20 {
				t.Errorf("the pack has %d bytes, %v", len(data), err)
			}
			html, err := markdown.HTML(pack.Markdown())
			if err != nil || strings.Contains(html, "<b>") || strings.Contains(html, ">a</a>") ||
				strings.Contains(html, "<h1># x") {
				t.Errorf("the page's text became markup: %v\n%s", err, html)
			}
		})
	}
}

func ExamplePacker_Check() {
	p, err := datapack.New(nil, nil)
	if err != nil {
		return
	}
	found := p.Check(
		[]byte(
			`<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product",`+
				`"naame":"Lamp"}</script>`,
		), "https://shop.example/")
	for _, i := range found.Issues {
		if i.Code == rules.Unknown {
			fmt.Println(i.Message, "Write", i.Fix+".")
		}
	}
	// Output: schema.org 30.0 has no property naame. Write name.
}
