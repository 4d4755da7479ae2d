package oauthclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// HTTPClient sends requests: the egress client for OAuth. It must not follow
// redirects.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Registrations keeps clients that were registered dynamically (RFC 7591), by
// account, app and issuer. clients.Keeper implements it.
type Registrations interface {
	// Registered returns nil where there is none.
	Registered(ctx context.Context, accountID, appID, issuer string) (*connection.Client, error)
	// Store keeps a client in place of one of the same account, app and issuer.
	Store(ctx context.Context, by audit.Actor, client *connection.Client) error
	// MarkBroken notes that the issuer does not know a client any more, if it is
	// still the one with this id.
	MarkBroken(ctx context.Context, client *connection.Client) error
}

// Options tunes a Client.
type Options struct {
	// PlatformURL is the public address of the platform host, without a slash at
	// the end. Where it begins with https://, our client id metadata document
	// is published there and MCP sign-ins use it. Empty: they register dynamically.
	PlatformURL string
	// Name is what vendors call us on their consent pages. Default "ACE".
	Name string
	// Registrations outlive the sign-in that made them. Nil: each sign-in
	// registers for itself.
	Registrations Registrations
	// Apps replace the client for some apps, by id: those whose servers only the
	// operator can name.
	Apps map[string]HTTPClient
	// Certified returns a client that shows a client certificate, for token
	// endpoints that ask for one (RFC 8705). Nil: such apps cannot be connected.
	Certified func(tls.Certificate) (HTTPClient, error)
}

// Client implements connection.Authorizer and connection.Stepper. It is safe
// for concurrent use.
type Client struct {
	httpClient HTTPClient
	options    Options
}

// New returns a client that calls out through httpClient.
func New(httpClient HTTPClient, o *Options) *Client {
	c := &Client{httpClient: httpClient}
	if o != nil {
		c.options = *o
	}
	if c.options.Name == "" {
		c.options.Name = "ACE"
	}
	return c
}

// httpClientOf returns the client for an app.
func (c *Client) httpClientOf(a *app.App) HTTPClient {
	if own, ok := c.options.Apps[a.ID]; ok {
		return own
	}
	return c.httpClient
}

// Start implements connection.Authorizer.
func (c *Client) Start(ctx context.Context, a *app.App, s *app.Scheme, client *connection.Client,
	params map[string]string, attempt *connection.Attempt,
) (string, error) {
	d, err := c.newExchange(a, s, client, params, nil)
	if err != nil {
		return "", err
	}
	if s.NeedsClient() && client == nil {
		return "", clientMissing(a)
	}
	if attempt.Extra == nil {
		attempt.Extra = map[string]string{}
	}
	start := map[string]func(context.Context, *connection.Attempt) (string, error){
		app.TypeOAuth2: d.start, app.TypeOAuth1: d.startOAuth1, app.TypeMCP: d.startMCP,
	}[s.Type]
	if start == nil {
		return "", fmt.Errorf("scheme %s of %s is not begun at an authorization server", s.ID, a.ID)
	}
	address, err := start(ctx, attempt)
	return address, signIn(a, err)
}

// Finish implements connection.Authorizer.
func (c *Client) Finish(ctx context.Context, a *app.App, s *app.Scheme, client *connection.Client,
	params map[string]string, attempt *connection.Attempt, callback url.Values,
) (*connection.Grant, error) {
	d, err := c.newExchange(a, s, client, params, nil)
	if err != nil {
		return nil, err
	}
	if s.NeedsClient() && client == nil {
		return nil, clientMissing(a)
	}
	d.addSecret(attempt.Verifier, callback.Get(d.oauth.Callback.Code), callback.Get("code"))
	finish := map[string]func(context.Context, *connection.Attempt, url.Values) error{
		app.TypeOAuth2: d.finish, app.TypeOAuth1: d.finishOAuth1, app.TypeMCP: d.finishMCP,
	}[s.Type]
	if finish == nil {
		return nil, fmt.Errorf("scheme %s of %s has no callback", s.ID, a.ID)
	}
	if err := finish(ctx, attempt, callback); err != nil {
		return nil, signIn(a, err)
	}
	return &d.grant, nil
}

// Exchange implements connection.Authorizer. What the user can fix is
// invalid_fields, with a pointer to each field, or credentials_refused (both
// Unprocessable).
func (c *Client) Exchange(ctx context.Context, a *app.App, s *app.Scheme, client *connection.Client,
	params map[string]string, typed connection.Credentials,
) (*connection.Grant, error) {
	checked, err := checkTyped(s, typed)
	if err != nil {
		return nil, err
	}
	d, err := c.newExchange(a, s, client, params, checked)
	if err != nil {
		return nil, err
	}
	maps.Copy(d.grant.Credentials, checked)
	switch s.Type {
	case app.TypeKey, app.TypeBasic, app.TypeSigV4, app.TypeNone, app.TypeOAuth1:
	case app.TypeClient, app.TypeJWT, app.TypeExchange:
		err = d.renew(ctx)
	default:
		return nil, fmt.Errorf("scheme %s of %s is not connected by typing", s.ID, a.ID)
	}
	if err != nil {
		return nil, refused(a, err)
	}
	return &d.grant, nil
}

// Refresh implements connection.Authorizer. The grant it returns is whole: what
// the vendor did not renew is taken over from old, and a refresh token that was
// replaced is in previous_refresh_token.
func (c *Client) Refresh(ctx context.Context, a *app.App, s *app.Scheme, client *connection.Client,
	conn *connection.Connection, old connection.Credentials,
) (*connection.Grant, error) {
	d, err := c.newExchange(a, s, client, conn.Params, old)
	if err != nil {
		return nil, err
	}
	maps.Copy(d.grant.Credentials, old)
	if err := d.refresh(ctx, conn); err != nil {
		return nil, refreshing(err)
	}
	return &d.grant, nil
}

// Revoke implements connection.Authorizer. It returns nil where the vendor
// offers no way to end a grant. Steps before the end (app.App.Release) are not
// made here.
func (c *Client) Revoke(ctx context.Context, a *app.App, s *app.Scheme, client *connection.Client,
	conn *connection.Connection, old connection.Credentials,
) error {
	d, err := c.newExchange(a, s, client, conn.Params, old)
	if err != nil {
		return err
	}
	if err := d.revoke(ctx); err != nil {
		return fmt.Errorf("revoking at %s: %w", a.ID, refreshing(err))
	}
	return nil
}

// refreshing makes sure that what a vendor did reads as a RefreshError, whatever
// it was wrapped in on the way, and leaves faults of ours as they are.
func refreshing(err error) error {
	if failed, ok := errors.AsType[*connection.RefreshError](err); ok {
		return failed
	}
	return err
}
