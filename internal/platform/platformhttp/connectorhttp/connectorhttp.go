// Package connectorhttp mounts the REST routes of custom connectors, the apps
// that an account adds itself.
//
//	GET    /custom-connectors[/{id}]
//	POST   /custom-connectors               add one and import its tools
//	PATCH  /custom-connectors/{id}          name, credentials, choice of tools, enabled
//	POST   /custom-connectors/{id}/refresh  import again; returns what changed
//	POST   /custom-connectors/{id}/approve  approve tools that changed
//	PUT    /custom-connectors/{id}/read-only-tools  say which tools of an MCP server only read
//	POST   /custom-connectors/{id}/test     ask the software whether it responds
//	DELETE /custom-connectors/{id}
//
// A handler decodes the request, calls one operation and encodes its result.
package connectorhttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

// Handler serves connectors. Its fields are set once.
type Handler struct {
	Operations *operation.Service
}

// Rules are the operations of the routes, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	return gate.Rules{
		"GET " + base + "/custom-connectors":                      {Operation: operation.ListCustomConnectors},
		"GET " + base + "/custom-connectors/{id}":                 {Operation: operation.GetCustomConnector},
		"POST " + base + "/custom-connectors":                     {Operation: operation.CreateCustomConnector},
		"PATCH " + base + "/custom-connectors/{id}":               {Operation: operation.ChangeCustomConnector},
		"DELETE " + base + "/custom-connectors/{id}":              {Operation: operation.DeleteCustomConnector},
		"POST " + base + "/custom-connectors/{id}/refresh":        {Operation: operation.RefreshCustomConnector},
		"POST " + base + "/custom-connectors/{id}/approve":        {Operation: operation.ApproveCustomConnector},
		"PUT " + base + "/custom-connectors/{id}/read-only-tools": {Operation: operation.SetReadOnlyTools},
		"POST " + base + "/custom-connectors/{id}/test":           {Operation: operation.TestCustomConnector},
	}
}

// maxUpload is the largest request with a document: 5 MB of it, written as a
// text in JSON.
const maxUpload = 11 << 20

// Describe mounts and documents the routes. base is the path of the REST API, key
// and session the names of the security schemes for keys and for people.
func (h *Handler) Describe(api *openapi.API, base, key, session string) {
	route := func(method, path string, id operation.ID, summary, about string) openapi.Operation {
		return openapi.Operation{
			Method: method, Path: base + "/custom-connectors" + path, ID: id.String(),
			Tags: []string{"custom connectors"}, Security: []string{key}, Summary: summary, Description: about,
		}
	}
	openapi.Handle(api, route(http.MethodGet, "", operation.ListCustomConnectors, "List custom connectors",
		"The account's own connectors, oldest first."), h.list)
	openapi.Handle(api, route(http.MethodGet, "/{id}", operation.GetCustomConnector, "Get a custom connector",
		"With the changes that wait for approval."), h.get)
	create := route(http.MethodPost, "", operation.CreateCustomConnector, "Add an MCP server or a REST API of your own",
		"Imports the tools of the server, or of the OpenAPI document (3.0, 3.1, Swagger 2; at most 5 MB and 500 "+
			"operations, only references inside the document), while you wait up to 20 seconds; after that, status is "+
			"importing. skipped lists the operations that did not become a tool, and why. The tools are found and run "+
			"like those of every other app, by this account only.")
	create.Status, create.MaxBodyBytes = http.StatusCreated, maxUpload
	openapi.Handle(api, create, h.create)
	openapi.Handle(api, route(http.MethodPatch, "/{id}", operation.ChangeCustomConnector, "Change a custom connector",
		"New credentials are used at once, and the tools are imported again with them. An MCP server is first asked "+
			"whether it accepts them: if it does not (credentials_refused), or does not respond "+
			"(provider_unavailable), nothing changes. A REST API is not asked, because which of its calls is harmless "+
			"is not known: the next run shows it."), h.change)
	openapi.Handle(api, route(http.MethodDelete, "/{id}", operation.DeleteCustomConnector,
		"Delete a custom connector", "Its tools and its connections are deleted with it."), h.remove)
	refresh := route(http.MethodPost, "/{id}/refresh", operation.RefreshCustomConnector, "Import the tools again",
		"Returns what was added, changed and removed. A tool whose description, inputs or effect changed is "+
			"withheld, neither found nor run, until it is approved.")
	refresh.MaxBodyBytes = maxUpload
	openapi.Handle(api, refresh, h.refresh)
	approve := route(http.MethodPost, "/{id}/approve", operation.ApproveCustomConnector,
		"Approve tools that changed",
		"For a person who is signed in, on review_url: keys cannot. Look at pending first: it holds the tools before "+
			"and after. Send the revision that you looked at; if anything changed since, the problem is "+
			"connector_changed.")
	approve.Security = []string{session}
	openapi.Handle(api, approve, h.approve)
	readOnly := route(http.MethodPut, "/{id}/read-only-tools", operation.SetReadOnlyTools,
		"Say which tools of an MCP server only read",
		"For a person who is signed in, on review_url: keys cannot. A server that says that a tool only reads is not "+
			"believed: until it is named here, the tool needs what writing tools need.")
	readOnly.Security = []string{session}
	openapi.Handle(api, readOnly, h.setReadOnly)
	openapi.Handle(api, route(http.MethodPost, "/{id}/test", operation.TestCustomConnector,
		"Test a custom connector",
		"An MCP server is asked for its tools, with the credentials. A REST API is only reached: which of its calls "+
			"is harmless is not known."), h.test)
}

