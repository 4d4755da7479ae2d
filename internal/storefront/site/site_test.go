package site_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"ace/content"
	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/site"

	"github.com/google/go-cmp/cmp"
)

const base = "https://shop.example"

func address(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fakeSource is a processor with offers, which can be unavailable.
type fakeSource struct {
	offers []offer.Offer
	away   bool
}

func (s *fakeSource) Offers(context.Context) (offer.Listing, error) {
	if s.away {
		return offer.Listing{}, problem.New(problem.Unavailable, "processor_unavailable", "away")
	}
	return offer.Listing{Offers: s.offers, Mode: "test", VerifiedAt: time.Now()}, nil
}

func (*fakeSource) Taken(context.Context) (map[string]int64, error) { return map[string]int64{}, nil }

func (*fakeSource) Changes() uint64 { return 0 }

func goods() []offer.Offer {
	one := func(id, name string, c offer.Category, status offer.Status) offer.Offer {
		return offer.Offer{
			ID: id, Name: name, Description: "About *" + name + "* <b>.", Category: c, Price: money.Amount{
				Minor:    1900,
				Currency: "USD",
			},
			Delivery: offer.Delivery{Summary: "By mail"}, Stock: offer.Stock{Status: status, MaxPerOrder: 1},
		}
	}
	return []offer.Offer{
		one("desk_lamp", "Desk Lamp", offer.Hardware, offer.InStock),
		one("repair", "Repair", offer.Service, offer.OutOfStock),
	}
}

// world is a service over files and a shelf.
func world(t testing.TB, files fstest.MapFS, s *fakeSource) *site.Service {
	t.Helper()
	catalog := offer.NewCatalog(s, s, slog.New(slog.DiscardHandler))
	service := site.New(address(t),
		[]site.Source{site.NewFolder(files, address(t), site.Vars{Name: "Shop", Operator: "Shop Ltd"})},
		slog.New(slog.DiscardHandler), &site.Options{
			Offers: site.NewOffers(catalog, base),
			Hosts:  []string{"https://old.example"},
		})
	if err := service.Refresh(t.Context()); err != nil && !s.away {
		t.Fatal(err)
	}
	return service
}

func file(text string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(text), ModTime: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
}

func folder() fstest.MapFS {
	return fstest.MapFS{
		"index.md":                file("---\nlist: offers\n---\n# Welcome\n\nHello. See [setup](/docs/setup).\n"),
		"docs/index.md":           file("---\ntitle: Docs\nupdated: 2026-01-31\nnav: 1\n---\nNo heading here.\n"),
		"docs/setup.md":           file("# Set *it* up\n\nRead [this](intro) and `[that](x)`.\n"),
		"services.md":             file("---\nlist: services\n---\n# Services\n"),
		"secret.md":               file("---\nprivate: true\n---\n# Secret\n"),
		"shut.md":                 file(""),
		"template.md":             file("---\ntemplate: true\n---\n# {{.Name}} by {{.Operator}}\n"),
		"braces.md":               file("# {{.Name}}\n"),
		".git/config.md":          file("# no\n"),
		"_drafts/x.md":            file("# no\n"),
		"picture.png":             file("no"),
		"checkout/x.md":           file("# shut\n"),
		"docs/Getting Started.md": file("# Start\n"),
		"docs/more/index.md": file(
			"# More\n\n[a](a.md) [up](../setup.md#x) [i](../index.md) [t](/docs.md) [o](https://x.example/y.md) " +
				"[q](?a=b)\n"),
	}
}

func TestFolderListing(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{offers: goods()}).Snapshot()
	got := map[string]string{}
	for _, e := range s.Entries {
		got[e.Path] = e.Title + "|" + e.Modified.Format(time.DateOnly)
	}
	want := map[string]string{
		"/": "Welcome|0001-01-01", "/docs": "Docs|2026-01-31", "/docs/setup": "Set it up|2026-05-04",
		"/services": "Services|0001-01-01",
		"/template": "Shop by Shop Ltd|2026-05-04", "/braces": "{{.Name}}|2026-05-04",
		"/docs/Getting Started": "Start|2026-05-04",
		"/docs/more":            "More|2026-05-04", "/products/desk_lamp": "Desk Lamp|0001-01-01",
		"/products/repair": "Repair|0001-01-01",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if len(s.Nav) != 1 || s.Nav[0].Menu() != "Docs" || s.Entries[0].Path != "/" {
		t.Errorf("menu = %+v, first = %+v", s.Nav, s.Entries[0])
	}
}

func TestFolderFaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, want string }{
		{"head without end", "---\ntitle: x\n", "has no end"},
		{"no day", "---\nupdated: x\n---\n# A\n", "updated"},
		{"unknown name", "---\ntemplate: true\n---\n{{.Nope}}\n", "Nope"},
		{"too large", strings.Repeat("a", 2<<20+1), "split it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := site.NewFolder(fstest.MapFS{"bad.md": file(tt.file)}, address(t), site.Vars{}).List(t.Context())
			if err == nil || !strings.Contains(err.Error(), "bad.md") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("List = %v, want bad.md and %q", err, tt.want)
			}
		})
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{offers: goods()})
	setup, err := s.Page(t.Context(), "/docs/setup")
	if err != nil {
		t.Fatal(err)
	}
	if want := "# Set *it* up\n\nRead [this](https://shop.example/docs/intro) and `[that](x)`.\n"; setup.Markdown !=
		want {
		t.Errorf("Markdown = %q, want %q", setup.Markdown, want)
	}
	if !strings.Contains(setup.HTML, `<a href="https://shop.example/docs/intro">this</a>`) ||
		setup.Canonical != base+"/docs/setup" || setup.Description != "Read this and [that](x)." {
		t.Errorf("page = %+v", setup)
	}
	docs, err := s.Page(t.Context(), "/docs/index.md")
	if err != nil || docs.Path != "/docs" || docs.Markdown != "# Docs\n\nNo heading here.\n" {
		t.Errorf("Page of the index = %+v, %v", docs, err)
	}
	more, err := s.Page(t.Context(), "/docs/more")
	if want := "# More\n\n[a](https://shop.example/docs/more/a) [up](https://shop.example/docs/setup#x) " +
		"[i](https://shop.example/docs) [t](https://shop.example/docs.md) [o](https://x.example/y.md) " +
		"[q](https://shop.example/docs/more/?a=b)\n"; err != nil || more.Markdown != want {
		t.Errorf("links between files = %q, %v, want %q", more.Markdown, err, want)
	}
	home, err := s.Page(t.Context(), "/index")
	if err != nil || len(home.Offers) != 2 || !strings.Contains(home.Markdown,
		"- [Desk Lamp](https://shop.example/products/desk_lamp): USD 19.00 once; Available\n") {
		t.Errorf("first page = %+v, %v", home, err)
	}
	services, err := s.Page(t.Context(), "/services.md")
	if err != nil || len(services.Offers) != 1 || services.Offers[0].Offer.ID != "repair" {
		t.Errorf("services = %+v, %v", services, err)
	}
}

