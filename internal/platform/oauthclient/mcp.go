package oauthclient

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/discovery"
)

// What a sign-in at an MCP server keeps: first in the attempt, then beside the
// tokens, since they belong to this client at this token endpoint and to no
// other that discovery would find later.
const (
	mcpToken    = "mcp_token_url"
	mcpRevoke   = "mcp_revoke_url"
	mcpResource = "mcp_resource"
	mcpIssuer   = "mcp_issuer"
	mcpClient   = "mcp_client_id"
	mcpSecret   = "mcp_client_secret"
	mcpAuth     = "mcp_client_auth"
	mcpOwn      = "mcp_client_registered" // "1": by us, not by the operator

	extraIssRequired = "iss_required"
)

// offlineAccess is the scope of OpenID for a refresh token.
const offlineAccess = "offline_access"

// beginMCP finds who authorizes for a server and begins there.
func (d *exchange) startMCP(ctx context.Context, attempt *connection.Attempt) (string, error) {
	address, err := d.address(d.scheme.URL)
	if err != nil {
		return "", err
	}
	s, err := discovery.Find(ctx, d.c.httpClientOf(d.app), address)
	if err != nil {
		return "", err
	}
	client, reused, err := d.identify(ctx, s, attempt)
	if err != nil {
		return "", err
	}
	there, err := d.startWith(ctx, s, client, attempt)
	if err != nil || !reused || !d.forgotten(ctx, there) {
		return there, err
	}
	if client, err = d.register(ctx, s, attempt); err != nil {
		return "", err
	}
	return d.startWith(ctx, s, client, attempt)
}

// beginAs returns where a person consents to a client of ours.
func (d *exchange) startWith(ctx context.Context, s *discovery.Server, client *connection.Client,
	attempt *connection.Attempt,
) (string, error) {
	attempt.Issuer = s.Issuer
	if s.IssInCallback {
		attempt.Extra[extraIssRequired] = "1"
	}
	maps.Copy(attempt.Extra,
		map[string]string{mcpToken: s.Token, mcpRevoke: s.Revoke, mcpResource: s.Resource, mcpIssuer: s.Issuer})
	d.noteClient(client, attempt.Extra)
	d.profile(attempt.Extra)
	d.oauth.Authorize = app.Authorize{
		URL:    literal(s.Authorize),
		Params: map[string]string{"resource": literal(s.Resource)},
	}
	if attempt.Scopes == nil {
		attempt.Scopes = wanted(s, d.scheme.OAuth)
	}
	// granted only where the person is asked (OpenID Connect Core 1.0, 11)
	if slices.Contains(attempt.Scopes, offlineAccess) {
		d.oauth.Authorize.Params["prompt"] = "consent"
	}
	d.oauth.Scopes.OmitEmpty = true
	return d.start(ctx, attempt)
}

// wanted are the scopes to ask for: those of the definition, else those that the
// server names; and lasting access where the issuer has a scope for it.
func wanted(s *discovery.Server, own *app.OAuth) []string {
	scopes := slices.Clone(s.Scopes)
	if own != nil && len(own.Scopes.Default) > 0 {
		scopes = slices.Clone(own.Scopes.Default)
	}
	if slices.Contains(s.IssuerScopes, offlineAccess) && !slices.Contains(scopes, offlineAccess) {
		scopes = append(scopes, offlineAccess)
	}
	return scopes
}

// noteClient keeps who we are at the issuer.
func (d *exchange) noteClient(client *connection.Client, extra map[string]string) {
	extra[mcpClient] = client.ID
	extra[mcpSecret] = client.Secret
	extra[mcpAuth] = client.Extra[registeredAuth]
	if client.Issuer != "" {
		extra[mcpOwn] = "1"
	}
}

// profile makes the profile of the issuer out of what was kept, and ourselves
// the client that is named there.
func (d *exchange) profile(stored map[string]string) {
	o := app.OAuth{}
	if d.scheme.OAuth != nil {
		o = *d.scheme.OAuth
	}
	resource := map[string]string{"resource": literal(stored[mcpResource])}
	o.Token.URL, o.Token.Params, o.Refresh.Params = literal(stored[mcpToken]), resource, resource
	o.Refresh.URL = ""
	switch stored[mcpAuth] {
	case "client_secret_basic":
		o.Client = app.ClientAuth{Method: app.ClientBasic}
	case "client_secret_post":
		o.Client = app.ClientAuth{Method: app.ClientPost}
	case app.ClientNone:
		o.Client = app.ClientAuth{Method: app.ClientNone}
	}
	if stored[mcpRevoke] != "" {
		o.Revoke = &app.Revoke{URL: literal(stored[mcpRevoke])}
	}
	d.oauth = &o
	d.set("client_id", stored[mcpClient])
	d.set("client_secret", stored[mcpSecret])
	if stored[mcpOwn] == "" && d.client != nil && d.client.ID == stored[mcpClient] { // its secret may be another since
		d.set("client_secret", d.client.Secret)
	}
	d.addSecret(stored[mcpSecret])
}

// literal is a template that means this text.
func literal(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
}

func (d *exchange) finishMCP(ctx context.Context, attempt *connection.Attempt, callback url.Values) error {
	if attempt.Extra[mcpToken] == "" {
		return fmt.Errorf("the sign-in at %s was not begun", d.app.ID)
	}
	d.profile(attempt.Extra)
	for _, name := range []string{mcpToken, mcpRevoke, mcpResource, mcpIssuer, mcpClient, mcpSecret, mcpAuth, mcpOwn} {
		if value := attempt.Extra[name]; value != "" {
			d.grant.Credentials[name] = value
		}
	}
	err := d.finish(ctx, attempt, callback)
	if failed := asFailed(err); failed != nil && failed.Class == connection.ClientBroken &&
		attempt.Extra[mcpOwn] != "" {
		d.lost(ctx, attempt.AccountID, attempt.Issuer, attempt.Extra[mcpClient])
	}
	return err
}

// remembered restores the profile of the issuer that the tokens are from.
func (d *exchange) loadProfile() { d.profile(d.given) }

// refreshMCP renews at the issuer that the tokens are from. A registration of
// ours that the issuer has forgotten ends the grant: the next sign-in registers
// again, since no one else could fix it.
func (d *exchange) refreshMCP(ctx context.Context, conn *connection.Connection) error {
	if d.given[mcpToken] == "" {
		return &connection.RefreshError{Class: connection.GrantOver, Code: codeNotRenewable}
	}
	if d.given[mcpOwn] == "" {
		client, err := d.byHand(ctx, conn.AccountID)
		if err != nil {
			return err
		}
		d.client = client
	}
	d.loadProfile()
	err := d.refresh2(ctx, conn)
	if failed := asFailed(err); failed != nil && failed.Class == connection.ClientBroken && d.given[mcpOwn] != "" {
		failed.Class = connection.GrantOver
		d.lost(ctx, conn.AccountID, d.given[mcpIssuer], d.given[mcpClient])
	}
	return err
}
