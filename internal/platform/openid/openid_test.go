package openid_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/openid"
)

// idp is an OpenID provider that signs configured claims.
type idp struct {
	*httptest.Server
	key      *ecdsa.PrivateKey
	signer   *ecdsa.PrivateKey // nil: key
	alg      string            // "": ES256
	claims   map[string]any    // of the ID token, over the right ones
	userinfo map[string]any    // nil: no such endpoint
	methods  []string
	status   int // of the token endpoint; 0: 200

	requests []url.Values // to the token endpoint
	basic    []string
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &idp{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, p.userinfo) })
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (p *idp) discovery(w http.ResponseWriter, _ *http.Request) {
	d := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri":                              p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"ES256"}, "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"},
	}
	if p.userinfo != nil {
		d["userinfo_endpoint"] = p.URL + "/userinfo"
	}
	if p.methods != nil {
		d["token_endpoint_auth_methods_supported"] = p.methods
	}
	answer(w, 200, d)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *idp) keys(w http.ResponseWriter, _ *http.Request) {
	raw, err := p.key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	answer(w, 200,
		map[string]any{"keys": []any{map[string]any{
			"kty": "EC", "crv": "P-256", "kid": "1", "alg": "ES256",
			"use": "sig", "x": encode(raw[1:33]), "y": encode(raw[33:]),
		}}})
}

func (p *idp) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	user, pass, _ := r.BasicAuth()
	p.requests, p.basic = append(p.requests, r.PostForm), append(p.basic, user+":"+pass)
	if p.status != 0 {
		answer(w, p.status, map[string]any{"error": "invalid_grant", "error_description": "sesame"})
		return
	}
	answer(w, 200, map[string]any{"access_token": "at", "token_type": "Bearer", "id_token": p.idToken()})
}

func (p *idp) idToken() string {
	now := time.Now()
	claims := map[string]any{
		"iss": p.URL, "aud": "ace", "sub": "7", "nonce": "n-1", "iat": now.Unix(),
		"exp": now.Add(time.Minute).Unix(), "email": "ann@acme.example", "email_verified": true,
	}
	maps.Copy(claims, p.claims)
	for name, value := range claims {
		if value == nil {
			delete(claims, name)
		}
	}
	alg, signer := "ES256", p.key
	if p.alg != "" {
		alg = p.alg
	}
	if p.signer != nil {
		signer = p.signer
	}
	header, _ := json.Marshal(map[string]any{"alg": alg, "kid": "1", "typ": "JWT"})
	body, _ := json.Marshal(claims)
	text := encode(header) + "." + encode(body)
	if alg == "none" {
		return text + "."
	}
	sum := sha256.Sum256([]byte(text))
	a, b, err := ecdsa.Sign(rand.Reader, signer, sum[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	a.FillBytes(signature[:32])
	b.FillBytes(signature[32:])
	return text + "." + encode(signature)
}

func (p *idp) provider() *openid.Provider {
	return openid.New(openid.Settings{
		Issuer: p.URL, ClientID: "ace", Secret: "hush",
		Redirect: "https://platform.example/sign-in/openid/callback",
	}, p.Client())
}

func TestBegin(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	address, err := p.provider().Start(t.Context(), "s-1", "n-1", "a-verifier-of-forty-three-characters-at-least")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("a-verifier-of-forty-three-characters-at-least"))
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "ace", "state": "s-1", "nonce": "n-1", "code_challenge_method": "S256",
		"code_challenge": encode(sum[:]),
		"redirect_uri":   "https://platform.example/sign-in/openid/callback", "scope": "openid email profile",
	} {
		if got := u.Query().Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if u.Path != "/authorize" || strings.Contains(address, "hush") || !strings.HasPrefix(p.provider().Name(),
		"127.0.0.1:") {
		t.Errorf("address %s, name %s", address, p.provider().Name())
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		change   func(p *idp)
		callback string
		email    string
		problem  string
	}{
		{"right", func(*idp) {}, "code=c", "ann@acme.example", ""},
		{"right, by RFC 9207", func(*idp) {}, "code=c&iss=ISSUER", "ann@acme.example", ""},
		{
			"an address that is not verified", func(p *idp) { p.claims = map[string]any{"email_verified": false} },
			"code=c", "", "",
		},
		{
			"an address that nobody speaks of", func(p *idp) { p.claims = map[string]any{"email_verified": nil} },
			"code=c", "", "",
		},
		{"the e-mail address is in another response", func(p *idp) {
			p.claims = map[string]any{"email": nil}
			p.userinfo = map[string]any{"sub": "7", "email": "bob@acme.example", "email_verified": true}
		}, "code=c", "bob@acme.example", ""},
		{"the address of somebody else", func(p *idp) {
			p.claims = map[string]any{"email": nil}
			p.userinfo = map[string]any{"sub": "8", "email": "eve@acme.example", "email_verified": true}
		}, "code=c", "", ""},
		{"the user denied access", func(*idp) {}, "error=access_denied", "", "identity_refused"},
		{"the provider refused", func(*idp) {}, "error=invalid_scope&error_description=sesame", "", "identity_refused"},
		{"the provider is busy", func(*idp) {}, "error=temporarily_unavailable", "", "identity_unavailable"},
		{"no code", func(*idp) {}, "", "", "identity_refused"},
		{"another provider answers", func(*idp) {}, "code=c&iss=https://evil.example", "", "identity_refused"},
		{"the code is refused", func(p *idp) { p.status = 400 }, "code=c", "", "identity_refused"},
		{"the provider is down", func(p *idp) { p.status = 503 }, "code=c", "", "identity_unavailable"},
		{"another nonce", func(p *idp) { p.claims = map[string]any{"nonce": "n-2"} }, "code=c", "", "identity_refused"},
		{"no nonce", func(p *idp) { p.claims = map[string]any{"nonce": nil} }, "code=c", "", "identity_refused"},
		{
			"for another client", func(p *idp) { p.claims = map[string]any{"aud": "other"} }, "code=c",
			"", "identity_refused",
		},
		{
			"of another issuer", func(p *idp) { p.claims = map[string]any{"iss": "https://evil.example"} }, "code=c",
			"", "identity_refused",
		},
		{
			"of yesterday", func(p *idp) { p.claims = map[string]any{"exp": time.Now().Add(-24 * time.Hour).Unix()} },
			"code=c", "", "identity_refused",
		},
		{"signed by a stranger", func(p *idp) { p.signer = stranger }, "code=c", "", "identity_refused"},
		{"not signed", func(p *idp) { p.alg = "none" }, "code=c", "", "identity_refused"},
		{"signed with the public key as a secret", func(p *idp) { p.alg = "HS256" }, "code=c", "", "identity_refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP(t)
			tt.change(p)
			callback, err := url.ParseQuery(strings.ReplaceAll(tt.callback, "ISSUER", url.QueryEscape(p.URL)))
			if err != nil {
				t.Fatal(err)
			}
			issuer, subject, email, err := p.provider().Finish(t.Context(), callback, "n-1", "verifier")
			if tt.problem != "" {
				if !problem.Is(err, tt.problem) || subject != "" || strings.Contains(err.Error(), "sesame") ||
					strings.Contains(err.Error(), "hush") {
					t.Errorf("Finish = %q, %v, want %s", subject, err, tt.problem)
				}
				return
			}
			if err != nil || issuer != p.URL || subject != "7" || email != tt.email {
				t.Errorf("Finish = %q, %q, %q, %v, want %q", issuer, subject, email, err, tt.email)
			}
			if len(p.requests) != 1 || p.requests[0].Get("code_verifier") != "verifier" ||
				p.requests[0].Get("code") != "c" {
				t.Errorf("requests to the token endpoint: %v, want one with the verifier", p.requests)
			}
		})
	}
}

