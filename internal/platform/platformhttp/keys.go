package platformhttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
)

// Key is an API key without the key itself.
type Key struct {
	ID          string       `json:"id" example:"key_01jabc"`
	Name        string       `json:"name"`
	Prefix      string       `json:"prefix" doc:"The first characters of the key, to recognise it by."`
	Last4       string       `json:"last4"`
	Permissions []string     `json:"permissions" doc:"Any of read, connect and run. None implies another."`
	Restrict    Restrictions `json:"restrict"`
	Approval    string       `json:"approval" enum:"none,destructive,writes" doc:"Which runs wait for a person."`
	ExpiresAt   *time.Time   `json:"expires_at" nullable:"true"`
	CreatedAt   time.Time    `json:"created_at"`
	LastUsedAt  *time.Time   `json:"last_used_at" nullable:"true" doc:"To the minute."`
	RevokedAt   *time.Time   `json:"revoked_at" nullable:"true"`
}

// Restrictions narrow a key.
type Restrictions struct {
	Apps          []string `json:"apps,omitempty" maxItems:"200" doc:"Only these apps."`
	Tools         []string `json:"tools,omitempty" maxItems:"500" doc:"Only these tools."`
	ReadOnlyTools bool     `json:"read_only_tools,omitempty" doc:"Only tools that change nothing."`
	RawRequests   bool     `json:"raw_requests,omitempty" doc:"Also requests of the caller's own making to an app."`
	Networks      []string `json:"ip_cidrs,omitempty" maxItems:"50" doc:"Only from these networks, such as 192.0.2.0/24."`
	EndUser       string   `json:"end_user,omitempty" maxLength:"200" doc:"Only connections of this user of yours."`
}

// NewKey is a key that was just made.
type NewKey struct {
	Secret string `json:"key,omitempty" doc:"The key itself. It is shown this once and kept nowhere: a repetition of the request does not have it."`
	Key
}

// KeyRequest are the settings of a key.
type KeyRequest struct {
	Name        string       `json:"name" minLength:"1" maxLength:"100" doc:"What the key is for."`
	Permissions []string     `json:"permissions" minItems:"1" maxItems:"3"`
	Restrict    Restrictions `json:"restrict,omitzero" required:"false"`
	Approval    string       `json:"approval,omitempty" enum:"none,destructive,writes"`
	ExpiresAt   *time.Time   `json:"expires_at,omitempty"`
}

