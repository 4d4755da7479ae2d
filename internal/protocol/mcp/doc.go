// Package mcp serves tools over the Model Context Protocol, stateless and over
// streamable HTTP, for clients of the versions 2024-11-05 to 2026-07-28.
//
//	POST -> host and origin -> Options.Authenticate -> media types -> size
//	     -> JSON-RPC envelope
//	     -> protocol version of the header (initialize is exempt), from 2026-07-28 on
//	        also of _meta, with the headers Mcp-Method and Mcp-Name
//	     -> Options.Admit: rate limit, by cost
//	     -> initialize | ping | server/discover (from 2026-07-28 on, in place of both)
//	      | tools/list (rendered at registration)
//	      | tools/call: arguments checked against the schema, then the handler
//	     -> one JSON response, or one server-sent event if Accept names only that
//
// A problem of a handler becomes a result with isError, because the model should read it; a
// *jsonrpc.Error becomes a protocol error with its HTTP status. Any other error is an internal
// error whose text is not exposed.
//
// Source: Model Context Protocol specification, https://modelcontextprotocol.io/specification,
// versions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28.
//
// Where we diverge:
//   - No sessions and no streams: GET and DELETE return 405, Mcp-Session-Id and
//     Last-Event-ID are ignored. tools/list and tools/call need no initialize.
//   - Of 2024-11-05 the messages are supported, not its HTTP+SSE transport.
//   - Accept need not name both media types.
//   - An unsupported version in the header is 400 with -32602 and the supported
//     ones, the error of the lifecycle page, which clients of both eras fall
//     back on; a server that also serves 2026-07-28 sends its -32022.
//   - Of 2026-07-28 there are no subscriptions: the list of tools does not change
//     while a client is connected.
//   - A batch holds at most ten messages.
//   - The code 429 reports the rate limit: it is outside the reserved ranges.
package mcp
