package oauthclient_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

// signer is a key with what checks its signatures.
type signer struct {
	pem    string
	verify func(text string, signature []byte) bool
}

func signers(t *testing.T) map[string]signer {
	t.Helper()
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
	encoded := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	sum := func(text string) []byte { s := sha256.Sum256([]byte(text)); return s[:] }
	return map[string]signer{
		"RS256": {encoded(r), func(text string, s []byte) bool {
			return rsa.VerifyPKCS1v15(&r.PublicKey, crypto.SHA256, sum(text), s) == nil
		}},
		"ES256": {encoded(e), func(text string, s []byte) bool {
			return len(s) == 64 && ecdsa.Verify(&e.PublicKey, sum(text), new(big.Int).SetBytes(s[:32]),
				new(big.Int).SetBytes(s[32:]))
		}},
		"EdDSA": {encoded(d), func(text string, s []byte) bool { return ed25519.Verify(public, []byte(text), s) }},
		"HS256": {"746f6f20736563726574", func(text string, s []byte) bool {
			mac := hmac.New(sha256.New, []byte("too secret"))
			mac.Write([]byte(text))
			return hmac.Equal(s, mac.Sum(nil))
		}},
	}
}

// signedBy returns the claims of a JWT that the signer signed and that is good
// now; nil for any other.
func signedBy(s signer, token string) map[string]any {
	text, signature, ok := cutLast(token)
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if !ok || err != nil || !s.verify(text, raw) {
		return nil
	}
	_, middle, _ := strings.Cut(text, ".")
	decoded, _ := base64.RawURLEncoding.DecodeString(middle)
	var claims map[string]any
	_ = json.Unmarshal(decoded, &claims)
	now := float64(time.Now().Unix())
	issued, _ := claims["iat"].(float64)
	ends, _ := claims["exp"].(float64)
	if issued > now || ends <= now || ends-issued > 3600 {
		return nil
	}
	return claims
}

func cutLast(token string) (before, after string, ok bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return "", "", false
	}
	return token[:i], token[i+1:], true
}

