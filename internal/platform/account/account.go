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
// Guessing is slowed down per user, whatever address it comes from: after ten
// wrong passwords in a row nothing is right for a quarter of an hour.
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

	// Failures counts wrong passwords in a row; BlockedUntil is set when they
	// are too many.
	Failures     int
	BlockedUntil time.Time
}

// Session is a person who is signed in.
type Session struct {
	ID        string // digest of the secret: not a secret itself
	Account   Account
	User      User
	Token     string // against requests of other sites (CSRF); bound to the session
	CreatedAt time.Time
	SeenAt    time.Time
}

// Lifetimes of what lets people in.
const (
	LinkLifetime    = 15 * time.Minute
	SessionLifetime = 30 * 24 * time.Hour // at most
	SessionIdle     = 7 * 24 * time.Hour  // without a request
)
