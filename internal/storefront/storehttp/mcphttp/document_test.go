package mcphttp_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"ace/internal/foundation/jsonread"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/mcphttp"
	"ace/internal/storefront/storehttp/sitehttp"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the blocks of docs/mcp.md")

const document = "../../../../docs/mcp.md"

// served is a server without a store behind it: it lists, and does nothing.
func served() *mcphttp.Handler {
	return mcphttp.New(mcphttp.Site{BaseURL: "https://store.example", Name: "Store", Version: "1.0.0"},
		agenttool.New(agenttool.Deps{Site: &sitehttp.Handler{}}), nil)
}

// list returns the entries of tools/list as they are sent.
func list(t testing.TB) []json.RawMessage {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://store.example/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	served().ServeHTTP(w, r)
	var answer struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Result.Tools) != 10 {
		t.Fatalf("tools/list = %d %s, %v, want ten tools", w.Code, w.Body, err)
	}
	return answer.Result.Tools
}

// TestDocument compares the blocks of docs/mcp.md with tools/list.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	at := 0
	for _, entry := range list(t) {
		var tool struct{ Name string }
		if err := json.Unmarshal(entry, &tool); err != nil {
			t.Fatal(err)
		}
		heading := strings.Index(page[at:], "\n## "+tool.Name+"\n")
		if heading < 0 {
			t.Fatalf("docs/mcp.md has no section %s after those before it", tool.Name)
		}
		at += heading
		from := at + strings.Index(page[at:], "```json\n") + len("```json\n")
		to := from + strings.Index(page[from-1:], "\n```") // the block may be empty
		value, err := jsonread.Parse(entry)
		if err != nil {
			t.Fatal(err)
		}
		want := string(laidOut(nil, value, "\n"))
		if *update {
			page = page[:from] + want + "\n" + page[max(from, to):]
			continue
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(page[from:max(from, to-1)], "\n")); diff != "" {
			t.Errorf("docs/mcp.md tells of %s otherwise than tools/list (-list +page); run the test with -update:\n%s",
				tool.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(document, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// laidOut writes JSON as people read it: what fits a line stays on one.
func laidOut(out []byte, value *jsonread.Value, indent string) []byte {
	const width = 140
	text := value.Raw()
	if len(indent)+len(text) <= width || value.Kind() != jsonread.Map && value.Kind() != jsonread.Array {
		return append(out, text...)
	}
	first := true
	next := func() {
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, indent...)
		out = append(out, "  "...)
	}
	if value.Kind() == jsonread.Map {
		out = append(out, '{')
		for name, field := range value.Fields() {
			next()
			out = append(strconv.AppendQuote(out, name), ": "...)
			out = laidOut(out, field, indent+"  ")
		}
		return append(append(out, indent...), '}')
	}
	out = append(out, '[')
	for entry := range value.Items() {
		next()
		out = laidOut(out, entry, indent+"  ")
	}
	return append(append(out, indent...), ']')
}

// TestTable holds the names, groups and annotations of the tools, in order.
func TestTable(t *testing.T) {
	t.Parallel()
	type row struct {
		Name, Group string
		Hints       string // readOnly destructive idempotent openWorld
		Output      bool
	}
	want := []row{
		{"site_info", "read", "r-i-", true},
		{"search_pages", "read", "r-i-", true},
		{"read_page", "read", "r-i-", true},
		{"list_products", "buy", "r-i-", true},
		{"create_checkout", "buy", "---o", true},
		{"get_checkout", "buy", "r-i-", true},
		{"list_services", "services", "r-i-", true},
		{"run_ai_search_audit", "services", "--io", false},
		{"run_structured_data_pack", "services", "--io", false},
		{"run_llms_txt_draft", "services", "--io", false},
	}
	letters := func(a map[string]any) string {
		hints := []byte("----")
		for i, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if stated, ok := a[name].(bool); !ok {
				hints[i] = '?'
			} else if stated {
				hints[i] = "rdio"[i]
			}
		}
		return string(hints)
	}
	var got []row
	groups := map[string]string{}
	for _, tool := range agenttool.Table() {
		groups[tool.Name] = string(tool.Group)
	}
	for _, entry := range list(t) {
		var tool struct {
			Name, Title, Description string
			Annotations              map[string]any
			OutputSchema             json.RawMessage
		}
		if err := json.Unmarshal(entry, &tool); err != nil {
			t.Fatal(err)
		}
		got = append(got, row{tool.Name, groups[tool.Name], letters(tool.Annotations), tool.OutputSchema != nil})
		if tool.Title == "" || len(tool.Description) < 80 || len(tool.Description) > 700 {
			t.Errorf("%s has the title %q and a description of %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
