package upstream

import (
	"strings"
	"testing"
	"time"
)

func FuzzParseSitemap(f *testing.F) {
	for _, seed := range []string{
		"<urlset><url><loc>https://a.example/</loc><lastmod>2026-01-02</lastmod></url></urlset>",
		"<sitemapindex><sitemap><loc>x</loc></sitemap></sitemapindex>",
		"\x1f\x8b\x08\x00", "<!DOCTYPE x [<!ENTITY a \"b\">]><urlset><url><loc>&a;</loc></url></urlset>",
		"<?xml version=\"1.0\" encoding=\"utf-16\"?><urlset>", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseSitemap(strings.NewReader(text), time.Now())
		if err != nil {
			return
		}
		for _, p := range file.pages {
			if p.address == "" || p.modified.After(time.Now().Add(25*time.Hour)) {
				t.Errorf("parseSitemap(%q) holds %+v", text, p)
			}
		}
	})
}

func TestLastmod(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := map[string]string{
		"2026-11-20": "2026-11-20T00:00:00Z", " 2026-11-20T10:00:00+02:00 ": "2026-11-20T08:00:00Z",
		"2026-11-20T10:00Z": "2026-11-20T10:00:00Z", "2026-11": "2026-11-01T00:00:00Z",
		"2026": "2026-01-01T00:00:00Z", "2026-11-23": "", "yesterday": "", "": "", "1970-01-01": "",
	}
	for text, want := range tests {
		got := lastmod(text, now)
		if got.IsZero() != (want == "") || want != "" && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("lastmod(%q) = %v, want %q", text, got, want)
		}
	}
}
