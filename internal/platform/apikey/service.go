package apikey

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/audit"
)

// idPrefix begins the ids of keys.
const idPrefix = "key"

const (
	maxName  = 100
	shownLen = len(keyPrefix) + 4
	// touchEvery is how exact LastUsedAt is.
	touchEvery = time.Minute
	maxGrace   = 30 * 24 * time.Hour
)

// Store keeps keys. Changes and their audit entries are one transaction.
type Store interface {
	// InsertKey keeps a new key under the digest of its secret.
	InsertKey(ctx context.Context, k *Key, digest string, e audit.Entry) error
	// KeyByDigest returns nil where there is no such key. It reads what is
	// committed now, on any replica.
	KeyByDigest(ctx context.Context, digest string) (*Key, error)
	// Keys returns the keys of an account, newest first, revoked ones included.
	Keys(ctx context.Context, accountID string) ([]*Key, error)
	// Key returns api_key_not_found (NotFound) also for a key of another account.
	Key(ctx context.Context, accountID, id string) (*Key, error)
	// ReplaceKey changes name, permissions, restrictions, approval, expiry and
	// revocation. A key that is revoked stays so: key_revoked (Conflict).
	ReplaceKey(ctx context.Context, k *Key, e audit.Entry) error
	// TouchKeys moves LastUsedAt forward, by id.
	TouchKeys(ctx context.Context, used map[string]time.Time) error
}

// Service makes, finds and ends keys. It is safe for concurrent use.
type Service struct {
	store Store
	mac   func(label string, parts ...[]byte) string

	mu      sync.Mutex
	touched map[string]time.Time // last write of LastUsedAt, by id
	pending map[string]time.Time
}

// New returns a service. mac is a keyed digest, for example seal.Sealer.MAC.
func New(store Store, mac func(label string, parts ...[]byte) string) *Service {
	return &Service{store: store, mac: mac, touched: map[string]time.Time{}, pending: map[string]time.Time{}}
}

// Settings are what the maker of a key chooses.
type Settings struct {
	Name        string // at most 100 characters; for people
	Permissions Permissions
	Restrict    Restrictions
	Approval    Approval  // empty: none
	ExpiresAt   time.Time // zero: never
	// ID, if set, is the id of the new key, so that a repeated request makes one.
	ID string
	// Client, if set, is the MCP client that the key is a grant for.
	Client *Client
}

// NewID returns an id for Settings.
func NewID() string { return typeid.New(idPrefix) }

// Create creates a key and returns its secret, which is not stored. The
// problems are invalid_name, invalid_permissions, invalid_approval and
// invalid_expiry (Invalid).
func (s *Service) Create(ctx context.Context, by audit.Actor, accountID string,
	in Settings,
) (k *Key, secret string, err error) {
	secret = newSecret()
	k, entry, err := Prepare(by, accountID, in, secret)
	if err != nil {
		return nil, "", err
	}
	if err := s.store.InsertKey(ctx, k, s.digest(secret), entry); err != nil {
		return nil, "", err
	}
	return k, secret, nil
}

// Prepare returns a key and its audit entry without storing them, for stores that
// insert it together with something else. Its problems are those of Create.
func Prepare(by audit.Actor, accountID string, in Settings, secret string) (*Key, audit.Entry, error) {
	if err := in.check(time.Now()); err != nil {
		return nil, audit.Entry{}, err
	}
	k := &Key{
		ID: cmp.Or(in.ID, NewID()), AccountID: accountID, Client: in.Client,
		CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}
	k.Prefix, k.Last4 = Shown(secret)
	if by.Kind == audit.ByUser {
		k.CreatedBy = by.ID
	}
	in.apply(k)
	detail := map[string]string{"name": k.Name, "permissions": k.Permissions.String()}
	if k.Client != nil {
		detail["client_host"] = k.Client.Host
	}
	return k, audit.New(accountID, by, "key.created", k.ID, detail), nil
}

// Shown returns the parts of a secret that lists show.
func Shown(secret string) (prefix, last4 string) { return secret[:shownLen], secret[len(secret)-4:] }

func (in *Settings) apply(k *Key) {
	k.Name, k.Permissions = in.Name, in.Permissions
	k.Restrict, k.Approval, k.ExpiresAt = in.Restrict, in.Approval, in.ExpiresAt
}

