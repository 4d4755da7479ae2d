package webbotauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
)

func key(t testing.TB) *httpsig.Signer {
	t.Helper()
	return bot(t, 1)
}

func entryNamed(name string) httpsig.Component {
	return httpsig.Component{Name: "signature-agent", Key: name}
}

// Cases without a vector: each case changes a sound request.
func TestVerify(t *testing.T) {
	t.Parallel()
	const body = `{"a":1}`
	verified := webbotauth.Outcome{Status: "verified", Agent: at("bot.example"), KeyID: key(t).JWK().KID}
	outcome := func(s webbotauth.Status, r webbotauth.Reason) webbotauth.Outcome {
		return webbotauth.Outcome{Status: s, Reason: r}
	}
	authority := httpsig.Field("@authority")
	tests := []struct {
		name   string
		agent  string
		cover  []httpsig.Component
		params func(*httpsig.Params)
		mangle func(*http.Request)
		verify func(*webbotauth.Request)
		want   webbotauth.Outcome
	}{
		{name: "sound", want: verified},
		{name: "with capitals, port and slash", agent: `a="https://Bot.Example:443/"`, want: verified},
		{
			name: "dictionary covered whole", cover: []httpsig.Component{authority, httpsig.Field("signature-agent")},
			want: verified,
		},
		{
			name: "two entries covered as a whole", agent: `a="https://bot.example", b="https://x.example"`,
			cover: []httpsig.Component{authority, httpsig.Field("signature-agent")}, want: outcome("invalid",
				"coverage"),
		},
		{
			name:  "an entry that is not allowed, and one that is",
			agent: `a="http://bot.example", b="https://bot.example"`, cover: []httpsig.Component{
				authority, entryNamed("a"),
				entryNamed("b"),
			}, want: verified,
		},
		{
			name: "another entry is covered", agent: `a="https://bot.example", b="https://bot.example"`,
			cover: []httpsig.Component{authority, entryNamed("c")}, mangle: func(r *http.Request) {},
			want: outcome("invalid", "coverage"),
		},
		{
			name: "no agent at all", agent: "-", cover: []httpsig.Component{authority},
			want: outcome("unverified", "agent"),
		},
		{
			name: "agent is a token", agent: `a=bot`, cover: []httpsig.Component{authority, entryNamed("a")},
			want: outcome("unverified", "agent"),
		},
		{
			name: "agent does not parse", mangle: func(r *http.Request) { r.Header.Set("Signature-Agent", `a="`) },
			want: outcome("invalid", "malformed"),
		},
		{name: "unknown type", agent: `a="https://bot.example";type=magic`, want: outcome("unverified", "agent")},
		{name: "type that is a number", agent: `a="https://bot.example";type=1`, want: outcome("unverified", "agent")},
		{
			name: "no signature beside the input", mangle: func(r *http.Request) { r.Header.Del("Signature") },
			want: outcome("invalid", "malformed"),
		},
		{
			name: "a signature of another kind", mangle: func(r *http.Request) { r.Header.Del("Signature-Input") },
			want: outcome("unsigned", ""),
		},
		{name: "headers too large", mangle: func(r *http.Request) {
			r.Header.Add("Signature-Input",
				`x=();a="`+strings.Repeat("x", 8<<10)+`"`)
		}, want: outcome("invalid", "malformed")},
		{
			name: "five labels",
			mangle: func(r *http.Request) {
				for _, l := range []string{"b", "c", "d", "e"} {
					r.Header.Add("Signature-Input", l+`=();tag="x"`)
					r.Header.Add("Signature", l+"=:AA==:")
				}
			},
			want: outcome("invalid", "malformed"),
		},
		{
			name: "a signature of somebody else beside it",
			mangle: func(r *http.Request) {
				r.Header.Add("Signature-Input", `other=("@method");tag="x"`)
				r.Header.Add("Signature", "other=:AA==:")
			},
			want: verified,
		},
		{
			name: "a false one beside it",
			mangle: func(r *http.Request) {
				r.Header.Add("Signature-Input", `other=("@method");tag="web-bot-auth"`)
				r.Header.Add("Signature", "other=:AA==:")
			},
			want: verified,
		},
		{name: "component twice", mangle: func(r *http.Request) {
			r.Header.Set("Signature-Input",
				`sig1=("@authority" "@authority");created=1;expires=2;keyid="k";tag="web-bot-auth"`)
		}, want: outcome("invalid", "malformed")},
		{name: "no keyid", mangle: func(r *http.Request) {
			r.Header.Set("Signature-Input",
				`sig1=("@authority");created=946684800;expires=946684900;tag="web-bot-auth"`)
		}, want: outcome("invalid", "parameters")},
		{
			name: "no created", params: func(p *httpsig.Params) { p.Created = time.Time{} },
			want: outcome("invalid", "parameters"),
		},
		{
			name: "expires with created", params: func(p *httpsig.Params) { p.Expires = p.Created },
			want: outcome("invalid", "time"),
		},
		{
			name: "created in a minute", params: func(p *httpsig.Params) { p.Created = p.Created.Add(time.Minute) },
			want: verified,
		},
		{name: "expired less than a minute ago", params: func(p *httpsig.Params) {
			p.Created, p.Expires = p.Created.Add(-time.Hour), p.Created.Add(-59*time.Second)
		}, want: verified},
		{name: "expired a minute ago", params: func(p *httpsig.Params) {
			p.Created, p.Expires = p.Created.Add(-time.Hour), p.Created.Add(-time.Minute)
		}, want: outcome("invalid", "time")},
		{name: "a day", params: func(p *httpsig.Params) { p.Expires = p.Created.Add(24 * time.Hour) }, want: verified},
		{name: "another algorithm", mangle: func(r *http.Request) {
			input := r.Header.Get("Signature-Input")
			r.Header.Set("Signature-Input", strings.Replace(input, ";tag=", `;alg="rsa-pss-sha512";tag=`, 1))
		}, want: outcome("invalid", "algorithm")},
		{name: "HMAC in capitals", mangle: func(r *http.Request) {
			r.Header.Set("Signature-Input",
				strings.Replace(r.Header.Get("Signature-Input"), ";tag=", `;alg="HMAC-sha256";tag=`, 1))
		}, want: outcome("invalid", "algorithm")},
		{
			name: "host is not ours", verify: func(r *webbotauth.Request) { r.Message.Authority = "other.example" },
			want: outcome("invalid", "authority"),
		},
		{
			name:   "covered field is gone",
			cover:  []httpsig.Component{authority, entryNamed("a"), httpsig.Field("content-type")},
			mangle: func(r *http.Request) { r.Header.Del("Content-Type") }, want: outcome("invalid", "signature"),
		},
		{name: "component that is not supported", mangle: func(r *http.Request) {
			r.Header.Set("Signature-Input", strings.Replace(r.Header.Get("Signature-Input"), `("@authority"`,
				`("@authority" "@query-param";name="q"`, 1))
		}, want: outcome("invalid", "signature")},
		{
			name: "digest", cover: []httpsig.Component{authority, entryNamed("a"), httpsig.Field("content-digest")},
			want: verified,
		},
		{
			name:  "another body",
			cover: []httpsig.Component{authority, entryNamed("a"), httpsig.Field("content-digest")},
			verify: func(r *webbotauth.Request) {
				r.Body = func() ([]byte, error) { return []byte(`{"a":2}`), nil }
			},
			want: outcome("invalid", "digest"),
		},
		{
			name: "a body that breaks off", cover: []httpsig.Component{
				authority, entryNamed("a"),
				httpsig.Field("content-digest"),
			},
			verify: func(r *webbotauth.Request) { r.Body = func() ([]byte, error) { return nil, errors.New("reset") } },
			want:   outcome("invalid", "digest"),
		},
		{
			name: "no body", cover: []httpsig.Component{authority, entryNamed("a"), httpsig.Field("content-digest")},
			verify: func(r *webbotauth.Request) { r.Body = nil }, want: outcome("invalid", "digest"),
		},
		{name: "digest that is not covered", verify: func(r *webbotauth.Request) {
			r.Body = func() ([]byte, error) { panic("the body is nobody's business here") }
		}, want: verified},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				net := newWeb()
				net.put(at("bot.example"), document{body: setOf(t, key(t))})
				v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"Store.example"}, nil)
				look(t, v, key(t), "bot.example")

				r := request(t, http.MethodPost, "https://STORE.example:443/mcp",
					body, map[string]string{
						"Content-Type":   "application/json",
						"Content-Digest": httpsig.ContentDigest([]byte(body)),
					})
				switch tt.agent {
				case "":
					r.Header.Set("Signature-Agent", `a="https://bot.example"`)
				case "-":
				default:
					r.Header.Set("Signature-Agent", tt.agent)
				}
				if tt.cover == nil {
					tt.cover = []httpsig.Component{authority, entryNamed("a")}
				}
				p := httpsig.Params{Created: time.Now(), Expires: time.Now().Add(time.Hour), Tag: webbotauth.Tag}
				if tt.params != nil {
					tt.params(&p)
				}
				if err := key(t).Sign(httpsig.RequestMessage(r, "https"), "sig1", tt.cover, p); err != nil {
					if !errors.Is(err, httpsig.ErrComponent) {
						t.Fatal(err)
					}
					// A signature over absent components: nobody can create one, anybody can claim
					// it.
					r.Header.Set(
						"Signature-Input",
						`sig1=("@authority" "signature-agent";key="c");created=946684800;expires=946684900;`+
							`keyid="k";tag="web-bot-auth"`,
					)
					r.Header.Set("Signature", "sig1=:AA==:")
				}
				if tt.mangle != nil {
					tt.mangle(r)
				}
				q := toVerify(r, body)
				if tt.verify != nil {
					tt.verify(&q)
				}
				if diff := cmp.Diff(tt.want, v.Verify(time.Now(), q)); diff != "" {
					t.Errorf("Verify() (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestVerifyP256(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := httpsig.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		net := newWeb()
		net.put(at("bot.example"), document{body: setOf(t, signer)})
		v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
		look(t, v, signer, "bot.example")
		if got := look(t, v, signer, "bot.example"); got != "verified" {
			t.Errorf("Verify() = %s, want verified", got)
		}
	})
}

