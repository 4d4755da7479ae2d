package accounthttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// OAuthClient is an OAuth client of the operator, for all accounts, without its
// secret.
type OAuthClient struct {
	App      string `json:"app"`
	ClientID string `json:"client_id"`
	// RedirectURI is registered with the vendor of the app.
	RedirectURI string `json:"redirect_uri"`
	// Broken says that the vendor refused the client.
	Broken bool `json:"broken,omitempty"`
}

// OAuthClients are the OAuth clients of the operator, by app.
type OAuthClients struct {
	Clients []OAuthClient `json:"oauth_clients"`
}

// OAuthClientRequest is a client as the vendor of the app issued it.
type OAuthClientRequest struct {
	ClientID string            `json:"client_id"`
	Secret   string            `json:"client_secret,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"` // additional values that the app requires
}

type clientInput struct {
	App string `path:"app"`
}

func (s *server) routeClients(api *openapi.API) {
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/oauth-clients", ID: "listClients",
		Summary: "OAuth clients of the operator",
	}, s.listClients)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPut, Path: "/oauth-clients/{app}", ID: "setClient",
		Summary: "Set the OAuth client of an app",
	}, s.setClient)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodDelete, Path: "/oauth-clients/{app}", ID: "deleteClient",
		Summary: "Delete the OAuth client of an app",
	}, s.deleteClient)
}

func (s *server) listClients(ctx context.Context, _ *struct{}) (*out[OAuthClients], error) {
	found, err := s.Clients.List(ctx, "")
	if err != nil {
		return nil, err
	}
	o := &out[OAuthClients]{OAuthClients{[]OAuthClient{}}}
	for _, c := range found {
		if c.Issuer == "" { // the others were registered by this program
			o.Body.Clients = append(o.Body.Clients, s.wireClient(c))
		}
	}
	return o, nil
}

func (s *server) setClient(ctx context.Context, in *struct {
	App  string `path:"app"`
	Body OAuthClientRequest
},
) (*out[OAuthClient], error) {
	a, err := s.Library.Shared().Catalog.App(in.App)
	if problem.Is(err, "app_not_found") {
		return nil, s.Library.Shared().CheckApps([]string{in.App}) // names the nearest
	}
	if err != nil {
		return nil, err
	}
	if !takesClient(a) {
		return nil, problem.New(problem.Conflict, "no_oauth_client_needed",
			a.Name+" is not connected with an OAuth client of the operator.")
	}
	c := &connection.Client{App: a.ID, ID: in.Body.ClientID, Secret: in.Body.Secret, Extra: in.Body.Extra}
	if err := s.Clients.Store(ctx, audit.Operator(), c); err != nil {
		return nil, err
	}
	return &out[OAuthClient]{s.wireClient(c)}, nil
}

// takesClient reports whether one way to connect an app needs an OAuth client.
func takesClient(a *app.App) bool {
	for i := range a.Schemes {
		if a.Schemes[i].NeedsClient() {
			return true
		}
	}
	return false
}

func (s *server) deleteClient(ctx context.Context, in *clientInput) (*struct{}, error) {
	return nil, s.Clients.Delete(ctx, audit.Operator(), "", in.App)
}

func (s *server) wireClient(c *connection.Client) OAuthClient {
	return OAuthClient{App: c.App, ClientID: c.ID, RedirectURI: s.Redirect(c.App), Broken: c.Broken}
}
