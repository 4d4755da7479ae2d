package connecthttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

func (h *Handler) describeClients(api *openapi.API, base, session string) {
	route := func(method, path string, id operation.ID, summary, about string) openapi.Operation {
		return openapi.Operation{
			Method: method, Path: base + path, ID: id.String(), Tags: []string{"oauth-clients"},
			Security: []string{session}, Summary: summary, Description: about,
		}
	}
	openapi.Handle(api, route(http.MethodGet, "/oauth-clients", operation.ListOAuthClients, "List OAuth clients",
		"The account's own OAuth clients, by app, without their secrets."), h.listClients)
	openapi.Handle(api, route(http.MethodPut, "/oauth-clients/{app}", operation.SetOAuthClient,
		"Set the OAuth client of an app",
		"The app is then connected with this client instead of the operator's. Register redirect_uri of the response "+
			"with the app's vendor. Connections that were made with another client end when their tokens expire."),
		h.setClient)
	openapi.Handle(api, route(http.MethodDelete, "/oauth-clients/{app}", operation.DeleteOAuthClient,
		"Delete the OAuth client of an app",
		"The app is then connected with the operator's client again, where there is one."), h.deleteClient)
}

func (h *Handler) listClients(ctx context.Context, _ *struct{}) (*reply.Body[operation.OAuthClients], error) {
	return reply.With(h.Operations.ListOAuthClients(ctx, gate.From(ctx)))
}

func (h *Handler) setClient(ctx context.Context, in *struct {
	reply.ByApp
	Body operation.OAuthClientRequest
},
) (*reply.Body[operation.OAuthClient], error) {
	return reply.With(h.Operations.SetOAuthClient(ctx, gate.From(ctx), in.App, in.Body))
}

func (h *Handler) deleteClient(ctx context.Context, in *reply.ByApp) (*struct{}, error) {
	return reply.Empty(h.Operations.DeleteOAuthClient(ctx, gate.From(ctx), in.App))
}
