package connection

import (
	"context"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
)

// Apps finds definitions of apps: those of the catalog, and those that an
// account has made itself.
type Apps interface {
	// App returns app_not_found (NotFound).
	App(ctx context.Context, accountID, id string) (*app.App, error)
}

// Sessions keeps connect sessions.
type Sessions interface {
	// InsertSession keeps a new session. A session with its id that is there
	// already is returned instead, with inserted false.
	InsertSession(ctx context.Context, s *Session, e audit.Entry) (stored *Session, inserted bool, err error)
	// Session returns connect_session_not_found (NotFound), also for one of
	// another account.
	Session(ctx context.Context, accountID, id string) (*Session, error)
	// SessionByToken and SessionByState return nil where there is none.
	SessionByToken(ctx context.Context, digest string) (*Session, error)
	SessionByState(ctx context.Context, digest string) (*Session, error)
	// SaveSession writes the session if its version is still s.Version, which it
	// raises; saved reports whether it was. An entry without an action is not kept.
	SaveSession(ctx context.Context, s *Session, e audit.Entry) (saved bool, err error)
	// PruneSessions forgets sessions that ended, or ran out, before a time, and
	// connections that were deleted before another.
	PruneSessions(ctx context.Context, sessions, connections time.Time) (more bool, err error)
}

// Connections keeps what is known of connections, without their secrets.
type Connections interface {
	// Connection returns connection_not_found (NotFound), also for one of another
	// account.
	Connection(ctx context.Context, accountID, id string) (*Connection, error)
	// Connections returns the connections of an account, oldest first.
	Connections(ctx context.Context, accountID string, q Query) ([]*Connection, error)
	// ChangeConnection applies change to the row and keeps label, default, status,
	// reason, identity and times. Where change makes it the default, no other of
	// the same app and end user stays one. An error of change ends it; an entry
	// without an action is not kept.
	ChangeConnection(ctx context.Context, accountID, id string, change func(*Connection) error,
		e audit.Entry) (*Connection, error)
	// TouchConnections moves LastUsedAt forward, by id.
	TouchConnections(ctx context.Context, used map[string]time.Time) error
}

// Query selects connections; empty members select all but revoked ones.
type Query struct {
	App, EndUser, Status, Search string   // Search: in app, label and identity, whatever the case
	AnyEndUser                   bool     // EndUser does not count
	Apps                         []string // only these
	AfterTime                    time.Time
	AfterID                      string // the page follows the connection made then, of this id
	Limit                        int    // 0: all
}

// Sealed is a connection with its credentials as they are kept.
type Sealed struct {
	Connection *Connection
	Secret     string
}

// Lease is the right to renew the credentials of one connection. Seq fences:
// a writer with an older number changes nothing.
type Lease struct {
	AccountID, ConnectionID string
	Version                 int64 // of the credentials that it is for
	Failed                  int   // refreshes of them that failed so far
	Owner                   string
	Seq                     int64
	Until                   time.Time
	// Crashed says that somebody held a lease for the same version and never gave
	// it back: the vendor may have responded.
	Crashed bool
}

// Vault keeps sealed credentials. Each method is atomic and safe between
// replicas. A connection that was disabled stays so whatever a lease writes.
// A connection that is active or failing and has a NextRefreshAt is due then, as
// a job of the kind JobRefresh.
type Vault interface {
	// KeepGrant keeps a connection with its secret, new or in place of what was
	// there, and ends the session that made it, together or not at all. It raises
	// both versions and ends any lease. saved is false where the session, or the
	// connection at c.Version, has moved on.
	KeepGrant(ctx context.Context, c *Connection, secret string, s *Session, e audit.Entry) (saved bool, err error)
	// Secret returns connection_not_found (NotFound) where there are no
	// credentials.
	Secret(ctx context.Context, accountID, id string) (*Sealed, error)
	// TakeLease returns nil where somebody else holds a lease, or version or
	// failures are not those of l.
	TakeLease(ctx context.Context, l Lease) (*Lease, error)
	// KeepRefresh writes renewed credentials and what c says of them, raises the
	// version and ends the lease; saved is false where the lease was lost.
	KeepRefresh(ctx context.Context, c *Connection, secret string, l *Lease, e audit.Entry) (saved bool, err error)
	// EndLease ends a lease without new credentials and writes status, reason and
	// when to try again; saved is false where the lease was lost.
	EndLease(ctx context.Context, c *Connection, l *Lease, e audit.Entry) (saved bool, err error)
	// Discard ends a connection: its secret and what identifies its owner are deleted
	// with it. secret, if not empty, is what its end at the vendor needs; it is
	// kept with the job that does it.
	Discard(ctx context.Context, c *Connection, secret string, e audit.Entry) error
	// Farewell returns what Discard kept for the end at the vendor; nil: nothing.
	Farewell(ctx context.Context, accountID, id string) (*Sealed, error)
	// EndFarewell forgets it.
	EndFarewell(ctx context.Context, accountID, id string, e audit.Entry) error
}

// Landings returns where an account lets browsers be sent; empty: anywhere.
type Landings interface {
	RedirectURLs(ctx context.Context, accountID string) ([]string, error)
}

// Notices notifies developers how sessions ended.
type Notices interface {
	// Allowed returns a problem for an address that will not be called.
	Allowed(address string) error
	// Secret is what an account's notices are signed with.
	Secret(accountID string) string
	// Handler does the jobs of the kind JobNotify, whose ref is JobRef of the
	// session. A store schedules one with each session that has a NotifyURL:
	// when it expires, and for each other end.
	Handler() jobs.Handler
}

// Store is everything that the service keeps.
type Store interface {
	Sessions
	Connections
	Vault
}

// Clients finds the OAuth clients that apps are connected with; package clients
// keeps them.
type Clients interface {
	// Find returns the client made by hand for an app: the account's own, else the
	// operator's, else nil.
	Find(ctx context.Context, accountID, appID string) (*Client, error)
	// AppsWithClient returns the ids of the apps that Find returns a client for.
	AppsWithClient(ctx context.Context, accountID string) (map[string]bool, error)
	// Registered returns the client of exactly this account, app and issuer, or
	// nil. accountID "" is the operator.
	Registered(ctx context.Context, accountID, appID, issuer string) (*Client, error)
	// MarkBroken marks a client that its vendor does not know any more; nil for
	// none.
	MarkBroken(ctx context.Context, c *Client) error
}
