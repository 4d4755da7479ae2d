package operation

import (
	"context"
	"time"

	"ace/internal/platform/apikey"
)

// Key is an API key without its secret.
type Key struct {
	ID          string       `json:"id" example:"key_01jabc"`
	Name        string       `json:"name" example:"CI"`
	Prefix      string       `json:"prefix" doc:"The first characters of the key, to recognize it." example:"ace_7Fq2"`
	Last4       string       `json:"last4" example:"x9Qa"`
	Permissions []string     `json:"permissions" doc:"Any of read, connect and run. None implies another." example:"[\"read\",\"run\"]"`
	Restrict    Restrictions `json:"restrict"`
	Approval    string       `json:"approval" enum:"none,destructive,writes" doc:"Which runs wait for a person's approval."`
	Client      *KeyClient   `json:"client,omitempty" doc:"The MCP client that signed in and holds this key; left out: a key that somebody copied."`
	CreatedBy   *string      `json:"created_by" nullable:"true" doc:"Id of the user who created it; null: the operator of the platform."`
	ExpiresAt   *time.Time   `json:"expires_at" nullable:"true"`
	CreatedAt   time.Time    `json:"created_at"`
	LastUsedAt  *time.Time   `json:"last_used_at" nullable:"true" doc:"To the minute."`
	RevokedAt   *time.Time   `json:"revoked_at" nullable:"true"`
}

// KeyClient is an MCP client that signed in.
type KeyClient struct {
	Name string `json:"name" doc:"As the client calls itself." example:"Claude Code"`
	Host string `json:"host" doc:"Where it returned to after the sign-in, or the host that publishes its metadata document." example:"127.0.0.1:33418"`
}

