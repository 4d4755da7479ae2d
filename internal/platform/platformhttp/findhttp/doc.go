// Package findhttp mounts the REST routes about what there is to use: the public
// catalog, apps as one account sees them, and tools found by plain words.
//
//	GET  /catalog            no key; every listed app
//	GET  /apps?search=       with the account's connections
//	POST /tools/find         tools for a task
//	GET  /logos/{app}.svg    a monogram in the colors of the app's name
//
// A handler decodes the request, calls one operation and encodes its result.
package findhttp

import (
	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
)

// Handler serves finding. Its fields are set once.
type Handler struct {
	BaseURL    string // of the platform, without a slash at the end
	Operations *operation.Service
}

// Describe mounts and documents the calls. base is the path of the REST API,
// security the name of the scheme for keys.
func (h *Handler) Describe(api *openapi.API, base, security string) {
	h.describeCatalog(api, base)
	h.describeApps(api, base, security)
	h.describeFind(api, base, security)
}
