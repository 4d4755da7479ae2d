package findhttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

func (h *Handler) describeFind(api *openapi.API, base, security string) {
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/tools/find", ID: "findTools", Tags: []string{"tools"},
		Security: []string{security}, Summary: "Find tools for a task in plain words",
		Description: "Looks at all apps, connected or not; what is connected comes first among equals. Nothing found " +
			"is an answer with an empty list and a hint.",
	}, h.find)
}

func (h *Handler) find(ctx context.Context, in *struct{ Body operation.FindRequest }) (
	*reply.Body[operation.Found], error,
) {
	return reply.With(h.Operations.FindTools(ctx, gate.From(ctx), in.Body))
}
