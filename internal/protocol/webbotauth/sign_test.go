package webbotauth_test

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
)

// Our signatures verify: requests with the directory that we publish.
func TestIdentityRoundTrip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, current := bot(t, 1), bot(t, 2)
		id, err := webbotauth.NewIdentity("https://bot.example",
			webbotauth.OwnKey{Signer: current, NotBefore: time.Now(), Expires: time.Now().Add(90 * 24 * time.Hour)},
			webbotauth.OwnKey{Signer: old})
		if err != nil {
			t.Fatal(err)
		}
		h, body, err := id.Directory(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		net := newWeb()
		net.put(at("bot.example"),
			document{body: string(body), mediaType: h.Get("Content-Type"), cache: h.Get("Cache-Control")})
		v := webbotauth.NewVerifier(keysOf(t, net, nil), []string{"store.example"}, nil)

		r := request(t, http.MethodGet, "https://store.example/robots.txt",
			"", map[string]string{"Signature": "old=:AA==:", "Signature-Input": `old=()`})
		if err := id.Sign(r, time.Now()); err != nil {
			t.Fatal(err)
		}
		want := webbotauth.Outcome{Status: "verified", Agent: at("bot.example"), KeyID: current.JWK().KID}
		if diff := cmp.Diff(want, settled(v, time.Now(), toVerify(r, ""))); diff != "" {
			t.Errorf("Verify() of our own request (-want +got):\n%s", diff)
		}
	})
}

func TestDirectoryIsSignedWithEachKey(t *testing.T) {
	t.Parallel()
	old, current := bot(t, 1), bot(t, 2)
	id, err := webbotauth.NewIdentity("https://bot.example", webbotauth.OwnKey{Signer: current},
		webbotauth.OwnKey{Signer: old})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 18, 9, 41, 0, 0, time.UTC)
	h, body, err := id.Directory(now)
	if err != nil {
		t.Fatal(err)
	}
	if err := httpsig.VerifyContentDigest(h, body); err != nil {
		t.Errorf("VerifyContentDigest() = %v, want nil", err)
	}
	asked := httpsig.RequestMessage(request(t, http.MethodGet, at("bot.example"), "", nil), "https")
	signatures, err := httpsig.Parse(h)
	if err != nil || len(signatures) != 2 {
		t.Fatalf("Parse() = %d signatures, %v, want 2", len(signatures), err)
	}
	for i, s := range []*httpsig.Signer{current, old} {
		got := signatures[i]
		if err := got.VerifyJWK(httpsig.ResponseMessage(http.StatusOK, h, asked), s.JWK()); err != nil ||
			got.Params.Tag != webbotauth.TagDirectory {
			t.Errorf("signature %d = %v with the tag %s, want nil", i, err, got.Params.Tag)
		}
		if created := now.Truncate(time.Hour); !got.Params.Created.Equal(created) ||
			got.Params.Expires.Sub(created) != 7*24*time.Hour {
			t.Errorf("signature %d lasts from %s to %s", i, got.Params.Created, got.Params.Expires)
		}
		asked.Authority = "mirror.example"
		if err := got.VerifyJWK(httpsig.ResponseMessage(http.StatusOK, h, asked), s.JWK()); err == nil {
			t.Errorf("signature %d verifies at another host", i)
		}
		asked.Authority = "bot.example"
	}
	again, sameBody, err := id.Directory(now.Add(18 * time.Minute))
	if err != nil || string(sameBody) != string(body) || cmp.Diff(h, again) != "" {
		t.Errorf("Directory() within the hour differs: %v, %v", again, err)
	}
	later, _, err := id.Directory(now.Add(time.Hour))
	if err != nil || later.Get("Signature-Input") == h.Get("Signature-Input") {
		t.Errorf("Directory() an hour later = %v, %v, want new signatures", later, err)
	}
}

func TestNewIdentityRefuses(t *testing.T) {
	t.Parallel()
	good := webbotauth.OwnKey{Signer: bot(t, 1)}
	tests := []struct {
		name, origin string
		keys         []webbotauth.OwnKey
	}{
		{"plain http", "http://bot.example", []webbotauth.OwnKey{good}},
		{"a path", "https://bot.example/a", []webbotauth.OwnKey{good}},
		{"no host", "https://", []webbotauth.OwnKey{good}},
		{"a user", "https://a@bot.example", []webbotauth.OwnKey{good}},
		{"no keys", "https://bot.example", nil},
		{"no signer", "https://bot.example", []webbotauth.OwnKey{{}}},
		{"five keys", "https://bot.example", []webbotauth.OwnKey{good, good, good, good, good}},
	}
	for _, tt := range tests {
		if _, err := webbotauth.NewIdentity(tt.origin, tt.keys...); err == nil {
			t.Errorf("%s: NewIdentity() = nil, want an error", tt.name)
		}
	}
}

// Requests for keys are signed if we have a key ourselves.
func TestFetchesAreSigned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		id, err := webbotauth.NewIdentity("https://store.example", webbotauth.OwnKey{Signer: bot(t, 9)})
		if err != nil {
			t.Fatal(err)
		}
		net := newWeb()
		keys := keysOf(t,
			net, &webbotauth.KeysOptions{Sign: func(r *http.Request) error { return id.Sign(r, time.Now()) }})
		look(t, webbotauth.NewVerifier(keys, []string{"store.example"}, nil), bot(t, 1), "bot.example")
		if len(net.calls) != 1 || !strings.Contains(net.calls[0].Header.Get("Signature-Agent"),
			"https://store.example") || net.calls[0].Header.Get("Signature") == "" {
			t.Errorf("calls = %+v, want one that is signed", net.calls)
		}
	})
}

func ExampleIdentity_Sign() {
	// a real key is created with crypto/rand
	signer, err := httpsig.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := webbotauth.NewIdentity("https://store.example", webbotauth.OwnKey{Signer: signer})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := http.NewRequest(http.MethodGet, "https://shop.example/", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := id.Sign(r, time.Unix(1_795_000_000, 0)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Header.Get("Signature-Agent"))
	input, _, _ := strings.Cut(r.Header.Get("Signature-Input"), ";keyid")
	fmt.Println(input)
	// Output:
	// sig1="https://store.example"
	// sig1=("@authority" "signature-agent";key="sig1");created=1795000000;expires=1795000300
}
