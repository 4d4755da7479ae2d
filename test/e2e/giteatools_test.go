package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/catalog"
	"ace/internal/platform/app"
	"ace/test/harness"
)

// work is an account with Gitea connected, and the tools it has used.
type work struct {
	*account
	used map[string]bool
}

// run runs a tool of Gitea that has to succeed and returns the whole run.
func (w *work) run(tool, arguments string) map[string]any {
	w.t.Helper()
	w.used[tool] = true
	status, run := w.call(http.MethodPost, "/tools/gitea__"+tool+"/run", `{"arguments":`+arguments+`}`)
	if status != http.StatusOK || run["ok"] != true {
		w.t.Fatalf("%s %s = %d %v", tool, arguments, status, run)
	}
	return run
}

// fails runs a tool that the app has to refuse with a code, and returns what it
// said.
func (w *work) fails(tool, arguments, code string) string {
	w.t.Helper()
	status, run := w.call(http.MethodPost, "/tools/gitea__"+tool+"/run", `{"arguments":`+arguments+`}`)
	refusal, _ := run["error"].(map[string]any)
	if status != http.StatusOK || run["ok"] != false || refusal["code"] != code {
		w.t.Errorf("%s %s = %d %v, want %s", tool, arguments, status, run, code)
		return ""
	}
	return fmt.Sprint(refusal["detail"])
}

// at is a value inside a response, by a JSON Pointer.
func (w *work) at(run map[string]any, pointer string) string {
	w.t.Helper()
	value, ok := app.Pick(run["output"], pointer)
	if !ok {
		w.t.Fatalf("%v has no %s in its output: %v", run["tool"], pointer, run["output"])
	}
	if number, ok := value.(float64); ok {
		return fmt.Sprintf("%.0f", number)
	}
	return fmt.Sprint(value)
}

// is fails unless values inside a response are those.
func (w *work) is(run map[string]any, pairs ...string) {
	w.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := w.at(run, pairs[i]); got != pairs[i+1] {
			w.t.Errorf("%v: %s is %q, want %q", run["tool"], pairs[i], got, pairs[i+1])
		}
	}
}

// length is how many entries a list of a response has.
func (w *work) length(run map[string]any, pointer string) int {
	w.t.Helper()
	value, _ := app.Pick(run["output"], pointer)
	list, ok := value.([]any)
	if !ok {
		w.t.Fatalf("%v has no list at %q: %v", run["tool"], pointer, run["output"])
	}
	return len(list)
}

