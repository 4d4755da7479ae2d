// Package connecthttp is the face of the platform for connecting apps and for
// what is connected.
//
//	POST /apps/{app}/connect          a sign-in link   (Connect)
//	GET  /connect-sessions/{id}       what became of it, at once or when it is over
//	GET  /connections …               what is connected (Read); changes (Connect)
//	     -> connection.Service -> wire, never with a secret
//	GET, PUT, DELETE /oauth-clients   the account's own OAuth clients (owner, admin)
//
// A key that is restricted to apps or to one end user sees and touches nothing
// else: the rest answers as if it were not there.
package connecthttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
	"ace/internal/platform/platformhttp/once"
)

// Face serves connections. Its fields are set once.
type Face struct {
	BaseURL     string // of the platform, without a slash at the end
	Connections *connection.Service
	Counts      Counts
	Clients     *clients.Keeper
	Apps        connection.Apps
	Once        *once.Desk
}

// Counts counts connections.
type Counts interface {
	// CountConnections answers how many connections q selects, on all pages.
	CountConnections(ctx context.Context, accountID string, q connection.Query) (int, error)
}

// Rules are what each route needs, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	read, connect := gate.Need{Permissions: apikey.Read}, gate.Need{Permissions: apikey.Connect}
	manages := gate.Need{Manages: true}
	return gate.Rules{
		"POST " + base + "/apps/{app}/connect":            connect,
		"GET " + base + "/connect-sessions/{id}":          connect,
		"DELETE " + base + "/connect-sessions/{id}":       connect,
		"POST " + base + "/connect-sessions/{id}/confirm": connect,
		"GET " + base + "/connections":                    read,
		"GET " + base + "/connections/{id}":               read,
		"PATCH " + base + "/connections/{id}":             connect,
		"DELETE " + base + "/connections/{id}":            connect,
		"POST " + base + "/connections/{id}/check":        connect,
		"POST " + base + "/connections/{id}/reconnect":    connect,
		"GET " + base + "/oauth-clients":                  manages,
		"PUT " + base + "/oauth-clients/{app}":            manages,
		"DELETE " + base + "/oauth-clients/{app}":         manages,
	}
}

// Describe mounts and documents the calls. base is where the REST API stands,
// key and session are the names of the schemes for keys and for people.
func (f *Face) Describe(api *openapi.API, base, key, session string) {
	byKey, byPerson := []string{key}, []string{session}
	tags := []string{"connections"}
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/apps/{app}/connect", ID: "connectApp", Tags: tags, Security: byKey, Status: http.StatusCreated, Summary: "Make a link that connects an app",
		Description: "A person opens the link and signs in to the app, or types a key for it. Nothing is connected by this call; watch the session.",
	}, f.connect)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/connect-sessions/{id}", ID: "getConnectSession", Tags: tags, Security: byKey, Summary: "What became of a link",
		Description: "With wait, answers as soon as the session is over, or after so many seconds.",
	}, f.session)
	openapi.Handle(api, openapi.Operation{Method: http.MethodDelete, Path: base + "/connect-sessions/{id}", ID: "cancelConnectSession", Tags: tags, Security: byKey, Summary: "Take a link back"}, f.cancel)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/connect-sessions/{id}/confirm", ID: "confirmConnectSession", Tags: tags, Security: byKey, Summary: "Say who opened a link",
		Description: `For sessions with "verify": "callback": your page, to which the person was sent with flow_id, found out who it is.`,
	}, f.confirm)
	listing.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/connections", ID: "listConnections", Tags: tags, Security: byKey, Summary: "What is connected, oldest first"}, f.list)
	openapi.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/connections/{id}", ID: "getConnection", Tags: tags, Security: byKey, Summary: "One connection"}, f.get)
	openapi.Handle(api, openapi.Operation{Method: http.MethodPatch, Path: base + "/connections/{id}", ID: "changeConnection", Tags: tags, Security: byKey, Summary: "Label a connection, make it the default, switch it off or on"}, f.change)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodDelete, Path: base + "/connections/{id}", ID: "deleteConnection", Tags: tags, Security: byKey, Summary: "Delete a connection",
		Description: "Its secrets are gone at once. Unless revoke is false, the grant is ended at the app's vendor too, and tried again until it is.",
	}, f.remove)
	openapi.Handle(api, openapi.Operation{Method: http.MethodPost, Path: base + "/connections/{id}/check", ID: "checkConnection", Tags: tags, Security: byKey, Summary: "Ask the app whether a connection works"}, f.check)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/connections/{id}/reconnect", ID: "reconnect", Tags: tags, Security: byKey, Status: http.StatusCreated, Summary: "Make a link that mends a connection",
		Description: "The connection keeps its id, and its credentials until it has new ones.",
	}, f.reconnect)
	f.describeClients(api, base, byPerson)
}

type body[T any] struct{ Body T }

// scoped answers the connection of an id if the caller may know of it.
func (f *Face) scoped(ctx context.Context, id string) (*connection.Connection, error) {
	caller := gate.From(ctx)
	c, err := f.Connections.Get(ctx, caller.Account, id)
	if err != nil {
		return nil, err
	}
	if !allowed(caller, c.App, c.EndUser) {
		return nil, problem.New(problem.NotFound, "connection_not_found", "There is no connection with this id.").Advise("connect_app")
	}
	return c, nil
}

// allowed reports whether the caller's key may touch what belongs to an app and
// an end user.
func allowed(caller *gate.Caller, appID, endUser string) bool {
	restrict := caller.Key.Restrict
	return restrict.AllowsApp(appID) && (restrict.EndUser == "" || restrict.EndUser == endUser)
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
