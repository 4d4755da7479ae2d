package crawl_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"ace/internal/website/crawl"

	"github.com/google/go-cmp/cmp"
)

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParseSitemap(t *testing.T) {
	t.Parallel()
	one := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" ` +
		`xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> https://a.example/1 </loc><lastmod>2026-01-02</lastmod><i:image><i:loc>https://a.example/i.png</i:loc>` +
		`</i:image></url>
<url><loc>https://a.example/2?x=1&amp;y=2</loc><lastmod>yesterday</lastmod></url><url><priority>1</priority></url>` +
		`</urlset>`
	tests := []struct {
		name    string
		data    []byte
		limit   int
		kind    string
		entries []string // address and whether its time was read
		more    []string
		cut     bool
		fault   bool
	}{
		{
			name: "urlset", data: []byte(one), limit: 10, kind: "urlset",
			entries: []string{"https://a.example/1 2026-01-02", "https://a.example/2?x=1&y=2"},
		},
		{
			name: "gzip", data: zipped(t, one), limit: 10, kind: "urlset",
			entries: []string{"https://a.example/1 2026-01-02", "https://a.example/2?x=1&y=2"},
		},
		{name: "broken gzip", data: zipped(t, one)[:60], limit: 10, cut: true, fault: true},
		{
			name: "the limit", data: []byte(one), limit: 1, kind: "urlset",
			entries: []string{"https://a.example/1 2026-01-02"}, cut: true,
		},
		{
			name: "index",
			data: []byte(
				`<?xml version="1.0" encoding="UTF-8"?><sitemapindex><sitemap><loc>https://a.example/s.xml</loc>` +
					`</sitemap></sitemapindex>`,
			), limit: 10, kind: "index", more: []string{"https://a.example/s.xml"},
		},
		{
			name: "charset",
			data: []byte(
				"<?xml version=\"1.0\" " +
					"encoding=\"ISO-8859-1\"?><urlset><url><loc>https://a.example/\xe9</loc></url></urlset>"),
			limit: 10, kind: "urlset", entries: []string{"https://a.example/é"},
		},
		{name: "breaks off", data: []byte(one[:200]), limit: 10, kind: "urlset", fault: true},
		{
			name: "ampersand",
			data: []byte(
				`<urlset><url><loc>https://a.example/1</loc></url><url><loc>https://a.example/?a&b</loc></url>` +
					`</urlset>`,
			), limit: 10, kind: "urlset", entries: []string{"https://a.example/1"}, fault: true,
		},
		{
			name:    "a list of addresses",
			data:    []byte("https://a.example/1\r\n\nhttps://a.example/2\nnonsense"),
			limit:   10,
			kind:    "text",
			entries: []string{"https://a.example/1", "https://a.example/2"},
		},
		{name: "a page", data: []byte("<!doctype html><html><url>x</url></html>"), limit: 10},
		{name: "a text", data: []byte("Not found\nhttps://a.example/"), limit: 10},
		{name: "a feed", data: []byte("<rss><channel/></rss>"), limit: 10},
		{name: "nothing", limit: 10},
		{
			name: "entities",
			data: []byte(
				`<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url>` +
					`<loc>https://a.example/&b;</loc></url></urlset>`,
			), limit: 10, kind: "urlset", fault: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := crawl.ParseSitemap(tt.data, tt.limit)
			var entries []string
			for _, e := range m.Entries {
				text := e.URL
				if !e.Time.IsZero() {
					text += " " + e.Time.Format("2006-01-02")
				}
				entries = append(entries, text)
			}
			if diff := cmp.Diff(tt.entries, entries); diff != "" {
				t.Errorf("Entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.more, m.More); diff != "" {
				t.Errorf("More (-want +got):\n%s", diff)
			}
			if m.Kind != tt.kind || m.Cut != tt.cut || (m.Fault != "") != tt.fault {
				t.Errorf("kind %q, cut %v, fault %q, want %q, %v, %v", m.Kind, m.Cut, m.Fault, tt.kind, tt.cut,
					tt.fault)
			}
		})
	}
}

func TestSitemapBomb(t *testing.T) {
	t.Parallel()
	m := crawl.ParseSitemap(zipped(t,
		"<urlset>"+strings.Repeat(" ", crawl.MaxSitemapText+10)+"<url><loc>https://a.example/</loc></url></urlset>"),
		10)
	if len(m.Entries) != 0 || !m.Cut {
		t.Errorf("a sitemap of more than %d bytes was read to its end: %+v", crawl.MaxSitemapText, m)
	}
}

func FuzzSitemap(f *testing.F) {
	for _, seed := range [][]byte{
		[]byte("<urlset><url><loc>https://a.example/</loc><lastmod>2026-01-01T00:00:00Z</lastmod></url></urlset>"),
		zipped(f, "<sitemapindex><sitemap><loc>x</loc>"),
		[]byte("https://a.example/\n"), []byte("<?xml version='1.0' encoding='utf-16'?><urlset>"),
		{0x1f, 0x8b, 8},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := crawl.ParseSitemap(data, 3)
		if len(m.Entries) > 3 || m.Kind == "" && len(m.Entries)+len(m.More) > 0 {
			t.Errorf("ParseSitemap(%q) = %+v", data, m)
		}
	})
}