// KeyChange changes some settings of a key; what is left out stays.
type KeyChange struct {
	Name        *string       `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Permissions []string      `json:"permissions,omitempty" maxItems:"3"`
	Restrict    *Restrictions `json:"restrict,omitempty"`
	Approval    *string       `json:"approval,omitempty" enum:"none,destructive,writes"`
	ExpiresAt   *time.Time    `json:"expires_at,omitempty"`
}

// Keys are the keys of an account.
type Keys struct {
	Keys []Key `json:"keys"`
}

// Me is who a key acts for.
type Me struct {
	Account     MeAccount `json:"account"`
	Key         Key       `json:"key"`
	Permissions []string  `json:"permissions"`
	Limits      MeLimits  `json:"limits"`
}

// MeAccount names the account.
type MeAccount struct {
	ID string `json:"id"`
}

// MeLimits are the promises the key is held to.
type MeLimits struct {
	RequestsPerMinute int `json:"requests_per_minute"`
}

// AuditLog is a page of changes, newest first.
type AuditLog struct {
	listing.Counted
	Entries    []audit.Entry `json:"entries"`
	NextCursor *string       `json:"next_cursor" nullable:"true"`
}

type body[T any] struct{ Body T }

type idInput struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *server) describeKeys() {
	byKey, byPerson := []string{keyScheme}, []string{sessionScheme}
	tags := []string{"keys"}
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodGet, Path: Base + "/me", ID: "me", Summary: "Who this key acts for, and what it may do", Tags: tags, Security: byKey}, s.me)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodGet, Path: Base + "/keys/self", ID: "getOwnKey", Summary: "This key", Tags: tags, Security: byKey}, s.getOwnKey)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodDelete, Path: Base + "/keys/self", ID: "revokeOwnKey", Summary: "Revoke this key", Tags: tags, Security: byKey}, s.revokeOwnKey)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodGet, Path: Base + "/keys", ID: "listKeys", Summary: "The account's keys, newest first", Tags: tags, Security: byPerson}, s.listKeys)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodPost, Path: Base + "/keys", ID: "createKey", Summary: "Make a key", Tags: tags, Security: byPerson, Status: http.StatusCreated}, s.createKey)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodGet, Path: Base + "/keys/{id}", ID: "getKey", Summary: "One key", Tags: tags, Security: byPerson}, s.getKey)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodPatch, Path: Base + "/keys/{id}", ID: "changeKey", Summary: "Change a key", Tags: tags, Security: byPerson}, s.changeKey)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodDelete, Path: Base + "/keys/{id}", ID: "revokeKey", Summary: "Revoke a key, at once and everywhere", Tags: tags, Security: byPerson}, s.revokeKey)
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodPost, Path: Base + "/keys/{id}/rotate", ID: "rotateKey", Summary: "Replace a key by a new one with the same settings", Tags: tags, Security: byPerson, Status: http.StatusCreated}, s.rotateKey)
	listing.Handle(s.api, openapi.Operation{Method: http.MethodGet, Path: Base + "/audit-log", ID: "readAuditLog", Summary: "Who changed what, newest first", Tags: []string{"audit"}, Security: byPerson}, s.auditLog)
}

func (s *server) me(ctx context.Context, _ *struct{}) (*body[Me], error) {
	key := gate.From(ctx).Key
	policy, _, _ := gate.Policies()
	return &body[Me]{Me{
		Account: MeAccount{key.AccountID}, Key: wireKey(key), Permissions: key.Permissions.Names(), Limits: MeLimits{RequestsPerMinute: policy.Quantity},
	}}, nil
}

func (s *server) getOwnKey(ctx context.Context, _ *struct{}) (*body[Key], error) {
	return &body[Key]{wireKey(gate.From(ctx).Key)}, nil
}

func (s *server) revokeOwnKey(ctx context.Context, _ *struct{}) (*struct{}, error) {
	caller := gate.From(ctx)
	return nil, s.Keys.Revoke(ctx, caller.Actor, caller.Account, caller.Key.ID)
}

func (s *server) listKeys(ctx context.Context, _ *struct{}) (*body[Keys], error) {
	found, err := s.Keys.List(ctx, gate.From(ctx).Account)
	if err != nil {
		return nil, err
	}
	out := &body[Keys]{Keys{[]Key{}}}
	for _, k := range found {
		out.Body.Keys = append(out.Body.Keys, wireKey(k))
	}
	return out, nil
}

type createKeyInput struct {
	Once string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition with the same value makes no second key."`
	Body KeyRequest
}

type createKeyOutput struct {
	Replayed string `header:"Idempotency-Replayed"`
	Body     NewKey
}

func (s *server) createKey(ctx context.Context, in *createKeyInput) (*createKeyOutput, error) {
	settings, err := in.Body.settings()
	if err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	secret := ""
	made, err := s.Once.Make(ctx, caller.Account+" keys", in.Once, in.Body, apikey.NewID, func(id string) error {
		if _, err := s.Keys.Get(ctx, caller.Account, id); err == nil { // made before the process ended
			return nil
		}
		settings.ID = id
		_, secret, err = s.Keys.Create(ctx, caller.Actor, caller.Account, settings)
		return err
	})
	if err != nil {
		return nil, err
	}
	k, err := s.Keys.Get(ctx, caller.Account, made.ID)
	if err != nil {
		return nil, err
	}
	return &createKeyOutput{made.Replayed, NewKey{secret, wireKey(k)}}, nil
}

func (s *server) getKey(ctx context.Context, in *idInput) (*body[Key], error) {
	k, err := s.Keys.Get(ctx, gate.From(ctx).Account, in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Key]{wireKey(k)}, nil
}

func (s *server) changeKey(ctx context.Context, in *struct {
	ID   string `path:"id" maxLength:"64"`
	Body KeyChange
},
) (*body[Key], error) {
	caller := gate.From(ctx)
	k, err := s.Keys.Get(ctx, caller.Account, in.ID)
	if err != nil {
		return nil, err
	}
	settings, err := in.Body.over(k)
	if err != nil {
		return nil, err
	}
	if k, err = s.Keys.Update(ctx, caller.Actor, caller.Account, in.ID, settings); err != nil {
		return nil, err
	}
	return &body[Key]{wireKey(k)}, nil
}

