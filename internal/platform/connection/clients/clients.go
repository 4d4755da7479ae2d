// Package clients keeps OAuth clients, their secrets sealed:
//
//	by hand, of the operator   account "", issuer ""     for all accounts
//	by hand, of one account    issuer ""                 goes before the operator's
//	registered with an issuer  (RFC 7591)                bound to it: secrets are
//	                                                     shown to no other account
//	Find(account, app) -> Client | nil
package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// Store keeps clients; what is secret is sealed.
type Store interface {
	// KeepClient writes a client, in place of one of the same account, app and
	// issuer. An entry without an action is not kept.
	KeepClient(ctx context.Context, c *Sealed, e audit.Entry) error
	// Client returns nil where there is none.
	Client(ctx context.Context, accountID, appID, issuer string) (*Sealed, error)
	// Clients returns those of an account by app and issuer; "" for those of the
	// operator.
	Clients(ctx context.Context, accountID string) ([]*Sealed, error)
	// BreakClient marks a client that its vendor refused, if it is still the one
	// with this id.
	BreakClient(ctx context.Context, c *connection.Client) error
	// DeleteClient reports whether there was one.
	DeleteClient(ctx context.Context, accountID, appID, issuer string, e audit.Entry) (bool, error)
}

// Sealed is a client as it is kept.
type Sealed struct {
	connection.Client        // without Secret and Extra
	Ciphertext        string // those two
	UpdatedAt         time.Time
}

// Clients stores clients. It is safe for concurrent use.
type Clients struct {
	store  Store
	sealer *seal.Sealer

	mu    sync.Mutex
	known map[[2]string]found // what Find found, by account and app
}

// found is remembered for a moment: every run of a tool asks.
type found struct {
	client *connection.Client
	until  time.Time
}

const (
	// remember is how long a client that another replica has changed may go on
	// here.
	remember = 5 * time.Second
	maxKnown = 1000
)

// New returns the clients in a store.
func New(store Store, sealer *seal.Sealer) *Clients {
	return &Clients{store: store, sealer: sealer, known: map[[2]string]found{}}
}

// Find returns the client that connects an app for an account: the account's
// own, else the operator's, else nil. What another replica changes counts here
// after five seconds.
func (k *Clients) Find(ctx context.Context, accountID, appID string) (*connection.Client, error) {
	key := [2]string{accountID, appID}
	k.mu.Lock()
	there, ok := k.known[key]
	k.mu.Unlock()
	if ok && time.Now().Before(there.until) {
		return there.client, nil
	}
	client, err := k.Registered(ctx, accountID, appID, "")
	if err == nil && client == nil && accountID != "" {
		client, err = k.Registered(ctx, "", appID, "")
	}
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxKnown {
		clear(k.known)
	}
	k.known[key] = found{client, time.Now().Add(remember)}
	return client, nil
}

// AppsWithClient returns the ids of the apps that Find returns a client for. It
// reads the store each time.
func (k *Clients) AppsWithClient(ctx context.Context, accountID string) (map[string]bool, error) {
	apps := map[string]bool{}
	owners := []string{""}
	if accountID != "" {
		owners = append(owners, accountID)
	}
	for _, owner := range owners {
		list, err := k.store.Clients(ctx, owner)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if one.Issuer == "" {
				apps[one.App] = true
			}
		}
	}
	return apps, nil
}

// forget drops what is remembered after a change.
func (k *Clients) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.known)
}

// Registered returns the client of exactly this account, app and issuer, or nil.
// accountID "" is the operator; issuer "" is a client that was made by hand.
func (k *Clients) Registered(ctx context.Context, accountID, appID, issuer string) (*connection.Client, error) {
	stored, err := k.store.Client(ctx, accountID, appID, issuer)
	if err != nil || stored == nil {
		return nil, err
	}
	return k.open(stored)
}

// List returns the clients of an account, or of the operator, by app. Those
// that were registered with an issuer are among them.
func (k *Clients) List(ctx context.Context, accountID string) ([]*connection.Client, error) {
	stored, err := k.store.Clients(ctx, accountID)
	if err != nil {
		return nil, err
	}
	list := make([]*connection.Client, 0, len(stored))
	for _, one := range stored {
		client, err := k.open(one)
		if err != nil {
			return nil, err
		}
		list = append(list, client)
	}
	return list, nil
}

