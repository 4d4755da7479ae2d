// Package a2a serves the Agent2Agent protocol 1.0 in its JSON-RPC binding: wire types, errors, the
// endpoint, the storage of tasks, and signed agent cards.
//
//	POST -> media type -> size -> JSON-RPC envelope -> A2A-Version
//	     -> method: all errors of the parameters in one response
//	     -> Agent.Send | Get | List | Cancel
//	     -> the task, with the requested part of its history and artifacts
//
//	Task: (new) -> working -> input-required -> completed, failed,
//	                                            canceled, rejected
//	      stored as a Record in a Store; transitions compare and set (task.go, record.go)
//
//	Card -> canonical JSON without signatures -> JWS -> Card.Signatures (sign.go)
//
// Source: Agent2Agent (A2A) Protocol Specification 1.0.1, 2026-05-26,
// https://a2a-protocol.org/v1.0.0/specification/; error details are those of
// google.rpc (https://google.aip.dev/193).
//
// Where we diverge:
//   - No streams, no push notifications, no extended card: their methods return
//     the errors of the specification for this case, as plain JSON.
//   - A message with an id that was seen before in its context returns
//     the task that it created, so that a retry has no further effect.
//   - returnImmediately has no effect: an agent here responds within the
//     request, at the latest when a task waits for input.
//   - A request without id gets an error instead of silence; a batch too.
//   - Errors without a representation in the JSON-RPC binding have their own
//     HTTP status: 405, 413, 429. All others are HTTP 200.
package a2a
