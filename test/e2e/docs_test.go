package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// The shell blocks of the documents are run unchanged, in a folder of
// their own. A comment before a block says what it is:
//
//	<!-- run -->             the sh block is run; variables, and functions of one
//	                         line, live on in the next
//	<!-- prints -->          the text block is printed by it: each line, with …
//	                         for anything
//	<!-- a person pays -->   the session whose id is in the variable ID is paid
type step struct {
	line   int
	script string   // empty: a person pays
	want   []string // lines that the script prints
}

func readSteps(t *testing.T, path string) []step {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	mark, inside := "", false
	var block []string
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case inside && line == "```":
			inside = false
			switch mark {
			case "run":
				steps = append(steps, step{line: i + 1, script: strings.Join(block, "\n")})
			case "prints":
				if len(steps) == 0 {
					t.Fatalf("%s:%d: nothing was run that could print this", path, i+1)
				}
				steps[len(steps)-1].want = block
			}
			mark, block = "", nil
		case inside:
			block = append(block, line)
		case strings.HasPrefix(line, "```"):
			inside = true
		case line == "<!-- a person pays -->":
			steps = append(steps, step{line: i + 1})
		case line == "<!-- run -->" || line == "<!-- prints -->":
			mark = strings.TrimSuffix(strings.TrimPrefix(line, "<!-- "), " -->")
		}
	}
	return steps
}

// printed turns a line of a document into a pattern.
func printed(line string) *regexp.Regexp {
	var parts []string
	for part := range strings.SplitSeq(line, "…") {
		var words []string
		for word := range strings.SplitSeq(part, " ") {
			if word != "" {
				words = append(words, regexp.QuoteMeta(word))
			}
		}
		parts = append(parts, strings.Join(words, ` +`))
	}
	return regexp.MustCompile(strings.Join(parts, `[^\n]*`))
}

// reader follows a document in a shell.
type reader struct {
	*world
	state     string // file with the shell's variables
	functions string // of the blocks before
	platform  string
}

// function finds the functions that a block defines.
var function = regexp.MustCompile(`(?m)^[a-z]+\(\) \{ .* \}\n`)

func (r *reader) sh(script string) (string, error) {
	r.t.Helper()
	script = strings.NewReplacer("http://127.0.0.1:8080", r.store, "http://127.0.0.1:8082", r.sandbox.URL,
		"http://127.0.0.1:8081", r.platform, "bin/ace", r.binary).Replace(script)
	cmd := exec.Command("sh", "-c", "set -eu; set -a; . "+r.state+"\n"+r.functions+script+"\nexport -p > "+r.state)
	cmd.Dir = filepath.Dir(r.state)
	cmd.Env = append(os.Environ(), "ACE_STORE_URL="+r.store, "ACE_PLATFORM_URL="+r.platform, "ACE_DATA_DIR="+r.dir,
		"ACE_ADMIN_ADDR=")
	out, err := cmd.CombinedOutput()
	r.functions += strings.Join(function.FindAllString(script, -1), "")
	return string(out), err
}

// pay plays the person: it opens the link of the session that the reader has
// in the variable ID.
func (r *reader) pay() {
	r.t.Helper()
	id, err := r.sh(`printf %s "$ID"`)
	if err != nil {
		r.t.Fatal(err)
	}
	_, s := r.call(http.MethodGet, overUCP+"/"+id, "")
	if s.ContinueURL == "" {
		r.t.Fatalf("session %q has no continue_url: %+v", id, s)
	}
	person := sandboxtest.NewPerson(r.t, nil)
	paid := person.Pay(s.ContinueURL, sandboxtest.CardOK)
	if paid.Status != http.StatusSeeOther {
		r.t.Fatalf("paying answered %d:\n%s", paid.Status, paid.Body)
	}
	// As a browser does, the person comes back to the store, which then knows of
	// the payment before its webhook arrives.
	if back := person.Get(paid.Location); back.Status != http.StatusOK {
		r.t.Fatalf("coming back answered %d:\n%s", back.Status, back.Body)
	}
}

// TestDocuments runs the blocks of the documents against the real binary.
func TestDocuments(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("no curl was found; install it: the documents use it")
	}
	for name, least := range map[string]int{
		"README.md": 9, "docs/commerce.md": 5, "docs/a2a.md": 6,
		"docs/paid-services.md": 2, "docs/platform.md": 19,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := readSteps(t, filepath.Join("..", "..", filepath.FromSlash(name)))
			if len(steps) < least {
				t.Fatalf("%d steps were found, want at least %d", len(steps), least)
			}
			platform := harness.FreeAddr(t)
			r := &reader{
				world: start(t, "ACE_HOSTS=store,platform", "ACE_PLATFORM_ADDR="+platform),
				state: filepath.Join(t.TempDir(), "state"), platform: "http://" + platform,
			}
			if err := os.WriteFile(r.state, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, s := range steps {
				if s.script == "" {
					r.pay()
					continue
				}
				out, err := r.sh(s.script)
				if err != nil {
					t.Fatalf("%s:%d: %v\n%s", name, s.line, err, out)
				}
				for _, want := range s.want {
					want = strings.NewReplacer("http://127.0.0.1:8080", r.store, "http://127.0.0.1:8081", r.platform,
						"http://127.0.0.1:8082", r.sandbox.URL).Replace(want)
					if !printed(want).MatchString(out) {
						t.Errorf("%s:%d prints\n%s\nwant a line like %q", name, s.line, out, want)
					}
				}
			}
		})
	}
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line, out string
		want      bool
	}{
		{`…"status":"open"…`, `{"id":"a","status":"open","x":1}`, true},
		{`…"status":"open"…`, `{"status":"paid"}`, false},
		{"ORDER … STATUS", "ORDER   WHEN   STATUS\n", true},
		{"a … b", "a\nb", false},
		{"1 (2)", "x 1  (2) y", true},
	}
	for _, tt := range tests {
		if got := printed(tt.line).MatchString(tt.out); got != tt.want {
			t.Errorf("printed(%q) finds %q: %v, want %v", tt.line, tt.out, got, tt.want)
		}
	}
}
