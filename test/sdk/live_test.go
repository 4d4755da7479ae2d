package sdk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
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

	"github.com/google/go-cmp/cmp"

	"ace/test/harness"
)

// world is a running platform with the sandbox's demo app, and a key.
type world struct {
	Platform, Notes string
	Key             string
}

func start(t *testing.T) *world {
	t.Helper()
	platform, sandbox := harness.FreeAddr(t), harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, ""), []string{
		"ACE_HOSTS=store,platform", "ACE_STORE_ADDR=" + harness.FreeAddr(t), "ACE_PLATFORM_ADDR=" + platform,
		"ACE_SANDBOX_ADDR=" + sandbox, "ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + harness.DataDir(t),
	}, "serve")
	w := &world{Platform: "http://" + platform, Notes: "http://" + sandbox + "/notes"}
	if !p.Ready(w.Platform + "/healthz") {
		t.Fatal("the platform did not start")
	}
	w.Key = regexp.MustCompile(`ace_[0-9A-Za-z]{36}`).FindString(p.Output())
	if w.Key == "" {
		t.Fatal("the first start printed no key")
	}
	return w
}

// person does what a person does in a browser: creates a key at the demo app and
// types it into the page behind a link.
func (w *world) person(t *testing.T, link string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	read := func(address string, form url.Values) string {
		var body bytes.Buffer
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if form != nil {
			request, err = http.NewRequestWithContext(t.Context(), http.MethodPost, address,
				strings.NewReader(form.Encode()))
		}
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", w.Platform)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if _, err := body.ReadFrom(response.Body); err != nil {
			t.Fatal(err)
		}
		return body.String()
	}
	key := regexp.MustCompile(`nk_[A-Z2-7]+`).FindString(read(w.Notes+"/keys", url.Values{"person": {"Ann"}}))
	read(link, nil)
	page := read(link, url.Values{"scheme": {"key"}, "field.key": {key}})
	if !strings.Contains(page, "Demo Notes is connected") {
		t.Fatalf("the page says:\n%s", page)
	}
}

// TestWholeLoop installs each client from the running platform as its guide
// says, and connects the demo app, finds a tool and runs it: as a program, and as
// a model would by the six tools.
func TestWholeLoop(t *testing.T) {
	t.Parallel()
	w := start(t)
	clients := map[string]func(t *testing.T, dir string) *exec.Cmd{
		"JavaScript": func(t *testing.T, dir string) *exec.Cmd {
			node := os.Getenv("ACE_NODE")
			npm, err := exec.LookPath("npm")
			if node == "" || err != nil {
				t.Skip("left out: ACE_NODE is not set, or there is no npm")
			}
			write(t, filepath.Join(dir, "package.json"), `{"type": "module", "private": true}`)
			output(t, dir, nil, npm, "install", "--no-audit", "--no-fund", "--offline",
				"--cache", t.TempDir(), w.download(t, "ace-1.0.0.tgz"))
			write(t, filepath.Join(dir, "loop.mjs"), string(read(t, "testdata/loop.mjs")))
			return exec.CommandContext(t.Context(), node, "loop.mjs")
		},
		"Python": func(t *testing.T, dir string) *exec.Cmd {
			python := newest(t)
			output(t, dir, nil, python, "-m", "venv", "venv")
			inside := filepath.Join(dir, "venv/bin/python")
			output(t, dir, nil, inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
				w.download(t, "ace-1.0.0-py3-none-any.whl"))
			write(t, filepath.Join(dir, "loop.py"), string(read(t, "testdata/loop.py")))
			return exec.CommandContext(t.Context(), inside, "-W", "error", "loop.py")
		},
	}
	t.Run("six tools", func(t *testing.T) {
		t.Parallel()
		w.compareSixTools(t)
	})
	for name, install := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := install(t, dir)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "ACE_API_KEY="+w.Key)
			cmd.Stderr = os.Stderr
			said, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// The program prints the link, waits for the person, and prints what it got.
			decoder := json.NewDecoder(said)
			var link struct{ URL string }
			if err := decoder.Decode(&link); err != nil {
				t.Fatal(err)
			}
			w.person(t, link.URL)
			var got struct {
				Found, Title, ModelTitle, Refusal, Hint string
				Definitions, Replies                    int
			}
			if err := decoder.Decode(&got); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if got.Found != "demo_notes__create_note" || got.Title != "Milk" || got.ModelTitle != "Eggs" ||
				got.Refusal != "app_not_found" || got.Definitions != 6 || got.Replies != 2 ||
				got.Hint != "invalid_arguments" {
				t.Errorf("it got %+v", got)
			}
		})
	}
}

// compareSixTools compares the arguments of the six tools of the clients with those of
// the platform's MCP server: a model may get either.
func (w *world) compareSixTools(t *testing.T) {
	t.Helper()
	type tool struct {
		Name  string
		Input struct {
			Properties map[string]struct{ Type string }
			Required   []string
		} `json:"inputSchema"`
	}
	form := func(tools []tool) map[string]any {
		all := map[string]any{}
		for _, one := range tools {
			names := slices.Sorted(maps.Keys(one.Input.Properties))
			// REST returns a whole tool.
			names = slices.DeleteFunc(names, func(name string) bool { return one.Name+"."+name == "get_tool.include" })
			all[one.Name] = map[string]any{"arguments": names, "required": one.Input.Required}
		}
		return all
	}
	_, text, err := harness.Call(t, http.MethodPost, w.Platform+"/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Authorization", "Bearer "+w.Key)
	if err != nil {
		t.Fatal(err)
	}
	var listed struct{ Result struct{ Tools []tool } }
	if err := json.Unmarshal([]byte(text), &listed); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	said := output(t, "../../sdk/python", nil, newest(t), "-B", "-c",
		"import ace, json\nprint(json.dumps(ace.ACE('k').tools.definitions(format='mcp')))")
	var python []tool
	if err := json.Unmarshal([]byte(said), &python); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(form(listed.Result.Tools), form(python)); diff != "" || len(python) != 6 {
		t.Errorf("the six tools (-MCP +clients):\n%s", diff)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// download reads a file of the clients from the platform and checks it against
// SHA256SUMS.
func (w *world) download(t *testing.T, name string) string {
	t.Helper()
	body := fetchBytes(t, w.Platform+"/sdk/"+name)
	sum := sha256.Sum256(body)
	if sums := string(fetchBytes(t, w.Platform+"/sdk/SHA256SUMS")); !strings.Contains(sums,
		hex.EncodeToString(sum[:])+"  "+name+"\n") {
		t.Errorf("SHA256SUMS does not agree with %s", name)
	}
	path := filepath.Join(t.TempDir(), name)
	write(t, path, string(body))
	return path
}
