package operation

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/tool/definition"
	"ace/internal/platform/tool/file"
)

// ToolDefinition is a tool as callers see it.
type ToolDefinition struct {
	Tool         string          `json:"tool" example:"demo_notes__create_note"`
	Version      string          `json:"version" doc:"Changes when the definition does."`
	App          string          `json:"app"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Phrases      []string        `json:"phrases" doc:"Tasks that it is for, as people say them."`
	InputSchema  json.RawMessage `json:"input_schema" doc:"JSON Schema of the arguments."`
	OutputSchema json.RawMessage `json:"output_schema" doc:"JSON Schema of what it answers; null where that is not known. output.fields of a run may leave members out."`
	Examples     []ToolExample   `json:"examples"`
	Annotations  ToolAnnotations `json:"annotations"`
	Scopes       []string        `json:"scopes" doc:"What a connection has to be given for it."`
	Files        ToolFiles       `json:"files"`
	Pagination   *ToolPagination `json:"pagination" null:"true" doc:"How its lists continue; next_arguments of a run holds the next page."`
	Deprecated   *Deprecation    `json:"deprecated" null:"true"`
	// Definition is the object of the format that was asked for.
	Definition json.RawMessage `json:"definition" doc:"The tool in the format that was asked for; null for json_schema."`
}

// ToolExample is a set of arguments that fits.
type ToolExample struct {
	Arguments map[string]any `json:"arguments"`
}

// ToolAnnotations say what a tool may do.
type ToolAnnotations struct {
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive" doc:"May delete or overwrite."`
	Idempotent  bool `json:"idempotent" doc:"Twice is as good as once."`
	OpenWorld   bool `json:"open_world"`
}

// ToolFiles names the inputs that take files.
type ToolFiles struct {
	Inputs []string `json:"inputs" doc:"They accept a file_id, an https URL or a data: URL."`
	Output bool     `json:"output" doc:"The answer is a file."`
}

// ToolPagination is how lists go on.
type ToolPagination struct {
	Kind string `json:"kind"`
}

// Deprecation says that a tool ends.
type Deprecation struct {
	ReplacedBy string `json:"replaced_by,omitempty"`
}

// ToolList is a page of tools.
type ToolList struct {
	Paged
	Tools []ToolDefinition `json:"tools"`
}

func showTool(a *app.App, t *app.Tool, format string) (*ToolDefinition, error) {
	rendered, err := definition.Render(a, t, format)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(rendered)
	if err != nil {
		return nil, err
	}
	out := &ToolDefinition{
		Tool: t.ID, Version: definition.Version(t), App: a.ID, Name: definition.Title(a, t), Description: t.About,
		Phrases: orEmpty(t.Phrases), InputSchema: json.RawMessage(t.InputSchema),
		OutputSchema: json.RawMessage(t.OutputSchema),
		Examples:     []ToolExample{}, Annotations: ToolAnnotations{
			ReadOnly:    t.ReadOnly(),
			Destructive: t.Destructive(),
			Idempotent:  t.SafeToRepeat(), OpenWorld: true,
		},
		Scopes: orEmpty(t.Scopes), Files: ToolFiles{Inputs: []string{}, Output: t.Binary}, Definition: encoded,
	}
	if t.Example != nil {
		out.Examples = append(out.Examples, ToolExample{t.Example})
	}
	for i := range t.In {
		if t.In[i].Schema["format"] == file.InputFormat {
			out.Files.Inputs = append(out.Files.Inputs, t.In[i].Name)
		}
	}
	paging := t.Paging
	if paging == nil {
		paging = a.Paging
	}
	if paging != nil && paging.Type != "" && paging.Type != "none" && t.Items != "" && t.ReadOnly() {
		out.Pagination = &ToolPagination{paging.Type}
	}
	return out, nil
}

// Tool returns a tool, with its definition in a format: json_schema, openai,
// openai_responses, anthropic, gemini or mcp. Its problems are tool_not_found
// (NotFound) and those of definition.Of.
func (s *Service) Tool(ctx context.Context, c *Caller, id, format string) (*ToolDefinition, error) {
	if err := Authorize(c, GetTool); err != nil {
		return nil, err
	}
	a, t, err := s.Tools.Tools.Get(ctx, c.Account, c.Key, id)
	if err != nil {
		return nil, err
	}
	return showTool(a, t, format)
}

// ListToolsRequest selects tools: those of an app, or some by id.
type ListToolsRequest struct {
	App    string `query:"app" json:"app,omitempty" maxLength:"64"`
	Tools  string `query:"tools" json:"tools,omitempty" maxLength:"6000" doc:"Ids separated by commas, at most 64."`
	Format string `query:"format" json:"format,omitempty" enum:"json_schema,openai,openai_responses,anthropic,gemini,mcp" default:"json_schema"`
	Limit  int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"200" default:"64"`
	Cursor string `query:"cursor" json:"cursor,omitempty" maxLength:"200" doc:"next_cursor of the page before."`
	Include
}

const maxNamed = 64

// ListTools returns the tools of an app, or tools by id. Its problems are
// invalid_request and invalid_cursor (Invalid), app_not_found and tool_not_found
// (NotFound).
func (s *Service) ListTools(ctx context.Context, c *Caller, in ListToolsRequest) (*ToolList, error) {
	if err := Authorize(c, ListTools); err != nil {
		return nil, err
	}
	var ids []string
	for id := range strings.SplitSeq(in.Tools, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	if in.App == "" && len(ids) == 0 || len(ids) > maxNamed {
		return nil, problem.New(problem.Invalid, "invalid_request",
			"Name an app, or up to 64 tools. To look for tools, describe the task to /tools/find.").At("tools").
			Advise("find_tools")
	}
	list := "tools " + in.App + " " + in.Tools
	position, err := cursor.Decode(list, in.Cursor)
	if err != nil {
		return nil, err
	}
	start, err := strconv.Atoi(position)
	if position != "" && (err != nil || start < 0) {
		return nil, invalidCursor()
	}
	apps, tools, err := s.Tools.Tools.List(ctx, c.Account, c.Key, in.App, ids)
	if err != nil {
		return nil, err
	}
	out := &ToolList{Paged: Paged{Counted: in.Known(len(tools))}, Tools: []ToolDefinition{}}
	end := min(len(tools), start+limited(in.Limit, 64, 200))
	for i := start; i < end; i++ {
		one, err := showTool(apps[i], tools[i], in.Format)
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, *one)
	}
	if end < len(tools) {
		out.NextCursor = optionalText(cursor.Encode(list, strconv.Itoa(end)))
	}
	return out, nil
}
