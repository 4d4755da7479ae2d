package toolhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"ace/internal/foundation/cursor"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/platformhttp/entity"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
	"ace/internal/platform/tool"
)

// ToolDefinition is a tool as callers see it.
type ToolDefinition struct {
	Tool         string                           `json:"tool" example:"demo_notes__create_note"`
	Version      string                           `json:"version" doc:"Changes when the definition does."`
	App          string                           `json:"app"`
	Name         string                           `json:"name"`
	Description  string                           `json:"description"`
	Phrases      []string                         `json:"phrases" doc:"Tasks that it is for, as people say them."`
	InputSchema  json.RawMessage                  `json:"input_schema" doc:"JSON Schema of the arguments."`
	OutputSchema json.RawMessage                  `json:"output_schema" doc:"JSON Schema of what it answers; null where that is not known. output.fields of a run may leave members out."`
	Examples     []ToolExample                    `json:"examples"`
	Annotations  ToolAnnotations                  `json:"annotations"`
	Scopes       []string                         `json:"scopes" doc:"What a connection has to be given for it."`
	Files        ToolFiles                        `json:"files"`
	Pagination   openapi.Nullable[ToolPagination] `json:"pagination" doc:"How its lists go on; next_arguments of a run does it."`
	Deprecated   openapi.Nullable[Deprecation]    `json:"deprecated"`
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
	Inputs []string `json:"inputs" doc:"They take a file_id, an https address or a data: address."`
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

type toolInput struct {
	IfNoneMatch string `header:"If-None-Match"`

	Tool   string `path:"tool" maxLength:"200"`
	Format string `query:"format" enum:"json_schema,openai,openai_responses,anthropic,gemini,mcp" default:"json_schema"`
}

type toolOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Cache  string `header:"Cache-Control"`
	Body   *ToolDefinition
}

func (f *Face) get(ctx context.Context, in *toolInput) (*toolOutput, error) {
	a, t, err := f.Tools.Tool(ctx, caller(gate.From(ctx)), in.Tool)
	if err != nil {
		return nil, err
	}
	one, err := wireTool(a, t, in.Format)
	if err != nil {
		return nil, err
	}
	tag, err := entity.Tag(one)
	if err != nil {
		return nil, err
	}
	out := &toolOutput{Status: http.StatusOK, ETag: tag, Cache: "private, max-age=300", Body: one}
	if entity.Matches(in.IfNoneMatch, tag) {
		out.Status, out.Body = http.StatusNotModified, nil
	}
	return out, nil
}

// ToolList is a page of tools.
type ToolList struct {
	listing.Counted
	Tools      []ToolDefinition `json:"tools"`
	NextCursor *string          `json:"next_cursor" nullable:"true"`
}

type toolsInput struct {
	App    string `query:"app" maxLength:"64"`
	Tools  string `query:"tools" maxLength:"6000" doc:"Ids with commas between, at most 64."`
	Format string `query:"format" enum:"json_schema,openai,openai_responses,anthropic,gemini,mcp" default:"json_schema"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"64"`
	Cursor string `query:"cursor" maxLength:"200"`
	listing.Include
}

type toolsOutput struct {
	listing.Linked
	Body ToolList
}

const maxNamed = 64

func (f *Face) list(ctx context.Context, in *toolsInput) (*toolsOutput, error) {
	var ids []string
	for id := range strings.SplitSeq(in.Tools, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	if in.App == "" && len(ids) == 0 || len(ids) > maxNamed {
		return nil, problem.New(problem.Invalid, "invalid_request", "Name an app, or up to 64 tools. To look for tools, describe the task to /tools/find.").At("tools").Advise("find_tools")
	}
	query := "tools " + in.App + " " + in.Tools
	position, err := cursor.Decode(query, in.Cursor)
	if err != nil {
		return nil, err
	}
	start, err := strconv.Atoi(position)
	if position != "" && (err != nil || start < 0) {
		return nil, problem.New(problem.Invalid, "invalid_cursor", "Start at the first page.").At("cursor")
	}
	apps, tools, err := f.Tools.Tools(ctx, caller(gate.From(ctx)), in.App, ids)
	if err != nil {
		return nil, err
	}
	out := &toolsOutput{Body: ToolList{Counted: in.Known(len(tools)), Tools: []ToolDefinition{}}}
	end := min(len(tools), start+in.Limit)
	for i := start; i < end; i++ {
		one, err := wireTool(apps[i], tools[i], in.Format)
		if err != nil {
			return nil, err
		}
		out.Body.Tools = append(out.Body.Tools, *one)
	}
	if end < len(tools) {
		out.Body.NextCursor = text(cursor.Encode(query, strconv.Itoa(end)))
		out.Linked = listing.Next(ctx, f.BaseURL, out.Body.NextCursor)
	}
	return out, nil
}

func wireTool(a *app.App, t *app.Tool, format string) (*ToolDefinition, error) {
	definition, err := tool.Definition(a, t, format)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(definition)
	if err != nil {
		return nil, err
	}
	out := &ToolDefinition{
		Tool: t.ID, Version: tool.Version(t), App: a.ID, Name: tool.Title(a, t), Description: t.About, Phrases: orEmpty(t.Phrases), InputSchema: json.RawMessage(t.InputSchema), OutputSchema: json.RawMessage(t.OutputSchema),
		Examples: []ToolExample{}, Annotations: ToolAnnotations{ReadOnly: t.ReadOnly(), Destructive: t.Destructive(), Idempotent: t.SafeToRepeat(), OpenWorld: true},
		Scopes: orEmpty(t.Scopes), Files: ToolFiles{Inputs: []string{}, Output: t.Binary}, Definition: encoded,
	}
	if t.Example != nil {
		out.Examples = append(out.Examples, ToolExample{t.Example})
	}
	for i := range t.In {
		if t.In[i].Schema["format"] == tool.FileFormat {
			out.Files.Inputs = append(out.Files.Inputs, t.In[i].Name)
		}
	}
	paging := t.Paging
	if paging == nil {
		paging = a.Paging
	}
	if paging != nil && paging.Type != "" && paging.Type != "none" && t.Items != "" && t.ReadOnly() {
		out.Pagination = openapi.NullableOf(&ToolPagination{paging.Type})
	}
	return out, nil
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
