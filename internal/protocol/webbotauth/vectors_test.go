package webbotauth_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yaronf/httpsign"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
)

type profileVector struct {
	Name, Method, URL, Body, Label, Expected, Identity string
	Headers                                            map[string]string
	Now                                                int64
}

// The reasons that our own vectors describe in text.
var profileReasons = map[string]webbotauth.Reason{ //nolint:gochecknoglobals // a table of the test
	"expired": "time", "created-in-future": "time", "window-too-long": "time", "missing-expires": "parameters",
	"wrong-tag": "",
	"alg-hmac":  "algorithm", "agent-not-covered": "coverage", "authority-not-covered": "coverage",
	"other-authority": "signature",
	"tampered-agent":  "signature", "tampered-signature": "signature", "unknown-keyid": "unknown_key",
	"http-scheme-agent":        "agent",
	"directory-type-with-path": "agent", "private-address-agent": "agent", "malformed-signature-input": "malformed",
}

func TestStoreProfileVectors(t *testing.T) {
	t.Parallel()
	var file struct {
		Directory struct {
			URL  string
			Body json.RawMessage
		}
		Vectors []profileVector
	}
	vector(t, &file, "web-bot-auth", "store_profile_vectors.json")
	if len(file.Vectors) != 22 {
		t.Errorf("%d vectors, want 22", len(file.Vectors))
	}
	keys, err := httpsig.ParseKeySet(file.Directory.Body)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, v := range file.Vectors {
		count[v.Expected]++
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := request(t, v.Method, v.URL, v.Body, v.Headers)
			if v.Expected == "verified" {
				peerVerifies(t, r, v.Label, keys[0])
			}
			synctest.Test(t, func(t *testing.T) {
				net := newWeb()
				net.put(file.Directory.URL, document{body: string(file.Directory.Body)})
				net.put(strings.Replace(file.Directory.URL, "bot.example", "evil.example", 1),
					document{body: string(file.Directory.Body)})
				net.put("https://bot.example/jwks.json",
					document{body: string(file.Directory.Body), mediaType: "application/json"})
				verifier := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
				got := settled(verifier, time.Unix(v.Now, 0), toVerify(r, v.Body))
				want := webbotauth.Outcome{
					Status: webbotauth.Status(v.Expected), Reason: profileReasons[v.Name],
					Agent: v.Identity,
				}
				if want.Status == webbotauth.Verified {
					want.KeyID = keys[0].KID
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Verify() differs (-want +got):\n%s", diff)
				}
				if want.Reason == webbotauth.NoAgent && net.count() != 0 {
					t.Errorf("%d calls were made, want none", net.count())
				}
			})
		})
	}
	if diff := cmp.Diff(map[string]int{"verified": 6, "invalid": 11, "unsigned": 1, "unverified": 4},
		count); diff != "" {
		t.Errorf("vectors by outcome (-want +got):\n%s", diff)
	}
}

// peerVerifies verifies a vector with another implementation. It checks only the cryptography: the
// times of the vectors are fixed.
func peerVerifies(t *testing.T, r *http.Request, label string, key httpsig.JWK) {
	t.Helper()
	public, err := key.Public()
	if err != nil {
		t.Fatal(err)
	}
	config := httpsign.NewVerifyConfig().SetVerifyCreated(false).SetRejectExpired(false).SetKeyID(key.KID)
	verifier, err := httpsign.NewEd25519Verifier(public.(ed25519.PublicKey), config, *httpsign.NewFields())
	if err != nil {
		t.Fatal(err)
	}
	asked := r.Clone(t.Context())
	asked.Body = http.NoBody
	if err := httpsign.VerifyRequest(label, *verifier, asked); err != nil {
		t.Errorf("the other implementation returns %v, want nil", err)
	}
	asked.Header.Set(httpsig.HeaderSignature, label+"=:"+base64.StdEncoding.EncodeToString(make([]byte, 64))+":")
	if err := httpsign.VerifyRequest(label, *verifier, asked); err == nil {
		t.Error("the other implementation accepts a signature of zeros")
	}
}

