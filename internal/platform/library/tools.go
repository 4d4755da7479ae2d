package library

import (
	"context"

	"ace/internal/platform/app"
)

// Tool answers a tool that an account can use, with its app. It returns
// tool_not_found (NotFound).
func (l *Library) Tool(ctx context.Context, accountID, id string) (*app.App, *app.Tool, error) {
	if a, t, err := l.shared.Catalog.Tool(id); err == nil {
		return a, t, nil
	}
	view, err := l.For(ctx, accountID)
	if err != nil {
		return nil, nil, err
	}
	return view.Catalog.Tool(id)
}

// Apps answers the apps that an account can use, by name.
func (l *Library) Apps(ctx context.Context, accountID string) ([]*app.App, error) {
	view, err := l.For(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return view.Catalog.Apps(), nil
}
