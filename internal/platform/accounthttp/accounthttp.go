// Package accounthttp is what the operator's commands speak with a running
// server about accounts, keys and triggers, over a socket that only the owner of the
// process may open:
//
//	POST   /accounts                     ace account create
//	GET    /accounts                     ace account list
//	POST   /accounts/{name}/link         ace account link
//	POST   /accounts/{name}/disable      ace account disable
//	POST   /accounts/{name}/enable       ace account enable
//	GET    /accounts/{name}/redirect-urls  ace account redirects
//	PATCH  /accounts/{name}/redirect-urls  ace account redirects --add, --remove
//	POST   /accounts/{name}/keys         ace key create
//	GET    /accounts/{name}/keys         ace key list
//	DELETE /keys/{id}                    ace key revoke
//	GET    /accounts/{name}/triggers     ace trigger list
//	GET    /triggers/{id}                ace trigger show
//	POST   /triggers/{id}/replay         ace trigger replay
//	GET    /oauth-clients                ace oauth-client list
//	PUT    /oauth-clients/{app}          ace oauth-client set
//	DELETE /oauth-clients/{app}          ace oauth-client delete
package accounthttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/library"
	"ace/internal/platform/trigger"
)

// Account is an account as commands print it.
type Account struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	// DisabledAt is there while the account is disabled.
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
}

// NewAccount is an account that was just made.
type NewAccount struct {
	Account
	SignIn Link `json:"sign_in"`
}

// Link is a one-time address that signs the owner in.
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Accounts are all accounts.
type Accounts struct {
	Accounts []Account `json:"accounts"`
}

// AccountRequest names a new account.
type AccountRequest struct {
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

// KeyRequest are the settings of a new key.
type KeyRequest struct {
	Name        string     `json:"name,omitempty"`
	Permissions []string   `json:"permissions"`
	Restrict    Restrict   `json:"restrict,omitzero" required:"false"`
	Approval    string     `json:"approval,omitempty"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
}

// Restrict narrows a key.
type Restrict struct {
	Apps        []string `json:"apps,omitempty"`
	ReadOnly    bool     `json:"read_only_tools,omitempty"`
	RawRequests bool     `json:"raw_requests,omitempty"`
	Networks    []string `json:"ip_cidrs,omitempty"`
}

func (r Restrict) parse() (apikey.Restrictions, error) {
	networks, err := apikey.ParseNetworks(r.Networks, "/restrict/ip_cidrs")
	return apikey.Restrictions{
		Apps: r.Apps, ReadOnlyTools: r.ReadOnly, RawRequests: r.RawRequests,
		Networks: networks,
	}, err
}

// Key is a key as commands print it.
type Key struct {
	ID          string     `json:"id"`
	Secret      string     `json:"key,omitempty"`    // of a new one alone
	Client      string     `json:"client,omitempty"` // host of the MCP client that signed in
	Name        string     `json:"name"`
	Prefix      string     `json:"prefix"`
	Permissions []string   `json:"permissions"`
	Restrict    Restrict   `json:"restrict,omitzero"`
	Approval    string     `json:"approval"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
}

// Keys are the keys of an account.
type Keys struct {
	Keys []Key `json:"keys"`
}

// RedirectURLs are where sign-ins of an account may send browsers afterwards;
// none: anywhere.
type RedirectURLs struct {
	URLs []string `json:"redirect_urls"`
}

// RedirectURLsChange names addresses to add, and others to take off.
type RedirectURLsChange struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// Deps are what the handler works on.
type Deps struct {
	Accounts *account.Service
	Keys     *apikey.Service
	Library  *library.Library
	Clients  *clients.Clients
	Triggers *trigger.Service
	// SignIn builds the URL of a sign-in link, Redirect the one that is registered
	// with the vendor of an app.
	SignIn   func(secret string) string
	Redirect func(appID string) string
}

type server struct{ Deps }

// New returns the handler.
func New(d Deps) http.Handler {
	s := &server{d}
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "ACE control", "1", nil)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/accounts", ID: "createAccount",
		Summary: "Make an account", Status: http.StatusCreated,
	}, s.createAccount)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/accounts", ID: "listAccounts",
		Summary: "All accounts",
	}, s.listAccounts)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/accounts/{name}/link", ID: "linkAccount",
		Summary: "Make a sign-in link", Status: http.StatusCreated,
	}, s.link)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/accounts/{name}/disable", ID: "disableAccount", Summary: "Disable an account",
	}, s.change(s.Accounts.Disable))
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/accounts/{name}/enable", ID: "enableAccount", Summary: "Enable an account",
	}, s.change(s.Accounts.Enable))
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/accounts/{name}/redirect-urls",
		ID: "getRedirectURLs", Summary: "Where sign-ins may send browsers",
	}, s.redirects)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPatch, Path: "/accounts/{name}/redirect-urls",
		ID: "changeRedirectURLs", Summary: "Add and take off such addresses",
	}, s.changeRedirects)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/accounts/{name}/keys", ID: "createKey",
		Summary: "Create a key", Status: http.StatusCreated,
	}, s.createKey)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/accounts/{name}/keys", ID: "listKeys",
		Summary: "Keys of an account",
	}, s.listKeys)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodDelete, Path: "/keys/{id}", ID: "revokeKey",
		Summary: "Revoke a key",
	}, s.revokeKey)
	s.routeClients(api)
	s.routeTriggers(api)
	return mux
}

type out[T any] struct{ Body T }

type nameInput struct {
	Name string `path:"name"`
}

