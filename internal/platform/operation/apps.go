package operation

import (
	"context"
	"slices"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// AccountApp is an app as an account sees it.
type AccountApp struct {
	CatalogApp
	ConnectionStatus  string   `json:"connection_status" enum:"connected,needs_reconnect,not_connected,not_required"`
	ConnectionsCount  int      `json:"connections_count"`
	DefaultConnection string   `json:"default_connection_id,omitempty" doc:"The connection that a run uses where it names none."`
	ConnectRequires   []string `json:"connect_requires" doc:"Params that connecting asks for, such as a subdomain."`
	Match             *Match   `json:"match,omitempty" doc:"How the search found it."`
}

// Match is how a search found an app.
type Match struct {
	Score  float64  `json:"score" doc:"From 0 to 1."`
	Fields []string `json:"fields"`
}

// AccountApps is a page of apps.
type AccountApps struct {
	Counted
	Apps       []AccountApp `json:"apps"`
	NextCursor *string      `json:"next_cursor" nullable:"true"`
}

// SearchAppsRequest selects apps. What is empty selects all.
type SearchAppsRequest struct {
	Search   string `query:"search" json:"search,omitempty" maxLength:"200" doc:"Name of an app, or what it is for. Empty: all, by name."`
	Category string `query:"category" json:"category,omitempty" maxLength:"40"`
	Status   string `query:"connection_status" json:"connection_status,omitempty" enum:"connected,needs_reconnect,not_connected,not_required"`
	EndUser  string `query:"end_user" json:"end_user,omitempty" maxLength:"200" doc:"Connections of this user of yours count."`
	Limit    int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
	Cursor   string `query:"cursor" json:"cursor,omitempty" maxLength:"20"`
	Include
}

// What an account has of an app.
const (
	statusConnected      = "connected"
	statusNeedsReconnect = "needs_reconnect"
	statusNotConnected   = "not_connected"
	statusNotRequired    = "not_required"
)

// SearchApps returns apps by name, by other names and by what they are for, with
// what the account has connected. Its problem is invalid_cursor (Malformed).
func (s *Service) SearchApps(ctx context.Context, c *Caller, in SearchAppsRequest) (*AccountApps, error) {
	if err := Authorize(c, SearchApps); err != nil {
		return nil, err
	}
	view, err := s.Library.For(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	restrict := c.Restrictions()
	states, err := s.appStates(ctx, c, in.EndUser)
	if err != nil {
		return nil, err
	}
	type match struct {
		app *app.App
		by  Match
	}
	var found []match
	for _, hit := range view.Index.Apps(in.Search) {
		if !restrict.AllowsApp(hit.App) {
			continue
		}
		a, err := view.Catalog.App(hit.App)
		if err != nil {
			return nil, err
		}
		if (in.Category == "" || slices.Contains(a.Categories, in.Category)) &&
			(in.Status == "" || statusOf(a, states) == in.Status) {
			found = append(found, match{a, Match{hit.Score, hit.On}})
		}
	}
	page, next, err := cut(found, in.Cursor, limited(in.Limit, 20, 100))
	if err != nil {
		return nil, err
	}
	connectable, err := s.connectable(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	out := &AccountApps{in.Known(len(found)), make([]AccountApp, len(page)), next}
	for i := range page {
		out.Apps[i] = s.accountApp(page[i].app, states, connectable)
		if in.Search != "" {
			out.Apps[i].Match = &page[i].by
		}
	}
	return out, nil
}

func (s *Service) accountApp(a *app.App, states map[string]appState,
	connectable func(*app.App) (bool, string),
) AccountApp {
	state := states[a.ID]
	one := AccountApp{
		CatalogApp: s.showApp(a, connectable), ConnectionStatus: statusOf(a, states), ConnectionsCount: state.count,
		DefaultConnection: state.defaultID, ConnectRequires: []string{},
	}
	for name, p := range a.Params {
		if !p.Learned && !p.Optional && p.Default == "" {
			one.ConnectRequires = append(one.ConnectRequires, name)
		}
	}
	slices.Sort(one.ConnectRequires)
	return one
}

// appState is what an account has of an app.
type appState struct {
	status    string // connected, needs_reconnect
	count     int
	defaultID string // id of the connection that is chosen where none is named
}

// appStates returns states by app id, of connections of the end user, or of the
// account itself for "". A key for one end user sees that one's. Connections that
// are switched off do not count.
func (s *Service) appStates(ctx context.Context, c *Caller, endUser string) (map[string]appState, error) {
	if s.Connections == nil {
		return nil, nil
	}
	if own := c.Restrictions().EndUser; own != "" {
		endUser = own
	}
	list, err := s.Connections.List(ctx, c.Account, connection.Query{EndUser: endUser})
	if err != nil {
		return nil, err
	}
	states := map[string]appState{}
	only := map[string]string{} // the one that works, of apps with one
	for _, one := range list {
		state := states[one.App]
		switch one.Status {
		case connection.Active, connection.Failing:
			only[one.App] = one.ID
			if state.status == statusConnected {
				only[one.App] = ""
			}
			state.status = statusConnected
		case connection.NeedsReconnect:
			if state.status == "" {
				state.status = statusNeedsReconnect
			}
		default:
			continue
		}
		state.count++
		if one.Default {
			state.defaultID = one.ID
		}
		states[one.App] = state
	}
	for id, state := range states {
		if state.defaultID == "" && only[id] != "" {
			state.defaultID = only[id]
			states[id] = state
		}
	}
	return states, nil
}

// statusOf returns the state of an app for an account.
func statusOf(a *app.App, states map[string]appState) string {
	if state, ok := states[a.ID]; ok {
		return state.status
	}
	if ways := waysIn(a); len(ways) == 1 && ways[0] == "none" {
		return statusNotRequired
	}
	return statusNotConnected
}
