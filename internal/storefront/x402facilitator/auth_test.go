package x402facilitator_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/storefront/x402facilitator"
)

// token authorizes a request and takes its token apart.
func token(t *testing.T, auth x402facilitator.Auth) (header, claims map[string]any, signed, signature []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "https://api.cdp.coinbase.com/platform/v2/x402/settle", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.Authorize(r); err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	parts := strings.Split(text, ".")
	if !ok || len(parts) != 3 {
		t.Fatalf("Authorization = %q, want a token of three parts", text)
	}
	decoded := make([][]byte, 3)
	for i, p := range parts {
		if decoded[i], err = base64.RawURLEncoding.DecodeString(p); err != nil {
			t.Fatal(err)
		}
	}
	if json.Unmarshal(decoded[0], &header) != nil || json.Unmarshal(decoded[1], &claims) != nil {
		t.Fatalf("the token holds no JSON: %s, %s", decoded[0], decoded[1])
	}
	return header, claims, []byte(parts[0] + "." + parts[1]), decoded[2]
}

func TestCDP(t *testing.T) {
	t.Parallel()
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecPrivate, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	verifyEd := func(text, signature []byte) bool { return ed25519.Verify(edPublic, text, signature) }
	verifyEC := func(text, signature []byte) bool {
		sum := sha256.Sum256(text)
		return len(signature) == 64 && ecdsa.Verify(&ecPrivate.PublicKey, sum[:], new(big.Int).SetBytes(signature[:32]),
			new(big.Int).SetBytes(signature[32:]))
	}
	sec1 := pemOf(t, "EC PRIVATE KEY", func() ([]byte, error) { return x509.MarshalECPrivateKey(ecPrivate) })
	tests := []struct {
		name, secret, alg string
		verify            func(text, signature []byte) bool
	}{
		{"Ed25519", base64.StdEncoding.EncodeToString(edPrivate), "EdDSA", verifyEd},
		{
			"Ed25519 in PEM",
			pemOf(t, "PRIVATE KEY", func() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(edPrivate) }), "EdDSA",
			verifyEd,
		},
		{"P-256", sec1, "ES256", verifyEC},
		{"P-256 on one line", strings.ReplaceAll(sec1, "\n", `\n`), "ES256", verifyEC},
		{
			"P-256 in PKCS 8",
			pemOf(t, "PRIVATE KEY", func() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(ecPrivate) }), "ES256",
			verifyEC,
		},
	}
	for _, tt := range tests {
		auth, err := x402facilitator.CDP("organizations/o/apiKeys/k", tt.secret)
		if err != nil {
			t.Errorf("CDP(%s) = %v", tt.name, err)
			continue
		}
		header, claims, text, signature := token(t, auth)
		if !tt.verify(text, signature) {
			t.Errorf("the signature of %s is not valid", tt.name)
		}
		nonce, _ := header["nonce"].(string)
		delete(header, "nonce")
		if diff := cmp.Diff(map[string]any{"alg": tt.alg, "typ": "JWT", "kid": "organizations/o/apiKeys/k"},
			header); diff != "" || len(nonce) != 32 {
			t.Errorf("header of %s, nonce %q (-want +got):\n%s", tt.name, nonce, diff)
		}
		issued, _ := claims["iat"].(float64)
		if age := time.Since(time.Unix(int64(issued), 0)); age < 0 || age > time.Hour || claims["exp"] != issued+120 ||
			claims["nbf"] != issued {
			t.Errorf("times of %s = %v", tt.name, claims)
		}
		if diff := cmp.Diff([]any{"POST api.cdp.coinbase.com/platform/v2/x402/settle"}, claims["uris"]); diff != "" ||
			claims["iss"] != "cdp" || claims["sub"] != header["kid"] {
			t.Errorf("claims of %s = %v", tt.name, claims)
		}
		if again, _, _, _ := token(t, auth); again["nonce"] == nonce {
			t.Errorf("two tokens of %s have one nonce", tt.name)
		}
		if shown := fmt.Sprintf("%v %+v %#v %s", auth, auth, auth, auth); strings.Contains(shown, tt.secret) ||
			!strings.Contains(shown, "CDP key") {
			t.Errorf("printed credentials of %s = %s", tt.name, shown)
		}
	}
}

func pemOf(t *testing.T, kind string, encode func() ([]byte, error)) string {
	t.Helper()
	data, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

func TestCDPRefusals(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), private...)
	damaged[63] ^= 1
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"nothing":    "",
		"no base64":  "secret!",
		"32 bytes":   base64.StdEncoding.EncodeToString(private.Seed()),
		"damaged":    base64.StdEncoding.EncodeToString(damaged),
		"half a PEM": "-----BEGIN EC PRIVATE KEY-----\nMHcC",
		"empty PEM":  "-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n",
		"P-384":      pemOf(t, "EC PRIVATE KEY", func() ([]byte, error) { return x509.MarshalECPrivateKey(p384) }),
		"RSA":        pemOf(t, "PRIVATE KEY", func() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(rsaKey) }),
		"a public key": pemOf(t, "PUBLIC KEY",
			func() ([]byte, error) { return x509.MarshalPKIXPublicKey(&p384.PublicKey) }),
	}
	for name, secret := range tests {
		if _, err := x402facilitator.CDP("id", secret); err == nil {
			t.Errorf("CDP(%s) worked, want an error", name)
		} else if secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("CDP(%s) = %v, which shows the secret", name, err)
		}
	}
	if _, err := x402facilitator.CDP("", base64.StdEncoding.EncodeToString(private)); err == nil {
		t.Error("CDP without an id worked, want an error")
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	s := serve(t, 200, `{"kinds":[]}`)
	seen := make(chan string, 1)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"kinds":[]}`))
	})
	auth := x402facilitator.Bearer("tok_secret")
	if _, err := remote(t, s.URL, auth).Supported(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "Bearer tok_secret" {
		t.Errorf("Authorization = %q", got)
	}
	if shown := fmt.Sprintf("%v %+v %#v", auth, auth, auth); strings.Contains(shown, "tok_secret") {
		t.Errorf("printed credentials = %s", shown)
	}
}
