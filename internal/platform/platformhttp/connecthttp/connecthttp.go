// Package connecthttp mounts the REST routes of connecting apps and of
// connections.
//
//	POST /apps/{app}/connect          a sign-in link
//	GET  /connect-sessions/{id}       its state, at once or when it has ended
//	GET  /connections …               what is connected, and changes of it
//	GET, PUT, DELETE /oauth-clients   the account's own OAuth clients
//
// A handler decodes the request, calls one operation and encodes its result.
package connecthttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

// Handler serves connections. Its fields are set once.
type Handler struct {
	BaseURL    string // of the platform, without a slash at the end
	Operations *operation.Service
}

// Rules are the operations of the routes, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	return gate.Rules{
		"POST " + base + "/apps/{app}/connect":            {Operation: operation.ConnectApp},
		"GET " + base + "/connect-sessions/{id}":          {Operation: operation.GetConnectSession},
		"DELETE " + base + "/connect-sessions/{id}":       {Operation: operation.CancelConnectSession},
		"POST " + base + "/connect-sessions/{id}/confirm": {Operation: operation.ConfirmConnectSession},
		"GET " + base + "/connections":                    {Operation: operation.ListConnections},
		"GET " + base + "/connections/{id}":               {Operation: operation.GetConnection},
		"PATCH " + base + "/connections/{id}":             {Operation: operation.ChangeConnection},
		"DELETE " + base + "/connections/{id}":            {Operation: operation.DeleteConnection},
		"POST " + base + "/connections/{id}/check":        {Operation: operation.CheckConnection},
		"POST " + base + "/connections/{id}/reconnect":    {Operation: operation.Reconnect},
		"GET " + base + "/oauth-clients":                  {Operation: operation.ListOAuthClients},
		"PUT " + base + "/oauth-clients/{app}":            {Operation: operation.SetOAuthClient},
		"DELETE " + base + "/oauth-clients/{app}":         {Operation: operation.DeleteOAuthClient},
	}
}

// Describe mounts and documents the routes. base is the path of the REST API, key
// and session are the names of the security schemes for keys and for people.
func (h *Handler) Describe(api *openapi.API, base, key, session string) {
	route := func(method, path string, id operation.ID, summary, about string) openapi.Operation {
		return openapi.Operation{
			Method: method, Path: base + path, ID: id.String(), Tags: []string{"connections"},
			Security: []string{key}, Summary: summary, Description: about,
		}
	}
	connect := route(http.MethodPost, "/apps/{app}/connect", operation.ConnectApp, "Create a link that connects an app",
		"A user opens the link and signs in to the app, or types a key for it. This call connects nothing yet: "+
			"watch the session.")
	connect.Status = http.StatusCreated
	openapi.Handle(api, connect, h.connect)
	openapi.Handle(api, route(http.MethodGet, "/connect-sessions/{id}", operation.GetConnectSession,
		"Get the state of a connect link",
		"With wait, responds as soon as the session has ended, or after that many seconds."), h.session)
	openapi.Handle(api, route(http.MethodDelete, "/connect-sessions/{id}", operation.CancelConnectSession,
		"Cancel a connect link", "The link stops working. A connection that was made stays."), h.cancel)
	openapi.Handle(api, route(http.MethodPost, "/connect-sessions/{id}/confirm", operation.ConfirmConnectSession,
		"Confirm who opened a connect link",
		`For sessions with "verify": "callback": your page, which the user was sent to with flow_id, found out `+
			"who it is."), h.confirm)
	reply.HandleList(api, route(http.MethodGet, "/connections", operation.ListConnections, "List connections",
		"What is connected, oldest first, never with secrets. A restricted key sees its own apps and end user."),
		h.list)
	openapi.Handle(api, route(http.MethodGet, "/connections/{id}", operation.GetConnection, "Get a connection",
		"Its state, whose account at the app it is, and what was granted."), h.get)
	openapi.Handle(api, route(http.MethodPatch, "/connections/{id}", operation.ChangeConnection,
		"Change a connection", "Label it, make it the default of its app, disable or enable it."), h.change)
	openapi.Handle(api, route(http.MethodDelete, "/connections/{id}", operation.DeleteConnection,
		"Delete a connection",
		"Its secrets are gone at once. Unless revoke is false, the grant is revoked at the app's vendor too, and "+
			"retried until it is."), h.remove)
	openapi.Handle(api, route(http.MethodPost, "/connections/{id}/check", operation.CheckConnection,
		"Check a connection", "Asks the app whether the connection works, and returns its new state."), h.check)
	reconnect := route(http.MethodPost, "/connections/{id}/reconnect", operation.Reconnect,
		"Create a link that reconnects a connection",
		"The connection keeps its id, and its credentials until it has new ones.")
	reconnect.Status = http.StatusCreated
	openapi.Handle(api, reconnect, h.reconnect)
	h.describeClients(api, base, session)
}

