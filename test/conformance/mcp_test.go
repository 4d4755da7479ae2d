package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ace/test/harness"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// startStore starts a store built with tags and returns its address.
func startStore(t *testing.T, tags string, settings ...string) string {
	t.Helper()
	store, sandbox := harness.FreeAddr(t), harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, tags), append([]string{
		"ACE_STORE_ADDR=" + store, "ACE_SANDBOX_ADDR=" + sandbox, "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + harness.DataDir(t),
	}, settings...), "serve")
	if !p.Ready("http://" + store + "/healthz") {
		t.Fatal("the store did not start")
	}
	return "http://" + store
}

// mcpSuites are the commands of the conformance suites. ACE_MCP_CONFORMANCE
// starts the newer one; the one before is a package beside it.
func mcpSuites(t *testing.T) map[string][]string {
	t.Helper()
	newer := strings.Fields(os.Getenv("ACE_MCP_CONFORMANCE"))
	if len(newer) == 0 {
		t.Skip("left out: ACE_MCP_CONFORMANCE is not set")
	}
	suites := map[string][]string{"newer": newer}
	if modules := os.Getenv("ACE_NODE_MODULES"); modules != "" {
		suites["before"] = []string{newer[0], filepath.Join(modules, "mcp-conformance-before", "dist", "index.js")}
	}
	return suites
}

// scenarios reads the tables of mcp-scenarios.md, or of the page for the platform: what
// applies, with the suites or versions that have it, and why the rest does not.
func scenarios(t *testing.T, page string) (applies, reasons map[string]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	yes, no, ok := strings.Cut(string(text), "## Those that do not")
	if !ok {
		t.Fatalf("%s has no second table", page)
	}
	row := regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \| ([^|]+) \|`)
	table := func(text string) map[string]string {
		rows := map[string]string{}
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			if m[1] != "---" {
				rows[m[1]] = strings.TrimSpace(m[2])
			}
		}
		return rows
	}
	return table(yes), table(no)
}

// TestMCPSuite runs what applies, and finds every other scenario of a version
// that the store serves among those that do not.
func TestMCPSuite(t *testing.T) {
	t.Parallel()
	suites := mcpSuites(t)
	applies, reasons := scenarios(t, "mcp-scenarios.md")
	store := startStore(t, "conformance", "ACE_RATE_LIMIT=off")
	unheard := maps.Clone(reasons)
	for name, command := range suites {
		for _, scenario := range listed(t, command, "2025-11-25") {
			delete(unheard, scenario)
			if applies[scenario] == "" && reasons[scenario] == "" {
				t.Errorf("the %s suite has the scenario %s: run it, or say in mcp-scenarios.md why it does not apply",
					name, scenario)
			}
		}
		for scenario, in := range applies {
			if in == "newer" && name != "newer" {
				continue
			}
			t.Run(name+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				args := append(slices.Clone(command[1:]), "server", "--url", store+"/mcp", "--scenario", scenario,
					"-o", t.TempDir())
				if name == "newer" {
					args = append(args, "--spec-version", "2025-06-18", "--force")
				}
				out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", scenario, err, out)
				}
			})
		}
	}
	for scenario := range unheard {
		t.Errorf("mcp-scenarios.md speaks of %s, which no suite has", scenario)
	}
}

// listed returns the scenarios of a suite for servers of a version. The older suite
// does not distinguish versions.
func listed(t *testing.T, command []string, version string) []string {
	t.Helper()
	args := append(slices.Clone(command[1:]), "list", "--server", "--spec-version", version)
	out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput()
	if err != nil {
		t.Fatalf("list: %v\n%s", err, out)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\s*- ([a-z0-9-]+)`).FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	if len(names) < 20 {
		t.Fatalf("list = %s, want the scenarios", out)
	}
	return names
}

