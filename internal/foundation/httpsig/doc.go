// Package httpsig signs and verifies HTTP messages by RFC 9421
// (https://www.rfc-editor.org/rfc/rfc9421), with the digests of RFC 9530 and
// keys as JSON (RFC 7517). It knows the cryptography and the syntax; which
// components a signature has to cover and whose keys count is for the caller.
//
//	verify:  Parse(header)         -> []Signature: label, components, parameters
//	           s.Covers(…)            is what matters signed?
//	           s.CheckTime(now, …)    created, expires
//	           FindKey(keys, s.Params.KeyID)
//	           s.Verify(message, key)
//	           VerifyContentDigest(header, body)   if content-digest is covered
//	sign:    NewSigner(key).Sign(message, label, components, parameters)
//
// Algorithms: ed25519 and ecdsa-p256-sha256 (r and s side by side, 64 bytes)
// both ways, rsa-pss-sha512 to verify. Shared secrets are never accepted.
//
// Components: @method, @scheme, @authority, @target-uri, @path, @query, @status
// and fields; the parameter key of dictionary fields, and req in responses.
// Others (sf, bs, tr, @request-target, @query-param) are refused, so that a
// signature which covers them does not verify.
package httpsig
