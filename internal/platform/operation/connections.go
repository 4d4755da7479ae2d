package operation

import (
	"context"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
)

// Connection is a connected account of an app, without its secrets.
type Connection struct {
	ID        string            `json:"id" example:"con_01jabc"`
	App       string            `json:"app" example:"github"`
	AppName   string            `json:"app_name" example:"GitHub"`
	Label     *string           `json:"label" nullable:"true"`
	Default   bool              `json:"is_default" doc:"Used where a call names no connection."`
	Account   Identity          `json:"account" doc:"Whose account at the app it is, as far as the app says."`
	Status    string            `json:"status" enum:"active,needs_reconnect,error,disabled,revoked"`
	Reason    *string           `json:"status_reason" nullable:"true" doc:"Why it is not active; scopes_missing also while it is."`
	Auth      string            `json:"auth" doc:"Kind of sign-in that it was connected with: oauth2, key and others." example:"oauth2"`
	Scheme    string            `json:"scheme" doc:"Which of the app's ways to sign in, by its id."`
	Scopes    []string          `json:"scopes" doc:"What was granted." example:"[\"notes.read\"]"`
	Params    map[string]string `json:"params" doc:"Values that are no secrets, such as a subdomain."`
	EndUser   *string           `json:"end_user" nullable:"true"`
	CreatedAt time.Time         `json:"created_at"`
	LastUsed  *time.Time        `json:"last_used_at" nullable:"true" doc:"To the minute."`
	Checked   *time.Time        `json:"last_checked_at" nullable:"true"`
	Expires   *time.Time        `json:"token_expires_at" nullable:"true" doc:"When the current token expires; it is refreshed before."`
	Refresh   *time.Time        `json:"next_refresh_at" nullable:"true"`
}

// Identity is whose account at an app it is.
type Identity struct {
	ID     *string `json:"id" nullable:"true"`
	Name   *string `json:"name" nullable:"true"`
	Email  *string `json:"email" nullable:"true"`
	Tenant *string `json:"tenant" nullable:"true"`
}

// Connections is a page of connections.
type Connections struct {
	Connections []Connection `json:"connections"`
	Paged
}

// ListConnectionsRequest selects connections. What is empty selects all.
type ListConnectionsRequest struct {
	App     string `query:"app" json:"app,omitempty" maxLength:"64" example:"github"`
	Status  string `query:"status" json:"status,omitempty" enum:"active,needs_reconnect,error,disabled,revoked" doc:"Deleted connections, stored for a month, are listed by revoked alone."`
	EndUser string `query:"end_user" json:"end_user,omitempty" maxLength:"200" doc:"Of this user of yours. Empty: of everybody."`
	Search  string `query:"search" json:"search,omitempty" maxLength:"200" doc:"In app, label and account."`
	Limit   int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
	Cursor  string `query:"cursor" json:"cursor,omitempty" maxLength:"200" doc:"next_cursor of the page before."`
	Include
}

// ListConnections returns what is connected, oldest first. Its problem is
// invalid_cursor (Invalid).
func (s *Service) ListConnections(ctx context.Context, c *Caller, in ListConnectionsRequest) (*Connections, error) {
	if err := Authorize(c, ListConnections); err != nil {
		return nil, err
	}
	list, limit := filters("connections", in.App, in.Status, in.EndUser, in.Search), limited(in.Limit, 20, 100)
	restrict := c.Restrictions()
	q := connection.Query{
		App: in.App, Status: in.Status, EndUser: in.EndUser, AnyEndUser: in.EndUser == "",
		Search: in.Search, Apps: restrict.Apps, Limit: limit + 1,
	}
	var err error
	if q.AfterTime, q.AfterID, err = readTimeCursor(list, in.Cursor); err != nil {
		return nil, err
	}
	out := &Connections{Connections: []Connection{}}
	if own := restrict.EndUser; own != "" {
		if in.EndUser != "" && in.EndUser != own {
			out.Counted = in.Known(0)
			return out, nil
		}
		q.EndUser, q.AnyEndUser = own, false
	}
	found, err := s.Connections.List(ctx, c.Account, q)
	if err != nil {
		return nil, err
	}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		next := timeCursor(list, last.CreatedAt, last.ID)
		out.NextCursor = &next
	}
	for _, one := range found {
		out.Connections = append(out.Connections, s.showConnection(ctx, one))
	}
	out.Counted, err = in.Total(func() (int, error) { return s.ConnectionCounts.CountConnections(ctx, c.Account, q) })
	return out, err
}

