package connection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection/landing"
)

// Limits of what a session is asked for.
const (
	maxLabel   = 60
	maxEndUser = 200
	maxState   = 500
)

// Request asks for a connect session.
type Request struct {
	// ID, if set, is the id of the session, so that a repeated request makes one.
	ID      string
	App     string
	Options ConnectOptions
	Profile string        // a named set of scopes of the app
	TTL     time.Duration // 0: SessionLifetime; at least a minute, at most MaxSessionLifetime
}

// NewSessionID returns an id for Request.
func NewSessionID() string { return typeid.New(sessionPrefix) }

// Open creates a sign-in link for an app and returns its session; Link returns the
// address. Nothing is connected by it. Its problems: app_not_found (NotFound);
// app_not_connectable, app_needs_no_connection (Conflict); connection_not_found
// for Wish.Reconnects; unknown_app_params (Unprocessable); invalid_request
// (Invalid), with the pointers of the REST body.
func (s *Service) Open(ctx context.Context, by audit.Actor, accountID string, in Request) (*Session, error) {
	a, err := s.Apps.App(ctx, accountID, in.App)
	if err != nil {
		return nil, err
	}
	if in.TTL == 0 {
		in.TTL = SessionLifetime
	}
	if in.Options.Verify == "" {
		in.Options.Verify = VerifyAccount
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := s.addresses(ctx, accountID, &in.Options); err != nil {
		return nil, err
	}
	if err := s.reconnects(ctx, accountID, &in); err != nil {
		return nil, err
	}
	scheme, err := s.wishedScheme(ctx, accountID, a, in.Options.Scheme)
	if err != nil {
		return nil, err
	}
	if in.Options.Scheme != "" {
		in.Options.Scheme = scheme.ID
	}
	if in.Options.Scopes, err = scheme.WishedScopes(in.Options.Scopes, in.Profile); err != nil {
		return nil, err
	}
	if in.Options.Params, err = a.TakeParams(in.Options.Params); err != nil {
		return nil, err
	}
	id := in.ID
	if id == "" {
		id = NewSessionID()
	}
	session := &Session{
		ID: id, AccountID: accountID, App: a.ID, Status: SessionPending, Options: in.Options, AskedBy: by,
		CreatedAt: now(), ExpiresAt: now().Add(in.TTL), TokenDigest: s.digest(labelStored, s.token(id)),
	}
	entry := audit.New(accountID, by, "connect.asked", id,
		map[string]string{"app": a.ID, "reconnects": in.Options.Reconnects})
	stored, _, err := s.Store.InsertSession(ctx, session, entry)
	if err != nil {
		return nil, fmt.Errorf("keeping connect session %s: %w", id, err)
	}
	return stored, nil
}

// addresses judges where a wish sends browsers and notices: within the account's
// list, and through the guard.
func (s *Service) addresses(ctx context.Context, accountID string, w *ConnectOptions) error {
	if s.Landings != nil && w.RedirectURL+w.VerifyURL != "" {
		list, err := s.Landings.RedirectURLs(ctx, accountID)
		if err != nil {
			return err
		}
		if w.VerifyURL != "" && len(list) == 0 {
			return invalid("/verify_url", "This account has no list of addresses, and the page that says who somebody "+
				"is must be on it. Add it on the account page, with PUT /redirect-urls or by ace account redirects.").
				Advise("ask_owner_for_permission")
		}
		for pointer, address := range map[string]string{"/redirect_url": w.RedirectURL, "/verify_url": w.VerifyURL} {
			if address != "" && !landing.Allowed(list, address) {
				return invalid(pointer,
					"This account sends browsers to the addresses on its list alone. Ask its owner to add this one.").
					Advise("ask_owner_for_permission")
			}
		}
	}
	if w.NotifyURL == "" {
		return nil
	}
	if s.Notices == nil || !landing.Valid(w.NotifyURL) {
		return webhookRefused(
			"notify_webhook_url is an https address, or http on a loopback address, of at most 2048 characters.")
	}
	if err := s.Notices.Allowed(w.NotifyURL); err != nil {
		p, ok := problem.From(err)
		if !ok {
			return err
		}
		return webhookRefused("This address is not called from here: " + p.Detail)
	}
	return nil
}

func webhookRefused(detail string) error {
	return problem.New(problem.Unprocessable, "webhook_url_not_allowed", detail).At("/notify_webhook_url").Advise(
		"fix_arguments")
}

// reconnects completes the options of a session that reconnects a connection.
func (s *Service) reconnects(ctx context.Context, accountID string, in *Request) error {
	if in.Options.Reconnects == "" {
		return nil
	}
	c, err := s.Store.Connection(ctx, accountID, in.Options.Reconnects)
	if err != nil {
		return err
	}
	if c.App != in.App || c.Status == Revoked || in.Options.EndUser != "" && in.Options.EndUser != c.EndUser {
		return connectionNotFound()
	}
	in.Options.EndUser = c.EndUser
	if in.Options.Scheme == "" {
		in.Options.Scheme = c.Scheme
	}
	if in.Options.Params == nil {
		in.Options.Params = map[string]string{}
	}
	return nil
}

// wishedScheme is the scheme that was asked for, or the first usable one.
func (s *Service) wishedScheme(ctx context.Context, accountID string, a *app.App, id string) (*app.Scheme, error) {
	usable, err := s.usable(ctx, accountID, a)
	if err != nil {
		return nil, err
	}
	if id != "" {
		scheme := a.SchemeOr(id)
		switch {
		case scheme == nil:
			return nil, invalid("/auth",
				fmt.Sprintf("%s is connected by one of: %s.", a.Name, strings.Join(a.SchemeIDs(), ", ")))
		case !slices.ContainsFunc(usable, func(u *app.Scheme) bool { return u.ID == scheme.ID }):
			return nil, s.notConnectable(a)
		}
		usable = []*app.Scheme{scheme}
	}
	switch {
	case len(usable) == 0 && len(a.Schemes) > 0:
		return nil, s.notConnectable(a)
	case len(usable) == 0 || usable[0].Type == app.TypeNone:
		return nil, problem.New(problem.Conflict, "app_needs_no_connection",
			a.Name+" needs no connection: run its tools as they are.").With("app", a.ID).Advise("find_tools")
	}
	return usable[0], nil
}

func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func (in *Request) check() error {
	w := &in.Options
	w.Label = strings.TrimSpace(w.Label)
	switch {
	case utf8.RuneCountInString(w.Label) > maxLabel || !plain(w.Label):
		return invalid("/label", fmt.Sprintf("A label has at most %d characters, on one line.", maxLabel))
	case utf8.RuneCountInString(w.EndUser) > maxEndUser || !plain(w.EndUser):
		return invalid("/end_user", fmt.Sprintf("end_user has at most %d characters, on one line.", maxEndUser))
	case len(w.State) > maxState || !plain(w.State):
		return invalid("/state", fmt.Sprintf("state has at most %d characters, on one line.", maxState))
	case w.RedirectURL != "" && !landing.Valid(w.RedirectURL):
		return invalid("/redirect_url",
			"redirect_url is an https address, or http on a loopback address, of at most 2048 characters.")
	case in.TTL < time.Minute || in.TTL > MaxSessionLifetime:
		return invalid("/expires_in", "A link works for 60 seconds to 24 hours.")
	case w.Verify != VerifyAccount && w.Verify != VerifyLink && w.Verify != VerifyCallback:
		return invalid("/verify", "verify is account, link or callback.")
	case w.Verify == VerifyCallback && (!landing.Valid(w.VerifyURL) || w.EndUser == ""):
		return invalid("/verify_url",
			"verify callback needs verify_url, an https address of yours that says who is there, and end_user, whom "+
				"it has to find.")
	case w.Verify != VerifyCallback && w.VerifyURL != "":
		return invalid("/verify_url", `verify_url goes with "verify": "callback" alone.`)
	}
	return nil
}

func invalid(pointer, detail string) *problem.Problem {
	return problem.New(problem.Invalid, "invalid_request", detail).WithItems(problem.Item{
		Pointer: pointer,
		Code:    "invalid", Detail: detail,
	}).Advise("fix_arguments")
}
