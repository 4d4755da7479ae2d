package e2e

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
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
//	<!-- a person connects --> the connect link that was printed last is opened, by
//	                         somebody who is signed in to the account
//	<!-- run, a person connects --> the same while the sh block runs
type step struct {
	line   int
	action action
	script string
	want   []string // lines that the script prints
}

type action string

const (
	runs      action = "run"
	runsMeets action = "run, a person connects"
	pays      action = "a person pays"
	connects  action = "a person connects"
)

const prints = "prints"

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
			case string(runs), string(runsMeets):
				steps = append(steps, step{line: i + 1, action: action(mark), script: strings.Join(block, "\n")})
			case prints:
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
		case strings.HasPrefix(line, "<!-- "):
			mark = strings.TrimSuffix(strings.TrimPrefix(line, "<!-- "), " -->")
			if does := action(mark); does == pays || does == connects {
				steps = append(steps, step{line: i + 1, action: does})
			}
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
	person    *person
	link      string // connect link that was printed last
}

// connectLink finds the links that a person opens to connect an app.
var connectLink = regexp.MustCompile(`http://[^"\s]+/connect/[A-Za-z0-9_-]+`)

// function finds the functions that a block defines.
var function = regexp.MustCompile(`(?m)^[a-z]+\(\) \{ .* \}\n`)

// sh runs a block. meet, if not nil, is called with the first connect link that
// the block prints, while it runs.
func (r *reader) sh(script string, meet func(link string)) (string, error) {
	r.t.Helper()
	script = strings.NewReplacer("http://127.0.0.1:8080", r.store, "http://127.0.0.1:8082", r.sandbox.URL,
		"http://127.0.0.1:8081", r.platform, "bin/ace", r.binary).Replace(script)
	cmd := exec.CommandContext(r.t.Context(), "sh", "-c",
		"set -eu; set -a; . "+r.state+"\n"+r.functions+script+"\nexport -p > "+r.state)
	cmd.Dir = filepath.Dir(r.state)
	cmd.Env = append(
		os.Environ(),
		"ACE_STORE_URL="+r.store,
		"ACE_PLATFORM_URL="+r.platform,
		"ACE_DATA_DIR="+r.dir,
		"ACE_ADMIN_ADDR=",
		"NODE_PATH="+os.Getenv("ACE_SDK_MODULES"),
		"PATH="+filepath.Dir(os.Getenv("ACE_NODE"))+":"+os.Getenv("PATH"),
		"npm_config_audit=false",
		"npm_config_fund=false",
		"npm_config_update_notifier=false",
		"PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_NO_INDEX=1",
	)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var said strings.Builder
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if link := connectLink.FindString(line); link != "" {
			r.link = link
			if meet != nil {
				meet(link)
				meet = nil
			}
		}
		if err != nil { // the block has ended
			break
		}
	}
	err = cmd.Wait()
	r.functions += strings.Join(function.FindAllString(script, -1), "")
	return said.String(), err
}

// person is who opens connect links: signed in to the account demo, in a browser
// without scripts.
type person struct {
	*reader
	client *http.Client
}

func (r *reader) signIn() *person {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	p := &person{r, &http.Client{Jar: jar}}
	said, err := r.sh("bin/ace account link demo", nil)
	link := regexp.MustCompile(`http\S+/sign-in/\S+`).FindString(said)
	if err != nil || link == "" {
		r.t.Fatalf("ace account link: %v\n%s", err, said)
	}
	p.send(http.MethodPost, link, url.Values{})
	return p
}

func (p *person) send(method, address string, form url.Values) string {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", request.URL.Scheme+"://"+request.URL.Host)
	}
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

// connect types a key of the demo app into the page of a link.
func (p *person) connect(link string) {
	p.t.Helper()
	page := p.send(http.MethodPost, p.sandbox.URL+"/notes/keys", url.Values{"person": {"Ann"}})
	key := regexp.MustCompile(`nk_[A-Z2-7]+`).FindString(page)
	p.send(http.MethodGet, link, nil)
	page = p.send(http.MethodPost, link, url.Values{"scheme": {"key"}, "field.key": {key}})
	if !strings.Contains(page, "Demo Notes is connected") {
		p.t.Fatalf("the page of %s says:\n%s", link, page)
	}
}

// pay plays the person: it opens the link of the session that the reader has
// in the variable ID.
func (r *reader) pay() {
	r.t.Helper()
	id, err := r.sh(`printf %s "$ID"`, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	_, s := r.call(http.MethodGet, overUCP+"/"+id, "")
	if s.ContinueURL == "" {
		r.t.Fatalf("session %q has no continue_url: %+v", id, s)
	}
	buyer := sandboxtest.NewPerson(r.t, nil)
	paid := buyer.Pay(s.ContinueURL, sandboxtest.CardOK)
	if paid.Status != http.StatusSeeOther {
		r.t.Fatalf("paying answered %d:\n%s", paid.Status, paid.Body)
	}
	// As a browser does, the person comes back to the store, which then knows of
	// the payment before its webhook arrives.
	if back := buyer.Get(paid.Location); back.Status != http.StatusOK {
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
		"README.md": 15, "docs/commerce.md": 5, "docs/a2a.md": 6, "docs/mcp.md": 1, "docs/buying.md": 1,
		"docs/paid-services.md": 2, "docs/platform.md": 22,
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
			r.prepare()
			for _, s := range steps {
				var meet func(string)
				switch s.action {
				case pays:
					r.pay()
					continue
				case connects:
					r.person.connect(r.link)
					continue
				case runsMeets:
					meet = r.person.connect
				}
				out, err := r.sh(s.script, meet)
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

// prepare puts beside the reader what the blocks find in the repository, and the
// packages that npx would load from a registry.
func (r *reader) prepare() {
	r.t.Helper()
	dir := filepath.Dir(r.state)
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../../examples")); err != nil {
		r.t.Fatal(err)
	}
	if modules := os.Getenv("ACE_NODE_MODULES"); modules != "" {
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			r.t.Fatal(err)
		}
	}
	r.person = r.signIn()
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