func (in *Settings) check(now time.Time) error {
	in.Name = strings.TrimSpace(in.Name)
	if in.Approval == "" {
		in.Approval = ApproveNone
	}
	switch {
	case in.Name == "" || utf8.RuneCountInString(in.Name) > maxName:
		return problem.New(problem.Invalid, "invalid_name",
			"Give the key a name of 1 to 100 characters that says what it is for.").At("/name")
	case in.Permissions == 0 || in.Permissions&^All != 0:
		return problem.New(problem.Invalid, "invalid_permissions",
			"Name at least one of the permissions read, connect and run.").At("/permissions")
	case in.Approval != ApproveNone && in.Approval != ApproveDestructive && in.Approval != ApproveWrites:
		return problem.New(problem.Invalid, "invalid_approval",
			"Approval is none, destructive or writes.").At("/approval")
	case !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(now):
		return problem.New(problem.Invalid, "invalid_expiry",
			"The expiry lies in the past; choose a later time, or leave it out.").At("/expires_at")
	}
	return nil
}

// List returns the keys of an account, newest first.
func (s *Service) List(ctx context.Context, accountID string) ([]*Key, error) {
	return s.store.Keys(ctx, accountID)
}

// Get returns one key of an account; api_key_not_found (NotFound) otherwise.
func (s *Service) Get(ctx context.Context, accountID, id string) (*Key, error) {
	return s.store.Key(ctx, accountID, id)
}

