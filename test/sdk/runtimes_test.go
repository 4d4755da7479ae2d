package sdk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ace/internal/browsertest"
	"ace/test/harness"
)

// modules returns the folder of the packages that scripts/install-test-needs
// installs from package.json of this folder.
func modules(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("ACE_SDK_MODULES")
	if folder == "" {
		t.Skip("left out: ACE_SDK_MODULES is not set; scripts/install-test-needs sdk installs what it names")
	}
	return folder
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// output runs a program and returns what it printed; a failure fails the test.
func output(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, text)
	}
	return string(text)
}

// platforms maps what npm calls a machine to the packages with binaries for it.
func native(t *testing.T, linuxX64, linuxARM64 string) string {
	t.Helper()
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		return filepath.Join(modules(t), linuxX64)
	case "linux/arm64":
		if linuxARM64 != "" {
			return filepath.Join(modules(t), linuxARM64)
		}
	}
	t.Skipf("left out: this runtime has no package for %s/%s here", runtime.GOOS, runtime.GOARCH)
	return ""
}

// TestJavaScriptRuntimes runs the same test file on every runtime that the
// client is for.
func TestJavaScriptRuntimes(t *testing.T) {
	t.Parallel()
	script := absolute(t, "../../sdk/js/node.test.mjs")
	runtimes := map[string]func(t *testing.T) (program string, args []string){
		"Node 18": func(t *testing.T) (string, []string) {
			return native(t, "node18/bin/node", ""), []string{script}
		},
		"Node 26": func(t *testing.T) (string, []string) {
			return native(t, "node26/bin/node", ""), []string{script}
		},
		"Node": func(t *testing.T) (string, []string) {
			if os.Getenv("ACE_NODE") == "" {
				t.Skip("left out: ACE_NODE is not set")
			}
			return os.Getenv("ACE_NODE"), []string{script}
		},
		"Deno": func(t *testing.T) (string, []string) {
			deno := native(t, "@deno/linux-x64-glibc/deno", "")
			return deno, []string{"run", "--no-prompt", "--allow-read", "--allow-env", script}
		},
		"Deno without permissions": func(t *testing.T) (string, []string) {
			deno := native(t, "@deno/linux-x64-glibc/deno", "")
			return deno, []string{"run", "--no-prompt", "--allow-read", script}
		},
		"Bun": func(t *testing.T) (string, []string) {
			return native(t, "@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-aarch64/bin/bun"), []string{script}
		},
	}
	for name, command := range runtimes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, args := command(t)
			passedAll(t, output(t, t.TempDir(), nil, program, args...))
		})
	}
}

func passedAll(t *testing.T, text string) {
	t.Helper()
	passed := -1
	for line := range strings.Lines(text) {
		var failed int
		if n, _ := fmt.Sscanf(line, "%d passed, %d failed", &passed, &failed); n == 2 && failed == 0 && passed > 60 {
			return
		}
	}
	t.Errorf("it says:\n%s", text)
}

// fixtures is what test.mjs takes, as a JavaScript module.
func fixtures(t *testing.T) string {
	t.Helper()
	exchanges := map[string]json.RawMessage{}
	files, err := filepath.Glob("../../sdk/exchanges/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		exchanges[strings.TrimSuffix(filepath.Base(file), ".json")] = read(t, file)
	}
	text, err := json.Marshal(exchanges)
	if err != nil {
		t.Fatal(err)
	}
	return "export const exchanges = " + string(text) + ";\nexport const webhooks = " +
		string(read(t, "../../sdk/webhooks/vectors.json")) + ";\n"
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestInBrowser runs the test file in Chromium, with the module loaded from
// another origin.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	files := map[string]string{
		"/ace.mjs":      string(read(t, "../../sdk/js/ace.mjs")),
		"/test.mjs":     string(read(t, "../../sdk/js/test.mjs")),
		"/fixtures.mjs": fixtures(t),
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write([]byte(files[r.URL.Path]))
	}))
	t.Cleanup(other.Close)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>test</title><script>
			window.end = (async () => {
				const sdk = await import("%[1]s/ace.mjs");
				const { exchanges, webhooks } = await import("%[1]s/fixtures.mjs");
				const { run } = await import("%[1]s/test.mjs");
				const { passed, failed } = await run({ sdk, exchanges, webhooks });
				return [...failed, passed + " passed, " + failed.length + " failed"].join("\n");
			})();
			</script>`, other.URL)
	}))
	t.Cleanup(page.Close)
	tab := b.Tab(t, browsertest.Options{Width: 1000, Height: 700})
	tab.Open(page.URL)
	passedAll(t, browsertest.Eval[string](tab, "window.end"))
}

// TestOnWorkers runs the test file in workerd, the runtime of Cloudflare
// Workers.
func TestOnWorkers(t *testing.T) {
	t.Parallel()
	workerd := native(t, "@cloudflare/workerd-linux-64/bin/workerd", "@cloudflare/workerd-linux-arm64/bin/workerd")
	dir, address := t.TempDir(), harness.FreeAddr(t)
	for name, text := range map[string]string{
		"ace.mjs":      string(read(t, "../../sdk/js/ace.mjs")),
		"test.mjs":     string(read(t, "../../sdk/js/test.mjs")),
		"fixtures.mjs": fixtures(t),
		"worker.mjs": `import * as sdk from "ace.mjs";
			import { exchanges, webhooks } from "fixtures.mjs";
			import { run } from "test.mjs";
			export default { async fetch() {
				const { passed, failed } = await run({ sdk, exchanges, webhooks });
				return new Response([...failed, passed + " passed, " + failed.length + " failed"].join("\n"));
			} };`,
		"config.capnp": `using Workerd = import "/workerd/workerd.capnp";
			const config :Workerd.Config = (
				services = [(name = "main", worker = .worker)],
				sockets = [(name = "http", address = "` + address + `", http = (), service = "main")],
			);
			const worker :Workerd.Worker = (
				modules = [
					(name = "worker.mjs", esModule = embed "worker.mjs"),
					(name = "ace.mjs", esModule = embed "ace.mjs"),
					(name = "test.mjs", esModule = embed "test.mjs"),
					(name = "fixtures.mjs", esModule = embed "fixtures.mjs"),
				],
				compatibilityDate = "2026-11-01",
			);`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command(workerd, "serve", "config.capnp")
	server.Dir = dir
	var said strings.Builder
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	passedAll(t, fetch(t, "http://"+address+"/"))
}
