package httpsig_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpsig"

	"github.com/google/go-cmp/cmp"
)

func TestSignAndVerify(t *testing.T) {
	t.Parallel()
	const body = `{"a":1}`
	components := []httpsig.Component{
		httpsig.Field("@method"), httpsig.Field("@authority"), httpsig.Field("@path"), httpsig.Field("@query"),
		httpsig.Field("@scheme"),
		httpsig.Field("@target-uri"), httpsig.Field("Content-Digest"), httpsig.Field("content-type"),
		{Name: "x-dict", Key: "b"},
		httpsig.Field("host"),
	}
	tamper := map[string]func(r *http.Request){
		"method":    func(r *http.Request) { r.Method = http.MethodPut },
		"authority": func(r *http.Request) { r.Host = "other.example" },
		"path":      func(r *http.Request) { r.URL.Path = "/other" },
		"query":     func(r *http.Request) { r.URL.RawQuery = "q=2" },
		"digest":    func(r *http.Request) { r.Header.Set("Content-Digest", httpsig.ContentDigest([]byte("x"))) },
		"field":     func(r *http.Request) { r.Header.Add("Content-Type", "text/plain") },
		"member":    func(r *http.Request) { r.Header.Set("X-Dict", "a=1, b=3") },
		"gone":      func(r *http.Request) { r.Header.Del("Content-Type") },
	}
	for kind, private := range generate(t) {
		if kind == "RSA" {
			continue
		}
		signer, err := httpsig.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		prepare := func() *http.Request {
			r := request(t, http.MethodPost, "https://Store.example:443/a%20b?q=1", map[string]string{
				"Content-Type": " application/json ", "Content-Digest": httpsig.ContentDigest([]byte(body)),
				"X-Dict": "a=1,  b=2;p",
			}, body)
			p := httpsig.Params{
				Created: time.Unix(1000, 0), Expires: time.Unix(1300, 0), Alg: signer.Alg(), Nonce: "n",
				Tag: "t",
			}
			if err := signer.Sign(httpsig.RequestMessage(r, "https"), "sig1", components, p); err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := prepare()
		signatures, err := httpsig.Parse(r.Header)
		if err != nil {
			t.Fatal(err)
		}
		s := signatures[0]
		if s.Params.KeyID != signer.JWK().KID || !s.Covers(components...) || s.Covers(httpsig.Field("date")) {
			t.Errorf("%s: signature = %+v", kind, s)
		}
		if err := s.VerifyJWK(httpsig.RequestMessage(r, "https"), signer.JWK()); err != nil {
			base, _ := s.Base(httpsig.RequestMessage(r, "https"))
			t.Errorf("%s: Verify() = %v, want nil\n%s", kind, err, base)
		}
		if err := s.VerifyJWK(httpsig.RequestMessage(r, "http"), signer.JWK()); !errors.Is(err, httpsig.ErrInvalid) {
			t.Errorf("%s: Verify() over http = %v, want ErrInvalid", kind, err)
		}
		for name, change := range tamper {
			r := prepare()
			signatures, _ := httpsig.Parse(r.Header)
			change(r)
			err := signatures[0].VerifyJWK(httpsig.RequestMessage(r, "https"), signer.JWK())
			if !errors.Is(err, httpsig.ErrInvalid) && !errors.Is(err, httpsig.ErrComponent) {
				t.Errorf("%s: Verify() with another %s = %v, want ErrInvalid", kind, name, err)
			}
		}
	}
}

func TestBaseText(t *testing.T) {
	t.Parallel()
	r := request(t, http.MethodGet, "https://Store.example:443", map[string]string{
		"X-Two":  " a ",
		"X-Dict": `x=1;q="y", flag, list=(1 2);z`,
		"Signature-Input": `s=("@path" "@query" "@target-uri" "x-two" "x-dict";key="x" "x-dict";key="flag" ` +
			`"x-dict";key="list" "content-length");alg="ed25519";created=7;other=tok`,
		"Signature": "s=:AA==:",
	}, "12345")
	r.Header.Add("X-Two", "b\t")
	signatures, err := httpsig.Parse(r.Header)
	if err != nil {
		t.Fatal(err)
	}
	got, err := signatures[0].Base(httpsig.RequestMessage(r, "https"))
	want := `"@path": /
"@query": ?
"@target-uri": https://store.example/
"x-two": a, b
"x-dict";key="x": 1;q="y"
"x-dict";key="flag": ?1
"x-dict";key="list": (1 2);z
"content-length": 5
"@signature-params": ("@path" "@query" "@target-uri" "x-two" "x-dict";key="x" "x-dict";key="flag" ` +
		`"x-dict";key="list" "content-length");alg="ed25519";created=7;other=tok`
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Base() = %v (-want +got):\n%s", err, diff)
	}
}