const (
	maxClientID     = 1000
	maxClientSecret = 20000 // a private key
	maxExtra        = 20
)

// Store stores a client, in place of one of the same account, app and issuer. Its
// problem is invalid_oauth_client (Invalid).
func (k *Clients) Store(ctx context.Context, by audit.Actor, client *connection.Client) error {
	size := len(client.Secret)
	for name, value := range client.Extra {
		size += len(name) + len(value)
	}
	if client.App == "" || client.ID == "" || len(client.ID) > maxClientID || size > maxClientSecret ||
		len(client.Extra) > maxExtra {
		return problem.New(problem.Invalid, "invalid_oauth_client",
			"An OAuth client has an app, the client_id that the app's vendor gave it, and mostly a client_secret of "+
				"at most 20000 characters.")
	}
	text, err := json.Marshal(secrets{client.Secret, client.Extra})
	if err != nil {
		return fmt.Errorf("encoding an OAuth client: %w", err)
	}
	sealed, err := k.sealer.Seal(text, place(client))
	if err != nil {
		return err
	}
	stored := &Sealed{Client: *client, Ciphertext: sealed, UpdatedAt: time.Now().UTC().Truncate(time.Millisecond)}
	stored.Secret, stored.Extra, stored.Broken = "", nil, false
	entry := audit.New(client.AccountID, by, "oauth_client.set", client.App,
		map[string]string{"client_id": client.ID, "issuer": client.Issuer})
	if client.AccountID == "" {
		entry.Action = "" // the operator's own doing belongs to no account
	}
	defer k.forget()
	return k.store.KeepClient(ctx, stored, entry)
}

// StoreAll stores the operator's clients where they differ from the stored ones.
func (k *Clients) StoreAll(ctx context.Context, clients []*connection.Client) error {
	for _, one := range clients {
		there, err := k.Registered(ctx, one.AccountID, one.App, one.Issuer)
		if err != nil && !errors.Is(err, seal.ErrOpen) {
			return err
		}
		if there != nil && there.ID == one.ID && there.Secret == one.Secret && maps.Equal(there.Extra, one.Extra) {
			continue
		}
		if err := k.Store(ctx, audit.Operator(), one); err != nil {
			return fmt.Errorf("keeping the OAuth client of %s: %w", one.App, err)
		}
	}
	return nil
}

// Delete forgets a client made by hand. Connections stay and end with their
// tokens. Its problem is oauth_client_not_found (NotFound).
func (k *Clients) Delete(ctx context.Context, by audit.Actor, accountID, appID string) error {
	defer k.forget()
	found, err := k.store.DeleteClient(ctx, accountID, appID, "",
		audit.New(accountID, by, "oauth_client.deleted", appID, nil))
	if err == nil && !found {
		err = problem.New(problem.NotFound, "oauth_client_not_found",
			"This account has no OAuth client of its own for this app.")
	}
	return err
}

// MarkBroken implements connection.Clients.
func (k *Clients) MarkBroken(ctx context.Context, client *connection.Client) error {
	if client == nil {
		return nil
	}
	defer k.forget()
	return k.store.BreakClient(ctx, client)
}

type secrets struct {
	Secret string            `json:"secret,omitempty"`
	Extra  map[string]string `json:"extra,omitempty"`
}

func (k *Clients) open(stored *Sealed) (*connection.Client, error) {
	text, err := k.sealer.Open(stored.Ciphertext, place(&stored.Client))
	if err != nil {
		return nil, fmt.Errorf("opening the OAuth client of %s: %w", stored.App, err)
	}
	var inside secrets
	if err := json.Unmarshal(text, &inside); err != nil {
		return nil, fmt.Errorf("decoding the OAuth client of %s: %w", stored.App, err)
	}
	client := stored.Client
	client.Secret, client.Extra = inside.Secret, inside.Extra
	return &client, nil
}

func place(c *connection.Client) seal.Place {
	return seal.Place{Table: "oauth_client", Column: "box", Row: c.App + " " + c.Issuer, Account: c.AccountID}
}
