package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bookcase is an MCP server of the official SDK whose tool lists books: as text, as
// many servers do, or structured.
type bookcase struct {
	mu    sync.Mutex
	books []string // newest first
}

func (s *bookcase) put(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books = append([]string{id}, s.books...)
}

func (s *bookcase) handler() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	schema := map[string]any{"type": "object", "properties": map[string]any{"room": map[string]any{"type": "string"}}}
	list := func(structured bool) mcp.ToolHandler {
		return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			var in struct{ Room string }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			books := []any{}
			for _, id := range s.books {
				books = append(books, map[string]any{"isbn": id, "room": in.Room})
			}
			output := map[string]any{"books": books}
			text, err := json.Marshal(output)
			result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}
			if structured {
				result.StructuredContent = output
			}
			return result, err
		}
	}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	server.AddTool(&mcp.Tool{Name: "list_books", InputSchema: schema, Annotations: reads}, list(true))
	server.AddTool(&mcp.Tool{Name: "print_books", InputSchema: schema, Annotations: reads}, list(false))
	server.AddTool(&mcp.Tool{Name: "lend_books", InputSchema: schema}, list(true))
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// TestListsOfAnMCPServer watches lists that the tools of a custom connector read.
func TestListsOfAnMCPServer(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	books := &bookcase{books: []string{"b1"}}
	made := ann.must(http.StatusCreated, http.MethodPost, "/custom-connectors", fmt.Sprintf(
		`{"type":"mcp","name":"Library","url":%q,"auth":{"kind":"none"}}`, at(t, public+":0", books.handler()).URL))
	if made["app"] != "x-library" {
		t.Fatalf("made %v", made)
	}
	path := "/custom-connectors/" + made["id"].(string)
	if got := ann.send(false, http.MethodPut, "/api/v1"+path+"/read-only-tools", "application/json",
		[]byte(`{"tools":["list_books"]}`)); got.Code != http.StatusUnauthorized {
		t.Errorf("a key says what only reads: %d %s", got.Code, got.Body)
	}
	if got := ann.send(true, http.MethodPut, "/api/v1"+path+"/read-only-tools", "application/json",
		[]byte(`{"tools":["list_books","print_books"]}`)); got.Code != http.StatusOK {
		t.Fatalf("a person says what only reads: %d %s", got.Code, got.Body)
	}
	types := ann.must(http.StatusOK, http.MethodGet, "/apps/x-library/triggers", "")["triggers"].([]any)
	if len(types) != 1 || types[0].(map[string]any)["event"] != "new_item" {
		t.Errorf("the connector has the events %v", types)
	}
	address, got := receiver(t)
	create := func(config string) (int, map[string]any) {
		t.Helper()
		r := ann.send(false, http.MethodPost, "/api/v1/triggers", "application/json", []byte(fmt.Sprintf(
			`{"app":"x-library","event":"new_item","webhook_url":%q,"config":%s}`, address, config)))
		var body map[string]any
		if err := json.Unmarshal(r.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		return r.Code, body
	}
	for config, want := range map[string]string{
		`{}`:                                "tool",
		`{"tool":"x_library__no_such"}`:     "only reads",
		`{"tool":"x_library__lend_books"}`:  "only reads",
		`{"tool":"demo_notes__list_notes"}`: "only reads",
		`{"tool":"x_library__list_books"}`:  "they have /isbn, /room",
		`{"tool":"x_library__list_books","items":"/books/0","id":"/isbn"}`:     "is no list",
		`{"tool":"x_library__list_books","arguments":{"room":1},"id":"/isbn"}`: "room",
	} {
		status, body := create(config)
		if text := fmt.Sprint(body); status != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
			t.Errorf("%s: %d %v, want %q", config, status, body, want)
		}
	}
	for _, name := range []string{"list_books", "print_books"} {
		status, one := create(`{"tool":"x_library__` + name + `","id":"/isbn","arguments":{"room":"{hook_secret}"}}`)
		if status != http.StatusCreated {
			t.Fatalf("%s: %d %v", name, status, one)
		}
		if config := one["config"].(map[string]any); config["items"] != "/books" {
			t.Errorf("%s: found the list at %v", name, config["items"])
		}
		// One that is resumed is polled at once.
		id := one["id"].(string)
		ann.must(http.StatusOK, http.MethodPatch, "/triggers/"+id, `{"status":"paused"}`)
		books.put("new for " + name)
		ann.must(http.StatusOK, http.MethodPatch, "/triggers/"+id, `{"status":"active"}`)
		body := verified(t, one["signing_secret"].(string), <-got)
		data, _ := body["data"].(map[string]any)
		// Arguments are no templates: they name no secrets.
		if body["type"] != "x-library.new_item" || data["isbn"] != "new for "+name || data["room"] != "{hook_secret}" ||
			body["sequence"] != 1.0 {
			t.Errorf("%s: posted %v", name, body)
		}
		ann.must(http.StatusOK, http.MethodPatch, "/triggers/"+id, `{"status":"paused"}`)
	}
}
