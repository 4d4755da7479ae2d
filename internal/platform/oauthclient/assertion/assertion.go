// Package assertion signs JSON Web Tokens (RFC 7519) with keys as vendors hand
// them out.
//
//	ParseKey(alg, encoding, text) ─ pem, hex, base64, raw ─> key
//	Sign(alg, key, kid, claims)   ─ RS256, ES256, EdDSA, HS256 ─> header.claims.signature
//
// It makes tokens only; nothing here accepts one. No error holds any part of a
// key.
package assertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Algorithms (RFC 7518, 3.1; RFC 8037).
const (
	RS256 = "RS256"
	ES256 = "ES256"
	EdDSA = "EdDSA"
	HS256 = "HS256"
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

// privateKey answers the key in DER that fits the algorithm, or nil.
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

// Sign answers a JWT of the claims; kid is left out where it is empty. The key
// is one that ParseKey answered for the same algorithm.
func Sign(alg string, key any, kid string, claims map[string]any) (string, error) {
	header := map[string]string{"alg": alg, "typ": "JWT"}
	if kid != "" {
		header["kid"] = kid
	}
	first, err := json.Marshal(header)
	if err != nil {
		return "", fmt.Errorf("writing a header: %w", err)
	}
	second, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("writing claims: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(first) + "." + base64.RawURLEncoding.EncodeToString(second)
	signed, err := sign(alg, key, []byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signed), nil
}

func sign(alg string, key any, text []byte) ([]byte, error) {
	sum := sha256.Sum256(text)
	switch k := key.(type) {
	case []byte:
		if alg == HS256 {
			mac := hmac.New(sha256.New, k)
			_, _ = mac.Write(text) // a hash takes everything
			return mac.Sum(nil), nil
		}
	case *rsa.PrivateKey:
		if alg == RS256 {
			return rsa.SignPKCS1v15(nil, k, crypto.SHA256, sum[:])
		}
	case ed25519.PrivateKey:
		if alg == EdDSA {
			return ed25519.Sign(k, text), nil
		}
	case *ecdsa.PrivateKey:
		if alg == ES256 {
			r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
			if err != nil {
				return nil, fmt.Errorf("signing: %w", err)
			}
			out := make([]byte, 64) // RFC 7518, 3.4: both numbers, 32 bytes each
			r.FillBytes(out[:32])
			s.FillBytes(out[32:])
			return out, nil
		}
	}
	return nil, fmt.Errorf("the key is not one for %s", alg)
}
