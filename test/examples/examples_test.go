package examples

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/browsertest"
	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// languages run the examples of one language: a function for each, which returns
// the command of an example and what has to be in its environment.
func languages(t *testing.T, w *world) map[string]func(t *testing.T, file string, args ...string) ([]string, []string) {
	t.Helper()
	built := t.TempDir()
	return map[string]func(t *testing.T, file string, args ...string) ([]string, []string){
		"javascript": func(t *testing.T, file string, args ...string) ([]string, []string) {
			t.Helper()
			path := filepath.Join(javascript(t, w), file)
			return append([]string{variable(t, "ACE_NODE"), path}, args...), nil
		},
		"python": func(t *testing.T, file string, args ...string) ([]string, []string) {
			t.Helper()
			wheel := filepath.Join(t.TempDir(), "ace-1.0.0-py3-none-any.whl")
			save(t, w.platform+"/sdk/ace-1.0.0-py3-none-any.whl", wheel)
			env := []string{"PYTHONPATH=" + wheel, "PYTHONDONTWRITEBYTECODE=1"}
			path := absolute(t, "../../examples/python/"+file)
			return append([]string{variable(t, "ACE_EXAMPLES_PYTHON"), path}, args...), env
		},
		"go": func(t *testing.T, folder string, args ...string) ([]string, []string) {
			t.Helper()
			path := filepath.Join(built, folder)
			build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./"+folder)
			build.Dir = "../../examples/go"
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return append([]string{path}, args...), nil
		},
	}
}

