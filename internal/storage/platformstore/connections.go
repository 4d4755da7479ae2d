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
	"ace/internal/platform/connection"
	"ace/internal/storage/row"
)

// Connections implements connection.Store.
type Connections struct{ *Store }

const connectionColumns = `id, account_id, app, scheme, label, is_default, end_user, params, identity, status,
	reason, scopes, created_at, last_used_at, last_checked_at,
	version, token_expires_at, refreshed_at, next_refresh_at, refresh_tried_at, refresh_failed, refresh_class`

// connectionRow is a connection on its way out of a row.
type connectionRow struct {
	connection.Connection
	params, identity, scopes                   string
	created, used, checked, expires, refreshed int64
	nextRefresh, refreshTried                  int64
	status, class                              string
}

func (r *connectionRow) fields() []any {
	return []any{
		&r.ID, &r.AccountID, &r.App, &r.Scheme, &r.Label, &r.Default, &r.EndUser, &r.params, &r.identity, &r.status,
		&r.Reason, &r.scopes, &r.created, &r.used, &r.checked,
		&r.Version, &r.expires, &r.refreshed, &r.nextRefresh, &r.refreshTried, &r.RefreshFailed, &r.class,
	}
}

func (r *connectionRow) complete() (*connection.Connection, error) {
	c := &r.Connection
	c.Status, c.RefreshClass = connection.Status(r.status), connection.RefreshClass(r.class)
	c.CreatedAt, c.LastUsedAt, c.LastCheckedAt = row.Time(r.created), row.Time(r.used), row.Time(r.checked)
	c.TokenExpiresAt, c.RefreshedAt = row.Time(r.expires), row.Time(r.refreshed)
	c.NextRefreshAt, c.RefreshTriedAt = row.Time(r.nextRefresh), row.Time(r.refreshTried)
	for text, into := range map[string]any{r.params: &c.Params, r.identity: &c.Identity, r.scopes: &c.Scopes} {
		if err := row.FromJSON(text, into); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func scanConnection(r row.Scanner) (*connection.Connection, error) {
	var c connectionRow
	if err := r.Scan(c.fields()...); err != nil {
		return nil, fmt.Errorf("reading a connection: %w", err)
	}
	return c.complete()
}

// connectionTexts are the columns of a connection that are JSON, and what it is
// searched by.
func connectionTexts(c *connection.Connection) (params, identity, scopes, search string, err error) {
	for into, v := range map[*string]any{&params: c.Params, &identity: c.Identity, &scopes: c.Scopes} {
		if *into, err = row.JSON(v); err != nil {
			return "", "", "", "", err
		}
	}
	search = strings.ToLower(strings.Join([]string{
		c.App, c.Label, c.Identity.Name, c.Identity.Email, c.Identity.Tenant,
		c.Identity.ID,
	}, "\n"))
	return params, identity, scopes, search, nil
}

func connectionMissing() error {
	return problem.New(problem.NotFound, "connection_not_found",
		"There is no connection with this id.").Advise("connect_app")
}

// Connection implements connection.Connections.
func (s Connections) Connection(ctx context.Context, accountID, id string) (*connection.Connection, error) {
	c, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+connectionColumns+` FROM connection WHERE account_id = $1 AND id = $2`, accountID, id),
		scanConnection)
	if err == nil && !found {
		err = connectionMissing()
	}
	return c, err
}

// Connections implements connection.Connections.
func (s Connections) Connections(ctx context.Context, accountID string, q connection.Query) ([]*connection.Connection,
	error,
) {
	limit := q.Limit
	if limit == 0 {
		limit = 1 << 30
	}
	where, args := selected(accountID, q)
	n := len(args)
	args = append(args, row.Millis(q.AfterTime), q.AfterID, limit)
	rows, err := s.db.Reader().QueryContext(s.db.Brief(ctx), fmt.Sprintf(`SELECT `+connectionColumns+` FROM connection
		WHERE %s AND (created_at > $%d OR created_at = $%[2]d AND id > $%[3]d)
		ORDER BY created_at, id LIMIT $%[4]d`, where, n+1, n+2, n+3), args...)
	return row.Collect(rows, err, scanConnection)
}

