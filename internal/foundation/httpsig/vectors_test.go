package httpsig_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpsig"
)

// publicOf drops the private members of a test key.
func publicOf(t testing.TB, raw json.RawMessage) httpsig.JWK {
	t.Helper()
	var k httpsig.JWK
	if err := json.Unmarshal(raw, &k); err != nil {
		t.Fatal(err)
	}
	return k
}

func request(t testing.TB, method, url string, headers map[string]string, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

func TestRFC9421Vector(t *testing.T) {
	t.Parallel()
	var v struct {
		Key     json.RawMessage
		Request struct {
			Method, URL, Body string
			Headers           map[string]string
		}
		SignatureInput string `json:"signature_input"`
		Signature      string
		SignatureBase  string `json:"signature_base"`
	}
	vector(t, &v, "rfc9421", "b26_ed25519.json")
	r := request(t, v.Request.Method, v.Request.URL, v.Request.Headers, v.Request.Body)
	r.Header.Set("Signature-Input", v.SignatureInput)
	r.Header.Set("Signature", v.Signature)
	signatures, err := httpsig.Parse(r.Header)
	if err != nil || len(signatures) != 1 {
		t.Fatalf("Parse = %d, %v", len(signatures), err)
	}
	m := httpsig.RequestMessage(r, "https")
	if base, err := signatures[0].Base(m); err != nil || base != v.SignatureBase {
		t.Errorf("Base() = %s, %v, want %s", base, err, v.SignatureBase)
	}
	if err := signatures[0].VerifyJWK(m, publicOf(t, v.Key)); err != nil {
		t.Errorf("Verify() = %v, want nil", err)
	}
	if err := httpsig.VerifyContentDigest(r.Header, []byte(v.Request.Body)); err != nil {
		t.Errorf("VerifyContentDigest(sha-512) = %v, want nil", err)
	}
}

func TestStoreProfileVectors(t *testing.T) {
	t.Parallel()
	var file struct {
		Key       json.RawMessage
		Directory struct{ Body json.RawMessage }
		Vectors   []struct {
			Name, Method, URL, Body, Label, Expected, Reason string
			Headers                                          map[string]string
			SignatureBase                                    string `json:"signature_base"`
			Now                                              int64
		}
	}
	vector(t, &file, "web-bot-auth", "store_profile_vectors.json")
	keys, err := httpsig.ParseKeySet(file.Directory.Body)
	if err != nil || len(keys) != 1 {
		t.Fatalf("directory = %d keys, %v", len(keys), err)
	}
	rule := httpsig.TimeRule{Skew: time.Minute, MaxWindow: 24 * time.Hour, NeedsCreated: true, NeedsExpiring: true}
	// What the signature alone says about the vectors that are not verified; the
	// others fail by rules about who signs and what has to be covered.
	outcomes := map[string]error{
		"expired": httpsig.ErrTime, "created-in-future": httpsig.ErrTime, "window-too-long": httpsig.ErrTime,
		"missing-expires": httpsig.ErrTime,
		"alg-hmac":        httpsig.ErrAlgorithm, "other-authority": httpsig.ErrInvalid,
		"tampered-agent":     httpsig.ErrInvalid,
		"tampered-signature": httpsig.ErrInvalid, "malformed-signature-input": httpsig.ErrMalformed,
	}
	seen := 0
	for _, v := range file.Vectors {
		seen++
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r := request(t, v.Method, v.URL, v.Headers, v.Body)
			m := httpsig.RequestMessage(r, "https")
			signatures, err := httpsig.Parse(r.Header)
			if err == nil {
				s := signatures[0]
				base, baseErr := s.Base(m)
				differs := v.Name == "other-authority" || v.Name == "tampered-agent"
				if baseErr != nil || (base != v.SignatureBase) != differs || s.Label != v.Label {
					t.Errorf("Base() = %s, %v, want %s", base, baseErr, v.SignatureBase)
				}
				_, known := httpsig.FindKey(keys, s.Params.KeyID)
				if known == (v.Name == "unknown-keyid") {
					t.Errorf("FindKey(%s) = %t", s.Params.KeyID, known)
				}
				err = s.CheckTime(time.Unix(v.Now, 0), rule)
				if err == nil && known {
					err = s.VerifyJWK(m, keys[0])
				}
				if agent := (httpsig.Component{Name: "signature-agent"}); s.Covers(agent) ==
					(v.Name != "valid-legacy-string-agent") {
					t.Errorf("Covers(signature-agent) = %t", s.Covers(agent))
				}
			}
			if !errors.Is(err, outcomes[v.Name]) {
				t.Errorf("outcome = %v, want %v (%s: %s)", err, outcomes[v.Name], v.Expected, v.Reason)
			}
			if v.Body != "" {
				if err := httpsig.VerifyContentDigest(r.Header, []byte(v.Body)); err != nil {
					t.Errorf("VerifyContentDigest = %v, want nil", err)
				}
			}
		})
	}
	if seen != 22 {
		t.Errorf("%d vectors, want 22", seen)
	}
}

