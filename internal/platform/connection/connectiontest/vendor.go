package connectiontest

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// Vendor is an app's vendor with a sense for theft: each refresh token is good
// once. It implements connection.Authorizer, Checker and Stepper.
type Vendor struct {
	mu sync.Mutex
	// Lifetime of access tokens; 0: an hour. Slow is how long a refresh takes.
	Lifetime, Slow time.Duration
	// Reuse accepts the refresh token before the last again, as many vendors
	// do for a moment.
	Reuse bool
	// Fail, if set, is what refreshes end with; Whoami, what checks end with;
	// Answer, what checks and steps end with.
	Fail, Whoami, Answer error
	// Stale is an access token that the app does not accept any more.
	Stale string
	// Granted, if set, are the scopes of grants.
	Granted []string
	// Identity is whose account it is.
	Identity connection.Identity
	// Revoking, if set, is what revoking ends with.
	Revoking error

	issued    int
	refreshes int
	checks    int
	revoked   []string
	steps     int
	current   string // the refresh token that is good
	before    string
}

// Refreshes is how many refreshes reached the vendor.
func (v *Vendor) Refreshes() int { v.mu.Lock(); defer v.mu.Unlock(); return v.refreshes }

// Checks is how many times it was asked whose account it is.
func (v *Vendor) Checks() int { v.mu.Lock(); defer v.mu.Unlock(); return v.checks }

// Revoked are the access tokens that were revoked.
func (v *Vendor) Revoked() []string { v.mu.Lock(); defer v.mu.Unlock(); return v.revoked }

// StepCalls is how many times steps were made.
func (v *Vendor) StepCalls() int { v.mu.Lock(); defer v.mu.Unlock(); return v.steps }

// Set changes the vendor between calls.
func (v *Vendor) Set(change func(*Vendor)) { v.mu.Lock(); defer v.mu.Unlock(); change(v) }

// Restore makes a refresh token the good one again.
func (v *Vendor) Restore(token string) { v.mu.Lock(); defer v.mu.Unlock(); v.current = token }

// grant issues the next pair of tokens. v.mu is held.
func (v *Vendor) grant() *connection.Grant {
	v.issued++
	n := strconv.Itoa(v.issued)
	v.before, v.current = v.current, "refresh-"+n
	life := v.Lifetime
	if life == 0 {
		life = time.Hour
	}
	return &connection.Grant{
		Credentials: connection.Credentials{"access_token": "access-" + n, "refresh_token": v.current},
		ExpiresAt:   time.Now().Add(life).UTC().Truncate(time.Millisecond), Scopes: v.Granted,
	}
}

// Start implements connection.Authorizer.
func (v *Vendor) Start(_ context.Context, a *app.App, _ *app.Scheme, client *connection.Client, _ map[string]string,
	attempt *connection.Attempt,
) (string, error) {
	query := url.Values{"state": {attempt.State}, "redirect_uri": {attempt.Redirect}}
	if client != nil {
		query.Set("client_id", client.ID)
	}
	attempt.Extra = map[string]string{"endpoint": "token"}
	return "https://vendor.test/" + a.ID + "/authorize?" + query.Encode(), nil
}

// Finish implements connection.Authorizer: the code is "good".
func (v *Vendor) Finish(_ context.Context, _ *app.App, _ *app.Scheme, _ *connection.Client, _ map[string]string,
	attempt *connection.Attempt, callback url.Values,
) (*connection.Grant, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case callback.Get("error") != "":
		return nil, problem.New(problem.Forbidden, "sign_in_denied", "The user declined.")
	case callback.Get("code") != "good" || attempt.Verifier == "" || attempt.Extra["endpoint"] != "token":
		return nil, problem.New(problem.Unprocessable, "sign_in_failed", "The vendor does not know the code.")
	}
	return v.grant(), nil
}

// Exchange implements connection.Authorizer: keys are kept as they are.
func (v *Vendor) Exchange(_ context.Context, _ *app.App, _ *app.Scheme, _ *connection.Client, _ map[string]string,
	typed connection.Credentials,
) (*connection.Grant, error) {
	return &connection.Grant{Credentials: typed}, nil
}

// Refresh implements connection.Authorizer.
func (v *Vendor) Refresh(ctx context.Context, _ *app.App, _ *app.Scheme, _ *connection.Client, _ *connection.Connection,
	old connection.Credentials,
) (*connection.Grant, error) {
	v.mu.Lock()
	slow := v.Slow
	v.refreshes++
	v.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return nil, &connection.RefreshError{Class: connection.Temporary, Code: "timeout"}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Fail != nil {
		return nil, v.Fail
	}
	switch presented := old["refresh_token"]; {
	case presented == v.current:
		return v.grant(), nil
	case presented == v.before && v.Reuse && presented != "":
		grant := v.grant()
		v.before = ""
		return grant, nil
	}
	return nil, &connection.RefreshError{Class: connection.GrantOver, Status: 400, Code: "invalid_grant"}
}

