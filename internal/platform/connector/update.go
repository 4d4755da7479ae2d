package connector

import (
	"context"
	"errors"
	"fmt"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// Edit is what an account changes; nil stays.
type Edit struct {
	Name             *string
	Enabled          *bool
	Include, Exclude *[]string
	Auth             *Auth
	Secret           Secret
}

// Update changes a connector. With Auth its connection gets new credentials and
// its tools are read again. Settings and credentials change together or not at
// all: an MCP server is asked first whether it takes the new ones, and what
// fails later is reverted. Of a REST API no call is known to be harmless, so it
// is not asked. Its problems beside those of Create:
//
//	custom_connector_not_found (NotFound)
//	credentials_refused (Unprocessable)     the server does not take them
//	provider_unavailable (Unavailable)      the server could not be asked
//	connector_changed (Conflict)
func (s *Service) Update(ctx context.Context, by audit.Actor, accountID, id string, in Edit) (*Result, error) {
	c, err := s.Store.Connector(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	before := *c
	if err := in.over(c); err != nil {
		return nil, err
	}
	if err := c.Settings.check(c.Type, s.Fetcher.Allowed); err != nil {
		return nil, err
	}
	if in.Auth != nil {
		if err := s.completeOAuth(ctx, c, nil); err != nil {
			return nil, err
		}
		if err := s.try(ctx, c, in.Secret); err != nil {
			return nil, err
		}
	}
	if err := s.save(ctx,
		c, audit.New(accountID, by, "connector.changed", c.ID, map[string]string{"app": c.Slug})); err != nil {
		return nil, err
	}
	if in.Auth == nil {
		return &Result{Connector: c}, nil
	}
	link, err := s.change(ctx, by, &before, c, in.Secret)
	if err != nil {
		return nil, err
	}
	if c.Status == NeedsAuth {
		return &Result{Connector: c, Link: link}, s.save(ctx, c, audit.Entry{})
	}
	diff, err := s.imported(ctx, c, nil)
	return &Result{Connector: c, Diff: diff}, err
}

// over writes what an edit names over a connector.
func (in *Edit) over(c *Connector) (err error) {
	if in.Name != nil {
		if c.Name, err = checkName(*in.Name); err != nil {
			return err
		}
	}
	if in.Enabled != nil {
		c.Enabled = *in.Enabled
	}
	if in.Include != nil {
		c.Settings.Include = *in.Include
	}
	if in.Exclude != nil {
		c.Settings.Exclude = *in.Exclude
	}
	if in.Auth != nil {
		c.Settings.Auth = *in.Auth
	}
	return nil
}

// try asks an MCP server whether it takes credentials that came with a request,
// before they take the place of those that work. Whether they are complete is
// judged of every connector.
func (s *Service) try(ctx context.Context, c *Connector, secret Secret) error {
	scheme, form := c.Scheme(), secret.form(c.Settings.Auth.Kind)
	values := app.Map{}
	for _, f := range scheme.Fields {
		if form.Fields[f.Name] == "" && !f.Optional {
			return incomplete()
		}
		values[f.Name] = form.Fields[f.Name]
	}
	// tokens are fetched first, and refused there
	if c.Type != TypeMCP || scheme.Type == app.TypeMCP || scheme.OAuth != nil {
		return nil
	}
	a, err := c.App()
	if err != nil {
		return err
	}
	live := connection.Anonymous(c.AccountID, a, &a.Schemes[0])
	live.Values = values
	bound, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	if _, err = s.Lister.List(bound, a, &a.Schemes[0], live); err == nil {
		return nil
	}
	return refused(c, err)
}

// refused is what the caller reads about credentials that a server did not accept.
func refused(c *Connector, err error) error {
	code, detail, known := reason(err)
	switch {
	case !known:
		return fmt.Errorf("trying credentials of connector %s: %w", c.ID, err)
	case code == "app_unauthorized" || code == "app_forbidden":
		return problem.New(problem.Unprocessable, "credentials_refused",
			"The server does not accept the new credentials. Those that the connector had stay, with its settings.").
			WithItems(problem.Item{
				Pointer: "/auth", Code: code,
				Detail: "Check that they were copied whole, are not expired and belong to this server.",
			}).Advise(
			"fix_arguments")
	}
	return problem.New(problem.Unavailable, connection.ReasonUnavailable,
		"The new credentials could not be tried, so those that the connector had stay, with its settings. "+
			detail).With("reason", code).Advise("retry_later")
}

// change gives a connector whose settings are saved its new credentials. Where
// that fails it takes the settings, and the OAuth client, back.
func (s *Service) change(ctx context.Context, by audit.Actor, before, c *Connector,
	secret Secret,
) (link string, err error) {
	client, err := s.client(ctx, c)
	if err == nil {
		err = s.keepClient(ctx, by, c, secret)
	}
	if err == nil {
		// Keys were tried already; tokens have just been fetched.
		link, err = s.connect(ctx, by, c, secret, c.Scheme().OAuth != nil)
	}
	if err == nil {
		return link, nil
	}
	gone := context.WithoutCancel(ctx)
	restored := *before
	restored.Revision = c.Revision
	undo := audit.New(c.AccountID, by, "connector.changed", c.ID,
		map[string]string{"app": c.Slug, "reason": "not connected, reverted"})
	if failed := errors.Join(s.save(gone, &restored, undo), s.restore(gone, by, c, client)); failed != nil {
		return "", fmt.Errorf("reverting a change after %w: %w", err, failed)
	}
	if p, ok := problem.From(err); ok {
		told := *p
		told.Detail += " The settings and the credentials that the connector had stay."
		return "", &told
	}
	return "", err
}

// restore makes client, or none, the OAuth client of a connector again.
func (s *Service) restore(ctx context.Context, by audit.Actor, c *Connector, client *connection.Client) error {
	there, err := s.client(ctx, c)
	switch {
	case err != nil:
		return err
	case client != nil && (there == nil || there.ID != client.ID || there.Secret != client.Secret):
		return s.Clients.Store(ctx, by, client)
	case client == nil && there != nil:
		return s.dropClient(ctx, by, c)
	}
	return nil
}

// client is the OAuth client that a connector has, or nil. One that cannot be
// opened any more is none: a new one is what repairs it.
func (s *Service) client(ctx context.Context, c *Connector) (*connection.Client, error) {
	if s.Clients == nil {
		return nil, nil
	}
	client, err := s.Clients.Registered(ctx, c.AccountID, c.Slug, "")
	if errors.Is(err, seal.ErrOpen) {
		return nil, nil
	}
	return client, err
}