// Update replaces the settings of a key. The problems are those of Create,
// api_key_not_found and key_revoked.
func (s *Service) Update(ctx context.Context, by audit.Actor, accountID, id string, in Settings) (*Key, error) {
	k, err := s.store.Key(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if in.ExpiresAt.Equal(k.ExpiresAt) && !k.ExpiresAt.IsZero() {
		now = k.ExpiresAt.Add(-1) // an expiry that stays need not lie ahead
	}
	if err := in.check(now); err != nil {
		return nil, err
	}
	in.apply(k)
	entry := audit.New(accountID, by, "key.changed", k.ID,
		map[string]string{"name": k.Name, "permissions": k.Permissions.String()})
	return k, s.store.ReplaceKey(ctx, k, entry)
}

// Revoke ends a key for good; a key that is revoked already stays as it is.
func (s *Service) Revoke(ctx context.Context, by audit.Actor, accountID, id string) error {
	return s.RevokeBecause(ctx, by, accountID, id, "")
}

// RevokeBecause is Revoke with a reason for the audit log; empty: none.
func (s *Service) RevokeBecause(ctx context.Context, by audit.Actor, accountID, id, reason string) error {
	k, err := s.store.Key(ctx, accountID, id)
	if err != nil || !k.RevokedAt.IsZero() {
		return err
	}
	k.RevokedAt = time.Now().UTC().Truncate(time.Millisecond)
	var detail map[string]string
	if reason != "" {
		detail = map[string]string{"reason": reason}
	}
	err = s.store.ReplaceKey(ctx, k, audit.New(accountID, by, "key.revoked", k.ID, detail))
	if problem.Is(err, "key_revoked") {
		return nil // another replica was first
	}
	return err
}

// Rotate creates a key with the settings of another, which ends after grace: at
// most 30 days, at once for 0. The problems are invalid_grace, api_key_not_found,
// key_revoked and key_of_client.
func (s *Service) Rotate(ctx context.Context, by audit.Actor, accountID, id string,
	grace time.Duration,
) (k *Key, secret string, err error) {
	return s.RotateTo(ctx, by, accountID, id, NewID(), grace)
}

// RotateTo is Rotate with the id of the new key, so that a repeated request makes
// one: where it is there already, what is left to do is done, and its secret,
// which is not stored, is empty.
func (s *Service) RotateTo(ctx context.Context, by audit.Actor, accountID, id, successor string,
	grace time.Duration,
) (k *Key, secret string, err error) {
	if grace < 0 || grace > maxGrace {
		return nil, "", problem.New(problem.Invalid, "invalid_grace",
			"The old key can go on for 0 seconds to 30 days.").At("/grace_seconds")
	}
	old, err := s.store.Key(ctx, accountID, id)
	if err != nil {
		return nil, "", err
	}
	if old.Client != nil {
		return nil, "", problem.New(
			problem.Conflict,
			"key_of_client",
			"This key belongs to an MCP client, which renews it by itself. Revoke it, and let the client sign in "+
				"again.",
		)
	}
	switch k, err = s.store.Key(ctx, accountID, successor); {
	case err == nil && !old.Live(time.Now()):
		return k, "", nil
	case err == nil:
		return k, "", s.succeeded(ctx, by, old, k, grace)
	case !problem.Is(err, "api_key_not_found"):
		return nil, "", err
	case !old.Live(time.Now()):
		return nil, "", problem.New(problem.Conflict, "key_revoked", "This key has expired. Create a new one.")
	}
	k, secret, err = s.Create(ctx, by, accountID, Settings{
		ID: successor, Name: old.Name, Permissions: old.Permissions,
		Restrict: old.Restrict, Approval: old.Approval, ExpiresAt: old.ExpiresAt,
	})
	if err != nil {
		return nil, "", err
	}
	return k, secret, s.succeeded(ctx, by, old, k, grace)
}

// succeeded ends a key that another has taken the place of.
func (s *Service) succeeded(ctx context.Context, by audit.Actor, old, successor *Key, grace time.Duration) error {
	if grace == 0 {
		return s.Revoke(ctx, by, old.AccountID, old.ID)
	}
	if end := time.Now().UTC().Add(grace).Truncate(time.Millisecond); old.ExpiresAt.IsZero() ||
		end.Before(old.ExpiresAt) {
		old.ExpiresAt = end
	}
	return s.store.ReplaceKey(ctx,
		old, audit.New(old.AccountID, by, "key.rotated", old.ID, map[string]string{"successor": successor.ID}))
}

// Authenticate finds the key behind a presented secret that came from an
// address. The problems, all Unauthenticated but the last: missing_key,
// invalid_key, key_revoked, key_expired, token_expired; ip_not_allowed (Forbidden).
func (s *Service) Authenticate(ctx context.Context, presented string, from netip.Addr) (*Key, error) {
	if presented == "" {
		return nil, problem.New(
			problem.Unauthenticated,
			"missing_key",
			`Send an API key: the header "Authorization: Bearer ace_…". Keys are made on the account page or by `+
				`"ace key create".`,
		)
	}
	invalid := problem.New(problem.Unauthenticated, "invalid_key",
		"There is no such API key. Check that it was copied whole; a lost key cannot be shown again, make a new one.")
	if !WellFormed(presented) {
		return nil, invalid
	}
	k, err := s.store.KeyByDigest(ctx, s.digest(presented))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	switch {
	case k == nil:
		return nil, invalid
	case !k.RevokedAt.IsZero():
		return nil, problem.New(problem.Unauthenticated, "key_revoked",
			"This API key was revoked. Ask the owner of the account for another.")
	case !k.Live(now):
		return nil, problem.New(problem.Unauthenticated, "key_expired",
			"This API key has expired. Ask the owner of the account for another.")
	case k.Client != nil && !now.Before(k.Client.TokenExpires):
		return nil, problem.New(problem.Unauthenticated, "token_expired",
			"This access token has expired. Get another with the refresh token.")
	case !k.Restrict.AllowsAddress(from):
		return nil, problem.New(problem.Forbidden, "ip_not_allowed",
			"This API key may not be used from your network address.")
	}
	s.noteUse(k.ID, now)
	return k, nil
}

func (s *Service) digest(secret string) string { return Digest(s.mac, secret) }

func (s *Service) noteUse(id string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.touched[id]) >= touchEvery {
		s.pending[id] = now.UTC().Truncate(time.Millisecond)
	}
}

// Flush writes when keys were last used. It is called once a minute, and when
// the process ends.
func (s *Service) Flush(ctx context.Context) error {
	s.mu.Lock()
	due := s.pending
	s.pending = map[string]time.Time{}
	s.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	if err := s.store.TouchKeys(ctx, due); err != nil {
		return err // a use that is not written is written with the next
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.touched, due)
	for id, at := range s.touched {
		if time.Since(at) > time.Hour {
			delete(s.touched, id)
		}
	}
	return nil
}
