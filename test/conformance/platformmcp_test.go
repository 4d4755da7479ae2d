package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
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

// platformHost is a running platform, and what its first start printed.
type platformHost struct {
	url, key, signIn string
}

// startPlatform starts a platform with the sandbox's demo app.
func startPlatform(t *testing.T) *platformHost {
	t.Helper()
	return startPlatformWith(t, "")
}

// startPlatformWith starts a platform built with tags, with further settings.
func startPlatformWith(t *testing.T, tags string, settings ...string) *platformHost {
	t.Helper()
	address := harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, tags), append([]string{
		"ACE_HOSTS=platform", "ACE_PLATFORM_ADDR=" + address, "ACE_SANDBOX_ADDR=" + harness.FreeAddr(t),
		"ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + harness.DataDir(t),
	}, settings...), "serve")
	host := &platformHost{url: "http://" + address}
	if !p.Ready(host.url + "/healthz") {
		t.Fatal("the platform did not start")
	}
	key, link := regexp.MustCompile(`ace_[0-9A-Za-z]{36}`), regexp.MustCompile(`http://\S+/sign-in/\S+`)
	for range 1000 { // printed after the hosts answer, at the latest
		if host.key, host.signIn = key.FindString(p.Output()), link.FindString(p.Output()); host.signIn != "" {
			return host
		}
		if !p.Ready(host.url + "/healthz") {
			break
		}
	}
	t.Fatalf("the first start printed no key and no sign-in link:\n%s", p.Output())
	return nil
}

// user is who the agent works for: signed in at the platform, in a browser.
func (h *platformHost) user(t *testing.T, b *browsertest.Browser) *browsertest.Tab {
	t.Helper()
	tab := b.Tab(t, browsertest.Phone())
	tab.Open(h.signIn)
	tab.Press("main button")
	return tab
}

// connect opens a connect link and signs in at the demo app.
func connect(tab *browsertest.Tab, link string) {
	tab.Open(link)
	tab.Press("form.form .button")
	tab.Fill("#person", "Ann")
	tab.Press(`button[value="allow"]`)
	tab.See("Demo Notes is connected")
}

// agentReport is what the agents of the peers print.
type agentReport struct {
	Asked    int
	Version  string
	Tools    []string
	App      string
	Session  struct{ Status string }
	Found    string
	Required []string
	Run      struct {
		OK     bool
		Output struct{ Title string }
	}
	Connections []struct{ Status string }
	Wrong       struct {
		IsError     bool
		Code        string
		InputSchema map[string]any `json:"input_schema"`
	}
}

// letIn agrees to what a client that has no key asks for.
func letIn(tab *browsertest.Tab, client, link string) {
	tab.Open(link)
	tab.See(client)
	tab.Press(`button[value="allow"]`)
}

// run runs an agent, does in the browser what it asks the user for, and decodes what it
// prints last.
func run(t *testing.T, tab *browsertest.Tab, report any, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var faults bytes.Buffer
	cmd.Stderr = &faults
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		var asked struct {
			Open   string
			SignIn string `json:"sign_in"`
		}
		switch err := json.Unmarshal([]byte(last), &asked); {
		case err != nil:
		case asked.SignIn != "":
			letIn(tab, "Peer Agent", asked.SignIn)
		case asked.Open != "":
			connect(tab, asked.Open)
			if _, err := io.WriteString(in, "\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", command[1:3], err, last, faults.String())
	}
	if err := json.Unmarshal([]byte(last), report); err != nil {
		t.Fatalf("%s: %v\n%s", last, err, faults.String())
	}
}

// eachWay runs a test of an agent with a key, and of one that signs in by OAuth, which
// gets oauth in place of the key.
func eachWay(t *testing.T, b *browsertest.Browser, name string,
	agent func(t *testing.T, host *platformHost, tab *browsertest.Tab, key string),
) {
	t.Helper()
	for _, way := range []string{"key", "oauth"} {
		t.Run(name+"/"+way, func(t *testing.T) {
			t.Parallel()
			host := startPlatform(t)
			key := way
			if way == "key" {
				key = host.key
			}
			agent(t, host, host.user(t, b), key)
		})
	}
}

// check compares what an agent saw with what every agent has to see.
func (r *agentReport) check(t *testing.T) {
	t.Helper()
	six := []string{"search_apps", "connect_app", "list_connections", "find_tools", "get_tool", "run_tool"}
	if !slices.Equal(r.Tools, six) {
		t.Errorf("tools = %v, want %v", r.Tools, six)
	}
	if r.App != "demo-notes" || r.Session.Status != "connected" || r.Asked != 1 {
		t.Errorf("connecting %s ended %s after %d questions, want one", r.App, r.Session.Status, r.Asked)
	}
	if r.Found != "demo_notes__create_note" || fmt.Sprint(r.Required) != "[title]" || !r.Run.OK ||
		r.Run.Output.Title != "Tea" || len(r.Connections) != 1 || r.Connections[0].Status != "active" {
		t.Errorf("report = %+v", r)
	}
	if !r.Wrong.IsError || r.Wrong.Code != "invalid_arguments" || r.Wrong.InputSchema == nil {
		t.Errorf("wrong arguments = %+v, want the schema to repair them", r.Wrong)
	}
}

// TestPlatformAgents lets agents with the official TypeScript clients work: on
// versions with initialize the user opens the link of a result, on 2026-07-28 the
// client is asked within the call.
func TestPlatformAgents(t *testing.T) {
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	script := filepath.Join(scriptDir(t, modules, "mcp-agent.mjs", "mcp-oauth.mjs"), "mcp-agent.mjs")
	b := browsertest.Start(t)
	for kind, version := range map[string]string{"1": "2025-11-25", "2-legacy": "2025-11-25", "2-auto": "2026-07-28"} {
		eachWay(t, b, kind, func(t *testing.T, host *platformHost, tab *browsertest.Tab, key string) {
			t.Helper()
			report := &agentReport{}
			run(t, tab, report, node, script, kind, host.url+"/mcp", key)
			report.check(t)
			if report.Version != version {
				t.Errorf("version = %q, want %s", report.Version, version)
			}
		})
	}
}

// TestPlatformPythonAgents is the same with the official Python client, on both
// eras, and with fastmcp. ACE_MCP_PYTHON is a Python that has both.
func TestPlatformPythonAgents(t *testing.T) {
	python := os.Getenv("ACE_MCP_PYTHON")
	if python == "" {
		t.Skip("left out: ACE_MCP_PYTHON is not set")
	}
	b := browsertest.Start(t)
	for kind, version := range map[string]string{"mcp-legacy": "2025-11-25", "mcp-auto": "2026-07-28", "fastmcp": ""} {
		eachWay(t, b, kind, func(t *testing.T, host *platformHost, tab *browsertest.Tab, key string) {
			t.Helper()
			report := &agentReport{}
			run(t, tab, report, python, "mcp-agent.py", kind, host.url+"/mcp", key)
			report.check(t)
			if report.Version != version {
				t.Errorf("version = %q, want %s", report.Version, version)
			}
		})
	}
}
