package storetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"ace/internal/protocol/mcp"
	"ace/internal/storefront/storehttp"

	"github.com/google/go-cmp/cmp"
)

// ToolUser is an agent that calls the tools of a store. Each result that it gets
// is held against the rules that hold for all of them.
type ToolUser struct {
	*Store
	// Listed are the tools by name, as tools/list shows them.
	Listed func() map[string]ListedTool
	// Outputs are the compiled output schemas of tools, by name.
	Outputs map[string]*mcp.Schema
}

// ListedTool is a tool as tools/list shows it.
type ListedTool struct {
	Name                      string
	InputSchema, OutputSchema json.RawMessage
	Meta                      json.RawMessage `json:"_meta"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	Content []struct{ Type, Text string }
	// Structured is nil where the result has none.
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
	Meta       json.RawMessage `json:"_meta"`
}

// Text is what every client shows to its model.
func (a ToolResult) Text() string {
	if len(a.Content) == 0 {
		return ""
	}
	return a.Content[0].Text
}

// Into decodes the structured result.
func (a ToolResult) Into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.Structured, v); err != nil {
		t.Fatalf("result %+v: %v", a, err)
	}
}

// UseTools starts a store with the default pages and an agent.
func UseTools(t testing.TB, extra ...fstest.MapFS) *ToolUser {
	t.Helper()
	return NewToolUser(StartSite(t, extra...))
}

// UseToolsOf starts a store without pages.
func UseToolsOf(t testing.TB, change ...func(*storehttp.Deps)) *ToolUser {
	t.Helper()
	return NewToolUser(Start(t, change...))
}

// NewToolUser is an agent that calls the tools of w.
func NewToolUser(w *Store) *ToolUser {
	u := &ToolUser{Store: w, Outputs: map[string]*mcp.Schema{}}
	u.Listed = sync.OnceValue(u.list)
	return u
}

func (u *ToolUser) list() map[string]ListedTool {
	u.T.Helper()
	r := u.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var answer struct {
		Result struct{ Tools []ListedTool }
	}
	r.Into(u.T, &answer)
	all := map[string]ListedTool{}
	for _, tool := range answer.Result.Tools {
		all[tool.Name] = tool
	}
	if len(all) != 10 {
		u.T.Fatalf("tools/list = %s, want ten tools", r.Body)
	}
	return all
}

// Call calls a tool. headers are name, value, …
func (u *ToolUser) Call(tool, arguments string, headers ...string) ToolResult {
	u.T.Helper()
	return u.Send(tool, `{"name":"`+tool+`","arguments":`+arguments+`}`, headers...)
}

// Send calls a tool with the params as they are.
func (u *ToolUser) Send(tool, params string, headers ...string) ToolResult {
	u.T.Helper()
	r := u.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":`+params+`}`,
		append([]string{"MCP-Protocol-Version", "2025-06-18"}, headers...)...)
	var answer struct {
		ID     string
		Result *ToolResult
	}
	r.Into(u.T, &answer)
	if r.Status != http.StatusOK || answer.Result == nil || answer.ID != "a" {
		u.T.Fatalf("%s %s = %d %s, want a result", tool, params, r.Status, r.Body)
	}
	u.check(tool, *answer.Result)
	return *answer.Result
}

// check holds the rules: a result of a tool with an output schema fits it and
// is returned as text as well; a failure of one has text alone.
func (u *ToolUser) check(tool string, a ToolResult) {
	u.T.Helper()
	schema := u.Listed()[tool].OutputSchema
	if len(a.Content) == 0 || a.Content[0].Type != "text" || a.Text() == "" {
		u.T.Errorf("%s: content = %v, want text", tool, a.Content)
		return
	}
	if schema == nil {
		return
	}
	if a.IsError {
		if a.Structured != nil {
			u.T.Errorf("%s: a failure carries %s, which clients would validate", tool, a.Structured)
		}
		return
	}
	if u.Outputs[tool] == nil {
		compiled, err := mcp.CompileSchema(schema)
		if err != nil {
			u.T.Fatal(err)
		}
		u.Outputs[tool] = compiled
	}
	if err := u.Outputs[tool].Check(a.Structured); err != nil {
		u.T.Errorf("%s: %s does not fit the output schema: %v", tool, a.Structured, err)
	}
	if diff := cmp.Diff(PlainJSON(u.T, a.Structured), PlainJSON(u.T, []byte(a.Text()))); diff != "" {
		u.T.Errorf("%s: the text says otherwise (-structured +text):\n%s", tool, diff)
	}
}

// PlainJSON decodes JSON for a comparison.
func PlainJSON(t testing.TB, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// Fails fails the test unless a call is refused in words that hold all of want.
func (u *ToolUser) Fails(tool, arguments string, want ...string) {
	u.T.Helper()
	a := u.Call(tool, arguments)
	if !a.IsError {
		u.T.Errorf("%s %s = %s, want a failure", tool, arguments, a.Text())
		return
	}
	for _, text := range want {
		if !strings.Contains(a.Text(), text) {
			u.T.Errorf("%s %s = %q, want %q in it", tool, arguments, a.Text(), text)
		}
	}
}

// Timeless removes from decoded JSON when it was generated.
func Timeless(tree any) any {
	switch n := tree.(type) {
	case map[string]any:
		for _, name := range []string{"generated_at", "checked_at"} {
			delete(n, name)
		}
		for _, v := range n {
			Timeless(v)
		}
	case []any:
		for _, v := range n {
			Timeless(v)
		}
	}
	return tree
}