func TestQuirksOfAssertions(t *testing.T) {
	t.Parallel()
	all := signers(t)
	const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	runQuirks(t, []quirk{
		{
			row: "12 private_key_jwt",
			definition: code(
				`token: {url: "https://a.example/t"}, client: {method: private_key_jwt, jwt: {kid: "{key_id}"}}`),
			callback: "code=c-1", lives: hour,
			client: &connection.Client{
				ID:    "cid",
				Extra: map[string]string{"private_key": all["RS256"].pem, "key_id": "k1"},
			},
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				claims := signedBy(all["RS256"], s.form.Get("client_assertion"))
				return claims["iss"] == "cid" && claims["sub"] == "cid" && claims["aud"] == "https://a.example/t" &&
					claims["jti"] != nil && s.form.Get("client_assertion_type") ==
					"urn:ietf:params:oauth:client-assertion-type:jwt-bearer" && !s.form.Has("client_secret")
			}, token)},
		},
		{
			row: "12 private_key_jwt with an issuer and an audience of its own",
			definition: code(
				`token: {url: "https://a.example/t"}, client: {method: private_key_jwt, jwt: {alg: ES256, ` +
					`key: "{signing_key}", claims: {iss: "{redirect_host}", aud: "https://bank.example", jti: ""}}}`,
			), callback: "code=c-1", lives: hour,
			client: &connection.Client{ID: "cid", Extra: map[string]string{"signing_key": all["ES256"].pem}},
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				claims := signedBy(all["ES256"], s.form.Get("client_assertion"))
				return claims["iss"] == "platform.example" && claims["aud"] == "https://bank.example" &&
					claims["jti"] == nil
			}, token)},
		},
		{
			row:        "12 client_secret_jwt",
			definition: code(`token: {url: "https://a.example/t"}, client: {method: client_secret_jwt}`),
			callback:   "code=c-1", lives: hour,
			client: &connection.Client{ID: "cid", Secret: "too secret"},
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				return signedBy(all["HS256"], s.form.Get("client_assertion"))["iss"] == "cid" &&
					!s.form.Has("client_secret")
			}, token)},
		},
		{
			row:        "12 a key that is none",
			definition: code(`token: {url: "https://a.example/t"}, client: {method: private_key_jwt}`),
			old:        connection.Credentials{"refresh_token": "rt-0"},
			client:     &connection.Client{ID: "cid", Extra: map[string]string{"private_key": "rubbish"}},
			fails:      "client_broken key_unreadable", silent: true,
		},
		{
			row: "29 an app that is installed at the vendor", client: &connection.Client{
				ID:    "app-1",
				Extra: map[string]string{"private_key": all["RS256"].pem, "slug": "ace"},
			},
			definition: `
base: https://api.hub.example
params: {installation_id: {learned: true}}
auth:
  - type: oauth2
    oauth:
      authorize: {url: "https://hub.example/apps/{slug}/new", drop: [client_id, redirect_uri, response_type, scope]}
      pkce: off
      callback: {no_code: true, capture: {installation_id: installation_id}, pending: {setup_action: request}}
      token: {url: "https://hub.example/none"}
    jwt: {alg: RS256, lifetime: 540, claims: {iss: "{client_id}"},
      grant: {call: "POST /app/installations/{installation_id}/access_tokens",
        headers: {Authorization: "Bearer {assertion}"}, keep: {access_token: /token, expires_at: /expires_at}}}`,
			callback: "installation_id=77&setup_action=install", learned: map[string]string{"installation_id": "77"},
			credentials: connection.Credentials{"access_token": "ghs-1"}, lives: hour,
			address: []string{"https://hub.example/apps/ace/new?state=state-of-the-attempt"},
			vendor: map[string]func(*seen) reply{
				"api.hub.example/app/installations/77/access_tokens": func(s *seen) reply {
					if signedBy(all["RS256"], strings.TrimPrefix(s.Header.Get("Authorization"), "Bearer "))["iss"] !=
						"app-1" {
						return reply{status: 401}
					}
					return reply{
						status: 201,
						body: `{"token":"ghs-1","expires_at":"` + time.Now().Add(hour).UTC().Format(time.RFC3339) +
							`"}`,
					}
				},
			},
		},
		{
			row: "29 an owner has to approve",
			definition: code(
				`token: {url: "https://a.example/t"}, callback: {no_code: true, pending: {setup_action: request}}`),
			callback: "setup_action=request", fails: "sign_in_failed", silent: true,
		},
		{
			row: "31 a service account, typed as its file",
			typed: connection.Credentials{"account": `{"client_email":"robot@a.example","private_key":` +
				quoted(all["RS256"].pem) + `}`},
			definition: `
auth:
  - type: jwt
    fields: [{name: account, secret: true}]
    jwt: {alg: RS256, key: "{account|json:/private_key}", lifetime: 3600,
      claims: {iss: "{account|json:/client_email}", scope: drive,
        aud: "https://a.example/t"}, grant: {call: "POST https://a.example/t", ` +
				`form: {grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "{assertion}"}, ` +
				`keep: {access_token: /access_token, expires_in: /expires_in}}}`,
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				claims := signedBy(all["RS256"], s.form.Get("assertion"))
				return s.form.Get("grant_type") == jwtBearer && claims["iss"] == "robot@a.example" &&
					claims["scope"] == "drive"
			}, `{"access_token":"at-1","expires_in":3600}`)},
			credentials: connection.Credentials{"access_token": "at-1"}, lives: hour,
		},
		{
			row:   "31 an admin key in two parts, sent itself",
			typed: connection.Credentials{"key": "k1:746f6f20736563726574"},
			definition: `
auth: [{type: jwt, fields: [{name: key, secret: true, match: "[^:]+:[0-9a-f]+"}],
  send: {headers: {Authorization: "Blog {access_token}"}}, jwt: {alg: HS256, key: "{key|after::}", encoding: hex,
    kid: "{key|before::}", lifetime: 300, claims: {aud: /admin/}}}]`,
			lives: 5 * time.Minute, silent: true,
		},
		{
			row: "31 EdDSA, renewed",
			old: connection.Credentials{
				"private_key":  all["EdDSA"].pem,
				"access_token": "old",
			},
			definition: `auth: [{type: jwt, fields: [{name: private_key, secret: true}], jwt: {alg: EdDSA, ` +
				`lifetime: 600, claims: {sub: me, exp: "{now}9"}, grant: {call: "POST https://a.example/t", ` +
				`body: {assertion: "{assertion}", nested: [{deep: "{assertion|substr:0:3}"}]}, ` +
				`keep: {access_token: /jwt}}}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool { return strings.Contains(s.body, `"nested":[{"deep":"eyJ"}]`) },
					`{"jwt":"at-1"}`),
			},
			credentials: connection.Credentials{"access_token": "at-1"},
		},
		{
			row: "31 a key that is not one", typed: connection.Credentials{"private_key": "rubbish"},
			definition: `auth: [{type: jwt, fields: [{name: private_key, secret: true}], jwt: {alg: RS256}}]`,
			fails:      "credentials_refused", silent: true,
		},
		{
			row: "the account's own client",
			typed: connection.Credentials{
				"client_id":     "own",
				"client_secret": "hush-hush",
			},
			definition: `auth: [{type: client_credentials, fields: [{name: client_id}, {name: client_secret, ` +
				`secret: true}], oauth: {client: {method: basic}, scopes: {default: [a, b]}, ` +
				`token: {url: "https://a.example/t", map: {access_token: [/data/token, /jwt]}, ` +
				`expires: {default: 60}}}}]`,
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				id, secret, _ := s.BasicAuth()
				return id == "own" && secret == "hush-hush" && s.form.Get("grant_type") == "client_credentials" &&
					s.form.Get("scope") == "a b"
			}, `{"jwt":"at-1"}`)},
			credentials: connection.Credentials{"access_token": "at-1", "client_id": "own"},
			lives:       time.Minute,
		},
		{
			row: "the account's own client, refused",
			typed: connection.Credentials{
				"client_id":     "own",
				"client_secret": "wrong-one",
			},
			definition: `auth: [{type: client_credentials, fields: [{name: client_id}, {name: client_secret, ` +
				`secret: true}], oauth: {token: {url: "https://a.example/t"}}}]`,
			vendor: map[string]func(*seen) reply{"a.example/t": func(*seen) reply {
				return reply{
					status: 401,
					body:   `{"error":"invalid_client"}`,
				}
			}},
			fails: "credentials_refused",
		},
	})
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text)
	return string(encoded)
}

// The webhook of an app's store brings the code (row 29).
func TestQuirkInstalledFromOutside(t *testing.T) {
	t.Parallel()
	a, s := define(t,
		code(
			`token: {url: "https://a.example/t", map: {access_token: [/token], refresh_token: [/refreshToken]}, `+
				`ok: {status: [201]}}, pkce: off, install: {code: /data/installation/code, `+
				`id: /data/installation/uuid}`,
		))
	callback, err := oauthclient.Installed(s,
		[]byte(`{"action":"created","data":{"installation":{"uuid":"i-1","code":"c-1"}}}`))
	if err != nil || callback.Get("code") != "c-1" || callback.Get("installation_id") != "i-1" {
		t.Fatalf("Installed = %v, %v", callback, err)
	}
	v := &vendor{t: t, handlers: map[string]func(*seen) reply{"a.example/t": func(s *seen) reply {
		if s.form.Get("code") != "c-1" {
			return reply{status: 400}
		}
		return reply{status: 201, body: `{"token":"at-1","refreshToken":"rt-1"}`}
	}}}
	g, err := oauthclient.New(v, nil).Finish(t.Context(), a, s, operators, nil, &connection.Attempt{Redirect: redirect},
		callback)
	if err != nil || g.Credentials["refresh_token"] != "rt-1" {
		t.Errorf("Finish = %v, %v", g, err)
	}
	for _, webhook := range []string{"", "{}", `{"data":{"installation":[]}}`, "not JSON"} {
		if got, err := oauthclient.Installed(s, []byte(webhook)); err == nil {
			t.Errorf("Installed(%s) = %v", webhook, got)
		}
	}
}

// A token endpoint that asks for a client certificate (row 12, RFC 8705).
func TestQuirkClientCertificate(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ace"},
		NotAfter: time.Now().Add(hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if r.TLS.PeerCertificates[0].Subject.CommonName != "ace" || r.PostForm.Get("client_id") != "cid" ||
			r.PostForm.Has("client_secret") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, token)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	a, s := define(t,
		strings.ReplaceAll(code(`token: {url: "ORIGIN/t"}, client: {method: none, mtls: true}`), "ORIGIN", server.URL))
	client := &connection.Client{ID: "cid", Extra: map[string]string{
		"certificate": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	}}
	c := oauthclient.New(plain(),
		&oauthclient.Options{Certified: func(certificate tls.Certificate) (oauthclient.HTTPClient, error) {
			shows := server.Client()
			transport := shows.Transport.(*http.Transport).Clone()
			transport.TLSClientConfig.Certificates = []tls.Certificate{certificate}
			return &http.Client{Transport: transport}, nil
		}})
	old := connection.Credentials{"refresh_token": "rt-0"}
	g, err := c.Refresh(t.Context(), a, s, client, &connection.Connection{}, old)
	if err != nil || g.Credentials["access_token"] != "at-1" {
		t.Errorf("Refresh = %v, %v", g, err)
	}
	client.Extra["certificate"] = "rubbish"
	if _, err := c.Refresh(t.Context(), a, s, client, &connection.Connection{}, old); failureOf(t,
		err).Class != connection.ClientBroken {
		t.Errorf("with a certificate that is none: %v", err)
	}
	if _, err := oauthclient.New(plain(), nil).Refresh(t.Context(), a, s, client, &connection.Connection{},
		old); err == nil {
		t.Error("without certificates Refresh succeeds")
	}
}

func TestQuirksOfSteps(t *testing.T) {
	t.Parallel()
	login := `
base: https://{server}/api
params: {server: {host: true}, site_id: {learned: true}}
auth:
  - type: token_exchange
    fields: [{name: username}, {name: password, secret: true}]
    steps:
      - {call: "POST /3.4/signin", body: {credentials: {name: "{username}", password: "{password}"}},
          keep: {challenge: /challenge, session: "cookie:sid"}}
      - {call: "POST /3.4/answer", form: {answer: "{challenge|hmac_sha256:password}", sid: "{session}"},
          ok: {pointer: /done, equals: "true"}, keep: {access_token: "header:X-Token", site_id: /site/id,
            expires_in: /ttl, "nothing?": /nowhere}}
    send: {headers: {X-Auth: "{access_token}"}}`
	vendor := map[string]func(*seen) reply{
		"bobs.example/api/3.4/signin": func(s *seen) reply {
			if s.body != `{"credentials":{"name":"ann","password":"pass word"}}` {
				return reply{status: 401, body: `{"error":{"code":"401001"}}`}
			}
			return reply{body: `{"challenge":"q1"}`, header: map[string]string{"Set-Cookie": "sid=s-1; Path=/"}}
		},
		"bobs.example/api/3.4/answer": func(s *seen) reply {
			mac := hmac.New(sha256.New, []byte("pass word"))
			mac.Write([]byte("q1"))
			if s.form.Get("answer") != hex.EncodeToString(mac.Sum(nil)) || s.form.Get("sid") != "s-1" {
				return reply{body: `{"done":false}`}
			}
			return reply{
				body:   `{"done":true,"site":{"id":7},"ttl":"7200"}`,
				header: map[string]string{"X-Token": "at-1"},
			}
		},
	}
	params := map[string]string{"server": "bobs.example"}
	runQuirks(t, []quirk{
		{
			row: "30 a login in two steps", definition: login, vendor: vendor, params: params,
			typed: connection.Credentials{"username": "ann", "password": "pass word"},
			credentials: connection.Credentials{
				"access_token": "at-1", "username": "ann", "password": "pass word",
				"challenge": "q1",
			}, learned: map[string]string{"site_id": "7"}, lives: 2 * hour,
		},
		{
			row: "30 renewed when it expires", definition: login, vendor: vendor, params: params,
			old:         connection.Credentials{"username": "ann", "password": "pass word", "access_token": "at-0"},
			credentials: connection.Credentials{"access_token": "at-1"}, lives: 2 * hour,
		},
		{
			row: "30 a wrong password", definition: login, vendor: vendor, params: params,
			typed: connection.Credentials{"username": "ann", "password": "word"}, fails: "credentials_refused",
		},
		{
			row: "30 a password that was changed", definition: login, vendor: vendor, params: params,
			old: connection.Credentials{"username": "ann", "password": "word"}, fails: "grant_over 401001",
		},
		{
			row: "30 an assertion in SAML for a token", typed: connection.Credentials{
				"username": "ann",
				"password": "p<w",
			},
			definition: `
auth:
  - type: token_exchange
    fields: [{name: username}, {name: password, secret: true}]
    steps:
      - {call: "POST https://idp.example/saml", xml: "<Envelope><User>{username}</User>` +
				`<Password>{password}</Password></Envelope>", keep: {assertion: /Envelope/Body/Assertion}}
      - {call: "POST https://a.example/token", form: {grant_type: "urn:ietf:params:oauth:grant-type:saml2-bearer",
          assertion: "{assertion|base64}"}, keep: {access_token: /access_token, refresh_token: /refresh_token}}
    oauth: {token: {expires: {default: 60}}}`,
			vendor: map[string]func(*seen) reply{
				"idp.example/saml": when(func(s *seen) bool {
					return strings.Contains(s.body, "<Password>p&lt;w</Password>") &&
						strings.HasPrefix(s.Header.Get("Content-Type"), "text/xml")
				}, `<s:Envelope xmlns:s="urn:s"><s:Body><s:Assertion>signed</s:Assertion></s:Body></s:Envelope>`),
				"a.example/token": when(func(s *seen) bool { return s.form.Get("assertion") == "c2lnbmVk" }, token),
			}, credentials: connection.Credentials{"access_token": "at-1", "refresh_token": "rt-1"}, lives: time.Minute,
		},
		{
			row: "30 its refresh token first",
			definition: `auth: [{type: token_exchange, fields: [{name: password}], ` +
				`steps: [{call: "POST https://a.example/login", form: {p: "{password}"}, ` +
				`keep: {access_token: /at}}], oauth: {client: {method: none}, token: {url: "https://a.example/t"}, ` +
				`refresh: {url: "https://a.example/r"}}}]`,
			old:      connection.Credentials{"password": "pw", "refresh_token": "rt-0"},
			vendor:   map[string]func(*seen) reply{"a.example/r": says(token)},
			lives:    hour,
			notSends: []string{"/login"},
		},
		{
			row: "30 and the password when that is over",
			definition: `auth: [{type: token_exchange, fields: [{name: password}], ` +
				`steps: [{call: "POST https://a.example/login", form: {p: "{password}"}, ` +
				`keep: {access_token: /at}}], oauth: {client: {method: none}, token: {url: "https://a.example/t"}, ` +
				`refresh: {url: "https://a.example/r"}}}]`,
			old:         connection.Credentials{"password": "pw", "refresh_token": "rt-0"},
			credentials: connection.Credentials{"access_token": "again"},
			vendor: map[string]func(*seen) reply{
				"a.example/r":     func(*seen) reply { return reply{status: 400, body: `{"error":"invalid_grant"}`} },
				"a.example/login": says(`{"at":"again"}`),
			},
		},
		{
			row:   "30 a step that does not answer what is needed",
			typed: connection.Credentials{"password": "pw"},
			definition: `auth: [{type: token_exchange, fields: [{name: password}], ` +
				`steps: [{call: "GET https://a.example/login", keep: {access_token: /at}}]}]`,
			vendor: map[string]func(*seen) reply{"a.example/login": says(`{"other":1}`)},
			fails:  "sign_in_failed",
		},
	})
}
