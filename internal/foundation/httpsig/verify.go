package httpsig

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/big"
)

// The algorithms of RFC 9421 section 3.3 that are supported.
const (
	AlgEd25519 = "ed25519"
	AlgP256    = "ecdsa-p256-sha256"
	AlgRSAPSS  = "rsa-pss-sha512" // to verify only
)

// Algorithm is the algorithm that a public key is used with; the error wraps
// ErrAlgorithm.
func Algorithm(public crypto.PublicKey) (string, error) {
	switch p := public.(type) {
	case ed25519.PublicKey:
		if len(p) == ed25519.PublicKeySize {
			return AlgEd25519, nil
		}
	case *ecdsa.PublicKey:
		if p.Curve == elliptic.P256() {
			return AlgP256, nil
		}
	case *rsa.PublicKey:
		return AlgRSAPSS, nil
	}
	return "", fmt.Errorf("%w: keys of type %T", ErrAlgorithm, public)
}

// VerifyJWK is Verify with a key as JSON. A key that cannot be used wraps ErrKey.
func (s *Signature) VerifyJWK(m *Message, key JWK) error {
	public, err := key.Public()
	if err != nil {
		return err
	}
	return s.Verify(m, public)
}

// Verify checks the signature over a message. The key decides the algorithm;
// an alg that says otherwise is refused. It checks neither the time nor what
// is covered nor a digest. The errors wrap ErrComponent, ErrAlgorithm or
// ErrInvalid.
func (s *Signature) Verify(m *Message, public crypto.PublicKey) error {
	alg, err := Algorithm(public)
	if err != nil {
		return err
	}
	if s.Params.Alg != "" && s.Params.Alg != alg {
		return fmt.Errorf("%w: alg and the key do not go together", ErrAlgorithm)
	}
	base, err := s.Base(m)
	if err != nil {
		return err
	}
	return VerifyBytes(public, []byte(base), s.Value)
}

// VerifyBytes checks what Signer.SignBytes made. The errors wrap ErrAlgorithm
// or ErrInvalid.
func VerifyBytes(public crypto.PublicKey, data, value []byte) error {
	if _, err := Algorithm(public); err != nil {
		return err
	}
	ok := false
	switch p := public.(type) {
	case ed25519.PublicKey:
		ok = ed25519.Verify(p, data, value)
	case *ecdsa.PublicKey:
		ok = verifyP256(p, data, value)
	case *rsa.PublicKey:
		sum := sha512.Sum512(data)
		ok = rsa.VerifyPSS(p, crypto.SHA512, sum[:], value, &rsa.PSSOptions{SaltLength: sha512.Size}) == nil
	}
	if !ok {
		return ErrInvalid
	}
	return nil
}

// verifyP256 checks r and s side by side, 32 bytes each, not DER.
func verifyP256(public *ecdsa.PublicKey, data, value []byte) bool {
	if len(value) != 64 {
		return false
	}
	sum := sha256.Sum256(data)
	return ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(value[:32]), new(big.Int).SetBytes(value[32:]))
}
