package operation

import (
	"context"

	"ace/internal/platform/connection"
)

// OAuthClient is an OAuth client of the account, without its secret.
type OAuthClient struct {
	App         string `json:"app" example:"github"`
	ClientID    string `json:"client_id" example:"Iv1.8a61f9b3a7aba766"`
	RedirectURI string `json:"redirect_uri" doc:"Register it with the app's vendor."`
	Broken      bool   `json:"broken" doc:"The vendor no longer knows the client: set a new one."`
}

// OAuthClients are the account's OAuth clients.
type OAuthClients struct {
	Clients []OAuthClient `json:"oauth_clients"`
	Paged
}

// OAuthClientRequest is a client as the app's vendor issued it.
type OAuthClientRequest struct {
	ClientID string            `json:"client_id" minLength:"1" maxLength:"1000" example:"Iv1.8a61f9b3a7aba766"`
	Secret   string            `json:"client_secret,omitempty" maxLength:"20000" doc:"Left out: a public client."`
	Extra    map[string]string `json:"extra,omitempty" doc:"Further values that the app asks for, such as a developer token; host, where the app runs on servers of many owners: the one that issued the client. The client is shown to no other."`
}

// ListOAuthClients returns the account's own OAuth clients, by app.
func (s *Service) ListOAuthClients(ctx context.Context, c *Caller) (*OAuthClients, error) {
	if err := Authorize(c, ListOAuthClients); err != nil {
		return nil, err
	}
	all, err := s.Clients.List(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	out := &OAuthClients{Clients: []OAuthClient{}}
	for _, one := range all {
		if one.Issuer == "" { // those with an issuer were registered automatically
			out.Clients = append(out.Clients, s.showClient(one))
		}
	}
	return out, nil
}

// SetOAuthClient connects an app with an OAuth client of the account's own. Its
// problems are app_not_found (NotFound) and those of clients.Keeper.Keep.
func (s *Service) SetOAuthClient(ctx context.Context, c *Caller, appID string,
	in OAuthClientRequest,
) (*OAuthClient, error) {
	if err := Authorize(c, SetOAuthClient); err != nil {
		return nil, err
	}
	if _, err := s.Apps.App(ctx, c.Account, appID); err != nil {
		return nil, err
	}
	client := &connection.Client{
		App: appID, AccountID: c.Account, ID: in.ClientID, Secret: in.Secret, Extra: in.Extra,
	}
	if err := s.Clients.Store(ctx, c.Actor, client); err != nil {
		return nil, err
	}
	shown := s.showClient(client)
	return &shown, nil
}

// DeleteOAuthClient deletes the account's OAuth client of an app. Its problem is
// oauth_client_not_found (NotFound).
func (s *Service) DeleteOAuthClient(ctx context.Context, c *Caller, appID string) error {
	if err := Authorize(c, DeleteOAuthClient); err != nil {
		return err
	}
	return s.Clients.Delete(ctx, c.Actor, c.Account, appID)
}

func (s *Service) showClient(c *connection.Client) OAuthClient {
	return OAuthClient{App: c.App, ClientID: c.ID, RedirectURI: s.Connections.RedirectURI(c.App), Broken: c.Broken}
}
