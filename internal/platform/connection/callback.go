package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/audit"
)

// underWay is a sign-in between the redirect and the callback, as it is sealed
// into its session.
type underWay struct {
	Attempt Attempt           `json:"attempt"`
	Scheme  string            `json:"scheme"`
	Params  map[string]string `json:"params,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`
}

func attemptPlace(session *Session) seal.Place {
	return seal.Place{Table: "connect_session", Column: "attempt", Row: session.ID, Account: session.AccountID}
}

// redirect sends the user to the vendor. A sign-in that was under way before is
// forgotten: one link has one.
func (s *Service) redirect(ctx context.Context, m *pendingConnection) (*Outcome, error) {
	attempt := &Attempt{
		AccountID: m.session.AccountID, State: random(), Verifier: random(),
		Redirect: s.RedirectURI(m.app.ID), Scopes: m.scopes,
	}
	address, err := s.Authorizer.Start(ctx, m.app, m.scheme, m.client, m.params, attempt)
	if err != nil {
		return nil, fmt.Errorf("beginning to sign in to %s: %w", m.app.ID, err)
	}
	text, err := json.Marshal(underWay{*attempt, m.scheme.ID, m.params, m.fields})
	if err != nil {
		return nil, fmt.Errorf("encoding a sign-in: %w", err)
	}
	session := m.session
	if session.Attempt, err = s.sealer.Seal(text, attemptPlace(session)); err != nil {
		return nil, err
	}
	session.StateDigest, session.Code, session.Detail = s.digest(labelState, attempt.State), "", ""
	saved, err := s.Store.SaveSession(ctx, session, audit.Entry{})
	if err != nil {
		return nil, fmt.Errorf("keeping a sign-in: %w", err)
	}
	if !saved {
		return nil, raced()
	}
	return s.outcome(session, address), nil
}

// sharedCallback stands for the app in the callback of sign-ins at MCP servers
// that know us by our client id metadata document, which lists one callback for
// all of them.
const sharedCallback = "mcp"

// Callback takes what the vendor of an app sent the browser back with. Whatever
// the vendor said, the Outcome leads on: to the developer's address when the
// session is over, else to the link's page, which shows Session.Code and lets
// the person try again. Its problems, for which there is no page of a link to go
// back to: sign_in_unknown (Gone) for a state that is unknown or was used;
// connect_other_browser, connect_other_account (Forbidden), sign_in_required
// (Unauthenticated).
func (s *Service) Callback(ctx context.Context, appID string, v Visitor, query url.Values) (*Outcome, error) {
	session, err := s.byState(ctx, appID, query)
	if err != nil {
		return nil, err
	}
	if session == nil || session.App != appID && appID != sharedCallback || open(session) != nil {
		return nil, problem.New(problem.Gone, "sign_in_unknown",
			"This sign-in is not known here, or it has been used already. Open the link again.")
	}
	if err := s.admit(session, v); err != nil {
		return nil, err
	}
	m, attempt, err := s.resume(ctx, session)
	if err != nil {
		return nil, err
	}
	if attempt.Redirect != s.RedirectURI(appID) { // it came back to another's address: a mix-up of vendors
		return s.setBack(ctx, session, v,
			problem.New(problem.Unprocessable, "sign_in_failed",
				"The app came back to an address that is not this sign-in's. Start again."))
	}
	s.options.Step("state used")
	grant, err := s.Authorizer.Finish(ctx, m.app, m.scheme, m.client, m.params, attempt, query)
	if err != nil {
		return s.setBack(ctx, session, v, err)
	}
	m.issuer = attempt.Issuer
	o, err := s.connect(ctx, m, grant, v)
	if err != nil {
		return s.setBack(ctx, session, v, err)
	}
	return o, nil
}

// byState finds the session that a callback belongs to; nil: none. The state
// is where the app's schemes say.
func (s *Service) byState(ctx context.Context, appID string, query url.Values) (*Session, error) {
	names := []string{"state", "oauth_token"}
	if a, err := s.Apps.App(ctx, "", appID); err == nil {
		for _, scheme := range a.Schemes {
			if scheme.OAuth != nil && scheme.OAuth.Callback.State != "" {
				names = append(names, scheme.OAuth.Callback.State)
			}
		}
	}
	for _, name := range names {
		if value := query.Get(name); value != "" {
			session, err := s.Store.SessionByState(ctx, s.digest(labelState, value))
			if session != nil || err != nil {
				return session, err
			}
		}
	}
	return nil, nil
}

// resume opens the sign-in under way and uses its state up: of two callbacks
// with one state, one continues.
func (s *Service) resume(ctx context.Context, session *Session) (*pendingConnection, *Attempt, error) {
	text, err := s.sealer.Open(session.Attempt, attemptPlace(session))
	if err != nil {
		return nil, nil, fmt.Errorf("opening a sign-in: %w", err)
	}
	var there underWay
	if err := json.Unmarshal(text, &there); err != nil {
		return nil, nil, fmt.Errorf("decoding a sign-in: %w", err)
	}
	session.StateDigest, session.Attempt = "", ""
	saved, err := s.Store.SaveSession(ctx, session, audit.Entry{})
	if err != nil {
		return nil, nil, err
	}
	if !saved {
		return nil, nil, raced()
	}
	a, err := s.Apps.App(ctx, session.AccountID, session.App)
	if err != nil {
		return nil, nil, err
	}
	scheme, known := a.Scheme(there.Scheme)
	if !known || there.Scheme == "" {
		return nil, nil, problem.New(problem.Gone, "sign_in_unknown",
			"The app is connected in another way now. Open the link again.")
	}
	m := &pendingConnection{
		session: session, app: a, scheme: scheme, params: there.Params, fields: there.Fields,
		scopes: there.Attempt.Scopes,
	}
	if m.params == nil {
		m.params = map[string]string{}
	}
	if m.client, err = s.client(ctx, session.AccountID, a, scheme, there.Attempt.Issuer); err != nil {
		return nil, nil, err
	}
	m.old, err = s.known(ctx, session, session.Options.Reconnects)
	return m, &there.Attempt, err
}

// setBack records why a sign-in came to nothing. A refusal of the person ends
// the session; after anything else they may try again.
func (s *Service) setBack(ctx context.Context, session *Session, v Visitor, cause error) (*Outcome, error) {
	p, known := problem.From(cause)
	if problem.Is(cause, "connect_session_busy") {
		return nil, cause
	}
	if !known {
		p = problem.New(problem.Internal, "sign_in_failed", "Something went wrong on our side. Try again in a minute.")
	}
	entry := audit.New(session.AccountID, v.Actor, "connect.failed", session.ID, map[string]string{"code": p.Code})
	// A step after the state was used may have set these for an end that was not
	// kept.
	session.Status, session.ConnectionID, session.EndedAt = SessionOpened, "", time.Time{}
	session.Code, session.Detail = p.Code, p.Detail
	if p.Code == "sign_in_denied" {
		entry.Action = "connect.denied"
		session.end(SessionFailed, p.Code, p.Detail)
	}
	saved, err := s.Store.SaveSession(ctx, session, entry)
	switch {
	case err != nil:
		return nil, fmt.Errorf("keeping how a sign-in failed: %w", err)
	case !saved:
		return nil, raced()
	case !known:
		s.options.Log.ErrorContext(ctx, "signing in to an app", "app", session.App, "session_id", session.ID, "error",
			cause)
	}
	return s.outcome(session, ""), nil
}
