package toolhttp

import (
	"context"
	"net/http"

	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/entity"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

type toolOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Cache  string `header:"Cache-Control"`
	Body   *operation.ToolDefinition
}

func (h *Handler) get(ctx context.Context, in *struct {
	IfNoneMatch string `header:"If-None-Match"`
	Tool        string `path:"tool" maxLength:"200"`
	Format      string `query:"format" enum:"json_schema,openai,openai_responses,anthropic,gemini,mcp" default:"json_schema"`
},
) (*toolOutput, error) {
	one, err := h.Operations.Tool(ctx, gate.From(ctx), in.Tool, in.Format)
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

func (h *Handler) list(ctx context.Context, in *operation.ListToolsRequest) (*reply.Page[operation.ToolList], error) {
	page, err := h.Operations.ListTools(ctx, gate.From(ctx), *in)
	return reply.List(ctx, h.BaseURL, page, err)
}
