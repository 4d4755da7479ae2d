package ucp

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/problem"
)

// Limits of request signatures: clocks may differ by signatureSkew, and a signature with an expiry
// lasts a day at most.
const (
	signatureSkew   = time.Minute
	signatureWindow = 24 * time.Hour
)

// tagWebBotAuth marks signatures that identify a bot. They may cover too little to authenticate a
// request.
const tagWebBotAuth = "web-bot-auth"

// RequestComponents lists what the signature of a request must cover: method, authority and path,
// the query, UCP-Agent and Idempotency-Key if present, and with a body its digest and media type.
func RequestComponents(m *httpsig.Message, hasBody bool) []httpsig.Component {
	list := []httpsig.Component{httpsig.Field("@method"), httpsig.Field("@authority"), httpsig.Field("@path")}
	if m.RawQuery != "" {
		list = append(list, httpsig.Field("@query"))
	}
	if m.Header.Get(HeaderAgent) != "" {
		list = append(list, httpsig.Field(HeaderAgent))
	}
	changes := slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, m.Method)
	if changes && m.Header.Get(HeaderIdempotencyKey) != "" {
		list = append(list, httpsig.Field(HeaderIdempotencyKey))
	}
	if hasBody {
		list = append(list, httpsig.Field(httpsig.HeaderContentDigest), httpsig.Field("content-type"))
	}
	return list
}

// VerifyRequest verifies a signed request (https://ucp.dev/2026-08-25/specification/signatures)
// with the keys of the platform's profile, and returns the id of the key. "" means that the request
// is not authenticated: it has no signature, or only one that identifies a bot. body is the raw
// body. The problems are signature_missing, signature_invalid, key_not_found, digest_mismatch and
// algorithm_unsupported.
func VerifyRequest(m *httpsig.Message, body []byte, platform *PlatformProfile, now time.Time) (
	keyID string, err error,
) {
	if (m.Header.Get(httpsig.HeaderSignature) == "") != (m.Header.Get(httpsig.HeaderSignatureInput) == "") {
		return "", signatureProblem(errHalf)
	}
	signatures, err := httpsig.Parse(m.Header)
	if err != nil {
		return "", signatureProblem(err)
	}
	needed := RequestComponents(m, len(body) > 0)
	var first error
	for i := range signatures {
		s := &signatures[i]
		covers := s.Covers(needed...)
		if !covers && s.Params.Tag == tagWebBotAuth {
			continue
		}
		err := errTooLittle
		if covers {
			err = verifyOne(s, m, body, platform, now)
		}
		if err == nil {
			return s.Params.KeyID, nil
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return "", signatureProblem(first)
	}
	return "", nil
}

var (
	errTooLittle  = errors.New("the signature covers too little")
	errUnknownKey = errors.New("the profile has no such key")
	errHalf       = errors.New("one of the two signature fields is missing")
)

func verifyOne(s *httpsig.Signature, m *httpsig.Message, body []byte, platform *PlatformProfile,
	now time.Time,
) error {
	if err := s.CheckTime(now, httpsig.TimeRule{Skew: signatureSkew, MaxWindow: signatureWindow}); err != nil {
		return err
	}
	if s.Covers(httpsig.Field(httpsig.HeaderContentDigest)) {
		if err := httpsig.VerifyContentDigest(m.Header, body); err != nil {
			return err
		}
	}
	key, ok := httpsig.FindKey(platform.Keys, s.Params.KeyID)
	if !ok && slices.Contains(platform.ForeignKeys, s.Params.KeyID) {
		return httpsig.ErrAlgorithm
	}
	if !ok {
		return errUnknownKey
	}
	return s.VerifyJWK(m, key)
}

// signatureProblem converts an error without revealing more than the caller knows.
func signatureProblem(err error) error {
	refuse := func(kind problem.Kind, code Code, detail string) error {
		return problem.New(kind, string(code), detail+" Sign the request again, or send it without a signature.")
	}
	switch {
	case errors.Is(err, errHalf):
		return refuse(problem.Unauthenticated, SignatureMissing,
			"A signed request has both Signature-Input and Signature; one of them is missing.")
	case errors.Is(err, errUnknownKey):
		return refuse(problem.Unauthenticated, KeyNotFound, "The profile has no usable key with this keyid.")
	case errors.Is(err, httpsig.ErrDigest):
		return refuse(problem.Invalid, DigestMismatch, "Content-Digest does not match the body.")
	case errors.Is(err, httpsig.ErrAlgorithm), errors.Is(err, httpsig.ErrKey):
		return refuse(problem.Invalid, AlgorithmUnsupported,
			"Signatures are verified with ecdsa-p256-sha256, ed25519 and rsa-pss-sha512, digests with sha-256 and "+
				"sha-512.")
	case errors.Is(err, httpsig.ErrTime):
		return refuse(problem.Unauthenticated, SignatureInvalid,
			"The signature has expired, is from the future or is valid for more than a day.")
	case errors.Is(err, errTooLittle):
		return refuse(problem.Unauthenticated, SignatureInvalid,
			"The signature must cover @method, @authority, @path, @query with a query, ucp-agent and idempotency-key "+
				"if they are sent, and content-digest and content-type with a body.")
	}
	return refuse(problem.Unauthenticated, SignatureInvalid, "The signature is invalid.")
}

// SignResponse signs a response: its status, digest and media type. It sets Content-Digest,
// Signature-Input and Signature; Content-Type must be set.
func SignResponse(signer *httpsig.Signer, status int, h http.Header, body []byte, now time.Time) error {
	h.Set(httpsig.HeaderContentDigest, httpsig.ContentDigest(body))
	components := []httpsig.Component{
		httpsig.Field("@status"), httpsig.Field(httpsig.HeaderContentDigest), httpsig.Field("content-type"),
	}
	return signer.Sign(httpsig.ResponseMessage(status, h, nil), "sig1", components, httpsig.Params{Created: now})
}
