package mcp_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
)

type readInput struct {
	Path string `json:"path" maxLength:"200" doc:"Path of the page, for example /support."`
}

type readOutput struct {
	Title    string `json:"title"`
	Markdown string `json:"markdown"`
}

func readPage(_ context.Context, _ *mcp.Call, in *readInput) (*readOutput, error) {
	if in.Path != "/support" {
		return nil, problem.New(problem.NotFound, "page_not_found",
			"There is no page at that path. Find paths with search_pages.")
	}
	return &readOutput{Title: "Support", Markdown: "# Support"}, nil
}

func ExampleAddTool() {
	server := mcp.NewServer(mcp.Implementation{Name: "store", Version: "1.0.0"}, nil)
	mcp.AddTool(server, mcp.Tool{
		Name: "read_page", Title: "Read a page", Description: "Reads one page of this site as Markdown.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
	}, readPage)

	for _, path := range []string{"/support", "/none"} {
		r := httptest.NewRequestWithContext(context.Background(), "POST", "/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_page","arguments":{"path":"`+path+
				`"}}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		fmt.Println(w.Body)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"title\":\"Support\",\"markdown\":\"# Support\"}"}],"structuredContent":{"title":"Support","markdown":"# Support"}}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"There is no page at that path. Find paths with search_pages.\n(code: page_not_found)"}],"isError":true}}
}
