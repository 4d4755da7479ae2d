package connection

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
)

// Get returns one connection of an account; connection_not_found (NotFound)
// otherwise. A deleted one is returned as revoked for a month.
func (s *Service) Get(ctx context.Context, accountID, id string) (*Connection, error) {
	return s.Store.Connection(ctx, accountID, id)
}

// List returns connections of an account, oldest first.
func (s *Service) List(ctx context.Context, accountID string, q Query) ([]*Connection, error) {
	return s.Store.Connections(ctx, accountID, q)
}

// Change is what an owner changes of a connection; nil stays.
type Change struct {
	Label    *string
	Default  *bool
	Disabled *bool
}

// Update changes a connection. Its problems are connection_not_found and
// invalid_request.
func (s *Service) Update(ctx context.Context, by audit.Actor, accountID, id string, in Change) (*Connection, error) {
	detail := map[string]string{}
	if in.Label != nil {
		label := strings.TrimSpace(*in.Label)
		if utf8.RuneCountInString(label) > maxLabel || !plain(label) {
			return nil, invalid("/label", fmt.Sprintf("A label has at most %d characters, on one line.", maxLabel))
		}
		in.Label, detail["label"] = &label, label
	}
	if in.Default != nil {
		detail["default"] = fmt.Sprint(*in.Default)
	}
	if in.Disabled != nil {
		detail["disabled"] = fmt.Sprint(*in.Disabled)
	}
	change := func(c *Connection) error {
		if c.Status == Revoked {
			return connectionNotFound()
		}
		if in.Label != nil {
			c.Label = *in.Label
		}
		if in.Default != nil {
			c.Default = *in.Default
		}
		if in.Disabled != nil {
			c.disable(*in.Disabled)
		}
		return nil
	}
	return s.Store.ChangeConnection(ctx, accountID, id, change,
		audit.New(accountID, by, "connection.changed", id, detail))
}

// disable switches a connection off or on. One that is switched on is taken to
// work until the app says otherwise.
func (c *Connection) disable(off bool) {
	switch {
	case off && c.Status != Disabled:
		c.Status, c.Reason = Disabled, ReasonDisabledByUser
	case !off && c.Status == Disabled:
		c.Status, c.Reason = Active, ""
	}
}

// Delete ends a connection: its secrets are gone from it at once. With revoke the
// grant is ended at the vendor too, by a job that repeats until that is done, or
// for three days; what it needs is kept, sealed, for it alone. A connection that
// is deleted already stays so. Its problem is connection_not_found.
func (s *Service) Delete(ctx context.Context, by audit.Actor, accountID, id string, revoke bool) error {
	c, err := s.Store.Connection(ctx, accountID, id)
	if err != nil || c.Status == Revoked {
		return err
	}
	secret := ""
	if revoke {
		if secret, err = s.farewell(ctx, c); err != nil {
			return err
		}
	}
	detail := map[string]string{"app": c.App, "revoke": fmt.Sprint(secret != "")}
	err = s.Store.Discard(ctx, c, secret, audit.New(accountID, by, "connection.deleted", id, detail))
	if err != nil {
		return fmt.Errorf("deleting connection %s: %w", id, err)
	}
	return nil
}

// farewell seals what the end at the vendor needs; empty: there is nothing to
// end there, or nothing to end it with.
func (s *Service) farewell(ctx context.Context, c *Connection) (string, error) {
	a, err := s.Apps.App(ctx, c.AccountID, c.App)
	if problem.Is(err, "app_not_found") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if scheme, known := a.Scheme(c.Scheme); !known || !a.CanEnd(scheme) {
		return "", nil
	}
	sealed, err := s.Store.Secret(ctx, c.AccountID, c.ID)
	if err != nil {
		return "", err
	}
	in, err := s.openAt(connectionPlace(c), sealed.Secret)
	if err != nil {
		return "", nil //nolint:nilerr // what does not open cannot be ended anywhere
	}
	return s.sealAt(farewellPlace(c), in)
}

