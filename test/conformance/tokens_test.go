package conformance

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ace/test/harness"
)

// TestPlatformListTokens counts what the list of tools costs a model, with the
// tokenizers of models themselves: less than 2,500 tokens.
func TestPlatformListTokens(t *testing.T) {
	t.Parallel()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	if _, err := os.Stat(filepath.Join(modules, "gpt-tokenizer")); err != nil {
		t.Skip("left out: the package gpt-tokenizer is not installed in ACE_NODE_MODULES")
	}
	host := startPlatform(t)
	script := filepath.Join(scriptDir(t, modules, "tokens.mjs"), "tokens.mjs")
	for _, version := range []string{"2024-11-05", "2025-11-25"} {
		_, list, err := harness.Call(
			t,
			http.MethodPost,
			host.url+"/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			"Authorization",
			"Bearer "+host.key,
			"MCP-Protocol-Version",
			version,
		)
		if err != nil || !strings.Contains(list, `"`+lastTool+`"`) {
			t.Fatalf("tools/list = %s, %v", list, err)
		}
		cmd := exec.CommandContext(t.Context(), node, script)
		cmd.Stdin = strings.NewReader(list)
		out, err := cmd.Output()
		var counts map[string]int
		if bad := json.Unmarshal(out, &counts); err != nil || bad != nil {
			t.Fatalf("%v, %v: %s", err, bad, out)
		}
		for _, name := range []string{"cl100k", "o200k"} {
			if n := counts[name]; n < 500 || n >= 2500 {
				t.Errorf("version %s costs %d tokens of %s, want less than 2500", version, n, name)
			}
		}
		t.Logf("version %s: %v tokens of %d bytes", version, counts, len(list))
	}
}
