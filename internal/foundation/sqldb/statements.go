package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// Parsing a statement costs SQLite more than running it does. The connections
// below keep what they have parsed, by text, as the driver of PostgreSQL does by
// itself: nothing else has to know.
//
//	text -> kept? run it again
//	     -> not kept: parse, keep (at most maxStatements)
//	     -> under way already, in the same transaction: run it apart
const (
	maxStatements   = 256
	maxStatementLen = 16 << 10
)

// openKeeping opens a database of the driver with connections that keep their
// statements.
func openKeeping(driverName, dsn string) (*sql.DB, error) {
	plain, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, err
	}
	d := plain.Driver()
	return sql.OpenDB(connector{d, dsn}), plain.Close()
}

type connector struct {
	driver driver.Driver
	dsn    string
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	whole, ok := opened.(conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("connections of the driver lack a method: %T", opened), opened.Close())
	}
	return &statementCache{conn: fixedPlans{whole}, stored: map[string]*statement{}}, nil
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }

// conn is what database/sql asks of a connection.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// statementCache is a connection that keeps its statements. One goroutine uses it at a
// time, as database/sql promises.
type statementCache struct {
	conn
	stored map[string]*statement
}

type statement struct {
	prepared
	busy bool // rows of it are being read
}

// prepared is what is asked of a statement.
type prepared interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// QueryContext implements driver.QueryerContext.
func (k *statementCache) QueryContext(
	ctx context.Context,
	query string,
	args []driver.NamedValue,
) (driver.Rows, error) {
	s, err := k.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.conn.QueryContext(ctx, forSQLite(query), args)
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &freeing{rows, s}, nil
}

// ExecContext implements driver.ExecerContext.
func (k *statementCache) ExecContext(
	ctx context.Context,
	query string,
	args []driver.NamedValue,
) (driver.Result, error) {
	s, err := k.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return k.conn.ExecContext(ctx, forSQLite(query), args)
	}
	return s.ExecContext(ctx, args)
}

// statement returns the kept statement of a text, nil where it is run apart.
func (k *statementCache) statement(ctx context.Context, query string) (*statement, error) {
	if s := k.stored[query]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if !worthKeeping(query) {
		return nil, nil
	}
	if len(k.stored) >= maxStatements {
		if err := k.forget(); err != nil {
			return nil, err
		}
	}
	stmt, err := k.conn.PrepareContext(ctx, forSQLite(query))
	if err != nil {
		return nil, err
	}
	whole, ok := stmt.(prepared)
	if !ok {
		return nil, stmt.Close()
	}
	s := &statement{prepared: whole}
	k.stored[query] = s
	return s, nil
}

// worthKeeping reports whether a text is a single statement that comes again.
func worthKeeping(query string) bool {
	if len(query) > maxStatementLen || strings.Contains(query, ";") {
		return false
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch strings.ToUpper(verb) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH":
		return true
	}
	return false
}

// forget closes every statement that is not under way.
func (k *statementCache) forget() error {
	var errs []error
	for query, s := range k.stored {
		if !s.busy {
			errs = append(errs, s.Close())
			delete(k.stored, query)
		}
	}
	return errors.Join(errs...)
}

// Close implements driver.Conn.
func (k *statementCache) Close() error {
	var errs []error
	for _, s := range k.stored {
		errs = append(errs, s.Close())
	}
	clear(k.stored)
	return errors.Join(append(errs, k.conn.Close())...)
}

// freeing are rows that free their statement at their end.
type freeing struct {
	driver.Rows
	statement *statement
}

// Close implements driver.Rows.
func (f *freeing) Close() error {
	f.statement.busy = false
	return f.Rows.Close()
}
