package oauthclient

import (
	"context"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// jwt makes a token of a key: an assertion that is exchanged (RFC 7523, 2.1), or
// that is the token itself.
func (d *exchange) jwt(ctx context.Context) error {
	use := *d.scheme.JWT
	if use.Key == "" {
		use.Key = "{private_key}"
	}
	signed, expires, err := d.sign(&use, map[string]any{})
	if err != nil {
		if failed := asFailed(err); failed != nil && d.client == nil { // the person typed the key
			failed.Class = connection.GrantOver
		}
		return err
	}
	if use.Grant == nil {
		d.grant.ExpiresAt = expires
		return d.storeToken(accessToken, signed)
	}
	d.set("assertion", signed)
	d.grant.ExpiresAt = time.Time{}
	if err := d.steps(ctx, []app.Step{*use.Grant}, false); err != nil {
		return err
	}
	if d.given[accessToken] == "" {
		return &connection.RefreshError{Class: connection.Unknown, Code: codeNoToken}
	}
	return nil
}
