// Package assertion signs JSON Web Tokens (RFC 7519) with keys as vendors give
// them to their customers.
//
//	ParseKey(alg, encoding, text) ─ pem, hex, base64, raw ─> key
//	Sign(alg, key, kid, claims)   ─ RS256, ES256, EdDSA, HS256 ─> header.claims.signature
//
// It only creates tokens; nothing here accepts one. No error holds any part of a
// key.
package assertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"ace/internal/foundation/jws"
)

// Algorithms (RFC 7518, 3.1; RFC 8037).
const (
	RS256 = jws.RS256
	ES256 = jws.ES256
	EdDSA = jws.EdDSA
	HS256 = jws.HS256
)

// Encodings of keys.
const (
	PEM    = "pem" // also ""
	Hex    = "hex"
	Base64 = "base64"
	Raw    = "raw" // the text's own bytes
)

// errKey says that a key cannot be read, and nothing about it.
var errKey = errors.New("the key cannot be read")

// ParseKey reads a key for an algorithm: []byte for HS256, and a private key for
// the others, in PKCS #8, PKCS #1 or SEC 1. PEM whose line breaks were written
// as \n is read as well, since settings often hold it so. A bare Ed25519 key is
// its seed.
func ParseKey(alg, encoding, text string) (any, error) {
	if encoding == "" && alg == HS256 {
		encoding = Raw
	}
	data, err := decode(encoding, text)
	if err != nil {
		return nil, err
	}
	if alg == HS256 {
		if len(data) == 0 {
			return nil, errKey
		}
		return data, nil
	}
	key := privateKey(alg, data)
	if key == nil {
		return nil, errKey
	}
	return key, nil
}

func decode(encoding, text string) ([]byte, error) {
	switch encoding {
	case PEM, "":
		text = strings.ReplaceAll(strings.TrimSpace(text), `\n`, "\n")
		block, _ := pem.Decode([]byte(text))
		if block == nil {
			return nil, errKey
		}
		return block.Bytes, nil
	case Hex:
		data, err := hex.DecodeString(strings.TrimSpace(text))
		if err != nil {
			return nil, errKey
		}
		return data, nil
	case Base64:
		text = strings.NewReplacer("-", "+", "_", "/", "=", "", "\n", "", "\r", "", " ", "").Replace(text)
		data, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			return nil, errKey
		}
		return data, nil
	case Raw:
		return []byte(text), nil
	}
	return nil, fmt.Errorf("there is no encoding %q of keys", encoding)
}

// privateKey returns the key in DER that fits the algorithm, or nil.
func privateKey(alg string, der []byte) crypto.Signer {
	if alg == EdDSA && (len(der) == ed25519.SeedSize || len(der) == ed25519.PrivateKeySize) {
		return ed25519.NewKeyFromSeed(der[:ed25519.SeedSize])
	}
	var key any
	var err error
	if key, err = x509.ParsePKCS8PrivateKey(der); err != nil {
		if key, err = x509.ParsePKCS1PrivateKey(der); err != nil {
			if key, err = x509.ParseECPrivateKey(der); err != nil {
				return nil
			}
		}
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if alg == RS256 {
			return k
		}
	case *ecdsa.PrivateKey:
		if alg == ES256 && k.Curve == elliptic.P256() {
			return k
		}
	case ed25519.PrivateKey:
		if alg == EdDSA {
			return k
		}
	}
	return nil
}

// Sign returns a JWT of the claims; kid is left out where it is empty. The key
// is one that ParseKey returned for the same algorithm.
func Sign(alg string, key any, kid string, claims map[string]any) (string, error) {
	var header map[string]any
	if kid != "" {
		header = map[string]any{"kid": kid}
	}
	return jws.Token(alg, key, header, claims)
}
