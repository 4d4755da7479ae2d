// Package signature signs HTTP requests where a bearer token is not what a
// vendor asks for.
//
//	OAuth1  RFC 5849: HMAC-SHA1, HMAC-SHA256, RSA-SHA1, PLAINTEXT
//	V4      AWS Signature Version 4, in the header Authorization
//
// Both read the request as it is about to be sent and change nothing but its
// header.
package signature

import (
	"crypto"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // RFC 5849 names it
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Methods of OAuth 1.
const (
	HMACSHA1   = "HMAC-SHA1" // also ""
	HMACSHA256 = "HMAC-SHA256"
	RSASHA1    = "RSA-SHA1"
	Plaintext  = "PLAINTEXT"
)

// Token is who signs by OAuth 1.
type Token struct {
	Consumer, ConsumerSecret string
	Token, TokenSecret       string // empty while there is none
	Method                   string
	Realm                    string
	Key                      *rsa.PrivateKey // for RSA-SHA1
	Timestamp                int64           // Unix seconds
	Nonce                    string
	// Further are further protocol parameters: oauth_callback, oauth_verifier.
	Further map[string]string
}

// OAuth1 sets the header Authorization of a request. form is its body where that
// is a form, whose members are signed with the rest.
func OAuth1(r *http.Request, form url.Values, t *Token) error {
	method := t.Method
	if method == "" {
		method = HMACSHA1
	}
	protocol := map[string]string{
		"oauth_consumer_key": t.Consumer, "oauth_signature_method": method, "oauth_timestamp": fmt.Sprint(t.Timestamp),
		"oauth_nonce": t.Nonce, "oauth_version": "1.0",
	}
	if t.Token != "" {
		protocol["oauth_token"] = t.Token
	}
	maps.Copy(protocol, t.Further)
	signed, err := t.sign(method, base(r, form, protocol))
	if err != nil {
		return err
	}
	protocol["oauth_signature"] = signed
	fields := make([]string, 0, len(protocol)+1)
	for name, value := range protocol {
		fields = append(fields, escape(name)+`="`+escape(value)+`"`)
	}
	slices.Sort(fields)
	if t.Realm != "" {
		fields = slices.Insert(fields, 0,
			`realm="`+strings.NewReplacer(`\`, ``, `"`, ``, "\r", "", "\n", "").Replace(t.Realm)+`"`)
	}
	r.Header.Set("Authorization", "OAuth "+strings.Join(fields, ", "))
	return nil
}

// base is the text that is signed (RFC 5849, 3.4.1).
func base(r *http.Request, form url.Values, protocol map[string]string) string {
	var pairs []string
	for _, values := range []url.Values{r.URL.Query(), form} {
		for name, all := range values {
			for _, value := range all {
				pairs = append(pairs, escape(name)+"="+escape(value))
			}
		}
	}
	for name, value := range protocol {
		pairs = append(pairs, escape(name)+"="+escape(value))
	}
	slices.Sort(pairs)
	host := strings.ToLower(r.URL.Host)
	if r.URL.Scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	return strings.ToUpper(r.Method) + "&" + escape(strings.ToLower(r.URL.Scheme)+"://"+host+path) + "&" +
		escape(strings.Join(pairs, "&"))
}

func (t *Token) sign(method, text string) (string, error) {
	key := escape(t.ConsumerSecret) + "&" + escape(t.TokenSecret)
	switch method {
	case HMACSHA1:
		return keyed(sha1.New, key, text), nil
	case HMACSHA256:
		return keyed(sha256.New, key, text), nil
	case Plaintext:
		return key, nil
	case RSASHA1:
		if t.Key == nil {
			return "", fmt.Errorf("signing by RSA-SHA1 needs a private key")
		}
		sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
		signed, err := rsa.SignPKCS1v15(nil, t.Key, crypto.SHA1, sum[:])
		if err != nil {
			return "", fmt.Errorf("signing: %w", err)
		}
		return base64.StdEncoding.EncodeToString(signed), nil
	}
	return "", fmt.Errorf("there is no signature method %q", method)
}

func keyed(digest func() hash.Hash, key, text string) string {
	mac := hmac.New(digest, []byte(key))
	_, _ = mac.Write([]byte(text)) // a hash takes everything
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// escape is percent-encoding of everything but the unreserved characters of RFC
// 3986 (RFC 5849, 3.6).
func escape(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