func variable(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("left out: %s is not set (scripts/install-test-needs)", name)
	}
	return value
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// save downloads a file.
func save(t *testing.T, address, path string) {
	t.Helper()
	_, body, err := harness.Call(t, http.MethodGet, address, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// javascript is a folder with the JavaScript examples, beside the client that the
// platform serves and the packages that package.json names.
func javascript(t *testing.T, w *world) string {
	t.Helper()
	dir := t.TempDir()
	client := filepath.Join(dir, "node_modules", "ace")
	if err := os.CopyFS(dir, os.DirFS("../../examples/javascript")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(client, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, modules := range map[string]string{
		"openai": "ACE_SDK_MODULES", "@anthropic-ai": "ACE_SDK_MODULES", "express": "ACE_NODE_MODULES",
	} {
		from := filepath.Join(variable(t, modules), name)
		if err := os.Symlink(from, filepath.Join(dir, "node_modules", name)); err != nil {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(dir, "ace.tgz")
	save(t, w.platform+"/sdk/ace-1.0.0.tgz", archive)
	unpack := exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", client, "--strip-components=1")
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// environment is what an example reads of its environment.
func (a *account) environment(more ...string) []string {
	return append([]string{
		"ACE_API_KEY=" + a.key, "ACE_PLATFORM_URL=" + a.platform, "OPENAI_API_KEY=" + modelKey,
		"OPENAI_BASE_URL=" + a.model + "/v1", "ANTHROPIC_API_KEY=" + modelKey, "ANTHROPIC_BASE_URL=" + a.model,
		"LANGSMITH_TRACING=false",
	}, more...)
}

// TestExamples runs all examples against one binary.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := start(t)
	commands := languages(t, w)
	each := func(t *testing.T, files map[string][]string,
		test func(t *testing.T, command func(t *testing.T, args ...string) ([]string, []string)),
	) {
		t.Helper()
		for _, language := range slices.Sorted(maps.Keys(files)) {
			for _, file := range files[language] {
				t.Run(language+" "+file, func(t *testing.T) {
					t.Parallel()
					test(t, func(t *testing.T, args ...string) ([]string, []string) {
						t.Helper()
						return commands[language](t, file, args...)
					})
				})
			}
		}
	}
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		w.pages(t)
	})
	t.Run("agents", func(t *testing.T) {
		t.Parallel()
		each(t, map[string][]string{
			"javascript": {"agent.mjs", "agent-openai.mjs", "agent-anthropic.mjs"},
			"python":     {"agent.py", "agent_openai.py", "agent_anthropic.py", "langchain_tools.py"},
			"go":         {"agent"},
		}, w.agent)
	})
	t.Run("receivers", func(t *testing.T) {
		t.Parallel()
		watch := map[string]string{"javascript": "watch.mjs", "python": "watch.py", "go": "watch.py"}
		for language, file := range map[string]string{
			"javascript": "webhook-express.mjs", "python": "webhook_fastapi.py", "go": "webhook",
		} {
			t.Run(language, func(t *testing.T) {
				t.Parallel()
				watching := commands[strings.Replace(language, "go", "python", 1)]
				w.receiver(t, func(t *testing.T, address string) ([]string, []string) {
					t.Helper()
					return watching(t, watch[language], address)
				}, func(t *testing.T, port string) ([]string, []string) {
					t.Helper()
					command, env := commands[language](t, file)
					if language == "python" { // an application, which a server of its language serves
						dir, name := filepath.Split(command[1])
						command = []string{
							command[0], "-m", "uvicorn", "--app-dir", dir, "--port", port,
							strings.TrimSuffix(name, ".py") + ":app",
						}
					}
					return command, append(env, "PORT="+port)
				})
			})
		}
	})
	t.Run("connect page", func(t *testing.T) {
		t.Parallel()
		w.connectPage(t)
	})
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		w.buying(t)
	})
}

// pages runs what the pages of the platform show: curl on /docs, the clients on
// /sdk/.
func (w *world) pages(t *testing.T) {
	a := w.account(t)
	var link struct{ URL string }
	a.call(t, http.MethodPost, "/apps/demo-notes/connect", `{"verify":"link"}`, &link)
	a.connect(t, newBrowser(t), link.URL)
	shown := func(path string) (blocks []string) {
		_, page, err := harness.Call(t, http.MethodGet, w.platform+path, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?s)<pre>(.*?)</pre>`).FindAllStringSubmatch(page, -1) {
			blocks = append(blocks, html.UnescapeString(found[1]))
		}
		return blocks
	}
	with := func(blocks []string, word string) string {
		i := slices.IndexFunc(blocks, func(block string) bool { return strings.Contains(block, word) })
		if i < 0 {
			t.Fatalf("no block says %q: %q", word, blocks)
		}
		return blocks[i]
	}

	clients, wrote := shown("/sdk/"), 0
	dir := javascript(t, w)
	snippet := filepath.Join(dir, "snippet.mjs")
	if err := os.WriteFile(
		snippet,
		[]byte(with(clients, "import { ACE }")+"\nconsole.log(run.status);\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	wheel := filepath.Join(dir, "ace-1.0.0-py3-none-any.whl")
	save(t, w.platform+"/sdk/ace-1.0.0-py3-none-any.whl", wheel)
	for _, command := range [][]string{
		{variable(t, "ACE_NODE"), snippet},
		{variable(t, "ACE_EXAMPLES_PYTHON"), "-B", "-c", with(clients, "from ace") + "\nprint(run.status)"},
	} {
		p := run(t, dir, a.environment("PYTHONPATH="+wheel), command...)
		p.read(t, w.platform+"/connect/")
		p.read(t, "succeeded")
		p.end(t)
		wrote++
	}

	for _, block := range shown("/docs") {
		if !strings.Contains(block, "curl ") || strings.Contains(block, "SESSION_ID") {
			continue
		}
		script := strings.Replace(block, "export ACE_KEY=ace_…", "", 1)
		out, err := exec.CommandContext(t.Context(), "env", "ACE_KEY="+a.key, "sh", "-euc",
			strings.ReplaceAll(script, "curl ", "curl -sf ")).CombinedOutput()
		if err != nil || !json.Valid(out) {
			t.Errorf("%s\n%v: %s", block, err, out)
		}
		if strings.Contains(string(out), `"status":"succeeded"`) {
			wrote++
		}
	}
	if titles := a.notes(t, ""); len(titles) != wrote || wrote != 3 {
		t.Errorf("the notes are %q after %d runs, want 3", titles, wrote)
	}
}

// agent has a chat: the user opens the link that the model shows, and the note is
// written.
func (w *world) agent(t *testing.T, command func(t *testing.T, args ...string) ([]string, []string)) {
	t.Helper()
	a := w.account(t)
	program, env := command(t)
	p := run(t, t.TempDir(), a.environment(env...), program...)
	p.say(t, "Write a note: Milk and bread")
	a.connect(t, a.owner, p.read(t, "Open "))
	p.say(t, "It is connected.")
	if title := p.read(t, "Written: "); title != "Milk and bread" {
		t.Errorf("it wrote %q", title)
	}
	p.end(t)
	if diff := cmp.Diff([]string{"Milk and bread"}, a.notes(t, "")); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// receiver watches new notes and reads what the receiver of webhooks says of them.
func (w *world) receiver(t *testing.T, watch, receive func(t *testing.T, to string) ([]string, []string)) {
	t.Helper()
	a := w.account(t)
	var link struct{ URL string }
	a.call(t, http.MethodPost, "/apps/demo-notes/connect", `{"verify":"link"}`, &link)
	a.connect(t, newBrowser(t), link.URL)
	address := harness.FreeAddr(t)
	command, env := watch(t, "http://"+address+"/webhook")
	watching := run(t, t.TempDir(), a.environment(env...), command...)
	secret := watching.read(t, "ACE_WEBHOOK_SECRET=")
	watching.end(t)

	_, port, _ := strings.Cut(address, ":")
	command, env = receive(t, port)
	p := run(t, t.TempDir(), append(env, "ACE_WEBHOOK_SECRET="+secret), command...)
	a.listening(t, address)
	write := func(title string) {
		var run struct{ OK bool }
		body := `{"arguments":{"title":"` + title + `"}}`
		if a.call(t, http.MethodPost, "/tools/demo_notes__create_note/run", body, &run); !run.OK {
			t.Fatalf("the note %s was not written", title)
		}
	}
	next := func(want string) {
		t.Helper()
		for p.lines.Scan() {
			if said := p.lines.Text(); strings.HasPrefix(said, "demo-notes.") {
				if said != want {
					t.Errorf("the receiver says %q, want %q", said, want)
				}
				return
			}
		}
		t.Fatalf("the receiver ended instead of saying %q: %s", want, p.kill())
	}
	write("Milk")
	next("demo-notes.new_note: Milk")
	a.replayAll(t)
	write("Tea") // before which nothing is said twice
	next("demo-notes.new_note: Tea")

	for name, header := range map[string][]string{
		"unsigned": {},
		"forged": {
			"Webhook-Id", "evt_1", "Webhook-Timestamp", "1795220034", "Webhook-Signature",
			"v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
		},
	} {
		if status, _, err := harness.Call(t, http.MethodPost, "http://"+address+"/webhook",
			`{"type":"demo-notes.new_note","event_id":"evt_1","data":{"title":"Forged"}}`, header...); err != nil ||
			status != http.StatusBadRequest {
			t.Errorf("%s: status %d, %v, want 400", name, status, err)
		}
	}
}

// listening waits until something accepts connections at an address.
func (a *account) listening(t *testing.T, address string) {
	t.Helper()
	for {
		_, _, err := harness.Call(t, http.MethodGet, "http://"+address+"/", "")
		if err == nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// replayAll delivers the events of all triggers again, and waits for the end of it.
func (a *account) replayAll(t *testing.T) {
	t.Helper()
	var listed struct{ Triggers []struct{ ID string } }
	a.call(t, http.MethodGet, "/triggers", "", &listed)
	for _, trigger := range listed.Triggers {
		type event struct {
			ID, Status string
			Deliveries []struct{}
		}
		settled := func(deliveries int) (events []event) {
			for {
				var page struct{ Events []event }
				a.call(t, http.MethodGet, "/triggers/"+trigger.ID+"/events", "", &page)
				if !slices.ContainsFunc(page.Events, func(e event) bool {
					return e.Status != "delivered" || len(e.Deliveries) < deliveries
				}) {
					return page.Events
				}
			}
		}
		for _, one := range settled(1) {
			a.call(t, http.MethodPost, "/triggers/"+trigger.ID+"/events/"+one.ID+"/replay", "", &struct{}{})
		}
		settled(2)
	}
}

// connectPage lets a user of a product connect the app in Chromium, and somebody
// else try the link.
func (w *world) connectPage(t *testing.T) {
	a := w.account(t)
	address := harness.FreeAddr(t)
	_, port, _ := strings.Cut(address, ":")
	origin := "http://" + address
	w.ace(t, "account", "redirects", a.name, "--add", origin+"/")
	p := run(t, t.TempDir(), a.environment("PORT="+port), variable(t, "ACE_NODE"),
		filepath.Join(javascript(t, w), "connect-page.mjs"))
	if at := p.read(t, "listening at "); at != origin {
		t.Fatalf("it listens at %s", at)
	}

	// Ann connects and writes a note.
	tab := browsertest.Start(t).Tab(t, browsertest.Phone())
	tab.Open(origin + "/sign-in/ann")
	tab.Press(".button")                      // Connect Demo Notes
	tab.Press("form.form .button")            // the platform says what for
	tab.Press("form.form .button")            // ann is who the link was created for
	tab.Fill("#person", "Ann of the product") // at the app
	tab.Press(`button[value="allow"]`)        // which sends her back to the product
	tab.See("Demo Notes is connected as")
	tab.Fill("input", "Milk")
	tab.Press(".button")
	tab.See("Written: Milk")
	if diff := cmp.Diff([]string{"Milk"}, a.notes(t, "ann")); diff != "" {
		t.Errorf("notes of ann (-want +got):\n%s", diff)
	}

	// Carol creates a link and sends it to Bob, whose apps would become hers.
	carol, bob := newBrowser(t), newBrowser(t)
	carol.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	carol.get(t, origin+"/sign-in/carol")
	var sent string
	carol.http.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		sent = r.URL.String()
		return http.ErrUseLastResponse
	}
	carol.post(t, origin+"/connect", url.Values{})
	if _, page := bob.get(t, origin+"/sign-in/bob"); !strings.Contains(page, "Connect Demo Notes, so that") {
		t.Errorf("bob sees a connection of somebody else:\n%s", page)
	}
	bob.get(t, sent)
	if status, page := bob.post(t, sent, url.Values{"scheme": {"oauth"}}); status < 400 ||
		!strings.Contains(page, "That did not work") {
		t.Errorf("the link of carol, opened by bob = %d\n%s", status, page)
	}
	var connections struct{ Connections []struct{ ID string } }
	if a.call(t, http.MethodGet, "/connections?end_user=carol", "", &connections); len(connections.Connections) > 0 {
		t.Errorf("carol has %v", connections.Connections)
	}
}

// buying runs the five ways to buy. A person pays where one has to.
func (w *world) buying(t *testing.T) {
	node := variable(t, "ACE_NODE")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/store")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(variable(t, "ACE_NODE_MODULES"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"ucp", "acp", "mcp", "a2a"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := run(t, dir, nil, node, filepath.Join(dir, way+".mjs"), w.store, "prompt_handbook")
			person := sandboxtest.NewPerson(t, nil)
			paid := person.Pay(p.read(t, "Pay here: "), sandboxtest.CardOK)
			if paid.Status != http.StatusSeeOther {
				t.Fatalf("paying = %d\n%s", paid.Status, paid.Body)
			}
			person.Get(paid.Location)
			if order := p.read(t, "completed: "); !strings.HasPrefix(order, "ord_") {
				t.Errorf("the order is %q", order)
			}
			p.end(t)
		})
		t.Run(way+" of what is not sold", func(t *testing.T) {
			t.Parallel()
			p := run(t, dir, nil, node, filepath.Join(dir, way+".mjs"), w.store, "unicorn")
			for p.lines.Scan() {
				t.Errorf("it says %q", p.lines.Text())
			}
			if err := p.cmd.Wait(); err == nil || !strings.Contains(p.errs.String(), "offer") {
				t.Errorf("it ended with %v\n%s", err, p.errs.String())
			}
		})
	}
	t.Run("x402", func(t *testing.T) {
		t.Parallel()
		p := run(t, dir, []string{"WALLET_KEY=0x" + strings.Repeat("4b", 32)}, node, filepath.Join(dir, "x402.mjs"),
			w.store, w.sandbox+"/site/")
		if paid := p.read(t, "Paid "); !regexp.MustCompile(`^\$0\.05, order svo_\w+$`).MatchString(paid) {
			t.Errorf("it paid %s", paid)
		}
		p.end(t)
	})
}

// TestVerifyWebhook holds the receiver of order events in docs/operations.md to the
// vectors of signed webhooks.
func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), variable(t, "ACE_EXAMPLES_PYTHON"), "-B", "-c", `
import json, sys, time
sys.path.insert(0, "../../examples/python")
from verify_webhook import verify
checked = 0
for vector in json.load(open("../../sdk/webhooks/vectors.json")):
    if vector.get("code") not in (None, "invalid_signature", "timestamp_out_of_range"):
        continue  # what this one does not distinguish
    time.time = lambda: vector["now"]
    headers = {name.lower(): value for name, value in vector["headers"].items()}
    got = any(verify(secret, headers, vector["body"].encode()) for secret in vector["secrets"])
    assert got == ("code" not in vector), vector["name"]
    checked += 1
assert checked > 4, checked
`).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestVersions holds the packages that the examples name to those that they run
// with here.
func TestVersions(t *testing.T) {
	t.Parallel()
	type manifest struct{ Dependencies map[string]string }
	read := func(path string) (m manifest) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	installed := read("../conformance/package.json").Dependencies
	maps.Copy(installed, read("../sdk/package.json").Dependencies)
	for _, folder := range []string{"javascript", "store"} {
		named := read(filepath.Join("../../examples", folder, "package.json")).Dependencies
		if len(named) == 0 {
			t.Errorf("%s names no packages", folder)
		}
		for name, version := range named {
			if installed[name] != version {
				t.Errorf(
					"examples/%s names %s, the tests have %s",
					folder,
					fmt.Sprint(name, " ", version),
					installed[name],
				)
			}
		}
	}
}