// A server sees what a client signed, with net/http in between.
func TestOverTheWire(t *testing.T) {
	t.Parallel()
	signer, err := httpsig.NewSigner(generate(t)["EC"])
	if err != nil {
		t.Fatal(err)
	}
	components := []httpsig.Component{
		httpsig.Field("@method"), httpsig.Field("@target-uri"), httpsig.Field("@authority"),
		httpsig.Field("content-length"), httpsig.Field("content-digest"),
	}
	answers := []httpsig.Component{
		httpsig.Field("@status"), httpsig.Field("content-digest"),
		{Name: "@authority", Req: true},
		{Name: "signature", Key: "sig1", Req: true},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := httpsig.RequestMessage(r, "https")
		signatures, err := httpsig.Parse(r.Header)
		if err == nil {
			err = signatures[0].VerifyJWK(asked, signer.JWK())
		}
		text := fmt.Sprint(err)
		w.Header().Set("Content-Digest", httpsig.ContentDigest([]byte(text)))
		if err := signer.Sign(httpsig.ResponseMessage(http.StatusAccepted, w.Header(), asked), "sig1", answers,
			httpsig.Params{Created: time.Now()}); err != nil {
			text = err.Error()
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	const body = "hello"
	r := request(t, http.MethodPost, server.URL+"/a/%2Fb?x=%20y",
		map[string]string{"Content-Digest": httpsig.ContentDigest([]byte(body))}, body)
	asked := httpsig.RequestMessage(r, "https")
	if err := signer.Sign(asked, "sig1", components, httpsig.Params{Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	client.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS13
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text := make([]byte, 100)
	n, _ := answer.Body.Read(text)
	if string(text[:n]) != "<nil>" {
		t.Errorf("the server says %s, want <nil>", text[:n])
	}
	signatures, err := httpsig.Parse(answer.Header)
	if err != nil {
		t.Fatal(err)
	}
	m := httpsig.ResponseMessage(answer.StatusCode, answer.Header, asked)
	if err := signatures[0].VerifyJWK(m, signer.JWK()); err != nil {
		t.Errorf("Verify() of the answer = %v, want nil", err)
	}
	m.Status = http.StatusOK
	if err := signatures[0].VerifyJWK(m, signer.JWK()); !errors.Is(err, httpsig.ErrInvalid) {
		t.Errorf("Verify() with another status = %v, want ErrInvalid", err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`"x" `, httpsig.MaxComponents+1), " ")
	tests := []struct{ name, input, signature string }{
		{"no signature", `s=()`, ``},
		{"no input", ``, `s=:AA==:`},
		{"other labels", `a=()`, `b=:AA==:`},
		{"not a dictionary", `"x"`, `s=:AA==:`},
		{"not a list", `s=1`, `s=:AA==:`},
		{"not bytes", `s=()`, `s="x"`},
		{"a list of bytes", `s=()`, `s=(:AA==:)`},
		{"cut off", `s=("@authority"`, `s=:AA==:`},
		{"component twice", `s=("date" "date")`, `s=:AA==:`},
		{"component twice in another order", `s=("d";key="k";req "d";req;key="k")`, `s=:AA==:`},
		{"unsupported component twice", `s=("d";bs "d";bs)`, `s=:AA==:`},
		{"upper case", `s=("Date")`, `s=:AA==:`},
		{"a token", `s=(date)`, `s=:AA==:`},
		{"the parameters themselves", `s=("@signature-params")`, `s=:AA==:`},
		{"label twice", `s=();created=1, s=("date");created=2`, `s=:AA==:`},
		{"label twice in signatures", `s=()`, `s=:AA==:, s=:AAAA:`},
		{"created as text", `s=();created="1"`, `s=:AA==:`},
		{"created before time", `s=();created=-1`, `s=:AA==:`},
		{"keyid as token", `s=();keyid=k`, `s=:AA==:`},
		{"many components", `s=(` + many + `)`, `s=:AA==:`},
		{"many labels", `a=(),b=(),c=(),d=(),e=()`, `a=:AA==:,b=:AA==:,c=:AA==:,d=:AA==:,e=:AA==:`},
		{"long", `s=();nonce="` + strings.Repeat("n", httpsig.MaxHeader) + `"`, `s=:AA==:`},
		{"long together", `s=();nonce="` + strings.Repeat("n", 5000) + `"`, `s=:` + strings.Repeat("AAAA", 1000) + `:`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			if tt.input != "" {
				h.Set("Signature-Input", tt.input)
			}
			if tt.signature != "" {
				h.Set("Signature", tt.signature)
			}
			if got, err := httpsig.Parse(h); !errors.Is(err, httpsig.ErrMalformed) {
				t.Errorf("Parse(%.80s | %.40s) = %+v, %v, want ErrMalformed", tt.input, tt.signature, got, err)
			}
		})
	}
	if got, err := httpsig.Parse(http.Header{}); got != nil || err != nil {
		t.Errorf("Parse of no fields = %+v, %v, want nothing", got, err)
	}
}

func TestUnsupportedComponents(t *testing.T) {
	t.Parallel()
	for _, component := range []string{
		`"x";sf`, `"x";bs`, `"x";tr`, `"@query-param";name="q"`, `"@request-target"`, `"@status"`, `"@unknown"`,
		`"x";key=1`, `"x";key=""`,
		`"@path";key="a"`, `"x";req=?0`, `"x";req`, `"gone"`, `"x";key="gone"`, `"y";key="a"`,
	} {
		r := request(t, http.MethodGet, "https://store.example/?q=1", map[string]string{
			"X": "a=1", "Y": "not (a dictionary", "Signature-Input": "s=(" + component + ")", "Signature": "s=:AA==:",
		}, "")
		signatures, err := httpsig.Parse(r.Header)
		if err != nil {
			t.Errorf("Parse(%s) = %v, want nil: the syntax is right", component, err)
			continue
		}
		for _, private := range generate(t) {
			if err := signatures[0].Verify(httpsig.RequestMessage(r, "https"), private.Public()); !errors.Is(err,
				httpsig.ErrComponent) {
				t.Errorf("Verify over %s = %v, want ErrComponent", component, err)
			}
			break
		}
	}
}

func TestSeveralSignatures(t *testing.T) {
	t.Parallel()
	pairs := generate(t)
	r := request(t, http.MethodGet, "https://store.example/", nil, "")
	m := httpsig.RequestMessage(r, "https")
	for _, kind := range []string{"OKP", "EC"} {
		signer, err := httpsig.NewSigner(pairs[kind])
		if err != nil {
			t.Fatal(err)
		}
		if err := signer.Sign(m, "sig-"+strings.ToLower(kind), []httpsig.Component{httpsig.Field("@authority")},
			httpsig.Params{}); err != nil {
			t.Fatal(err)
		}
	}
	signatures, err := httpsig.Parse(r.Header)
	if err != nil || len(signatures) != 2 || signatures[0].Label != "sig-okp" || signatures[1].Label != "sig-ec" {
		t.Fatalf("Parse = %+v, %v, want both in order", signatures, err)
	}
	if err := signatures[1].Verify(m, pairs["EC"].Public()); err != nil {
		t.Errorf("Verify() = %v, want nil", err)
	}
	if err := signatures[1].Verify(m, pairs["OKP"].Public()); !errors.Is(err, httpsig.ErrInvalid) {
		t.Errorf("Verify() with another key = %v, want ErrInvalid", err)
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	pairs := generate(t)
	if _, err := httpsig.NewSigner(pairs["RSA"]); !errors.Is(err, httpsig.ErrAlgorithm) {
		t.Errorf("NewSigner(RSA) = %v, want ErrAlgorithm", err)
	}
	signer, err := httpsig.NewSigner(pairs["OKP"])
	if err != nil {
		t.Fatal(err)
	}
	m := httpsig.RequestMessage(request(t, http.MethodGet, "https://store.example/", nil, ""), "https")
	authority := []httpsig.Component{httpsig.Field("@authority")}
	tests := []struct {
		name       string
		label      string
		components []httpsig.Component
		params     httpsig.Params
		want       error
	}{
		{"other algorithm", "s", authority, httpsig.Params{Alg: "rsa-pss-sha512"}, httpsig.ErrAlgorithm},
		{"missing field", "s", []httpsig.Component{httpsig.Field("date")}, httpsig.Params{}, httpsig.ErrComponent},
		{"bad label", "S 1", authority, httpsig.Params{}, httpsig.ErrMalformed},
		{"bad nonce", "s", authority, httpsig.Params{Nonce: "é"}, httpsig.ErrComponent},
	}
	for _, tt := range tests {
		if err := signer.Sign(m, tt.label, tt.components, tt.params); !errors.Is(err, tt.want) {
			t.Errorf("%s: Sign = %v, want %v", tt.name, err, tt.want)
		}
	}
	if len(m.Header) != 0 {
		t.Errorf("header = %v, want nothing after failures", m.Header)
	}
}

func TestVerifyAlgorithms(t *testing.T) {
	t.Parallel()
	r := request(t, http.MethodGet, "https://store.example/",
		map[string]string{"Signature-Input": `s=("@path")`, "Signature": "s=:AA==:"}, "")
	m := httpsig.RequestMessage(r, "https")
	signatures, err := httpsig.Parse(r.Header)
	if err != nil {
		t.Fatal(err)
	}
	for kind, private := range generate(t) {
		if err := signatures[0].Verify(m, private.Public()); !errors.Is(err, httpsig.ErrInvalid) {
			t.Errorf("%s: Verify() of one byte = %v, want ErrInvalid", kind, err)
		}
		signatures[0].Params.Alg = "hmac-sha256"
		if err := signatures[0].Verify(m, private.Public()); !errors.Is(err, httpsig.ErrAlgorithm) {
			t.Errorf("%s: Verify() with alg hmac-sha256 = %v, want ErrAlgorithm", kind, err)
		}
		signatures[0].Params.Alg = ""
	}
	if err := signatures[0].Verify(m, []byte("secret")); !errors.Is(err, httpsig.ErrAlgorithm) {
		t.Errorf("Verify() with a shared secret = %v, want ErrAlgorithm", err)
	}
}

func TestCheckTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(10_000, 0)
	at := func(seconds int64) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	strictest := httpsig.TimeRule{Skew: time.Minute, MaxWindow: time.Hour, NeedsCreated: true, NeedsExpiring: true}
	lax := httpsig.TimeRule{Skew: time.Minute, MaxAge: 5 * time.Minute}
	tests := []struct {
		name             string
		created, expires time.Time
		rule             httpsig.TimeRule
		ok               bool
	}{
		{"now", at(0), at(300), strictest, true},
		{"clock behind", at(60), at(300), strictest, true},
		{"future", at(61), at(300), strictest, false},
		{"just expired, clock ahead", at(-300), at(-59), strictest, true},
		{"expired", at(-300), at(-60), strictest, false},
		{"backwards", at(30), at(10), strictest, false},
		{"long", at(0), at(3601), strictest, false},
		{"no created", time.Time{}, at(300), strictest, false},
		{"no expires", at(0), time.Time{}, strictest, false},
		{"nothing asked for", time.Time{}, time.Time{}, lax, true},
		{"old", at(-361), time.Time{}, lax, false},
		{"not quite old", at(-360), time.Time{}, lax, true},
		{"old but with expires", at(-3000), at(5), lax, true},
	}
	for _, tt := range tests {
		s := httpsig.Signature{Params: httpsig.Params{Created: tt.created, Expires: tt.expires}}
		if err := s.CheckTime(now, tt.rule); (err == nil) != tt.ok || err != nil && !errors.Is(err, httpsig.ErrTime) {
			t.Errorf("%s: CheckTime = %v, want ok = %t", tt.name, err, tt.ok)
		}
	}
}

func TestVerifyContentDigest(t *testing.T) {
	t.Parallel()
	const body = "hello"
	good := httpsig.ContentDigest([]byte(body))
	tests := []struct {
		name  string
		lines []string
		want  error
	}{
		{"sha-256", []string{good}, nil},
		{"beside an unknown one", []string{"md5=:AAAA:, " + good}, nil},
		{"of other bytes", []string{httpsig.ContentDigest([]byte("hello\n"))}, httpsig.ErrDigest},
		{"one of two is wrong", []string{good, "sha-512=:AAAA:"}, httpsig.ErrDigest},
		{"unknown", []string{"md5=:AAAA:"}, httpsig.ErrAlgorithm},
		{"missing", nil, httpsig.ErrDigest},
		{"twice", []string{"sha-256=:AAAA:, " + good}, httpsig.ErrDigest},
		{"text", []string{`sha-256="x"`}, httpsig.ErrDigest},
		{"unreadable", []string{"sha-256"}, httpsig.ErrDigest},
		{"nonsense", []string{"="}, httpsig.ErrDigest},
	}
	for _, tt := range tests {
		err := httpsig.VerifyContentDigest(http.Header{"Content-Digest": tt.lines}, []byte(body))
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: VerifyContentDigest(%q) = %v, want %v", tt.name, tt.lines, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{
		{
			`sig1=("@authority" "signature-agent";key="sig1");created=1;expires=2;keyid="k";` +
				`alg="ed25519";nonce="n";tag="web-bot-auth"`,
			`sig1=:AA==:`,
		},
		{`a=(), b=("x";bs "@query-param";name="q")`, `a=:AA==:, b=:AA==:`},
		{`s=("@status";req)`, `s=:AA==:`},
		{`s`, `s`},
		{``, ``},
		{`s=("a,b\"" )`, `s=::`},
	} {
		f.Add(seed[0], seed[1])
	}
	signer, err := httpsig.NewSigner(generate(f)["OKP"])
	if err != nil {
		f.Fatal(err)
	}
	public, err := signer.JWK().Public()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input, signature string) {
		r := request(t, http.MethodGet, "https://store.example/?q",
			map[string]string{"Signature-Input": input, "Signature": signature, "X": "a=1"}, "")
		signatures, err := httpsig.Parse(r.Header)
		if err != nil && !errors.Is(err, httpsig.ErrMalformed) {
			t.Fatalf("Parse(%q, %q) = %v", input, signature, err)
		}
		m := httpsig.RequestMessage(r, "https")
		for _, s := range signatures {
			if err := s.Verify(m, public); err == nil {
				t.Fatalf("%q %q verifies", input, signature)
			}
			if base, err := s.Base(m); err == nil && strings.Count(base, "\n") != len(s.Components) {
				t.Fatalf("base of %q has %d lines, want %d", input, strings.Count(base, "\n"), len(s.Components))
			}
		}
	})
}
