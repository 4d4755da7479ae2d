package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"ace/internal/protocol/mcp"
)

// ScriptPath is the path of the script that offers tools to an assistant in
// the browser of a visitor (WebMCP).
const ScriptPath = "/assets/webmcp.js"

// Script is the path of that script; empty: the store has no tools.
func (r *Registry) Script() string {
	if r.config.MCP == nil {
		return ""
	}
	return ScriptPath
}

// scriptTool is a tool as modelContext.registerTool wants it.
type scriptTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations mcp.Annotations `json:"annotations"`
}

// script writes the script with the tools that change nothing: a page that
// somebody only looks at starts no purchase.
func (r *Registry) script() (http.HandlerFunc, error) {
	tools := []scriptTool{}
	for _, t := range r.config.MCP.Tools {
		if t.Annotations.ReadOnly {
			schema := t.InputSchema
			if schema == nil {
				schema = json.RawMessage(`{"type":"object"}`)
			}
			tools = append(tools, scriptTool{t.Name, t.Title, t.Description, schema, t.Annotations})
		}
	}
	list, err := json.Marshal(tools)
	if err != nil {
		return nil, fmt.Errorf("writing the tools of the script: %w", err)
	}
	var b bytes.Buffer
	if err := r.texts.all.ExecuteTemplate(&b, "webmcp.js", string(list)); err != nil {
		return nil, fmt.Errorf("writing the script: %w", err)
	}
	return Fixed("text/javascript; charset=utf-8", ageSettled, b.Bytes()), nil
}
