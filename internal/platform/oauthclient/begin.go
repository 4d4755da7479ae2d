package oauthclient

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
)

// random is 256 bits as 43 characters, which suits state and verifier (RFC 7636,
// 4.1).
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// start returns the address of the authorization endpoint (RFC 6749, 4.1.1, with
// RFC 7636).
func (d *exchange) start(_ context.Context, attempt *connection.Attempt) (string, error) {
	o := d.oauth
	if attempt.State == "" {
		attempt.State = random()
	}
	d.redirect(attempt.Redirect)
	d.set("state", attempt.State)
	params := map[string]string{
		"response_type": "code", "client_id": d.given["client_id"], "redirect_uri": attempt.Redirect,
		"state": attempt.State,
	}
	if err := d.challenge(attempt, params); err != nil {
		return "", err
	}
	raw, err := d.addScopes(attempt.Scopes, params)
	if err != nil {
		return "", err
	}
	own, err := d.expandAll("the parameter", o.Authorize.Params)
	if err != nil {
		return "", err
	}
	maps.Copy(params, own)
	rename := map[string]string{}
	if o.Callback.State != "" { // it comes back as it is sent
		rename["state"] = o.Callback.State
	}
	maps.Copy(rename, o.Authorize.Rename)
	adapt(params, rename, o.Authorize.Drop)
	address, err := d.address(o.Authorize.URL)
	if err != nil {
		return "", err
	}
	return attach(address, encodeQuery(params)+raw, o.Authorize.Fragment), nil
}

// addScopes adds the lists of scopes. One that must not be escaped is returned,
// to be at the end of the query. Where the definition knows no scopes,
// no parameter is sent.
func (d *exchange) addScopes(asked []string, params map[string]string) (raw string, err error) {
	s := &d.oauth.Scopes
	scope, err := d.askedScopes(asked)
	if err != nil {
		return "", err
	}
	d.set("scope", scope)
	for name, list := range s.Params {
		params[name] = strings.Join(list, d.separator())
	}
	none := scope == "" && (s.OmitEmpty || len(s.Default) == 0 && len(s.Optional) == 0)
	switch {
	case none, slices.Contains(d.oauth.Authorize.Drop, "scope"):
		return "", nil
	case s.Raw:
		return "&" + url.QueryEscape(cmp.Or(d.oauth.Authorize.Rename["scope"], "scope")) + "=" + scope, nil
	}
	params["scope"] = scope
	return "", nil
}

// challenge adds PKCE. Verifiers are kept in the attempt.
func (d *exchange) challenge(attempt *connection.Attempt, params map[string]string) error {
	switch d.oauth.PKCE {
	case "off":
		attempt.Verifier = ""
		return nil
	case "", "S256", "plain":
	default:
		return fmt.Errorf("%s has no PKCE method %q", d.app.ID, d.oauth.PKCE)
	}
	if attempt.Verifier == "" {
		attempt.Verifier = random()
	}
	if d.oauth.PKCE == "plain" {
		params["code_challenge"], params["code_challenge_method"] = attempt.Verifier, "plain"
		return nil
	}
	sum := sha256.Sum256([]byte(attempt.Verifier))
	params["code_challenge"], params["code_challenge_method"] = base64.RawURLEncoding.EncodeToString(sum[:]), "S256"
	return nil
}

func (d *exchange) separator() string {
	if own := d.oauth.Scopes.Separator; own != "" {
		return own
	}
	return " "
}

// scopeToken is RFC 6749, 3.3; rawScope leaves out what means something else in
// a query.
var (
	scopeToken = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,500}$`)
	rawScope   = regexp.MustCompile(`^[A-Za-z0-9._~:/@!$*,;+-]{1,500}$`)
)

// askedScopes joins the scopes that the attempt asks for, or the usual ones.
func (d *exchange) askedScopes(asked []string) (string, error) {
	if asked == nil {
		asked = d.oauth.Scopes.Default
	}
	for _, one := range asked {
		if !scopeToken.MatchString(one) || d.oauth.Scopes.Raw && !rawScope.MatchString(one) {
			return "", problem.New(problem.Invalid, "invalid_request",
				"A scope holds a character that no scope has.").At("/scopes")
		}
	}
	return strings.Join(asked, d.separator()), nil
}

// encodeQuery writes a blank as %20: not every server reads + as one.
func encodeQuery(params map[string]string) string {
	values := url.Values{}
	for name, value := range params {
		values.Set(name, value)
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}

// attach puts a query behind an address. Where the app reads it behind #, it
// is first even if the URL has a query of its own.
func attach(address, query string, fragment bool) string {
	before, hash, hasHash := strings.Cut(address, "#")
	if fragment {
		return before + "#" + join(hash, query)
	}
	whole := join(before, query)
	if hasHash {
		whole += "#" + hash
	}
	return whole
}

func join(address, query string) string {
	switch {
	case query == "":
		return address
	case strings.Contains(address, "?"):
		return address + "&" + query
	}
	return address + "?" + query
}
