package mcp_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ace/internal/protocol/mcp"
)

// TestConformance runs the scenarios of the official suite that apply to a
// stateless server of tools. ACE_MCP_CONFORMANCE is the command that starts the
// suite, for example "node …/@modelcontextprotocol/conformance/dist/index.js"
// (it needs Node 22).
func TestConformance(t *testing.T) {
	command := strings.Fields(os.Getenv("ACE_MCP_CONFORMANCE"))
	if len(command) == 0 {
		t.Skip("skipped: ACE_MCP_CONFORMANCE is not set")
	}
	s := newServer(nil)
	object := json.RawMessage(`{"type":"object"}`)
	s.AddRawTool(mcp.Tool{Name: "test_simple_text", Description: "Returns a text.", InputSchema: object},
		func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) {
			return &mcp.Result{Content: []mcp.Content{mcp.Text("This is a simple text response for testing.")}}, nil
		})
	s.AddRawTool(mcp.Tool{Name: "test_error_handling", Description: "Fails.", InputSchema: object},
		func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) {
			return &mcp.Result{
				Content: []mcp.Content{mcp.Text("This tool intentionally returns an error for testing")},
				IsError: true,
			}, nil
		})
	live := httptest.NewServer(s)
	t.Cleanup(live.Close)
	for _, scenario := range []string{
		"server-initialize", "server-session-lifecycle", "ping", "tools-list", "tools-call-simple-text",
		"tools-call-error", "dns-rebinding-protection",
	} {
		t.Run(scenario, func(t *testing.T) {
			args := append(command[1:len(command):len(command)], "server", "--url", live.URL+"/mcp", "--scenario",
				scenario,
				"--spec-version", "2025-06-18", "--force", "-o", t.TempDir())
			out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", scenario, err, out)
			}
		})
	}
}
