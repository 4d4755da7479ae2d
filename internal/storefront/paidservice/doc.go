// Package paidservice sells work that is paid per run over x402. No one pays
// for nothing, and nothing is delivered unpaid.
//
//	quote     price book -> payment requirements; nothing is kept
//	match     what the payer accepted is a price of now or of ten minutes ago
//	bind      the payment names this service, or none
//	precheck  receiver, amount, time left, signature
//	reserve   one order per authorization ────────────────> reserved
//	verify    the facilitator; refused: released, 402         |
//	run       under a lease that is beaten ───────────────> running ──> released
//	seal      the work is stored, unseen        ───────────> ran ──────> released
//	gate      settled only while somebody waits               |            |
//	settle    on record before the first byte goes out ───> settling <──reserved
//	          settled | unpaid (sealed) | unknown (202)       |
//	prove     unknown ─chain, or the same payment again──> settled | unpaid
//	deliver   ────────────────────────────────────────────> delivered
//	watch     ────────────────────────────────────────────> final
//	          the chain dropped it: reorged -> settling | loss
//
// The moves are one table (moves, in order.go), each is compared with the kept
// state and version and leaves a line in the audit trail. What carries all of
// it: an EIP-3009 nonce is spent once, so that settling the same payment again,
// at any facilitator, never charges twice; only a new signature can. Therefore
//
//   - no response asks for a signature (402) while the first one may be spent;
//   - equal calls at the same time join: one run, one transaction, equal
//     answers, between replicas too;
//   - a crash between any two steps leaves an order that the next caller, or
//     the job JobTend, takes further;
//   - the payment is a bearer instrument: it is kept sealed, emptied when it is
//     spent or void, and never logged.
package paidservice
