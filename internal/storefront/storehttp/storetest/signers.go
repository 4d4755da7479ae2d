package storetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"testing"

	"ace/internal/foundation/httpsig"
)

// NewP256 returns a signer with a new P-256 key.
func NewP256(t testing.TB) *httpsig.Signer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return newSigner(t, private, err)
}

// NewEd25519 returns a signer with a new Ed25519 key.
func NewEd25519(t testing.TB) *httpsig.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return newSigner(t, private, err)
}

func newSigner(t testing.TB, private crypto.Signer, err error) *httpsig.Signer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}
