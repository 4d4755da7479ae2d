// Package ucp holds the wire types and rules of the Universal Commerce
// Protocol for a store whose checkouts are paid by a person on a hosted page.
// It knows nothing of how the store works.
//
//	Universal Commerce Protocol (UCP), shopping service
//	2026-08-25  current    https://ucp.dev/2026-08-25/specification/overview
//	2026-04-08  older leaf https://ucp.dev/2026-04-08/specification/overview
//
// The schema files of 2026-08-25 are not at hand: the draft that was published
// three days before that release stands in for them in the tests.
//
//	UCP-Agent header, meta["ucp-agent"]  -> ParseAgent, Negotiate
//	profile of the platform              -> ParsePlatformProfile, Intersect
//	signature of a request               -> VerifyRequest
//	request body                         -> ReadCreate … ReadProduct, a liberal reader
//	answer                               <- Checkout, SearchResponse, …, Validate
//	failure: no resource to return       <- ErrorResponse, HTTP 200 or 409
//	failure of the protocol              <- ProtocolError, its own HTTP status
//	/.well-known/ucp                     <- Profile
//	signature of an answer               <- SignResponse
//
// # Where we diverge
//
//   - A request without UCP-Agent is served in plain mode: the newest version,
//     the bare forms of ReadCreate, no idempotency key asked for. The
//     specification wants the header on every request.
//   - complete never takes an instrument. What is sent as payment is dropped
//     while the request is read; only the fact that something came is kept.
//   - continue_url may be http on a loopback host, for development.
//   - Bodies of protocol errors also carry messages, for clients that look
//     for these on every failure.
//   - The schemas of the MCP tools do not ask for meta, as the specification's do:
//     a client that validates arguments could make no plain call otherwise.
//   - Order, cart, fulfillment, discount and identity are not declared.
package ucp
