package definitions_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/server/definitions"
)

// tasks is a definition without a fault.
const tasks = `
id: acme-tasks
name: Acme Tasks
about: Keeps the tasks of a team.
docs: https://tasks.acme.example/docs
checked: 2026-11-20
categories: [productivity]
base: https://tasks.acme.example/api
auth:
  - {type: key, fields: [{name: key, secret: true}], send: {headers: {Authorization: "Bearer {key}"}}}
who: {get: /me, id: /id, label: /name}
tools:
  add_task:
    call: POST /tasks
    title: Add task
    about: Adds a task to the list.
    in: {title!: string}
    phrases: [add a task, put something on my list]
`

// folder writes definitions into a folder, by name.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func changed(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(tasks) }

func TestLoad(t *testing.T) {
	t.Parallel()
	shipped, err := definitions.Load(definitions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{
		"acme-tasks.yaml": tasks, "ours.yml": changed("id: acme-tasks", "id: github", "Acme Tasks", "Our GitHub"),
		"README.md": "no definition", "old/acme.yaml": "neither: this",
	})
	set, err := definitions.Load(definitions.Options{Dir: dir, Sandbox: "http://127.0.0.1:8082"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"acme-tasks", "github"}, {"github"}},
		[][]string{set.Own, set.Replaced}); diff != "" {
		t.Errorf("own, replaced (-want +got):\n%s", diff)
	}
	names := map[string]string{}
	for _, a := range set.Apps {
		if names[a.ID] != "" {
			t.Errorf("%s is there twice", a.ID)
		}
		names[a.ID] = a.Name
		if a.Listed == (a.ID == "demo-notes") {
			t.Errorf("%s: listed %v", a.ID, a.Listed)
		}
	}
	if len(names) != len(shipped.Apps)+2 || names["github"] != "Our GitHub" || names["acme-tasks"] == "" ||
		names["demo-notes"] == "" {
		t.Errorf("%d apps beside %d that are shipped: %v", len(names), len(shipped.Apps), names)
	}
	before, after := shipped.Report(), set.Report()
	if after.Apps != before.Apps+1 || after.Own != 2 || after.Checked.Oldest != "2026-11-20" ||
		after.Whoami != before.Whoami+1 {
		t.Errorf("report = %+v, without the folder %+v", after, before)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		files   map[string]string
		private bool
		want    []string // FILE: PLACE: beginning of the text
	}{
		{
			"misread",
			map[string]string{"a.yaml": changed("about: Adds", "abuot: Adds")},
			false,
			[]string{`a.yaml: line 16: nothing is called "abuot" here: correct the name`},
		},
		{
			"no sense",
			map[string]string{"a.yaml": changed("POST /tasks", "SEND /tasks")},
			false,
			[]string{`a.yaml: tools/add_task/call: "SEND /tasks" is no method and path`},
		},
		{
			"two files",
			map[string]string{
				"a.yaml": changed("tasks.acme.example/api", "user@x/api"),
				"b.yaml": changed("id: acme-tasks", "id: b", "checked: 2026-11-20", "checked: soon"),
			},
			false,
			[]string{"a.yaml: base: an address holds no user", `b.yaml: checked: "soon" is no date like 2026-11-21`},
		},
		{"one app twice", map[string]string{"a.yaml": tasks, "b.yaml": tasks}, false, []string{"b.yaml: id: "}},
		{
			"an id of connectors",
			map[string]string{"a.yaml": changed("id: acme-tasks", "id: x-acme")},
			false,
			[]string{`a.yaml: id: "x-acme" begins like a connector`},
		},
		{
			"http",
			map[string]string{"a.yaml": changed("base: https:", "base: http:")},
			false,
			[]string{`a.yaml: base: "http://tasks.acme.example/api" is not https`},
		},
		{"http on private networks", map[string]string{"a.yaml": changed("base: https:", "base: http:")}, true, nil},
		{
			"too large",
			map[string]string{"a.yaml": tasks + strings.Repeat("# more\n", 200_000)},
			false,
			[]string{"a.yaml: the file: it is larger than 1048576 bytes"},
		},
		{"empty", map[string]string{"a.yaml": ""}, false, []string{"a.yaml: the file: it is empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, tt.files)
			_, err := definitions.Load(definitions.Options{Dir: dir, Private: tt.private})
			check(t, "Load", dir, err, tt.want)
			read, faults, err := definitions.Lint(definitions.Options{Private: tt.private}, dir)
			if err != nil || read != len(tt.files) {
				t.Errorf("Lint = %d, %v", read, err)
			}
			if len(faults) > 0 {
				err = faults
			}
			check(t, "Lint", dir, err, tt.want)
		})
	}
	if _, err := definitions.Load(definitions.Options{Dir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a folder that is not there was read")
	}
}

func check(t *testing.T, what, dir string, err error, want []string) {
	t.Helper()
	faults, ok := errors.AsType[definitions.Faults](err)
	if ok != (len(want) > 0) {
		t.Fatalf("%s = %v, want %q", what, err, want)
	}
	if ok && len(strings.Split(err.Error(), "\n")) < len(want) {
		t.Errorf("%s = %q: not a line for each fault", what, err)
	}
	for _, w := range want {
		if !slices.ContainsFunc(faults,
			func(f definitions.Fault) bool { return strings.HasPrefix(f.String(), dir+"/"+w) }) {
			t.Errorf("%s = %v, want %q", what, err, w)
		}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	good, bad := folder(t, map[string]string{"a.yaml": tasks}), folder(t,
		map[string]string{"a.yaml": changed("id: acme-tasks", "id: Acme")})
	all, faults, err := definitions.Lint(definitions.Options{})
	if err != nil || len(faults) > 0 || all < 30 {
		t.Errorf("what is shipped: %d definitions, faults %v, %v", all, faults, err)
	}
	if read, faults, err := definitions.Lint(definitions.Options{Dir: good}); read != all+1 || len(faults) > 0 ||
		err != nil {
		t.Errorf("with a folder: %d definitions, faults %v, %v", read, faults, err)
	}
	if _, faults, err := definitions.Lint(definitions.Options{Dir: bad}); len(faults) != 1 || err != nil {
		t.Errorf("with a fault in the folder: %v, %v", faults, err)
	}
	if read, faults, err := definitions.Lint(definitions.Options{}, filepath.Join(good, "a.yaml"), bad); read != 2 ||
		len(faults) != 1 || err != nil {
		t.Errorf("a file and a folder: %d definitions, faults %v, %v", read, faults, err)
	}
	for _, path := range []string{t.TempDir(), filepath.Join(good, "none.yaml")} {
		if _, _, err := definitions.Lint(definitions.Options{}, path); err == nil {
			t.Errorf("Lint(%s) finds nothing to read and says nothing", path)
		}
	}
}
