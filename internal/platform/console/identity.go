package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/platformhttp/gate"
)

// Identities is an OpenID provider that vouches for people.
type Identities interface {
	// Name is what people know the provider by.
	Name() string
	// Start returns the address that a person is sent to. It returns
	// identity_unavailable (Unavailable) while the provider does not answer.
	Start(ctx context.Context, state, nonce, verifier string) (address string, err error)
	// Finish turns what the provider sent back into whom it vouches for. The
	// e-mail address is empty unless the provider has verified it. Besides
	// identity_unavailable it returns identity_refused (Forbidden) for everything
	// that does not prove who it is.
	Finish(ctx context.Context, callback url.Values, nonce, verifier string) (issuer, subject, verifiedEmail string,
		err error)
}

// attempt is a sign-in at the provider under way. It waits, sealed, in the
// browser that began it: no other browser can end it.
type attempt struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"` // of PKCE
	Next     string    `json:"p"`
	Expires  time.Time `json:"e"`
}

func attemptPlace() seal.Place { return seal.Place{Table: "cookie", Column: "openid"} }

func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func noProvider() error {
	return problem.New(problem.NotFound, "not_found", "There is no OpenID provider here.")
}

func (c *Console) beginIdentity(w http.ResponseWriter, r *http.Request) {
	if c.Identities == nil {
		c.fail(w, r, noProvider())
		return
	}
	a := attempt{
		State: random(), Nonce: random(), Verifier: random(), Next: localPath(r.URL.Query().Get("next")),
		Expires: time.Now().Add(waitInCookie),
	}
	address, err := c.Identities.Start(r.Context(), a.State, a.Nonce, a.Verifier)
	if err != nil {
		c.identityFailed(w, r, a.Next, err)
		return
	}
	text, err := json.Marshal(a)
	if err == nil {
		var sealed string
		if sealed, err = c.Sealer.Seal(text, attemptPlace()); err == nil {
			c.cookie(w.Header(), cookieOpenID, sealed, waitInCookie)
		}
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	back(w, r, address)
}

func (c *Console) finishIdentity(w http.ResponseWriter, r *http.Request) {
	if c.Identities == nil {
		c.fail(w, r, noProvider())
		return
	}
	c.cookie(w.Header(), cookieOpenID, "", 0) // good once
	a, ok := c.attempt(r)
	if !ok {
		c.signInFailed(w, r, accountPath,
			problem.New(problem.Forbidden, "identity_refused",
				"This sign-in began in another browser, or too long ago. Begin again."))
		return
	}
	issuer, subject, email, err := c.Identities.Finish(r.Context(), r.URL.Query(), a.Nonce, a.Verifier)
	if err != nil {
		c.identityFailed(w, r, a.Next, err)
		return
	}
	_, secret, err := c.Accounts.SignInIdentity(r.Context(), gate.Actor(r), issuer, subject, email)
	if err != nil {
		c.signInFailed(w, r, a.Next, err)
		return
	}
	c.enter(w, r, secret, a.Next)
}

// identityFailed tells the person that the provider did not vouch for them, and
// the operator why.
func (c *Console) identityFailed(w http.ResponseWriter, r *http.Request, next string, err error) {
	if p, known := problem.From(err); known {
		c.Log.WarnContext(r.Context(), "a sign-in by the OpenID provider failed", slog.String("problem", p.Code),
			slog.Any("error", err))
	}
	c.signInFailed(w, r, next, err)
}

// attempt is the sign-in that the callback belongs to.
func (c *Console) attempt(r *http.Request) (a attempt, ok bool) {
	text, err := c.Sealer.Open(c.readCookie(r, cookieOpenID), attemptPlace())
	if err != nil || json.Unmarshal(text, &a) != nil || time.Now().After(a.Expires) {
		return a, false
	}
	return a, subtle.ConstantTimeCompare([]byte(a.State), []byte(r.URL.Query().Get("state"))) == 1
}
