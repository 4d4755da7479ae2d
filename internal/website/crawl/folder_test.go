package crawl_test

import (
	"testing"

	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
)

// TestSampleOfAFolder: a website in a folder has clusters of its
// own, and is not one cluster.
func TestSampleOfAFolder(t *testing.T) {
	t.Parallel()
	paths := []string{"/shop/lamps/a", "/shop/lamps/b", "/shop/about", "/shop/contact", "/shop/guides/a", "/other"}
	answers := map[string]crawltest.Answer{"/shop/": page("Shop", paths...)}
	for _, p := range paths {
		answers[p] = page(p)
	}
	s, err := crawl.Open(t.Context(), site(answers), base+"/shop/", quick())
	if err != nil {
		t.Fatal(err)
	}
	pages, err := s.Sample(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) != 1+len(paths) {
		t.Errorf("Sample read %d pages, want all %d", len(pages), 1+len(paths))
	}
	clusters := map[string]bool{}
	for _, p := range pages[1:] {
		clusters[p.Cluster] = true
	}
	for _, want := range []string{"lamps", "about", "contact", "guides", "other"} {
		if !clusters[want] {
			t.Errorf("the clusters are %v, want %s among them", clusters, want)
		}
	}
}
