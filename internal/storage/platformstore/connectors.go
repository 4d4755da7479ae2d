package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/connector"
	"ace/internal/storage/row"
)

const connectorColumns = `id, account_id, slug, type, name, about, base, settings, status, code, detail, enabled,
	connection_id, tools, skipped, last_ok_at, created_at, updated_at, revision`

func scanConnector(r row.Scanner) (*connector.Connector, error) {
	c := &connector.Connector{}
	var settings, tools, skipped string
	var ok, created, updated int64
	err := r.Scan(&c.ID, &c.AccountID, &c.Slug, &c.Type, &c.Name, &c.About, &c.Base, &settings, &c.Status, &c.Code,
		&c.Detail, &c.Enabled, &c.ConnectionID,
		&tools, &skipped, &ok, &created, &updated, &c.Revision)
	if err != nil {
		return nil, fmt.Errorf("reading a connector: %w", err)
	}
	c.LastOKAt, c.CreatedAt, c.UpdatedAt = row.Time(ok), row.Time(created), row.Time(updated)
	for _, column := range []struct {
		text string
		into any
	}{{settings, &c.Settings}, {tools, &c.Tools}, {skipped, &c.Skipped}} {
		if err := row.FromJSON(column.text, column.into); err != nil {
			return nil, fmt.Errorf("reading connector %s: %w", c.ID, err)
		}
	}
	return c, nil
}

// connectorTexts are the JSON columns of a connector.
func connectorTexts(c *connector.Connector) (settings, tools, skipped string, err error) {
	if settings, err = row.JSON(c.Settings); err != nil {
		return "", "", "", err
	}
	if tools, err = row.JSON(c.Tools); err != nil {
		return "", "", "", err
	}
	skipped, err = row.JSON(c.Skipped)
	return settings, tools, skipped, err
}

// importAfter leaves the caller who waits the time to import itself.
const importAfter = 2 * time.Minute

func connectorJob(c *connector.Connector, at time.Time) jobs.Job {
	return jobs.Job{Kind: connector.JobImport, Ref: connector.JobRef(c.AccountID, c.ID), RunAt: at}
}

// InsertConnector implements connector.Store.
func (s *Store) InsertConnector(ctx context.Context, c *connector.Connector, limit int, e audit.Entry) error {
	settings, tools, skipped, err := connectorTexts(c)
	if err != nil {
		return err
	}
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		var count int
		var taken bool
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM connector WHERE account_id = $1`,
			c.AccountID).Scan(&count); err != nil {
			return fmt.Errorf("counting connectors: %w", err)
		}
		if count >= limit {
			return problem.New(problem.Conflict, "too_many_connectors",
				fmt.Sprintf("An account has at most %d custom connectors. Delete one that is not needed.", limit))
		}
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM connector WHERE account_id = $1 AND slug = $2)`,
			c.AccountID, c.Slug).Scan(&taken); err != nil {
			return fmt.Errorf("looking for a connector: %w", err)
		}
		if taken {
			return problem.New(problem.Conflict, "slug_taken",
				"The account has a connector "+c.Slug+" already. Choose another slug.").At("/slug").Advise(
				"fix_arguments")
		}
		_, err := row.Exec(ctx, tx,
			`INSERT INTO connector (`+connectorColumns+
				`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
			c.ID, c.AccountID, c.Slug, c.Type, c.Name, c.About, c.Base, settings, string(c.Status), c.Code, c.Detail,
			c.Enabled, c.ConnectionID, tools, skipped,
			row.Millis(c.LastOKAt), row.Millis(c.CreatedAt), row.Millis(c.UpdatedAt), c.Revision)
		if err != nil {
			return err
		}
		if err := row.Schedule(ctx, tx, s.lanes, connectorJob(c, time.Now().Add(importAfter))); err != nil {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	if err == nil {
		s.lanes.Scheduled(connectorJob(c, time.Now().Add(importAfter)))
	}
	return err
}

// Connector implements connector.Store.
func (s *Store) Connector(ctx context.Context, accountID, id string) (*connector.Connector, error) {
	c, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+connectorColumns+` FROM connector WHERE account_id = $1 AND id = $2`, accountID, id), scanConnector)
	if err == nil && !found {
		return nil, connectorNotFound()
	}
	return c, err
}

func connectorNotFound() error {
	return problem.New(problem.NotFound, "custom_connector_not_found", "There is no custom connector with this id.")
}

// Connectors implements connector.Store.
func (s *Store) Connectors(ctx context.Context, accountID string) ([]*connector.Connector, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+connectorColumns+` FROM connector WHERE account_id = $1 ORDER BY created_at, id`, accountID)
	return row.Collect(rows, err, scanConnector)
}

// ConnectorVersion implements connector.Store.
func (s *Store) ConnectorVersion(ctx context.Context, accountID string) (string, error) {
	return s.connectorVersions.Get(s.db, accountID, func() (string, bool, error) {
		rows, err := s.db.Reader().QueryContext(s.db.Brief(ctx),
			`SELECT id, revision FROM connector WHERE account_id = $1 ORDER BY id`, accountID)
		all, err := row.Collect(rows, err, func(r row.Scanner) (string, error) {
			var id string
			var revision int64
			if err := r.Scan(&id, &revision); err != nil {
				return "", fmt.Errorf("reading versions of connectors: %w", err)
			}
			return fmt.Sprint(id, " ", revision), nil
		})
		return strings.Join(all, "\n"), true, err
	})
}

// SaveConnector implements connector.Store.
func (s *Store) SaveConnector(ctx context.Context, c *connector.Connector, e audit.Entry) (saved bool, err error) {
	settings, tools, skipped, err := connectorTexts(c)
	if err != nil {
		return false, err
	}
	waits := c.Status == connector.Importing || c.Status == connector.NeedsAuth
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE connector SET name = $4, about = $5, base = $6, settings = $7, status = $8, code = $9, detail =
				$10, enabled = $11,
			connection_id = $12, tools = $13, skipped = $14, last_ok_at = $15, updated_at = $16, revision = revision
			+ 1 WHERE account_id = $1 AND id = $2 AND revision = $3`,
			c.AccountID,
			c.ID,
			c.Revision,
			c.Name,
			c.About,
			c.Base,
			settings,
			string(c.Status),
			c.Code,
			c.Detail,
			c.Enabled,
			c.ConnectionID,
			tools,
			skipped,
			row.Millis(c.LastOKAt),
			row.Millis(c.UpdatedAt),
		)
		if saved = n > 0; err != nil || !saved {
			return err
		}
		if waits {
			if err := row.Schedule(ctx, tx, s.lanes, connectorJob(c, time.Now())); err != nil {
				return err
			}
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	if err == nil && saved && waits {
		s.lanes.Wake(connector.JobImport)
	}
	return saved, err
}

// DeleteConnector implements connector.Store.
func (s *Store) DeleteConnector(ctx context.Context, accountID, id string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `DELETE FROM connector WHERE account_id = $1 AND id = $2`, accountID, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return connectorNotFound()
		}
		return s.recordAll(ctx, tx, nil, e)
	})
}
