package connecthttp

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/cursor"
	"ace/internal/platform/connection"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
)

// Connection is a connected account of an app, without its secrets.
type Connection struct {
	ID        string     `json:"id" example:"con_01jabc"`
	App       string     `json:"app"`
	AppName   string     `json:"app_name"`
	Label     *string    `json:"label" nullable:"true"`
	Default   bool       `json:"is_default" doc:"Chosen where a call names no connection."`
	Account   Identity   `json:"account" doc:"Whose account at the app it is, as far as the app tells."`
	Status    string     `json:"status" enum:"active,needs_reconnect,error,disabled,revoked"`
	Reason    *string    `json:"status_reason" nullable:"true" doc:"Why it is not active; scopes_missing also while it is."`
	Auth      string     `json:"auth" doc:"The kind of sign-in that it was connected by: oauth2, key and others."`
	Scheme    string     `json:"scheme" doc:"Which of the app's ways to sign in, by its id."`
	Scopes    []string   `json:"scopes" doc:"What was granted."`
	EndUser   *string    `json:"end_user" nullable:"true"`
	CreatedAt time.Time  `json:"created_at"`
	LastUsed  *time.Time `json:"last_used_at" nullable:"true" doc:"To the minute."`
	Checked   *time.Time `json:"last_checked_at" nullable:"true"`
	Expires   *time.Time `json:"token_expires_at" nullable:"true" doc:"When the token of now ends; it is renewed before."`
	Refresh   *time.Time `json:"next_refresh_at" nullable:"true"`
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
	listing.Counted
	Connections []Connection `json:"connections"`
	NextCursor  *string      `json:"next_cursor" nullable:"true"`
}

type listInput struct {
	App     string `query:"app" maxLength:"64"`
	Status  string `query:"status" enum:"active,needs_reconnect,error,disabled,revoked" doc:"Deleted connections, kept for a month, are listed by revoked alone."`
	EndUser string `query:"end_user" maxLength:"200" doc:"Empty: whomever they belong to."`
	Search  string `query:"search" maxLength:"200" doc:"In app, label and account."`
	Limit   int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor  string `query:"cursor" maxLength:"200"`
	listing.Include
}

type listOutput struct {
	listing.Linked
	Body Connections
}

func (f *Face) list(ctx context.Context, in *listInput) (*listOutput, error) {
	caller := gate.From(ctx)
	query := url.Values{}
	for name, value := range map[string]string{"app": in.App, "status": in.Status, "end_user": in.EndUser, "search": in.Search} {
		if value != "" {
			query.Set(name, value)
		}
	}
	which := "connections?" + query.Encode()
	q := connection.Query{App: in.App, Status: in.Status, EndUser: in.EndUser, AnyEndUser: in.EndUser == "", Search: in.Search, Apps: caller.Key.Restrict.Apps, Limit: in.Limit + 1}
	var err error
	if q.AfterTime, q.AfterID, err = position(which, in.Cursor); err != nil {
		return nil, err
	}
	if own := caller.Key.Restrict.EndUser; own != "" {
		if in.EndUser != "" && in.EndUser != own {
			return &listOutput{Body: Connections{Counted: in.Known(0), Connections: []Connection{}}}, nil
		}
		q.EndUser, q.AnyEndUser = own, false
	}
	found, err := f.Connections.List(ctx, caller.Account, q)
	if err != nil {
		return nil, err
	}
	out := &listOutput{Body: Connections{Connections: []Connection{}}}
	if len(found) > in.Limit {
		found = found[:in.Limit]
		last := found[len(found)-1]
		next := cursor.Encode(which, strconv.FormatInt(last.CreatedAt.UnixMilli(), 10)+" "+last.ID)
		out.Body.NextCursor, out.Linked = &next, listing.Next(ctx, f.BaseURL, &next)
	}
	for _, c := range found {
		out.Body.Connections = append(out.Body.Connections, f.wire(ctx, c))
	}
	out.Body.Counted, err = in.Total(func() (int, error) { return f.Counts.CountConnections(ctx, caller.Account, q) })
	return out, err
}

// position reads the place in a list that a cursor stands for.
func position(which, text string) (at time.Time, id string, err error) {
	place, err := cursor.Decode(which, text)
	if err != nil || place == "" {
		return time.Time{}, "", err
	}
	millis, id, _ := strings.Cut(place, " ")
	ms, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		_, err = cursor.Decode(which, "!")
		return time.Time{}, "", err
	}
	return time.UnixMilli(ms), id, nil
}

func (f *Face) get(ctx context.Context, in *idInput) (*body[Connection], error) {
	c, err := f.scoped(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Connection]{f.wire(ctx, c)}, nil
}

// ConnectionChange changes a connection; what is left out stays.
type ConnectionChange struct {
	Label    *string `json:"label,omitempty" maxLength:"60"`
	Default  *bool   `json:"is_default,omitempty" doc:"true takes the mark from the app's other connections of the same end user."`
	Disabled *bool   `json:"disabled,omitempty"`
}

type changeInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body ConnectionChange
}

func (f *Face) change(ctx context.Context, in *changeInput) (*body[Connection], error) {
	if _, err := f.scoped(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	c, err := f.Connections.Update(ctx, caller.Actor, caller.Account, in.ID, connection.Change{Label: in.Body.Label, Default: in.Body.Default, Disabled: in.Body.Disabled})
	if err != nil {
		return nil, err
	}
	return &body[Connection]{f.wire(ctx, c)}, nil
}

type removeInput struct {
	ID     string `path:"id" maxLength:"64"`
	Revoke bool   `query:"revoke" default:"true" doc:"Also end the grant at the app's vendor."`
}

func (f *Face) remove(ctx context.Context, in *removeInput) (*struct{}, error) {
	if _, err := f.scoped(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	return nil, f.Connections.Delete(ctx, caller.Actor, caller.Account, in.ID, in.Revoke)
}

func (f *Face) check(ctx context.Context, in *idInput) (*body[Connection], error) {
	if _, err := f.scoped(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	c, err := f.Connections.Check(ctx, caller.Actor, caller.Account, in.ID)
	if err != nil {
		return nil, err
	}
	return &body[Connection]{f.wire(ctx, c)}, nil
}

func (f *Face) wire(ctx context.Context, c *connection.Connection) Connection {
	name, auth := c.App, c.Scheme
	if a, err := f.Apps.App(ctx, c.AccountID, c.App); err == nil {
		name = a.Name
		if scheme, known := a.Scheme(c.Scheme); known && c.Scheme != "" {
			auth = scheme.Type
		}
	}
	scopes := c.Scopes
	if scopes == nil {
		scopes = []string{}
	}
	return Connection{
		ID: c.ID, App: c.App, AppName: name, Label: text(c.Label), Default: c.Default, Status: string(c.Status), Reason: text(c.Reason), Auth: auth, Scheme: c.Scheme, Scopes: scopes,
		Account: Identity{text(c.Identity.ID), text(c.Identity.Name), text(c.Identity.Email), text(c.Identity.Tenant)}, EndUser: text(c.EndUser),
		CreatedAt: c.CreatedAt, LastUsed: when(c.LastUsedAt), Checked: when(c.LastCheckedAt), Expires: when(c.TokenExpiresAt), Refresh: when(c.NextRefreshAt),
	}
}