func (s *server) revokeKey(ctx context.Context, in *idInput) (*struct{}, error) {
	caller := gate.From(ctx)
	return nil, s.Keys.Revoke(ctx, caller.Actor, caller.Account, in.ID)
}

type rotateInput struct {
	Once string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition with the same value makes no third key."`
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		GraceSeconds int `json:"grace_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"How long the old key goes on working."`
	}
}

func (s *server) rotateKey(ctx context.Context, in *rotateInput) (*createKeyOutput, error) {
	caller := gate.From(ctx)
	grace, secret := time.Duration(in.Body.GraceSeconds)*time.Second, ""
	made, err := s.Once.Make(ctx, caller.Account+" keys rotate", in.Once, []any{in.ID, in.Body}, apikey.NewID, func(id string) (err error) {
		_, secret, err = s.Keys.RotateTo(ctx, caller.Actor, caller.Account, in.ID, id, grace)
		return err
	})
	if err != nil {
		return nil, err
	}
	k, err := s.Keys.Get(ctx, caller.Account, made.ID)
	if err != nil {
		return nil, err
	}
	return &createKeyOutput{made.Replayed, NewKey{secret, wireKey(k)}}, nil
}

func (r *KeyRequest) settings() (apikey.Settings, error) {
	permissions, err := apikey.ParsePermissions(r.Permissions)
	if err != nil {
		return apikey.Settings{}, err
	}
	restrict, err := r.Restrict.parse()
	settings := apikey.Settings{Name: r.Name, Permissions: permissions, Restrict: restrict, Approval: apikey.Approval(r.Approval)}
	if r.ExpiresAt != nil {
		settings.ExpiresAt = r.ExpiresAt.UTC()
	}
	return settings, err
}

// over answers the settings of k with what the change names replaced.
func (c *KeyChange) over(k *apikey.Key) (settings apikey.Settings, err error) {
	settings = apikey.Settings{Name: k.Name, Permissions: k.Permissions, Restrict: k.Restrict, Approval: k.Approval, ExpiresAt: k.ExpiresAt}
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
	return apikey.Restrictions{Apps: r.Apps, Tools: r.Tools, ReadOnlyTools: r.ReadOnlyTools, RawRequests: r.RawRequests, Networks: networks, EndUser: r.EndUser}, err
}

func wireKey(k *apikey.Key) Key {
	restrict := Restrictions{
		Apps: k.Restrict.Apps, Tools: k.Restrict.Tools, ReadOnlyTools: k.Restrict.ReadOnlyTools, RawRequests: k.Restrict.RawRequests, EndUser: k.Restrict.EndUser,
		Networks: k.Restrict.NetworkTexts(),
	}
	return Key{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Permissions: k.Permissions.Names(), Restrict: restrict, Approval: string(k.Approval),
		ExpiresAt: optional(k.ExpiresAt), CreatedAt: k.CreatedAt, LastUsedAt: optional(k.LastUsedAt), RevokedAt: optional(k.RevokedAt),
	}
}

// optional is a time that may not be there.
func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type auditInput struct {
	Action string `query:"action" maxLength:"60"`
	Target string `query:"target" maxLength:"64"`
	Actor  string `query:"actor" maxLength:"64" doc:"Id of a key or a user."`
	Before int64  `query:"cursor" minimum:"0" doc:"next_cursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
	listing.Include
}

type auditOutput struct {
	listing.Linked
	Body AuditLog
}

func (s *server) auditLog(ctx context.Context, in *auditInput) (*auditOutput, error) {
	q := audit.Query{Action: in.Action, Target: in.Target, ActorID: in.Actor, Before: in.Before, Limit: in.Limit + 1}
	account := gate.From(ctx).Account
	found, err := s.Audit.AuditEntries(ctx, account, q)
	if err != nil {
		return nil, err
	}
	out := &auditOutput{Body: AuditLog{Entries: append([]audit.Entry{}, found[:min(len(found), in.Limit)]...)}}
	if len(found) > in.Limit {
		next := strconv.FormatInt(found[in.Limit-1].Seq, 10)
		out.Body.NextCursor, out.Linked = &next, listing.Next(ctx, s.Site.BaseURL, &next)
	}
	out.Body.Counted, err = in.Total(func() (int, error) { return s.Audit.CountAuditEntries(ctx, account, q) })
	return out, err
}
