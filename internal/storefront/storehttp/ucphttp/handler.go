// Package ucphttp is the HTTP transport of the store for UCP: checkout and catalog over
// REST and over the tools of the MCP binding, and the profile that says so.
//
//	REST (rest.go)  \                        / sessionhttp: repetitions
//	                 read -> exchange.go ----  ops.go, catalog.go -> domain
//	tools (mcp.go)  /       version, keys    \ wire.go, errors.go <-
//
// The operations are written once; the two transports only read and write.
// Which responses are outcomes of the business, and which are failures of the
// protocol, is in one table in errors.go.
package ucphttp

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/plainjson"
	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// Handler serves UCP. Its fields are set once.
type Handler struct {
	Site     Site
	Catalog  *offer.Catalog
	Orders   *order.Service
	Sessions *sessionhttp.Sessions
	// Platforms reads the profiles of the platforms that call; nil is as good as
	// Site.Negotiation off.
	Platforms Platforms
	// Signers sign responses, the first those of complete, for which UCP asks for
	// P-256. All their public keys are published.
	Signers []*httpsig.Signer
	// Admit counts the messages of the tools. Nil: they are not counted.
	Admit func(h http.Header, r *http.Request, load mcp.Load) *jsonrpc.Error
	Log   *slog.Logger
}

// Site is what the store says about itself.
type Site struct {
	BaseURL, Name           string // BaseURL is without a slash at the end
	Version                 string // of the store's API
	Terms, Privacy, Refunds string // addresses of the policies
	// Negotiation says how profiles of platforms are treated: off, lenient
	// (also "") or strict.
	Negotiation string
}

// encode writes JSON for the wire: compact, with addresses left readable.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := plainjson.NewEncoder(&buf)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return buf.Bytes(), nil
}
