package connector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/openapiimport"
)

// JobImport is the kind of the job that imports in the background. Its ref is
// JobRef.
const JobImport = "connector_import"

// JobRef names a connector in a job.
func JobRef(accountID, id string) string { return accountID + "/" + id }

const (
	askLinkEvery = 15 * time.Second
	askLinkFor   = time.Hour
	jobPatience  = 60 * time.Second
)

// takeDocument takes an OpenAPI document in.
func (s *Service) takeDocument(c *Connector, document []byte) error {
	_, err := s.mergeDocument(c, document)
	return err
}

func (s *Service) mergeDocument(c *Connector, document []byte) (Diff, error) {
	result, err := openapiimport.Import(document, openapiimport.Options{
		AppID: c.Slug, Base: c.Settings.BaseURL,
		From: c.Settings.Document, Tags: c.Settings.Tags, Methods: c.Settings.Methods,
	})
	if err != nil {
		return Diff{}, err
	}
	if err := checkAddress("/base_url", result.Base, s.Fetcher.Allowed); err != nil {
		return Diff{}, err
	}
	if c.Base != "" && c.Base != result.Base {
		// The credentials would go to another place than the account has seen.
		return Diff{}, problem.New(problem.Unprocessable, "import_failed",
			"The document names another address of the API than before. Make a connector for it, or send base_url.").
			Advise("fix_arguments")
	}
	c.Base = result.Base
	if result.About != "" {
		c.About = result.About
	}
	return c.merge(result, c.LastOKAt.IsZero())
}

// read imports a connector's tools from their source.
func (s *Service) read(ctx context.Context, c *Connector, upload []byte) (Diff, error) {
	switch {
	case c.Type == TypeREST && upload != nil:
		return s.mergeDocument(c, upload)
	case c.Type == TypeREST && c.Settings.Document != "":
		document, err := s.Fetcher.Fetch(ctx, c.Settings.Document, openapiimport.MaxBytes)
		if err != nil {
			return Diff{}, err
		}
		return s.mergeDocument(c, document)
	case c.Type == TypeREST:
		return Diff{}, nil // requests of the caller's own making alone, or what was sent before
	}
	result, err := s.list(ctx, c)
	if err != nil {
		return Diff{}, err
	}
	if len(result.Tools) == 0 && len(result.Skipped) == 0 {
		return Diff{}, problem.New(problem.Unprocessable, "import_failed", "The MCP server offers no tools.")
	}
	return c.merge(result, c.LastOKAt.IsZero())
}

func (s *Service) list(ctx context.Context, c *Connector) (*openapiimport.Result, error) {
	a, err := c.App()
	if err != nil {
		return nil, err
	}
	live := connection.Anonymous(c.AccountID, a, &a.Schemes[0])
	if c.Settings.Auth.Kind != AuthNone {
		if live, err = s.Connections.Use(ctx, c.AccountID, c.ConnectionID); err != nil {
			return nil, err
		}
	}
	return s.Lister.List(ctx, a, &a.Schemes[0], live)
}

// imported imports while a caller waits. A connector that is not done in time
// stays importing; its job continues.
func (s *Service) imported(ctx context.Context, c *Connector, upload []byte) (Diff, error) {
	bound, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	diff, err := s.read(bound, c, upload)
	if err != nil && bound.Err() != nil && c.LastOKAt.IsZero() {
		c.Status = Importing
		return Diff{}, s.save(context.WithoutCancel(ctx), c, audit.Entry{})
	}
	if err := s.settle(c, err); err != nil {
		return Diff{}, err
	}
	return diff, s.save(context.WithoutCancel(ctx), c, audit.Entry{})
}

// settle notes how an import went. What is wrong with the account's software is
// a state; faults of ours are errors.
func (s *Service) settle(c *Connector, err error) error {
	if err == nil {
		c.Status, c.Code, c.Detail, c.LastOKAt = Ready, "", "", now()
		return nil
	}
	code, detail, ok := reason(err)
	if !ok {
		return fmt.Errorf("importing connector %s: %w", c.ID, err)
	}
	c.Status, c.Code, c.Detail = Failed, code, detail
	if c.Settings.Auth.Consents() &&
		(code == "app_unauthorized" || code == "reconnect_required" || code == "connection_not_found") {
		c.Status = NeedsAuth
	}
	return nil
}

// reason is why an import failed, in our own words.
func reason(err error) (code, detail string, ok bool) {
	if refusal, ok := errors.AsType[connection.Refusal](err); ok {
		switch code = refusal.AppCode(); code {
		case "app_unauthorized":
			return code, "The server does not accept the credentials. Change them with PATCH.", true
		case "app_forbidden":
			return code, "The server knows the credentials and does not allow its tools to be listed with them.", true
		case "app_timeout":
			return code, "The server did not answer in time.", true
		case "app_unavailable", "app_rate_limited":
			return code, "The server cannot answer right now. Refresh the connector later.", true
		}
		return code, "The server did not answer as it should. Check the address and the transport.", true
	}
	if p, known := problem.From(err); known && p.Kind != problem.Internal {
		return p.Code, p.Detail, true
	}
	return "", "", false
}

