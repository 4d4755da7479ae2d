package connection

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/app"
)

// Prefixes of ids.
const (
	idPrefix      = "con"
	sessionPrefix = "cs"
)

// Ports are what a Service calls.
type Ports struct {
	Store      Store
	Apps       Apps
	Clients    Clients
	Authorizer Authorizer
	Checker    Checker
	Stepper    Stepper
	Landings   Landings // nil: browsers are sent anywhere
	Notices    Notices  // nil: no notices of how sessions end
}

// Options tunes a Service.
type Options struct {
	BaseURL string // of the platform host, without a slash at the end
	// Replica names this process in leases. Default: random.
	Replica string
	// Log gets what the operator has to repair. Default: nothing is logged.
	Log *slog.Logger
	// Observer, if set, is notified of every refresh at a vendor.
	Observer Observer
	// Step, if set, is called between two durable steps; tests end the process
	// there.
	Step func(name string)
}

// Observer counts refreshes. It is called by many goroutines at the same time
// and must not block. class is empty if the vendor renewed the credentials.
type Observer interface {
	Refreshed(app string, class RefreshClass, elapsed time.Duration)
}

// Service connects apps and keeps their credentials fresh. It is safe for
// concurrent use, by any number of processes on one store whose clocks differ by
// less than 30 seconds.
type Service struct {
	Ports
	options Options
	sealer  *seal.Sealer
	renewal singleflight.Group

	mu      sync.Mutex
	pending map[string]time.Time // LastUsedAt that is not written yet, by id
	touched map[string]time.Time
}

// New returns a service that seals with box.
func New(p Ports, sealer *seal.Sealer, o *Options) *Service {
	s := &Service{Ports: p, sealer: sealer, pending: map[string]time.Time{}, touched: map[string]time.Time{}}
	if o != nil {
		s.options = *o
	}
	if s.options.Replica == "" {
		s.options.Replica = rand.Text()
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	if s.options.Step == nil {
		s.options.Step = func(string) {}
	}
	return s
}

// random is 256 bits as 43 characters.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Labels of digests: one for each kind of secret, so that none passes for
// another.
const (
	labelToken   = "connect token"
	labelStored  = "connect token digest"
	labelBrowser = "connect browser"
	labelState   = "connect state"
	labelFlow    = "connect flow"
)

func (s *Service) digest(label, secret string) string { return s.sealer.MAC(label, []byte(secret)) }

// Link is the URL of a session's page. It is a secret: its holder may connect.
// It follows from the session's id and the master key, so that it is kept
// nowhere.
func (s *Service) Link(sessionID string) string {
	return s.options.BaseURL + "/connect/" + s.token(sessionID)
}

func (s *Service) token(sessionID string) string { return s.digest(labelToken, sessionID) }

// RedirectURI is the address that is registered with the vendor of an app.
func (s *Service) RedirectURI(appID string) string {
	return s.options.BaseURL + "/oauth/callback/" + appID
}

// Connectable reports whether the account can connect the app here, and if not,
// why: oauth_client_missing, no_scheme.
func (s *Service) Connectable(ctx context.Context, accountID string, a *app.App) (ok bool, reason string, err error) {
	usable, err := s.usable(ctx, accountID, a)
	switch {
	case err != nil:
		return false, "", err
	case len(usable) > 0:
		return true, "", nil
	case len(a.Schemes) == 0:
		return false, reasonNoScheme, nil
	}
	return false, reasonClientMissing, nil
}

// ConnectableApps returns what Connectable reports, for many apps at the price of
// one lookup.
func (s *Service) ConnectableApps(ctx context.Context, accountID string) (
	connectable func(a *app.App) (ok bool, reason string), err error,
) {
	clients, err := s.Clients.AppsWithClient(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return func(a *app.App) (bool, string) {
		for i := range a.Schemes {
			if !a.Schemes[i].NeedsClient() || clients[a.ID] {
				return true, ""
			}
		}
		if len(a.Schemes) == 0 {
			return false, reasonNoScheme
		}
		return false, reasonClientMissing
	}, nil
}

// Reasons why an app cannot be connected.
const (
	reasonNoScheme      = "no_scheme"
	reasonClientMissing = "oauth_client_missing"
)

// usable are the schemes of an app that can be connected by here.
func (s *Service) usable(ctx context.Context, accountID string, a *app.App) ([]*app.Scheme, error) {
	var usable []*app.Scheme
	var client *Client
	var err error
	asked := false
	for i := range a.Schemes {
		scheme := &a.Schemes[i]
		if scheme.NeedsClient() {
			if !asked {
				asked = true
				if client, err = s.Clients.Find(ctx, accountID, a.ID); err != nil {
					return nil, err
				}
			}
			if client == nil {
				continue
			}
		}
		usable = append(usable, scheme)
	}
	return usable, nil
}

// NeedsNone reports whether the app can be used without connecting it.
func NeedsNone(a *app.App) bool {
	return slices.ContainsFunc(a.Schemes, func(s app.Scheme) bool { return s.Type == app.TypeNone })
}

// client returns the OAuth client that a scheme is used with; nil where it needs
// none. issuer names the one that was registered dynamically.
func (s *Service) client(ctx context.Context, accountID string, a *app.App, scheme *app.Scheme,
	issuer string,
) (*Client, error) {
	if !scheme.NeedsClient() {
		if issuer == "" {
			return nil, nil
		}
		client, err := s.Clients.Registered(ctx, accountID, a.ID, issuer)
		if err == nil && client == nil && accountID != "" {
			client, err = s.Clients.Registered(ctx, "", a.ID, issuer)
		}
		return client, err
	}
	client, err := s.Clients.Find(ctx, accountID, a.ID)
	if err == nil && client == nil {
		err = s.notConnectable(a)
	}
	return client, err
}

func (s *Service) notConnectable(a *app.App) error {
	return problem.New(problem.Conflict, "app_not_connectable",
		a.Name+
			" cannot be connected here yet: it needs an OAuth client. Register one with its vendor, with this "+
			"redirect_uri, and give its id and secret to the operator or set it for this account.").
		With("app", a.ID).With("connectable_reason", reasonClientMissing).With("redirect_uri",
		s.RedirectURI(a.ID)).Advise("ask_owner_for_permission")
}

// values are what templates may name of a client.
func (c *Client) values() map[string]string {
	if c == nil {
		return nil
	}
	values := maps.Clone(c.Extra)
	if values == nil {
		values = map[string]string{}
	}
	values["client_id"], values["client_secret"] = c.ID, c.Secret
	return values
}

// String keeps a client's secrets out of logs.
func (c *Client) String() string { return "client of " + c.App }

// GoString keeps a client's secrets out of logs.
func (c *Client) GoString() string { return c.String() }

// missing are the entries of want that are not in have.
func missing(want, have []string) []string {
	var out []string
	for _, one := range want {
		if !slices.Contains(have, one) {
			out = append(out, one)
		}
	}
	return out
}

// now is the time as columns keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
