package connection

import (
	"context"
	"slices"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
)

// Choose returns the connection that a call of an app goes over: the one that
// is named; else the default of the end user, or of the account where endUser
// is empty; else the only one that works. A default that does not work is not
// passed over: the caller would act as somebody else. Credentials are not read;
// Use returns them. An app that needs none gets a connection without an id;
// Anonymous makes its Live.
//
// Its problems: connection_not_found (NotFound); not_connected,
// reconnect_required, connection_disabled, connection_ambiguous with the member
// connections (Conflict). The members app and connection_id say which.
func (s *Service) Choose(ctx context.Context, accountID string, a *app.App,
	connectionID, endUser string,
) (*Connection, error) {
	if connectionID != "" {
		c, err := s.Store.Connection(ctx, accountID, connectionID)
		if err != nil {
			return nil, err
		}
		if c.App != a.ID || endUser != "" && c.EndUser != endUser {
			return nil, connectionNotFound().With("app", a.ID)
		}
		return c, (&storedCredentials{c: c, app: a}).allowed()
	}
	var list []*Connection
	if slices.ContainsFunc(a.Schemes, func(s app.Scheme) bool { return s.Type != app.TypeNone }) {
		var err error
		if list, err = s.Store.Connections(ctx, accountID, Query{App: a.ID, EndUser: endUser}); err != nil {
			return nil, err
		}
	}
	return choose(a, accountID, list)
}

func choose(a *app.App, accountID string, list []*Connection) (*Connection, error) {
	if i := slices.IndexFunc(list, func(c *Connection) bool { return c.Default }); i >= 0 {
		return list[i], (&storedCredentials{c: list[i], app: a}).allowed()
	}
	var working []*Connection
	for _, c := range list {
		if c.Status == Active || c.Status == Failing {
			working = append(working, c)
		}
	}
	switch {
	case len(working) == 1:
		return working[0], nil
	case len(working) > 1:
		return nil, ambiguous(a, working)
	case len(list) > 0:
		return nil, (&storedCredentials{c: mendable(list), app: a}).allowed()
	}
	if i := slices.IndexFunc(a.Schemes, func(s app.Scheme) bool { return s.Type == app.TypeNone }); i >= 0 {
		return Anonymous(accountID, a, &a.Schemes[i]).Connection, nil
	}
	return nil, problem.New(problem.Conflict, "not_connected", a.Name+" is not connected for this account.").With("app",
		a.ID).Advise("connect_app")
}

// mendable is the connection that is named where none works: one that a person
// can connect again, before one that is switched off.
func mendable(list []*Connection) *Connection {
	if i := slices.IndexFunc(list, func(c *Connection) bool { return c.Status == NeedsReconnect }); i >= 0 {
		return list[i]
	}
	return list[0]
}

// Choice is one of several connections, as connection_ambiguous lists them.
type Choice struct {
	ID      string   `json:"id"`
	Label   string   `json:"label,omitempty"`
	Account Identity `json:"account"`
}

func ambiguous(a *app.App, working []*Connection) error {
	choices := make([]Choice, len(working))
	for i, c := range working {
		choices[i] = Choice{c.ID, c.Label, c.Identity}
	}
	return problem.New(problem.Conflict, "connection_ambiguous",
		"Several accounts of "+a.Name+
			" are connected and none is the default. Name one by connection_id, or make one the default.").
		With("app", a.ID).With("connections", choices).Advise("choose_connection")
}
