package ace_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what the tests look at in a file of .github/workflows.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		Timeout int `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

var (
	makeTarget   = regexp.MustCompile(`(?m)^([a-z]+):`)
	makeCall     = regexp.MustCompile(`\bmake (?:-C \S+ )?([a-z]+)`)
	pinnedAction = regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+(\.\d+){0,2}$`)
)

// TestWorkflows holds the files of continuous integration to the Makefile: what
// they run can be run on any machine.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, m[1])
	}
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	called := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s has permissions %v, want contents: read alone", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout", name, id)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinnedAction.MatchString(step.Uses) {
					t.Errorf("%s uses %s, want a version tag", name, step.Uses)
				}
				for _, m := range makeCall.FindAllStringSubmatch(step.Run, -1) {
					called[m[1]] = true
					if !slices.Contains(targets, m[1]) {
						t.Errorf("%s calls make %s, which the Makefile does not have", name, m[1])
					}
				}
			}
		}
	}
	for _, target := range []string{"check", "test", "build"} {
		if !called[target] {
			t.Errorf("no workflow calls make %s", target)
		}
	}
}

// TestSecurityPolicy holds SECURITY.md to what operations promise.
func TestSecurityPolicy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"3 working days", "30 days", "90 days", "last two minor versions", "Out of scope", "/.well-known/security.txt",
		"ACE_SECURITY_CONTACT", "ace version",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("SECURITY.md does not say %q", want)
		}
	}
	owners, err := os.ReadFile(".github/CODEOWNERS")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(owners)) {
		path, _, _ := strings.Cut(line, " ")
		if path = strings.Trim(strings.TrimSpace(path), "/"); path == "" || path == "*" || path == "#" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("CODEOWNERS names %s, which is not there", path)
		}
	}
}
