package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
)

// pendingConnection is a connection on its way.
type pendingConnection struct {
	session *Session
	app     *app.App
	scheme  *app.Scheme
	client  *Client
	params  map[string]string
	fields  Credentials // typed
	scopes  []string    // asked for
	issuer  string
	old     *Connection // that is repaired; nil: a new one
	// unchecked leaves it to the caller whether the app takes what was typed.
	unchecked bool
}

// prepare checks what was typed. Params come from the form, the asker, the
// connection that is repaired, and the app's defaults, in this order.
func (s *Service) prepare(ctx context.Context, session *Session, a *app.App, scheme *app.Scheme,
	form Form,
) (*pendingConnection, error) {
	m := &pendingConnection{
		session: session, app: a, scheme: scheme, fields: Credentials{}, params: map[string]string{},
		scopes: session.Options.Scopes, unchecked: form.Unchecked,
	}
	var err error
	if m.old, err = s.known(ctx, session, session.Options.Reconnects); err != nil {
		return nil, err
	}
	if m.old != nil {
		m.params = maps.Clone(m.old.Params)
		if len(m.scopes) > 0 { // what it has stays
			m.scopes = append(slices.Clone(m.old.Scopes), missing(m.scopes, m.old.Scopes)...)
		}
	}
	if m.params == nil {
		m.params = map[string]string{}
	}
	maps.Copy(m.params, session.Options.Params)
	faults := append(m.takeParams(form.Params), m.takeFields(form.Fields)...)
	if len(faults) > 0 {
		return nil, problem.New(problem.Unprocessable, "invalid_fields",
			"Something is missing or does not look right.").WithItems(faults...).Advise("fix_arguments")
	}
	if len(m.scopes) == 0 && scheme.OAuth != nil {
		m.scopes = scheme.OAuth.Scopes.Default
	}
	if m.client, err = s.client(ctx, session.AccountID, a, scheme, ""); err != nil {
		return nil, err
	}
	return m, m.unknownIssuer()
}

// opensData reports whether a scope permits something that tools can do. Those
// of OpenID Connect ask for a refresh token, or for who somebody is; many vendors
// grant them and do not name them, or name them otherwise.
func opensData(scope string) bool {
	return !slices.Contains([]string{"openid", "profile", "email", "offline_access"}, scope)
}

// unknownIssuer refuses a server that the OAuth client does not belong to: its
// operator would receive the client's secret.
func (m *pendingConnection) unknownIssuer() error {
	if m.client == nil {
		return nil
	}
	name, host := m.app.BoundTo(m.scheme, m.client.Extra)
	if name == "" || m.params[name] == host {
		return nil
	}
	detail := "The OAuth client of this platform is of another server. Choose another way to connect, or let an " +
		"administrator set a client of this server, with its name in extra."
	if host != "" {
		detail = fmt.Sprintf(
			"The OAuth client of this platform is of %s. Type that, choose another way to connect, or let an "+
				"administrator set a client of this server, with its name in extra.", host)
	}
	return problem.New(problem.Unprocessable, "invalid_fields", "Something is missing or does not look right.").
		WithItems(problem.Item{Pointer: "/params/" + name, Code: "invalid", Detail: detail}).Advise("fix_arguments")
}

func (m *pendingConnection) takeParams(typed map[string]string) (faults []problem.Item) {
	for _, name := range slices.Sorted(maps.Keys(m.app.Params)) {
		p := m.app.Params[name]
		if p.Learned || p.Scheme != "" && p.Scheme != m.scheme.ID {
			continue
		}
		value := m.params[name]
		if given := strings.TrimSpace(typed[name]); given != "" {
			value = given
		}
		clean, fault := p.Clean(value)
		if fault != "" {
			faults = append(faults, problem.Item{Pointer: "/params/" + name, Code: "invalid", Detail: fault})
			continue
		}
		m.params[name] = clean
	}
	return faults
}

func (m *pendingConnection) takeFields(typed Credentials) (faults []problem.Item) {
	for _, f := range m.scheme.Fields {
		value, fault := f.Clean(typed[f.Name])
		if fault != "" {
			faults = append(faults, problem.Item{Pointer: "/fields/" + f.Name, Code: "invalid", Detail: fault})
			continue
		}
		m.fields[f.Name] = value
	}
	return faults
}

