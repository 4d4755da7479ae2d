package server

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/seal"
	"ace/internal/storage"
)

// The store's own keys for signatures. They are created at the first start, as
// PKCS #8 under the master key, and never change: a signature that is verified
// later finds the same key published. All replicas use the same.
const (
	keyES256   = "store-es256"   // UCP responses
	keyEd25519 = "store-ed25519" // requests of our own agents
	keyCard    = "store-card"    // the A2A agent card, which asks for a key of its own
)

// signers returns the store's signers, the one of UCP first.
func (s *Server) signers(ctx context.Context, store *storage.Store) ([]*httpsig.Signer, error) {
	es256, errES := s.p256Signer(ctx, store, keyES256)
	ed, errEd := s.signer(ctx, store, keyEd25519, func() (crypto.Signer, error) {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	})
	return []*httpsig.Signer{es256, ed}, errors.Join(errES, errEd)
}

// p256Signer returns the signer of a name on P-256.
func (s *Server) p256Signer(ctx context.Context, store *storage.Store, name string) (*httpsig.Signer, error) {
	return s.signer(ctx, store, name,
		func() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) })
}

func (s *Server) signer(ctx context.Context, store *storage.Store, name string,
	generate func() (crypto.Signer, error),
) (*httpsig.Signer, error) {
	place := seal.Place{Table: "signing_key", Column: "sealed", Row: name}
	sealed, err := store.SigningKey(ctx, name, func() ([]byte, error) {
		private, err := generate()
		if err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			return nil, err
		}
		text, err := s.sealer.Seal(der, place)
		return []byte(text), err
	})
	if err != nil {
		return nil, err
	}
	der, err := s.sealer.Open(string(sealed), place)
	if err != nil {
		return nil, fmt.Errorf("opening the signing key %s (was it sealed with another master key?): %w", name, err)
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key %s: %w", name, err)
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the signing key %s cannot sign", name)
	}
	return httpsig.NewSigner(signer)
}
