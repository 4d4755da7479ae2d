package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"
)

// TestConformance runs the scenarios of the official suite that apply to a
// server of tools without sessions, on each generation of versions. ACE_MCP_CONFORMANCE is the command that starts the
// suite, for example "node …/@modelcontextprotocol/conformance/dist/index.js"
// (it needs Node 22).
func TestConformance(t *testing.T) {
	command := strings.Fields(os.Getenv("ACE_MCP_CONFORMANCE"))
	if len(command) == 0 {
		t.Skip("skipped: ACE_MCP_CONFORMANCE is not set")
	}
	old, stateless := suiteServer(nil), suiteServer(&mcp.Options{Versions: []string{
		mcp.Version20260728, mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105,
	}})
	type run struct {
		server   *mcp.Server
		scenario string
		version  string
	}
	var runs []run
	for _, scenario := range []string{
		"server-initialize", "server-session-lifecycle", "ping", "tools-list", "tools-call-simple-text",
		"tools-call-error", "dns-rebinding-protection",
	} {
		runs = append(runs, run{old, scenario, mcp.Version20250618}, run{stateless, scenario, mcp.Version20251125})
	}
	for _, scenario := range []string{
		"server-stateless", "tools-list", "tools-call-simple-text", "tools-call-error", "dns-rebinding-protection",
		"http-header-validation",
	} {
		runs = append(runs, run{stateless, scenario, mcp.Version20260728})
	}
	for _, r := range runs {
		t.Run(r.version+"/"+r.scenario, func(t *testing.T) {
			live := httptest.NewServer(r.server)
			t.Cleanup(live.Close)
			args := append(command[1:len(command):len(command)], "server", "--url", live.URL+"/mcp", "--scenario",
				r.scenario, "--spec-version", r.version, "--force", "-o", t.TempDir())
			out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", r.scenario, err, out)
			}
		})
	}
}

// suiteServer serves the tools that scenarios call by name.
func suiteServer(o *mcp.Options) *mcp.Server {
	s := newServer(o)
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
	for _, name := range []string{"test_logging_tool", "test_streaming_elicitation"} {
		s.AddRawTool(mcp.Tool{Name: name, Description: "Returns one response, without a stream.", InputSchema: object},
			func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) {
				return &mcp.Result{Content: []mcp.Content{mcp.Text("Done.")}}, nil
			})
	}
	s.AddRawTool(mcp.Tool{Name: "test_missing_capability", Description: "Needs sampling.", InputSchema: object},
		func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) {
			return nil, &jsonrpc.Error{
				Code: -32021, Message: "This needs sampling.", Status: http.StatusBadRequest,
				Data: map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}},
			}
		})
	return s
}
