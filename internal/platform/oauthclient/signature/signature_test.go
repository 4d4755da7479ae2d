package signature_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/oauthclient/signature"
)

func request(t *testing.T, method, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// field is one parameter of the header Authorization, decoded.
func field(t *testing.T, r *http.Request, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(r.Header.Get("Authorization"), name+`="`)
	if !ok {
		t.Fatalf("Authorization has no %s: %s", name, r.Header.Get("Authorization"))
	}
	value, _, _ := strings.Cut(rest, `"`)
	text, err := url.PathUnescape(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The signature by HMAC-SHA1 is the published example of the vendor whose host it
// names.
func TestOAuth1(t *testing.T) {
	t.Parallel()
	photos := signature.Token{
		Consumer: "dpf43f3p2l4k3l03", ConsumerSecret: "kd94hf93k423kf44", Token: "nnch734d00sl2jdk",
		TokenSecret: "pfkkdhi9sl3r4s00",
		Timestamp:   137131202, Nonce: "chapoH",
	}
	tests := []struct {
		name, method, address string
		form                  url.Values
		token                 signature.Token
		want                  string
	}{
		{
			"a form with blanks and accents", http.MethodPost,
			"https://api.twitter.com/1.1/statuses/update.json?include_entities=true",
			url.Values{"status": {"Hello Ladies + Gentlemen, a signed OAuth request!"}},
			signature.Token{
				Consumer: "xvz1evFS4wEEPTGEFPHBog", ConsumerSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
				Token:       "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
				TokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
				Timestamp:   1318622958, Nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
			},
			"hCtSmYh+iHYCEqBWrE7C7hYmtUk=",
		},
		{
			"plain text", http.MethodGet, "https://photos.example.net/x", nil,
			with(photos, func(t *signature.Token) { t.Method = signature.Plaintext }),
			"kd94hf93k423kf44&pfkkdhi9sl3r4s00",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, tt.method, tt.address)
			if err := signature.OAuth1(r, tt.form, &tt.token); err != nil {
				t.Fatal(err)
			}
			if got := field(t, r, "oauth_signature"); got != tt.want {
				t.Errorf("signature = %q, want %q", got, tt.want)
			}
		})
	}
}

func with(t signature.Token, change func(*signature.Token)) signature.Token {
	change(&t)
	return t
}

func TestOAuth1Variants(t *testing.T) {
	t.Parallel()
	base := signature.Token{Consumer: "c", ConsumerSecret: "s", Timestamp: 1, Nonce: "n"}
	sign := func(address string, token signature.Token) string {
		r := request(t, http.MethodGet, address)
		if err := signature.OAuth1(r, nil, &token); err != nil {
			t.Fatal(err)
		}
		return field(t, r, "oauth_signature")
	}
	one := sign("https://A.example:443/p?a=1&b=2", base)
	if sign("https://a.example/p?b=2&a=1", base) != one {
		t.Error("case of the host, its usual port and the order of parameters change the signature")
	}
	if sign("https://a.example:8443/p?b=2&a=1", base) == one || sign("https://a.example/p?a=1", base) == one {
		t.Error("another port or fewer parameters do not change the signature")
	}
	longer := sign("https://a.example/p", with(base, func(t *signature.Token) { t.Method = signature.HMACSHA256 }))
	if raw, err := base64.StdEncoding.DecodeString(longer); err != nil || len(raw) != 32 {
		t.Errorf("HMAC-SHA256 = %q", longer)
	}
	r := request(t, http.MethodGet, "https://a.example")
	if err := signature.OAuth1(r, nil, &signature.Token{Realm: "1\"2\r\n3"}); err != nil ||
		!strings.HasPrefix(r.Header.Get("Authorization"), `OAuth realm="123", oauth_consumer_key=""`) {
		t.Errorf("Authorization = %q, %v", r.Header.Get("Authorization"), err)
	}
	if err := signature.OAuth1(r, nil, &signature.Token{Method: "MD5"}); err == nil {
		t.Error("an unknown method signs")
	}
	if err := signature.OAuth1(r, nil, &signature.Token{Method: signature.RSASHA1}); err == nil {
		t.Error("RSA-SHA1 signs without a key")
	}
}

func TestOAuth1RSA(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	r := request(t, http.MethodGet, "https://a.example/p?q=1")
	if err := signature.OAuth1(r, nil,
		&signature.Token{Consumer: "c", Method: signature.RSASHA1, Key: key, Timestamp: 1, Nonce: "n"}); err != nil {
		t.Fatal(err)
	}
	signed, err := base64.StdEncoding.DecodeString(field(t, r, "oauth_signature"))
	if err != nil {
		t.Fatal(err)
	}
	text := "GET&https%3A%2F%2Fa.example%2Fp&oauth_consumer_key%3Dc%26oauth_nonce%3Dn%26" +
		"oauth_signature_method%3DRSA-SHA1%26oauth_timestamp%3D1%26oauth_version%3D1.0%26q%3D1"
	sum := sha1.Sum([]byte(text))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA1, sum[:], signed); err != nil {
		t.Error("the signature is not that of the key over the base text")
	}
}

// The signatures are those of the vendor's published test suite for Signature
// Version 4.
func TestV4(t *testing.T) {
	t.Parallel()
	keys := signature.Keys{
		ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1",
		Service: "service",
	}
	now := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	tests := []struct{ name, method, path, want string }{
		{"get-vanilla", http.MethodGet, "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{
			"get-vanilla-query-order-key-case", http.MethodGet, "/?Param2=value2&Param1=value1",
			"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
		},
		{"post-vanilla", http.MethodPost, "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, tt.method, "https://example.amazonaws.com"+tt.path)
			signature.V4(r, nil, keys, now)
			want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, " +
				"SignedHeaders=host;x-amz-date, Signature=" + tt.want
			if got := r.Header.Get("Authorization"); got != want {
				t.Errorf("Authorization = %q, want %q", got, want)
			}
		})
	}
}

func TestV4Extras(t *testing.T) {
	t.Parallel()
	r := request(t, http.MethodPut, "https://bucket.s3.amazonaws.com/a%20b/c")
	r.Header.Set("Content-Type", "text/plain")
	signature.V4(r, []byte("body"), signature.Keys{
		ID: "a", Secret: "b", Session: "temporary", Region: "eu-west-1",
		Service: "s3",
	}, time.Unix(0, 0))
	if r.Header.Get("X-Amz-Security-Token") != "temporary" || r.Header.Get("X-Amz-Date") != "19700101T000000Z" ||
		len(r.Header.Get("X-Amz-Content-Sha256")) != 64 {
		t.Errorf("header = %v", r.Header)
	}
	if !strings.Contains(r.Header.Get("Authorization"),
		"SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") {
		t.Errorf("Authorization = %s", r.Header.Get("Authorization"))
	}
}