// The published vectors use public test keys. The signatures of the second file are valid for a
// century, which no request here may be.
func TestArchitectureVectors(t *testing.T) {
	t.Parallel()
	seen := map[webbotauth.Outcome]int{}
	for _, name := range []string{"web_bot_auth_architecture_v1.json", "web_bot_auth_architecture_v2.json"} {
		var vectors []struct {
			Key            json.RawMessage
			TargetURL      string `json:"target_url"`
			CreatedMS      int64  `json:"created_ms"`
			Label          string
			Signature      string
			SignatureInput string `json:"signature_input"`
			SignatureAgent string `json:"signature_agent"`
		}
		vector(t, &vectors, "web-bot-auth", name)
		for _, v := range vectors {
			headers := map[string]string{"Signature": v.Signature, "Signature-Input": v.SignatureInput}
			if v.SignatureAgent != "" {
				headers["Signature-Agent"] = v.SignatureAgent
			}
			r := request(t, http.MethodGet, v.TargetURL, "", headers)
			set := directoryOf(t, v.Key)
			for _, testKeys := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					net := newWeb()
					net.put("https://signature-agent.test"+webbotauth.DirectoryPath, document{body: set})
					verifier := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"example.com"},
						&webbotauth.VerifierOptions{TestKeys: testKeys})
					got := settled(verifier, time.UnixMilli(v.CreatedMS).Add(time.Minute), toVerify(r, ""))
					got.KeyID = ""
					seen[got]++
				})
			}
		}
	}
	want := map[webbotauth.Outcome]int{
		{Status: "unverified", Reason: "agent"}:    4, // v1 without an agent: Ed25519 and RSA, both modes
		{Status: "unverified", Reason: "test_key"}: 2,
		{Status: "verified", Agent: "https://signature-agent.test/.well-known/http-message-signatures-directory"}: 2,
		{Status: "invalid", Reason: "time"}: 8,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// directoryOf publishes the public half of a test key under its thumbprint.
func directoryOf(t testing.TB, private json.RawMessage) string {
	t.Helper()
	var k httpsig.JWK
	if err := json.Unmarshal(private, &k); err != nil {
		t.Fatal(err)
	}
	thumbprint, err := k.Thumbprint()
	if err != nil {
		t.Fatal(err)
	}
	k.KID = thumbprint
	set, err := json.Marshal(map[string]any{"keys": []httpsig.JWK{k}})
	if err != nil {
		t.Fatal(err)
	}
	return string(set)
}

// A signature from RFC 9421 itself is ignored: it has no tag.
func TestRFC9421VectorIsUnsigned(t *testing.T) {
	t.Parallel()
	var v struct {
		Request struct {
			Method, URL, Body string
			Headers           map[string]string
		}
		SignatureInput string `json:"signature_input"`
		Signature      string
	}
	vector(t, &v, "rfc9421", "b26_ed25519.json")
	r := request(t, v.Request.Method, v.Request.URL, v.Request.Body, v.Request.Headers)
	r.Header.Set("Signature-Input", v.SignatureInput)
	r.Header.Set("Signature", v.Signature)
	verifier := webbotauth.NewVerifier(keysOf(t, newWeb(), nil), []string{"example.com"}, nil)
	if got := verifier.Verify(time.Unix(1618884473, 0),
		toVerify(r, v.Request.Body)); got != (webbotauth.Outcome{Status: webbotauth.Unsigned}) {
		t.Errorf("Verify() = %+v, want unsigned", got)
	}
}

func TestSignatureAgentVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name, Header string
		Entries      []struct{ Label, URI, Type string }
	}
	vector(t, &vectors, "web-bot-auth", "web_bot_auth_signature_agent_v1.json")
	for _, v := range vectors {
		got, err := webbotauth.ParseAgents(http.Header{"Signature-Agent": {v.Header}})
		var want []webbotauth.Agent
		for _, e := range v.Entries {
			want = append(want, webbotauth.Agent{Member: e.Label, URI: e.URI, Kind: webbotauth.Kind(e.Type)})
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: ParseAgents() = %v (-want +got):\n%s", v.Name, err, diff)
		}
	}
}

