package readiness_test

import (
	"testing"

	"ace/internal/website/readiness"
)

// TestClean: a website without a fault has no finding, whatever is measured.
func TestClean(t *testing.T) {
	t.Parallel()
	r := audit(t, cleanWeb(t), nil)
	for _, c := range r.Checks {
		if c.Status == readiness.Pass {
			continue
		}
		for _, row := range c.Pages {
			if row.Status != readiness.Pass {
				t.Logf("%s %s %s: %s", c.ID, row.Status, row.URL, row.Observed)
			}
		}
		if c.Status != readiness.NA {
			t.Errorf("%s = %s", c.ID, c.Status)
		}
	}
	if r.Score != 100 || r.Grade != "A" || r.Coverage != 1 || r.Provisional || r.Status != readiness.Complete ||
		len(r.Caps) != 0 {
		t.Errorf("score %d, grade %s, coverage %v, status %s, caps %v", r.Score, r.Grade, r.Coverage, r.Status, r.Caps)
	}
	for _, p := range r.Pages {
		t.Logf("%s %d words, score %d, %v", p.URL, p.WordsMain, p.Score, p.Types)
	}
}