func TestPageProblems(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{offers: goods()})
	for path, code := range map[string]string{
		"/nope": "page_not_found", "/secret": "page_private", "/secret.md": "page_private", "/shut": "page_not_found",
		"/checkout/x": "page_private", "/c/token": "page_private",
		"/products/nope": "page_not_found", "/products": "page_not_found", "/.git/config": "page_not_found",
		"/_drafts/x": "page_not_found", "/picture.png": "page_not_found",
		"/docs/setup.md.md": "page_not_found",
	} {
		if _, err := s.Page(t.Context(), path); !problem.Is(err, code) {
			t.Errorf("Page(%q) = %v, want %s", path, err, code)
		}
	}
}

func TestOfferPage(t *testing.T) {
	t.Parallel()
	goodsShelf := &fakeSource{offers: goods()}
	s := world(t, folder(), goodsShelf)
	page, err := s.Page(t.Context(), "/products/desk_lamp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Desk Lamp\n", `About \*Desk Lamp\* \<b\>.`, "- **Price**: USD 19.00 once\n",
		"- **Offer id**: `desk_lamp`\n", "test offer", "## How to buy",
	} {
		if !strings.Contains(page.Markdown, want) {
			t.Errorf("page lacks %q:\n%s", want, page.Markdown)
		}
	}
	if page.Offer == nil || strings.Contains(page.HTML, "<b>") || !page.Modified.IsZero() {
		t.Errorf("page = %+v", page)
	}
	gone, err := s.Page(t.Context(), "/products/repair")
	if err != nil || !strings.Contains(gone.Markdown, "cannot be bought right now") {
		t.Errorf("sold out = %+v, %v", gone, err)
	}
}