func TestAgentSource(t *testing.T) {
	t.Parallel()
	tests := []struct {
		uri  string
		kind webbotauth.Kind
		want string // empty: refused
	}{
		{"https://bot.example", webbotauth.Directory, at("bot.example")},
		{"https://BOT.example:443/", webbotauth.Directory, at("bot.example")},
		{"https://bot.example:8443", webbotauth.Directory, ""},
		{"https://bot.example:", webbotauth.Directory, ""},
		{"http://bot.example", webbotauth.Directory, ""},
		{"HTTPS://bot.example", webbotauth.Directory, at("bot.example")},
		{"https://bot.example/a", webbotauth.Directory, ""},
		{"https://bot.example?a", webbotauth.Directory, ""},
		{"https://bot.example?", webbotauth.Directory, ""},
		{"https://bot.example#", webbotauth.Directory, ""},
		{"https://user@bot.example", webbotauth.Directory, ""},
		{"https://127.0.0.1", webbotauth.Directory, ""},
		{"https://[::1]", webbotauth.Directory, ""},
		{"https://169.254.169.254", webbotauth.JWKSURI, ""},
		{"https://2130706433", webbotauth.JWKSURI, ""},
		{"https://0x7f.1", webbotauth.JWKSURI, ""},
		{"https://127.1", webbotauth.JWKSURI, ""},
		{"https://localhost", webbotauth.Directory, ""},
		{"https://bücher.example", webbotauth.Directory, ""},
		{"https://xn--bcher-kva.example", webbotauth.Directory, at("xn--bcher-kva.example")},
		{"https://bot..example", webbotauth.Directory, ""},
		{"https://-bot.example", webbotauth.Directory, ""},
		{"https://" + strings.Repeat("a.", 127) + "example", webbotauth.Directory, ""},
		{"https://bot.example/" + strings.Repeat("a", 2048), webbotauth.JWKSURI, ""},
		{"https://bot.example/k?x=1", webbotauth.JWKSURI, "https://bot.example/k?x=1"},
		{"https://Bot.example", webbotauth.CIMD, "https://bot.example/"},
		{"data:text/plain,x", webbotauth.JWKSURI, ""},
		{"https:bot.example", webbotauth.JWKSURI, ""},
		{"", webbotauth.Directory, ""},
		{"https://bot.example", "", ""},
	}
	for _, tt := range tests {
		got, ok := webbotauth.Agent{URI: tt.uri, Kind: tt.kind}.Source()
		if got.URL != tt.want || ok != (tt.want != "") {
			t.Errorf("Source(%q, %s) = %q, %t, want %q", tt.uri, tt.kind, got.URL, ok, tt.want)
		}
	}
}

