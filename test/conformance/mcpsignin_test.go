package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ace/internal/browsertest"
)

// signInReport is what mcp-sign-in.mjs prints.
type signInReport struct {
	State, Iss string
	Tools      []string
	App        string
	Scope      string
	Expires    int
	Refreshed  string
	Replaced   bool
	Old        int // status of the access token that was replaced
	Current    int
	Rest       string // code of the problem of the REST API
	Revoked    int
	After      int // status of an access token after its revocation
}

// TestPlatformSignIn lets the official TypeScript clients sign in without a key: they
// find the authorization server, register, and have the user agree in a browser.
func TestPlatformSignIn(t *testing.T) {
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	script := filepath.Join(scriptDir(t, modules, "mcp-sign-in.mjs", "mcp-oauth.mjs"), "mcp-sign-in.mjs")
	b := browsertest.Start(t)
	for _, kind := range []string{"1", "2"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			host := startPlatform(t)
			tab := host.user(t, b)
			got := signInReport{}
			run(t, tab, &got, node, script, kind, host.url+"/mcp")
			six := []string{"search_apps", "connect_app", "list_connections", "find_tools", "get_tool", "run_tool"}
			if !slices.Equal(got.Tools, six) {
				t.Errorf("tools = %v, want %v", got.Tools, six)
			}
			got.Tools = nil
			want := signInReport{
				State: "a state", Iss: host.url, App: "demo-notes", Scope: "read connect run", Expires: 3600,
				Refreshed: "AUTHORIZED", Replaced: true, Old: 401, Current: 200, Rest: "wrong_audience",
				Revoked: 200, After: 401,
			}
			if g, w := text(t, got), text(t, want); g != w {
				t.Errorf("report = %s\nwant     %s", g, w)
			}
		})
	}
}

func text(t *testing.T, v signInReport) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