// CountConnections counts what a query selects, on all pages.
func (s Connections) CountConnections(ctx context.Context, accountID string, q connection.Query) (n int, err error) {
	where, args := selected(accountID, q)
	return n, s.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM connection WHERE `+where, args...).Scan(&n)
}

// selected is the condition of a query, without its page. What is seldom asked
// for is in it only then: SQLite parses a statement with LIKE again at each
// use, and each run of a tool asks for connections.
func selected(accountID string, q connection.Query) (where string, args []any) {
	where = `account_id = $1 AND (CAST($2 AS TEXT) = '' OR app = $2) AND (CAST($3 AS BOOLEAN) OR end_user = $4)
			AND (status = $5 OR CAST($5 AS TEXT) = '' AND status <> $6)`
	args = []any{accountID, q.App, q.AnyEndUser, q.EndUser, q.Status, string(connection.Revoked)}
	if q.Search != "" {
		args = append(args,
			"%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(q.Search))+"%")
		where += fmt.Sprintf(` AND search LIKE $%d ESCAPE '\'`, len(args))
	}
	for i, app := range q.Apps {
		separator := `, `
		if i == 0 {
			separator = ` AND app IN (`
		}
		args = append(args, app)
		where += fmt.Sprintf(`%s$%d`, separator, len(args))
	}
	if len(q.Apps) > 0 {
		where += `)`
	}
	return where, args
}

// ChangeConnection implements connection.Connections.
func (s Connections) ChangeConnection(ctx context.Context, accountID, id string,
	change func(*connection.Connection) error, e audit.Entry,
) (*connection.Connection, error) {
	var c *connection.Connection
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		var found bool
		var err error
		c, found, err = row.One(tx.QueryRowContext(ctx,
			`SELECT `+connectionColumns+` FROM connection WHERE account_id = $1 AND id = $2`, accountID, id),
			scanConnection)
		switch {
		case err != nil:
			return err
		case !found:
			return connectionMissing()
		}
		before := c.Status
		if err := change(c); err != nil {
			return err
		}
		if c.Status != before {
			if err := connectionChanged(ctx, tx, id); err != nil {
				return err
			}
		}
		if err := onlyDefault(ctx, tx, c); err != nil {
			return err
		}
		_, identity, _, search, err := connectionTexts(c)
		if err != nil {
			return err
		}
		if _, err := row.Exec(
			ctx,
			tx,
			`UPDATE connection SET label = $3, is_default = $4, identity = $5, search = $6, status = $7, reason =
				$8, last_checked_at = $9, next_refresh_at = $10
			WHERE account_id = $1 AND id = $2`,
			accountID,
			id,
			c.Label,
			c.Default,
			identity,
			search,
			string(c.Status),
			c.Reason,
			row.Millis(c.LastCheckedAt),
			row.Millis(c.NextRefreshAt),
		); err != nil {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// onlyDefault takes the mark from the other connections of an app and end user
// where c has it.
func onlyDefault(ctx context.Context, tx *sql.Tx, c *connection.Connection) error {
	if !c.Default {
		return nil
	}
	_, err := row.Exec(
		ctx,
		tx,
		`UPDATE connection SET is_default = $5 WHERE account_id = $1 AND app = $2 AND end_user = $3 AND id <> $4 AND
			is_default`,
		c.AccountID,
		c.App,
		c.EndUser,
		c.ID,
		false,
	)
	return err
}

// recordAll schedules jobs and appends an entry, if it has an action.
func (s *Store) recordAll(ctx context.Context, tx *sql.Tx, due []jobs.Job, e audit.Entry) error {
	if err := row.Schedule(ctx, tx, s.lanes, due...); err != nil {
		return err
	}
	if e.Action == "" {
		return nil
	}
	return record(ctx, tx, e)
}

// TouchConnections implements connection.Connections.
func (s Connections) TouchConnections(ctx context.Context, used map[string]time.Time) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for id, at := range used {
			if _, err := row.Exec(ctx, tx,
				`UPDATE connection SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2`, id,
				row.Millis(at)); err != nil {
				return err
			}
		}
		return nil
	})
}
