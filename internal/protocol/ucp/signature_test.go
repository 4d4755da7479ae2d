package ucp_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
)

func newSigner(t testing.TB) *httpsig.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// signable returns a request with everything that a signature may have to cover.
func signable(t testing.TB, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"https://store.example/ucp/checkout-sessions?x=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("UCP-Agent", `profile="https://p.example/ucp"`)
	r.Header.Set("Idempotency-Key", "k-1")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Digest", httpsig.ContentDigest([]byte(body)))
	return r
}

func TestVerifyRequest(t *testing.T) {
	t.Parallel()
	const body = `{"offer_id":"a"}`
	now := time.Unix(1_800_000_000, 0)
	signer, other := newSigner(t), newSigner(t)
	all := ucp.RequestComponents(httpsig.RequestMessage(signable(t, body), "https"), true)
	if len(all) != 8 {
		t.Fatalf("RequestComponents = %v, want 8", all)
	}
	sign := func(r *http.Request, s *httpsig.Signer, label string, components []httpsig.Component, p httpsig.Params) {
		if err := s.Sign(httpsig.RequestMessage(r, "https"), label, components, p); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		params httpsig.Params
		leave  string // the component that is not covered
		change func(r *http.Request)
		body   string
		want   string // key or code
	}{
		{"as it should be", httpsig.Params{}, "", nil, body, "key"},
		{"with times", httpsig.Params{
			Created: now.Add(30 * time.Second), Expires: now.Add(time.Hour),
			Tag: "web-bot-auth",
		}, "", nil, body, "key"},
		{"without method", httpsig.Params{}, "@method", nil, body, "signature_invalid"},
		{"without query", httpsig.Params{}, "@query", nil, body, "signature_invalid"},
		{"without agent", httpsig.Params{}, "ucp-agent", nil, body, "signature_invalid"},
		{"without key", httpsig.Params{}, "idempotency-key", nil, body, "signature_invalid"},
		{"without digest", httpsig.Params{}, "content-digest", nil, body, "signature_invalid"},
		{"a bot's", httpsig.Params{Tag: "web-bot-auth"}, "content-digest", nil, body, ""},
		{
			"expired",
			httpsig.Params{Created: now.Add(-time.Hour), Expires: now.Add(-time.Minute)},
			"", nil,
			body, "signature_invalid",
		},
		{
			"for a week",
			httpsig.Params{Created: now, Expires: now.Add(7 * 24 * time.Hour)},
			"", nil, body,
			"signature_invalid",
		},
		{"another body", httpsig.Params{}, "", nil, body + " ", "digest_mismatch"},
		{
			"another path",
			httpsig.Params{},
			"", func(r *http.Request) { r.URL.Path = "/other" }, body,
			"signature_invalid",
		},
		{"another key", httpsig.Params{KeyID: "unknown"}, "", nil, body, "key_not_found"},
		{
			"unknown digest",
			httpsig.Params{},
			"", func(r *http.Request) { r.Header.Set("Content-Digest", "md5=:AAAA:") },
			body, "algorithm_unsupported",
		},
		{
			"unsigned",
			httpsig.Params{},
			"",
			func(r *http.Request) { r.Header.Del("Signature"); r.Header.Del("Signature-Input") }, body, "",
		},
		{"a key of another curve", httpsig.Params{KeyID: "p384"}, "", nil, body, "algorithm_unsupported"},
		{
			"input alone",
			httpsig.Params{},
			"",
			func(r *http.Request) { r.Header.Del("Signature") },
			body,
			"signature_missing",
		},
		{
			"signature alone",
			httpsig.Params{},
			"", func(r *http.Request) { r.Header.Del("Signature-Input") }, body,
			"signature_missing",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := signable(t, body)
			var components []httpsig.Component
			for _, c := range all {
				if c.Name != tt.leave {
					components = append(components, c)
				}
			}
			sign(r, signer, "sig1", components, tt.params)
			if tt.change != nil {
				tt.change(r)
			}
			got, err := ucp.VerifyRequest(httpsig.RequestMessage(r, "https"), []byte(tt.body),
				&ucp.PlatformProfile{
					Keys: []httpsig.JWK{other.JWK(), signer.JWK()}, ForeignKeys: []string{"p384"},
				}, now)
			switch tt.want {
			case "key":
				if err != nil || got != signer.JWK().KID {
					t.Errorf("VerifyRequest = %q, %v, want the key", got, err)
				}
			case "":
				if err != nil || got != "" {
					t.Errorf("VerifyRequest = %q, %v, want nothing", got, err)
				}
			default:
				if !problem.Is(err, tt.want) || got != "" {
					t.Fatalf("VerifyRequest = %q, %v, want %s", got, err, tt.want)
				}
				if e := ucp.FromProblem(asProblem(t, err)); e.Status() != ucp.Code(tt.want).Status() {
					t.Errorf("status = %d, want %d", e.Status(), ucp.Code(tt.want).Status())
				}
			}
		})
	}
	t.Run("one of two is enough", func(t *testing.T) {
		t.Parallel()
		r := signable(t, body)
		sign(r, other, "proxy", []httpsig.Component{httpsig.Field("@authority")}, httpsig.Params{})
		sign(r, signer, "sig1", all, httpsig.Params{})
		if got, err := ucp.VerifyRequest(httpsig.RequestMessage(r, "https"), []byte(body),
			&ucp.PlatformProfile{Keys: []httpsig.JWK{signer.JWK()}}, now); err != nil || got != signer.JWK().KID {
			t.Errorf("VerifyRequest = %q, %v, want the key", got, err)
		}
	})
}

func TestRequestComponentsOfGet(t *testing.T) {
	t.Parallel()
	m := &httpsig.Message{Method: http.MethodGet, Path: "/x", Header: http.Header{"Idempotency-Key": {"k"}}}
	if got := ucp.RequestComponents(m, false); len(got) != 3 {
		t.Errorf("RequestComponents = %v, want method, authority and path", got)
	}
}

func TestSignResponse(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	okp, err := httpsig.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	for _, signer := range []*httpsig.Signer{newSigner(t), okp} {
		body := []byte(`{"status":"completed"}`)
		h := http.Header{"Content-Type": {"application/json"}}
		if err := ucp.SignResponse(signer, http.StatusOK, h, body, time.Unix(1_800_000_000, 0)); err != nil {
			t.Fatal(err)
		}
		signatures, err := httpsig.Parse(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := signatures[0].VerifyJWK(httpsig.ResponseMessage(200, h, nil), signer.JWK()); err != nil {
			t.Errorf("Verify = %v, want nil", err)
		}
		if err := signatures[0].VerifyJWK(httpsig.ResponseMessage(201, h, nil), signer.JWK()); err == nil {
			t.Error("Verify with another status = nil, want an error")
		}
		if err := httpsig.VerifyContentDigest(h, body); err != nil {
			t.Errorf("VerifyContentDigest = %v, want nil", err)
		}
	}
	if err := ucp.SignResponse(okp, 200, http.Header{}, nil, time.Now()); err == nil {
		t.Error("SignResponse without Content-Type = nil, want an error")
	}
}
