package operation

import (
	"context"
	"slices"
	"strconv"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/library"
)

// Library returns what an account can use.
type Library interface {
	Shared() *library.View
	For(ctx context.Context, accountID string) (*library.View, error)
}

// CatalogApp is an app as everybody sees it.
type CatalogApp struct {
	App           string   `json:"app" doc:"Id of the app." example:"gmail"`
	Name          string   `json:"name"`
	Description   string   `json:"description"`
	Categories    []string `json:"categories"`
	LogoURL       string   `json:"logo_url"`
	Auth          []string `json:"auth" doc:"Ways to sign in: oauth2, key, basic, mcp and others."`
	ToolsCount    int      `json:"tools_count"`
	TriggersCount int      `json:"triggers_count"`
	Tier          string   `json:"tier" enum:"full,api,mcp,request" doc:"full: tools made by hand; api: derived from the app's own description; mcp: of its MCP server; request: sign-in and requests of your own making."`
	Status        string   `json:"status" enum:"active"`
	Connectable   bool     `json:"connectable" doc:"Whether this installation can connect it."`
	Reason        string   `json:"connectable_reason,omitempty" doc:"Why not: oauth_client_missing means that the operator has not registered with the vendor."`
	DocsURL       string   `json:"docs_url"`
}

// Catalog is a page of apps.
type Catalog struct {
	Apps       []CatalogApp `json:"apps"`
	NextCursor *string      `json:"next_cursor" nullable:"true"`
	Total      int          `json:"total" doc:"Apps on all pages, counted."`
}

// CatalogRequest selects apps. What is empty selects all.
type CatalogRequest struct {
	Category    string `query:"category" json:"category,omitempty" maxLength:"40"`
	Auth        string `query:"auth" json:"auth,omitempty" maxLength:"40" doc:"Only apps with this way to sign in."`
	HasTriggers string `query:"has_triggers" json:"has_triggers,omitempty" enum:"true,false" doc:"Only apps with, or without, triggers."`
	Limit       int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"2000" default:"100" doc:"Apps per page; 2000 takes all at once."`
	Cursor      string `query:"cursor" json:"cursor,omitempty" maxLength:"20"`
}

// Catalog returns every listed app, for anybody. Its problem is invalid_cursor
// (Malformed).
func (s *Service) Catalog(ctx context.Context, in CatalogRequest) (*Catalog, error) {
	var listed []*app.App
	for _, a := range s.Library.Shared().Catalog.Apps() {
		if a.Listed && in.admits(a) {
			listed = append(listed, a)
		}
	}
	page, next, err := cut(listed, in.Cursor, limited(in.Limit, 100, 2000))
	if err != nil {
		return nil, err
	}
	connectable, err := s.connectable(ctx, "")
	if err != nil {
		return nil, err
	}
	out := &Catalog{make([]CatalogApp, len(page)), next, len(listed)}
	for i, a := range page {
		out.Apps[i] = s.showApp(a, connectable)
	}
	return out, nil
}

func (r *CatalogRequest) admits(a *app.App) bool {
	return (r.Category == "" || slices.Contains(a.Categories, r.Category)) &&
		(r.Auth == "" || slices.Contains(waysIn(a), r.Auth)) &&
		(r.HasTriggers == "" || (len(a.Offers()) > 0) == (r.HasTriggers == "true"))
}

// cut returns a page of a list that was read as a whole. The cursor is the number
// of entries before it.
func cut[T any](all []T, cursor string, limit int) (page []T, next *string, err error) {
	from := 0
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 || from > len(all) {
			return nil, nil, problem.New(problem.Malformed, "invalid_cursor",
				"This cursor does not belong to this list. Begin at the first page.").At("cursor")
		}
	}
	to := min(from+limit, len(all))
	if to < len(all) {
		text := strconv.Itoa(to)
		next = &text
	}
	return append([]T{}, all[from:to]...), next, nil
}

// waysIn returns the types of an app's schemes, each once.
func waysIn(a *app.App) []string {
	ways := []string{}
	for i := range a.Schemes {
		if !slices.Contains(ways, a.Schemes[i].Type) {
			ways = append(ways, a.Schemes[i].Type)
		}
	}
	return ways
}

// connectable returns whether an account, or everybody for "", can connect an app,
// and why not. Without connections it is nil.
func (s *Service) connectable(ctx context.Context, accountID string) (func(*app.App) (bool, string), error) {
	if s.Connections == nil {
		return nil, nil
	}
	return s.Connections.ConnectableApps(ctx, accountID)
}

// showApp shows an app to those for whom connectable says what they can connect.
func (s *Service) showApp(a *app.App, connectable func(*app.App) (bool, string)) CatalogApp {
	out := CatalogApp{
		App: a.ID, Name: a.Name, Description: a.About, Categories: append([]string{}, a.Categories...),
		LogoURL: s.baseURL + "/logos/" + a.ID + ".svg", Auth: waysIn(a),
		ToolsCount: a.ToolCount(), TriggersCount: len(a.Offers()), Tier: string(a.Tier), Status: "active",
		DocsURL: s.baseURL + "/apps/" + a.ID,
	}
	if connectable != nil {
		out.Connectable, out.Reason = connectable(a)
	}
	return out
}
