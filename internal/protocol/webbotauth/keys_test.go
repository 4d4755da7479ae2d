package webbotauth_test

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
)

// bot creates the key of an agent from a number.
func bot(t testing.TB, n byte) *httpsig.Signer {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	s, err := httpsig.NewSigner(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// setOf returns the directory of agents.
func setOf(t testing.TB, signers ...*httpsig.Signer) string {
	t.Helper()
	keys := []httpsig.JWK{}
	for _, s := range signers {
		keys = append(keys, s.JWK())
	}
	return marshal(t, keys)
}

func marshal(t testing.TB, keys []httpsig.JWK) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// sign signs a request as an agent does, at the current time, for five minutes.
func sign(t testing.TB, s *httpsig.Signer, r *http.Request, components ...httpsig.Component) {
	t.Helper()
	components = append([]httpsig.Component{httpsig.Field("@authority")}, components...)
	now := time.Now()
	if err := s.Sign(httpsig.RequestMessage(r, "https"), "sig1", components,
		httpsig.Params{Created: now, Expires: now.Add(5 * time.Minute), Tag: webbotauth.Tag}); err != nil {
		t.Fatal(err)
	}
}

// signedBy returns a request of the agent of an origin.
func signedBy(t testing.TB, s *httpsig.Signer, host string) webbotauth.Request {
	t.Helper()
	r := request(t, http.MethodGet, "https://store.example/agent/search?q=a", "",
		map[string]string{"Signature-Agent": `a="https://` + host + `"`})
	sign(t, s, r, httpsig.Component{Name: "signature-agent", Key: "a"})
	return toVerify(r, "")
}

func at(host string) string { return "https://" + host + webbotauth.DirectoryPath }

// look verifies a request of the agent, sent now, and waits for the fetch that it may have started.
func look(t testing.TB, v *webbotauth.Verifier, s *httpsig.Signer, host string) string {
	t.Helper()
	o := v.Verify(time.Now(), signedBy(t, s, host))
	synctest.Wait()
	return strings.TrimSuffix(string(o.Status)+"/"+string(o.Reason), "/")
}

func TestKeysOverTime(t *testing.T) {
	t.Parallel()
	one, two := bot(t, 1), bot(t, 2)
	type step struct {
		wait  time.Duration
		put   *document // before the request
		by    *httpsig.Signer
		want  string
		calls int // total, after the request
	}
	both, first, second := setOf(t, one, two), setOf(t, one), setOf(t, two)
	tests := []struct {
		name  string
		steps []step
	}{
		{"the first request does not wait", []step{
			{0, &document{body: first}, one, "unverified/pending", 1},
			{0, nil, one, "verified", 1},
		}},
		{"a short max-age counts as a minute", []step{
			{0, &document{body: first, cache: "max-age=1"}, one, "unverified/pending", 1},
			{59 * time.Second, nil, one, "verified", 1},
			{time.Second, nil, one, "verified", 2},
		}},
		{"a long max-age counts as a day", []step{
			{0, &document{body: first, cache: "public, Max-Age=99999999"}, one, "unverified/pending", 1},
			{24*time.Hour - time.Second, nil, one, "verified", 1},
			{time.Second, nil, one, "verified", 2},
		}},
		{"nothing about caching is an hour", []step{
			{0, &document{body: first}, one, "unverified/pending", 1},
			{time.Hour - time.Second, nil, one, "verified", 1},
			{time.Second, nil, one, "verified", 2},
		}},
		{"no-store is a minute", []step{
			{0, &document{body: first, cache: "no-store"}, one, "unverified/pending", 1},
			{time.Minute, nil, one, "verified", 2},
		}},
		{"a failure evicts nothing", []step{
			{0, &document{body: first, cache: "max-age=60"}, one, "unverified/pending", 1},
			{time.Minute, &document{status: 500}, one, "verified", 2},
			{29 * time.Second, nil, one, "verified", 2},
			{time.Second, nil, one, "verified", 3},
			{time.Hour, nil, one, "verified", 4},
		}},
		{"a success replaces", []step{
			{0, &document{body: both, cache: "max-age=60"}, one, "unverified/pending", 1},
			{0, nil, two, "verified", 1},
			{time.Minute, &document{body: second}, one, "verified", 2},
			{0, nil, one, "unverified/unknown_key", 2},
			{0, nil, two, "verified", 2},
		}},
		{"a new key is looked for once a minute", []step{
			{0, &document{body: first}, one, "unverified/pending", 1},
			{0, &document{body: both}, two, "unverified/unknown_key", 1},
			{time.Minute, nil, two, "unverified/unknown_key", 2},
			{0, nil, two, "verified", 2},
		}},
		{"failures wait longer and longer, five minutes at most", []step{
			{0, &document{err: errors.New("refused")}, one, "unverified/pending", 1},
			{29 * time.Second, nil, one, "unverified/unreachable", 1},
			{time.Second, nil, one, "unverified/pending", 2},
			{59 * time.Second, nil, one, "unverified/unreachable", 2},
			{time.Second, nil, one, "unverified/pending", 3},
			{2 * time.Minute, nil, one, "unverified/pending", 4},
			{4 * time.Minute, nil, one, "unverified/pending", 5},
			{5 * time.Minute, nil, one, "unverified/pending", 6},
			{5 * time.Minute, &document{body: first}, one, "unverified/pending", 7},
			{0, nil, one, "verified", 7},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				net := newWeb()
				v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
				for i, s := range tt.steps {
					time.Sleep(s.wait)
					if s.put != nil {
						net.put(at("bot.example"), *s.put)
					}
					if got := look(t, v, s.by, "bot.example"); got != s.want || net.count() != s.calls {
						t.Errorf("step %d: %s after %d calls, want %s after %d", i, got, net.count(), s.want, s.calls)
					}
				}
			})
		})
	}
}

