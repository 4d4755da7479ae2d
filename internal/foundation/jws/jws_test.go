package jws_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/jws"
)

// Each signature is verified with the standard library alone.
func TestToken(t *testing.T) {
	t.Parallel()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, d, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	held, err := httpsig.NewSigner(e)
	if err != nil {
		t.Fatal(err)
	}
	byEC := func(text, value []byte) bool {
		sum := sha256.Sum256(text)
		return len(value) == 64 && ecdsa.Verify(&e.PublicKey, sum[:], new(big.Int).SetBytes(value[:32]),
			new(big.Int).SetBytes(value[32:]))
	}
	byMAC := func(key string) func(text, value []byte) bool {
		return func(text, value []byte) bool {
			mac := hmac.New(sha256.New, []byte(key))
			mac.Write(text)
			return hmac.Equal(value, mac.Sum(nil))
		}
	}
	tests := []struct {
		name, alg string
		key       any
		verify    func(text, value []byte) bool
	}{
		{"RSA", jws.RS256, r, func(text, value []byte) bool {
			sum := sha256.Sum256(text)
			return rsa.VerifyPKCS1v15(&r.PublicKey, crypto.SHA256, sum[:], value) == nil
		}},
		{"P-256", jws.ES256, e, byEC},
		{"P-256 held by a signer", jws.ES256, held, byEC},
		{"Ed25519", jws.EdDSA, d, func(text, value []byte) bool { return ed25519.Verify(public, text, value) }},
		{"HMAC", jws.HS256, []byte(strings.Repeat("k", 64)), byMAC(strings.Repeat("k", 64))},
		{"HMAC with a short key", jws.HS256, []byte("key"), byMAC("key")},
		{
			"HMAC with a key longer than a block",
			jws.HS256,
			[]byte(strings.Repeat("k", 65)),
			byMAC(strings.Repeat("k", 65)),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			token, err := jws.Token(tt.alg, tt.key, map[string]any{"kid": "k1"}, map[string]any{"iss": "me"})
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.Split(token, ".")
			if len(parts) != 3 {
				t.Fatalf("Token = %s", token)
			}
			var header, claims map[string]string
			for i, into := range []*map[string]string{&header, &claims} {
				text, err := base64.RawURLEncoding.DecodeString(parts[i])
				if err != nil || json.Unmarshal(text, into) != nil {
					t.Fatalf("part %d is %q, %v", i, text, err)
				}
			}
			if header["alg"] != tt.alg || header["kid"] != "k1" || header["typ"] != "JWT" || len(header) != 3 ||
				claims["iss"] != "me" {
				t.Errorf("header %v, claims %v", header, claims)
			}
			value, err := base64.RawURLEncoding.DecodeString(parts[2])
			if err != nil || !tt.verify([]byte(parts[0]+"."+parts[1]), value) {
				t.Errorf("the signature is not that of the key: %v", err)
			}
		})
	}
}

type failing struct{}

func (failing) SignBytes([]byte) ([]byte, error) { return nil, errors.New("hunter2") }

func TestKeysThatCannotSign(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, alg string
		key       any
	}{
		{"a secret for RSA", jws.RS256, []byte("hunter2")},
		{"another curve", jws.ES256, p384},
		{"an empty secret", jws.HS256, []byte{}},
		{"none", "none", []byte("hunter2")},
		{"unknown algorithm", "XS256", []byte("hunter2")},
		{"text", jws.HS256, "hunter2"},
		{"nothing", jws.HS256, nil},
		{"a signer that fails", jws.ES256, failing{}},
	}
	for _, tt := range tests {
		if _, err := jws.Token(tt.alg, tt.key, nil, nil); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: Token = %v, want an error without the key", tt.name, err)
		}
	}
	if _, err := jws.Token(jws.HS256, []byte("key"), nil, map[string]any{"x": func() {}}); err == nil {
		t.Error("Token accepts claims that JSON cannot hold")
	}
}
