// Package acp holds the wire types and rules of the Agentic Commerce Protocol
// for a store whose sessions are paid by a person on a hosted page. It knows
// nothing of how the store works.
//
//	Agentic Commerce Protocol (ACP), checkout
//	2026-04-17  current  https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/tree/main/spec/2026-04-17
//	2026-01-30  older    https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/tree/main/spec/2026-01-30
//
//	API-Version header       -> Negotiate
//	request body             -> ReadCreate, ReadUpdate, ReadComplete, ReadCancel, a liberal reader
//	answer                   <- CheckoutSession.For(version), Validate
//	failure                  <- Error, its HTTP status by code
//	/.well-known/acp.json    <- Discovery
//	product feed files       <- FeedMetadata, WriteProducts
//
// The versions differ in one thing that is served here: messages of 2026-01-30
// carry no resolution.
//
// # Where we diverge
//
//   - A request without API-Version is served in plain mode: the newest version,
//     the bare forms of ReadCreate, no idempotency key asked for. The
//     specification wants the header on every request.
//   - Authorization is not asked for: the store is open.
//   - Items of a request may carry a quantity, and may be named as
//     line_items[].id, line_items[].item.id or items[].id. The released schemas
//     allow the first without a quantity, their own examples show the others.
//   - complete never takes payment data. What is sent is dropped while the
//     request is read; only the fact that something came is kept. The answer of
//     an unpaid session is a CheckoutSession without an order.
//   - continue_url may be http on a loopback host, for development.
//   - reason_code of an intent trace may be any word.
package acp
