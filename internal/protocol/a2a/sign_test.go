package a2a_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/jcs"
	"ace/internal/protocol/a2a"
)

func someCard() a2a.Card {
	return a2a.Card{
		Name: "Straße & Co", Description: "Answers.", Version: "1.0.0", DocumentationURL: "https://store.example/docs",
		SupportedInterface: []a2a.Interface{{
			URL: "https://store.example/agent/a2a", ProtocolBinding: a2a.JSONRPC,
			ProtocolVersion: a2a.Version,
		}},
		Provider: &a2a.Provider{Organization: "Store", URL: "https://store.example"},
		Capabilities: a2a.Capabilities{Extensions: []a2a.Extension{{
			URI:    "https://store.example/ext",
			Params: json.RawMessage(`{"schemas":"x"}`),
		}}},
		InputModes: []string{a2a.MediaJSON}, OutputModes: []string{a2a.MediaJSON},
		Skills: []a2a.Skill{{
			ID: "site", Name: "Site", Description: "Reads.", Tags: []string{"site"},
			Examples: []string{`{"a":1}`},
		}},
	}
}

func newSigner(t testing.TB, kind string) (*httpsig.Signer, crypto.PublicKey) {
	t.Helper()
	var key crypto.Signer
	var err error
	if kind == "ES256" {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	} else {
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := httpsig.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return s, key.Public()
}

const keySet = "https://store.example/.well-known/jwks.json"

func signedCard(t testing.TB, s *httpsig.Signer) []byte {
	t.Helper()
	card, err := someCard().Sign(s, keySet)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(card)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSignAndVerifyCard(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ES256", "EdDSA"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, public := newSigner(t, kind)
			card := signedCard(t, s)
			if again := signedCard(t, s); !bytes.Equal(card, again) {
				t.Errorf("signed twice:\n%s\n%s\nwant the same bytes", card, again)
			}
			var asked [2]string
			err := a2a.VerifyCard(card, func(kid, jku string) (crypto.PublicKey, error) {
				asked = [2]string{kid, jku}
				return public, nil
			})
			if err != nil || asked != [2]string{s.JWK().KID, keySet} {
				t.Errorf("VerifyCard = %v, asked for %q", err, asked)
			}
			var kept a2a.Card
			if err := json.Unmarshal(card, &kept); err != nil || len(kept.Signatures) != 1 {
				t.Fatalf("the card = %s, %v", card, err)
			}
			header, err := base64.RawURLEncoding.DecodeString(kept.Signatures[0].Protected)
			want := `{"alg":"` + kind + `","jku":"` + keySet + `","kid":"` + s.JWK().KID + `","typ":"JOSE"}`
			if err != nil || string(header) != want {
				t.Errorf("protected header = %s, %v, want %s", header, err, want)
			}
		})
	}
}

// edited returns a signed card with one text replaced.
func edited(t *testing.T, card []byte, before, after string) []byte {
	t.Helper()
	if !bytes.Contains(card, []byte(before)) {
		t.Fatalf("%s is not in %s", before, card)
	}
	return bytes.Replace(card, []byte(before), []byte(after), 1)
}

