package findhttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

type appsOutput struct {
	Link string `header:"Link"`
	Body *operation.AccountApps
}

func (h *Handler) describeApps(api *openapi.API, base, security string) {
	reply.HandleList(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/apps", ID: "searchApps", Tags: []string{"apps"},
		Security: []string{security}, Summary: "Search apps, with what the account has connected",
		Description: "Finds apps by name (also with one wrong letter), by other names, by what they are for.",
	}, h.apps)
}

func (h *Handler) apps(ctx context.Context, in *operation.SearchAppsRequest) (*appsOutput, error) {
	found, err := h.Operations.SearchApps(ctx, gate.From(ctx), *in)
	if err != nil {
		return nil, err
	}
	return &appsOutput{reply.NextLink(ctx, h.BaseURL, found.NextCursor), found}, nil
}