func (s *server) createAccount(ctx context.Context, in *struct{ Body AccountRequest }) (*out[NewAccount], error) {
	a, _, err := s.Accounts.Create(ctx, audit.Operator(), in.Body.Name, in.Body.Email)
	if err != nil {
		return nil, err
	}
	link, err := s.newLink(ctx, a)
	return &out[NewAccount]{NewAccount{wireAccount(a), link}}, err
}

func (s *server) newLink(ctx context.Context, a *account.Account) (Link, error) {
	secret, expires, err := s.Accounts.Link(ctx, audit.Operator(), a.ID)
	if err != nil {
		return Link{}, err
	}
	return Link{s.SignIn(secret), expires}, nil
}

func (s *server) listAccounts(ctx context.Context, _ *struct{}) (*out[Accounts], error) {
	found, err := s.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	o := &out[Accounts]{Accounts{[]Account{}}}
	for _, a := range found {
		o.Body.Accounts = append(o.Body.Accounts, wireAccount(a))
	}
	return o, nil
}

// change is an operation that changes an account by its name.
func (s *server) change(
	do func(context.Context, audit.Actor, string) (*account.Account, error),
) func(context.Context, *nameInput) (*out[Account], error) {
	return func(ctx context.Context, in *nameInput) (*out[Account], error) {
		a, err := do(ctx, audit.Operator(), in.Name)
		if err != nil {
			return nil, err
		}
		return &out[Account]{wireAccount(a)}, nil
	}
}

func (s *server) link(ctx context.Context, in *nameInput) (*out[Link], error) {
	a, err := s.Accounts.ByName(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	link, err := s.newLink(ctx, a)
	return &out[Link]{link}, err
}

func (s *server) redirects(ctx context.Context, in *nameInput) (*out[RedirectURLs], error) {
	a, err := s.Accounts.ByName(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	list, err := s.Accounts.RedirectURLs(ctx, a.ID)
	return &out[RedirectURLs]{RedirectURLs{list}}, err
}

func (s *server) changeRedirects(ctx context.Context, in *struct {
	Name string `path:"name"`
	Body RedirectURLsChange
},
) (*out[RedirectURLs], error) {
	a, err := s.Accounts.ByName(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	list, err := s.Accounts.EditRedirectURLs(ctx, audit.Operator(), a.ID, in.Body.Add, in.Body.Remove)
	return &out[RedirectURLs]{RedirectURLs{append([]string{}, list...)}}, err
}

func (s *server) createKey(ctx context.Context, in *struct {
	Name string `path:"name"`
	Body KeyRequest
},
) (*out[Key], error) {
	a, err := s.Accounts.ByName(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	permissions, err := apikey.ParsePermissions(in.Body.Permissions)
	if err != nil {
		return nil, err
	}
	restrict, err := in.Body.Restrict.parse()
	if err != nil {
		return nil, err
	}
	apps, err := s.Library.For(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if err := apps.CheckApps(restrict.Apps); err != nil {
		return nil, err
	}
	settings := apikey.Settings{
		Name: in.Body.Name, Permissions: permissions, Restrict: restrict,
		Approval: apikey.Approval(in.Body.Approval),
	}
	if settings.Name == "" {
		settings.Name = "made on the command line"
	}
	if in.Body.ExpiresAt != nil {
		settings.ExpiresAt = in.Body.ExpiresAt.UTC()
	}
	k, secret, err := s.Keys.Create(ctx, audit.Operator(), a.ID, settings)
	if err != nil {
		return nil, err
	}
	wire := wireKey(k)
	wire.Secret = secret
	return &out[Key]{wire}, nil
}

func (s *server) listKeys(ctx context.Context, in *nameInput) (*out[Keys], error) {
	a, err := s.Accounts.ByName(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	found, err := s.Keys.List(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	o := &out[Keys]{Keys{[]Key{}}}
	for _, k := range found {
		o.Body.Keys = append(o.Body.Keys, wireKey(k))
	}
	return o, nil
}

// revokeKey looks for the key in every account: the operator owns all.
func (s *server) revokeKey(ctx context.Context, in *struct {
	ID string `path:"id"`
},
) (*struct{}, error) {
	accounts, err := s.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		err := s.Keys.Revoke(ctx, audit.Operator(), a.ID, in.ID)
		if !problem.Is(err, "api_key_not_found") {
			return nil, err
		}
	}
	return nil, problem.New(problem.NotFound, "api_key_not_found",
		`There is no key with this id. "ace key list --account NAME" shows the keys of an account.`)
}

func wireAccount(a *account.Account) Account {
	wire := Account{ID: a.ID, Name: a.Name, CreatedAt: a.CreatedAt}
	if !a.DisabledAt.IsZero() {
		wire.DisabledAt = &a.DisabledAt
	}
	return wire
}

func wireKey(k *apikey.Key) Key {
	restrict := Restrict{
		Apps: k.Restrict.Apps, ReadOnly: k.Restrict.ReadOnlyTools, RawRequests: k.Restrict.RawRequests,
		Networks: k.Restrict.NetworkTexts(),
	}
	client := ""
	if k.Client != nil {
		client = k.Client.Host
	}
	return Key{
		Client: client,
		ID:     k.ID, Name: k.Name, Prefix: k.Prefix, Permissions: k.Permissions.Names(), Restrict: restrict,
		Approval: string(k.Approval), CreatedAt: k.CreatedAt,
		ExpiresAt: optional(k.ExpiresAt), LastUsedAt: optional(k.LastUsedAt), RevokedAt: optional(k.RevokedAt),
	}
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
