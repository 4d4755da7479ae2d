// Package account is who owns what on the platform: accounts, the people who
// act for them, and how these sign in.
//
//	ace account create -> Account and its owner
//	                      Link: a one-time address that signs the owner in
//	Redeem(link)   \
//	Password        > Session: a secret in a cookie, kept as a digest
//	Identity (OIDC)/  every request reads its row: signing out, here or on
//	                  another replica, ends it at once
//
// An attempt to guess a password is charged before it is checked, to the user
// and to the network that it comes from. A network waits longer and longer
// before it may try the same user again, so that it alone cannot lock the user
// out; after ten wrong passwords in a row from everywhere nothing is right for a
// quarter of an hour. Names that nobody has behave like those of users.
package account

import (
	"time"
)

// Account owns keys, connections and everything else on the platform.
type Account struct {
	ID         string
	Name       string // unique; lower-case letters, digits, - and _
	CreatedAt  time.Time
	DisabledAt time.Time // zero: it works
}

// Role is what a person may do in an account.
type Role string

// The roles.
const (
	Owner   Role = "owner"
	Admin   Role = "admin"
	Member  Role = "member"
	Auditor Role = "auditor" // reads everything, the audit log included; changes nothing
)

// Manages reports whether the role may make keys and change settings.
func (r Role) Manages() bool { return r == Owner || r == Admin }

// Connects reports whether the role may connect apps and change connections.
func (r Role) Connects() bool { return r.Manages() || r == Member }

// Audits reports whether the role may read the audit log.
func (r Role) Audits() bool { return r.Manages() || r == Auditor }

// User is a person who acts for an account.
type User struct {
	ID        string
	AccountID string
	Email     string // unique, lower case; may be empty for an owner made on the command line
	Name      string
	Role      Role
	CreatedAt time.Time

	HasPassword bool
	Subject     string // issuer and subject of the OpenID provider; empty: not linked
}

// Session is a person who is signed in.
type Session struct {
	ID        string // digest of the secret: not a secret itself
	PublicID  string // what its owner ends it by
	Method    string // ByLink, ByPassword, ByIdentity
	Address   string // network address of the sign-in; empty: not known
	Account   Account
	User      User
	Token     string // against requests of other sites (CSRF); bound to the session
	CreatedAt time.Time
	SeenAt    time.Time
}

// How people sign in.
const (
	ByLink     = "link"
	ByPassword = "password"
	ByIdentity = "identity" // at the OpenID provider
)

// FreshAt reports whether the person proved at a time, by a link a short while
// before, to be who the session is for.
func (s *Session) FreshAt(now time.Time) bool {
	return s.Method == ByLink && now.Sub(s.CreatedAt) < LinkLifetime
}

// Charge is an attempt to sign in as somebody, as one subject counts it.
type Charge struct {
	Subject string // keyed digest
	// Delays are for how long nothing may be tried after the first, the second, …
	// failure in a row; the last one goes on.
	Delays []time.Duration
}

// Lifetimes of what lets people in.
const (
	LinkLifetime    = 15 * time.Minute
	SessionLifetime = 30 * 24 * time.Hour // at most
	SessionIdle     = 7 * 24 * time.Hour  // without a request
)
