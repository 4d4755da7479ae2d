// Package lookup finds tools by id for a caller: within the restrictions of the
// API key, and with suggestions for ids that do not exist.
//
//	Get(id) -> Apps.Tool -> restrictions of the key -> tool
//	                     \-> tool_not_found with did_you_mean
package lookup

import (
	"context"
	"slices"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
)

// Apps returns definitions: those of the catalog, and those of the account's own
// connectors.
type Apps interface {
	// App returns app_not_found (NotFound).
	App(ctx context.Context, accountID, id string) (*app.App, error)
	// Tool returns tool_not_found (NotFound) or tool_removed (Gone).
	Tool(ctx context.Context, accountID, id string) (*app.App, *app.Tool, error)
	// Apps returns all of them by name.
	Apps(ctx context.Context, accountID string) ([]*app.App, error)
}

// Tools finds the tools of an account.
type Tools struct{ Apps Apps }

// Get returns a tool for the holder of a key; a nil key is a signed-in user. It
// returns tool_not_found (NotFound) with did_you_mean, tool_removed (Gone) and
// key_restricted (Forbidden).
func (t Tools) Get(ctx context.Context, accountID string, key *apikey.Key, id string) (*app.App, *app.Tool, error) {
	a, found, err := t.Apps.Tool(ctx, accountID, id)
	if problem.Is(err, "tool_not_found") {
		return nil, nil, t.suggest(ctx, accountID, key, id, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return a, found, checkKey(key, a, found)
}

// suggest adds similar ids to tool_not_found.
func (t Tools) suggest(ctx context.Context, accountID string, key *apikey.Key, id string, notFound error) error {
	p, _ := problem.From(notFound)
	apps, err := t.Apps.Apps(ctx, accountID)
	if err != nil {
		return err
	}
	near := nearest(id, apps, func(a *app.App, one *app.Tool) bool {
		return key == nil || key.Restrict.AllowsTool(a.ID, one.IDs()...)
	})
	if len(near) == 0 {
		return p.Advise("find_tools")
	}
	return p.With("did_you_mean", slices.Clone(near)).Advise("find_tools")
}

// List returns the named tools, or all tools of an app that the key may use. It
// returns app_not_found and tool_not_found (NotFound), and key_restricted
// (Forbidden) for a named tool.
func (t Tools) List(ctx context.Context, accountID string, key *apikey.Key, appID string, ids []string) (
	apps []*app.App, tools []*app.Tool, err error,
) {
	for _, id := range ids {
		a, one, err := t.Get(ctx, accountID, key, id)
		if err != nil {
			return nil, nil, err
		}
		if appID == "" || appID == a.ID {
			apps, tools = append(apps, a), append(tools, one)
		}
	}
	if len(ids) > 0 {
		return apps, tools, nil
	}
	a, err := t.Apps.App(ctx, accountID, appID)
	if err != nil {
		return nil, nil, err
	}
	all, err := a.AllTools()
	if err != nil {
		return nil, nil, err
	}
	for _, one := range all {
		if checkKey(key, a, one) == nil {
			apps, tools = append(apps, a), append(tools, one)
		}
	}
	return apps, tools, nil
}

// Restrictions returns the restrictions of a key with every id that its tools
// have had: a run is stored under the id that its tool had then.
func (t Tools) Restrictions(ctx context.Context, key *apikey.Key) (apikey.Restrictions, error) {
	all := key.Restrict
	for _, id := range key.Restrict.Tools {
		_, found, err := t.Apps.Tool(ctx, key.AccountID, id)
		if problem.Is(err, "tool_not_found") { // its runs still exist
			continue
		}
		if err != nil {
			return all, err
		}
		all.Tools = append(slices.Clip(all.Tools), found.IDs()...)
	}
	return all, nil
}

// checkKey returns key_restricted (Forbidden) if a key is not for a tool,
// whatever the arguments.
func checkKey(key *apikey.Key, a *app.App, t *app.Tool) error {
	if key == nil {
		return nil
	}
	r := &key.Restrict
	switch {
	case !r.AllowsApp(a.ID):
		return restricted(a, t, "This key is not for the app "+a.Name+".")
	case !r.AllowsTool(a.ID, t.IDs()...):
		return restricted(a, t, "This key is not for this tool.")
	case t.Free && !r.RawRequests:
		return restricted(a, t, "This key may not send raw requests. Use a tool, or ask for a key with raw_requests.")
	case !t.Free:
		return CheckEffect(key, a, t)
	}
	return nil
}

// CheckEffect returns key_restricted (Forbidden) if the key is for reading and
// the tool changes something. The effect of a raw request is known only with its
// arguments.
func CheckEffect(key *apikey.Key, a *app.App, t *app.Tool) error {
	if key == nil || !key.Restrict.ReadOnlyTools || t.ReadOnly() {
		return nil
	}
	return restricted(a, t, "This key may only read. Ask for a key that may change things.")
}

func restricted(a *app.App, t *app.Tool, detail string) error {
	return problem.New(problem.Forbidden, "key_restricted", detail).Advise("ask_owner_for_permission").
		With("app", a.ID).With("tool", t.ID)
}
