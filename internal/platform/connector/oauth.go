package connector

import (
	"context"
	"slices"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/openapiimport"
)

// OAuth is how tokens are had by a client that the account has registered with their issuer.
type OAuth struct {
	Grant        string   `json:"grant,omitempty"` // of package openapiimport; empty: GrantCode
	AuthorizeURL string   `json:"authorize_url,omitempty"`
	TokenURL     string   `json:"token_url,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	ClientAuth   string   `json:"client_auth,omitempty"` // how the client shows who it is: basic (also ""), post, none
}

// Clients keeps the OAuth clients of accounts; clients.Keeper is one.
type Clients interface {
	Store(ctx context.Context, by audit.Actor, c *connection.Client) error
	// Registered returns nil where there is none.
	Registered(ctx context.Context, accountID, appID, issuer string) (*connection.Client, error)
	// Delete returns oauth_client_not_found (NotFound).
	Delete(ctx context.Context, by audit.Actor, accountID, appID string) error
}

// Consents reports whether a person has to sign in elsewhere.
func (a *Auth) Consents() bool {
	return a.Kind == AuthOAuth || a.Kind == AuthOAuth2 && a.OAuth.Grant != openapiimport.GrantClient
}

// checkOAuth judges what a connector's own OAuth is set to. Addresses may be
// missing: they are looked for in the document.
func (a *Auth) checkOAuth(allowed func(string) error) error {
	o := &a.OAuth
	if o.Grant == "" {
		o.Grant = openapiimport.GrantCode
	}
	switch {
	case o.Grant != openapiimport.GrantCode && o.Grant != openapiimport.GrantClient:
		return invalid("/auth/grant", "grant is authorization_code or client_credentials.")
	case o.ClientAuth != "" && !slices.Contains([]string{app.ClientBasic, app.ClientPost, app.ClientNone},
		o.ClientAuth):
		return invalid("/auth/client_auth", "client_auth is basic, post or none.")
	case len(o.Scopes) > maxPatterns || slices.ContainsFunc(o.Scopes,
		func(s string) bool { return !app.ScopeToken(s) }):
		return invalid("/auth/scopes", "At most 100 scopes, each of visible ASCII characters in an entry of its own.")
	}
	if o.Grant == openapiimport.GrantClient {
		o.AuthorizeURL = ""
	}
	for pointer, address := range map[string]string{
		"/auth/authorize_url": o.AuthorizeURL,
		"/auth/token_url":     o.TokenURL,
	} {
		if address == "" {
			continue
		}
		if err := checkAddress(pointer, address, allowed); err != nil {
			return err
		}
	}
	return nil
}

// scheme is the OAuth of a connector as an app's.
func (a *Auth) scheme(s *app.Scheme) {
	o := a.OAuth
	method := o.ClientAuth
	if method == "" {
		method = app.ClientBasic
	}
	s.Type = app.TypeOAuth2
	s.OAuth = &app.OAuth{
		Authorize: app.Authorize{URL: escape(o.AuthorizeURL)}, Token: app.Token{URL: escape(o.TokenURL)},
		Client: app.ClientAuth{Method: method}, Scopes: app.Scopes{Default: o.Scopes},
	}
	if o.Grant == openapiimport.GrantClient {
		s.Type = app.TypeClient
		s.Fields = []app.Field{
			{Name: "client_id", Title: "Client id"},
			{Name: "client_secret", Title: "Client secret", Secret: true, Optional: method == app.ClientNone},
		}
	}
}

// completeOAuth looks in the document for the addresses that the caller left out.
// Its problems are invalid_request, and those of reading the document.
func (s *Service) completeOAuth(ctx context.Context, c *Connector, document []byte) error {
	auth := &c.Settings.Auth
	if auth.Kind != AuthOAuth2 || auth.OAuth.TokenURL != "" && (auth.OAuth.AuthorizeURL != "" || !auth.Consents()) {
		return nil
	}
	if document == nil && c.Settings.Document != "" {
		var err error
		if document, err = s.Fetcher.Fetch(ctx, c.Settings.Document, openapiimport.MaxBytes); err != nil {
			return err
		}
	}
	if document != nil {
		flows, err := openapiimport.Flows(document, c.Settings.Document)
		if err != nil {
			return err
		}
		for _, f := range flows {
			if f.Grant == auth.OAuth.Grant {
				auth.addFlow(f)
				return auth.checkOAuth(s.Fetcher.Allowed)
			}
		}
	}
	return invalid("/auth/token_url",
		"No document says where tokens of this kind come from: send token_url, and authorize_url for "+
			"authorization_code.")
}

// addFlow completes the OAuth with a flow of a document; what the caller sent
// stays.
func (a *Auth) addFlow(f openapiimport.Flow) {
	if a.OAuth.TokenURL == "" {
		a.OAuth.TokenURL = f.TokenURL
	}
	if a.OAuth.AuthorizeURL == "" {
		a.OAuth.AuthorizeURL = f.AuthorizeURL
	}
	if len(a.OAuth.Scopes) == 0 {
		a.OAuth.Scopes = f.Scopes
	}
}

// keepClient keeps the OAuth client of a connector whose people consent.
// Another's, of an auth before, is forgotten.
func (s *Service) keepClient(ctx context.Context, by audit.Actor, c *Connector, secret Secret) error {
	auth := c.Settings.Auth
	if auth.Kind != AuthOAuth2 || !auth.Consents() {
		return s.dropClient(ctx, by, c)
	}
	if secret.ClientID == "" || secret.ClientSecret == "" && auth.OAuth.ClientAuth != app.ClientNone {
		return incomplete()
	}
	return s.Clients.Store(ctx, by,
		&connection.Client{App: c.Slug, AccountID: c.AccountID, ID: secret.ClientID, Secret: secret.ClientSecret})
}

func (s *Service) dropClient(ctx context.Context, by audit.Actor, c *Connector) error {
	if s.Clients == nil {
		return nil
	}
	if err := s.Clients.Delete(ctx, by, c.AccountID, c.Slug); err != nil && !problem.Is(err, "oauth_client_not_found") {
		return err
	}
	return nil
}

func incomplete() error {
	return invalid("/auth",
		"The credentials are not complete: bearer needs token; header and api_key need value; basic needs username "+
			"and password; oauth2 needs client_id and client_secret.")
}

// RedirectURI is the URL that an account registers with the issuer of a
// connector's tokens; empty where no user consents.
func (s *Service) RedirectURI(c *Connector) string {
	if c.Settings.Auth.Kind != AuthOAuth2 || !c.Settings.Auth.Consents() {
		return ""
	}
	return s.Connections.RedirectURI(c.Slug)
}
