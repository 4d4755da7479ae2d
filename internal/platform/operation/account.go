package operation

import (
	"context"
	"time"

	"ace/internal/platform/account"
	"ace/internal/platform/audit"
)

// RedirectURLs are where connect links of the account may send browsers.
type RedirectURLs struct {
	URLs []string `json:"redirect_urls" maxItems:"50" doc:"https://host/path each, or http on a loopback address; what is below the path is allowed with it. Empty: any https URL." example:"[\"https://agent.example/connected\"]"`
}

// RedirectURLs returns where connect links of the account may send browsers.
func (s *Service) RedirectURLs(ctx context.Context, c *Caller) (*RedirectURLs, error) {
	if err := Authorize(c, GetRedirectURLs); err != nil {
		return nil, err
	}
	list, err := s.Accounts.RedirectURLs(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	return &RedirectURLs{orEmpty(list)}, nil
}

// SetRedirectURLs replaces where connect links of the account may send browsers.
// Its problem is invalid_request (Invalid).
func (s *Service) SetRedirectURLs(ctx context.Context, c *Caller, in RedirectURLs) (*RedirectURLs, error) {
	if err := Authorize(c, SetRedirectURLs); err != nil {
		return nil, err
	}
	list, err := s.Accounts.SetRedirectURLs(ctx, c.Actor, c.Account, in.URLs)
	if err != nil {
		return nil, err
	}
	return &RedirectURLs{orEmpty(list)}, nil
}

// EditRedirectURLs adds URLs to the list and removes others, whatever others do
// to the list at the same time. It is SetRedirectURLs for forms that change one
// entry. Its problem is invalid_request (Invalid).
func (s *Service) EditRedirectURLs(ctx context.Context, c *Caller, add, remove []string) (*RedirectURLs, error) {
	if err := Authorize(c, SetRedirectURLs); err != nil {
		return nil, err
	}
	list, err := s.Accounts.EditRedirectURLs(ctx, c.Actor, c.Account, add, remove)
	if err != nil {
		return nil, err
	}
	return &RedirectURLs{orEmpty(list)}, nil
}

// SetPassword gives the person who calls a password and ends that person's other
// sessions. The password so far proves who it is, or a sign-in by a link a short
// while ago. Its problems are those of account.Service.SetPassword.
func (s *Service) SetPassword(ctx context.Context, c *Caller, old, password string) error {
	if err := Authorize(c, SetPassword); err != nil {
		return err
	}
	return s.Accounts.SetPassword(ctx, c.Actor, c.Session, old, password)
}

// Sessions returns where the person who calls is signed in, the latest used
// first.
func (s *Service) Sessions(ctx context.Context, c *Caller) ([]*account.Session, error) {
	if err := Authorize(c, ListSessions); err != nil {
		return nil, err
	}
	return s.Accounts.Sessions(ctx, c.Session)
}

// EndSession ends another sign-in of the person who calls, or all others if id is
// empty. Its problem is session_not_found (NotFound).
func (s *Service) EndSession(ctx context.Context, c *Caller, id string) error {
	if err := Authorize(c, EndSession); err != nil {
		return err
	}
	if id == "" {
		return s.Accounts.EndOtherSessions(ctx, c.Actor, c.Session)
	}
	return s.Accounts.EndSession(ctx, c.Actor, c.Session, id)
}

// KeyCreator returns the user who created a key; nil: the operator, or somebody
// who has left.
func (s *Service) KeyCreator(ctx context.Context, c *Caller, k *Key) (*account.User, error) {
	if err := Authorize(c, GetKey); err != nil || k.CreatedBy == nil {
		return nil, err
	}
	users, err := s.Accounts.Users(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if u.ID == *k.CreatedBy {
			return u, nil
		}
	}
	return nil, nil
}

// AuditRequest selects entries of the audit log. What is empty selects all.
type AuditRequest struct {
	Action string `query:"action" json:"action,omitempty" maxLength:"60" doc:"Such as key.created." example:"key.created"`
	Target string `query:"target" json:"target,omitempty" maxLength:"64" doc:"Id of what was changed."`
	Actor  string `query:"actor" json:"actor,omitempty" maxLength:"64" doc:"Id of a key or a user."`
	Cursor string `query:"cursor" json:"cursor,omitempty" maxLength:"200" doc:"next_cursor of the page before."`
	Limit  int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"500" default:"100"`
	Include
}

// AuditLog is a page of changes, newest first.
type AuditLog struct {
	Entries []AuditEntry `json:"entries"`
	Paged
}

// AuditEntry is one change.
type AuditEntry struct {
	AccountID string            `json:"account_id" example:"acc_01jabc"`
	Seq       int64             `json:"seq" doc:"Counts the entries of an account from 1." example:"17"`
	At        time.Time         `json:"at" doc:"To the millisecond: the hash covers it."`
	Actor     Actor             `json:"actor"`
	Action    string            `json:"action" example:"key.created"`
	Target    string            `json:"target,omitempty" doc:"Id of what was changed." example:"key_01jabc"`
	Detail    map[string]string `json:"detail,omitempty"`
	Hash      string            `json:"hash" doc:"SHA-256 of the hash before it and of this entry, in hex."`
}

// Actor is who did something.
type Actor struct {
	Kind string `json:"kind" enum:"key,user,operator,system" doc:"operator: the command line; system: the platform itself."`
	ID   string `json:"id,omitempty" doc:"Of the key or the user." example:"usr_01jabc"`
	IP   string `json:"ip,omitempty" doc:"Of the request." example:"192.0.2.7"`
	Name string `json:"name,omitempty" example:"Ann"`
}

// AuditLog returns who changed what, newest first. Its problem is invalid_cursor
// (Invalid).
func (s *Service) AuditLog(ctx context.Context, c *Caller, in AuditRequest) (*AuditLog, error) {
	if err := Authorize(c, ReadAuditLog); err != nil {
		return nil, err
	}
	list := filters("audit-log", in.Action, in.Target, in.Actor)
	before, err := readNumberCursor(list, in.Cursor)
	if err != nil {
		return nil, err
	}
	limit := limited(in.Limit, 100, 500)
	q := audit.Query{Action: in.Action, Target: in.Target, ActorID: in.Actor, Before: before, Limit: limit + 1}
	found, err := s.Audit.AuditEntries(ctx, c.Account, q)
	if err != nil {
		return nil, err
	}
	out := &AuditLog{Entries: []AuditEntry{}}
	if len(found) > limit {
		found = found[:limit]
		next := numberCursor(list, found[limit-1].Seq)
		out.NextCursor = &next
	}
	for i := range found {
		out.Entries = append(out.Entries, showEntry(&found[i]))
	}
	out.Counted, err = in.Total(func() (int, error) { return s.Audit.CountAuditEntries(ctx, c.Account, q) })
	return out, err
}

func showEntry(e *audit.Entry) AuditEntry {
	return AuditEntry{e.AccountID, e.Seq, e.At.UTC(), Actor(e.Actor), e.Action, e.Target, e.Detail, e.Hash}
}
