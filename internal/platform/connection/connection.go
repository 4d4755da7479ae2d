// Package connection is the apps that an account has connected: sign-in links,
// the states of a connection, and credentials that are fresh when a tool runs.
//
//	Open(app, scheme) -> Session: a link, single use, bound to one browser
//	   the person opens it -> form or consent -> Grant
//	      -> whose account is it (Checker) -> Connection active
//
//	   active ── refresh refused ──> needs_reconnect ── Open(reconnect) ──> active
//	     |  \─ check fails ──> error                       (the id stays)
//	     |  \─ by the owner ──> disabled
//	     \── deleted: revoked at the vendor, secrets gone
//
//	Use(connection) -> Live: fresh credentials for one call
//	     token about to end? one refresh for all callers on all replicas:
//	     a lease in the row, a fencing number, compare-and-set of the version
//
// Credentials are sealed with the row's place and opened for one call only.
package connection

import (
	"context"
	"net/url"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection/grant"
)

// Status is the state of a connection.
type Status string

// The states.
const (
	Active         Status = "active"
	NeedsReconnect Status = "needs_reconnect" // only the user can reconnect it
	Failing        Status = "error"           // the vendor refuses, or cannot be reached
	Disabled       Status = "disabled"        // by the owner
	Revoked        Status = "revoked"         // deleted; kept for the record
)

// Reasons of a state that is not active.
const (
	ReasonInvalidGrant   = "invalid_grant"
	ReasonTokenExpired   = "refresh_token_expired"
	ReasonUserRevoked    = "user_revoked"
	ReasonScopesMissing  = "scopes_missing"
	ReasonClient         = "client_misconfigured"
	ReasonUnavailable    = "provider_unavailable"
	ReasonCheckFailed    = "check_failed"
	ReasonUndecryptable  = "vault_undecryptable"
	ReasonDisabledByUser = "disabled_by_user"
)

// Connection is one account of one app, connected to one account of ours.
type Connection struct {
	ID        string // con_…
	AccountID string
	App       string
	Scheme    string // id of the app's scheme
	Label     string // for people, where one app is connected more than once
	Default   bool   // chosen where a caller names none
	EndUser   string // the account's own user that it belongs to; "": the account itself
	Params    map[string]string
	Identity  Identity
	Status    Status
	Reason    string
	Scopes    []string // granted

	CreatedAt      time.Time
	LastUsedAt     time.Time
	LastCheckedAt  time.Time
	TokenExpiresAt time.Time    // zero: never, or unknown
	RefreshedAt    time.Time    // when the credentials of now were made
	NextRefreshAt  time.Time    // zero: not by itself
	RefreshTriedAt time.Time    // zero: the last refresh succeeded
	RefreshFailed  int          // in a row
	RefreshClass   RefreshClass // of the last failure; empty: the last refresh succeeded
	Version        int64        // grows with each change of the credentials
}

// What a sign-in ends with; package grant says more.
type (
	// Identity is whose account at the vendor it is.
	Identity = grant.Identity
	// Credentials are the secrets of a connection by name.
	Credentials = grant.Credentials
	// Grant is what a sign-in, or a refresh, ends with.
	Grant = grant.Grant
)

// Client is an OAuth client that the operator has registered with a vendor, one
// of the account's own, or one that was registered dynamically with an issuer.
type Client struct {
	App       string
	AccountID string // "": for all accounts
	ID        string
	Secret    string
	Extra     map[string]string // further values: private keys, developer tokens
	Issuer    string            // of clients that were registered dynamically
	Broken    bool              // the vendor does not know it any more
}

// Attempt is one sign-in under way at a vendor. It is kept, sealed, between the
// redirect there and the callback.
type Attempt struct {
	AccountID string // whose sign-in it is
	State     string // random; kept as a digest
	Verifier  string // of PKCE
	Redirect  string // our callback
	Scopes    []string
	Issuer    string            // expected in the callback (RFC 9207), where it is known
	Extra     map[string]string // request token secrets, endpoints that were discovered
}

// Authorizer speaks to authorization servers. Its problems: oauth_client_missing
// (Conflict), sign_in_denied, sign_in_failed, provider_unavailable.
type Authorizer interface {
	// Start returns the URL that the user is sent to, and completes the
	// attempt with what the callback needs.
	Start(ctx context.Context, a *app.App, s *app.Scheme, client *Client, params map[string]string,
		attempt *Attempt) (address string, err error)
	// Finish turns the callback into a grant.
	Finish(ctx context.Context, a *app.App, s *app.Scheme, client *Client, params map[string]string, attempt *Attempt,
		callback url.Values) (*Grant, error)
	// Exchange makes a grant of what a person typed: keys as they are, tokens
	// for schemes that trade them.
	Exchange(ctx context.Context, a *app.App, s *app.Scheme, client *Client, params map[string]string,
		typed Credentials) (*Grant, error)
	// Refresh renews a grant. Its error is a *RefreshError wherever the vendor
	// answered or could not be reached.
	Refresh(ctx context.Context, a *app.App, s *app.Scheme, client *Client, c *Connection,
		old Credentials) (*Grant, error)
	// Revoke ends a grant at the vendor as far as it can be ended.
	Revoke(ctx context.Context, a *app.App, s *app.Scheme, client *Client, c *Connection, old Credentials) error
}

// Checker asks an app whose account the credentials open: its whoami call. Its
// errors are problems, or a Refusal, with the codes app_unauthorized,
// app_forbidden, app_unavailable, app_timeout.
type Checker interface {
	Check(ctx context.Context, a *app.App, s *app.Scheme, live *Live) (Identity, error)
}

// Refusal is an error that says what an app refused.
type Refusal interface {
	error
	AppCode() string // app_unauthorized, app_forbidden …
}

// Stepper makes the calls that surround a connection's life: those of
// app.App.Resolve after it was made, those of app.App.Release before it ends.
type Stepper interface {
	// Steps makes the calls in order, each with the credentials of live and with
	// what those before it kept, and returns all that was kept. Its errors are
	// those of a Checker.
	Steps(ctx context.Context, a *app.App, s *app.Scheme, live *Live,
		steps []app.Step) (values map[string]string, err error)
}

// RefreshClass says what a failed refresh means.
type RefreshClass string

// The classes.
const (
	GrantOver    RefreshClass = "grant_over"    // the person must connect again
	ClientBroken RefreshClass = "client_broken" // the operator must repair the client; connections stay
	Temporary    RefreshClass = "temporary"     // try again later, use what is there meanwhile
	Unknown      RefreshClass = "unknown"       // ten tries in four days, then as grant_over
)

// RefreshError is a refresh that failed.
type RefreshError struct {
	Class  RefreshClass
	Status int    // of the response; 0: none
	Code   string // error of RFC 6749, or the vendor's own; never a description
	After  time.Duration
}

// Error says what failed without what the vendor wrote.
func (e *RefreshError) Error() string {
	return "refreshing the token: " + string(e.Class) + " " + e.Code
}

// Live is a connection with credentials for one call.
type Live struct {
	Connection *Connection
	Values     app.Values // credentials, params and what the operator's client adds
}
