package oauthclient

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"
)

// rotation says what becomes of the refresh token that was there before.
type rotation struct{ kind, old string }

// shapeOfToken is how the definition has codes redeemed.
func (d *exchange) shapeOfToken() *shape {
	t := &d.oauth.Token
	return &shape{
		url: t.URL, method: t.Method, body: t.Body, params: t.Params, rename: t.Rename, query: t.Query,
		headers: t.Headers,
		drop:    t.Drop, xml: t.XML, accept: t.Accept, response: t.Response, sign: t.Sign,
	}
}

// ask sends a request for a token and takes it into the grant.
func (d *exchange) requestToken(ctx context.Context, s *shape, standard map[string]string, r rotation) error {
	a, err := d.call(ctx, s, standard)
	if err != nil {
		return err
	}
	if !d.granted(a) {
		return d.failed(a)
	}
	return d.storeTokens(ctx, a, r)
}

// granted reports whether a response is a success by the definition's measure,
// and by its own: some vendors fail with status 200.
func (d *exchange) granted(a *reply.Reply) bool {
	if !d.oauth.Token.OK.Met(a.Status, a.Document) {
		return false
	}
	if len(d.oauth.Token.Map["error"]) == 0 && d.oauth.Token.OK.Pointer == "" {
		return app.PickText(a.Document, "/error") == ""
	}
	return true
}

// member is a field of a token response, where the definition says or where it
// usually is.
func (d *exchange) field(a *reply.Reply, name string) string {
	if places := d.oauth.Token.Map[name]; len(places) > 0 {
		return a.Text(places...)
	}
	if text, isText := a.Document.(string); isText && name == accessToken {
		return text
	}
	return a.At("/" + name)
}

// storeTokens reads a token response into the grant.
func (d *exchange) storeTokens(ctx context.Context, a *reply.Reply, r rotation) error {
	main := d.main(a)
	d.last = a.Document
	access := d.field(main, accessToken)
	if access == "" {
		return d.failed(a)
	}
	if err := d.storeToken(accessToken, access); err != nil {
		return err
	}
	if err := d.storeRefreshToken(d.field(main, refreshToken), r); err != nil {
		return err
	}
	d.grant.ExpiresAt = d.expiry(main, access)
	d.grant.Scopes = d.scopes(main)
	d.grant.Identity = identity(d.field(main, "id_token"))
	for name, pointer := range d.oauth.Token.Capture {
		if text := a.At(pointer); text != "" {
			if err := d.setParam(name, text); err != nil {
				return err
			}
		}
	}
	if d.oauth.Refresh.MinAge > 0 {
		d.grant.Credentials[issuedAt] = strconv.FormatInt(time.Now().Unix(), 10)
	}
	return d.introspect(ctx, access)
}

// main is the part of a response that holds the token: the whole, or one of the
// definition's alternates where the whole holds none.
func (d *exchange) main(a *reply.Reply) *reply.Reply {
	if d.field(a, accessToken) != "" {
		return a
	}
	for _, pointer := range d.oauth.Token.Alternates {
		if inside, ok := app.Pick(a.Document, pointer); ok {
			part := &reply.Reply{Status: a.Status, Header: a.Header, Document: inside}
			if part.At("/"+accessToken) != "" || d.field(part, accessToken) != "" {
				return part
			}
		}
	}
	return a
}

// maxToken is how long a token may be.
const maxToken = 64 << 10

// keepToken keeps a token under a name; one that is invalid in a header is
// refused.
func (d *exchange) storeToken(name, value string) error {
	if len(value) > maxToken || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return &connection.RefreshError{Class: connection.Unknown, Code: "value_refused:" + name}
	}
	d.grant.Credentials[name] = value
	d.set(name, value)
	d.addSecret(value)
	return nil
}

func (d *exchange) storeRefreshToken(fresh string, r rotation) error {
	if fresh == "" || r.kind == app.RotateKeep && r.old != "" {
		fresh = r.old
	}
	if fresh == "" {
		return nil
	}
	if r.old != "" && fresh != r.old {
		d.grant.Credentials[previousToken] = r.old
	}
	return d.storeToken(refreshToken, fresh)
}

// scopes are those that were granted, as far as the response says; vendors
// separate them by spaces, commas or as they are asked for.
func (d *exchange) scopes(a *reply.Reply) []string {
	places := d.oauth.Token.Map["scope"]
	if len(places) == 0 {
		places = []string{"/scope"}
	}
	for _, place := range places {
		value, ok := app.Pick(a.Document, place)
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
	claims := reply.Claims(idToken)
	return connection.Identity{
		ID: app.PickText(claims, "/sub"), Name: app.PickText(claims, "/name"), Email: app.PickText(claims, "/email"),
		Tenant: app.PickText(claims, "/tid"),
	}
}

// introspect asks how long a token lives (RFC 7662), where its response did not
// tell and the definition knows where to ask. A token whose end stays unknown is
// used until it is refused, so that a failure here is none of the sign-in.
func (d *exchange) introspect(ctx context.Context, access string) error {
	if d.oauth.Introspect == "" || !d.grant.ExpiresAt.IsZero() {
		return nil
	}
	a, err := d.call(ctx, &shape{url: d.oauth.Introspect},
		map[string]string{"token": access, "token_type_hint": accessToken})
	if err != nil || a.Status != 200 || a.At("/active") == "false" {
		return ctx.Err()
	}
	d.grant.ExpiresAt = reply.Ends(a.At("/exp"), &app.Expires{Kind: "at"}, time.Now())
	if own := strings.Fields(a.At("/scope")); len(own) > 0 && d.grant.Scopes == nil {
		d.grant.Scopes = slices.Clone(own)
	}
	return nil
}

// expiry is when a token ends: as the response says, else as the token itself
// says, else after the definition's usual time. Zero is never, or unknown.
func (d *exchange) expiry(a *reply.Reply, token string) time.Time {
	e := &d.oauth.Token.Expires
	now := time.Now()
	if e.Never {
		return time.Time{}
	}
	places := d.oauth.Token.Map["expires"]
	switch {
	case e.Path != "":
		places = []string{e.Path}
	case len(places) == 0:
		places = []string{"/expires_in"}
	}
	if at := reply.Ends(a.Text(places...), e, now); !at.IsZero() {
		return at
	}
	if e.JWT {
		if at := reply.Ends(app.PickText(reply.Claims(token), "/exp"), &app.Expires{Kind: "at"}, now); !at.IsZero() {
			return at
		}
	}
	if e.Default > 0 {
		return now.Add(time.Duration(e.Default) * time.Second).Truncate(time.Second)
	}
	return time.Time{}
}