// exchange ends a session by what was typed alone.
func (s *Service) exchange(ctx context.Context, m *pendingConnection, v Visitor) (*Outcome, error) {
	grant, err := s.Authorizer.Exchange(ctx, m.app, m.scheme, m.client, m.params, m.fields)
	if err != nil {
		return nil, fmt.Errorf("exchanging what was typed for %s: %w", m.app.ID, err)
	}
	return s.connect(ctx, m, grant, v)
}

// connect makes the connection of a grant: what calls need is learned, the app
// says whose account it is, and all of it is kept together with the session's
// end.
func (s *Service) connect(ctx context.Context, m *pendingConnection, grant *Grant, v Visitor) (*Outcome, error) {
	c, credentials := m.draft(grant)
	live := func() *Live { return &Live{Connection: c, Values: s.values(c, credentials, m.client)} }
	if steps := m.app.ResolveBy(m.scheme.ID); len(steps) > 0 {
		values, err := s.Stepper.Steps(ctx, m.app, m.scheme, live(), steps)
		if err != nil {
			return nil, m.refused(err)
		}
		maps.Copy(c.Params, values)
	}
	if err := s.identify(ctx, m, c, live()); err != nil {
		return nil, err
	}
	if err := s.settle(ctx, m, c); err != nil {
		return nil, err
	}
	schedule(c, m.scheme, credentials)
	return s.keepGrant(ctx, m, c, credentials, v)
}

func (s *Service) keepGrant(ctx context.Context, m *pendingConnection, c *Connection, credentials Credentials,
	v Visitor,
) (*Outcome, error) {
	secret, err := s.seal(c, &contents{Credentials: credentials, Issuer: m.issuer})
	if err != nil {
		return nil, err
	}
	action, code := "connection.made", ""
	if m.old != nil {
		action, code = "connection.mended", codeMended
	}
	m.session.ConnectionID = c.ID
	m.session.end(SessionConnected, code, "")
	entry := audit.New(c.AccountID, v.Actor, action, c.ID,
		map[string]string{"app": c.App, "scheme": c.Scheme, "session": m.session.ID})
	s.options.Step("grant received")
	saved, err := s.Store.KeepGrant(ctx, c, secret, m.session, entry)
	if err != nil {
		return nil, fmt.Errorf("keeping connection %s: %w", c.ID, err)
	}
	if !saved {
		return nil, raced()
	}
	o := s.outcome(m.session, "")
	o.Connection = c
	return o, nil
}

// draft is the connection that a grant makes, before the app was asked.
func (m *pendingConnection) draft(grant *Grant) (*Connection, Credentials) {
	options := m.session.Options
	c := &Connection{
		ID: typeid.New(idPrefix), AccountID: m.session.AccountID, App: m.app.ID, Scheme: m.scheme.ID,
		EndUser:   options.EndUser,
		CreatedAt: now(), Identity: grant.Identity,
	}
	if m.old != nil {
		copied := *m.old
		c = &copied
		c.Scheme = m.scheme.ID
		c.Identity = grant.Identity
	}
	if options.Label != "" {
		c.Label = options.Label
	}
	c.Params = maps.Clone(m.params)
	maps.Copy(c.Params, grant.Params)
	c.Status, c.Reason, c.Scopes = Active, "", grant.Scopes
	c.RefreshFailed, c.RefreshClass, c.RefreshTriedAt = 0, "", time.Time{}
	c.TokenExpiresAt, c.RefreshedAt = grant.ExpiresAt, now()
	if grant.Scopes == nil {
		c.Scopes = m.scopes
	} else if slices.ContainsFunc(missing(m.scopes, grant.Scopes), opensData) {
		c.Reason = ReasonScopesMissing
	}
	credentials := Credentials{}
	maps.Copy(credentials, m.fields)
	maps.Copy(credentials, grant.Credentials)
	return c, credentials
}

// tells reports whether credentials can be checked with the app: by its whoami
// call, or, of an MCP server, by its list of tools.
func tells(a *app.App) bool { return a.Who != nil || a.MCP != nil }

