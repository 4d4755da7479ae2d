package readiness

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// afdocsPath finds the package among the installed ones.
func afdocsPath(t *testing.T) (node, script string) {
	t.Helper()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip(
			"left out: ACE_NODE and ACE_NODE_MODULES are not set; scripts/install-test-needs node installs afdocs " +
				"and says where")
	}
	return node, filepath.Join(modules, "afdocs", "bin", "afdocs.mjs")
}

// doNotApply are the checks that have nothing to look at here, and why.
func doNotApply() map[string]string {
	return map[string]string{
		"auth-alternative-access": "no page needs a sign-in, so none needs another way in",
	}
}

// TestAfdocs lets afdocs read the pages of a running store. It makes some two
// hundred requests at once, so the limit is off. Every check that applies gets
// its best grade.
func TestAfdocs(t *testing.T) {
	t.Parallel()
	node, script := afdocsPath(t)
	s := start(t, "ACE_RATE_LIMIT=off")
	cmd := exec.CommandContext(t.Context(), node, script, "check", s.base, "-f", "json", "-q", "--score", "--sampling",
		"deterministic", "--network-context", "ci")
	cmd.Dir = t.TempDir() // a settings file of its own elsewhere is not meant
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	failed := cmd.Run()
	var report struct {
		Results []struct{ ID, Status, Message string }
		Scoring struct {
			Overall        float64
			Grade          string
			CategoryScores map[string]struct {
				Score float64
				Grade string
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("afdocs: %v, %v\n%s\n%s", failed, err, out.String(), faults.String())
	}
	left := doNotApply()
	for _, r := range report.Results {
		reason, skipped := left[r.ID]
		delete(left, r.ID)
		t.Logf("%-30s %s: %s", r.ID, r.Status, r.Message)
		switch {
		case skipped && r.Status != "skip":
			t.Errorf("%s is %s, and was not to apply: %s", r.ID, r.Status, reason)
		case !skipped && r.Status != "pass":
			t.Errorf("%s is %s: %s", r.ID, r.Status, r.Message)
		}
	}
	if len(report.Results) < 28 || len(left) > 0 {
		t.Errorf("%d checks, and not among them %v", len(report.Results), left)
	}
	t.Logf("%v of 100, %s", report.Scoring.Overall, report.Scoring.Grade)
	if report.Scoring.Overall != 100 || report.Scoring.Grade != "A+" {
		t.Errorf("grade %s with %v of 100, want A+ with 100", report.Scoring.Grade, report.Scoring.Overall)
	}
	for name, c := range report.Scoring.CategoryScores {
		if c.Score != 100 {
			t.Errorf("category %s: %v of 100", name, c.Score)
		}
	}
}
