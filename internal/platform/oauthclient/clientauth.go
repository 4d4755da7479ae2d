package oauthclient

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/assertion"
)

// assertionType is RFC 7523, 2.2.
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// authenticate adds what shows who we are to a request (RFC 6749, 2.3), before
// its parameters are renamed.
func (d *exchange) authenticate(r *request) error {
	auth := d.oauth.Client
	method := auth.Method
	if method == "" {
		method = app.ClientPost
		if d.given["client_secret"] == "" {
			method = app.ClientNone
		}
	}
	inBody := func() {
		r.set("client_id", d.given["client_id"])
		r.set("client_secret", d.given["client_secret"])
	}
	switch method {
	case app.ClientPost:
		inBody()
	case app.ClientNone:
		r.set("client_id", d.given["client_id"])
	case app.ClientBasic:
		value, err := d.basic(auth)
		if err != nil {
			return err
		}
		r.header.Set("Authorization", value)
		if auth.Both {
			inBody()
		}
	case app.ClientHeader:
		fields, err := d.expandAll("the client's header", auth.Headers)
		if err != nil {
			return err
		}
		if err := r.setFields(fields); err != nil {
			return err
		}
		if auth.Both {
			inBody()
		}
	case app.ClientPrivateKey, app.ClientSecretJWT:
		signed, err := d.clientAssertion(auth, method, r.url)
		if err != nil {
			return err
		}
		r.set("client_id", d.given["client_id"])
		r.set("client_assertion_type", assertionType)
		r.set("client_assertion", signed)
	default:
		return fmt.Errorf("%s has no client authentication %q", d.app.ID, method)
	}
	if auth.MTLS {
		return d.certify(r)
	}
	return nil
}

// basic is the header of the method basic. RFC 6749 has both halves
// form-encoded first, which many servers do not undo: raw leaves them.
func (d *exchange) basic(auth app.ClientAuth) (string, error) {
	halves := [2]string{"{client_id}", "{client_secret}"}
	if auth.User != "" || auth.Pass != "" {
		halves = [2]string{auth.User, auth.Pass}
	}
	for i, template := range halves {
		text, err := d.expand(template)
		if err != nil {
			return "", fmt.Errorf("the client of %s: %w", d.app.ID, err)
		}
		if auth.Encoding != "raw" {
			text = url.QueryEscape(text)
		}
		halves[i] = text
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(halves[0]+":"+halves[1])), nil
}

// assertionLifetime is how long a client's assertion is valid.
const assertionLifetime = 5 * time.Minute

// clientAssertion is RFC 7523: signed with the client's key, or with its secret.
func (d *exchange) clientAssertion(auth app.ClientAuth, method, audience string) (string, error) {
	use := app.JWTUse{}
	if auth.JWT != nil {
		use = *auth.JWT
	}
	if method == app.ClientSecretJWT {
		if use.Key == "" {
			use.Key, use.Encoding = "{client_secret}", assertion.Raw
		}
		if use.Alg == "" {
			use.Alg = assertion.HS256
		}
	}
	if use.Key == "" {
		use.Key = "{private_key}"
	}
	if use.Alg == "" {
		use.Alg = assertion.RS256
	}
	if use.Lifetime == 0 {
		use.Lifetime = int(assertionLifetime / time.Second)
	}
	claims := map[string]any{"iss": d.given["client_id"], "sub": d.given["client_id"], "aud": audience, "jti": uuid()}
	signed, _, err := d.sign(&use, claims)
	return signed, err
}

// sign makes a JWT as a definition says: claims are its own, over those given.
func (d *exchange) sign(use *app.JWTUse, claims map[string]any) (signed string, expires time.Time, err error) {
	keyText, err := d.expand(use.Key)
	if err != nil {
		return "", expires, fmt.Errorf("the key of %s: %w", d.app.ID, err)
	}
	d.addSecret(keyText)
	key, err := assertion.ParseKey(use.Alg, use.Encoding, keyText)
	if err != nil {
		return "", expires, &connection.RefreshError{Class: connection.ClientBroken, Code: "key_unreadable"}
	}
	kid := ""
	if use.KeyID != "" {
		if kid, err = d.expand(use.KeyID); err != nil {
			return "", expires, fmt.Errorf("the key of %s: %w", d.app.ID, err)
		}
	}
	own, err := d.expandAll("the claim", use.Claims)
	if err != nil {
		return "", expires, err
	}
	lifetime := time.Duration(use.Lifetime) * time.Second
	if lifetime == 0 {
		lifetime = assertionLifetime
	}
	// A minute back: clocks differ, and what is issued tomorrow is refused.
	now := time.Now()
	expires = now.Add(lifetime).Truncate(time.Second)
	claims["iat"], claims["exp"] = now.Add(-time.Minute).Unix(), expires.Unix()
	if lifetime > 9*time.Minute { // servers that allow ten minutes count from iat
		claims["iat"] = now.Unix()
	}
	for name, text := range own {
		claims[name] = claim(name, text)
		if text == "" {
			delete(claims, name)
		}
	}
	signed, err = assertion.Sign(use.Alg, key, kid, claims)
	if err != nil {
		return "", expires, fmt.Errorf("signing for %s: %w", d.app.ID, err)
	}
	d.addSecret(signed)
	return signed, expires, nil
}

// claim is the value of a claim: times are numbers (RFC 7519, 4.1).
func claim(name, text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && (name == "iat" || name == "exp" || name == "nbf") {
		return n
	}
	return text
}

// certify has the request sent with the client's certificate (RFC 8705).
func (d *exchange) certify(r *request) error {
	if d.c.options.Certified == nil {
		return fmt.Errorf("%s asks for a client certificate, which this installation cannot show", d.app.ID)
	}
	certificate, err := tls.X509KeyPair([]byte(d.given["certificate"]), []byte(d.given["private_key"]))
	if err != nil { // the error may quote the input
		return &connection.RefreshError{Class: connection.ClientBroken, Code: "certificate_unreadable"}
	}
	r.httpClient, err = d.c.options.Certified(certificate)
	if err != nil {
		return fmt.Errorf("preparing the client certificate of %s: %w", d.app.ID, err)
	}
	return nil
}