// TestProcessorAway serves pages that list offers while the processor has
// never answered.
func TestProcessorAway(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{away: true})
	home, err := s.Page(t.Context(), "/")
	if err != nil || !strings.Contains(home.Markdown, "cannot be read right now") || !home.Lists {
		t.Errorf("first page = %+v, %v", home, err)
	}
	if _, err := s.Page(t.Context(), "/products/desk_lamp"); !problem.Is(err, "processor_unavailable") {
		t.Errorf("offer = %v, want processor_unavailable", err)
	}
}

// TestRefresh sees files come, change and go, and keeps the version of a site
// that stayed the same.
func TestRefresh(t *testing.T) {
	t.Parallel()
	files := folder()
	goodsShelf := &fakeSource{offers: goods()}
	s := world(t, files, goodsShelf)
	before := s.Snapshot()
	if err := s.Refresh(t.Context()); err != nil || s.Snapshot() != before {
		t.Errorf("Refresh of the same site = %v, snapshot changed %v", err, s.Snapshot() != before)
	}
	files["new.md"] = file("# New\n")
	delete(files, "braces.md")
	if err := s.Refresh(t.Context()); err != nil || s.Snapshot().Version == before.Version {
		t.Fatalf("Refresh = %v, version stayed", err)
	}
	if _, err := s.Page(t.Context(), "/new"); err != nil {
		t.Errorf("new page = %v", err)
	}
	if _, err := s.Page(t.Context(), "/braces"); !problem.Is(err, "page_not_found") {
		t.Errorf("removed page = %v, want page_not_found", err)
	}
	files["bad.md"] = file("---\n")
	if err := s.Refresh(t.Context()); err == nil {
		t.Error("Refresh of a folder with a fault succeeds")
	}
	if _, ok := s.Snapshot().Entry("/new"); !ok {
		t.Error("a fault takes the listing away")
	}
}

func TestRunKeepsAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := site.New(address(t), []site.Source{&flaky{}}, slog.New(slog.DiscardHandler), nil)
		ctx, stop := context.WithCancel(t.Context())
		go s.Run(ctx)
		time.Sleep(4 * time.Second)
		if _, ok := s.Snapshot().Entry("/late"); ok {
			t.Error("the page is there before its source")
		}
		time.Sleep(2 * time.Second)
		if _, ok := s.Snapshot().Entry("/late"); !ok {
			t.Error("the source is not asked again soon after it failed")
		}
		stop()
		synctest.Wait()
	})
}

// flaky fails once.
type flaky struct{ asked bool }

func (f *flaky) List(context.Context) ([]site.Entry, error) {
	if !f.asked {
		f.asked = true
		return nil, errors.New("away")
	}
	return []site.Entry{{Path: "/late"}}, nil
}

func (*flaky) Read(context.Context, string) (*site.Page, error) { return nil, errors.New("never") }

func TestSearch(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{offers: goods()})
	tests := []struct {
		name, words string
		want        []string
	}{
		{"exact", "services", []string{"/services"}},
		{"slip", "servises", []string{"/services"}},
		{"plural of an offer", "lamps", []string{"/products/desk_lamp"}},
		{"first page", "home", []string{"/"}},
		{"folder", "docs", []string{"/docs", "/docs/more", "/docs/setup", "/docs/Getting Started"}},
		{"private pages are not found", "secret", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found, err := s.Search(t.Context(), site.Query{Words: tt.words})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range found.Results {
				got = append(got, r.Path)
				if u, err := url.Parse(r.URL); err != nil || u.Path != r.Path {
					t.Errorf("address %q of %q", r.URL, r.Path)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || found.Total != len(tt.want) {
				t.Errorf("Search(%q), total %d (-want +got):\n%s", tt.words, found.Total, diff)
			}
		})
	}
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for i := range 37 {
		files[fmt.Sprintf("guides/guide-%02d.md", i)] = file("# G\n")
	}
	s := world(t, files, &fakeSource{})
	seen := map[string]bool{}
	q := site.Query{Words: "guide", Limit: 10}
	for range 4 {
		found, err := s.Search(t.Context(), q)
		if err != nil || found.Total != 37 {
			t.Fatalf("Search = %+v, %v", found, err)
		}
		for _, r := range found.Results {
			if seen[r.Path] {
				t.Errorf("%s twice", r.Path)
			}
			seen[r.Path] = true
		}
		q.Cursor = found.Next
	}
	if len(seen) != 37 || q.Cursor != "" {
		t.Errorf("%d pages, cursor %q", len(seen), q.Cursor)
	}
}

