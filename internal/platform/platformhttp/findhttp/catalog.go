package findhttp

import (
	"context"
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/platformhttp/entity"
	"ace/internal/platform/platformhttp/listing"
)

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

type catalogInput struct {
	Category    string `query:"category" maxLength:"40"`
	Auth        string `query:"auth" maxLength:"40" doc:"Only apps with this way to sign in."`
	HasTriggers string `query:"has_triggers" enum:"true,false" doc:"Only apps with, or without, triggers."`
	Limit       int    `query:"limit" minimum:"1" maximum:"2000" default:"100" doc:"Apps per page; 2000 takes all at once."`
	Cursor      string `query:"cursor" maxLength:"20"`
	IfNoneMatch string `header:"If-None-Match"`
	// Include asks for what is there anyway, as other lists do.
	listing.Include
}

type catalogOutput struct {
	listing.Linked
	Status int
	ETag   string `header:"ETag"`
	Cache  string `header:"Cache-Control"`
	Body   *Catalog
}

func (f *Face) describeCatalog(api *openapi.API, base string) {
	listing.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/catalog", ID: "catalog", Tags: []string{"apps"},
		Summary: "All apps, without a key",
		Description: "Every app that this installation lists. What the totals say is counted, not claimed. Ask again " +
			"with If-None-Match: an unchanged catalogue answers 304.",
	}, f.catalog)
}

func (f *Face) catalog(ctx context.Context, in *catalogInput) (*catalogOutput, error) {
	var listed []CatalogApp
	for _, a := range f.Library.Shared().Catalog.Apps() {
		if !a.Listed || !in.admits(a) {
			continue
		}
		wire, err := f.wireApp(ctx, "", a)
		if err != nil {
			return nil, err
		}
		listed = append(listed, wire)
	}
	page, next, err := cut(listed, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	body := &Catalog{Apps: page, NextCursor: next, Total: len(listed)}
	tag, err := entity.Tag(body)
	if err != nil {
		return nil, err
	}
	out := &catalogOutput{
		Linked: listing.Next(ctx, f.BaseURL, next), Status: http.StatusOK, ETag: tag,
		Cache: "public, max-age=300", Body: body,
	}
	if entity.Matches(in.IfNoneMatch, tag) {
		out.Status, out.Body = http.StatusNotModified, nil
	}
	return out, nil
}

func (in *catalogInput) admits(a *app.App) bool {
	return (in.Category == "" || slices.Contains(a.Categories, in.Category)) &&
		(in.Auth == "" || slices.Contains(waysIn(a), in.Auth)) &&
		(in.HasTriggers == "" || (a.Triggers.Len() > 0) == (in.HasTriggers == "true"))
}

// cut answers a page of a list. The cursor is the number of entries before it.
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

// waysIn are the types of an app's schemes, each once.
func waysIn(a *app.App) []string {
	ways := []string{}
	for i := range a.Schemes {
		if !slices.Contains(ways, a.Schemes[i].Type) {
			ways = append(ways, a.Schemes[i].Type)
		}
	}
	return ways
}

func (f *Face) wireApp(ctx context.Context, accountID string, a *app.App) (CatalogApp, error) {
	wire := CatalogApp{
		App: a.ID, Name: a.Name, Description: a.About, Categories: append([]string{}, a.Categories...),
		LogoURL: f.BaseURL + "/logos/" + a.ID + ".svg", Auth: waysIn(a),
		ToolsCount: a.Tools.Len(), TriggersCount: a.Triggers.Len(), Tier: string(a.Tier), Status: "active",
		DocsURL: f.BaseURL + "/apps/" + a.ID,
	}
	if f.Connections == nil {
		return wire, nil
	}
	var err error
	wire.Connectable, wire.Reason, err = f.Connections.Connectable(ctx, accountID, a)
	return wire, err
}

// Logo answers a monogram: two letters on a colour that follows from the name.
// Marks of vendors are theirs; we show none.
func (f *Face) Logo(w http.ResponseWriter, r *http.Request) {
	a, err := f.Library.Shared().Catalog.App(strings.TrimSuffix(r.PathValue("file"), ".svg"))
	if err != nil || !strings.HasSuffix(r.PathValue("file"), ".svg") {
		http.NotFound(w, r)
		return
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(a.ID)) // a hash takes everything
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = fmt.Fprintf(
		w,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="%s"><rect width="64" height="64" rx="14" fill="hsl(%d 45%% 32%%)"/>`+
			`<text x="32" y="41" font-family="system-ui, sans-serif" font-size="26" font-weight="600" text-anchor="middle" fill="#fff">%s</text></svg>`,
		html.EscapeString(a.Name),
		sum.Sum32()%360,
		html.EscapeString(monogram(a.Name)),
	)
}

// monogram is the first letter of the first two words, or the first two letters.
func monogram(name string) string {
	var letters []rune
	for _, word := range strings.FieldsFunc(name,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters = append(letters, unicode.ToUpper([]rune(word)[0]))
	}
	if len(letters) >= 2 {
		return string(letters[:2])
	}
	runes := []rune(name)
	return string(runes[:min(2, len(runes))])
}