// sdkAnswer is what mcp-sdk.mjs prints.
type sdkAnswer struct {
	Server       struct{ Name, Title, Version string }
	Instructions string
	Capabilities map[string]any
	Tools        []string
	Refusal      string
	Calls        struct {
		SiteInfo struct{ Name string }    `json:"site_info"`
		ReadPage struct{ Content string } `json:"read_page"`
		None     string
		Products struct{ Offers []struct{ ID string } } `json:"list_products"`
		Created  struct {
			ID, Status  string
			ContinueURL string `json:"continue_url"`
		} `json:"create_checkout"`
		Read struct{ ID, Status string } `json:"get_checkout"`
		Run  struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
}

func tenTools() []string {
	return strings.Fields(
		"site_info search_pages read_page list_products create_checkout get_checkout list_services " +
			"run_ai_search_audit run_structured_data_pack run_llms_txt_draft")
}

// TestMCPTypeScript connects, lists and calls through both lines of the official
// SDK, under the limit that a store has by default.
func TestMCPTypeScript(t *testing.T) {
	t.Parallel()
	node, modules := os.Getenv("ACE_NODE"), os.Getenv("ACE_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	dir := scriptDir(t, modules, "mcp-sdk.mjs")
	for _, kind := range []string{"1", "2-legacy", "2-auto"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			store := startStore(t, "")
			var faults bytes.Buffer
			cmd := exec.CommandContext(t.Context(), node, filepath.Join(dir, "mcp-sdk.mjs"), kind, store+"/mcp")
			cmd.Stderr = &faults
			out, err := cmd.Output()
			var got sdkAnswer
			if bad := json.Unmarshal(out, &got); err != nil || bad != nil {
				t.Fatalf("%v, %v\n%s\n%s", err, bad, out, faults.String())
			}
			checkSDK(t, store, &got)
		})
	}
}

// scriptDir returns a folder with scripts, from which Node finds the installed
// packages.
func scriptDir(t *testing.T, modules string, scripts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, script), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func checkSDK(t *testing.T, store string, got *sdkAnswer) {
	t.Helper()
	if diff := cmp.Diff(tenTools(), got.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got.Server.Name != "store" || got.Server.Title == "" || !strings.Contains(got.Instructions, "create_checkout") ||
		fmt.Sprint(got.Capabilities) != "map[tools:map[]]" {
		t.Errorf("server = %+v %v %q", got.Server, got.Capabilities, got.Instructions)
	}
	c := &got.Calls
	if c.SiteInfo.Name == "" || !strings.HasPrefix(c.ReadPage.Content, "# ") || !strings.Contains(c.None,
		"Closest: /refunds") || len(c.Products.Offers) == 0 {
		t.Errorf("reading calls = %+v", c)
	}
	if c.Created.Status != "requires_escalation" || !strings.HasPrefix(c.Created.ContinueURL, store+"/c/") ||
		c.Read.ID != c.Created.ID || c.Read.Status != "requires_escalation" {
		t.Errorf("buying calls = %+v, %+v", c.Created, c.Read)
	}
	if len(c.Run.Content) == 0 || !c.Run.IsError {
		t.Errorf("a run without payment = %+v, want isError", c.Run)
	}
	if !strings.Contains(got.Refusal, "Retry after") {
		t.Errorf("over the limit the model reads %q, want it to say how long to wait", got.Refusal)
	}
}

// TestMCPGo does the same through the official Go SDK, which probes for a newer
// version first.
func TestMCPGo(t *testing.T) {
	t.Parallel()
	store := startStore(t, "")
	session := connectGo(t, store)
	if got := session.InitializeResult(); got.ProtocolVersion != "2025-06-18" || got.ServerInfo.Name != "store" {
		t.Errorf("InitializeResult = %+v", got)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatalf("ListTools = %v", err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff(tenTools(), names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for tool, arguments := range map[string]map[string]any{
		"site_info": {}, "search_pages": {"query": "refunds"}, "read_page": {"path": "/refunds"},
		"list_products": {"limit": 2},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || result.IsError || result.StructuredContent == nil {
			t.Errorf("CallTool(%s) = %+v, %v", tool, result, err)
		}
	}
	var refusal error
	for range 40 {
		if _, refusal = session.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "list_services", Arguments: map[string]any{}}); refusal != nil {
			break
		}
	}
	if refusal == nil {
		t.Error("40 calls at once were served")
	}
	time.Sleep(1500 * time.Millisecond) // the limit's own second
	again := connectGo(t, store)
	opened, err := again.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "create_checkout", Arguments: map[string]any{"offer_id": "prompt_handbook"}})
	if err != nil || opened.IsError {
		t.Errorf("CallTool(create_checkout) = %+v, %v", opened, err)
	}
}

func connectGo(t *testing.T, store string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: store + "/mcp"}, nil)
	if err != nil {
		t.Fatalf("Connect = %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}
