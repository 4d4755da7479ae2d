// Package a2a serves the Agent2Agent protocol 1.0 in its JSON-RPC binding:
// wire types, errors, the endpoint, how tasks are kept, and signed agent cards.
//
//	POST -> media type -> size -> JSON-RPC envelope -> A2A-Version
//	     -> method: parameters read whole, all faults told at once
//	     -> Agent.Send | Get | List | Cancel
//	     -> the task, with as much of its history and artifacts as was asked for
//
//	Task: (new) -> working -> input-required -> completed, failed,
//	                                            canceled, rejected
//	      kept as a Record in a Store: moves compare and set (task.go, record.go)
//
//	Card -> canonical JSON without signatures -> JWS -> Card.Signatures (sign.go)
//
// Source: Agent2Agent (A2A) Protocol Specification 1.0.1, 2026-05-26,
// https://a2a-protocol.org/v1.0.0/specification/; error details are those of
// google.rpc (https://google.aip.dev/193).
//
// Where we diverge:
//   - No streams, no push notifications, no extended card: their methods answer
//     the errors that the specification has for that, as plain JSON.
//   - A message with an id that was seen before in its context is answered with
//     the task that it made then, so that a repetition does nothing twice.
//   - returnImmediately changes nothing: an agent here answers within the
//     request, at the latest when a task waits for somebody else.
//   - A request without id gets an error instead of silence; a batch too.
//   - Errors that the JSON-RPC binding has no place for have an HTTP status of
//     their own: 405, 413, 429. All others are HTTP 200.
package a2a
