package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/browsertest"
	"ace/test/harness"
)

// startLibrary runs an MCP server of the official SDK behind the authorization
// server of the package oidc-provider, an implementation of another party, and returns its
// origin. Access tokens live as many seconds as lifetime says.
func startLibrary(t *testing.T, lifetime int) string {
	t.Helper()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set (scripts/install-test-needs node)")
	}
	for _, name := range []string{"oidc-provider", "@modelcontextprotocol/sdk"} {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			t.Skipf("left out: the package %s is not installed in ACE_NODE_MODULES", name)
		}
	}
	wish, err := json.Marshal(map[string]any{
		"access": lifetime, "refresh": 600, "ack": "draft-02",
		"jwks": map[string]any{"keys": []any{}}, "tools": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("..", "conformance", "oidc-provider.mjs"))
	cmd.Env = append(os.Environ(), "NODE_NO_WARNINGS=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // it ends with its input
		_ = cmd.Wait()
	})
	if _, err := stdin.Write(append(wish, '\n')); err != nil {
		t.Fatal(err)
	}
	var said struct{ Origin string }
	for lines := bufio.NewScanner(stdout); said.Origin == "" && lines.Scan(); {
		_ = json.Unmarshal(lines.Bytes(), &said) // other lines are notices
	}
	if said.Origin == "" {
		t.Fatal("oidc-provider did not start")
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }() // ends with the process
	return said.Origin
}

// TestMCPByOAuth adds an MCP server that asks for a sign-in, which nobody has
// registered us with: found, registered, refused by the person, then allowed;
// its tools are there at once and go on after the token's end.
func TestMCPByOAuth(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	// Long enough for a slow machine to use a token that it was just given.
	origin := startLibrary(t, 10)
	a := newcomer(t, "ACE_EGRESS_ALLOW=127.0.0.0/8")
	made := a.must(http.StatusCreated, http.MethodPost, "/custom-connectors",
		`{"type":"mcp","name":"Town library","url":"`+origin+`/mcp","auth":{"kind":"mcp_oauth"}}`)
	connect, _ := made["connect"].(map[string]any)
	app, id := made["app"].(string), made["id"].(string)
	if made["status"] != "needs_auth" || made["tools_count"] != 0.0 || connect["url"] == nil {
		t.Fatalf("connector = %v", made)
	}
	tab := b.Tab(t, browsertest.Phone())
	tab.Open(a.signInLink())
	tab.Press("main button")

	tab.Open(connect["url"].(string))
	tab.Shot("mcp-1-question")
	tab.See("Connect Town library")
	tab.Press("form.form .button")
	if at := tab.URL(); !strings.HasPrefix(at, origin) {
		t.Fatalf("the button leads to %s:\n%s", at, tab.Text("body"))
	}
	tab.Press(`a[href*="abort"]`)
	tab.Shot("mcp-2-denied")
	tab.See("Nothing was connected")
	if c := a.must(http.StatusOK, http.MethodGet, "/custom-connectors/"+id, ""); c["status"] != "needs_auth" {
		t.Errorf("after a no: %v", c)
	}
	if status, refused := a.call(http.MethodPost, "/tools/find",
		`{"task":"lend a book of the town library"}`); status != http.StatusOK || strings.Contains(text(t, refused),
		"lend_book") {
		t.Errorf("before anybody signed in: %d %v", status, refused)
	}

	again := a.must(http.StatusOK, http.MethodPost, "/custom-connectors/"+id+"/refresh", "")
	tab.Open(again["connect"].(map[string]any)["url"].(string))
	tab.Press("form.form .button")
	tab.Fill(`[name="login"]`, "ann")
	tab.Fill(`[name="password"]`, "anything")
	tab.Press(`button[type="submit"]`)
	tab.See("files:read")
	tab.Press(`button[type="submit"]`) // consent
	tab.Shot("mcp-3-connected")
	tab.See("Town library is connected")
	if body := tab.Text("body"); strings.Contains(body, "Works in part") {
		t.Errorf("the server gave all that was asked for, and the page says:\n%s", body)
	}
	a.lends(app, id)
}

func text(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// await looks at what the platform shows until it is what a test waits for.
func (a *account) await(what string, there func() bool) {
	a.t.Helper()
	for deadline := time.Now().Add(harness.Patience); !there(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.t.Fatalf("%s did not come in time", what)
		}
	}
}

// lends works with the connected server.
func (a *account) lends(app, id string) {
	a.t.Helper()
	// The import runs as a job, which the sign-in has woken.
	var c map[string]any
	a.await("the tools of the server", func() bool {
		c = a.must(http.StatusOK, http.MethodGet, "/custom-connectors/"+id, "")
		return c["status"] == "ready"
	})
	if c["tools_count"] != 2.0 || c["connection_id"] == nil {
		a.t.Fatalf("connector = %v", c)
	}
	found := a.must(http.StatusOK, http.MethodPost, "/tools/find", `{"task":"lend a book of the town library"}`)
	best := found["tools"].([]any)[0].(map[string]any)
	if best["connection_status"] != "connected" || !strings.HasSuffix(best["tool"].(string), "__lend_book") {
		a.t.Fatalf("found %v", best)
	}
	lend := func() {
		a.t.Helper()
		run := a.must(http.StatusOK, http.MethodPost, "/tools/"+best["tool"].(string)+"/run",
			`{"arguments":{"title":"Emma"}}`)
		if run["ok"] != true || !strings.Contains(text(a.t, run["output"]), "ann: lend_book Emma") {
			a.t.Fatalf("run = %v", run)
		}
	}
	lend()
	before := a.connection(app)
	ends, err := time.Parse(time.RFC3339, before["token_expires_at"].(string))
	if err != nil {
		a.t.Fatal(err)
	}
	// Every call works, before and after the token is renewed.
	var after map[string]any
	a.await("another token", func() bool {
		lend()
		after = a.connection(app)
		later, err := time.Parse(time.RFC3339, after["token_expires_at"].(string))
		return err == nil && later.After(ends)
	})
	lend()
	if after["status"] != "active" {
		a.t.Errorf("after the token was renewed: %v, before: %v", after, before)
	}
	a.must(http.StatusNoContent, http.MethodDelete, "/connections/"+after["id"].(string), "")
	// The authorization server is notified by a job that the deletion has woken.
	a.await("word of the authorization server", func() bool {
		return strings.Contains(text(a.t, a.asOwner(http.MethodGet, "/audit-log", "")), "connection.ended_at_vendor")
	})
	if status, refused := a.call(http.MethodPost, "/tools/"+best["tool"].(string)+"/run",
		`{"arguments":{"title":"Emma"}}`); status == http.StatusOK {
		a.t.Errorf("after the connection was deleted: %d %v", status, refused)
	}
}
