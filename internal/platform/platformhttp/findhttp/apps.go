package findhttp

import (
	"context"
	"net/http"
	"slices"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/app"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/listing"
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
	listing.Counted
	Apps       []AccountApp `json:"apps"`
	NextCursor *string      `json:"next_cursor" nullable:"true"`
}

type appsInput struct {
	Search   string `query:"search" maxLength:"200" doc:"Name of an app, or what it is for. Empty: all, by name."`
	Category string `query:"category" maxLength:"40"`
	Status   string `query:"connection_status" enum:"connected,needs_reconnect,not_connected,not_required"`
	EndUser  string `query:"end_user" maxLength:"200" doc:"Connections of this user of yours count."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor   string `query:"cursor" maxLength:"20"`
	listing.Include
}

type appsOutput struct {
	listing.Linked
	Body AccountApps
}

type body[T any] struct{ Body T }

func (f *Face) describeApps(api *openapi.API, base, security string) {
	listing.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/apps", ID: "searchApps", Tags: []string{"apps"},
		Security: []string{security}, Summary: "Search apps, with what the account has connected",
		Description: "Finds apps by name (also with one wrong letter), by other names, by what they are for.",
	}, f.apps)
}

func (f *Face) apps(ctx context.Context, in *appsInput) (*appsOutput, error) {
	caller := gate.From(ctx)
	view, err := f.Library.For(ctx, caller.Account)
	if err != nil {
		return nil, err
	}
	endUser := in.EndUser
	if own := caller.Key.Restrict.EndUser; own != "" {
		endUser = own
	}
	states, err := f.states(ctx, caller.Account, endUser)
	if err != nil {
		return nil, err
	}
	var found []AccountApp
	for _, hit := range view.Index.Apps(in.Search) {
		if !caller.Key.Restrict.AllowsApp(hit.App) {
			continue
		}
		a, err := view.Catalog.App(hit.App)
		if err != nil {
			return nil, err
		}
		if in.Category != "" && !slices.Contains(a.Categories, in.Category) {
			continue
		}
		one, err := f.accountApp(ctx, caller.Account, a, states)
		if err != nil {
			return nil, err
		}
		if in.Search != "" {
			one.Match = &Match{hit.Score, hit.On}
		}
		if in.Status == "" || one.ConnectionStatus == in.Status {
			found = append(found, one)
		}
	}
	page, next, err := cut(found, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	return &appsOutput{listing.Next(ctx, f.BaseURL, next), AccountApps{in.Known(len(found)), page, next}}, nil
}

func (f *Face) states(ctx context.Context, accountID, endUser string) (map[string]AppState, error) {
	if f.Connections == nil {
		return nil, nil
	}
	return f.Connections.AppStates(ctx, accountID, endUser)
}

func (f *Face) accountApp(ctx context.Context, accountID string, a *app.App,
	states map[string]AppState,
) (AccountApp, error) {
	wire, err := f.wireApp(ctx, accountID, a)
	one := AccountApp{
		CatalogApp: wire, ConnectionStatus: status(a.ID, waysIn(a), states),
		ConnectRequires: []string{},
	}
	state := states[a.ID]
	one.ConnectionsCount, one.DefaultConnection = state.Count, state.DefaultID
	for name, p := range a.Params {
		if !p.Learned && !p.Optional && p.Default == "" {
			one.ConnectRequires = append(one.ConnectRequires, name)
		}
	}
	return one, err
}

// status is the state of an app for an account.
func status(appID string, ways []string, states map[string]AppState) string {
	if state, ok := states[appID]; ok {
		return state.Status
	}
	if len(ways) == 1 && ways[0] == "none" {
		return "not_required"
	}
	return "not_connected"
}
