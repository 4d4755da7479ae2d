package httpsig_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"

	"ace/internal/foundation/httpsig"
)

func TestSignBytes(t *testing.T) {
	t.Parallel()
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]crypto.Signer{
		"ES256": p256,
		"EdDSA": ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := httpsig.NewSigner(key)
			if err != nil {
				t.Fatal(err)
			}
			data := []byte("header.payload")
			value, err := s.SignBytes(data)
			if err != nil || len(value) != 64 {
				t.Fatalf("SignBytes = %x, %v, want 64 bytes", value, err)
			}
			again, err := s.SignBytes(data)
			if err != nil || !bytes.Equal(value, again) {
				t.Errorf("a second signature = %x, %v, want the same as the first", again, err)
			}
			tests := []struct {
				name        string
				key         crypto.PublicKey
				data, value []byte
				want        error
			}{
				{"as signed", key.Public(), data, value, nil},
				{"other data", key.Public(), []byte("header.payloae"), value, httpsig.ErrInvalid},
				{"cut", key.Public(), data, value[:63], httpsig.ErrInvalid},
				{"empty", key.Public(), data, nil, httpsig.ErrInvalid},
				{"other key", other.Public(), data, value, httpsig.ErrInvalid},
				{"no key", "a string", data, value, httpsig.ErrAlgorithm},
			}
			for _, tt := range tests {
				if err := httpsig.VerifyBytes(tt.key, tt.data, tt.value); !errors.Is(err, tt.want) {
					t.Errorf("%s: VerifyBytes = %v, want %v", tt.name, err, tt.want)
				}
			}
		})
	}
}
