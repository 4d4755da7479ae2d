package connection

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/url"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection/landing"
)

// Visitor is the user who opened the page of a link.
type Visitor struct {
	// Browser is the secret of a cookie that the face gives to each browser that
	// comes to a connect page: at least 32 random characters.
	Browser string
	// AccountID is the account that the user is signed in to; empty: none.
	AccountID string
	Actor     audit.Actor
}

// Visit is what the page of a link shows.
type Visit struct {
	Session *Session
	Status  SessionStatus // at this moment
	App     *app.App
	// Schemes are the ways to connect that the person can choose from, the first
	// one first. Empty when the session is over.
	Schemes []*app.Scheme
	// Servers are the params, by scheme and name, that the OAuth client of a
	// scheme says: the server that it belongs to.
	Servers map[string]map[string]string
	// Reconnects is the connection that is repaired; nil: a new one is made.
	Reconnects *Connection
	// Connection is what came of it; nil: nothing yet.
	Connection *Connection
	CanUndo    bool
	// Unverified says that the developer's page has to be asked first
	// (VerifyCallback): show a button alone; Submit leads there.
	Unverified bool
}

// Outcome is how a step on the page ended.
type Outcome struct {
	Session *Session
	// Connection is set when the step connected.
	Connection *Connection
	// Redirect is where the browser goes now: to the vendor, to the developer's
	// redirect_url, or to Page.
	Redirect string
	// Page is the page of the link, which shows the state of the session.
	Page string
}

// Form is what a person typed on the page.
type Form struct {
	Scheme string            // id; empty: the first one offered
	Fields Credentials       // by name of app.Field
	Params map[string]string // by name of app.Param
	// Unchecked keeps a key before the app was asked whether it takes it: for
	// callers that ask it themselves and show what it said.
	Unchecked bool
}

// Visit looks a link up for its page. It changes nothing: programs that look at
// links before people do use nothing up. Its problems:
//
//	connect_link_unknown (NotFound)          no such link
//	sign_in_required (Unauthenticated)       a signed-in user is required
//	connect_other_account (Forbidden)        somebody of another account is
//	connect_other_browser (Forbidden)        the link was opened in another browser
func (s *Service) Visit(ctx context.Context, token string, v Visitor) (*Visit, error) {
	session, err := s.byToken(ctx, token, v)
	if err != nil {
		return nil, err
	}
	visit := &Visit{Session: session, Status: session.StatusAt(time.Now())}
	if visit.App, err = s.Apps.App(ctx, session.AccountID, session.App); err != nil {
		return nil, err
	}
	if visit.Reconnects, err = s.known(ctx, session, session.Options.Reconnects); err != nil {
		return nil, err
	}
	if visit.Connection, err = s.known(ctx, session, session.ConnectionID); err != nil {
		return nil, err
	}
	visit.CanUndo = s.undoable(session) && s.bound(session, v)
	visit.Unverified = session.Options.Verify == VerifyCallback && !session.Confirmed
	if visit.Status.Over() {
		return visit, nil
	}
	if visit.Schemes, err = s.offered(ctx, session, visit.App); err != nil {
		return nil, err
	}
	return visit, s.servers(ctx, visit)
}

// servers fills in which servers the OAuth clients are of.
func (s *Service) servers(ctx context.Context, visit *Visit) error {
	for _, scheme := range visit.Schemes {
		if name, _ := visit.App.BoundTo(scheme, nil); name == "" {
			continue
		}
		client, err := s.client(ctx, visit.Session.AccountID, visit.App, scheme, "")
		if err != nil {
			return err
		}
		if name, host := visit.App.BoundTo(scheme, client.Extra); host != "" {
			if visit.Servers == nil {
				visit.Servers = map[string]map[string]string{}
			}
			visit.Servers[scheme.ID] = map[string]string{name: host}
		}
	}
	return nil
}

// known returns a connection of a session, nil for no id or one that is gone.
func (s *Service) known(ctx context.Context, session *Session, id string) (*Connection, error) {
	if id == "" {
		return nil, nil
	}
	c, err := s.Store.Connection(ctx, session.AccountID, id)
	if problem.Is(err, "connection_not_found") {
		return nil, nil
	}
	return c, err
}

// offered are the schemes that a session can be ended by.
func (s *Service) offered(ctx context.Context, session *Session, a *app.App) ([]*app.Scheme, error) {
	usable, err := s.usable(ctx, session.AccountID, a)
	if err != nil {
		return nil, err
	}
	var offered []*app.Scheme
	for _, scheme := range usable {
		if scheme.Type != app.TypeNone && (session.Options.Scheme == "" || session.Options.Scheme == scheme.ID) {
			offered = append(offered, scheme)
		}
	}
	if len(offered) == 0 {
		return nil, s.notConnectable(a)
	}
	return offered, nil
}

// byToken finds the session of a link and checks that the visitor may see it.
func (s *Service) byToken(ctx context.Context, token string, v Visitor) (*Session, error) {
	session, err := s.Store.SessionByToken(ctx, s.digest(labelStored, token))
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, problem.New(problem.NotFound, "connect_link_unknown",
			"This link does not lead anywhere. Check that it was copied whole, or ask for a new one.")
	}
	return session, s.admit(session, v)
}