func (h *Handler) list(ctx context.Context, _ *struct{}) (*reply.Body[operation.Connectors], error) {
	return reply.With(h.Operations.ListCustomConnectors(ctx, gate.From(ctx)))
}

func (h *Handler) get(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Connector], error) {
	return reply.With(h.Operations.CustomConnector(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) create(ctx context.Context, in *struct {
	reply.Key
	Body operation.ConnectorRequest
},
) (*reply.Created[operation.Connector], error) {
	created, replayed, err := h.Operations.CreateCustomConnector(ctx, gate.From(ctx), in.Key.Key, in.Body)
	return reply.New(created, replayed, err, location)
}

func location(c *operation.Connector) string { return "/api/v1/custom-connectors/" + c.ID }

func (h *Handler) change(ctx context.Context, in *struct {
	reply.ByID
	Body operation.ConnectorChange
},
) (*reply.Body[operation.Connector], error) {
	return reply.With(h.Operations.ChangeCustomConnector(ctx, gate.From(ctx), in.ID, in.Body))
}

func (h *Handler) remove(ctx context.Context, in *reply.ByID) (*struct{}, error) {
	return reply.Empty(h.Operations.DeleteCustomConnector(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) refresh(ctx context.Context, in *struct {
	reply.ByID
	Body *operation.ConnectorRefresh
},
) (*reply.Body[operation.ConnectorRefreshed], error) {
	var body operation.ConnectorRefresh
	if in.Body != nil {
		body = *in.Body
	}
	return reply.With(h.Operations.RefreshCustomConnector(ctx, gate.From(ctx), in.ID, body))
}

func (h *Handler) setReadOnly(ctx context.Context, in *struct {
	reply.ByID
	Body operation.ConnectorReadOnly
},
) (*reply.Body[operation.Connector], error) {
	return reply.With(h.Operations.SetReadOnlyTools(ctx, gate.From(ctx), in.ID, in.Body))
}

func (h *Handler) approve(ctx context.Context, in *struct {
	reply.ByID
	Body *operation.ConnectorApproval
},
) (*reply.Body[operation.Connector], error) {
	var body operation.ConnectorApproval
	if in.Body != nil {
		body = *in.Body
	}
	return reply.With(h.Operations.ApproveCustomConnector(ctx, gate.From(ctx), in.ID, body))
}

func (h *Handler) test(ctx context.Context, in *reply.ByID) (*reply.Body[operation.ConnectorTrial], error) {
	return reply.With(h.Operations.TestCustomConnector(ctx, gate.From(ctx), in.ID))
}
