//go:build conformance

package mcphttp

import (
	"context"
	"encoding/json"

	"ace/internal/protocol/mcp"
)

// addSuiteTools adds the tools that the official conformance suite calls by
// name. They are in no binary that is built without the tag.
func addSuiteTools(s *mcp.Server) {
	for _, tool := range []struct {
		name, answer string
		failed       bool
	}{
		{"test_simple_text", "This is a simple text response for testing.", false},
		{"test_error_handling", "This tool intentionally returns an error for testing", true},
	} {
		s.AddRawTool(mcp.Tool{
			Name: tool.name, Description: "Called by the conformance suite.",
			InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: mcp.Annotations{
				ReadOnly:   true,
				Idempotent: true,
			},
		}, func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) {
			return &mcp.Result{Content: []mcp.Content{mcp.Text(tool.answer)}, IsError: tool.failed}, nil
		})
	}
}
