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

// cookieName is bound to the host where it can be.
func (g *Gate) cookieName() string {
	if g.secure {
		return "__Host-ace_session"
	}
	return "ace_session"
}

// SetSession hands a session's secret to the browser.
func (g *Gate) SetSession(h http.Header, secret string) {
	g.setCookie(h, secret, int(account.SessionLifetime/time.Second))
}

// ClearSession takes the session from the browser.
func (g *Gate) ClearSession(h http.Header) { g.setCookie(h, "", -1) }

func (g *Gate) setCookie(h http.Header, value string, maxAge int) {
	c := http.Cookie{Name: g.cookieName(), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: g.secure, SameSite: http.SameSiteLaxMode}
	h.Add("Set-Cookie", c.String())
}

// Session answers who is signed in, or nil.
func (g *Gate) Session(r *http.Request) (*account.Session, error) {
	secret := ""
	if cookie, err := r.Cookie(g.cookieName()); err == nil {
		secret = cookie.Value
	}
	return g.accounts.Session(r.Context(), secret)
}

// Actor is the caller of r before anybody is known.
func Actor(r *http.Request) audit.Actor {
	return audit.Actor{IP: address(httpserver.ClientIP(r.Context()))}
}

// person finds who is signed in and checks that the request is theirs and not
// another site's.
func (g *Gate) person(h http.Header, r *http.Request, need Need) (*Caller, error) {
	if err := g.take(h, r, g.limits.Addresses, ratelimit.ClientKey(httpserver.ClientIP(r.Context()))); err != nil {
		return nil, err
	}
	session, err := g.Session(r)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, problem.New(problem.Unauthenticated, "session_required", "Sign in on the account page first. API keys do not open this: they cannot make or change keys.")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !Genuine(r, session) {
		return nil, strange()
	}
	role := session.User.Role
	if need.Manages && !role.Manages() || need.Audits && !role.Audits() || need.Connects && !role.Connects() {
		return nil, problem.New(problem.Forbidden, "role_required", "Your role in this account does not allow this. Ask its owner.")
	}
	return ByPerson(r, session), nil
}

// ByPerson is the caller of a request by a person who is signed in.
func ByPerson(r *http.Request, session *account.Session) *Caller {
	actor := Actor(r)
	actor.Kind, actor.ID, actor.Name = audit.ByUser, session.User.ID, session.User.Name
	return &Caller{Account: session.Account.ID, Session: session, Actor: actor}
}

// MayTry returns rate_limited where the address of r has failed to show who it
// is too often: with wrong keys or by signing in.
func (g *Gate) MayTry(r *http.Request) error {
	return g.fail(r, 0)
}

// Failed counts that the address of r failed to show who it is.
func (g *Gate) Failed(r *http.Request) error {
	err := g.fail(r, 1)
	if problem.Is(err, "rate_limited") {
		return nil // it has the refusal for what it did already
	}
	return err
}

func (g *Gate) fail(r *http.Request, cost int) error {
	result, err := g.limits.Failures.Take(r.Context(), ratelimit.ClientKey(httpserver.ClientIP(r.Context())), cost)
	if err != nil {
		return err
	}
	if !result.Allowed || cost == 0 && result.Policy.Quantity > 0 && result.Remaining == 0 {
		return ratelimit.Problem(result)
	}
	return nil
}

func strange() error {
	return problem.New(problem.Forbidden, "csrf_token_invalid", "The form is too old, or it does not come from this site. Load the page again.")
}

// SameSite returns csrf_token_invalid for a form that another site sent, as the
// browser tells: for forms of people who have no session yet.
func SameSite(r *http.Request) error {
	if http.NewCrossOriginProtection().Check(r) != nil {
		return strange()
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
