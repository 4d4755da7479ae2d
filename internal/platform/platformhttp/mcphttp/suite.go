//go:build conformance

package mcphttp

import (
	"context"
	"encoding/json"
	"net/http"

	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"
)

// addSuiteTools adds the tools that the official conformance suite calls by
// name. They are in no binary that is built without the tag.
func addSuiteTools(s *mcp.Server) {
	add := func(name string, handle func() (*mcp.Result, error)) {
		s.AddRawTool(mcp.Tool{
			Name:        name,
			Description: "Called by the conformance suite.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
		}, func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) { return handle() })
	}
	text := func(text string, isError bool) func() (*mcp.Result, error) {
		return func() (*mcp.Result, error) {
			return &mcp.Result{Content: []mcp.Content{mcp.Text(text)}, IsError: isError}, nil
		}
	}
	add("test_simple_text", text("This is a simple text response for testing.", false))
	add("test_error_handling", text("This tool intentionally returns an error for testing", true))
	// Those two look for streams, which there are none of.
	add("test_logging_tool", text("Done.", false))
	add("test_streaming_elicitation", text("Done.", false))
	add("test_missing_capability", func() (*mcp.Result, error) {
		return nil, &jsonrpc.Error{
			Code: -32021, Message: "This needs sampling.", Status: http.StatusBadRequest,
			Data: map[string]any{"requiredCapabilities": map[string]any{"sampling": map[string]any{}}},
		}
	})
}