// Refresh imports again. Document, if not nil, is a newer OpenAPI document; one
// that was sent has to be sent again. Its problems: custom_connector_not_found
// (NotFound), import_failed (Unprocessable), invalid_request (Invalid),
// connector_changed (Conflict).
func (s *Service) Refresh(ctx context.Context, by audit.Actor, accountID, id string, document []byte) (*Result, error) {
	c, err := s.Store.Connector(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	switch {
	case document != nil && c.Type != TypeREST:
		return nil, invalid("/openapi", "An MCP connector is read from its server.")
	case document == nil && c.Settings.Uploaded:
		return nil, invalid("/openapi", "The document of this connector was sent: send the newer one as openapi.")
	}
	if err := s.find(ctx, c); err != nil {
		return nil, err
	}
	if c.Status == NeedsAuth {
		return s.ask(ctx, by, c)
	}
	diff, err := s.read(ctx, c, document)
	if document != nil && err != nil {
		return nil, err
	}
	if err := s.settle(c, err); err != nil {
		return nil, err
	}
	counts := map[string]string{
		"app": c.Slug, "added": fmt.Sprint(len(diff.Added)),
		"changed": fmt.Sprint(len(diff.Changed)), "removed": fmt.Sprint(len(diff.Removed)),
	}
	return &Result{Connector: c, Diff: diff}, s.save(ctx,
		c, audit.New(accountID, by, "connector.refreshed", id, counts))
}

// ask makes a link for a connector that waits for somebody to sign in.
func (s *Service) ask(ctx context.Context, by audit.Actor, c *Connector) (*Result, error) {
	link, err := s.connect(ctx, by, c, Secret{}, false)
	if err != nil {
		return nil, err
	}
	return &Result{Connector: c, Link: link}, s.save(ctx, c, audit.Entry{})
}

// find looks for the connection that somebody made by the link.
func (s *Service) find(ctx context.Context, c *Connector) error {
	if c.Status != NeedsAuth {
		return nil
	}
	list, err := s.Connections.List(ctx, c.AccountID, connection.Query{App: c.Slug, Status: string(connection.Active)})
	if err != nil {
		return err
	}
	if len(list) > 0 {
		c.ConnectionID, c.Status = list[len(list)-1].ID, Importing
	}
	return nil
}

// Trial is how a test went.
type Trial struct {
	OK           bool
	Code, Detail string
	Tools        int           // that the server offers now
	Duration     time.Duration // of the whole test
}

// Test checks that the connector's server responds, and an MCP server also
// whether it takes the credentials. It changes nothing but the time of the last
// success.
func (s *Service) Test(ctx context.Context, accountID, id string) (*Trial, error) {
	c, err := s.Store.Connector(ctx, accountID, id)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	trial := &Trial{Tools: len(c.Tools)}
	bound, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	if c.Type == TypeMCP {
		var result *openapiimport.Result
		if result, err = s.list(bound, c); err == nil {
			trial.Tools = len(result.Tools)
		}
	} else {
		err = s.Fetcher.Reach(bound, c.Base)
	}
	trial.Duration = time.Since(started)
	if err != nil {
		var ok bool
		if trial.Code, trial.Detail, ok = reason(err); !ok {
			return nil, fmt.Errorf("testing connector %s: %w", id, err)
		}
		return trial, nil
	}
	trial.OK = true
	c.LastOKAt = now()
	_, err = s.Store.SaveConnector(ctx, c, audit.Entry{}) // somebody else's change is worth more
	return trial, err
}

// Handlers are the jobs of connectors.
func (s *Service) Handlers() map[string]jobs.Handler {
	return map[string]jobs.Handler{JobImport: {Run: s.importJob, MaxTries: 5}}
}

// importJob imports in the background: because it takes long, because the
// process ended meanwhile, or because somebody has signed in by a link.
func (s *Service) importJob(ctx context.Context, job jobs.Job) error {
	accountID, id, _ := strings.Cut(job.Ref, "/")
	c, err := s.Store.Connector(ctx, accountID, id)
	if problem.Is(err, "custom_connector_not_found") {
		return nil
	}
	if err != nil {
		return err
	}
	waiting := c.Status == NeedsAuth
	if err := s.find(ctx, c); err != nil {
		return err
	}
	switch {
	case c.Status == NeedsAuth && time.Since(c.UpdatedAt) < askLinkFor:
		return jobs.Later(time.Now().Add(askLinkEvery))
	case c.Status != Importing:
		return nil
	case !waiting && c.Settings.Auth.Kind != AuthNone && c.ConnectionID == "":
		c.Status, c.Code, c.Detail = Failed, "not_connected", "The connector was made and not connected. Set its "+
			"auth with PATCH."
		return s.save(ctx, c, audit.Entry{})
	case !waiting && c.Settings.Uploaded && len(c.Tools) > 0:
		c.Status, c.LastOKAt = Ready, now()
		return s.save(ctx, c, audit.Entry{})
	}
	bound, cancel := context.WithTimeout(ctx, jobPatience)
	defer cancel()
	_, err = s.read(bound, c, nil)
	if err := s.settle(c, err); err != nil {
		return err
	}
	return s.save(ctx, c, audit.Entry{})
}