func TestVerifyCardRefuses(t *testing.T) {
	t.Parallel()
	s, public := newSigner(t, "ES256")
	other, otherKey := newSigner(t, "EdDSA")
	card := signedCard(t, s)
	var parsed a2a.Card
	if err := json.Unmarshal(card, &parsed); err != nil {
		t.Fatal(err)
	}
	signature := parsed.Signatures[0]
	header := func(text string) []byte {
		return edited(t, card, signature.Protected, base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	kid := s.JWK().KID
	tests := []struct {
		name string
		card []byte
		key  crypto.PublicKey
		ok   bool
	}{
		{"as signed", card, public, true},
		{
			"other spaces and order",
			append([]byte("{\n \"version\":\"1.0.0\","), edited(t, card, `"version":"1.0.0",`, "")[1:]...), public,
			true,
		},
		{
			"empty fields",
			edited(t, card, `"version":`, `"securitySchemes":{},"securityRequirements":[],"x":null,"y":"","version":`),
			public, true,
		},
		{"a flag with its default value", edited(t, card, `"uri":`, `"required":false,"uri":`), public, true},
		{"an escape", edited(t, card, "Answers.", `Answers\u002e`), public, true},
		{
			"one more signature",
			edited(t, card, `"signatures":[`, `"signatures":[{"protected":"e30","signature":"AA"},`),
			public,
			true,
		},
		{"another address", edited(t, card, "/agent/a2a", "/agent/a2b"), public, false},
		{"a flag changed", edited(t, card, `"streaming":false`, `"streaming":true`), public, false},
		{"a flag that was said, left out", edited(t, card, `"streaming":false,`, ""), public, false},
		{"an additional field", edited(t, card, `"version":`, `"more":"x","version":`), public, false},
		{"a duplicate field", edited(t, card, `"version":`, `"version":"1.0.0","version":`), public, false},
		{"a skill less", edited(t, card, `"tags":["site"]`, `"tags":[]`), public, false},
		{"no signature", edited(t, card, `"signatures"`, `"signed"`), public, false},
		{
			"signature cut", edited(t, card, signature.Signature, signature.Signature[:len(signature.Signature)-4]),
			public, false,
		},
		{"signature not base64url", edited(t, card, signature.Signature, "?"), public, false},
		{"header not base64url", edited(t, card, signature.Protected, "?"), public, false},
		{"header without kid", header(`{"alg":"ES256","typ":"JOSE"}`), public, false},
		{"header without typ", header(`{"alg":"ES256","kid":"` + kid + `"}`), public, false},
		{"alg none", header(`{"alg":"none","typ":"JOSE","kid":"` + kid + `"}`), public, false},
		{"alg of a shared secret", header(`{"alg":"HS256","typ":"JOSE","kid":"` + kid + `"}`), public, false},
		{
			"critical fields", header(`{"alg":"ES256","typ":"JOSE","kid":"` + kid + `","crit":["b64"],"b64":false}`),
			public, false,
		},
		{"header of the same meaning", header(`{"alg":"ES256","typ":"JOSE","kid":"` + kid + `" }`), public, false},
		{"key of another kind", card, otherKey, false},
		{"no key", card, nil, false},
		{"not a card", []byte(`[1]`), public, false},
		{"not JSON", []byte(`{`), public, false},
	}
	for _, tt := range tests {
		err := a2a.VerifyCard(tt.card, func(string, string) (crypto.PublicKey, error) {
			if tt.key == nil {
				return nil, errors.New("unknown key")
			}
			return tt.key, nil
		})
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, a2a.ErrSignature) {
			t.Errorf("%s: VerifyCard = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
	twice, err := parsed.Sign(other, "")
	if err != nil || len(twice.Signatures) != 2 || len(parsed.Signatures) != 1 {
		t.Errorf("signing again = %d signatures, %v, want 2 and the card unchanged", len(twice.Signatures), err)
	}
}

// A card has no field that an implementation could omit: then implementations could disagree on the
// signed text.
func TestCardHasNoEmptyFields(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(someCard())
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := a2a.CanonicalCard(text)
	if err != nil || !jcs.Equal(canonical, text) {
		t.Errorf("CanonicalCard(%s) = %s, %v, want it to say the same", text, canonical, err)
	}
}

func FuzzCanonicalCard(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","signatures":[{"protected":"x"}]}`, `{}`, `null`, `[]`, `{"a":{"b":[{},"",null,[[]]]}}`,
		`{"a":1e400}`, `{"a":"\ud800"}`,
		`{"capabilities":{"extensions":[{"required":false},7,null]}}`, `{"capabilities":7}`, `{"a":1,"a":2}`,
		`{"n":[1.0,1,-0.0,1e21]}`, string(signedCard(f, first(newSigner(f, "EdDSA")))),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, card []byte) {
		once, err := a2a.CanonicalCard(card)
		if err != nil {
			return
		}
		twice, err := a2a.CanonicalCard(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("CanonicalCard(%s) = %s, then %s, %v, want it to stay", card, once, twice, err)
		}
		if strings.Contains(string(once), `""`) && strings.Contains(string(once), `:""`) {
			t.Errorf("CanonicalCard(%s) = %s, which has an empty field", card, once)
		}
	})
}

func first[A, B any](a A, _ B) A { return a }