// upload sends a file to the platform and returns its id.
func (w *work) upload(name, content string) string {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err != nil || form.Close() != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.platform+"/api/v1/files", &body)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var file struct {
		ID string `json:"file_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&file); err != nil || file.ID == "" {
		w.t.Fatalf("uploading = %d, %v", res.StatusCode, err)
	}
	return file.ID
}

// download fetches the only file of a run by its own address.
func (w *work) download(run map[string]any) []byte {
	w.t.Helper()
	files, _ := run["files"].([]any)
	if len(files) != 1 {
		w.t.Fatalf("files = %v", run["files"])
	}
	res, err := http.Get(files[0].(map[string]any)["url"].(string))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return content
}

// TestGiteaTools works with Gitea by every tool of its file: each answers as the
// file says, on the real server.
func TestGiteaTools(t *testing.T) {
	t.Parallel()
	g := startGitea(t, 3600)
	w := &work{withGitea(t, g), map[string]bool{}}
	if status, refused := w.call(http.MethodPost, "/tools/gitea__request/run",
		`{"arguments":{"method":"GET","path":"/user"}}`); status != http.StatusForbidden ||
		refused["code"] != "key_restricted" {
		t.Errorf("a request with a key that may make none: %d %v", status, refused)
	}
	made := w.asOwner(http.MethodPost, "/keys",
		`{"name":"requests","permissions":["read","connect","run"],"restrict":{"raw_requests":true}}`)
	w.key = made["key"].(string)
	form := w.visit(w.connectLink("gitea", `{"auth":"token","verify":"link"}`), nil)
	fields := form.hidden()
	fields.Set("param.host", g.host)
	fields.Set("field.key", g.token("for tools"))
	if after := w.visit(form.address.String(), fields); !strings.Contains(after.text, "Gitea is connected") {
		t.Fatalf("connecting:\n%s", after.text)
	}
	w.finds("make a repository on gitea", "gitea__create_repository")
	w.finds("which pull requests are open in gitea", "gitea__list_pull_requests")
	w.repositories()
	w.files()
	w.issues()
	w.pulls()
	w.releases()
	w.freely()
	for name := range giteaApp(t).Tools.All() {
		if !w.used[name] {
			t.Errorf("%s was never called", name)
		}
	}
}

func (w *work) finds(task, want string) {
	w.t.Helper()
	found := w.must(http.StatusOK, http.MethodPost, "/tools/find", `{"task":"`+task+`"}`)
	best := found["tools"].([]any)[0].(map[string]any)
	if best["tool"] != want || best["connection_status"] != "connected" {
		w.t.Errorf("%q finds %v, want %s", task, best["tool"], want)
	}
}

func (w *work) repositories() {
	w.t.Helper()
	w.is(w.run("create_repository", `{"name":"web","description":"Our website","default_branch":"main"}`), "/full_name",
		"ann/web", "/private", "true", "/default_branch", "main", "/empty", "false")
	if said := w.fails("create_repository", `{"name":"web"}`, "app_conflict"); !strings.Contains(said,
		"already exists") {
		w.t.Errorf("a repository twice: %s", said)
	}
	if said := w.fails("create_repository", `{"name":"no/slash"}`, "app_bad_request"); said == "" {
		w.t.Error("a name that cannot be: no reason is shown")
	}
	for _, name := range []string{"api", "docs"} {
		w.run("create_repository", `{"name":"`+name+`"}`)
	}
	// Three repositories, two on a page.
	first := w.run("list_repositories", `{"limit":2}`)
	next, err := json.Marshal(first["next_arguments"])
	if err != nil || w.length(first, "") != 2 || first["next_arguments"] == nil {
		w.t.Fatalf("the first page = %v, next %s", first["output"], next)
	}
	second := w.run("list_repositories", string(next))
	if w.length(second, "") != 1 || second["next_arguments"] != nil || w.at(second, "/0/id") == w.at(first, "/0/id") {
		w.t.Errorf("the second page = %v, next %v", second["output"], second["next_arguments"])
	}
	w.is(w.run("search_repositories", `{"query":"websit","in_description":true,"sort":"updated","order":"desc"}`),
		"/ok", "true", "/data/0/name", "web")
}

func (w *work) files() {
	w.t.Helper()
	const place = `"owner":"ann","repo":"web"`
	made := w.run("write_file",
		`{`+place+`,"path":"docs/Grüße & more.md","content":"Hallo – 你好\n","message":"Say hello","branch":"main"}`)
	w.is(made, "/content/path", "docs/Grüße & more.md", "/commit/message", "Say hello\n")
	w.is(w.run("list_files", `{`+place+`,"path":"docs"}`), "/0/name", "Grüße & more.md", "/0/type", "file")
	read := w.run("read_file", `{`+place+`,"path":"docs/Grüße & more.md","ref":"main"}`)
	if text := fmt.Sprint(read["output"]); text != "Hallo – 你好\n" {
		w.t.Errorf("the file reads %q", text)
	}
	if said := w.fails("write_file",
		`{`+place+`,"path":"docs/Grüße & more.md","content":"x","sha":"`+strings.Repeat("0", 40)+`"}`,
		"app_bad_request"); !strings.Contains(said, "sha does not match") {
		w.t.Errorf("with another sha: %s", said)
	}
	sha := w.at(made, "/content/sha")
	w.is(w.run("write_file",
		`{`+place+`,"path":"docs/Grüße & more.md","content":"Hi\n","sha":"`+sha+`","message":"Be short"}`),
		"/commit/message", "Be short\n")
	w.fails("read_file", `{`+place+`,"path":"no/such/file"}`, "app_not_found")
	commits := w.run("list_commits", `{`+place+`,"ref":"main","limit":2}`)
	w.is(commits, "/0/commit/message", "Be short\n", "/1/commit/message", "Say hello\n")
	if next, _ := commits["next_arguments"].(map[string]any); fmt.Sprint(next["page"]) != "2" {
		w.t.Errorf("next commits = %v", commits["next_arguments"])
	}
	w.is(w.run("list_commits", `{`+place+`,"path":"docs"}`), "/1/commit/message", "Say hello\n")
}

func (w *work) issues() {
	w.t.Helper()
	const place = `"owner":"ann","repo":"web"`
	w.is(w.run("create_issue", `{`+place+`,"title":"Sign-in fails","body":"On **Safari**.","assignees":["ann"]}`),
		"/number", "1", "/state", "open", "/assignees/0/login", giteaUser)
	if _, refused := w.call(http.MethodPost, "/tools/gitea__create_issue/run",
		`{"arguments":{`+place+`}}`); refused["code"] != "invalid_arguments" {
		w.t.Errorf("without a title: %v", refused)
	}
	if said := w.fails("create_issue", `{"owner":"ann","repo":"nothing","title":"x"}`, "app_not_found"); said == "" {
		w.t.Error("a repository that is not there: no reason is shown")
	}
	w.is(w.run("create_issue", `{`+place+`,"title":"Dark colours"}`), "/number", "2")
	w.is(w.run("list_issues", `{`+place+`,"query":"sign","assigned_by":"ann"}`), "/0/number", "1")
	label := w.at(w.run("request",
		`{"method":"POST","path":"/repos/ann/web/labels","body":{"name":"bug","color":"ff0000"}}`), "/body/id")
	w.is(w.run("create_issue", `{`+place+`,"title":"Broken","labels":[`+label+`]}`), "/number", "3", "/labels/0/name",
		"bug")
	if n := w.length(w.run("list_issues", `{`+place+`,"labels":["bug"]}`), ""); n != 1 {
		w.t.Errorf("%d issues have the label, want 1", n)
	}
	w.is(w.run("search_issues", `{"assigned":true}`), "/0/number", "1", "/0/repository/full_name", "ann/web")
	w.is(w.run("get_issue", `{`+place+`,"number":1}`), "/body", "On **Safari**.")
	w.is(w.run("add_issue_comment", `{`+place+`,"number":1,"body":"Seen too."}`), "/user/login", giteaUser)
	w.is(w.run("list_issue_comments", `{`+place+`,"number":1}`), "/0/body", "Seen too.")
	file := w.upload("steps.txt", "1. open\n2. sign in\n")
	w.is(w.run("attach_to_issue", `{`+place+`,"number":1,"file":"`+file+`","name":"how.txt"}`), "/name", "how.txt",
		"/size", "19")
	w.is(w.run("update_issue", `{`+place+`,"number":1,"state":"closed","title":"Sign-in failed"}`), "/state", "closed",
		"/title", "Sign-in failed")
	w.is(w.run("list_issues", `{`+place+`,"state":"closed"}`), "/0/number", "1")
}

func (w *work) pulls() {
	w.t.Helper()
	const place = `"owner":"ann","repo":"web"`
	w.is(w.run("create_branch", `{`+place+`,"name":"fix/login","from":"main"}`), "/name", "fix/login")
	w.fails("create_branch", `{`+place+`,"name":"fix/login","from":"main"}`, "app_conflict")
	if n := w.length(w.run("list_branches", `{`+place+`}`), ""); n != 2 {
		w.t.Errorf("%d branches, want 2", n)
	}
	w.run("write_file", `{`+place+`,"path":"login.txt","content":"fixed","branch":"fix/login","message":"Fix it"}`)
	w.is(w.run("create_pull_request", `{`+place+`,"head":"fix/login","base":"main","title":"Fix sign-in"}`), "/number",
		"4", "/mergeable", "true")
	w.is(w.run("list_pull_requests", `{`+place+`,"sort":"recentupdate"}`), "/0/number", "4")
	w.merges(`{` + place + `,"number":4,"method":"squash","title":"Fix sign-in (#4)"}`)
	w.is(w.run("list_pull_requests", `{`+place+`,"state":"closed"}`), "/0/merged", "true")
	w.run("delete_branch", `{`+place+`,"name":"fix/login"}`)
	w.fails("delete_branch", `{`+place+`,"name":"fix/login"}`, "app_not_found")
}

// merges merges a pull request as soon as Gitea has looked for conflicts, which
// it does by the way: until then it asks to try again.
func (w *work) merges(arguments string) {
	w.t.Helper()
	w.used["merge_pull_request"] = true
	var run map[string]any
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if _, run = w.call(http.MethodPost, "/tools/gitea__merge_pull_request/run",
			`{"arguments":`+arguments+`}`); run["ok"] == true {
			return
		}
		if !strings.Contains(text(w.t, run), "try again later") {
			break
		}
	}
	w.t.Fatalf("merging = %v", run)
}

func (w *work) releases() {
	w.t.Helper()
	const place = `"owner":"ann","repo":"web"`
	release := w.run("create_release", `{`+place+`,"tag_name":"v1.0.0","target":"main","name":"One"}`)
	w.is(release, "/tag_name", "v1.0.0", "/draft", "false")
	file := w.upload("build.bin", "\x00\x01binary")
	w.is(w.run("attach_to_release",
		`{`+place+`,"release_id":`+w.at(release, "/id")+`,"file":"`+file+`","name":"build.bin"}`), "/name", "build.bin")
	w.is(w.run("list_releases", `{`+place+`,"limit":5}`), "/0/name", "One", "/0/assets/0/name", "build.bin")
	archive := w.download(w.run("download_archive", `{`+place+`,"archive":"v1.0.0.zip"}`))
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		w.t.Fatalf("the archive is %d bytes and no zip: %v", len(archive), err)
	}
	var names []string
	for _, f := range files.File {
		names = append(names, f.Name)
	}
	if text := strings.Join(names, " "); !strings.Contains(text, "web/login.txt") {
		w.t.Errorf("the archive holds %s", text)
	}
}

// freely makes requests that no tool is for.
func (w *work) freely() {
	w.t.Helper()
	if listed := w.run("request",
		`{"method":"GET","path":"/repos/ann/web/labels","query":{"limit":"5"}}`); w.length(listed, "/body") != 1 {
		w.t.Errorf("labels = %v", listed["output"])
	}
	for _, path := range []string{
		"https://evil.example/api/v1/user", "//evil.example/user",
		"/../../login/oauth/keys",
	} {
		status, run := w.call(http.MethodPost, "/tools/gitea__request/run",
			`{"arguments":{"method":"GET","path":"`+path+`"}}`)
		if status == http.StatusOK && run["ok"] == true {
			w.t.Errorf("a request to %s = %v", path, run)
		}
	}
	w.is(w.run("whoami", `{}`), "/name", giteaUser)
}

// giteaApp is the definition.
func giteaApp(t *testing.T) *app.App {
	t.Helper()
	text, err := catalog.Files.ReadFile("curated/gitea.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// callsOf returns the calls that a trigger makes.
func callsOf(t *app.Trigger) (calls []string) {
	if t.Hook != nil {
		calls = append(calls, t.Hook.Subscribe.Call, t.Hook.Unsubscribe.Call)
	}
	if t.Poll != nil {
		calls = append(calls, t.Poll.Call)
	}
	return calls
}

// braces are the inputs in a path.
var braces = regexp.MustCompile(`\{[^{}]*\}`)

// TestGiteaIsDescribed holds the calls of the file, and the names of what goes
// along, against the description that Gitea gives of itself.
func TestGiteaIsDescribed(t *testing.T) {
	t.Parallel()
	if os.Getenv("ACE_GITEA") == "" {
		t.Skip("left out: ACE_GITEA is not set (scripts/install-test-needs gitea)")
	}
	g := startGitea(t, 3600)
	var described struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Schema   struct {
					Ref string `json:"$ref"`
				}
			}
		}
		Definitions map[string]struct{ Properties map[string]any }
	}
	if status := g.api(http.MethodGet, "/swagger.v1.json", nil, &described); status != http.StatusOK ||
		len(described.Paths) < 200 {
		t.Fatalf("the description = %d, with %d paths", status, len(described.Paths))
	}
	shape := func(path string) string { return braces.ReplaceAllString(path, "{}") }
	byShape := map[string]string{}
	for path := range described.Paths {
		byShape[shape(path)] = path
	}
	for name, trigger := range giteaApp(t).Triggers.All() {
		for _, call := range callsOf(trigger) {
			method, path, _ := strings.Cut(call, " ")
			if _, ok := described.Paths[byShape[shape(path)]][strings.ToLower(method)]; !ok {
				t.Errorf("%s: there is no %s", name, call)
			}
		}
	}
	for name, tool := range giteaApp(t).Tools.All() {
		operation, ok := described.Paths[byShape[shape(tool.Path())]][strings.ToLower(tool.Method())]
		if !ok {
			t.Errorf("%s: there is no %s", name, tool.Call)
			continue
		}
		known := map[string]bool{}
		for _, p := range operation.Parameters {
			known[p.In+" "+p.Name] = true
			_, model, _ := strings.Cut(p.Schema.Ref, "#/definitions/")
			for member := range described.Definitions[model].Properties {
				known["body "+member] = true
			}
		}
		for i := range tool.In {
			in := &tool.In[i]
			place := tool.Place(in)
			if tool.Body == app.BodyMultipart && place == app.InBody {
				place = "formData"
			}
			if place != app.InPath && !known[place+" "+in.WireName()] {
				t.Errorf("%s: %s does not take %s in its %s", name, tool.Call, in.WireName(), place)
			}
		}
		for query := range tool.Fixed.Query {
			if !known["query "+query] {
				t.Errorf("%s: %s does not take %s", name, tool.Call, query)
			}
		}
	}
}
