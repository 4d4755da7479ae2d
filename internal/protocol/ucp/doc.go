// Package ucp holds the wire types and rules of the Universal Commerce Protocol for a store whose
// checkouts the buyer pays on a hosted page. It does not depend on the store.
//
//	Universal Commerce Protocol (UCP), shopping service
//	2026-08-25  current    https://ucp.dev/2026-08-25/specification/overview
//	2026-04-08  older      https://ucp.dev/2026-04-08/specification/overview
//
// The schema files of 2026-08-25 are not available: the tests use the draft that was published
// three days before that release.
//
//	UCP-Agent header, meta["ucp-agent"]  -> ParseAgent, Negotiate
//	profile of the platform              -> ParsePlatformProfile, Intersect
//	signature of a request               -> VerifyRequest
//	request body                         -> ReadCreate … ReadProduct, a lenient parser
//	response                             <- Checkout, SearchResponse, …, Validate
//	error: no resource to return         <- ErrorResponse, HTTP 200 or 409
//	protocol error                       <- ProtocolError, its own HTTP status
//	/.well-known/ucp                     <- Profile
//	signature of a response              <- SignResponse
//
// # Where we diverge
//
//   - A request without UCP-Agent is served in plain mode: the newest version,
//     the bare forms of ReadCreate, no idempotency key required. The
//     specification requires the header on every request.
//   - complete never accepts a payment instrument. payment is dropped
//     while the request is parsed; only the fact that it was sent is recorded.
//   - continue_url may be http on a loopback host, for development.
//   - Bodies of protocol errors also contain messages, for clients that look
//     for these on every error.
//   - The schemas of the MCP tools do not require meta, unlike the specification's:
//     otherwise a client that validates arguments could not make a plain call.
//   - Order, cart, fulfillment, discount and identity are not declared.
package ucp
