package notes

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/typeid"
)

// Scopes of the app.
const (
	scopeRead  = "notes.read"
	scopeWrite = "notes.write"
)

const codeLifetime = time.Minute

// oauthError is an error of RFC 6749.
type oauthError struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func (e *oauthError) Error() string { return e.Code }

func refuse(status int, code, description string) *oauthError {
	return &oauthError{status: status, Code: code, Description: description}
}

type client struct {
	id, digest, name string
	redirects        []string
}

func (n *Notes) client(ctx context.Context, id string) (*client, error) {
	c := &client{}
	var redirects string
	ok, err := found(
		n.db.Reader().QueryRowContext(ctx, `SELECT id, digest, name, redirects FROM notes_client WHERE id = $1`,
			id).Scan(&c.id, &c.digest, &c.name, &redirects))
	if err != nil || !ok {
		return nil, err
	}
	return c, json.Unmarshal([]byte(redirects), &c.redirects)
}

// request is an authorization request that was found sound.
type request struct {
	client                            *client
	redirect, state, challenge, scope string
}

// readRequest checks an authorization request. Faults of client and redirect
// are shown to the person; a redirect that is not known is never followed.
func (n *Notes) readRequest(ctx context.Context, q url.Values) (*request, error) {
	c, err := n.client(ctx, q.Get("client_id"))
	if err != nil {
		return nil, err
	}
	redirect, err := url.Parse(q.Get("redirect_uri"))
	if c == nil || err != nil || redirect.Host == "" || redirect.Scheme != "http" && redirect.Scheme != "https" ||
		redirect.Fragment != "" ||
		len(c.redirects) > 0 && !slices.Contains(c.redirects, redirect.String()) {
		return nil, refuse(http.StatusBadRequest, "invalid_request",
			"The app that sent you here is not known, or wants you back at an address that is not its own.")
	}
	return &request{
		client: c, redirect: redirect.String(), state: q.Get("state"), challenge: q.Get("code_challenge"),
		scope: q.Get("scope"),
	}, nil
}

// fault is the OAuth error that a redirect reports.
func (r *request) fault(q url.Values) string {
	switch {
	case q.Get("response_type") != "code":
		return "unsupported_response_type"
	case r.challenge == "" || q.Get("code_challenge_method") != "S256":
		return "invalid_request"
	}
	for scope := range strings.FieldsSeq(r.scope) {
		if scope != scopeRead && scope != scopeWrite {
			return "invalid_scope"
		}
	}
	return ""
}

// back is the address that the person is sent back to.
func (r *request) back(values url.Values) string {
	u, err := url.Parse(r.redirect)
	if err != nil {
		return "/"
	}
	q := u.Query()
	for name := range values {
		q.Set(name, values.Get(name))
	}
	if r.state != "" {
		q.Set("state", r.state)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// issueCode keeps what a person allowed until the client fetches the token.
func (n *Notes) issueCode(ctx context.Context, r *request, person string) (string, error) {
	code := secret("code")
	scope := r.scope
	if scope == "" {
		scope = scopeRead + " " + scopeWrite
	}
	return code, n.write(
		ctx,
		`INSERT INTO notes_code (digest, client_id, person, redirect, challenge, scope, expires_at) VALUES ($1, $2,
			$3, $4, $5, $6, $7)`,
		digest(code),
		r.client.id,
		person,
		r.redirect,
		r.challenge,
		scope,
		now()+codeLifetime.Milliseconds(),
	)
}

// token is a response of the token endpoint.
type token struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
	Workspace    string `json:"workspace"`
}

// grantToken returns POST /oauth/token.
func (n *Notes) grantToken(ctx context.Context, r *http.Request) (*token, error) {
	c, err := n.authenticate(ctx, r)
	if err != nil {
		return nil, err
	}
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		return n.redeem(ctx, c, r.PostForm)
	case "refresh_token":
		return n.refresh(ctx, c, r.PostForm.Get("refresh_token"))
	}
	return nil, refuse(http.StatusBadRequest, "unsupported_grant_type",
		"authorization_code and refresh_token are granted here.")
}

// authenticate finds the client by Basic or by the form.
func (n *Notes) authenticate(ctx context.Context, r *http.Request) (*client, error) {
	if err := r.ParseForm(); err != nil {
		return nil, refuse(http.StatusBadRequest, "invalid_request", "The form cannot be read.")
	}
	id, password, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		password, _ = url.QueryUnescape(password)
	} else {
		id, password = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	c, err := n.client(ctx, id)
	if err != nil {
		return nil, err
	}
	if c == nil || c.digest != "" && subtle.ConstantTimeCompare([]byte(c.digest), []byte(digest(password))) != 1 {
		return nil, refuse(http.StatusUnauthorized, "invalid_client",
			"The client is not known, or its secret is wrong.")
	}
	return c, nil
}

func (n *Notes) redeem(ctx context.Context, c *client, form url.Values) (*token, error) {
	var clientID, person, redirect, challenge, scope string
	var expires int64
	var ok bool
	err := n.db.Tx(ctx, func(tx *sql.Tx) (err error) {
		ok, err = found(tx.QueryRowContext(
			ctx,
			`DELETE FROM notes_code WHERE digest = $1 RETURNING client_id, person, redirect, challenge, scope,
				expires_at`,
			digest(form.Get("code")),
		).Scan(&clientID, &person, &redirect, &challenge, &scope, &expires))
		return err
	})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || clientID != c.id || expires < now() || redirect != form.Get("redirect_uri") ||
		challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		return nil, refuse(http.StatusBadRequest, "invalid_grant", "The code is unknown, used, too old or another's.")
	}
	return n.issue(ctx, func(t *token, tx *sql.Tx) error {
		t.Scope = scope
		_, err := tx.ExecContext(
			ctx,
			`INSERT INTO notes_grant (id, client_id, person, scope, access, refresh, spent, access_until, refreshes,
				created_at)
			VALUES ($1, $2, $3, $4, $5, $6, '', $7, 0, $8)`,
			typeid.New("grant"),
			c.id,
			person,
			scope,
			digest(t.AccessToken),
			digest(t.RefreshToken),
			n.until(),
			now(),
		)
		return err
	})
}