// The vectors of Web Bot Auth, both forms of Signature-Agent, Ed25519 and
// RSA-PSS.
func TestArchitectureVectors(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, file := range []string{"web_bot_auth_architecture_v1.json", "web_bot_auth_architecture_v2.json"} {
		var vectors []struct {
			Key            json.RawMessage
			TargetURL      string `json:"target_url"`
			Label          string
			Signature      string
			SignatureInput string `json:"signature_input"`
			SignatureAgent string `json:"signature_agent"`
		}
		vector(t, &vectors, "web-bot-auth", file)
		for i, v := range vectors {
			headers := map[string]string{"Signature": v.Signature, "Signature-Input": v.SignatureInput}
			if v.SignatureAgent != "" {
				headers["Signature-Agent"] = v.SignatureAgent
			}
			r := request(t, http.MethodGet, v.TargetURL, headers, "")
			signatures, err := httpsig.Parse(r.Header)
			if err != nil || len(signatures) != 1 || signatures[0].Label != v.Label {
				t.Fatalf("%s[%d]: Parse = %+v, %v", file, i, signatures, err)
			}
			key := publicOf(t, v.Key)
			m := httpsig.RequestMessage(r, "https")
			if err := signatures[0].VerifyJWK(m, key); err != nil {
				t.Errorf("%s[%d]: Verify() = %v, want nil", file, i, err)
			}
			m.Authority = "elsewhere.example"
			if err := signatures[0].VerifyJWK(m, key); !errors.Is(err, httpsig.ErrInvalid) {
				t.Errorf("%s[%d]: Verify() elsewhere = %v, want ErrInvalid", file, i, err)
			}
			if thumbprint, err := key.Thumbprint(); err != nil || thumbprint != signatures[0].Params.KeyID {
				t.Errorf("%s[%d]: thumbprint = %s, %v, want %s", file, i, thumbprint, err, signatures[0].Params.KeyID)
			}
			seen[key.Kty]++
		}
	}
	if seen["RSA"] == 0 || seen["OKP"] == 0 {
		t.Errorf("vectors by key type = %v, want both", seen)
	}
}

// The response of a key directory is bound to the request by "@authority";req.
func TestSignedDirectoryVector(t *testing.T) {
	t.Parallel()
	var v struct {
		Request        struct{ Method, URL string }
		Body           string
		ContentDigest  string `json:"content_digest"`
		SignatureInput string `json:"signature_input"`
		Signature      string
		SignatureBase  string `json:"signature_base"`
	}
	vector(t, &v, "web-bot-auth", "signed_directory_response.json")
	header := http.Header{}
	header.Set("Content-Digest", v.ContentDigest)
	header.Set("Signature-Input", v.SignatureInput)
	header.Set("Signature", v.Signature)
	asked := httpsig.RequestMessage(request(t, v.Request.Method, v.Request.URL, nil, ""), "https")
	m := httpsig.ResponseMessage(http.StatusOK, header, asked)
	keys, err := httpsig.ParseKeySet([]byte(v.Body))
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := httpsig.Parse(header)
	if err != nil {
		t.Fatal(err)
	}
	if base, err := signatures[0].Base(m); err != nil || base != v.SignatureBase {
		t.Errorf("Base() = %s, %v, want %s", base, err, v.SignatureBase)
	}
	if err := signatures[0].VerifyJWK(m, keys[0]); err != nil {
		t.Errorf("Verify() = %v, want nil", err)
	}
	if err := httpsig.VerifyContentDigest(header, []byte(v.Body)); err != nil ||
		httpsig.ContentDigest([]byte(v.Body)) != v.ContentDigest {
		t.Errorf("VerifyContentDigest = %v, ContentDigest = %s", err, httpsig.ContentDigest([]byte(v.Body)))
	}
	if _, err := signatures[0].Base(httpsig.ResponseMessage(200, header, nil)); !errors.Is(err, httpsig.ErrComponent) {
		t.Errorf("Base() without the request = %v, want ErrComponent", err)
	}
}
