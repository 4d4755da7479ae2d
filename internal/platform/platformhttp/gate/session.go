package gate

import (
	"crypto/subtle"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
)

// TokenHeader carries the session's token in requests of scripts; forms send it
// as TokenField.
const (
	TokenHeader = "X-CSRF-Token"
	TokenField  = "csrf_token"
)

// cookieName is bound to the host where the host is served over https.
func (g *Gate) cookieName() string {
	if g.secure {
		return "__Host-ace_session"
	}
	return "ace_session"
}

// SetSession sets the cookie of a session.
func (g *Gate) SetSession(h http.Header, secret string) {
	g.setCookie(h, secret, int(account.SessionLifetime/time.Second))
}

// ClearSession deletes the cookie of a session.
func (g *Gate) ClearSession(h http.Header) { g.setCookie(h, "", -1) }

func (g *Gate) setCookie(h http.Header, value string, maxAge int) {
	c := http.Cookie{
		Name: g.cookieName(), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: g.secure,
		SameSite: http.SameSiteLaxMode,
	}
	h.Add("Set-Cookie", c.String())
}

// Session returns who is signed in, or nil.
func (g *Gate) Session(r *http.Request) (*account.Session, error) {
	secret := ""
	if cookie, err := r.Cookie(g.cookieName()); err == nil {
		secret = cookie.Value
	}
	return g.accounts.Session(r.Context(), secret)
}

// Actor is the actor of a request whose caller is not known.
func Actor(r *http.Request) audit.Actor {
	return audit.Actor{IP: address(httpserver.ClientIP(r.Context()))}
}

// person finds who is signed in and checks that the request is theirs and not
// another site's.
func (g *Gate) person(h http.Header, r *http.Request) (*Caller, error) {
	if err := g.count(h, r, g.limits.Addresses, ratelimit.ClientKey(httpserver.ClientIP(r.Context())), 1); err != nil {
		return nil, err
	}
	session, err := g.Session(r)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, problem.New(problem.Unauthenticated, "session_required",
			"This is for a person: sign in to the console first. API keys cannot be used here.")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !Genuine(r, session) {
		return nil, foreignForm()
	}
	return ByPerson(r, session), nil
}

// ByPerson is the caller of a request by a person who is signed in.
func ByPerson(r *http.Request, session *account.Session) *Caller {
	actor := Actor(r)
	actor.Kind, actor.ID, actor.Name = audit.ByUser, session.User.ID, session.User.Name
	return &Caller{Account: session.Account.ID, Session: session, Actor: actor}
}

// MayTry returns rate_limited where the network address of r has sent wrong
// credentials too often, keys or passwords.
func (g *Gate) MayTry(r *http.Request) error {
	return g.fail(r, 0)
}

// Failed counts wrong credentials from the network address of r.
func (g *Gate) Failed(r *http.Request) error {
	err := g.fail(r, 1)
	if problem.Is(err, "rate_limited") {
		return nil // the request is refused already, for another reason
	}
	return err
}

func (g *Gate) fail(r *http.Request, cost int) error {
	result, err := g.limits.Failures.Allow(r.Context(), ratelimit.ClientKey(httpserver.ClientIP(r.Context())), cost)
	if err != nil {
		return err
	}
	if !result.Allowed || cost == 0 && result.Policy.Quantity > 0 && result.Remaining == 0 {
		return ratelimit.Problem(result)
	}
	return nil
}

func foreignForm() error {
	return problem.New(problem.Forbidden, "csrf_token_invalid",
		"The form is too old, or it does not come from this site. Load the page again.")
}

// SameSite returns csrf_token_invalid for a form that another site sent, as the
// browser reports it: for forms of people who have no session yet.
func SameSite(r *http.Request) error {
	if http.NewCrossOriginProtection().Check(r) != nil {
		return foreignForm()
	}
	return nil
}

// Genuine reports whether a request that changes something carries the
// session's token.
func Genuine(r *http.Request, session *account.Session) bool {
	token := r.Header.Get(TokenHeader)
	if token == "" {
		token = r.PostFormValue(TokenField)
	}
	return subtle.ConstantTimeCompare([]byte(token), []byte(session.Token)) == 1
}
