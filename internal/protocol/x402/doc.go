// Package x402 holds the wire types and rules of x402, payments over HTTP 402 and over MCP, for a
// store that sells services for stablecoins. It does not depend on the store or on chains:
// signatures are checked by package evm.
//
//	x402, version 2, scheme exact, transfer by EIP-3009 authorization
//	specification      2026-09  https://github.com/x402-foundation/x402/tree/main/specs
//	client libraries   2.27.0   npm package @x402/core
//
//	quote      PaymentRequired -> Header (HTTP), ToolResult (MCP, in three places)
//	request    FromHTTP, FromTool -> PaymentPayload, or invalid_payload
//	             Match: the accepted requirements are the requested ones
//	             Target.Fits: the payload names this service, or none
//	settle     VerifyResponse.Class, SettleResponse.Class: the effect of a
//	             facilitator's response on the payment
//	response   SettleResponse -> Header (HTTP), Meta (MCP)
//
// A payload is a bearer instrument until it is settled: anyone who holds it can submit the transfer
// to its receiver. PaymentPayload shows only the payer when it is printed or logged.
//
// # Where we diverge
//
//   - Only version 2 is supported. A payload of version 1, or one in X-PAYMENT, is
//     refused with a hint.
//   - A payload that cannot be parsed is HTTP 400 invalid_payload, as the
//     specification says; the client libraries' server returns 402, which makes
//     a payer sign again.
//   - base64 is accepted in both alphabets, with padding or without.
//   - JSON with duplicate fields is refused.
//   - Only payloads with an EIP-3009 authorization are accepted: no Permit2, no
//     ERC-7710.
//   - The bazaar extension names the tool twice, as tool (specification) and as
//     toolName (client libraries).
//   - Reasons are open strings. One that is not in the table is ambiguous.
package x402
