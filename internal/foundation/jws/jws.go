// Package jws signs JSON Web Signatures (RFC 7515) and JSON Web Tokens (RFC 7519)
// with go-jose. It signs only; no error holds any part of a key.
//
//	Token(alg, key, header, claims)  -> header.claims.signature
//	Sign(alg, key, header, payload)  -> the same three parts, for detached payloads
package jws

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// Algorithms (RFC 7518, section 3.1; RFC 8037).
const (
	RS256 = "RS256"
	ES256 = "ES256"
	EdDSA = "EdDSA"
	HS256 = "HS256"
)

// Signer is a key that does not leave its owner, for example httpsig.Signer.
type Signer interface {
	// SignBytes signs data by the one algorithm of the key. An ECDSA signature is
	// both numbers, 32 bytes each (RFC 7518, section 3.4).
	SignBytes(data []byte) ([]byte, error)
}

// Signature is a JSON Web Signature, each part in base64url.
type Signature struct{ Protected, Payload, Value string }

// Compact returns the compact serialization.
func (s Signature) Compact() string { return s.Protected + "." + s.Payload + "." + s.Value }

// errSign is every failure of a key: what go-jose says about it is not passed on.
var errSign = errors.New("the key cannot sign")

// minHMAC is the least key that go-jose accepts for HS256.
const minHMAC = 32

// Sign signs payload. The key is []byte for HS256, a private key of crypto/rsa,
// crypto/ecdsa (P-256) or crypto/ed25519, or a Signer. header is added to the
// protected header, which holds alg.
func Sign(alg string, key any, header map[string]any, payload []byte) (Signature, error) {
	switch k := key.(type) {
	case Signer:
		key = opaque{k, jose.SignatureAlgorithm(alg)}
	case []byte:
		if len(k) == 0 {
			return Signature{}, errSign
		}
		if len(k) < minHMAC {
			// Vendors give out shorter secrets. HMAC fills a key up with zeros to the
			// block of its hash, so that the value is the same.
			key = append(append(make([]byte, 0, minHMAC), k...), make([]byte, minHMAC-len(k))...)
		}
	}
	o := new(jose.SignerOptions)
	for name, value := range header {
		o.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: key}, o)
	if err != nil {
		return Signature{}, fmt.Errorf("%w by %s", errSign, alg)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return Signature{}, fmt.Errorf("%w by %s", errSign, alg)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		return Signature{}, fmt.Errorf("writing a signature: %w", err)
	}
	parts := strings.SplitN(text, ".", 3)
	return Signature{Protected: parts[0], Payload: parts[1], Value: parts[2]}, nil
}

// Token signs claims as a JSON Web Token of type JWT.
func Token(alg string, key any, header, claims map[string]any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("writing claims: %w", err)
	}
	all := map[string]any{"typ": "JWT"}
	maps.Copy(all, header)
	signed, err := Sign(alg, key, all, payload)
	if err != nil {
		return "", err
	}
	return signed.Compact(), nil
}

// opaque shows a Signer to go-jose.
type opaque struct {
	signer Signer
	alg    jose.SignatureAlgorithm
}

// Public implements jose.OpaqueSigner. The header of a caller names the key.
func (o opaque) Public() *jose.JSONWebKey { return nil }

// Algs implements jose.OpaqueSigner.
func (o opaque) Algs() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{o.alg} }

// SignPayload implements jose.OpaqueSigner.
func (o opaque) SignPayload(payload []byte, _ jose.SignatureAlgorithm) ([]byte, error) {
	return o.signer.SignBytes(payload)
}