// Live reports whether the key works at a time.
func (k *Key) Live(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Restrictions narrow a key. What is empty restricts nothing.
type Restrictions struct {
	Apps          []string `json:"apps,omitempty" maxItems:"200" doc:"Only these apps." example:"[\"github\"]"`
	Tools         []string `json:"tools,omitempty" maxItems:"500" doc:"Only these tools."`
	ReadOnlyTools bool     `json:"read_only_tools,omitempty" default:"false" doc:"Only tools that change nothing."`
	RawRequests   bool     `json:"raw_requests,omitempty" default:"false" doc:"Also raw requests to an app's API."`
	Networks      []string `json:"ip_cidrs,omitempty" maxItems:"50" doc:"Only from these networks." example:"[\"192.0.2.0/24\"]"`
	EndUser       string   `json:"end_user,omitempty" maxLength:"200" doc:"Only connections of this user of yours."`
}

// NewKey is a key that was just created.
type NewKey struct {
	Secret string `json:"key,omitempty" doc:"The key itself. It is shown this once and not stored: a repetition of the request does not have it."`
	Key
}

// KeyRequest are the settings of a new key.
type KeyRequest struct {
	Name        string       `json:"name" minLength:"1" maxLength:"100" doc:"What the key is for." example:"CI"`
	Permissions []string     `json:"permissions" minItems:"1" maxItems:"3" doc:"Any of read, connect and run." example:"[\"read\",\"run\"]"`
	Restrict    Restrictions `json:"restrict,omitzero" required:"false"`
	Approval    string       `json:"approval,omitempty" enum:"none,destructive,writes" default:"none" doc:"Which runs wait for a person's approval."`
	ExpiresAt   *time.Time   `json:"expires_at,omitempty" doc:"Left out: the key does not expire."`
}

// KeyChange changes settings of a key; what is left out stays.
type KeyChange struct {
	Name        *string       `json:"name,omitempty" minLength:"1" maxLength:"100" example:"CI, read only"`
	Permissions []string      `json:"permissions,omitempty" maxItems:"3" example:"[\"read\"]"`
	Restrict    *Restrictions `json:"restrict,omitempty"`
	Approval    *string       `json:"approval,omitempty" enum:"none,destructive,writes"`
	ExpiresAt   *time.Time    `json:"expires_at,omitempty"`
}

// KeyRotation says how a key is replaced.
type KeyRotation struct {
	GraceSeconds int `json:"grace_seconds,omitempty" minimum:"0" maximum:"2592000" default:"0" doc:"How long the old key keeps working." example:"3600"`
}

// Keys are the keys of an account, newest first.
type Keys struct {
	Keys []Key `json:"keys"`
	Paged
}

// Me is who a key acts for.
type Me struct {
	Account     MeAccount `json:"account"`
	Key         Key       `json:"key"`
	Permissions []string  `json:"permissions" doc:"Of this key." example:"[\"read\",\"run\"]"`
	Limits      MeLimits  `json:"limits"`
}

// MeAccount names the account.
type MeAccount struct {
	ID string `json:"id" example:"acc_01jabc"`
}

// MeLimits are the rate limits of the key.
type MeLimits struct {
	RequestsPerMinute int `json:"requests_per_minute" example:"120"`
}

// Me returns who the caller's key acts for.
func (s *Service) Me(_ context.Context, c *Caller) (*Me, error) {
	if err := Authorize(c, GetMe); err != nil {
		return nil, err
	}
	return &Me{
		Account: MeAccount{c.Account}, Key: showKey(c.Key), Permissions: c.Key.Permissions.Names(),
		Limits: MeLimits{RequestsPerMinute},
	}, nil
}

// OwnKey returns the caller's key.
func (s *Service) OwnKey(_ context.Context, c *Caller) (*Key, error) {
	if err := Authorize(c, GetOwnKey); err != nil {
		return nil, err
	}
	k := showKey(c.Key)
	return &k, nil
}

// RevokeOwnKey revokes the caller's key.
func (s *Service) RevokeOwnKey(ctx context.Context, c *Caller) error {
	if err := Authorize(c, RevokeOwnKey); err != nil {
		return err
	}
	return s.Keys.Revoke(ctx, c.Actor, c.Account, c.Key.ID)
}

// ListKeys returns the keys of the account, newest first, revoked ones included.
func (s *Service) ListKeys(ctx context.Context, c *Caller) (*Keys, error) {
	if err := Authorize(c, ListKeys); err != nil {
		return nil, err
	}
	found, err := s.Keys.List(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	out := &Keys{Keys: []Key{}}
	for _, k := range found {
		out.Keys = append(out.Keys, showKey(k))
	}
	return out, nil
}

// Key returns a key of the account. Its problem is api_key_not_found (NotFound).
func (s *Service) Key(ctx context.Context, c *Caller, id string) (*Key, error) {
	if err := Authorize(c, GetKey); err != nil {
		return nil, err
	}
	return s.shownKey(ctx, c, id)
}

func (s *Service) shownKey(ctx context.Context, c *Caller, id string) (*Key, error) {
	k, err := s.Keys.Get(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	shown := showKey(k)
	return &shown, nil
}

// CreateKey creates a key, once for each idempotency key. Its problems are those
// of apikey.Service.Create, invalid_network, unknown_app and those of Idempotency.Create.
func (s *Service) CreateKey(ctx context.Context, c *Caller, idempotencyKey string,
	in KeyRequest,
) (key *NewKey, replayed bool, err error) {
	if err := Authorize(c, CreateKey); err != nil {
		return nil, false, err
	}
	settings, err := in.settings()
	if err != nil {
		return nil, false, err
	}
	if err := s.checkApps(ctx, c, settings.Restrict.Apps); err != nil {
		return nil, false, err
	}
	secret := ""
	created, err := s.Idempotency.Create(ctx, c.Account+" keys", idempotencyKey, in, apikey.NewID,
		func(id string) error {
			if _, err := s.Keys.Get(ctx, c.Account, id); err == nil { // created before the process ended
				return nil
			}
			settings.ID = id
			_, secret, err = s.Keys.Create(ctx, c.Actor, c.Account, settings)
			return err
		})
	return s.newKey(ctx, c, created, secret, err)
}

// checkApps returns unknown_app (Invalid) if the account cannot use one of some
// apps.
func (s *Service) checkApps(ctx context.Context, c *Caller, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	view, err := s.Library.For(ctx, c.Account)
	if err != nil {
		return err
	}
	return view.CheckApps(ids)
}

// RotateKey replaces a key by a new one with the same settings, once for each
// idempotency key. Its problems are those of apikey.Service.Rotate and
// Idempotency.Create.
func (s *Service) RotateKey(ctx context.Context, c *Caller, idempotencyKey, id string,
	in KeyRotation,
) (key *NewKey, replayed bool, err error) {
	if err := Authorize(c, RotateKey); err != nil {
		return nil, false, err
	}
	grace, secret := time.Duration(in.GraceSeconds)*time.Second, ""
	created, err := s.Idempotency.Create(ctx, c.Account+" keys rotate", idempotencyKey, []any{id, in}, apikey.NewID,
		func(successor string) (err error) {
			_, secret, err = s.Keys.RotateTo(ctx, c.Actor, c.Account, id, successor, grace)
			return err
		})
	return s.newKey(ctx, c, created, secret, err)
}

func (s *Service) newKey(ctx context.Context, c *Caller, created Created, secret string,
	err error,
) (*NewKey, bool, error) {
	if err != nil {
		return nil, false, err
	}
	k, err := s.shownKey(ctx, c, created.ID)
	if err != nil {
		return nil, false, err
	}
	return &NewKey{secret, *k}, created.Replayed, nil
}

// ChangeKey changes settings of a key. Its problems are those of
// apikey.Service.Update, invalid_network and unknown_app.
func (s *Service) ChangeKey(ctx context.Context, c *Caller, id string, in KeyChange) (*Key, error) {
	if err := Authorize(c, ChangeKey); err != nil {
		return nil, err
	}
	k, err := s.Keys.Get(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	settings, err := in.apply(k)
	if err != nil {
		return nil, err
	}
	if in.Restrict != nil {
		if err := s.checkApps(ctx, c, in.Restrict.Apps); err != nil {
			return nil, err
		}
	}
	if k, err = s.Keys.Update(ctx, c.Actor, c.Account, id, settings); err != nil {
		return nil, err
	}
	shown := showKey(k)
	return &shown, nil
}

// RevokeKey revokes a key, at once and on every replica. Its problem is
// api_key_not_found (NotFound).
func (s *Service) RevokeKey(ctx context.Context, c *Caller, id string) error {
	if err := Authorize(c, RevokeKey); err != nil {
		return err
	}
	return s.Keys.Revoke(ctx, c.Actor, c.Account, id)
}

func (r *KeyRequest) settings() (apikey.Settings, error) {
	permissions, err := apikey.ParsePermissions(r.Permissions)
	if err != nil {
		return apikey.Settings{}, err
	}
	restrict, err := r.Restrict.parse()
	settings := apikey.Settings{
		Name: r.Name, Permissions: permissions, Restrict: restrict, Approval: apikey.Approval(r.Approval),
	}
	if r.ExpiresAt != nil {
		settings.ExpiresAt = r.ExpiresAt.UTC()
	}
	return settings, err
}

// apply returns the settings of k with what the change names replaced.
func (c *KeyChange) apply(k *apikey.Key) (settings apikey.Settings, err error) {
	settings = apikey.Settings{
		Name: k.Name, Permissions: k.Permissions, Restrict: k.Restrict, Approval: k.Approval,
		ExpiresAt: k.ExpiresAt,
	}
	if c.Name != nil {
		settings.Name = *c.Name
	}
	if c.Permissions != nil {
		if settings.Permissions, err = apikey.ParsePermissions(c.Permissions); err != nil {
			return settings, err
		}
	}
	if c.Restrict != nil {
		if settings.Restrict, err = c.Restrict.parse(); err != nil {
			return settings, err
		}
	}
	if c.Approval != nil {
		settings.Approval = apikey.Approval(*c.Approval)
	}
	if c.ExpiresAt != nil {
		settings.ExpiresAt = c.ExpiresAt.UTC()
	}
	return settings, nil
}

func (r Restrictions) parse() (apikey.Restrictions, error) {
	networks, err := apikey.ParseNetworks(r.Networks, "/restrict/ip_cidrs")
	return apikey.Restrictions{
		Apps: r.Apps, Tools: r.Tools, ReadOnlyTools: r.ReadOnlyTools, RawRequests: r.RawRequests,
		Networks: networks, EndUser: r.EndUser,
	}, err
}

func showKey(k *apikey.Key) Key {
	var client *KeyClient
	if k.Client != nil {
		client = &KeyClient{k.Client.Name, k.Client.Host}
	}
	return Key{
		Client: client,
		ID:     k.ID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Permissions: k.Permissions.Names(),
		Restrict: Restrictions{
			Apps: k.Restrict.Apps, Tools: k.Restrict.Tools, ReadOnlyTools: k.Restrict.ReadOnlyTools,
			RawRequests: k.Restrict.RawRequests, EndUser: k.Restrict.EndUser, Networks: k.Restrict.NetworkTexts(),
		},
		Approval: string(k.Approval), CreatedBy: optionalText(k.CreatedBy),
		ExpiresAt: optionalTime(k.ExpiresAt), CreatedAt: inSeconds(k.CreatedAt),
		LastUsedAt: optionalTime(k.LastUsedAt), RevokedAt: optionalTime(k.RevokedAt),
	}
}