// endAtVendor is what the job of a deleted connection does: the app's own steps,
// then the end of the grant. Where another connection of the account uses the
// same grant, it keeps its grant.
func (s *Service) endAtVendor(ctx context.Context, sealed *Sealed) error {
	c := sealed.Connection
	in, err := s.openAt(farewellPlace(c), sealed.Secret)
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	a, err := s.Apps.App(ctx, c.AccountID, c.App)
	if problem.Is(err, "app_not_found") {
		return nil
	}
	if err != nil {
		return err
	}
	scheme, known := a.Scheme(c.Scheme)
	if !known {
		return nil
	}
	client, err := s.client(ctx, c.AccountID, a, scheme, in.Issuer)
	if problem.Is(err, "app_not_connectable") {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.release(ctx, a, scheme, &Live{Connection: c, Values: s.values(c, in.Credentials, client)}); err != nil {
		return err
	}
	if shared, err := s.shared(ctx, c); err != nil || shared {
		return err
	}
	if err := s.Authorizer.Revoke(ctx, a, scheme, client, c, in.Credentials); err != nil {
		return fmt.Errorf("revoking a grant of %s: %w", a.ID, err)
	}
	return nil
}

func (s *Service) release(ctx context.Context, a *app.App, scheme *app.Scheme, live *Live) error {
	if len(a.Release) == 0 {
		return nil
	}
	_, err := s.Stepper.Steps(ctx, a, scheme, live, a.Release)
	if code := appCode(err); err == nil || code != "" && !away(code) {
		return nil // done, or refused for good
	}
	return fmt.Errorf("releasing a connection of %s: %w", a.ID, err)
}

// shared reports whether another connection of the account uses the same
// account at the vendor: vendors end all grants of one client at once.
func (s *Service) shared(ctx context.Context, c *Connection) (bool, error) {
	if c.Identity.ID == "" {
		return false, nil
	}
	list, err := s.Store.Connections(ctx, c.AccountID, Query{App: c.App, AnyEndUser: true})
	if err != nil {
		return false, err
	}
	for _, other := range list {
		if other.ID != c.ID && other.Scheme == c.Scheme && other.Identity.ID == c.Identity.ID {
			return true, nil
		}
	}
	return false, nil
}

// Check asks the app whether the connection works and whose account it is, and
// returns the connection as it is then: its status says what is wrong and
// reason, not by an error. Its problems are connection_not_found and
// connection_disabled.
func (s *Service) Check(ctx context.Context, by audit.Actor, accountID, id string) (*Connection, error) {
	k, err := s.load(ctx, accountID, id)
	if err == nil {
		err = k.checkable()
	}
	if err == nil && !fresh(k.c, k.scheme, time.Now()) {
		k, err = s.freshen(ctx, k)
	}
	if p, known := problem.From(err); err != nil && known && p.Code != "connection_not_found" &&
		p.Code != "connection_disabled" {
		return s.Store.Connection(ctx, accountID, id)
	}
	if err != nil {
		return nil, err
	}
	return s.check(ctx, by, k)
}

// checkable refuses what a check cannot find out. A key that was
// refused may have been made good at the vendor.
func (k *storedCredentials) checkable() error {
	if k.c.Status == NeedsReconnect && !k.renewable() && living(k.c, time.Now()) {
		return nil
	}
	return k.allowed()
}

func (s *Service) check(ctx context.Context, by audit.Actor, k *storedCredentials) (*Connection, error) {
	identity, err := s.ask(ctx, k, k.live(s))
	if appCode(err) == codeUnauthorized && k.renewable() {
		newer, _, refused := s.newer(ctx, k.live(s))
		switch {
		case problem.Is(refused, "reconnect_required"):
			return s.Store.Connection(ctx, k.c.AccountID, k.c.ID)
		case refused != nil:
			return nil, refused
		case newer != nil:
			identity, err = s.ask(ctx, k, newer)
		}
	}
	code := appCode(err)
	if err != nil && code == "" {
		return nil, fmt.Errorf("checking connection %s: %w", k.c.ID, err)
	}
	entry := audit.Entry{}
	if code == codeUnauthorized && k.c.Status != NeedsReconnect {
		entry = audit.New(k.c.AccountID, by, "connection.needs_reconnect", k.c.ID,
			map[string]string{"reason": ReasonUserRevoked})
	}
	return s.Store.ChangeConnection(ctx, k.c.AccountID, k.c.ID, func(c *Connection) error {
		c.setStatus(code, identity)
		return nil
	}, entry)
}

func (s *Service) ask(ctx context.Context, k *storedCredentials, live *Live) (Identity, error) {
	if !tells(k.app) {
		return Identity{}, nil
	}
	return s.Checker.Check(ctx, k.app, k.scheme, live)
}

// setStatus stores what a check found.
func (c *Connection) setStatus(code string, identity Identity) {
	c.LastCheckedAt = now()
	if c.Status == Disabled || c.Status == Revoked {
		return
	}
	switch {
	case code == "":
		c.Identity = identity.Fill(c.Identity)
		if c.Status != Active {
			c.Status, c.Reason = Active, ""
		}
	case code == codeUnauthorized:
		if c.Status != NeedsReconnect {
			c.Status, c.Reason, c.NextRefreshAt = NeedsReconnect, ReasonUserRevoked, time.Time{}
		}
	case away(code):
		c.Status, c.Reason = Failing, ReasonUnavailable
	default:
		c.Status, c.Reason = Failing, ReasonCheckFailed
	}
}

// Worked says that a call over a connection succeeded: one that was failing is
// active again.
func (s *Service) Worked(ctx context.Context, live *Live) error {
	if live.Connection.ID == "" || live.Connection.Status != Failing {
		return nil
	}
	_, err := s.Store.ChangeConnection(ctx, live.Connection.AccountID, live.Connection.ID, func(c *Connection) error {
		if c.Status == Failing {
			c.Status, c.Reason = Active, ""
		}
		return nil
	}, audit.Entry{})
	return err
}
