package oauthclient

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// Codes of refreshes that cannot be tried.
const (
	codeNotRenewable = "not_renewable"
	codeNoRefresh    = "no_refresh_token"
	codeTooYoung     = "too_young"
)

// refresh renews the grant, which holds what was there before.
func (d *exchange) refresh(ctx context.Context, conn *connection.Connection) error {
	d.grant.ExpiresAt = time.Time{}
	switch d.scheme.Type {
	case app.TypeOAuth2:
		return d.refresh2(ctx, conn)
	case app.TypeMCP:
		return d.refreshMCP(ctx, conn)
	case app.TypeClient, app.TypeJWT:
		return d.renew(ctx)
	case app.TypeExchange:
		return d.refreshSteps(ctx, conn)
	}
	return &connection.RefreshError{Class: connection.GrantOver, Code: codeNotRenewable}
}

// renew makes a token of what was typed, the first time and each time.
func (d *exchange) renew(ctx context.Context) error {
	switch d.scheme.Type {
	case app.TypeClient:
		if err := d.clientGrant(ctx, d.shapeOfToken()); err != nil {
			return err
		}
	case app.TypeJWT:
		if err := d.jwt(ctx); err != nil {
			return err
		}
	default:
		if err := d.trade(ctx); err != nil {
			return err
		}
	}
	return d.complete(ctx)
}

// refreshSteps uses the refresh token of a two-step login while it lasts, and
// then logs in again.
func (d *exchange) refreshSteps(ctx context.Context, conn *connection.Connection) error {
	if d.oauth.Refresh.URL != "" && d.grant.Credentials[refreshToken] != "" {
		err := d.refresh2(ctx, conn)
		if failed := asFailed(err); failed == nil || failed.Class != connection.GrantOver {
			return err
		}
	}
	return d.renew(ctx)
}

func (d *exchange) refresh2(ctx context.Context, conn *connection.Connection) error {
	kind := cmp.Or(d.oauth.Refresh.Kind, app.RefreshToken)
	if d.oauth.Callback.NoCode && d.oauth.Refresh.Kind == "" {
		kind = app.RefreshClient
	}
	if err := d.oldEnough(); err != nil {
		return err
	}
	old := d.grant.Credentials[refreshToken]
	previous := d.extraTokens()
	var err error
	switch kind {
	case app.RefreshToken:
		err = d.refreshGrant(ctx, old)
	case app.RefreshExchange, app.RefreshSigned:
		s := d.shapeOfRefresh()
		s.bare = kind == app.RefreshSigned
		err = d.requestToken(ctx, s, nil, rotation{d.oauth.Refresh.Rotation, old})
	case app.RefreshExtend:
		err = d.extend(ctx)
	case app.RefreshClient:
		err = d.first(ctx)
	case app.RefreshNot:
		return &connection.RefreshError{Class: connection.GrantOver, Code: codeNotRenewable}
	default:
		return fmt.Errorf("%s has no refresh %q", d.app.ID, kind)
	}
	if err != nil {
		return err
	}
	if d.grant.Scopes == nil && conn != nil {
		d.grant.Scopes = conn.Scopes
	}
	return d.extras(ctx, previous)
}

// refreshGrant is RFC 6749, 6.
func (d *exchange) refreshGrant(ctx context.Context, old string) error {
	if old == "" {
		return &connection.RefreshError{Class: connection.GrantOver, Code: codeNoRefresh}
	}
	return d.requestToken(
		ctx,
		d.shapeOfRefresh(),
		map[string]string{"grant_type": "refresh_token", "refresh_token": old},
		rotation{d.oauth.Refresh.Rotation, old},
	)
}

// shapeOfRefresh is the request for a token with what differs when it renews
// one.
func (d *exchange) shapeOfRefresh() *shape {
	t, r := &d.oauth.Token, &d.oauth.Refresh
	s := &shape{
		url: cmp.Or(r.URL, t.URL), method: cmp.Or(r.Method, t.Method), body: cmp.Or(r.Body, t.Body), params: r.Params,
		rename: r.Rename, drop: r.Drop,
		query: r.Query, headers: map[string]string{}, xml: cmp.Or(r.XML, t.XML), accept: t.Accept, response: t.Response,
		sign: r.Sign,
	}
	if s.rename == nil {
		s.rename = t.Rename
	}
	if s.sign == nil {
		s.sign = t.Sign
	}
	for _, fields := range []map[string]string{t.Headers, r.Headers} {
		maps.Copy(s.headers, fields)
	}
	return s
}

// extend has the same token live longer: the response may be empty.
func (d *exchange) extend(ctx context.Context) error {
	s := d.shapeOfRefresh()
	a, err := d.call(ctx, s, nil)
	if err != nil {
		return err
	}
	if !d.granted(a) {
		return d.failed(a)
	}
	d.grant.ExpiresAt = d.expiry(a, d.grant.Credentials[accessToken])
	return nil
}

// oldEnough refuses to renew a token that its vendor would not renew yet.
func (d *exchange) oldEnough() error {
	least := time.Duration(d.oauth.Refresh.MinAge) * time.Second
	since, err := strconv.ParseInt(d.grant.Credentials[issuedAt], 10, 64)
	wait := time.Until(time.Unix(since, 0).Add(least))
	if least > 0 && err == nil && wait > 0 {
		return &connection.RefreshError{Class: connection.Temporary, Code: codeTooYoung, After: wait}
	}
	return nil // also where its age is unknown
}

// revoke ends the grant as the definition says, by RFC 7009 if it has no
// more than an address.
func (d *exchange) revoke(ctx context.Context) error {
	if d.scheme.Type == app.TypeMCP {
		d.loadProfile()
	}
	r := d.oauth.Revoke
	if r == nil {
		return nil
	}
	token, hint := d.given[refreshToken], refreshToken
	if token == "" {
		token, hint = d.given[accessToken], accessToken
	}
	if token == "" {
		return nil
	}
	s := &shape{url: r.URL, method: r.Method, body: r.Body, params: r.Params, headers: r.Headers, drop: r.Drop}
	a, err := d.call(ctx, s, map[string]string{"token": token, "token_type_hint": hint})
	if err != nil {
		return err
	}
	if a.Status >= 200 && a.Status < 300 || a.Status == http.StatusNotFound || a.Status == http.StatusGone {
		return nil
	}
	return d.failed(a)
}
