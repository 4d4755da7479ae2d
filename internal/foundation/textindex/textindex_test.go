package textindex_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/textindex"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []string
	}{
		{"/docs/Getting-Started", []string{"doc", "getting", "started"}},
		{"gettingStarted_now", []string{"getting", "started", "now"}},
		{"API", []string{"api"}},
		{"v2.1", []string{"v", "2", "1"}},
		{"iphone15", []string{"iphone", "15"}},
		{"Café Zürich", []string{"cafe", "zurich"}},
		{"cafe\u0301", []string{"cafe"}},
		{"categories boxes classes addresses glasses", []string{"category", "box", "class", "address", "glass"}},
		{"status analysis bus gas", []string{"status", "analysis", "bus", "gas"}},
		{"東京都", []string{"東京", "京都"}},
		{"水 tap", []string{"水", "tap"}},
		{"ﬁle", []string{"file"}},
		{"", nil},
		{"--/--", nil},
		{strings.Repeat("a", 60), []string{strings.Repeat("a", 40)}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, textindex.Words(tt.in)); diff != "" {
				t.Errorf("Words(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// paths indexes paths as a site does: the last part of a path counts most.
func paths(all ...string) *textindex.Index {
	return textindex.New(len(all), func(i int, add textindex.Add) {
		dir, last := "", all[i]
		if at := strings.LastIndexByte(all[i], '/'); at >= 0 {
			dir, last = all[i][:at], all[i][at:]
		}
		add(last, 1)
		add(dir, 0.6)
	})
}

func TestSearchRanks(t *testing.T) {
	t.Parallel()
	all := []string{
		"/pricing", "/docs", "/docs/setup", "/docs/api/pricing", "/blog/prices-2026", "/products/wall-lamps",
		"/products/desk-lamp",
		"/support/refund-policy", "/docs/site-map", "/docs/getting-started",
	}
	x := paths(all...)
	tests := []struct {
		name, query string
		want        []string
	}{
		{"exact", "pricing", []string{"/pricing", "/docs/api/pricing"}},
		{
			"last part before folder", "docs",
			[]string{"/docs", "/docs/setup", "/docs/api/pricing", "/docs/site-map", "/docs/getting-started"},
		},
		{"plural finds singular", "lamps", []string{"/products/wall-lamps", "/products/desk-lamp"}},
		{"singular finds plural", "price", []string{"/blog/prices-2026"}},
		{"beginning of the last word", "ref", []string{"/support/refund-policy"}},
		{"letter replaced", "refumd", []string{"/support/refund-policy"}},
		{"letters swapped", "pirce", []string{"/blog/prices-2026"}},
		{"letter missing", "polcy", []string{"/support/refund-policy"}},
		{"letter added", "laamp", []string{"/products/wall-lamps", "/products/desk-lamp"}},
		{"in two", "set up", []string{"/docs/setup"}},
		{"in one", "sitemap", []string{"/docs/site-map"}},
		{"every word first", "docs pricing", []string{
			"/docs/api/pricing", "/pricing", "/docs", "/docs/setup",
			"/docs/site-map", "/docs/getting-started",
		}},
		{"order of words is no matter", "pricing docs", []string{
			"/docs/api/pricing", "/pricing", "/docs",
			"/docs/setup", "/docs/site-map", "/docs/getting-started",
		}},
		{"unknown", "zebra", nil},
		{"too short to guess", "zzz", nil},
		{"nothing", " - ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, h := range x.Search(tt.query, 10, nil).Hits {
				got = append(got, all[h.Entry])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Search(%q) (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

func TestSearchScores(t *testing.T) {
	t.Parallel()
	x := paths("/a/lamp", "/lamp/b")
	hits := x.Search("lamp", 10, nil).Hits
	if len(hits) != 2 || hits[0].Score != 1 || hits[1].Score >= 1 || hits[1].Score <= 0 {
		t.Errorf("Search = %+v, want 1 for the last part and less for the folder", hits)
	}
	if got := x.Search("lamp", 0, nil); got.Total != 0 || len(got.Hits) != 0 {
		t.Errorf("Search with limit 0 = %+v, want nothing", got)
	}
	if got := x.Len(); got != 2 {
		t.Errorf("Len = %d, want 2", got)
	}
}

// TestPages reads all pages of a list, of any size, and gets each entry once
// and in the order of one large page.
func TestPages(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("/%s/item-%d", []string{"lamp", "desk", "wall-lamp"}[i%3], i))
	}
	x := paths(all...)
	whole := x.Search("wall lamp item", 1000, nil)
	if whole.More || whole.Total != 300 || len(whole.Hits) != 300 {
		t.Fatalf("one page = %d hits of %d, more %v", len(whole.Hits), whole.Total, whole.More)
	}
	for _, size := range []int{1, 7, 100, 299, 300} {
		var got []textindex.Hit
		var after *textindex.Hit
		for {
			page := x.Search("wall lamp item", size, after)
			got = append(got, page.Hits...)
			if !page.More {
				break
			}
			after = &page.Hits[len(page.Hits)-1]
		}
		if diff := cmp.Diff(whole.Hits, got); diff != "" {
			t.Errorf("pages of %d (-one page +pages):\n%s", size, diff)
		}
	}
}

func TestManyWords(t *testing.T) {
	t.Parallel()
	x := paths("/ab/cd", "/alpha/beta")
	query := "alphabeta abcdefgh" // comes apart into two known words
	for i := range 40 {
		query += fmt.Sprintf(" word%c", 'a'+rune(i%26))
	}
	got := x.Search(query, 5, nil)
	if got.Total == 0 || got.Hits[0].Entry != 1 {
		t.Errorf("Search of many words = %+v, want entry 1", got)
	}
}

func TestSameAnswerEachTime(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf("/red/blue/green-%d", i%7))
	}
	x := paths(all...)
	want := x.Search("red gren", 20, nil)
	var wait [8]chan textindex.Result
	for i := range wait {
		wait[i] = make(chan textindex.Result, 1)
		go func() { wait[i] <- x.Search("red gren", 20, nil) }()
	}
	for i := range wait {
		if diff := cmp.Diff(want, <-wait[i]); diff != "" {
			t.Errorf("answers differ:\n%s", diff)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{
		"docs", "pirce lamp", "東京 x", "\xff\xfe", "a b c d e f g h i j k l m n o p q r s t u",
		"'", strings.Repeat("lamp", 100),
	} {
		f.Add(seed)
	}
	all := []string{"/docs/setup", "/products/lamp", "/東京/price", "/a/b/c/d/e"}
	x := paths(all...)
	f.Fuzz(func(t *testing.T, query string) {
		r := x.Search(query, 3, nil)
		if len(r.Hits) > 3 || r.Total < len(r.Hits) || r.More != (r.Total > len(r.Hits)) {
			t.Errorf("Search(%q) = %+v", query, r)
		}
		for _, h := range r.Hits {
			if h.Score <= 0 || h.Score > 1 || h.Entry < 0 || h.Entry >= len(all) {
				t.Errorf("Search(%q): hit %+v", query, h)
			}
		}
		if !slices.IsSortedFunc(r.Hits, func(a, b textindex.Hit) int {
			if a.Whole == b.Whole && a.Score > b.Score {
				return -1
			}
			return 0
		}) {
			t.Errorf("Search(%q) is not sorted: %+v", query, r.Hits)
		}
	})
}

// bigSite makes the paths of a large site: sections, subjects and names, with
// the spread of words that real sites have.
func bigSite(n int) []string {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // not a secret
	syllables := []string{
		"ba", "ko", "ri", "ten", "mo", "sla", "fi", "gor", "nu", "pe", "dra", "vi", "lon", "ca",
		"ster",
	}
	vocabulary := make([]string, 30_000)
	for i := range vocabulary {
		var b strings.Builder
		for range 2 + random.IntN(3) {
			b.WriteString(syllables[random.IntN(len(syllables))])
		}
		vocabulary[i] = b.String()
	}
	sections := []string{"docs", "blog", "products", "help", "guides", "api", "news", "shop"}
	zipf := rand.NewZipf(random, 1.1, 4, uint64(len(vocabulary)-1))
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("/%s/%s/%s-%s-%s-%d", sections[random.IntN(len(sections))], vocabulary[zipf.Uint64()],
			vocabulary[zipf.Uint64()], vocabulary[zipf.Uint64()], vocabulary[random.IntN(len(vocabulary))], i)
	}
	return all
}
