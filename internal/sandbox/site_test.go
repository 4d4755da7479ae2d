package sandbox

import (
	"net/http"
	"strings"
	"testing"
)

// TestSite: the practice website, its robots.txt at the root, and the way to it
// from the first page.
func TestSite(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tests := []struct{ path, want string }{
		{"/", `<a href="/site/">website to practise on</a>`},
		{"/robots.txt", "Sitemap: " + w.url + "/site/sitemap.xml"},
		{"/site", "<title>Brackwater Bikes"},
		{"/site/", w.url + "/site/#organization"},
		{"/site/answers", "What is wrong on this practice site"},
		{"/site/assets/site.css", "prefers-color-scheme"},
	}
	for _, tt := range tests {
		res, err := http.Get(w.url + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		body := read(t, res)
		if res.StatusCode != http.StatusOK || !strings.Contains(body, tt.want) {
			t.Errorf("GET %s = %d, lacks %q:\n%.500s", tt.path, res.StatusCode, tt.want, body)
		}
	}
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	var b strings.Builder
	if err := res.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	return b.String()
}
