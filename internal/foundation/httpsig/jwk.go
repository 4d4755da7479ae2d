package httpsig

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// The sizes of RSA keys that are accepted, in bits. Larger ones cost the
// verifier too much.
const (
	minRSABits = 2048
	maxRSABits = 4096
)

// MaxKeys is how many keys of a set are read.
const MaxKeys = 32

// ErrKey is wrapped by errors about a key that cannot be used: a type, curve
// or size that is not supported here, or values that make no key.
var ErrKey = errors.New("unusable key")

// JWK is a public key as JSON, RFC 7517 (https://www.rfc-editor.org/rfc/rfc7517).
// It holds EC keys on P-256, OKP keys on Ed25519 (RFC 8037) and RSA keys.
// Private members are neither kept nor written.
type JWK struct {
	KID string `json:"kid,omitempty"`
	Kty string `json:"kty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	Use string `json:"use,omitempty"`
	Alg string `json:"alg,omitempty"`
	// NotBefore and Expires are the Unix seconds of the members nbf and exp
	// that key directories use; 0 means no limit.
	NotBefore int64 `json:"nbf,omitempty"`
	Expires   int64 `json:"exp,omitempty"`
}

// NewJWK returns the JWK of a public key for signatures. Its key id is the
// thumbprint of RFC 7638. The error wraps ErrKey.
func NewJWK(public crypto.PublicKey) (JWK, error) {
	k := JWK{Use: "sig"}
	switch p := public.(type) {
	case ed25519.PublicKey:
		k.Kty, k.Crv, k.Alg, k.X = "OKP", "Ed25519", "EdDSA", encode(p)
	case *ecdsa.PublicKey:
		if p.Curve != elliptic.P256() {
			return JWK{}, fmt.Errorf("%w: EC keys must be on P-256", ErrKey)
		}
		point, err := p.Bytes() // 4, x, y
		if err != nil {
			return JWK{}, fmt.Errorf("%w: not a point of the curve", ErrKey)
		}
		k.Kty, k.Crv, k.Alg, k.X, k.Y = "EC", "P-256", "ES256", encode(point[1:33]), encode(point[33:])
	case *rsa.PublicKey:
		k.Kty, k.Alg, k.N, k.E = "RSA", "PS512", encode(p.N.Bytes()), encode(big.NewInt(int64(p.E)).Bytes())
	default:
		return JWK{}, fmt.Errorf("%w: type %T", ErrKey, public)
	}
	thumbprint, err := k.Thumbprint()
	k.KID = thumbprint
	return k, err
}

// ParseJWK reads a public key. A key with private fields is refused:
// one that was published is compromised. The errors wrap ErrKey. With an error
// about a type, curve or algorithm that is not supported here the key is
// returned, too: signatures may name it.
func ParseJWK(data []byte) (JWK, error) {
	var k struct {
		JWK
		D json.RawMessage `json:"d"`
		P json.RawMessage `json:"p"`
		Q json.RawMessage `json:"q"`
		K json.RawMessage `json:"k"`
	}
	if err := json.Unmarshal(data, &k); err != nil {
		return JWK{}, fmt.Errorf("%w: not a JSON Web Key", ErrKey)
	}
	if k.D != nil || k.P != nil || k.Q != nil || k.K != nil {
		return JWK{}, fmt.Errorf("%w: it carries private members", ErrKey)
	}
	if k.Use != "" && k.Use != "sig" {
		return JWK{}, fmt.Errorf("%w: it is not for signatures", ErrKey)
	}
	_, err := k.Public()
	return k.JWK, err
}

// ParseKeySet reads the keys of a JWK Set. Keys of types that are not
// supported here are left out, as RFC 7517 section 5 demands; so are faulty
// ones. At most MaxKeys members are read.
func ParseKeySet(data []byte) ([]JWK, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil || set.Keys == nil {
		return nil, fmt.Errorf("%w: not a JSON Web Key Set", ErrKey)
	}
	return ParseKeys(set.Keys), nil
}

// ParseKeys is ParseKeySet for the members of an array of keys.
func ParseKeys(members []json.RawMessage) []JWK {
	var keys []JWK
	for i, raw := range members {
		if i == MaxKeys {
			break
		}
		if k, err := ParseJWK(raw); err == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// FindKey returns the key that keyID names: by its kid, or by its thumbprint.
func FindKey(keys []JWK, keyID string) (JWK, bool) {
	for _, k := range keys {
		if k.KID == keyID && keyID != "" {
			return k, true
		}
	}
	for _, k := range keys {
		if thumbprint, err := k.Thumbprint(); err == nil && thumbprint == keyID {
			return k, true
		}
	}
	return JWK{}, false
}

// Public returns the key: an ed25519.PublicKey, an *ecdsa.PublicKey on P-256 or
// an *rsa.PublicKey of 2048 to 4096 bits. The errors wrap ErrKey.
func (k JWK) Public() (crypto.PublicKey, error) {
	switch {
	case k.Kty == "OKP" && k.Crv == "Ed25519" && oneOf(k.Alg, "", "EdDSA", "Ed25519"):
		x, err := decode(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%w: x is not an Ed25519 key", ErrKey)
		}
		return ed25519.PublicKey(x), nil
	case k.Kty == "EC" && k.Crv == "P-256" && oneOf(k.Alg, "", "ES256"):
		return k.p256()
	case k.Kty == "RSA" && oneOf(k.Alg, "", "PS512", "RS256", "PS256", "RS512"):
		return k.rsa()
	}
	return nil, fmt.Errorf("%w: its type, curve and alg are not a supported combination", ErrKey)
}

func (k JWK) p256() (crypto.PublicKey, error) {
	x, errX := decode(k.X)
	y, errY := decode(k.Y)
	if errX != nil || errY != nil || len(x) != 32 || len(y) != 32 {
		return nil, fmt.Errorf("%w: x and y are not coordinates on P-256", ErrKey)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
	if err != nil {
		return nil, fmt.Errorf("%w: x and y are not a point of P-256", ErrKey)
	}
	return public, nil
}

func (k JWK) rsa() (crypto.PublicKey, error) {
	n, errN := decode(k.N)
	e, errE := decode(k.E)
	if errN != nil || errE != nil || len(n) > maxRSABits/8 || len(e) == 0 || len(e) > 4 {
		return nil, fmt.Errorf("%w: n and e are not an RSA key of %d to %d bits", ErrKey, minRSABits, maxRSABits)
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	if public.N.BitLen() < minRSABits || public.E < 3 || public.E%2 == 0 || public.E > 1<<31-1 {
		return nil, fmt.Errorf("%w: n and e are not an RSA key of %d to %d bits", ErrKey, minRSABits, maxRSABits)
	}
	return public, nil
}

// Thumbprint is the base64url SHA-256 of the required fields of the key, RFC
// 7638 (https://www.rfc-editor.org/rfc/rfc7638).
func (k JWK) Thumbprint() (string, error) {
	var members any // encoding/json writes maps in the order that RFC 7638 asks for
	switch k.Kty {
	case "EC":
		members = map[string]string{"crv": k.Crv, "kty": k.Kty, "x": k.X, "y": k.Y}
	case "OKP":
		members = map[string]string{"crv": k.Crv, "kty": k.Kty, "x": k.X}
	case "RSA":
		members = map[string]string{"e": k.E, "kty": k.Kty, "n": k.N}
	default:
		return "", fmt.Errorf("%w: type %q has no thumbprint here", ErrKey, k.Kty)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrKey, err)
	}
	sum := sha256.Sum256(text)
	return encode(sum[:]), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(s string) ([]byte, error) { return base64.RawURLEncoding.Strict().DecodeString(s) }

func oneOf(s string, words ...string) bool {
	return slices.Contains(words, s)
}
