package mcphttp

import (
	"context"
	"encoding/json"
	"slices"

	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/protocol/mcp"
)

type searchInput struct {
	Query         string `json:"query"`
	ConnectedOnly bool   `json:"connected_only"`
	Limit         int    `json:"limit"`
	Cursor        string `json:"cursor"`
}

// foundApp is an app as a model needs it.
type foundApp struct {
	App               string   `json:"app"`
	Name              string   `json:"name"`
	Description       string   `json:"description"`
	ConnectionStatus  string   `json:"connection_status"`
	DefaultConnection string   `json:"default_connection_id,omitempty"`
	Connectable       bool     `json:"connectable"`
	Reason            string   `json:"connectable_reason,omitempty"`
	ConnectRequires   []string `json:"connect_requires,omitempty"`
	ToolsCount        int      `json:"tools_count"`
}

type foundApps struct {
	Apps       []foundApp `json:"apps"`
	NextCursor *string    `json:"next_cursor"`
}

func (h *Handler) searchApps(ctx context.Context, _ *mcp.Call, in *searchInput) (*foundApps, error) {
	request := operation.SearchAppsRequest{Search: in.Query, Limit: in.Limit, Cursor: in.Cursor}
	if in.ConnectedOnly {
		request.Status = "connected"
	}
	found, err := h.Operations.SearchApps(ctx, gate.From(ctx), request)
	if err != nil {
		return nil, err
	}
	out := &foundApps{Apps: []foundApp{}, NextCursor: found.NextCursor}
	for i := range found.Apps {
		a := &found.Apps[i]
		out.Apps = append(out.Apps, foundApp{
			App: a.App, Name: a.Name, Description: a.Description, ConnectionStatus: a.ConnectionStatus,
			DefaultConnection: a.DefaultConnection, Connectable: a.Connectable, Reason: a.Reason,
			ConnectRequires: a.ConnectRequires, ToolsCount: a.ToolsCount,
		})
	}
	return out, nil
}

type connectionsInput struct {
	App    string `json:"app"`
	Status string `json:"status"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

// listedConnection is a connection as a model needs it.
type listedConnection struct {
	ID      string             `json:"id"`
	App     string             `json:"app"`
	AppName string             `json:"app_name"`
	Label   *string            `json:"label,omitempty"`
	Default bool               `json:"is_default"`
	Account operation.Identity `json:"account"`
	Status  string             `json:"status"`
	Reason  *string            `json:"status_reason,omitempty"`
	EndUser *string            `json:"end_user,omitempty"`
}

type listedConnections struct {
	Connections []listedConnection `json:"connections"`
	NextCursor  *string            `json:"next_cursor"`
}

func (h *Handler) listConnections(ctx context.Context, _ *mcp.Call, in *connectionsInput) (*listedConnections, error) {
	found, err := h.Operations.ListConnections(ctx, gate.From(ctx), operation.ListConnectionsRequest{
		App: in.App, Status: in.Status, Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, err
	}
	out := &listedConnections{Connections: []listedConnection{}, NextCursor: found.NextCursor}
	for i := range found.Connections {
		c := &found.Connections[i]
		out.Connections = append(out.Connections, listedConnection{
			c.ID, c.App, c.AppName, c.Label, c.Default, c.Account, c.Status, c.Reason, c.EndUser,
		})
	}
	return out, nil
}

type findInput struct {
	Task          string   `json:"task"`
	Apps          []string `json:"apps"`
	ConnectedOnly bool     `json:"connected_only"`
	Schemas       bool     `json:"include_schemas"`
	Limit         int      `json:"limit"`
}

// foundTool is a tool as a model needs it.
type foundTool struct {
	Tool             string                `json:"tool"`
	Name             string                `json:"name"`
	App              string                `json:"app"`
	Description      string                `json:"description"`
	Score            float64               `json:"score"`
	Annotations      operation.Annotations `json:"annotations"`
	ConnectionStatus string                `json:"connection_status"`
	ConnectionID     string                `json:"connection_id,omitempty"`
	Required         []string              `json:"required"`
	InputSchema      json.RawMessage       `json:"input_schema,omitempty"`
}

type foundTools struct {
	Tools        []foundTool    `json:"tools"`
	NotConnected []notConnected `json:"not_connected"`
	Hint         *string        `json:"hint"`
}

// notConnected is an app with fitting tools, and the call that connects it.
type notConnected struct {
	App   string   `json:"app"`
	Tools []string `json:"tools"`
	Next  nextCall `json:"next_call"`
}

// withSchemas is how many tools are found with their input schemas.
const withSchemas = 3

func (h *Handler) findTools(ctx context.Context, _ *mcp.Call, in *findInput) (*foundTools, error) {
	request := operation.FindRequest{
		Task: in.Task, Apps: in.Apps, ConnectedOnly: in.ConnectedOnly, Limit: in.Limit,
	}
	if in.Schemas {
		request.Include = []string{"input_schema"}
	}
	found, err := h.Operations.FindTools(ctx, gate.From(ctx), request)
	if err != nil {
		return nil, err
	}
	out := &foundTools{Tools: []foundTool{}, NotConnected: []notConnected{}, Hint: found.Hint}
	for i := range found.Tools {
		t := &found.Tools[i]
		one := foundTool{
			Tool: t.Tool, Name: t.Name, App: t.App, Description: t.Description, Score: t.Score,
			Annotations: t.Annotations, ConnectionStatus: t.ConnectionStatus, ConnectionID: t.ConnectionID,
			Required: t.Required,
		}
		if i < withSchemas {
			one.InputSchema = t.InputSchema
		}
		out.Tools = append(out.Tools, one)
	}
	for _, n := range found.NotConnected {
		out.NotConnected = append(out.NotConnected,
			notConnected{n.App, n.Tools, nextCall{"connect_app", map[string]any{"app": n.App}}})
	}
	return out, nil
}

type getInput struct {
	Tool    string   `json:"tool"`
	Include []string `json:"include"`
}

// toolDetails is a tool with all that a call needs.
type toolDetails struct {
	Tool         string                    `json:"tool"`
	Name         string                    `json:"name"`
	App          string                    `json:"app"`
	Description  string                    `json:"description"`
	InputSchema  json.RawMessage           `json:"input_schema"`
	OutputSchema json.RawMessage           `json:"output_schema,omitempty"`
	Examples     []operation.ToolExample   `json:"examples,omitempty"`
	Annotations  operation.ToolAnnotations `json:"annotations"`
	Scopes       []string                  `json:"scopes"`
	FileInputs   []string                  `json:"file_inputs,omitempty"`
	Pages        bool                      `json:"pages,omitempty"`
	Deprecated   *operation.Deprecation    `json:"deprecated,omitempty"`
}

func (h *Handler) getTool(ctx context.Context, _ *mcp.Call, in *getInput) (*toolDetails, error) {
	t, err := h.Operations.Tool(ctx, gate.From(ctx), in.Tool, "json_schema")
	if err != nil {
		return nil, err
	}
	out := &toolDetails{
		Tool: t.Tool, Name: t.Name, App: t.App, Description: t.Description, InputSchema: t.InputSchema,
		Annotations: t.Annotations, Scopes: t.Scopes, FileInputs: t.Files.Inputs, Pages: t.Pagination != nil,
		Deprecated: t.Deprecated,
	}
	if slices.Contains(in.Include, "output_schema") {
		out.OutputSchema = t.OutputSchema
	}
	if slices.Contains(in.Include, "examples") {
		out.Examples = t.Examples
	}
	return out, nil
}
