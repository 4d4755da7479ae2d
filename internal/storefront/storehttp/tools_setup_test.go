package storehttp_test

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

// toolUser is an agent that calls the tools of a store. Each result that it gets
// is held against the rules that hold for all of them.
type toolUser struct {
	*world
	listed  func() map[string]listedTool
	outputs map[string]*mcp.Schema
}

type listedTool struct {
	Name                      string
	InputSchema, OutputSchema json.RawMessage
	Meta                      json.RawMessage `json:"_meta"`
}

// toolAnswer is the result of a call.
type toolAnswer struct {
	Content []struct{ Type, Text string }
	// Structured is nil where the result has none.
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
	Meta       json.RawMessage `json:"_meta"`
}

// text is what every client shows to its model.
func (a toolAnswer) text() string {
	if len(a.Content) == 0 {
		return ""
	}
	return a.Content[0].Text
}

func (a toolAnswer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.Structured, v); err != nil {
		t.Fatalf("result %+v: %v", a, err)
	}
}

// useTools starts a store with the default pages and an agent.
func useTools(t *testing.T, extra ...fstest.MapFS) *toolUser {
	t.Helper()
	return newToolUser(setupSite(t, extra...))
}

// useToolsOf starts a store without pages.
func useToolsOf(t testing.TB, change ...func(*storehttp.Deps)) *toolUser {
	t.Helper()
	return newToolUser(setup(t, change...))
}

func newToolUser(w *world) *toolUser {
	u := &toolUser{world: w, outputs: map[string]*mcp.Schema{}}
	u.listed = sync.OnceValue(u.list)
	return u
}

func (u *toolUser) list() map[string]listedTool {
	u.t.Helper()
	r := u.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var answer struct {
		Result struct{ Tools []listedTool }
	}
	r.into(u.t, &answer)
	all := map[string]listedTool{}
	for _, tool := range answer.Result.Tools {
		all[tool.Name] = tool
	}
	if len(all) != 10 {
		u.t.Fatalf("tools/list = %s, want ten tools", r.Body)
	}
	return all
}

// call calls a tool. headers are name, value, …
func (u *toolUser) call(tool, arguments string, headers ...string) toolAnswer {
	u.t.Helper()
	return u.send(tool, `{"name":"`+tool+`","arguments":`+arguments+`}`, headers...)
}

func (u *toolUser) send(tool, params string, headers ...string) toolAnswer {
	u.t.Helper()
	r := u.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":`+params+`}`,
		append([]string{"MCP-Protocol-Version", "2025-06-18"}, headers...)...)
	var answer struct {
		ID     string
		Result *toolAnswer
	}
	r.into(u.t, &answer)
	if r.Status != http.StatusOK || answer.Result == nil || answer.ID != "a" {
		u.t.Fatalf("%s %s = %d %s, want a result", tool, params, r.Status, r.Body)
	}
	u.judge(tool, *answer.Result)
	return *answer.Result
}

// judge holds the rules: a result of a tool with an output schema fits it and
// is told as text as well; a failure of one has text alone.
func (u *toolUser) judge(tool string, a toolAnswer) {
	u.t.Helper()
	schema := u.listed()[tool].OutputSchema
	if len(a.Content) == 0 || a.Content[0].Type != "text" || a.text() == "" {
		u.t.Errorf("%s: content = %v, want text", tool, a.Content)
		return
	}
	if schema == nil {
		return
	}
	if a.IsError {
		if a.Structured != nil {
			u.t.Errorf("%s: a failure carries %s, which clients would validate", tool, a.Structured)
		}
		return
	}
	if u.outputs[tool] == nil {
		compiled, err := mcp.CompileSchema(schema)
		if err != nil {
			u.t.Fatal(err)
		}
		u.outputs[tool] = compiled
	}
	if err := u.outputs[tool].Check(a.Structured); err != nil {
		u.t.Errorf("%s: %s does not fit the output schema: %v", tool, a.Structured, err)
	}
	if diff := cmp.Diff(plainJSON(u.t, a.Structured), plainJSON(u.t, []byte(a.text()))); diff != "" {
		u.t.Errorf("%s: the text says otherwise (-structured +text):\n%s", tool, diff)
	}
}

// plainJSON decodes JSON for a comparison.
func plainJSON(t testing.TB, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// fails fails the test unless a call is refused in words that hold all of want.
func (u *toolUser) fails(tool, arguments string, want ...string) {
	u.t.Helper()
	a := u.call(tool, arguments)
	if !a.IsError {
		u.t.Errorf("%s %s = %s, want a failure", tool, arguments, a.text())
		return
	}
	for _, text := range want {
		if !strings.Contains(a.text(), text) {
			u.t.Errorf("%s %s = %q, want %q in it", tool, arguments, a.text(), text)
		}
	}
}