func TestSearchProblems(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{})
	other, err := s.Search(t.Context(), site.Query{Words: "docs", Limit: 1})
	if err != nil || other.Next == "" {
		t.Fatalf("Search = %+v, %v", other, err)
	}
	for code, q := range map[string]site.Query{
		"query_required": {Words: " -/- "}, "query_too_long": {Words: strings.Repeat("a", 201)},
		"invalid_limit":  {Words: "a", Limit: 51},
		"invalid_cursor": {Words: "setup", Cursor: other.Next},
	} {
		if _, err := s.Search(t.Context(), q); !problem.Is(err, code) {
			t.Errorf("Search(%+v) = %v, want %s", q, err, code)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{offers: goods()})
	tests := []struct {
		name  string
		query site.ReadQuery
		want  string
	}{
		{"by path", site.ReadQuery{Path: "/docs"}, "# Docs\n\nNo heading here.\n"},
		{"without the slash", site.ReadQuery{Path: "docs"}, "# Docs\n\nNo heading here.\n"},
		{"by address", site.ReadQuery{URL: base + "/docs?from=search"}, "# Docs\n\nNo heading here.\n"},
		{
			"by the address of the website",
			site.ReadQuery{URL: "http://old.example/docs"},
			"# Docs\n\nNo heading here.\n",
		},
		{"twin", site.ReadQuery{Path: "/docs.md"}, "# Docs\n\nNo heading here.\n"},
		{"space", site.ReadQuery{Path: "/docs/Getting%20Started"}, "# Start\n"},
		{
			"text",
			site.ReadQuery{Path: "/docs/setup", Format: site.Text},
			"Set it up\n\nRead this (https://shop.example/docs/intro) and [that](x).\n",
		},
		{
			"text with offers",
			site.ReadQuery{Path: "/services", Format: site.Text},
			"Services\n\n- Repair (https://shop.example/products/repair): USD 19.00 once; Sold out\n",
		},
		{"window", site.ReadQuery{Path: "/docs", Offset: 2, Limit: 4}, "Docs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Read(t.Context(), tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Content); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadProblems(t *testing.T) {
	t.Parallel()
	s := world(t, folder(), &fakeSource{})
	tests := []struct {
		name  string
		query site.ReadQuery
		code  string
		kind  problem.Kind
	}{
		{"nothing named", site.ReadQuery{}, "path_required", problem.Invalid},
		{"both named", site.ReadQuery{Path: "/docs", URL: base}, "path_or_url", problem.Invalid},
		{"other host", site.ReadQuery{URL: "https://evil.example/docs"}, "other_host", problem.Forbidden},
		{"metadata address", site.ReadQuery{URL: "http://169.254.169.254/latest"}, "other_host", problem.Forbidden},
		{"file", site.ReadQuery{URL: "file:///etc/passwd"}, "invalid_url", problem.Invalid},
		{"address as path", site.ReadQuery{Path: "https://shop.example/docs"}, "invalid_path", problem.Invalid},
		{"host as path", site.ReadQuery{Path: "//evil.example/docs"}, "invalid_path", problem.Invalid},
		{"climbs", site.ReadQuery{Path: "/../../etc/passwd"}, "path_outside_site", problem.Forbidden},
		{
			"climbs in an address",
			site.ReadQuery{URL: base + "/%2e%2e/%2e%2e/etc"},
			"path_outside_site",
			problem.Forbidden,
		},
		{"private", site.ReadQuery{Path: "/secret"}, "page_private", problem.Forbidden},
		{"a buyer's page", site.ReadQuery{Path: "/checkout/abc/done"}, "page_private", problem.Forbidden},
		{"unknown", site.ReadQuery{Path: "/nope"}, "page_not_found", problem.NotFound},
		{"format", site.ReadQuery{Path: "/docs", Format: "pdf"}, "invalid_format", problem.Invalid},
		{"offset", site.ReadQuery{Path: "/docs", Offset: -1}, "invalid_offset", problem.Invalid},
		{"offset behind the end", site.ReadQuery{Path: "/docs", Offset: 1000}, "invalid_offset", problem.Invalid},
		{"limit", site.ReadQuery{Path: "/docs", Limit: 40_001}, "invalid_limit", problem.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Read(t.Context(), tt.query)
			if p, _ := problem.From(err); err == nil || p.Code != tt.code || p.Kind != tt.kind {
				t.Errorf("Read = %v, want %s", err, tt.code)
			}
		})
	}
}

// TestWindows reads long pages window by window: together they are the page,
// none is longer than it may be, and they end at blocks where they can.
func TestWindows(t *testing.T) {
	t.Parallel()
	long := "# Long\n\n" + strings.Repeat("Ein Absatz mit Umlauten: äöü 東京.\n\n", 4000)
	s := world(t, fstest.MapFS{"long.md": file(long), "wall.md": file("# W\n\n" + strings.Repeat("x", 90_000))},
		&fakeSource{})
	for _, path := range []string{"/long", "/wall"} {
		for _, limit := range []int{0, 999, 40_000, 12_345} {
			var got strings.Builder
			q := site.ReadQuery{Path: path, Limit: limit}
			var total int
			for {
				r, err := s.Read(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if r.Returned != utf8.RuneCountInString(r.Content) || r.Returned > site.MaxRead ||
					limit > 0 && r.Returned > limit {
					t.Fatalf("window of %d has %d characters, says %d", limit, utf8.RuneCountInString(r.Content),
						r.Returned)
				}
				got.WriteString(r.Content)
				total = r.Total
				if !r.Truncated {
					break
				}
				q.Offset = r.NextOffset
			}
			page, err := s.Page(t.Context(), path)
			if err != nil || got.String() != page.Markdown || total != utf8.RuneCountInString(page.Markdown) {
				t.Errorf("%s in windows of %d is not the page", path, limit)
			}
		}
	}
}

// TestDefaultPages keeps the pages that ship with the store whole: every page
// has a title, a description of the right length and enough to say, and every
// link on them leads somewhere.
func TestDefaultPages(t *testing.T) {
	t.Parallel()
	goodsShelf := &fakeSource{offers: goods()}
	catalog := offer.NewCatalog(goodsShelf, goodsShelf, slog.New(slog.DiscardHandler))
	for _, vars := range []site.Vars{
		{Name: "Shop", Operator: "Shop Ltd", BaseURL: base},
		{Name: "Shop", Operator: "Shop Ltd", Address: "1 Road", Contact: "a@b.example", BaseURL: base, Sandbox: true},
	} {
		s := site.New(address(t), []site.Source{site.NewFolder(content.Pages(), address(t), vars)},
			slog.New(slog.DiscardHandler), &site.Options{Offers: site.NewOffers(catalog, base)})
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{
			"/", "/products", "/services", "/docs", "/about", "/contact", "/privacy",
			"/terms", "/refunds", "/support",
		} {
			page, err := s.Page(t.Context(), path)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if n := len(page.Description); n < 50 || n > 320 {
				t.Errorf("%s: description has %d characters", path, n)
			}
			if len(page.Markdown) < 230 || strings.Contains(page.Markdown, "{{") || strings.Contains(page.Markdown,
				"<no value>") || strings.Count("\n"+page.Markdown, "\n# ") != 1 {
				t.Errorf("%s is not whole:\n%s", path, page.Markdown)
			}
			for _, part := range strings.Split(page.Markdown, "]("+base)[1:] {
				to, _, _ := strings.Cut(part, ")")
				clean, err := site.CleanPath(to)
				if err != nil {
					t.Errorf("%s links to %s", path, to)
				}
				if _, err := s.Page(t.Context(), clean); err != nil && !strings.HasPrefix(to, "/agent/") &&
					!strings.HasPrefix(to, "/.well-known/") && !document(to) {
					t.Errorf("%s links to %s: %v", path, to, err)
				}
			}
		}
	}
}

// document reports whether an address is one of the documents that are beside
// the pages of a store; package discovery serves them and follows its own links.
func document(path string) bool {
	switch path {
	case "/openapi.json", "/sitemap.xml", "/llms.txt", "/robots.txt", "/auth.md":
		return true
	}
	return false
}
