// Package x402 holds the wire types and rules of x402, payments over HTTP 402
// and over MCP, for a store that sells services for stablecoins. It knows
// nothing of how the store works, nor of chains: signatures are checked by
// package evm.
//
//	x402, version 2, scheme exact, transfer by EIP-3009 authorization
//	specification      2026-09  https://github.com/x402-foundation/x402/tree/main/specs
//	client libraries   2.27.0   https://www.npmjs.com/package/@x402/core
//
//	quote      PaymentRequired -> Header (HTTP), ToolResult (MCP, in three places)
//	request    FromHTTP, FromTool -> PaymentPayload, or invalid_payload
//	             Match: what was accepted is what is asked
//	             Target.Fits: the payload names this service, or none
//	settle     VerifyResponse.Class, SettleResponse.Class: what an answer of a
//	             facilitator means for the money
//	answer     SettleResponse -> Header (HTTP), Meta (MCP)
//
// A payload is a bearer instrument until it is settled: whoever holds it can
// take the money to its receiver. PaymentPayload shows only who pays when it is
// printed or logged.
//
// # Where we diverge
//
//   - Only version 2 is spoken. A payload of version 1, or one in X-PAYMENT, is
//     refused with a hint.
//   - A payload that cannot be read is HTTP 400 invalid_payload, as the
//     specification says; the client libraries' server answers 402, which makes
//     a payer sign once more.
//   - base64 is read in both alphabets, with padding or without.
//   - JSON in which a member is named twice is refused.
//   - Only payloads with an EIP-3009 authorization are read: no Permit2, no
//     ERC-7710.
//   - The bazaar extension names the tool twice, as tool (specification) and as
//     toolName (client libraries).
//   - Reasons are open strings. One that is not in the table is ambiguous.
package x402