func (n *Notes) until() int64 { return time.Now().Add(n.options.AccessLifetime).UnixMilli() }

func (n *Notes) issue(ctx context.Context, store func(t *token, tx *sql.Tx) error) (*token, error) {
	t := &token{
		AccessToken: secret("nat"), RefreshToken: secret("nrt"), TokenType: "Bearer",
		ExpiresIn: int64(n.options.AccessLifetime / time.Second), Workspace: "home",
	}
	if err := n.db.Tx(ctx, func(tx *sql.Tx) error { return store(t, tx) }); err != nil {
		if own, ok := err.(*oauthError); ok { //nolint:errorlint // our own, from keep, never wrapped
			return nil, own
		}
		return nil, fmt.Errorf("keeping a grant: %w", err)
	}
	return t, nil
}

// refresh rotates: the token that was presented is spent. One that was spent
// before says that somebody copied it, and ends the grant.
func (n *Notes) refresh(ctx context.Context, c *client, presented string) (*token, error) {
	over := refuse(http.StatusBadRequest, "invalid_grant", "The refresh token is unknown, used or revoked.")
	var stolen bool
	t, err := n.issue(ctx, func(t *token, tx *sql.Tx) error {
		stolen = false
		ok, err := found(tx.QueryRowContext(
			ctx,
			`UPDATE notes_grant SET spent = refresh, refresh = $3, access = $4, access_until = $5, refreshes =
				refreshes + 1
			WHERE refresh = $1 AND client_id = $2 RETURNING scope`,
			digest(presented),
			c.id,
			digest(t.RefreshToken),
			digest(t.AccessToken),
			n.until(),
		).Scan(&t.Scope))
		if err != nil || ok {
			return err
		}
		stolen = true
		_, err = tx.ExecContext(ctx, `DELETE FROM notes_grant WHERE spent = $1 AND spent <> ''`, digest(presented))
		return err
	})
	if err == nil && stolen {
		return nil, over
	}
	return t, err
}

// revoke ends a grant by either of its tokens (RFC 7009).
func (n *Notes) revoke(ctx context.Context, r *http.Request) error {
	c, err := n.authenticate(ctx, r)
	if err != nil {
		return err
	}
	d := digest(r.PostForm.Get("token"))
	return n.write(ctx, `DELETE FROM notes_grant WHERE client_id = $1 AND (access = $2 OR refresh = $2)`, c.id, d)
}

// registration is RFC 7591, as far as clients need it.
type registration struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"client_name,omitempty"`
	RedirectURIs []string `json:"redirect_uris"`
	Method       string   `json:"token_endpoint_auth_method"`
	IssuedAt     int64    `json:"client_id_issued_at"`
}

// register makes a public client.
func (n *Notes) register(ctx context.Context, in registration) (*registration, error) {
	if len(in.RedirectURIs) == 0 || len(in.RedirectURIs) > 10 {
		return nil, refuse(http.StatusBadRequest, "invalid_redirect_uri", "Name one to ten addresses to come back to.")
	}
	for _, address := range in.RedirectURIs {
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Fragment != "" || len(address) > 2048 {
			return nil, refuse(http.StatusBadRequest, "invalid_redirect_uri",
				"An address to come back to is no address.")
		}
	}
	redirects, err := json.Marshal(in.RedirectURIs)
	if err != nil {
		return nil, fmt.Errorf("encoding addresses: %w", err)
	}
	in.ClientID, in.Method, in.IssuedAt = typeid.New("client"), "none", time.Now().Unix()
	return &in, n.write(ctx,
		`INSERT INTO notes_client (id, digest, name, redirects, created_at) VALUES ($1, '', $2, $3, $4)`, in.ClientID,
		in.Name, string(redirects), now())
}

// caller is who a request of the API acts for.
type caller struct {
	person string
	scope  string
}

func (c *caller) may(scope string) bool { return slices.Contains(strings.Fields(c.scope), scope) }

// identify finds the person behind a token or a key; nil for neither.
func (n *Notes) identify(ctx context.Context, r *http.Request) (*caller, error) {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		c := &caller{scope: scopeRead + " " + scopeWrite}
		ok, err := found(n.db.Reader().QueryRowContext(ctx, `SELECT person FROM notes_key WHERE digest = $1`,
			digest(key)).Scan(&c.person))
		if err != nil || !ok {
			return nil, err
		}
		return c, nil
	}
	scheme, presented, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return nil, nil
	}
	c := &caller{}
	ok, err := found(
		n.db.Reader().QueryRowContext(ctx,
			`SELECT person, scope FROM notes_grant WHERE access = $1 AND access_until > $2`, digest(presented),
			now()).Scan(&c.person, &c.scope))
	if err != nil || !ok {
		return nil, err
	}
	return c, nil
}

// NewKey makes an API key for a person.
func (n *Notes) NewKey(ctx context.Context, person string) (string, error) {
	key := secret("nk")
	return key, n.write(ctx, `INSERT INTO notes_key (digest, person, created_at) VALUES ($1, $2, $3)`, digest(key),
		person, now())
}
