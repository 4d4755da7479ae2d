package oauthclient

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// finish redeems the code of a callback.
//
//	issuer (RFC 9207) -> signature -> "no" -> still to be approved
//	-> captured values -> code -> token -> further steps -> further tokens
func (d *exchange) finish(ctx context.Context, attempt *connection.Attempt, callback url.Values) error {
	d.redirect(attempt.Redirect)
	if err := d.accept(attempt, callback); err != nil {
		return err
	}
	for name, parameter := range d.oauth.Callback.Capture {
		if text := callback.Get(parameter); text != "" {
			if err := d.setParam(name, text); err != nil {
				return err
			}
		}
	}
	code, err := d.code(callback)
	if err != nil {
		return err
	}
	if code == "" {
		if err := d.first(ctx); err != nil {
			return err
		}
		return d.complete(ctx)
	}
	if d.oauth.PKCE == "off" {
		attempt.Verifier = ""
	}
	d.set("code", code)
	d.set("code_verifier", attempt.Verifier)
	d.set("state", attempt.State)
	d.addSecret(code, attempt.Verifier)
	err = d.requestToken(ctx, d.shapeOfToken(), map[string]string{
		"grant_type": "authorization_code", "code": code, "redirect_uri": attempt.Redirect,
		"code_verifier": attempt.Verifier,
	}, rotation{})
	if err != nil {
		return err
	}
	return d.complete(ctx)
}

// complete is what follows a first token.
func (d *exchange) complete(ctx context.Context) error {
	if err := d.steps(ctx, d.oauth.AfterCode, false); err != nil {
		return err
	}
	return d.extras(ctx, nil)
}

// accept checks that a callback is the vendor's response to this attempt, and a
// "yes".
func (d *exchange) accept(attempt *connection.Attempt, callback url.Values) error {
	issuer := callback.Get("iss")
	if attempt.Issuer != "" &&
		(issuer != "" && issuer != attempt.Issuer || issuer == "" && attempt.Extra[extraIssRequired] != "") {
		return mismatched(d.app, "issuer_mismatch")
	}
	if err := d.verify(callback); err != nil {
		return err
	}
	if code := callback.Get("error"); code != "" {
		safe := d.safeCode(code)
		if slices.Contains(refusals, safe) {
			return denied(d.app, safe)
		}
		return &connection.RefreshError{Class: classOfCallback(safe), Code: safe}
	}
	for name, value := range d.oauth.Callback.Pending {
		if callback.Get(name) == value {
			return pending(d.app)
		}
	}
	return nil
}

func classOfCallback(code string) connection.RefreshClass {
	switch {
	case slices.Contains(temporaryCodes, code):
		return connection.Temporary
	case slices.Contains(clientCodes, code):
		return connection.ClientBroken
	}
	return connection.Unknown
}

// verify checks the vendor's signature over the callback.
func (d *exchange) verify(callback url.Values) error {
	switch d.oauth.Callback.Verify {
	case "":
		return nil
	case "shopify_hmac":
		signed := callback.Get("hmac")
		rest := maps.Clone(callback)
		delete(rest, "hmac")
		delete(rest, "signature")
		pairs := make([]string, 0, len(rest))
		for name, values := range rest {
			pairs = append(pairs, name+"="+strings.Join(values, ","))
		}
		slices.Sort(pairs)
		mac := hmac.New(sha256.New, []byte(d.given["client_secret"]))
		_, _ = mac.Write([]byte(strings.Join(pairs, "&"))) // a hash takes everything
		if !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(strings.ToLower(signed))) {
			return mismatched(d.app, "signature_mismatch")
		}
		return nil
	}
	return fmt.Errorf("%s has no signature %q of callbacks", d.app.ID, d.oauth.Callback.Verify)
}

// code is the code of a callback; "" only where consent alone counts.
func (d *exchange) code(callback url.Values) (string, error) {
	if d.oauth.Callback.NoCode {
		return "", nil
	}
	code := callback.Get(cmp.Or(d.oauth.Callback.Code, "code"))
	if d.oauth.Callback.Decode {
		if plain, err := url.QueryUnescape(code); err == nil {
			code = plain
		}
	}
	if code == "" {
		return "", mismatched(d.app, "code_missing")
	}
	return code, nil
}

// first makes a token where consent has no code: with a key of the client (an
// app that was installed), or with its secret (consent of an administrator).
func (d *exchange) first(ctx context.Context) error {
	if d.scheme.JWT != nil {
		return d.jwt(ctx)
	}
	return d.clientGrant(ctx, d.shapeOfToken())
}

// clientGrant is RFC 6749, 4.4.
func (d *exchange) clientGrant(ctx context.Context, s *shape) error {
	standard := map[string]string{"grant_type": "client_credentials"}
	if scopes := d.oauth.Scopes.Default; len(scopes) > 0 {
		standard["scope"] = strings.Join(scopes, d.separator())
	}
	return d.requestToken(ctx, s, standard, rotation{kind: app.RotateKeep})
}
