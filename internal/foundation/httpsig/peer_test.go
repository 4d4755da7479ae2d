package httpsig_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"net/http"
	"testing"
	"time"

	"ace/internal/foundation/httpsig"

	"github.com/yaronf/httpsign"
)

// peerRequest is the message that both sides sign.
func peerRequest(t *testing.T) *http.Request {
	t.Helper()
	const body = `{"a":1}`
	return request(t, http.MethodPost, "https://store.example/a/b?q=1&r=%20", map[string]string{
		"Content-Type": "application/json", "Content-Digest": httpsig.ContentDigest([]byte(body)),
		"Signature-Agent": `agent="https://bot.example";type=jwks_uri, other="x"`,
	}, body)
}

// Another implementation verifies what we sign.
func TestPeerVerifies(t *testing.T) {
	t.Parallel()
	fields := *httpsign.NewFields().AddHeaders("@method", "@authority", "@path", "@query", "@target-uri",
		"content-digest").AddDictHeader("signature-agent", "agent")
	config := httpsign.NewVerifyConfig().SetVerifyCreated(true)
	components := []httpsig.Component{
		httpsig.Field("@method"), httpsig.Field("@authority"), httpsig.Field("@path"), httpsig.Field("@query"),
		httpsig.Field("@target-uri"),
		httpsig.Field("content-digest"),
		{Name: "signature-agent", Key: "agent"},
	}
	for kind, private := range generate(t) {
		var verifier *httpsign.Verifier
		var err error
		switch key := private.(type) {
		case ed25519.PrivateKey:
			verifier, err = httpsign.NewEd25519Verifier(key.Public().(ed25519.PublicKey), config, fields)
		case *ecdsa.PrivateKey:
			verifier, err = httpsign.NewP256Verifier(key.PublicKey, config, fields)
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		signer, err := httpsig.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		r := peerRequest(t)
		p := httpsig.Params{
			Created: time.Now(), Expires: time.Now().Add(time.Minute), Alg: signer.Alg(),
			Tag: "web-bot-auth",
		}
		if err := signer.Sign(httpsig.RequestMessage(r, "https"), "sig1", components, p); err != nil {
			t.Fatal(err)
		}
		if err := httpsign.VerifyRequest("sig1", *verifier, r); err != nil {
			t.Errorf("%s: the peer says %v, want nil", kind, err)
		}
		r.Header.Set("Signature-Agent", `agent="https://evil.example";type=jwks_uri, other="x"`)
		if err := httpsign.VerifyRequest("sig1", *verifier, r); err == nil {
			t.Errorf("%s: the peer accepts a changed field", kind)
		}
	}
}

// We verify what another implementation signs.
func TestPeerSigns(t *testing.T) {
	t.Parallel()
	fields := *httpsign.NewFields().AddHeaders("@method", "@authority", "@path", "@query", "@scheme",
		"content-type").AddDictHeader("signature-agent", "other")
	config := httpsign.NewSignConfig().SignAlg(true).SignCreated(true).SetNonce("n").SetTag("t").SetKeyID("k")
	for kind, private := range generate(t) {
		var signer *httpsign.Signer
		var err error
		switch key := private.(type) {
		case ed25519.PrivateKey:
			signer, err = httpsign.NewEd25519Signer(key, config, fields)
		case *ecdsa.PrivateKey:
			signer, err = httpsign.NewP256Signer(*key, config, fields)
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r := peerRequest(t)
		input, signature, err := httpsign.SignRequest("sig1", *signer, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Signature-Input", input)
		r.Header.Set("Signature", signature)
		signatures, err := httpsig.Parse(r.Header)
		if err != nil {
			t.Fatal(err)
		}
		s := signatures[0]
		if err := s.Verify(httpsig.RequestMessage(r, "https"), private.Public()); err != nil || s.Params.KeyID != "k" ||
			s.Params.Tag != "t" {
			t.Errorf("%s: Verify() = %v with %+v, want nil", kind, err, s.Params)
		}
	}
}
