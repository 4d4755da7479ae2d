// Package examples runs every example against the whole binary with its demo
// app. The models are scripted, in the wire formats of their vendors; everything
// else is real: the vendors' own SDKs, the platform, the store, the payment page.
package examples

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ace/test/harness"
)

// modelKey is what the scripted model wants as its API key.
const modelKey = "sk-test"

// world is a running store and platform, shared by all examples. Each example has
// an account of its own.
type world struct {
	store, platform, sandbox string
	binary, dir              string
	model                    string // URL of the scripted model
}

func start(t *testing.T) *world {
	t.Helper()
	store, platform, sandbox := harness.FreeAddr(t), harness.FreeAddr(t), harness.FreeAddr(t)
	w := &world{
		store: "http://" + store, platform: "http://" + platform, sandbox: "http://" + sandbox,
		binary: harness.Build(t, ""), dir: harness.DataDir(t), model: startModel(t),
	}
	p := harness.Start(t, w.binary, []string{
		"ACE_HOSTS=store,platform", "ACE_STORE_ADDR=" + store, "ACE_PLATFORM_ADDR=" + platform,
		"ACE_SANDBOX_ADDR=" + sandbox, "ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + w.dir,
		// Receivers of webhooks listen on loopback, and all examples have one address.
		"ACE_EGRESS_ALLOW=127.0.0.0/8", "ACE_RATE_LIMIT=off",
	}, "serve")
	if !p.Ready(w.platform+"/healthz") || !p.Ready(w.store+"/healthz") {
		t.Fatal("ace did not start")
	}
	return w
}

// ace runs a command of the operator.
func (w *world) ace(t *testing.T, args ...string) string {
	t.Helper()
	p := harness.Start(t, w.binary, []string{"ACE_DATA_DIR=" + w.dir, "ACE_PLATFORM_URL=" + w.platform}, args...)
	<-p.Ended()
	if p.Code() != 0 {
		t.Fatalf("ace %s: %s", strings.Join(args, " "), p.Output())
	}
	return p.Stdout()
}

// account is an account with a key, and its owner's signed-in browser.
type account struct {
	*world
	name  string // also of the person at the demo app, whose notes nobody else has
	key   string
	owner *browser
}

func (w *world) account(t *testing.T) *account {
	t.Helper()
	_, name, _ := strings.Cut(strings.ToLower(t.Name()), "/")
	name = regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(name, "-")
	name = name[:min(len(name), 40)]
	said := w.ace(t, "account", "create", name)
	link := regexp.MustCompile(`http\S+/sign-in/\S+`).FindString(said)
	a := &account{world: w, name: name, owner: newBrowser(t)}
	a.key = regexp.MustCompile(`ace_[0-9A-Za-z]{36}`).FindString(w.ace(t, "key", "create", "--account", name, "--json"))
	if link == "" || a.key == "" {
		t.Fatalf("account %s: link %q, key %q\n%s", name, link, a.key, said)
	}
	a.owner.post(t, link, url.Values{})
	return a
}

// call calls the platform with the account's key and decodes the response.
func (a *account) call(t *testing.T, method, path, body string, into any) {
	t.Helper()
	status, answer, err := harness.Call(t, method, a.platform+"/api/v1"+path, body, "Authorization", "Bearer "+a.key)
	if err != nil || status >= 300 {
		t.Fatalf("%s %s: %d, %v\n%s", method, path, status, err, answer)
	}
	if err := json.Unmarshal([]byte(answer), into); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
	}
}

// notes are the titles of the account's notes in the demo app.
func (a *account) notes(t *testing.T, user string) []string {
	t.Helper()
	var run struct {
		Output struct{ Notes []struct{ Title string } }
	}
	a.call(t, http.MethodPost, "/tools/demo_notes__list_notes/run", `{"arguments":{},"end_user":"`+user+`"}`, &run)
	var titles []string
	for _, note := range run.Output.Notes {
		titles = append(titles, note.Title)
	}
	slices.Sort(titles)
	return titles
}

// browser is a person's browser without scripts: it keeps cookies and follows
// redirects.
type browser struct{ http *http.Client }

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{&http.Client{Jar: jar}}
}

func (b *browser) get(t *testing.T, address string) (status int, page string) {
	t.Helper()
	return b.send(t, http.MethodGet, address, nil)
}

// post sends the form of a page.
func (b *browser) post(t *testing.T, address string, form url.Values) (status int, page string) {
	t.Helper()
	return b.send(t, http.MethodPost, address, form)
}

func (b *browser) send(t *testing.T, method, address string, form url.Values) (status int, page string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", request.URL.Scheme+"://"+request.URL.Host)
	}
	response, err := b.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// connect creates a key at the demo app and types it into the page behind a
// connect link.
func (a *account) connect(t *testing.T, b *browser, link string) {
	t.Helper()
	_, page := b.post(t, a.sandbox+"/notes/keys", url.Values{"person": {a.name}})
	key := regexp.MustCompile(`nk_[A-Z2-7]+`).FindString(page)
	b.get(t, link)
	if _, page = b.post(t, link, url.Values{"scheme": {"key"}, "field.key": {key}}); !strings.Contains(page,
		"Demo Notes is connected") {
		t.Fatalf("the page of %s says:\n%s", link, page)
	}
}

// program is an example that runs. It says one line at a time.
type program struct {
	name  string
	cmd   *exec.Cmd
	stop  context.CancelFunc
	in    io.WriteCloser
	lines *bufio.Scanner
	errs  bytes.Buffer // complete once the program has ended
}

// run starts a program with further variables (NAME=value). It is killed when the
// test ends, or where it hangs.
func run(t *testing.T, dir string, env []string, command ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	p := &program{
		name: filepath.Base(command[len(command)-1]), cmd: exec.CommandContext(ctx, command[0], command[1:]...),
		stop: cancel,
	}
	p.cmd.Dir, p.cmd.Stderr = dir, &p.errs
	p.cmd.Env = append(os.Environ(), env...)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	return p
}

// kill ends the program, if it still runs, and returns how it ended and what it
// wrote to its standard error.
func (p *program) kill() string {
	p.stop()
	err := p.cmd.Wait()
	return fmt.Sprintf("%v\n%s", err, p.errs.String())
}

// read returns the next line, which has to start with prefix, without it.
func (p *program) read(t *testing.T, prefix string) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("%s ended instead of saying %q: %s", p.name, prefix, p.kill())
	}
	rest, ok := strings.CutPrefix(p.lines.Text(), prefix)
	if !ok {
		t.Fatalf("%s says %q, want %q", p.name, p.lines.Text(), prefix)
	}
	return rest
}

func (p *program) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatalf("%s: %v: %s", p.name, err, p.kill())
	}
}

// end waits for the end of the program, which has to succeed.
func (p *program) end(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	for p.lines.Scan() {
		t.Errorf("%s also says %q", p.name, p.lines.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s", p.name, err, p.errs.String())
	}
}