// Revoke implements connection.Authorizer.
func (v *Vendor) Revoke(_ context.Context, _ *app.App, _ *app.Scheme, _ *connection.Client, _ *connection.Connection,
	old connection.Credentials,
) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Revoking != nil {
		return v.Revoking
	}
	v.revoked = append(v.revoked, old["access_token"])
	return nil
}

// Check implements connection.Checker. The key "wrong" opens nothing.
func (v *Vendor) Check(_ context.Context, _ *app.App, _ *app.Scheme, live *connection.Live) (connection.Identity,
	error,
) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checks++
	if key, _ := live.Values.Value("key"); key == "wrong" {
		return connection.Identity{}, Refusal("app_unauthorized")
	}
	if token, _ := live.Values.Value("access_token"); token != "" && token == v.Stale {
		return connection.Identity{}, Refusal("app_unauthorized")
	}
	if v.Whoami != nil {
		return connection.Identity{}, v.Whoami
	}
	return v.Identity, v.Answer
}

// Steps implements connection.Stepper.
func (v *Vendor) Steps(_ context.Context, _ *app.App, _ *app.Scheme, _ *connection.Live,
	steps []app.Step,
) (map[string]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steps++
	stored := map[string]string{}
	for _, step := range steps {
		for name := range step.Keep {
			stored[name] = "learned-" + name
		}
	}
	return stored, v.Answer
}

// Refusal is an app that refused with a code.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

// AppCode implements connection.Refusal.
func (r Refusal) AppCode() string { return string(r) }

// Notes is an app with a scheme of each kind.
func Notes() *app.App {
	return &app.App{
		ID: "notes", Name: "Notes", Who: &app.Who{Get: "/me"},
		Params: map[string]app.Param{
			"team":  {Match: "[a-z]+", Default: "main", Example: "acme"},
			"cloud": {Learned: true},
		},
		Schemes: []app.Scheme{
			{
				ID: "oauth2", Type: app.TypeOAuth2,
				OAuth: &app.OAuth{Scopes: app.Scopes{
					Default:  []string{"read"},
					Profiles: map[string][]string{"all": {"read", "write"}},
				}},
			},
			{ID: "key", Type: app.TypeKey, Fields: []app.Field{{Name: "key", Title: "Key", Secret: true}}},
		},
		Resolve: []app.Step{{Call: "GET /cloud", Keep: map[string]string{"cloud": "/id"}}},
		Release: []app.Step{{Call: "DELETE /hooks"}},
	}
}

// Catalog is a catalog of Notes, of an app by key alone, and of one that needs
// no connection.
func Catalog() connection.Apps {
	catalog, err := app.NewCatalog(Notes(),
		&app.App{
			ID: "keyed", Name: "Keyed", Who: &app.Who{Get: "/me"},
			Schemes: []app.Scheme{{
				ID: "key", Type: app.TypeKey,
				Fields: []app.Field{{Name: "key", Prefix: "sk_", Secret: true}},
			}},
		},
		&app.App{ID: "weather", Name: "Weather", Schemes: []app.Scheme{{ID: "none", Type: app.TypeNone}}},
		&app.App{
			ID: "other", Name: "Other",
			Schemes: []app.Scheme{{ID: "oauth2", Type: app.TypeOAuth2, OAuth: &app.OAuth{}}},
		})
	if err != nil {
		panic(fmt.Sprint("the catalogue of the tests: ", err))
	}
	return catalogue{catalog}
}

type catalogue struct{ *app.Catalog }

func (c catalogue) App(_ context.Context, _, id string) (*app.App, error) { return c.Catalog.App(id) }

// Clients are OAuth clients by app, the same for all accounts.
type Clients map[string]*connection.Client

// Find implements connection.Clients.
func (c Clients) Find(_ context.Context, _, appID string) (*connection.Client, error) {
	return c[appID], nil
}

// AppsWithClient implements connection.Clients.
func (c Clients) AppsWithClient(context.Context, string) (map[string]bool, error) {
	apps := map[string]bool{}
	for id, client := range c {
		apps[id] = client != nil
	}
	return apps, nil
}

// Registered implements connection.Clients.
func (c Clients) Registered(context.Context, string, string, string) (*connection.Client, error) {
	return nil, nil
}

// MarkBroken implements connection.Clients.
func (c Clients) MarkBroken(_ context.Context, client *connection.Client) error {
	client.Broken = true
	return nil
}
