// Package findhttp is the face of the platform for what there is to use: the
// public catalogue, apps as one account sees them, and tools found by plain
// words.
//
//	GET  /catalog            no key; every listed app
//	GET  /apps?search=       with the account's connections
//	POST /tools/find         tools for a task
//	GET  /logos/{app}.svg    a monogram in the colours of the app's name
//	     library.View -> toolindex -> wire
package findhttp

import (
	"context"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/app"
	"ace/internal/platform/library"
)

// Library answers what an account can use.
type Library interface {
	Shared() *library.View
	For(ctx context.Context, accountID string) (*library.View, error)
}

// AppState is what an account has of an app.
type AppState struct {
	Status    string // connected, needs_reconnect
	Count     int
	DefaultID string // id of the connection that is chosen where none is named
}

// Connections answers what an account has connected.
type Connections interface {
	// AppStates answers states by app id, of connections of the end user, or of
	// the account itself for "".
	AppStates(ctx context.Context, accountID, endUser string) (map[string]AppState, error)
	// Connectable reports whether this installation can connect an app, and why
	// not: oauth_client_missing, disabled_by_admin.
	Connectable(ctx context.Context, accountID string, a *app.App) (ok bool, reason string, err error)
}

// Face serves finding. Its fields are set once.
type Face struct {
	BaseURL     string // of the platform, without a slash at the end
	Library     Library
	Connections Connections // nil: nothing can be connected
}

// Describe mounts and documents the calls. base is where the REST API stands,
// security the name of the scheme for keys.
func (f *Face) Describe(api *openapi.API, base, security string) {
	f.describeCatalog(api, base)
	f.describeApps(api, base, security)
	f.describeFind(api, base, security)
}
