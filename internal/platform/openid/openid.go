// Package openid signs people in by the operator's OpenID provider: it is the
// relying party of OpenID Connect Core 1.0, by the authorization code flow with
// PKCE (RFC 7636), state and nonce.
//
//	Begin: discovery document, read at the first use and once a day
//	   -> the provider's address with state, nonce and code challenge
//	Finish: iss of the callback (RFC 9207) -> code for tokens, sent once
//	   -> ID token: signature, iss, aud, exp, nonce
//	   -> the address, where it is verified; from userinfo if the token has none
//
// The provider may be unavailable when the platform starts: nothing is read before
// somebody signs in.
package openid

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"ace/internal/foundation/problem"
)

// Settings are how the operator's provider knows this platform.
type Settings struct {
	Issuer   string // address of the provider, exactly as it names itself
	ClientID string
	Secret   string
	Redirect string // our address that the provider sends people back to
}

// Provider is an OpenID provider. It is safe for concurrent use.
type Provider struct {
	settings Settings
	client   *http.Client

	mu      sync.Mutex
	known   *oidc.Provider
	readAt  time.Time
	methods []string // of showing a client's secret to the token endpoint
}

// freshFor is how long a discovery document is good.
const freshFor = 24 * time.Hour

// New returns a provider that is called by client.
func New(s Settings, client *http.Client) *Provider { return &Provider{settings: s, client: client} }

// Name is the host of the provider.
func (p *Provider) Name() string {
	u, err := url.Parse(p.settings.Issuer)
	if err != nil {
		return p.settings.Issuer
	}
	return u.Host
}

// Start returns the address that a person is sent to. It returns
// identity_unavailable (Unavailable) while the provider does not answer.
func (p *Provider) Start(ctx context.Context, state, nonce, verifier string) (string, error) {
	provider, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.config(provider).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), nil
}

// Finish turns what the provider sent back into whom it vouches for. The e-mail
// address is empty unless the provider says that it has verified it. It returns
// identity_unavailable (Unavailable), and identity_refused (Forbidden) for
// everything that does not prove who it is.
func (p *Provider) Finish(ctx context.Context, callback url.Values,
	nonce, verifier string,
) (issuer, subject, verifiedEmail string, err error) {
	if refused := p.refusal(callback); refused != nil {
		return "", "", "", refused
	}
	provider, err := p.discover(ctx)
	if err != nil {
		return "", "", "", err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.config(provider).Exchange(ctx, callback.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return "", "", "", exchangeFailed(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := provider.Verifier(&oidc.Config{ClientID: p.settings.ClientID}).Verify(ctx, raw)
	const unproven = "What the provider sent does not prove who you are. Begin again; if it happens again, tell the " +
		"operator."
	if err != nil {
		return "", "", "", fmt.Errorf("verifying an ID token: %w (%w)", refuse(unproven), err)
	}
	if id.Nonce == "" || subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return "", "", "", refuse(unproven)
	}
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}
	if err := id.Claims(&claims); err != nil {
		return "", "", "", fmt.Errorf("reading the claims of an ID token: %w", err)
	}
	if claims.Email == "" && provider.UserInfoEndpoint() != "" {
		info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err == nil && info.Subject == id.Subject {
			claims.Email, claims.Verified = info.Email, info.EmailVerified
		}
	}
	if !claims.Verified {
		claims.Email = ""
	}
	return id.Issuer, id.Subject, claims.Email, nil
}

// refusal reads what a callback says before anything is trusted.
func (p *Provider) refusal(callback url.Values) error {
	if iss := callback.Get("iss"); iss != "" && iss != p.settings.Issuer {
		return refuse("The answer came from another provider than the one that was asked. Begin again.")
	}
	switch code := callback.Get("error"); {
	case code == "access_denied":
		return refuse("You did not sign in at the provider, so you are not signed in here.")
	case code == "temporarily_unavailable", code == "server_error":
		return unavailable()
	case code != "":
		return refuse("The provider refused the sign-in. If it happens again, tell the operator.")
	case callback.Get("code") == "":
		return refuse("The provider sent no proof of who you are. Begin again.")
	}
	return nil
}

// discover returns the provider's endpoints and keys.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && time.Since(p.readAt) < freshFor {
		return p.known, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.settings.Issuer)
	if err != nil {
		if p.known != nil {
			return p.known, nil // it said yesterday where it is
		}
		return nil, fmt.Errorf("reading the discovery document of the OpenID provider (%w): %w", unavailable(), err)
	}
	var claims struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&claims); err != nil {
		return nil, fmt.Errorf("reading the discovery document of the OpenID provider: %w", err)
	}
	p.known, p.readAt, p.methods = found, time.Now(), claims.Methods
	return found, nil
}

// config is our side of the flow. How the secret is shown is settled before the
// code is sent: trying one way after the other would use the code up.
func (p *Provider) config(provider *oidc.Provider) *oauth2.Config {
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // the default of OpenID Connect
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.methods) > 0 && !slices.Contains(p.methods, "client_secret_basic") && slices.Contains(p.methods,
		"client_secret_post") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: p.settings.ClientID, ClientSecret: p.settings.Secret, Endpoint: endpoint,
		RedirectURL: p.settings.Redirect, Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// exchangeFailed distinguishes a refusal from an unavailable provider.
func exchangeFailed(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil &&
		refused.Response.StatusCode < http.StatusInternalServerError {
		return fmt.Errorf("exchanging the code (status %d, %q): %w", refused.Response.StatusCode, refused.ErrorCode,
			refuse("The provider did not accept the sign-in. Begin again; if it happens again, tell the operator."))
	}
	if refused != nil { // its text holds what the provider wrote
		return fmt.Errorf("exchanging the code: %w", unavailable())
	}
	return fmt.Errorf("exchanging the code: %w (%w)", unavailable(), err)
}

func refuse(detail string) error {
	return problem.New(problem.Forbidden, "identity_refused", detail)
}

func unavailable() error {
	return problem.New(problem.Unavailable, "identity_unavailable",
		"The OpenID provider does not answer at the moment. Try again in a minute, or sign in another way.").After(
		time.Minute)
}
