package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ace/test/harness"
)

// tasks defines an app that nobody but its operator knows. BASE is where it is.
const tasks = `
id: acme-tasks
name: Acme Tasks
about: Keeps the tasks of a team.
docs: https://tasks.acme.example/docs
checked: 2026-11-21
categories: [productivity]
base: BASE/api
auth:
  - id: key
    type: key
    title: API key
    help: Your administrator makes keys.
    fields: [{name: key, title: API key, secret: true}]
    send: {headers: {Authorization: "Token {key}"}}
who: {get: /me, id: /id, label: /name}
errors: {message: [/error]}
tools:
  add_task:
    call: POST /lists/{list}/tasks
    title: Add task
    about: Adds a task to a list of the team.
    in: {list!: string, title!: {type: string, wire: text}}
    phrases: [put a task on the list of the team, add a task]
`

// taskServer is the app itself, run by a company for itself.
func taskServer(t *testing.T) string {
	mux := http.NewServeMux()
	guarded := func(answer func(r *http.Request) any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Token secret-of-ann" {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"error":"who are you?"}`)
				return
			}
			_ = json.NewEncoder(w).Encode(answer(r))
		}
	}
	mux.HandleFunc("GET /api/me",
		guarded(func(*http.Request) any { return map[string]string{"id": "7", "name": "Ann of Acme"} }))
	mux.HandleFunc("POST /api/lists/{list}/tasks", guarded(func(r *http.Request) any {
		var sent map[string]any
		_ = json.NewDecoder(r.Body).Decode(&sent)
		return map[string]any{"list": r.PathValue("list"), "sent": sent}
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAppFromAFolder defines an app in a file, and finds, connects and runs it.
func TestAppFromAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "acme-tasks.yaml", strings.Replace(tasks, "BASE", taskServer(t), 1))
	writeFile(t, dir, "demo-notes.yaml",
		strings.NewReplacer("BASE/api", "https://notes.acme.example", "acme-tasks", "demo-notes", "Acme Tasks",
			"Notes of Acme").Replace(tasks))
	a := newcomer(t, "ACE_CATALOG_DIR="+dir, "ACE_EGRESS_ALLOW=127.0.0.0/8")

	_, found := a.call(http.MethodPost, "/tools/find", `{"task":"put a task on the list of the team","limit":1}`)
	best := found["tools"].([]any)[0].(map[string]any)
	if best["tool"] != "acme_tasks__add_task" || best["connection_status"] != "not_connected" {
		t.Errorf("found %v", best)
	}
	_, other := a.call(http.MethodGet, "/apps?search=notes+of+acme", "")
	if first := other["apps"].([]any)[0].(map[string]any); first["app"] != "demo-notes" ||
		first["name"] != "Notes of Acme" {
		t.Errorf("in place of the demo app: %v", first)
	}
	status, session := a.call(http.MethodPost, "/apps/acme-tasks/connect", `{"verify":"link"}`)
	if status != http.StatusCreated {
		t.Fatalf("connect answered %d %v", status, session)
	}
	form := a.visit(session["url"].(string), nil)
	fields := form.hidden()
	fields.Set("field.key", "wrong")
	if refused := a.visit(form.address.String(), fields); strings.Contains(refused.text, "Ann of Acme") {
		t.Errorf("a wrong key connected:\n%s", refused.text)
	}
	fields.Set("field.key", "secret-of-ann")
	if after := a.visit(form.address.String(), fields); !strings.Contains(after.text, "Ann of Acme") {
		t.Fatalf("after connecting:\n%s", after.text)
	}
	status, run := a.call(http.MethodPost, "/tools/acme_tasks__add_task/run",
		`{"arguments":{"list":"team a","title":"Buy milk"}}`)
	output, _ := run["output"].(map[string]any)
	sent, _ := output["sent"].(map[string]any)
	if status != http.StatusOK || run["ok"] != true || output["list"] != "team a" || sent["text"] != "Buy milk" {
		t.Errorf("run = %d %v", status, run)
	}
}

// TestCatalogCommands checks and counts definitions, and starts no server with
// one that is wrong.
func TestCatalogCommands(t *testing.T) {
	t.Parallel()
	good, bad := t.TempDir(), t.TempDir()
	right := strings.Replace(tasks, "BASE", "https://tasks.acme.example", 1)
	writeFile(t, good, "acme-tasks.yaml", right)
	wrong := writeFile(t, bad, "acme-tasks.yaml", strings.Replace(right, "    call: POST", "    cal: POST", 1))
	faulty := wrong + `: line 20: nothing is called "cal" here`
	tests := []struct {
		name string
		env  []string
		args []string
		code int
		want []string
	}{
		{"what is shipped", nil, []string{"catalog", "lint"}, 0, []string{"No faults in "}},
		{"a folder", nil, []string{"catalog", "lint", good}, 0, []string{"No faults in 1 definition."}},
		{
			"a folder of the settings",
			[]string{"ACE_CATALOG_DIR=" + bad},
			[]string{"catalog", "lint"},
			1,
			[]string{faulty, "1 fault in "},
		},
		{"a file", nil, []string{"catalog", "lint", wrong, good}, 1, []string{faulty, "1 fault in 2 definitions"}},
		{
			"JSON", nil,
			[]string{"catalog", "lint", "--json", wrong},
			1,
			[]string{`"file": "` + wrong + `"`, `"at": "line 20"`, `"definitions": 1`},
		},
		{"nothing to read", nil, []string{"catalog", "lint", t.TempDir()}, 1, []string{"holds no definition"}},
		{
			"report",
			[]string{"ACE_CATALOG_DIR=" + good},
			[]string{"catalog", "report"},
			0,
			[]string{"Apps", "from " + good + "  ", "oauth2", "Facts checked"},
		},
		{
			"report in JSON", nil,
			[]string{"catalog", "report", "--json"},
			0,
			[]string{`"own": 0`, `"full": `, `"whoami": `},
		},
		{"report of a fault", []string{"ACE_CATALOG_DIR=" + bad}, []string{"catalog", "report"}, 1, []string{faulty}},
		{"serve", []string{
			"ACE_HOSTS=platform", "ACE_CATALOG_DIR=" + bad, "ACE_DATA_DIR=" + harness.DataDir(t),
			"ACE_ADMIN_ADDR=",
		}, []string{"serve"}, 1, []string{"ACE_CATALOG_DIR", "ace catalog lint", faulty}},
		{
			"serve without the folder",
			[]string{"ACE_CATALOG_DIR=" + filepath.Join(bad, "none")},
			[]string{"serve"},
			1,
			[]string{"ACE_CATALOG_DIR names"},
		},
	}
	binary := harness.Build(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := harness.Start(t, binary, tt.env, tt.args...)
			<-p.Ended()
			if p.Code() != tt.code {
				t.Errorf("exit code %d, want %d", p.Code(), tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(p.Output(), want) {
					t.Errorf("ace %s printed\n%s\nwant %q", strings.Join(tt.args, " "), p.Output(), want)
				}
			}
		})
	}
}