// visibleConnection returns a connection that the caller may know of. Its
// problem is connection_not_found (NotFound).
func (s *Service) visibleConnection(ctx context.Context, c *Caller, id string) (*connection.Connection, error) {
	found, err := s.Connections.Get(ctx, c.Account, id)
	if err != nil {
		return nil, err
	}
	if !c.reaches(found.App, found.EndUser) {
		return nil, problem.New(problem.NotFound, "connection_not_found",
			"There is no connection with this id.").Advise("connect_app")
	}
	return found, nil
}

// Connection returns a connection. Its problem is connection_not_found
// (NotFound).
func (s *Service) Connection(ctx context.Context, c *Caller, id string) (*Connection, error) {
	if err := Authorize(c, GetConnection); err != nil {
		return nil, err
	}
	found, err := s.visibleConnection(ctx, c, id)
	return s.shownConnection(ctx, found, err)
}

// ConnectionChange changes a connection; what is left out stays.
type ConnectionChange struct {
	Label    *string `json:"label,omitempty" maxLength:"60" example:"Work"`
	Default  *bool   `json:"is_default,omitempty" doc:"true: no other connection of the same app and end user stays the default."`
	Disabled *bool   `json:"disabled,omitempty"`
}

// ChangeConnection labels a connection, makes it the default, disables or
// enables it. Its problems are those of connection.Service.Update.
func (s *Service) ChangeConnection(ctx context.Context, c *Caller, id string,
	in ConnectionChange,
) (*Connection, error) {
	if err := Authorize(c, ChangeConnection); err != nil {
		return nil, err
	}
	if _, err := s.visibleConnection(ctx, c, id); err != nil {
		return nil, err
	}
	changed, err := s.Connections.Update(ctx, c.Actor, c.Account, id,
		connection.Change{Label: in.Label, Default: in.Default, Disabled: in.Disabled})
	return s.shownConnection(ctx, changed, err)
}

// DeleteConnection deletes a connection; with revoke the grant ends at the app's
// vendor too. Its problem is connection_not_found (NotFound).
func (s *Service) DeleteConnection(ctx context.Context, c *Caller, id string, revoke bool) error {
	if err := Authorize(c, DeleteConnection); err != nil {
		return err
	}
	if _, err := s.visibleConnection(ctx, c, id); err != nil {
		return err
	}
	// What was registered at the app is ended while there are credentials for it.
	s.Triggers.Disconnect(ctx, c.Account, id)
	return s.Connections.Delete(ctx, c.Actor, c.Account, id, revoke)
}

// CheckConnection asks the app whether a connection works, and returns the
// connection as it is then. Its problems are those of connection.Service.Check.
func (s *Service) CheckConnection(ctx context.Context, c *Caller, id string) (*Connection, error) {
	if err := Authorize(c, CheckConnection); err != nil {
		return nil, err
	}
	if _, err := s.visibleConnection(ctx, c, id); err != nil {
		return nil, err
	}
	checked, err := s.Connections.Check(ctx, c.Actor, c.Account, id)
	return s.shownConnection(ctx, checked, err)
}

func (s *Service) shownConnection(ctx context.Context, found *connection.Connection, err error) (*Connection, error) {
	if err != nil {
		return nil, err
	}
	shown := s.showConnection(ctx, found)
	return &shown, nil
}

func (s *Service) showConnection(ctx context.Context, c *connection.Connection) Connection {
	name, auth := c.App, c.Scheme
	if a, err := s.Apps.App(ctx, c.AccountID, c.App); err == nil {
		name = a.Name
		if scheme, known := a.Scheme(c.Scheme); known && c.Scheme != "" {
			auth = scheme.Type
		}
	}
	params := c.Params
	if params == nil {
		params = map[string]string{}
	}
	return Connection{
		ID: c.ID, App: c.App, AppName: name, Label: optionalText(c.Label), Default: c.Default,
		Status: string(c.Status), Reason: optionalText(c.Reason), Auth: auth, Scheme: c.Scheme,
		Scopes: orEmpty(c.Scopes), Params: params,
		Account: Identity{
			optionalText(c.Identity.ID), optionalText(c.Identity.Name), optionalText(c.Identity.Email),
			optionalText(c.Identity.Tenant),
		},
		EndUser:   optionalText(c.EndUser),
		CreatedAt: inSeconds(c.CreatedAt), LastUsed: optionalTime(c.LastUsedAt), Checked: optionalTime(c.LastCheckedAt),
		Expires: optionalTime(c.TokenExpiresAt), Refresh: optionalTime(c.NextRefreshAt),
	}
}
