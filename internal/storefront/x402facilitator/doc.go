// Package x402facilitator implements the ports of package paidservice by which
// payments over x402 become money: facilitators over HTTP, and chains over
// JSON-RPC. It decides nothing about orders.
//
//	Pool      the first facilitator, then the others where the one before surely
//	  |       did nothing
//	  Remote  POST /verify (15 s), POST /settle (20 s), GET /supported
//	          refusal -> a response with its reason
//	          no connection, 401, 402, 403, 404, 405, 413, 415, 429 -> ErrNotSent
//	          everything else -> an error: the outcome is not known
//
//	Chains    Find: AuthorizationUsed of payer and nonce -> its receipt
//	            -> the Transfer that belongs to it -> paid, void or open
//	          CheckAsset: code, name, version, decimals, DOMAIN_SEPARATOR
//
// A facilitator is asked once per call. Who asks again, and when, is the
// service's decision: it alone knows what came before.
//
// Addresses of nodes often hold a key. They are in no error and no log.
package x402facilitator