func (h *Handler) connect(ctx context.Context, in *struct {
	reply.Key
	reply.ByApp
	Body *operation.ConnectRequest
},
) (*reply.Created[operation.ConnectLink], error) {
	link, replayed, err := h.Operations.ConnectApp(ctx, gate.From(ctx), in.Key.Key, in.App, orZero(in.Body))
	return reply.New(link, replayed, err, location)
}

func (h *Handler) reconnect(ctx context.Context, in *struct {
	reply.Key
	reply.ByID
	Body *operation.ReconnectRequest
},
) (*reply.Created[operation.ConnectLink], error) {
	link, replayed, err := h.Operations.Reconnect(ctx, gate.From(ctx), in.Key.Key, in.ID, orZero(in.Body))
	return reply.New(link, replayed, err, location)
}

func location(link *operation.ConnectLink) string { return link.StatusURL }

// orZero is a body that may be left out.
func orZero[T any](body *T) (value T) {
	if body != nil {
		value = *body
	}
	return value
}

func (h *Handler) session(ctx context.Context, in *struct {
	reply.ByID
	Wait int `query:"wait" minimum:"0" maximum:"30" default:"0" doc:"Seconds to wait for the end of the session."`
},
) (*reply.Body[operation.ConnectSession], error) {
	return reply.With(h.Operations.ConnectSession(ctx, gate.From(ctx), in.ID, time.Duration(in.Wait)*time.Second))
}

func (h *Handler) cancel(ctx context.Context, in *reply.ByID) (*struct{}, error) {
	return reply.Empty(h.Operations.CancelConnectSession(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) confirm(ctx context.Context, in *struct {
	reply.ByID
	Body operation.Confirmation
},
) (*reply.Body[operation.Confirmed], error) {
	return reply.With(h.Operations.ConfirmConnectSession(ctx, gate.From(ctx), in.ID, in.Body))
}

func (h *Handler) list(ctx context.Context, in *operation.ListConnectionsRequest,
) (*reply.Page[operation.Connections], error) {
	page, err := h.Operations.ListConnections(ctx, gate.From(ctx), *in)
	return reply.List(ctx, h.BaseURL, page, err)
}

func (h *Handler) get(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Connection], error) {
	return reply.With(h.Operations.Connection(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) change(ctx context.Context, in *struct {
	reply.ByID
	Body operation.ConnectionChange
},
) (*reply.Body[operation.Connection], error) {
	return reply.With(h.Operations.ChangeConnection(ctx, gate.From(ctx), in.ID, in.Body))
}

func (h *Handler) remove(ctx context.Context, in *struct {
	reply.ByID
	Revoke bool `query:"revoke" default:"true" doc:"Also revoke the grant at the app's vendor."`
},
) (*struct{}, error) {
	return reply.Empty(h.Operations.DeleteConnection(ctx, gate.From(ctx), in.ID, in.Revoke))
}

func (h *Handler) check(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Connection], error) {
	return reply.With(h.Operations.CheckConnection(ctx, gate.From(ctx), in.ID))
}
