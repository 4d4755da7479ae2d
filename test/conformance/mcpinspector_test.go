package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ace/internal/browsertest"
	"ace/test/harness"
)

// inspector is the command line of the official inspector: each call is a process.
// What it saves of a sign-in is in its own home.
type inspector struct {
	command []string
	home    string
	tab     *browsertest.Tab
	signIns int
}

// toolError is the exit code of a call whose result has isError.
const toolError = 5

// result is what a method returns.
func (i *inspector) result(t *testing.T, into any, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), i.command[0], slices.Concat(i.command[1:], arguments)...)
	cmd.Env = append(os.Environ(), "HOME="+i.home,
		// Only with this does it sign in where there is no terminal. It then starts a
		// browser, which is to do nothing: the URL is on its standard error, too.
		"MCP_AUTO_OPEN_ENABLED=true", "BROWSER=true", "DISPLAY=", "MCP_INSPECTOR_SECRET_STORE=file")
	var out, said bytes.Buffer
	cmd.Stdout = &out
	faults, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`Please navigate to: (http\S+)`)
	for lines := bufio.NewScanner(io.TeeReader(faults, &said)); lines.Scan(); {
		if found := link.FindStringSubmatch(lines.Text()); found != nil {
			letIn(i.tab, "Inspector", found[1])
			i.signIns++
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != toolError {
		t.Fatalf("inspector %v: %v\n%s\n%s", arguments, err, out.String(), said.String())
	}
	if err := json.Unmarshal(out.Bytes(), &struct{ Result any }{into}); err != nil {
		t.Fatalf("inspector %v: %v\n%s", arguments, err, out.String())
	}
}

// call calls a tool and decodes its result.
func (i *inspector) call(t *testing.T, into any, tool, arguments string) {
	t.Helper()
	i.result(t, &struct{ StructuredContent any }{into}, "--method", "tools/call", "--tool-name", tool,
		"--tool-args-json", arguments)
}

// TestPlatformInspector is TestPlatformAgents with the command line of the inspector, in
// both eras. Nobody can be asked within a call: it shows the user the URL of the result.
func TestPlatformInspector(t *testing.T) {
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	launcher := filepath.Join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	b := browsertest.Start(t)
	for _, era := range []string{"legacy", "modern"} {
		eachWay(t, b, era, func(t *testing.T, host *platformHost, tab *browsertest.Tab, key string) {
			t.Helper()
			i := &inspector{home: harness.DataDir(t), tab: tab, command: []string{
				node, launcher, "--cli", host.url + "/mcp", "--transport", "http", "--protocol-era", era, "--format",
				"json",
			}}
			if key == "oauth" {
				i.command = append(i.command, "--callback-url", "http://"+harness.FreeAddr(t)+"/oauth/callback")
			} else {
				i.command = append(i.command, "--header", "Authorization: Bearer "+key)
			}
			var listed struct{ Tools []struct{ Name string } }
			i.result(t, &listed, "--method", "tools/list")
			r := &agentReport{}
			for _, tool := range listed.Tools {
				r.Tools = append(r.Tools, tool.Name)
			}
			var apps struct{ Apps []struct{ App string } }
			i.call(t, &apps, "search_apps", `{"query":"demo notes"}`)
			r.App = apps.Apps[0].App
			var link struct {
				Status, URL string
				SessionID   string `json:"session_id"`
			}
			i.call(t, &link, "connect_app", `{"app":"`+r.App+`"}`)
			connect(tab, link.URL)
			r.Asked++
			i.call(t, &r.Session, "connect_app",
				`{"app":"`+r.App+`","session_id":"`+link.SessionID+`","wait_seconds":25}`)
			var found struct{ Tools []struct{ Tool string } }
			i.call(t, &found, "find_tools", `{"task":"write a note"}`)
			r.Found = found.Tools[0].Tool
			var tool struct {
				Input struct{ Required []string } `json:"input_schema"`
			}
			i.call(t, &tool, "get_tool", `{"tool":"`+r.Found+`"}`)
			r.Required = tool.Input.Required
			i.call(t, &r.Run, "run_tool", `{"tool":"`+r.Found+`","arguments":{"title":"Tea"}}`)
			i.call(t, r, "list_connections", `{}`)
			var wrong struct {
				IsError bool
				Content []struct{ Text string }
			}
			i.result(t, &wrong, "--method", "tools/call", "--tool-name", "run_tool", "--tool-args-json",
				`{"tool":"`+r.Found+`","arguments":{}}`)
			if err := json.Unmarshal([]byte(wrong.Content[0].Text), &struct{ Error any }{&r.Wrong}); err != nil {
				t.Fatal(err)
			}
			r.Wrong.IsError = wrong.IsError
			r.check(t)
			if want := map[bool]int{true: 1}[key == "oauth"]; i.signIns != want {
				t.Errorf("it signed in %d times, want %d", i.signIns, want)
			}
		})
	}
}
