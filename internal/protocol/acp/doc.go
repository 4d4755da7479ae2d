// Package acp holds the wire types and rules of the Agentic Commerce Protocol for a store whose
// sessions the buyer pays on a hosted page. It does not depend on the store.
//
//	Agentic Commerce Protocol (ACP), checkout
//	2026-04-17  current  https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/tree/main/spec/2026-04-17
//	2026-01-30  older    https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/tree/main/spec/2026-01-30
//
//	API-Version header       -> Negotiate
//	request body             -> ReadCreate, ReadUpdate, ReadComplete, ReadCancel, a lenient parser
//	response                 <- CheckoutSession.For(version), Validate
//	error                    <- Error, its HTTP status by code
//	/.well-known/acp.json    <- Discovery
//	product feed files       <- FeedMetadata, WriteProducts
//
// The versions differ in one used feature: messages of 2026-01-30 carry no resolution.
//
// # Where we diverge
//
//   - A request without API-Version is served in plain mode: the newest version,
//     the bare forms of ReadCreate, no idempotency key required. The
//     specification requires the header on every request.
//   - Authorization is not required: the store is open.
//   - Items of a request may carry a quantity, and may be named as
//     line_items[].id, line_items[].item.id or items[].id. The released schemas
//     allow the first without a quantity, their own examples show the others.
//   - complete never accepts payment data. It is dropped while the
//     request is parsed; only the fact that it was sent is recorded. The response for
//     an unpaid session is a CheckoutSession without an order.
//   - continue_url may be http on a loopback host, for development.
//   - reason_code of an intent trace may be any string.
package acp
