package httpsig_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"ace/internal/foundation/httpsig"
	"ace/internal/schematest"
)

func vector(t testing.TB, into any, elem ...string) {
	t.Helper()
	data, err := os.ReadFile(schematest.Dir(t, append([]string{"specs", "discovery", "vectors"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func TestThumbprintVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct{ Name, JWK, Thumbprint string }
	vector(t, &vectors, "web-bot-auth", "jwk_thumbprint_vectors.json")
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		k, err := httpsig.ParseJWK([]byte(v.JWK))
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		if got, err := k.Thumbprint(); err != nil || got != v.Thumbprint {
			t.Errorf("%s: Thumbprint() = %s, %v, want %s", v.Name, got, err, v.Thumbprint)
		}
	}
}

// generate returns a key pair of each kind.
func generate(t testing.TB) map[string]crypto.Signer {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"OKP": ed, "EC": ec, "RSA": rs}
}

func TestJWKRoundTrip(t *testing.T) {
	t.Parallel()
	for kind, private := range generate(t) {
		k, err := httpsig.NewJWK(private.Public())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		back, err := httpsig.ParseJWK(text)
		if err != nil || back != k || k.Kty != kind || k.Use != "sig" {
			t.Fatalf("ParseJWK(%s) = %+v, %v, want %+v", text, back, err, k)
		}
		public, err := back.Public()
		if err != nil {
			t.Fatal(err)
		}
		if same, ok := public.(interface{ Equal(crypto.PublicKey) bool }); !ok || !same.Equal(private.Public()) {
			t.Errorf("%s: the key came back as another", kind)
		}
		if thumbprint, _ := k.Thumbprint(); thumbprint != k.KID || len(k.KID) != 43 {
			t.Errorf("%s: kid = %s, want the thumbprint %s", kind, k.KID, thumbprint)
		}
	}
}

func TestNewJWKRefuses(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, public := range []crypto.PublicKey{p384.Public(), "text", nil} {
		if _, err := httpsig.NewJWK(public); !errors.Is(err, httpsig.ErrKey) {
			t.Errorf("NewJWK(%T) = %v, want ErrKey", public, err)
		}
	}
}

const edX = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

func TestParseJWKRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in string }{
		{"not JSON", `{`},
		{"wrong types", `{"kty":7}`},
		{"no type", `{"kid":"k"}`},
		{"symmetric", `{"kty":"oct","k":"AAAA"}`},
		{"private", `{"kty":"OKP","crv":"Ed25519","x":"` + edX + `","d":"AAAA"}`},
		{"for encryption", `{"kty":"OKP","crv":"Ed25519","x":"` + edX + `","use":"enc"}`},
		{"other curve", `{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}`},
		{"curve of another type", `{"kty":"OKP","crv":"P-256","x":"` + edX + `"}`},
		{"algorithm of another type", `{"kty":"OKP","crv":"Ed25519","x":"` + edX + `","alg":"ES256"}`},
		{"short", `{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`},
		{"padded", `{"kty":"OKP","crv":"Ed25519","x":"` + edX + `="}`},
		{"not base64url", `{"kty":"OKP","crv":"Ed25519","x":"` + strings.Replace(edX, "_", "/", 1) + `"}`},
		{"not on the curve", `{"kty":"EC","crv":"P-256","x":"` + edX + `","y":"` + edX + `"}`},
		{"small RSA", `{"kty":"RSA","n":"AQAB","e":"AQAB"}`},
		{"huge RSA", `{"kty":"RSA","n":"` + strings.Repeat("A", 1000) + `","e":"AQAB"}`},
		{"RSA without exponent", `{"kty":"RSA","n":"` + strings.Repeat("z", 342) + `","e":""}`},
		{"RSA with exponent 1", `{"kty":"RSA","n":"` + strings.Repeat("z", 342) + `","e":"AQ"}`},
		{"RSA with an even exponent", `{"kty":"RSA","n":"` + strings.Repeat("z", 342) + `","e":"BA"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if k, err := httpsig.ParseJWK([]byte(tt.in)); !errors.Is(err, httpsig.ErrKey) {
				t.Errorf("ParseJWK(%.80s) = %+v, %v, want ErrKey", tt.in, k, err)
			}
		})
	}
}

func TestParseKeySet(t *testing.T) {
	t.Parallel()
	good := `{"kty":"OKP","crv":"Ed25519","kid":"k","x":"` + edX + `"}`
	keys, err := httpsig.ParseKeySet([]byte(`{"keys":[{"kty":"oct","k":"AA"},` + good + `,{"kty":"new"},7]}`))
	if err != nil || len(keys) != 1 || keys[0].KID != "k" {
		t.Fatalf("ParseKeySet = %+v, %v, want the one usable key", keys, err)
	}
	for _, id := range []string{"k", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"} {
		if _, ok := httpsig.FindKey(keys, id); !ok {
			t.Errorf("FindKey(%q) found nothing", id)
		}
	}
	for _, id := range []string{"", "x"} {
		if _, ok := httpsig.FindKey(keys, id); ok {
			t.Errorf("FindKey(%q) found a key", id)
		}
	}
	many, err := httpsig.ParseKeySet(
		[]byte(`{"keys":[` + strings.TrimSuffix(strings.Repeat(good+",", 100), ",") + `]}`))
	if err != nil || len(many) != httpsig.MaxKeys {
		t.Errorf("ParseKeySet of 100 keys = %d, %v, want %d", len(many), err, httpsig.MaxKeys)
	}
	for _, in := range []string{``, `[]`, `{}`, `{"keys":{}}`} {
		if _, err := httpsig.ParseKeySet([]byte(in)); !errors.Is(err, httpsig.ErrKey) {
			t.Errorf("ParseKeySet(%s) = %v, want ErrKey", in, err)
		}
	}
}

func FuzzParseJWK(f *testing.F) {
	for _, seed := range []string{
		`{"kty":"OKP","crv":"Ed25519","x":"` + edX + `"}`,
		`{"kty":"EC","crv":"P-256","x":"` + edX + `","y":"` + edX + `"}`,
		`{"kty":"RSA","n":"` + strings.Repeat("z", 342) + `","e":"AQAB"}`, `{"keys":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := httpsig.ParseJWK(data)
		if err != nil {
			return
		}
		public, err := k.Public()
		if err != nil {
			t.Fatalf("%q was accepted, but makes no key: %v", data, err)
		}
		again, err := httpsig.NewJWK(public)
		if err != nil {
			t.Fatal(err)
		}
		if thumbprint, _ := k.Thumbprint(); thumbprint != again.KID {
			// Leading zeros of RSA members are the only spelling that is not unique.
			if k.Kty != "RSA" {
				t.Fatalf("%q has the thumbprint %s, want %s", data, thumbprint, again.KID)
			}
		}
	})
}
