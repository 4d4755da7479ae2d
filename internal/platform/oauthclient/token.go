package oauthclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// rotation says what becomes of the refresh token that was there before.
type rotation struct{ kind, old string }

// shapeOfToken is how the definition has codes redeemed.
func (d *deal) shapeOfToken() *shape {
	t := &d.oauth.Token
	return &shape{
		url: t.URL, method: t.Method, body: t.Body, params: t.Params, rename: t.Rename, query: t.Query, headers: t.Headers,
		drop: t.Drop, xml: t.XML, accept: t.Accept, response: t.Response, sign: t.Sign,
	}
}

// ask sends a request for a token and takes it into the grant.
func (d *deal) ask(ctx context.Context, s *shape, standard map[string]string, r rotation) error {
	a, err := d.call(ctx, s, standard)
	if err != nil {
		return err
	}
	if !d.granted(a) {
		return d.failed(a)
	}
	return d.take(ctx, a, r)
}

// granted reports whether an answer is a success by the definition's measure,
// and by its own: some vendors fail with status 200.
func (d *deal) granted(a *answer) bool {
	if !d.oauth.Token.OK.Met(a.status, a.document) {
		return false
	}
	if len(d.oauth.Token.Map["error"]) == 0 && d.oauth.Token.OK.Pointer == "" {
		return app.PickText(a.document, "/error") == ""
	}
	return true
}

// member is a member of a token answer, where the definition says or where it
// usually is.
func (d *deal) member(a *answer, name string) string {
	if places := d.oauth.Token.Map[name]; len(places) > 0 {
		return a.text(places...)
	}
	if text, isText := a.document.(string); isText && name == accessToken {
		return text
	}
	return a.at("/" + name)
}

// take reads a token answer into the grant.
func (d *deal) take(ctx context.Context, a *answer, r rotation) error {
	main := d.main(a)
	d.last = a.document
	access := d.member(main, accessToken)
	if access == "" {
		return d.failed(a)
	}
	if err := d.keepToken(accessToken, access); err != nil {
		return err
	}
	if err := d.keepRefresh(d.member(main, refreshToken), r); err != nil {
		return err
	}
	d.grant.ExpiresAt = d.expiry(main, access)
	d.grant.Scopes = d.scopes(main)
	d.grant.Identity = identity(d.member(main, "id_token"))
	for name, pointer := range d.oauth.Token.Capture {
		if text := a.at(pointer); text != "" {
			if err := d.learn(name, text); err != nil {
				return err
			}
		}
	}
	if d.oauth.Refresh.MinAge > 0 {
		d.grant.Credentials[issuedAt] = strconv.FormatInt(time.Now().Unix(), 10)
	}
	return d.introspect(ctx, access)
}

// main is the part of an answer that holds the token: the whole, or one of the
// definition's alternates where the whole holds none.
func (d *deal) main(a *answer) *answer {
	if d.member(a, accessToken) != "" {
		return a
	}
	for _, pointer := range d.oauth.Token.Alternates {
		if inside, ok := app.Pick(a.document, pointer); ok {
			part := &answer{status: a.status, header: a.header, document: inside}
			if part.at("/"+accessToken) != "" || d.member(part, accessToken) != "" {
				return part
			}
		}
	}
	return a
}

// maxToken is how long a token may be.
const maxToken = 64 << 10

// keepToken keeps a token under a name; one that could not stand in a header is
// refused.
func (d *deal) keepToken(name, value string) error {
	if len(value) > maxToken || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return &connection.RefreshError{Class: connection.Unknown, Code: "value_refused:" + name}
	}
	d.grant.Credentials[name] = value
	d.set(name, value)
	d.keepSecret(value)
	return nil
}

func (d *deal) keepRefresh(fresh string, r rotation) error {
	if fresh == "" || r.kind == app.RotateKeep && r.old != "" {
		fresh = r.old
	}
	if fresh == "" {
		return nil
	}
	if r.old != "" && fresh != r.old {
		d.grant.Credentials[previousToken] = r.old
	}
	return d.keepToken(refreshToken, fresh)
}

// scopes are those that were granted, as far as the answer tells; vendors
// separate them by spaces, commas or as they are asked for.
func (d *deal) scopes(a *answer) []string {
	places := d.oauth.Token.Map["scope"]
	if len(places) == 0 {
		places = []string{"/scope"}
	}
	for _, place := range places {
		value, ok := app.Pick(a.document, place)
		if !ok {
			continue
		}
		if list, isList := value.([]any); isList {
			var all []string
			for _, one := range list {
				all = append(all, app.Text(one))
			}
			return all
		}
		separators := " ,"
		if own := d.oauth.Scopes.Separator; own != "" {
			separators += own
		}
		return strings.FieldsFunc(app.Text(value), func(r rune) bool { return strings.ContainsRune(separators, r) })
	}
	return nil
}

// identity is whose account an ID token names. It came from the token endpoint
// itself, over TLS, so that its signature proves nothing more (OpenID Connect
// Core 1.0, 3.1.3.7).
func identity(idToken string) connection.Identity {
	claims := claimsOf(idToken)
	return connection.Identity{
		ID: app.PickText(claims, "/sub"), Name: app.PickText(claims, "/name"), Email: app.PickText(claims, "/email"),
		Tenant: app.PickText(claims, "/tid"),
	}
}

// claimsOf are the claims of a JWT, unverified; nil for anything else.
func claimsOf(token string) any {
	pieces := strings.Split(token, ".")
	if len(pieces) != 3 {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(pieces[1], "="))
	if err != nil {
		return nil
	}
	var claims map[string]json.RawMessage
	if json.Unmarshal(text, &claims) != nil {
		return nil
	}
	return parseJSON(text)
}

// introspect asks how long a token lives (RFC 7662), where its answer did not
// tell and the definition knows whom to ask. A token whose end stays unknown is
// used until it is refused, so that a failure here is none of the sign-in.
func (d *deal) introspect(ctx context.Context, access string) error {
	if d.oauth.Introspect == "" || !d.grant.ExpiresAt.IsZero() {
		return nil
	}
	a, err := d.call(ctx, &shape{url: d.oauth.Introspect}, map[string]string{"token": access, "token_type_hint": accessToken})
	if err != nil || a.status != 200 || a.at("/active") == "false" {
		return ctx.Err()
	}
	d.grant.ExpiresAt = ends(a.at("/exp"), &app.Expires{Kind: "at"}, time.Now())
	if own := strings.Fields(a.at("/scope")); len(own) > 0 && d.grant.Scopes == nil {
		d.grant.Scopes = slices.Clone(own)
	}
	return nil
}
