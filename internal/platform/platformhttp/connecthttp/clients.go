package connecthttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/connection"
	"ace/internal/platform/platformhttp/gate"
)

// OAuthClient is an OAuth client of the account, without its secret.
type OAuthClient struct {
	App         string `json:"app"`
	ClientID    string `json:"client_id"`
	RedirectURI string `json:"redirect_uri" doc:"Register it with the app's vendor."`
	Broken      bool   `json:"broken" doc:"The vendor does not know the client any more: set a new one."`
}

// OAuthClients are the account's OAuth clients.
type OAuthClients struct {
	Clients []OAuthClient `json:"oauth_clients"`
}

// OAuthClientRequest is a client as the app's vendor gave it.
type OAuthClientRequest struct {
	ClientID string            `json:"client_id" minLength:"1" maxLength:"1000"`
	Secret   string            `json:"client_secret,omitempty" maxLength:"20000"`
	Extra    map[string]string `json:"extra,omitempty" doc:"Further values that the app asks for, such as a developer token; where it runs on servers of many, the one that the client is of, as host. The client is shown to no other."`
}

func (f *Face) describeClients(api *openapi.API, base string, security []string) {
	tags := []string{"oauth-clients"}
	openapi.Handle(api, openapi.Operation{Method: http.MethodGet, Path: base + "/oauth-clients", ID: "listOAuthClients", Tags: tags, Security: security, Summary: "The account's own OAuth clients"}, f.listClients)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPut, Path: base + "/oauth-clients/{app}", ID: "setOAuthClient", Tags: tags, Security: security, Summary: "Connect an app by an OAuth client of your own",
		Description: "It goes before the operator's. Register the redirect_uri of the answer with the app's vendor. Connections that were made by another client end with their tokens.",
	}, f.setClient)
	openapi.Handle(api, openapi.Operation{Method: http.MethodDelete, Path: base + "/oauth-clients/{app}", ID: "deleteOAuthClient", Tags: tags, Security: security, Summary: "Forget an OAuth client"}, f.deleteClient)
}

func (f *Face) listClients(ctx context.Context, _ *struct{}) (*body[OAuthClients], error) {
	all, err := f.Clients.List(ctx, gate.From(ctx).Account)
	if err != nil {
		return nil, err
	}
	out := &body[OAuthClients]{OAuthClients{[]OAuthClient{}}}
	for _, c := range all {
		if c.Issuer == "" {
			out.Body.Clients = append(out.Body.Clients, f.wireClient(c))
		}
	}
	return out, nil
}

type setClientInput struct {
	App  string `path:"app" maxLength:"64"`
	Body OAuthClientRequest
}

func (f *Face) setClient(ctx context.Context, in *setClientInput) (*body[OAuthClient], error) {
	caller := gate.From(ctx)
	if _, err := f.Apps.App(ctx, caller.Account, in.App); err != nil {
		return nil, err
	}
	c := &connection.Client{App: in.App, AccountID: caller.Account, ID: in.Body.ClientID, Secret: in.Body.Secret, Extra: in.Body.Extra}
	if err := f.Clients.Keep(ctx, caller.Actor, c); err != nil {
		return nil, err
	}
	return &body[OAuthClient]{f.wireClient(c)}, nil
}

type deleteClientInput struct {
	App string `path:"app" maxLength:"64"`
}

func (f *Face) deleteClient(ctx context.Context, in *deleteClientInput) (*struct{}, error) {
	caller := gate.From(ctx)
	return nil, f.Clients.Delete(ctx, caller.Actor, caller.Account, in.App)
}

func (f *Face) wireClient(c *connection.Client) OAuthClient {
	return OAuthClient{App: c.App, ClientID: c.ID, RedirectURI: f.Connections.RedirectURI(c.App), Broken: c.Broken}
}
