package connector

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

const idPrefix = "ccn"

// MaxConnectors bounds the connectors of an account.
const MaxConnectors = 50

// Ports are what a Service calls.
type Ports struct {
	Store       Store
	Connections Connections
	Clients     Clients // nil: no connector has OAuth 2 of its own
	Lister      Lister
	Fetcher     Fetcher
}

// Options tunes a Service.
type Options struct {
	// Patience is how long a caller waits for an import; then a job continues.
	// Default 20 s.
	Patience time.Duration
	// Log gets connectors that cannot be used. Default: nothing is logged.
	Log *slog.Logger
}

// Service adds apps to accounts. It is safe for concurrent use, by any number of
// processes on one store.
type Service struct {
	Ports
	options Options
}

// New returns a service. Connections, which need the apps of accounts
// themselves, are set before it is used.
func New(p Ports, o *Options) *Service {
	s := &Service{Ports: p}
	if o != nil {
		s.options = *o
	}
	if s.options.Patience == 0 {
		s.options.Patience = 20 * time.Second
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Request asks for a connector.
type Request struct {
	// ID, if set, is the id of the connector, so that a repeated request makes one.
	ID       string
	Type     string
	Name     string
	Slug     string
	Settings Settings
	Secret   Secret
	Upload   []byte // an OpenAPI document; nil: none
}

// Result is a connector after a step.
type Result struct {
	Connector *Connector
	Link      string // where a person signs in; empty: nowhere
	Diff      Diff
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// NewID returns an id for Request.
func NewID() string { return typeid.New(idPrefix) }

// Create adds a connector, connects it with what was given and imports its
// tools. What the caller's server refuses is in the connector's status;
// its problems are those of the request: invalid_request (Invalid), slug_taken,
// too_many_connectors (Conflict), target_not_allowed, import_failed (Unprocessable)
// for a document that was sent along.
func (s *Service) Create(ctx context.Context, by audit.Actor, accountID string, in Request) (*Result, error) {
	if in.ID != "" { // a request that broke off and is repeated
		switch stored, err := s.Store.Connector(ctx, accountID, in.ID); {
		case err == nil:
			return &Result{Connector: stored}, nil
		case !problem.Is(err, "custom_connector_not_found"):
			return nil, err
		}
	}
	c, err := s.draft(accountID, in)
	if err != nil {
		return nil, err
	}
	if err := s.completeOAuth(ctx, c, in.Upload); err != nil {
		return nil, err
	}
	if in.Upload != nil { // what was sent is judged before anything is kept
		if err := s.takeDocument(c, in.Upload); err != nil {
			return nil, err
		}
	}
	entry := audit.New(accountID, by, "connector.made", c.ID, map[string]string{"app": c.Slug, "type": c.Type})
	if err := s.Store.InsertConnector(ctx, c, MaxConnectors, entry); err != nil {
		return nil, err
	}
	err = s.keepClient(ctx, by, c, in.Secret)
	link := ""
	if err == nil {
		link, err = s.connect(ctx, by, c, in.Secret, false)
	}
	if err != nil {
		undo := audit.New(accountID, by, "connector.deleted", c.ID,
			map[string]string{"app": c.Slug, "reason": "not connected"})
		gone := context.WithoutCancel(ctx)
		return nil, errors.Join(err, s.dropClient(gone, by, c), s.Store.DeleteConnector(gone, accountID, c.ID, undo))
	}
	if c.Status == NeedsAuth {
		return &Result{Connector: c, Link: link}, s.save(ctx, c, audit.Entry{})
	}
	diff, err := s.imported(ctx, c, in.Upload)
	return &Result{Connector: c, Diff: diff}, err
}

func (s *Service) draft(accountID string, in Request) (*Connector, error) {
	name, err := checkName(in.Name)
	if err != nil {
		return nil, err
	}
	slug, err := slugOf(in.Slug, name)
	if err != nil {
		return nil, err
	}
	in.Settings.Uploaded = in.Upload != nil
	if err := in.Settings.check(in.Type, s.Fetcher.Allowed); err != nil {
		return nil, err
	}
	c := &Connector{
		ID: in.ID, AccountID: accountID, Slug: slug, Type: in.Type, Name: name,
		About: "The account's own " + strings.ToUpper(in.Type) + " connector " + name + ".",
		Base:  strings.TrimRight(in.Settings.BaseURL, "/"), Settings: in.Settings, Status: Importing, Enabled: true,
		CreatedAt: now(), UpdatedAt: now(), Revision: 1,
	}
	if c.ID == "" {
		c.ID = NewID()
	}
	return c, nil
}

// connect makes the connection of a connector, or the link that does. checked
// says that the software, where it can be asked, has to take the credentials
// before they are kept.
func (s *Service) connect(ctx context.Context, by audit.Actor, c *Connector, secret Secret,
	checked bool,
) (link string, err error) {
	kind, consents := c.Settings.Auth.Kind, c.Settings.Auth.Consents()
	if kind == AuthNone {
		c.ConnectionID = ""
		return "", nil
	}
	options := connection.ConnectOptions{
		Scheme:     kind,
		Label:      "",
		Verify:     connection.VerifyAccount,
		Reconnects: c.ConnectionID,
	}
	if !consents {
		options.Verify = connection.VerifyLink
	}
	session, err := s.Connections.Open(ctx, by, c.AccountID, connection.Request{App: c.Slug, Options: options})
	if err != nil {
		return "", err
	}
	link = s.Connections.Link(session.ID)
	if consents {
		c.Status = NeedsAuth
		return link, nil
	}
	// The key came with the request: it goes the way that a person's would, on a
	// link that no one else has seen.
	token := link[strings.LastIndexByte(link, '/')+1:]
	form := secret.form(kind)
	form.Unchecked = !checked
	outcome, err := s.Connections.Submit(ctx, token, connection.Visitor{Browser: rand.Text() + rand.Text(), Actor: by},
		form)
	switch {
	case problem.Is(err, "invalid_fields"):
		return "", incomplete()
	case err != nil:
		return "", err
	case outcome.Connection == nil:
		return "", fmt.Errorf("connector %s was not connected", c.ID)
	}
	c.ConnectionID = outcome.Connection.ID
	return "", nil
}

// save writes a connector unless it was changed meanwhile.
func (s *Service) save(ctx context.Context, c *Connector, e audit.Entry) error {
	c.UpdatedAt = now()
	saved, err := s.Store.SaveConnector(ctx, c, e)
	if err != nil {
		return fmt.Errorf("keeping connector %s: %w", c.ID, err)
	}
	if !saved {
		return problem.New(problem.Conflict, "connector_changed",
			"The connector was changed meanwhile. Read it and try again.").Advise("retry_later")
	}
	c.Revision++
	return nil
}

// Get returns custom_connector_not_found (NotFound). A connector whose link was
// used meanwhile is imported.
func (s *Service) Get(ctx context.Context, accountID, id string) (*Connector, error) {
	return s.Store.Connector(ctx, accountID, id)
}

// List returns the connectors of an account, oldest first.
func (s *Service) List(ctx context.Context, accountID string) ([]*Connector, error) {
	return s.Store.Connectors(ctx, accountID)
}

// Delete removes a connector with its tools and its connections.
func (s *Service) Delete(ctx context.Context, by audit.Actor, accountID, id string) error {
	c, err := s.Store.Connector(ctx, accountID, id)
	if err != nil {
		return err
	}
	connections, err := s.Connections.List(ctx, accountID, connection.Query{App: c.Slug, AnyEndUser: true})
	if err != nil {
		return err
	}
	for _, one := range connections {
		if err := s.Connections.Delete(ctx, by, accountID, one.ID, true); err != nil {
			return fmt.Errorf("deleting connector %s: %w", id, err)
		}
	}
	if err := s.dropClient(ctx, by, c); err != nil {
		return err
	}
	return s.Store.DeleteConnector(ctx, accountID,
		id, audit.New(accountID, by, "connector.deleted", id, map[string]string{"app": c.Slug}))
}

// Approve shows tools that changed, as they are now. names empty means all of
// them; revision, if not 0, is that of the connector as it was read.
func (s *Service) Approve(ctx context.Context, by audit.Actor, accountID, id string, names []string,
	revision int64,
) (*Connector, error) {
	c, err := s.Store.Connector(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	if revision != 0 && revision != c.Revision {
		return nil, changedSince()
	}
	if unknown := c.approve(names); len(unknown) > 0 {
		return nil, invalid("/tools",
			"These tools do not wait for approval: "+strings.Join(unknown[:min(len(unknown), 10)], ", ")+".")
	}
	return c, s.save(ctx,
		c, audit.New(accountID, by, "connector.approved",
			id, map[string]string{"app": c.Slug, "tools": strings.Join(names, " ")}))
}

// SetReadOnly confirms that the named tools of an MCP server only read, as it says,
// and revokes that for all others: a server that lies could otherwise have its tools
// run by keys that may only read. A revision says what was looked at; 0: whatever
// it is. Its problems are custom_connector_not_found (NotFound), connector_changed
// (Conflict) and invalid_request.
func (s *Service) SetReadOnly(ctx context.Context, by audit.Actor, accountID, id string, names []string,
	revision int64,
) (*Connector, error) {
	c, err := s.Store.Connector(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	if revision != 0 && revision != c.Revision {
		return nil, changedSince()
	}
	if unknown := c.setReadOnly(names); len(unknown) > 0 {
		return nil, invalid("/tools",
			"The server does not say of these tools that they only read: "+
				strings.Join(unknown[:min(len(unknown), 10)], ", ")+".")
	}
	return c, s.save(ctx,
		c, audit.New(accountID, by, "connector.read_only_set",
			id, map[string]string{"app": c.Slug, "tools": strings.Join(names, " ")}))
}

func changedSince() error {
	return problem.New(problem.Conflict, "connector_changed",
		"The connector was changed since it was read. Look at its changes again.").Advise("retry_later")
}

// OwnApps implements library.Own.
func (s *Service) OwnApps(ctx context.Context, accountID, known string) ([]*app.App, string, error) {
	version, err := s.Store.ConnectorVersion(ctx, accountID)
	if err != nil || version == "" || version == known {
		return nil, version, err
	}
	all, err := s.Store.Connectors(ctx, accountID)
	if err != nil {
		return nil, "", err
	}
	var apps []*app.App
	var ids []string
	for _, c := range all {
		if !c.Enabled || slices.Contains(ids, c.Slug) {
			continue
		}
		a, err := c.App()
		if err == nil {
			_, err = app.NewCatalog(a)
		}
		if err != nil { // one of them must not take the others away
			s.options.Log.ErrorContext(ctx, "connector cannot be used", slog.String("connector", c.ID),
				slog.Any("error", err))
			continue
		}
		apps, ids = append(apps, a), append(ids, c.Slug)
	}
	return apps, version, nil
}
