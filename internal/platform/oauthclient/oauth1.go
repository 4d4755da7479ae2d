package oauthclient

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/assertion"
	"ace/internal/platform/oauthclient/reply"
	"ace/internal/platform/oauthclient/signature"
)

// What an attempt by OAuth 1 keeps: the request token and its secret.
const (
	extraToken  = "oauth_token"
	extraSecret = "oauth_token_secret"
)

// begin1 fetches a request token (RFC 5849, 2.1) and returns where the person
// allows it. The state travels in the callback's own address.
func (d *exchange) startOAuth1(ctx context.Context, attempt *connection.Attempt) (string, error) {
	o := d.scheme.OAuth1
	if attempt.State == "" {
		attempt.State = random()
	}
	back := join(attempt.Redirect, "state="+url.QueryEscape(attempt.State))
	a, err := d.callOAuth1(ctx, o.Request, &signature.Token{Further: map[string]string{"oauth_callback": back}})
	if err != nil {
		return "", err
	}
	attempt.Extra[extraToken], attempt.Extra[extraSecret] = a.At("/oauth_token"), a.At("/oauth_token_secret")
	if attempt.Extra[extraToken] == "" {
		return "", d.failed(a)
	}
	params, err := d.expandAll("the parameter", o.Params)
	if err != nil {
		return "", err
	}
	params["oauth_token"] = attempt.Extra[extraToken]
	address, err := d.address(o.Authorize)
	if err != nil {
		return "", err
	}
	return attach(address, encodeQuery(params), false), nil
}

// finish1 trades the verifier of the callback for the token (RFC 5849, 2.3).
func (d *exchange) finishOAuth1(ctx context.Context, attempt *connection.Attempt, callback url.Values) error {
	o := d.scheme.OAuth1
	if callback.Has("denied") || callback.Get("oauth_problem") == "user_refused" || callback.Get("error") != "" {
		return denied(d.app, "access_denied")
	}
	if subtle.ConstantTimeCompare([]byte(callback.Get("oauth_token")), []byte(attempt.Extra[extraToken])) != 1 {
		return mismatched(d.app, "token_mismatch")
	}
	verifier := callback.Get("oauth_verifier")
	if verifier == "" {
		return mismatched(d.app, "code_missing")
	}
	d.addSecret(verifier, attempt.Extra[extraSecret], attempt.Extra[extraToken])
	a, err := d.callOAuth1(ctx, o.Access, &signature.Token{
		Token: attempt.Extra[extraToken], TokenSecret: attempt.Extra[extraSecret],
		Further: map[string]string{"oauth_verifier": verifier},
	})
	if err != nil {
		return err
	}
	if a.At("/oauth_token") == "" {
		return d.failed(a)
	}
	for name, value := range map[string]string{
		accessToken: a.At("/oauth_token"),
		tokenSecret: a.At("/oauth_token_secret"),
	} {
		if err := d.storeToken(name, value); err != nil {
			return err
		}
	}
	for name, pointer := range o.Capture {
		if text := a.At(pointer); text != "" {
			if err := d.setParam(name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// call1 makes one of the two calls of the sign-in.
func (d *exchange) callOAuth1(ctx context.Context, template string, t *signature.Token) (*reply.Reply, error) {
	address, err := d.address(template)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return nil, refusedValue(template)
	}
	if err := sign1(r, d.scheme.OAuth1, d.values, t); err != nil {
		return nil, err
	}
	a, err := reply.Fetch(d.c.httpClientOf(d.app), r, "")
	if err == nil && (a.Status < 200 || a.Status >= 300) {
		err = d.failed(a)
	}
	return a, err
}

// sign1 completes a token with what the definition and the client say, and signs
// with it.
func sign1(r *http.Request, o *app.OAuth1, values app.Values, t *signature.Token) error {
	value := func(name string) string { v, _ := values.Value(name); return v }
	t.Consumer, t.ConsumerSecret = value("client_id"), value("client_secret")
	t.Method, t.Timestamp, t.Nonce = o.Signature, time.Now().Unix(), strings.ReplaceAll(uuid(), "-", "")
	realm, err := app.Expand(o.Realm, values, nil)
	if err != nil {
		return fmt.Errorf("the realm: %w", err)
	}
	t.Realm = realm
	if o.Signature == signature.RSASHA1 {
		key, err := assertion.ParseKey(assertion.RS256, assertion.PEM, value("private_key"))
		if err != nil {
			return &connection.RefreshError{Class: connection.ClientBroken, Code: "key_unreadable"}
		}
		t.Key, _ = key.(*rsa.PrivateKey)
	}
	form, err := formOf(r)
	if err != nil {
		return err
	}
	return signature.OAuth1(r, form, t)
}

// formOf is the body of a request if it is a form.
func formOf(r *http.Request) (url.Values, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil, nil
	}
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fmt.Errorf("the form to be signed cannot be read")
	}
	return form, nil
}

func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.GetBody == nil {
		return nil, fmt.Errorf("a body that cannot be read twice cannot be signed")
	}
	again, err := r.GetBody()
	if err != nil {
		return nil, fmt.Errorf("reading the body again: %w", err)
	}
	defer func() { _ = again.Close() }() // it is a copy
	return io.ReadAll(again)
}

// Sign signs a request of an app's API where the scheme asks for it: by OAuth 1
// with client_id, client_secret, access_token and access_token_secret, or by
// Signature Version 4 with access_key_id, secret_access_key and, if there is
// one, session_token. Requests of other schemes stay as they are, and those of
// an OAuth 1 whose send says where the credentials go. The request has to have a
// body that can be read again, and its header has to be complete.
func Sign(r *http.Request, s *app.Scheme, values app.Values) error {
	value := func(name string) string { v, _ := values.Value(name); return v }
	switch {
	case s.Type == app.TypeOAuth1 && s.OAuth1 != nil && len(s.Send.Headers) == 0 && len(s.Send.Query) == 0:
		return sign1(r, s.OAuth1, values, &signature.Token{Token: value(accessToken), TokenSecret: value(tokenSecret)})
	case s.Type == app.TypeSigV4 && s.SigV4 != nil:
		region, err := app.Expand(s.SigV4.Region, values, nil)
		if err != nil {
			return fmt.Errorf("the region: %w", err)
		}
		body, err := bodyOf(r)
		if err != nil {
			return err
		}
		signature.V4(r, body, signature.Keys{
			ID: value("access_key_id"), Secret: value("secret_access_key"), Session: value("session_token"),
			Region: cmp.Or(region, "us-east-1"), Service: s.SigV4.Service,
		}, time.Now())
	}
	return nil
}
