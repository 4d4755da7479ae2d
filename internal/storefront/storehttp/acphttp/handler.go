// Package acphttp serves the Agentic Commerce Protocol: checkout sessions, the
// product feed, and the discovery document.
//
//	POST -> rest.go: version, key, body -> calls.go -> checkout.Service
//	        first time: the operation      repetition: the stored response
//	GET  -> rest.go -> sessionhttp.Sessions.Read
//	                          session -> wire.go, totals.go -> JSON of the version
//	/feed/…, /.well-known/acp.json -> feed.go
//
// Errors are rendered in the protocol's own shape and codes (errors.go).
package acphttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// Base is the path under which the protocol is served. The rest of a path is
// the protocol's own.
const Base = "/agent/commerce/acp"

// feedMaxAge is how long clients may cache the feed, in seconds.
const feedMaxAge = 30

// Site is what the store says about itself.
type Site struct {
	BaseURL, Name           string // BaseURL is without a slash at the end
	Contact                 string // e-mail address of the support; may be empty
	Terms, Privacy, Refunds string // URLs of the policies
}

// Sales are the operations on checkout sessions that the protocol offers.
// *checkout.Service implements it.
type Sales interface {
	Create(ctx context.Context, request checkout.Request) (*checkout.Session, error)
	Get(ctx context.Context, id string) (*checkout.Session, error)
	Update(ctx context.Context, id string, update checkout.Update) (*checkout.Session, error)
	Cancel(ctx context.Context, id, reason string) (*checkout.Session, error)
	// OrderURL is the page that shows the order of a paid session.
	OrderURL(session *checkout.Session) string
}

// Documents serves the documents that the store publishes.
// *discovery.Registry implements it.
type Documents interface {
	// Serve writes body as the companion with a key, cacheable for age seconds.
	Serve(w http.ResponseWriter, r *http.Request, key string, body []byte, age int) error
}

// Handler serves the protocol. Its fields are set once.
type Handler struct {
	Site      Site
	Catalog   *offer.Catalog
	Checkout  Sales
	Orders    *order.Service
	Sessions  *sessionhttp.Sessions
	Documents Documents

	discovered answer.Memo[*offer.Snapshot, []byte]
	feeds      answer.Memo[*offer.Snapshot, *feed]
}

// Mount adds the routes of the protocol by handle, and describes them in api.
func (h *Handler) Mount(api *openapi.API, handle func(string, http.HandlerFunc, ...httpserver.Middleware)) {
	waits := httpserver.AllowTime(sessionhttp.LongPoll + 15*time.Second)
	const sessions, one = Base + "/checkout_sessions", Base + "/checkout_sessions/{id}"
	handle("GET "+acp.DiscoveryPath, h.discovery)
	handle("POST "+sessions, h.post(http.StatusCreated, h.create))
	handle("GET "+one, h.get, waits)
	handle("POST "+one, h.post(http.StatusOK, h.update))
	handle("POST "+one+"/complete", h.post(http.StatusOK, h.complete))
	handle("POST "+one+"/cancel", h.post(http.StatusOK, h.cancel))
	handle("GET "+Base+"/feed/metadata.json", h.feedMetadata)
	handle("GET "+Base+"/feed/products.jsonl", h.feedLines)
	h.describe(api)
}