// Refused responses: the source stays unreachable.
func TestRefusedResponses(t *testing.T) {
	t.Parallel()
	one := bot(t, 1)
	jwk := one.JWK()
	renamed, expired, early := jwk, jwk, jwk
	renamed.KID = "mine"
	expired.Expires = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	early.NotBefore = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	many := []httpsig.JWK{}
	for i := range httpsig.MaxKeys {
		many = append(many, bot(t, byte(i+2)).JWK())
	}
	tests := []struct {
		name string
		doc  document
		want string
	}{
		{"good", document{body: setOf(t, one)}, "verified"},
		{"redirect", document{status: 302, body: setOf(t, one)}, "unverified/unreachable"},
		{"empty", document{status: 204}, "unverified/unreachable"},
		{"other media type", document{mediaType: "application/json", body: setOf(t, one)}, "unverified/unreachable"},
		{"no media type", document{mediaType: ";", body: setOf(t, one)}, "unverified/unreachable"},
		{"not JSON", document{body: "<html>"}, "unverified/unreachable"},
		{"no set", document{body: `{"key":1}`}, "unverified/unreachable"},
		{"too large", document{body: setOf(t, one) + strings.Repeat(" ", 64<<10)}, "unverified/unreachable"},
		{"kid is not the thumbprint", document{body: marshal(t, []httpsig.JWK{renamed})}, "unverified/unknown_key"},
		{"key has expired", document{body: marshal(t, []httpsig.JWK{expired})}, "unverified/unknown_key"},
		{"key is not valid yet", document{body: marshal(t, []httpsig.JWK{early})}, "unverified/unknown_key"},
		{"no keys", document{body: `{"keys":[]}`}, "unverified/unknown_key"},
		{"the 33rd key", document{body: marshal(t, append(many, jwk))}, "unverified/unknown_key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				net := newWeb()
				net.put(at("bot.example"), tt.doc)
				v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
				look(t, v, one, "bot.example")
				if got := look(t, v, one, "bot.example"); got != tt.want {
					t.Errorf("Verify() = %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// Many requests for one URL cause one fetch; none of them waits.
func TestOneFetchAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		net, one, gate := newWeb(), bot(t, 1), make(chan struct{})
		net.put(at("bot.example"), document{body: setOf(t, one), wait: gate})
		v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
		for range 100 {
			if got := look(t, v, one, "bot.example"); got != "unverified/pending" {
				t.Fatalf("Verify() = %s, want pending", got)
			}
		}
		if net.count() != 1 {
			t.Errorf("%d calls, want 1", net.count())
		}
		close(gate)
		synctest.Wait()
		if got := look(t, v, one, "bot.example"); got != "verified" {
			t.Errorf("Verify() = %s, want verified", got)
		}
	})
}

// A client may name one new URL in ten seconds; all clients together five per second, of which two
// are fetched at a time.
func TestFetchBudgets(t *testing.T) {
	t.Parallel()
	from := func(r webbotauth.Request, address string) webbotauth.Request {
		r.Client = netip.MustParseAddr(address)
		return r
	}
	synctest.Test(t, func(t *testing.T) {
		net, one := newWeb(), bot(t, 1)
		v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
		try := func(host, address string) {
			v.Verify(time.Now(), from(signedBy(t, one, host), address))
			synctest.Wait()
		}
		for i := range 10 {
			try(fmt.Sprintf("a%d.example", i), fmt.Sprintf("2001:db8:0:1::%d", i)) // one /64
		}
		if net.count() != 1 {
			t.Errorf("one client caused %d calls at once, want 1", net.count())
		}
		time.Sleep(10 * time.Second)
		try("b.example", "2001:db8:0:1::9")
		if net.count() != 2 {
			t.Errorf("after ten seconds %d calls, want 2", net.count())
		}
		time.Sleep(10 * time.Second)
		for i := range 50 {
			try(fmt.Sprintf("c%d.example", i), fmt.Sprintf("198.51.100.%d", i))
		}
		if net.count() != 7 {
			t.Errorf("fifty clients caused %d calls, want 5 more", net.count())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		net, one, gate := newWeb(), bot(t, 1), make(chan struct{})
		v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)
		for i := range 200 {
			host := fmt.Sprintf("d%d.example", i)
			net.put(at(host), document{body: setOf(t, one), wait: gate})
			v.Verify(time.Now(), from(signedBy(t, one, host), fmt.Sprintf("198.51.100.%d", i)))
			time.Sleep(200 * time.Millisecond)
		}
		close(gate)
		synctest.Wait()
		if net.most != 2 {
			t.Errorf("%d calls at the same time, want 2", net.most)
		}
	})
}

// The cache is bounded, and still works when it is full of junk.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		net, one := newWeb(), bot(t, 1)
		keys := keysOf(t, net, &webbotauth.KeysOptions{MaxSources: 20})
		v := webbotauth.NewVerifier(keys, []string{"store.example"}, nil)
		set := []httpsig.JWK{one.JWK()}
		for i := range httpsig.MaxKeys - 1 {
			set = append(set, bot(t, byte(i+2)).JWK())
		}
		for i := range 100 {
			host := fmt.Sprintf("e%d.example", i)
			body := marshal(t, set)
			if i%3 == 0 {
				body = "junk"
			}
			net.put(at(host), document{body: body})
			r := signedBy(t, one, host)
			r.Client = netip.AddrFrom4([4]byte{198, 51, byte(i), 1})
			v.Verify(time.Now(), r)
			synctest.Wait()
			if sources, held := keys.Len(); sources > 20 || held > 80 {
				t.Fatalf("after %d sources %d entries with %d keys, want at most 20 with 80", i+1, sources, held)
			}
			time.Sleep(time.Second)
		}
		if got := look(t, v, one, "e99.example"); got != "verified" && got != "unverified/pending" &&
			got != "unverified/unreachable" {
			t.Errorf("Verify() = %s", got)
		}
	})
}

// Close cancels running fetches; nothing is fetched afterwards.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		net, one := newWeb(), bot(t, 1)
		net.put(at("bot.example"), document{wait: make(chan struct{})})
		keys := keysOf(t, net, nil)
		v := webbotauth.NewVerifier(keys, []string{"store.example"}, nil)
		look(t, v, one, "bot.example")
		keys.Close()
		if got := look(t, v, one, "other.example"); got != "unverified/pending" || net.count() != 1 {
			t.Errorf("Verify() after Close = %s with %d calls, want pending with 1", got, net.count())
		}
	})
}