// identify asks the app whose account it is. Keys have to open it before they
// are kept. A consent that was given is kept also where the app is unavailable for a
// moment, or does not report: it could not be had again without the person.
func (s *Service) identify(ctx context.Context, m *pendingConnection, c *Connection, live *Live) error {
	if !tells(m.app) || m.unchecked {
		return nil
	}
	identity, err := s.Checker.Check(ctx, m.app, m.scheme, live)
	if err == nil {
		c.Identity, c.LastCheckedAt = identity.Fill(c.Identity), now()
		return nil
	}
	unknown := m.old == nil || m.old.Identity.ID == ""
	if code := appCode(err); code != "" && code != codeUnauthorized && m.scheme.Consents() && unknown {
		return nil
	}
	return m.refused(err)
}

// Codes of what an app refuses; package tool has them all.
const (
	codeUnauthorized = "app_unauthorized"
	codeForbidden    = "app_forbidden"
	codeUnavailable  = "app_unavailable"
	codeTimeout      = "app_timeout"
	codeRateLimited  = "app_rate_limited"
)

// appCode is what an app refused, empty for an error that is none of its.
func appCode(err error) string {
	if refusal, ok := errors.AsType[Refusal](err); ok {
		return refusal.AppCode()
	}
	if p, ok := problem.From(err); ok && (strings.HasPrefix(p.Code, "app_") || p.Code == ReasonUnavailable) {
		return p.Code
	}
	return ""
}

// away reports whether an app may respond later.
func away(code string) bool {
	return code == codeUnavailable || code == codeTimeout || code == codeRateLimited || code == ReasonUnavailable
}

// refused is what the user reads when the app does not take what it was
// given.
func (m *pendingConnection) refused(err error) error {
	code := appCode(err)
	name := m.app.Name
	switch {
	case code == "":
		return fmt.Errorf("asking %s whose account it is: %w", m.app.ID, err)
	case away(code):
		return problem.New(problem.Unavailable, ReasonUnavailable,
			name+" does not answer at the moment, so this could not be checked. Try again in a minute.")
	case m.scheme.Consents():
		return problem.New(problem.Unprocessable, "sign_in_failed",
			name+" gave its consent and then did not accept it. Try again; if it happens again, tell the operator.")
	case code == codeUnauthorized:
		return problem.New(problem.Unprocessable, "credentials_refused",
			name+" does not accept this. Check that it was copied whole, is not expired, and belongs to this app.")
	case code == codeForbidden:
		return problem.New(problem.Unprocessable, "credentials_refused",
			name+
				" knows this, but it may not even read whose account it is. Give it more rights there, or make "+
				"another.")
	}
	return problem.New(problem.Unprocessable, "credentials_refused",
		name+" did not answer as it should. Check what was typed, above all the names of hosts and workspaces.")
}

// settle decides which connection the credentials belong to: the one that is
// repaired has to stay the same account's; a new one of an account that is
// connected already repairs that one.
func (s *Service) settle(ctx context.Context, m *pendingConnection, c *Connection) error {
	if m.old != nil {
		if m.old.Identity.Differs(c.Identity) {
			return problem.New(problem.Conflict, "connection_mismatch",
				fmt.Sprintf(
					"This is another account of %s (%s) than the one that is connected (%s). Sign in as that one, or "+
						"ask for a link that adds a connection.",
					m.app.Name, c.Identity.Called(), m.old.Identity.Called()))
		}
		c.Identity = c.Identity.Fill(m.old.Identity)
		return nil
	}
	if c.Identity.ID == "" {
		return nil
	}
	list, err := s.Store.Connections(ctx, c.AccountID, Query{App: c.App, EndUser: c.EndUser})
	if err != nil {
		return err
	}
	for _, there := range list {
		if there.Scheme == c.Scheme && there.Identity.ID == c.Identity.ID &&
			there.Identity.Tenant == c.Identity.Tenant {
			m.old = there
			c.ID, c.CreatedAt, c.Default, c.Version = there.ID, there.CreatedAt, there.Default, there.Version
			c.Identity = c.Identity.Fill(there.Identity)
			if c.Label == "" {
				c.Label = there.Label
			}
			return nil
		}
	}
	return nil
}
