package assertion_test

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
	"fmt"
	"math/big"
	"strings"
	"testing"

	"ace/internal/platform/oauthclient/assertion"
)

func keys(t *testing.T) (*rsa.PrivateKey, *ecdsa.PrivateKey, ed25519.PrivateKey) {
	t.Helper()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, d, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return r, e, d
}

func pkcs8(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestSignWithEachKey(t *testing.T) {
	t.Parallel()
	r, e, d := keys(t)
	sec1, err := x509.MarshalECPrivateKey(e)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(r))
	byRSA := func(sum, signed []byte) bool {
		return rsa.VerifyPKCS1v15(&r.PublicKey, crypto.SHA256, sum, signed) == nil
	}
	byEC := func(sum, signed []byte) bool {
		return len(signed) == 64 && ecdsa.Verify(&e.PublicKey, sum, new(big.Int).SetBytes(signed[:32]),
			new(big.Int).SetBytes(signed[32:]))
	}
	tests := []struct {
		name, alg, encoding, text string
		whole                     bool // verify gets the text, not its digest
		verify                    func(text, signed []byte) bool
	}{
		{"RSA, PKCS 1", assertion.RS256, "", pkcs1, false, byRSA},
		{"RSA, PKCS 8", assertion.RS256, "pem", block("PRIVATE KEY", pkcs8(t, r)), false, byRSA},
		{"RSA, line breaks written out", assertion.RS256, "pem", strings.ReplaceAll(pkcs1, "\n", `\n`), false, byRSA},
		{"RSA, bare base64", assertion.RS256, "base64", base64.StdEncoding.EncodeToString(pkcs8(t, r)), false, byRSA},
		{"P-256, SEC 1", assertion.ES256, "", block("EC PRIVATE KEY", sec1), false, byEC},
		{"P-256, PKCS 8", assertion.ES256, "", block("PRIVATE KEY", pkcs8(t, e)), false, byEC},
		{
			"Ed25519, PKCS 8", assertion.EdDSA, "", block("PRIVATE KEY", pkcs8(t, d)), true,
			func(text, signed []byte) bool { return ed25519.Verify(d.Public().(ed25519.PublicKey), text, signed) },
		},
		{
			"Ed25519, seed in hex", assertion.EdDSA, "hex", hex.EncodeToString(d.Seed()), true,
			func(text, signed []byte) bool { return ed25519.Verify(d.Public().(ed25519.PublicKey), text, signed) },
		},
		{"HMAC, hex", assertion.HS256, "hex", "6b6579", true, byHMAC("key")},
		{"HMAC, raw", assertion.HS256, "raw", "key", true, byHMAC("key")},
		{"HMAC, as it comes", assertion.HS256, "", "key", true, byHMAC("key")},
		{"HMAC, base64url", assertion.HS256, "base64", "a2V5_w", true, byHMAC("key\xff")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			key, err := assertion.ParseKey(tt.alg, tt.encoding, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			token, err := assertion.Sign(tt.alg, key, "k1", map[string]any{"iss": "me", "exp": 5})
			if err != nil {
				t.Fatal(err)
			}
			pieces := strings.Split(token, ".")
			header := decode(t, pieces[0])
			if header["alg"] != tt.alg || header["kid"] != "k1" || header["typ"] != "JWT" {
				t.Errorf("header = %v", header)
			}
			if claims := decode(t, pieces[1]); claims["iss"] != "me" || claims["exp"] != 5.0 {
				t.Errorf("claims = %v", claims)
			}
			signed, err := base64.RawURLEncoding.DecodeString(pieces[2])
			if err != nil {
				t.Fatal(err)
			}
			text := []byte(pieces[0] + "." + pieces[1])
			if !tt.whole {
				sum := sha256.Sum256(text)
				text = sum[:]
			}
			if !tt.verify(text, signed) {
				t.Error("the signature is not that of the key")
			}
		})
	}
}

func byHMAC(key string) func(text, signed []byte) bool {
	return func(text, signed []byte) bool {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(text)
		return hmac.Equal(signed, mac.Sum(nil))
	}
}

func decode(t *testing.T, piece string) map[string]any {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(piece)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestParseKeyRefuses(t *testing.T) {
	t.Parallel()
	r, e, _ := keys(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const canary = "canary0secret0canary"
	tests := map[string]struct{ alg, encoding, text string }{
		"no PEM":            {assertion.RS256, "", canary},
		"no hex":            {assertion.HS256, "hex", canary},
		"no base64":         {assertion.HS256, "base64", canary + "!"},
		"nothing":           {assertion.HS256, "", ""},
		"another kind":      {assertion.RS256, "", block("PRIVATE KEY", pkcs8(t, e))},
		"another curve":     {assertion.ES256, "", block("PRIVATE KEY", pkcs8(t, p384))},
		"RSA for EdDSA":     {assertion.EdDSA, "", block("PRIVATE KEY", pkcs8(t, r))},
		"rubbish in PEM":    {assertion.RS256, "", block("PRIVATE KEY", []byte(canary))},
		"unknown encoding":  {assertion.RS256, "jwk", canary},
		"unknown algorithm": {"none", "", block("PRIVATE KEY", pkcs8(t, r))},
	}
	for name, tt := range tests {
		key, err := assertion.ParseKey(tt.alg, tt.encoding, tt.text)
		if err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: ParseKey = %T, %v", name, key, err)
		}
	}
	if _, err := assertion.Sign(assertion.RS256, []byte("key"), "", nil); err == nil {
		t.Error("a key of another kind signs")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("RS256", "pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")
	f.Add("EdDSA", "hex", strings.Repeat("00", 32))
	f.Add("HS256", "base64", "AAAA")
	f.Fuzz(func(t *testing.T, alg, encoding, text string) {
		key, err := assertion.ParseKey(alg, encoding, text)
		if (key == nil) == (err == nil) {
			t.Errorf("ParseKey(%q, %q) = %v, %v", alg, encoding, key, err)
		}
		if err == nil {
			if _, err := assertion.Sign(alg, key, "", map[string]any{}); err != nil {
				t.Errorf("a key that was read does not sign: %v", err)
			}
		}
	})
}

// Tokens of HS256 are always the same for the same claims.
func ExampleSign() {
	key, err := assertion.ParseKey(assertion.HS256, assertion.Hex, "6b6579")
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := assertion.Sign(assertion.HS256, key, "", map[string]any{"aud": "/admin/"})
	fmt.Println(token, err)
	// Output: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiIvYWRtaW4vIn0.1tGjifkERJLOPHIs3qCbBUUR2iaT6oouTUidMSnDiJs <nil>
}
