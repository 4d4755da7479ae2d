package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
)

// storedCredentials is a connection with its credentials open. It is shared between callers:
// it is never changed.
type storedCredentials struct {
	c      *Connection
	app    *app.App
	scheme *app.Scheme
	client *Client
	in     *contents
}

// Use returns a connection with credentials that are valid for a call now. A
// token about to end is renewed first, once for all callers on all replicas;
// while its vendor is unavailable the old token serves to its end. Its problems:
// connection_not_found (NotFound); connection_disabled, reconnect_required,
// app_not_connectable, client_misconfigured (Conflict); provider_unavailable
// (Unavailable), with the time to come back.
//
// Where the app responds with 401 all the same, pass the Live to Refused.
func (s *Service) Use(ctx context.Context, accountID, id string) (*Live, error) {
	k, err := s.load(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	if err := k.allowed(); err != nil {
		return nil, err
	}
	if !fresh(k.c, k.scheme, time.Now()) {
		if k, err = s.freshen(ctx, k); err != nil {
			return nil, err
		}
	}
	s.noteUse(id)
	return k.live(s), nil
}

// Refused returns what to repeat a call with that the app answered 401 to: the
// credentials that somebody renewed meanwhile, or ones that are renewed now. nil
// without an error means that there are no others: the app's response is final. Of
// many callers with one version, one renews. Its problems are those of Use;
// reconnect_required says that the connection has ended: the vendor said so, or
// the app does not take credentials that cannot be newer.
func (s *Service) Refused(ctx context.Context, live *Live) (*Live, error) {
	if live.Connection.ID == "" {
		return nil, nil
	}
	newer, newest, err := s.newer(ctx, live)
	if newest == nil || err != nil {
		return newer, err
	}
	return nil, s.confirmRefusal(ctx, newest)
}

// newer returns credentials after those of live; else newest, where there can be
// none: a key, or a token that has only just been renewed.
func (s *Service) newer(ctx context.Context, live *Live) (after *Live, newest *storedCredentials, err error) {
	k, err := s.load(ctx, live.Connection.AccountID, live.Connection.ID)
	if err == nil {
		err = k.allowed()
	}
	if err != nil {
		return nil, nil, err
	}
	at := time.Now()
	switch {
	case k.c.Version > live.Connection.Version:
		return k.live(s), nil, nil
	case !k.renewable():
		return nil, k, nil
	case !due(k.c, at):
		return nil, nil, nil
	case k.c.RefreshedAt.Add(restAfter).After(at):
		return nil, k, nil
	}
	before := k.c.Version
	if k, err = s.renew(ctx, k); err == nil {
		err = k.allowed()
	}
	if err != nil || k.c.Version == before {
		return nil, nil, err
	}
	return k.live(s), nil, nil
}

// confirmRefusal asks the app whose account the credentials open, before one
// refused call is taken for the end of a connection: at most once a minute.
func (s *Service) confirmRefusal(ctx context.Context, k *storedCredentials) error {
	if !tells(k.app) || k.c.LastCheckedAt.Add(restAfter).After(time.Now()) {
		return nil
	}
	c, err := s.check(ctx, audit.System(), k)
	if err != nil {
		return err
	}
	if c.Status == NeedsReconnect {
		return reconnectRequired(k.app, c)
	}
	return nil
}

// Anonymous returns the Live of an app that needs no connection.
func Anonymous(accountID string, a *app.App, s *app.Scheme) *Live {
	return &Live{
		Connection: &Connection{AccountID: accountID, App: a.ID, Scheme: s.ID, Status: Active},
		Values:     app.Map{},
	}
}

// load reads a connection and opens its credentials.
func (s *Service) load(ctx context.Context, accountID, id string) (*storedCredentials, error) {
	sealed, err := s.Store.Secret(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	k := &storedCredentials{c: sealed.Connection}
	if k.app, err = s.Apps.App(ctx, accountID, k.c.App); err != nil {
		return nil, err
	}
	var known bool
	if k.scheme, known = k.app.Scheme(k.c.Scheme); !known || k.c.Scheme == "" {
		// The app's definition has changed.
		k.c.Status, k.c.Reason = NeedsReconnect, ReasonCheckFailed
		return nil, reconnectRequired(k.app, k.c)
	}
	if k.in, err = s.openAt(connectionPlace(k.c), sealed.Secret); err != nil {
		return nil, s.unreadable(ctx, k, err)
	}
	k.client, err = s.client(ctx, accountID, k.app, k.scheme, k.in.Issuer)
	return k, err
}

// unreadable records that credentials cannot be opened: they were
// moved or changed, or another master key is in use. The connection works again
// as soon as they open.
func (s *Service) unreadable(ctx context.Context, k *storedCredentials, cause error) error {
	if !errors.Is(cause, seal.ErrOpen) {
		return fmt.Errorf("opening the credentials of %s: %w", k.c.ID, cause)
	}
	if k.c.Status == Active {
		s.options.Log.ErrorContext(ctx, "credentials of a connection do not open", "connection_id", k.c.ID, "app",
			k.c.App)
		change := func(c *Connection) error { c.Status, c.Reason = Failing, ReasonUndecryptable; return nil }
		entry := audit.New(k.c.AccountID, audit.System(), "connection.unreadable", k.c.ID, nil)
		if _, err := s.Store.ChangeConnection(ctx, k.c.AccountID, k.c.ID, change, entry); err != nil {
			return err
		}
	}
	k.c.Reason = ReasonUndecryptable
	return reconnectRequired(k.app, k.c)
}

// allowed refuses connections that may not be used now.
func (k *storedCredentials) allowed() error {
	switch k.c.Status {
	case Disabled:
		return disabled(k.app, k.c)
	case NeedsReconnect:
		return reconnectRequired(k.app, k.c)
	case Revoked:
		return connectionNotFound()
	case Active, Failing:
	}
	return nil
}

// renewable reports whether the credentials can be renewed without the person.
func (k *storedCredentials) renewable() bool { return renewable(k.scheme, k.in.Credentials) }

func (k *storedCredentials) live(s *Service) *Live {
	c := *k.c
	return &Live{Connection: &c, Values: s.values(&c, k.in.Credentials, k.client)}
}

// freshen renews a token that is about to end, or returns the old one while it
// lives and there is nothing better.
func (s *Service) freshen(ctx context.Context, k *storedCredentials) (*storedCredentials, error) {
	at := time.Now()
	switch {
	case k.renewable():
		if due(k.c, at) {
			renewed, err := s.renew(ctx, k)
			if err != nil {
				return nil, err
			}
			k = renewed
		}
	case living(k.c, at):
		return k, nil
	default:
		over := func(c *Connection) error { c.Status, c.Reason = NeedsReconnect, ReasonTokenExpired; return nil }
		c, err := s.Store.ChangeConnection(ctx, k.c.AccountID, k.c.ID, over,
			audit.New(k.c.AccountID, audit.System(), "connection.needs_reconnect", k.c.ID,
				map[string]string{"reason": ReasonTokenExpired}))
		if err != nil {
			return nil, err
		}
		return nil, reconnectRequired(k.app, c)
	}
	if err := k.allowed(); err != nil {
		return nil, err
	}
	if at = time.Now(); living(k.c, at) {
		return k, nil
	}
	return nil, k.stuck(at)
}

// stuck says why a token that is over could not be renewed.
func (k *storedCredentials) stuck(at time.Time) error {
	switch k.c.RefreshClass {
	case ClientBroken:
		return problem.New(problem.Conflict, "client_misconfigured",
			k.app.Name+
				" does not know the OAuth client of this installation any more. The operator has to set a new one; "+
				"the connection then goes on.").
			With("app", k.app.ID).With("connection_id", k.c.ID).Advise("ask_owner_for_permission")
	case Unknown:
		c := *k.c
		c.Reason = ReasonCheckFailed
		return reconnectRequired(k.app, &c)
	case Temporary, GrantOver:
	}
	again := k.c.NextRefreshAt
	if soon := k.c.RefreshTriedAt.Add(onDemand); !k.c.RefreshTriedAt.IsZero() && soon.Before(again) {
		again = soon
	}
	return problem.New(problem.Unavailable, ReasonUnavailable,
		k.app.Name+" does not renew the sign-in at the moment. It is tried again by itself.").
		After(max(time.Second, again.Sub(at))).With("app", k.app.ID).With("connection_id", k.c.ID).Advise("retry_later")
}

// touchEvery is how exact LastUsedAt is.
const touchEvery = time.Minute

func (s *Service) noteUse(id string) {
	at := now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Sub(s.touched[id]) >= touchEvery {
		s.pending[id] = at
	}
}

// Flush writes when connections were last used. The host calls it about once a
// minute and at its end.
func (s *Service) Flush(ctx context.Context) error {
	s.mu.Lock()
	used := s.pending
	s.pending = map[string]time.Time{}
	for id, at := range s.touched {
		if time.Since(at) > touchEvery {
			delete(s.touched, id)
		}
	}
	maps.Copy(s.touched, used)
	s.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	return s.Store.TouchConnections(ctx, used)
}
