// Package webbotauth identifies the automated agent that sent a request, if the agent signs its
// requests by Web Bot Auth, and signs our own.
//
//	Verifier.Verify(request)
//	  no signature for us          -> unsigned
//	  syntax, parameters, time,
//	  coverage, host               -> invalid
//	  Signature-Agent -> URL       -> unverified(agent)
//	  Keys: URL -> keys in memory  -> unverified(pending | unreachable | unknown_key)
//	     \- Fetcher in the background; no request ever waits for it
//	  cryptography, body digest    -> invalid(signature | digest)
//	                               -> verified, with the URL as identity
//	Identity.Sign(request), Identity.Directory(now): the other side
//
// Source: draft-ietf-webbotauth-httpsig-protocol-01 (2026-10-29),
// https://datatracker.ietf.org/doc/draft-ietf-webbotauth-httpsig-protocol/,
// with the key directory of draft-meunier-webbotauth-httpsig-protocol-02, on
// HTTP Message Signatures, RFC 9421.
//
// Where we diverge:
//   - The identity is the URL of the keys, never a key alone.
//     A signature without Signature-Agent is therefore never verified.
//   - created and expires are required, with at most 24 hours between them; the
//     draft recommends that.
//   - The entry of Signature-Agent is the one that the signature covers; it
//     need not be named like the signature, and is not in published examples.
//   - The older Signature-Agent, a single string, is accepted if it is covered,
//     and so is a dictionary of one entry that is covered as a whole.
//   - Nonces are not stored: an identity only selects the quota that a request
//     counts against, and agents do reuse signatures.
package webbotauth
