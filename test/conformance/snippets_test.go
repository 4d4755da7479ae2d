package conformance

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/platform/mcpclients"
)

// lastTool is the last of the six in tools/list.
const lastTool = "run_tool"

// TestPlatformSnippets runs the set-up snippets of the platform's pages with the
// libraries that they are for. ACE_AGENTS_PYTHON is a Python that has those of
// OpenAI and LangChain.
func TestPlatformSnippets(t *testing.T) {
	t.Parallel()
	python, node, modules := os.Getenv("ACE_AGENTS_PYTHON"), os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if python == "" || node == "" || modules == "" {
		t.Skip("left out: ACE_AGENTS_PYTHON, ACE_NODE and ACE_NODE_MODULES are not all set")
	}
	host := startPlatform(t)
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	write := func(c mcpclients.Client, ending string) string {
		path := filepath.Join(dir, c.ID+ending)
		if err := os.WriteFile(path, []byte(c.Text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	asked := make(chan map[string]any, 1)
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.URL.Path != "/v1/responses" {
			t.Errorf("%s: %v", r.URL, err)
		}
		select {
		case asked <- request:
		default:
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed",` +
			`"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"output":[{"type":"message","id":"msg_1",` +
			`"status":"completed","role":"assistant","content":[{"type":"output_text","text":"none of ` + lastTool +
			`","annotations":[]}]}]}`))
	}))
	t.Cleanup(vendor.Close)
	for _, c := range mcpclients.For(host.url+"/mcp", host.key) {
		var command []string
		switch c.ID {
		case "openai-responses":
			command = []string{python, write(c, ".py")}
		case "openai-agents":
			command = []string{python, "agents_snippet.py", write(c, ".py")}
		case "langchain":
			command = []string{python, write(c, ".py")}
		case "vercel-ai":
			command = []string{node, write(c, ".mjs")}
		case "claude-desktop":
			command = append([]string{node}, throughRemote(t, dir, modules, c)...)
		default:
			continue // settings of programs, which package mcpclients compares
		}
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+vendor.URL+"/v1", "OPENAI_API_KEY=none", "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), lastTool) {
			t.Errorf("%s: %v\n%s\nprints no %s", c.Name, err, out, lastTool)
		}
	}
	select {
	case request := <-asked:
		tool := request["tools"].([]any)[0].(map[string]any)
		headers, _ := tool["headers"].(map[string]any)
		if tool["type"] != "mcp" || tool["server_url"] != host.url+"/mcp" ||
			headers["Authorization"] != "Bearer "+host.key {
			t.Errorf("the vendor of the model received %v", tool)
		}
	default:
		t.Error("the snippet for the Responses API sent nothing")
	}
}

// throughRemote is a client of the server that Claude Desktop would start: the
// settings name npx, which would load mcp-remote from a registry.
func throughRemote(t *testing.T, dir, modules string, c mcpclients.Client) []string {
	t.Helper()
	var settings struct {
		Servers map[string]struct {
			Args []string
			Env  map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(c.Text), &settings); err != nil {
		t.Fatal(err)
	}
	one := settings.Servers["ace"]
	arguments := append([]string{filepath.Join(modules, "mcp-remote", "dist", "proxy.js")}, one.Args[2:]...)
	config, err := json.Marshal(map[string]any{"command": os.Getenv("ACE_NODE"), "args": arguments, "env": one.Env})
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "desktop.mjs")
	if err := os.WriteFile(script, []byte(`import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
const server = `+string(config)+`
const client = new Client({ name: 'desktop', version: '1' })
await client.connect(new StdioClientTransport({ ...server, env: { ...process.env, ...server.env } }))
console.log((await client.listTools()).tools.map((tool) => tool.name))
process.exit(0)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{script}
}