// FuzzVerify verifies arbitrary headers: only a request that the key signed may be verified, and
// nothing panics.
func FuzzVerify(f *testing.F) {
	s := bot(f, 1)
	now := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	r := request(f, http.MethodGet, "https://store.example/", "",
		map[string]string{"Signature-Agent": `a="https://bot.example"`})
	if err := s.Sign(httpsig.RequestMessage(r, "https"), "sig1", []httpsig.Component{
		httpsig.Field("@authority"),
		entryNamed("a"),
	}, httpsig.Params{Created: now, Expires: now.Add(time.Hour), Tag: webbotauth.Tag}); err != nil {
		f.Fatal(err)
	}
	input, value := r.Header.Get("Signature-Input"), r.Header.Get("Signature")
	f.Add(input, value, `a="https://bot.example"`)
	f.Add(input, value, `"https://bot.example"`)
	f.Add(input, value, `a="https://bot.example";type=cimd, b=("x" 1);q=?0`)
	f.Add(strings.Replace(input, "sig1=", "s=", 1), value, "")
	f.Add(`sig1=("@authority" "signature-agent";key="a");created=1;expires=2;keyid="k";tag="web-bot-auth"`,
		"sig1=:AA==:", `a="https://bot.example"`)
	net := newWeb()
	net.put(at("bot.example"), document{body: setOf(f, s)})
	v := webbotauth.NewVerifier(keysOf(f, net, nil), []string{"store.example"}, nil)
	v.Verify(now, toVerify(r, ""))
	f.Fuzz(func(t *testing.T, input, value, agent string) {
		q := request(t, http.MethodGet, "https://store.example/", "", nil)
		q.Header["Signature-Input"], q.Header["Signature"], q.Header["Signature-Agent"] = []string{input}, []string{
			value,
		}, []string{agent}
		got := v.Verify(now, toVerify(q, ""))
		if got.Status == webbotauth.Verified && (got.Agent != at("bot.example") || got.KeyID != s.JWK().KID) {
			t.Errorf("Verify() = %+v", got)
		}
	})
}