func (s *Service) admit(session *Session, v Visitor) error {
	if session.Options.Verify == VerifyAccount {
		switch v.AccountID {
		case "":
			return problem.New(problem.Unauthenticated, "sign_in_required",
				"Sign in first: the link was made for people of one account.")
		case session.AccountID:
		default:
			return problem.New(problem.Forbidden, "connect_other_account",
				"This link was made for another account than the one you are signed in to. Do not go on unless you "+
					"asked for it.")
		}
	}
	if session.BrowserDigest != "" && !s.bound(session, v) {
		return problem.New(problem.Forbidden, "connect_other_browser",
			"This link was opened in another browser. Go on there, or ask for a new link.")
	}
	return nil
}

func (s *Service) bound(session *Session, v Visitor) bool {
	digest := s.digest(labelBrowser, v.Browser)
	return v.Browser != "" && subtle.ConstantTimeCompare([]byte(digest), []byte(session.BrowserDigest)) == 1
}

// minBrowser is the length of a browser's secret that is no accident.
const minBrowser = 32

// enter finds an open session for a step that changes something, and binds it
// to the browser of its first one.
func (s *Service) enter(ctx context.Context, token string, v Visitor) (*Session, error) {
	session, err := s.byToken(ctx, token, v)
	if err != nil {
		return nil, err
	}
	if err := open(session); err != nil {
		return nil, err
	}
	if session.BrowserDigest != "" {
		return session, nil
	}
	if len(v.Browser) < minBrowser {
		return nil, problem.New(problem.Forbidden, "connect_cookie_missing",
			"The browser did not send the cookie of this page. Allow cookies for it and load it again.")
	}
	session.BrowserDigest, session.Status = s.digest(labelBrowser, v.Browser), SessionOpened
	if session.Options.Verify == VerifyCallback {
		session.FlowDigest = s.digest(labelFlow, s.flow(session))
	}
	saved, err := s.Store.SaveSession(ctx, session, audit.Entry{})
	if err != nil {
		return nil, err
	}
	if !saved { // another step was first: see whose it was
		return s.enter(ctx, token, v)
	}
	return session, nil
}

// flow is the id by which the developer's page confirms who is there. It
// follows from the session and the browser it is bound to.
func (s *Service) flow(session *Session) string {
	return "flow_" + s.sealer.MAC(labelFlow+" id", []byte(session.ID), []byte(session.BrowserDigest))
}

// open refuses a session that is over.
func open(session *Session) error {
	switch session.StatusAt(time.Now()) {
	case SessionPending, SessionOpened:
		return nil
	case SessionConnected:
		return problem.New(problem.Gone, "connect_session_used",
			"This link was used. Ask for a new one to connect again.")
	case SessionFailed, SessionCanceled, SessionExpired:
	}
	return problem.New(problem.Gone, "connect_session_expired", "This link has expired. Ask for a new one.")
}

// Submit takes what the person typed and chose. A scheme with consent at the
// vendor returns an Outcome whose Redirect leads there; the others are checked
// with the app and connected. What the person can repair comes back as
// invalid_fields or credentials_refused (Unprocessable), with pointers such as
// /fields/key and /params/subdomain; the link stays valid. The other problems are
// those of Visit; connect_session_expired, connect_session_used (Gone);
// connect_unverified (Forbidden); app_not_connectable, connection_mismatch
// (Conflict); sign_in_failed; provider_unavailable (Unavailable).
//
// With VerifyCallback the first Outcome leads to the developer's page.
func (s *Service) Submit(ctx context.Context, token string, v Visitor, form Form) (*Outcome, error) {
	session, err := s.enter(ctx, token, v)
	if err != nil {
		return nil, err
	}
	if session.Options.Verify == VerifyCallback && !session.Confirmed {
		return s.outcome(session, s.verifier(session)), nil
	}
	a, err := s.Apps.App(ctx, session.AccountID, session.App)
	if err != nil {
		return nil, err
	}
	offered, err := s.offered(ctx, session, a)
	if err != nil {
		return nil, err
	}
	scheme := offered[0]
	for _, one := range offered {
		if one.ID == form.Scheme {
			scheme = one
		}
	}
	made, err := s.prepare(ctx, session, a, scheme, form)
	if err != nil {
		return nil, err
	}
	if scheme.Consents() {
		return s.redirect(ctx, made)
	}
	return s.exchange(ctx, made, v)
}

// verifier is the address of the developer's page for a session.
func (s *Service) verifier(session *Session) string {
	return landing.With(session.Options.VerifyURL, url.Values{"flow_id": {s.flow(session)}, "session_id": {session.ID}})
}

