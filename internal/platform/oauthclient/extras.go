package oauthclient

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"
)

// A token of Extra is in the credentials under its name; what renews it and
// its expiry are stored with it.
const (
	extraRefresh = "_refresh_token"
	extraExpires = "_expires_at" // Unix seconds
)

// tryAgain is when a further token that could not be renewed is tried again.
const tryAgain = 10 * time.Minute

// asFailed is the failure of a vendor inside an error, or nil.
func asFailed(err error) *connection.RefreshError {
	failed, _ := errors.AsType[*connection.RefreshError](err)
	return failed
}

// extraTokens are the refresh tokens of further tokens, by name.
func (d *exchange) extraTokens() map[string]string {
	tokens := map[string]string{}
	for name := range d.oauth.Extra {
		if old := d.grant.Credentials[name+extraRefresh]; old != "" {
			tokens[name] = old
		}
	}
	return tokens
}

// extras makes the further tokens of a definition. previous are those that a
// refresh starts from; nil when there were none before. The grant ends with the
// first of its tokens that can be renewed.
func (d *exchange) extras(ctx context.Context, previous map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(d.oauth.Extra)) {
		extra := d.oauth.Extra[name]
		err := d.extra(ctx, name, &extra, previous[name])
		failed := asFailed(err)
		switch {
		case err == nil:
		case failed == nil || extra.Fatal:
			return err
		case failed.Class == connection.Temporary:
			d.grant.Credentials[name+extraExpires] = strconv.FormatInt(time.Now().Add(tryAgain).Unix(), 10)
		default:
			delete(d.grant.Credentials, name)
			delete(d.grant.Credentials, name+extraRefresh)
			delete(d.grant.Credentials, name+extraExpires)
		}
		at, err := strconv.ParseInt(d.grant.Credentials[name+extraExpires], 10, 64)
		if err == nil && (d.grant.ExpiresAt.IsZero() || time.Unix(at, 0).Before(d.grant.ExpiresAt)) {
			d.grant.ExpiresAt = time.Unix(at, 0).UTC()
		}
	}
	return nil
}

// extra makes one further token: by a grant of its own, by its own refresh
// token, or out of the response that the main token came with.
func (d *exchange) extra(ctx context.Context, name string, extra *app.ExtraToken, old string) error {
	s := d.shapeOfRefresh()
	s.url, s.params, s.drop = cmp.Or(extra.URL, s.url), nil, nil
	standard := map[string]string{}
	switch {
	case len(extra.Grant) > 0:
		s.params = extra.Grant
	case old != "" && extra.Refresh == "independent":
		standard = map[string]string{"grant_type": "refresh_token", "refresh_token": old}
	default:
		return d.within(name, extra)
	}
	a, err := d.call(ctx, s, standard)
	if err != nil {
		return err
	}
	if !d.granted(a) {
		return d.failed(a)
	}
	if len(extra.Grant) > 0 { // the main refresh token may have been spent on it
		if err := d.storeRefreshToken(d.field(a, refreshToken),
			rotation{d.oauth.Refresh.Rotation, d.grant.Credentials[refreshToken]}); err != nil {
			return err
		}
	}
	return d.storeExtra(name, a, len(extra.Grant) == 0, true)
}

// within reads a further token out of the last token response.
func (d *exchange) within(name string, extra *app.ExtraToken) error {
	inside, ok := app.Pick(d.last, extra.Path)
	if extra.Path == "" || !ok {
		if d.grant.Credentials[name] != "" {
			return nil // a refresh of the main token alone
		}
		return &connection.RefreshError{Class: connection.Unknown, Code: "token_missing:" + name}
	}
	return d.storeExtra(name, &reply.Reply{Document: inside}, extra.Refresh == "independent",
		extra.Refresh == "independent")
}

// keepExtra keeps a further token, with what renews it and, if it is renewed,
// when it ends.
func (d *exchange) storeExtra(name string, a *reply.Reply, withRefresh, withEnd bool) error {
	access := a.At("/" + accessToken)
	if access == "" {
		access = d.field(a, accessToken)
	}
	if access == "" {
		return &connection.RefreshError{Class: connection.Unknown, Status: a.Status, Code: "token_missing:" + name}
	}
	if err := d.storeToken(name, access); err != nil {
		return err
	}
	if fresh := a.At("/" + refreshToken); withRefresh && fresh != "" {
		if err := d.storeToken(name+extraRefresh, fresh); err != nil {
			return err
		}
	}
	delete(d.grant.Credentials, name+extraExpires)
	if at := reply.Ends(a.At("/expires_in"), &app.Expires{}, time.Now()); withEnd && !at.IsZero() {
		d.grant.Credentials[name+extraExpires] = strconv.FormatInt(at.Unix(), 10)
	}
	return nil
}
