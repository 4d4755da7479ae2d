package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
)

// AppCall is a call that the platform itself makes for an account, such as the
// poll of a trigger. It is no run: nothing of it is stored.
type AppCall struct {
	AccountID    string
	App          *app.App
	Tool         *app.Tool
	ConnectionID string         // empty: the app needs none
	Arguments    map[string]any // checked against the schema, if the tool has one
}

// Call makes a call: at the rate of the app, unless its host is down, with
// credentials that are refreshed once if the app refuses them, and again where
// that is safe and ctx leaves time. Its errors are a *Failure, and the problems of
// Connections.
func (s *Service) Call(ctx context.Context, c *AppCall) (*Answer, error) {
	p := &plan{
		// A caller that may connect nothing gets no sign-in links in errors.
		caller: &Caller{AccountID: c.AccountID, Actor: audit.System(), Key: &apikey.Key{}},
		app:    c.App, tool: c.Tool.With(c.Arguments), arguments: c.Arguments,
		request: Request{ConnectionID: c.ConnectionID},
		run:     &Run{Safe: c.Tool.SafeToRepeat(), ConnectionID: c.ConnectionID},
	}
	if c.Tool.InputSchema != nil {
		raw, err := json.Marshal(c.Arguments)
		if err != nil {
			return nil, fmt.Errorf("encoding arguments: %w", err)
		}
		if p.arguments, err = s.arguments(c.Tool, raw); err != nil {
			return nil, err
		}
	}
	if err := s.connect(ctx, p); err != nil {
		return nil, err
	}
	o := s.perform(ctx, p)
	switch {
	case o.err != nil:
		return nil, o.err
	case o.failure != nil:
		return nil, o.failure
	}
	return o.answer, nil
}