// Cards are fetched as for a request.
func TestCardVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name, URL string
		Valid     bool
		Card      json.RawMessage
	}
	vector(t, &vectors, "web-bot-auth", "web_bot_auth_signature_agent_card_v1.json")
	var private json.RawMessage
	vector(t, &private, "web-bot-auth", "ed25519.json")
	signer := signerOf(t, private)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				net := newWeb()
				net.put(v.URL, document{body: string(v.Card), mediaType: "application/json; charset=utf-8"})
				net.put("https://example.com/.well-known/http-message-signatures-directory",
					document{body: directoryOf(t, private)})
				net.put("https://example.com/jwks.json",
					document{body: directoryOf(t, private), mediaType: "application/json"})
				r := request(t, http.MethodGet, "https://store.example/",
					"", map[string]string{"Signature-Agent": `c="` + v.URL + `";type=cimd`})
				sign(t, signer, r, httpsig.Component{Name: "signature-agent", Key: "c"})
				verifier := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"},
					&webbotauth.VerifierOptions{TestKeys: true})
				got := settled(verifier, time.Now(), toVerify(r, ""))
				if want := (webbotauth.Outcome{Status: "verified", Agent: v.URL, KeyID: signer.JWK().KID}); v.Valid &&
					got != want {
					t.Errorf("Verify() = %+v, want %+v", got, want)
				}
				if want := (webbotauth.Outcome{Status: "unverified", Reason: "unreachable"}); !v.Valid && got != want {
					t.Errorf("Verify() = %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestRegistryVectors(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		Name     string
		Registry string   `json:"registry_txt"`
		Cards    []string `json:"signature_agent_cards"`
	}
	vector(t, &vectors, "web-bot-auth", "web_bot_auth_registry_v1.json")
	for _, v := range vectors {
		var got []string
		for _, source := range webbotauth.ParseRegistry(v.Registry) {
			got = append(got, source.URL)
		}
		if diff := cmp.Diff(v.Cards, got); diff != "" {
			t.Errorf("%s: ParseRegistry() (-want +got):\n%s", v.Name, diff)
		}
	}
}

// Ed25519 is deterministic: our directory response must equal the published one, byte for byte.
func TestSignedDirectoryVector(t *testing.T) {
	t.Parallel()
	var v struct {
		Body           string
		ContentDigest  string `json:"content_digest"`
		SignatureInput string `json:"signature_input"`
		Signature      string
	}
	vector(t, &v, "web-bot-auth", "signed_directory_response.json")
	var private json.RawMessage
	vector(t, &private, "web-bot-auth", "ed25519.json")
	id, err := webbotauth.NewIdentity("https://Signature-Agent.test:443",
		webbotauth.OwnKey{Signer: signerOf(t, private)})
	if err != nil {
		t.Fatal(err)
	}
	h, body, err := id.Directory(time.Unix(1735689600, 0))
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != v.Body || h.Get("Content-Digest") != v.ContentDigest ||
		h.Get("Content-Type") != webbotauth.MediaType {
		t.Errorf("Directory() = %v %s, want %s", h, body, v.Body)
	}
	h = http.Header{"Content-Digest": {v.ContentDigest}}
	if err := webbotauth.SignDirectory(signerOf(t, private), h, "signature-agent.test", "binding",
		time.Unix(1735689600, 0), time.Unix(4889289600, 0)); err != nil {
		t.Fatal(err)
	}
	if h.Get("Signature-Input") != v.SignatureInput || h.Get("Signature") != v.Signature {
		t.Errorf("SignDirectory() = %v, want %s and %s", h, v.SignatureInput, v.Signature)
	}
}

// signerOf parses an Ed25519 test key.
func signerOf(t testing.TB, private json.RawMessage) *httpsig.Signer {
	t.Helper()
	var k struct{ D string }
	if err := json.Unmarshal(private, &k); err != nil {
		t.Fatal(err)
	}
	seed, err := base64.RawURLEncoding.DecodeString(k.D)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	return signer
}