// TestClientSecret: it is shown in the one way that the provider takes, and the
// code is sent once.
func TestClientSecret(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		methods []string
		basic   string
		form    string
	}{
		{"nothing said", nil, "ace:hush", ""},
		{"both", []string{"client_secret_post", "client_secret_basic"}, "ace:hush", ""},
		{"in the form", []string{"client_secret_post"}, ":", "hush"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newIDP(t)
			p.methods, p.status = tt.methods, 401
			_, _, _, err := p.provider().Finish(t.Context(), url.Values{"code": {"c"}}, "n-1", "v")
			if !problem.Is(err, "identity_refused") || len(p.requests) != 1 || p.basic[0] != tt.basic ||
				p.requests[0].Get("client_secret") != tt.form {
				t.Errorf("err %v, %d requests, basic %q, form %v", err, len(p.requests), p.basic, p.requests)
			}
		})
	}
}

// TestProviderAway: nothing is read before somebody signs in, and what was read
// once is used while the provider is unavailable.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	provider := p.provider()
	if _, err := provider.Start(t.Context(), "s", "n", "v"); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := provider.Start(t.Context(), "s", "n", "v"); err != nil {
		t.Errorf("Begin while the provider is unavailable = %v, want the address of before", err)
	}
	if _, _, _, err := provider.Finish(t.Context(), url.Values{"code": {"c"}}, "n", "v"); !problem.Is(err,
		"identity_unavailable") {
		t.Errorf("Finish while the provider is unavailable = %v", err)
	}
	if _, err := p.provider().Start(t.Context(), "s", "n", "v"); !problem.Is(err, "identity_unavailable") {
		t.Errorf("Begin at a provider that was never there = %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.provider().Start(ended, "s", "n", "v"); err == nil {
		t.Error("Begin for a caller who has gone = nil")
	}
}