// Confirm says, on behalf of the developer's page, whose browser the flow's is.
// It returns the address that the browser is sent on to. Its problems:
// connect_session_not_found (NotFound), connect_session_expired (Gone),
// connect_unverified (Forbidden) for another flow or another end user.
func (s *Service) Confirm(ctx context.Context, by audit.Actor, accountID, id, flow, endUser string) (address string,
	err error,
) {
	session, err := s.Store.Session(ctx, accountID, id)
	if err != nil {
		return "", err
	}
	if err := open(session); err != nil {
		return "", err
	}
	right := session.FlowDigest != "" && subtle.ConstantTimeCompare([]byte(s.digest(labelFlow, flow)),
		[]byte(session.FlowDigest)) == 1
	entry := audit.New(accountID, by, "connect.confirmed", id, nil)
	if !right || endUser != session.Options.EndUser {
		session.end(SessionFailed, "connect_unverified",
			"The person who opened the link is not the one it was made for.")
		entry.Action = "connect.refused"
		if _, err := s.Store.SaveSession(ctx, session, entry); err != nil {
			return "", err
		}
		return "", problem.New(problem.Forbidden, "connect_unverified",
			"This is not the person whom the link was made for. The session has ended; make a new one for them.")
	}
	session.Confirmed = true
	saved, err := s.Store.SaveSession(ctx, session, entry)
	if err != nil {
		return "", err
	}
	if !saved {
		return s.Confirm(ctx, by, accountID, id, flow, endUser)
	}
	return s.Link(id), nil
}

// Deny ends the session because the person did not ask for it, or thought
// better of it. The problems are those of Submit.
func (s *Service) Deny(ctx context.Context, token string, v Visitor) (*Outcome, error) {
	session, err := s.enter(ctx, token, v)
	if err != nil {
		return nil, err
	}
	session.end(SessionFailed, "sign_in_denied", "The user who opened the link declined.")
	return s.save(ctx, session, audit.New(session.AccountID, v.Actor, "connect.denied", session.ID, nil))
}

// Undo takes a new connection back, within UndoFor, in the browser that made
// it. Its problems are those of Visit, and connect_undo_over (Gone).
func (s *Service) Undo(ctx context.Context, token string, v Visitor) (*Outcome, error) {
	session, err := s.byToken(ctx, token, v)
	if err != nil {
		return nil, err
	}
	if !s.undoable(session) || !s.bound(session, v) {
		return nil, problem.New(problem.Gone, "connect_undo_over",
			"This can no longer be undone here. Delete the connection on the account page.")
	}
	if err := s.Delete(ctx, v.Actor, session.AccountID, session.ConnectionID, true); err != nil && !problem.Is(err,
		"connection_not_found") {
		return nil, err
	}
	session.end(SessionCanceled, "undone", "The connection was undone by the user who made it.")
	return s.save(ctx, session, audit.New(session.AccountID, v.Actor, "connect.undone", session.ID,
		map[string]string{"connection": session.ConnectionID}))
}

// undoable reports whether a session made a connection, did not repair one, and
// ended a short time ago.
func (s *Service) undoable(session *Session) bool {
	return session.Status == SessionConnected && session.Code != codeMended && time.Since(session.EndedAt) < UndoFor
}

// codeMended marks sessions that gave a connection new credentials: there is
// nothing to go back to.
const codeMended = "mended"

// end moves the session to its end. Secrets of a sign-in under way go with it.
func (s *Session) end(next SessionStatus, code, detail string) {
	if !s.Status.mayBecome(next) {
		return
	}
	s.Status, s.Code, s.Detail, s.EndedAt = next, code, detail, now()
	s.StateDigest, s.Attempt, s.FlowDigest = "", "", ""
}

// save writes a session that has ended and returns where the browser goes.
func (s *Service) save(ctx context.Context, session *Session, e audit.Entry) (*Outcome, error) {
	saved, err := s.Store.SaveSession(ctx, session, e)
	if err != nil {
		return nil, fmt.Errorf("ending connect session %s: %w", session.ID, err)
	}
	if !saved {
		return nil, raced()
	}
	return s.outcome(session, ""), nil
}

// raced says that two steps of one session came at once.
func raced() error {
	return problem.New(problem.Conflict, "connect_session_busy",
		"Another step of this sign-in was faster. Load the page again to see how it stands.")
}

// outcome is where a browser goes after a step: where redirect says, else where
// the developer wants it when the session is over, else to the link's page.
func (s *Service) outcome(session *Session, redirect string) *Outcome {
	o := &Outcome{Session: session, Redirect: redirect, Page: s.Link(session.ID)}
	if o.Redirect == "" {
		o.Redirect = s.handBack(session)
	}
	return o
}

// handBack is the developer's address with how the session ended; the link's
// page where there is none, or nothing has ended.
func (s *Service) handBack(session *Session) string {
	if session.Options.RedirectURL == "" || !session.Status.Over() {
		return s.Link(session.ID)
	}
	query := url.Values{"session_id": {session.ID}, "status": {string(SessionFailed)}}
	if session.Status == SessionConnected {
		query.Set("status", string(SessionConnected))
		query.Set("connection_id", session.ConnectionID)
	} else if session.Code != "" {
		query.Set("error", session.Code)
	}
	if session.Options.State != "" {
		query.Set("state", session.Options.State)
	}
	return landing.With(session.Options.RedirectURL, query)
}
