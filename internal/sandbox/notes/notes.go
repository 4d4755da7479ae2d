// Package notes is the demo app of the sandbox: a small third-party service
// that keeps notes, so that connecting an app and running its tools works
// without any other. It behaves as such services do:
//
//	/notes/                     what it is; make an API key
//	/notes/oauth/authorize      a person allows or refuses (code, PKCE S256)
//	/notes/oauth/token          access tokens of an hour; refresh tokens are good
//	                            once, and using one again ends the grant
//	/notes/oauth/revoke, /register
//	/notes/api/v1/…             REST: me, notes, hooks; bearer token or API key
//	/notes/mcp                  the same as tools of an MCP server
//	webhooks                    new_note, updated_note; signed with HMAC-SHA256
//	/notes/_sandbox/…           faults, for tests on the same machine
//
// There are no passwords here: users choose a name at sign-in.
package notes

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox/schema"
)

// The client that is known from the start, for the platform beside it.
const (
	ClientID     = "ace-demo"
	ClientSecret = "ace-demo-secret"
)

// Options tunes the app.
type Options struct {
	Logger *slog.Logger // nil: nothing is logged
	Client *http.Client // posts webhooks; nil: one that suits development
	// AccessLifetime is how long access tokens work. Default an hour.
	AccessLifetime time.Duration
}

// Notes is the demo app.
type Notes struct {
	db      *sqldb.DB
	options Options
	wake    chan struct{}

	mu     sync.Mutex
	faults []Fault
}

// Open prepares the app in the sandbox's database.
func Open(ctx context.Context, db *sqldb.DB, o *Options) (*Notes, error) {
	n := &Notes{db: db, wake: make(chan struct{}, 1)}
	if o != nil {
		n.options = *o
	}
	if n.options.Logger == nil {
		n.options.Logger = slog.New(slog.DiscardHandler)
	}
	if n.options.Client == nil {
		n.options.Client = &http.Client{
			Timeout:       10 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if n.options.AccessLifetime == 0 {
		n.options.AccessLifetime = time.Hour
	}
	if err := schema.Apply(ctx, db); err != nil {
		return nil, err
	}
	return n, n.write(
		ctx,
		`INSERT INTO notes_client (id, digest, name, redirects, created_at) VALUES ($1, $2, $3, '[]', $4) ON
			CONFLICT (id) DO NOTHING`,
		ClientID,
		digest(ClientSecret),
		"ACE platform",
		now(),
	)
}

// Person and note as the API shows them.
type note struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Body      string `json:"body"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	seq       int64
}

func now() int64 { return time.Now().UnixMilli() }

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// secret makes a random secret that says what it is.
func secret(kind string) string { return kind + "_" + rand.Text() }

// digest is what is kept of a secret: it is random, so that no salt is needed.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// write runs one statement in a transaction of its own.
func (n *Notes) write(ctx context.Context, statement string, args ...any) error {
	return n.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		return nil
	})
}

// found turns "no row" into false.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading: %w", err)
	}
	return true, nil
}
