// Package sqldb opens, migrates and transacts on SQLite and PostgreSQL, so
// that one SQL text serves both and nothing above knows which engine runs.
//
//	Open("sqlite:/data/ace.db")   one process; a lock file refuses a second
//	Open("postgres://…")          any number of replicas
//	  |
//	  +-- Migrate   goose migrations, one replica at a time
//	  +-- Tx        one serializable write transaction, repeated when the
//	  |             engine asks for it
//	  +-- Light     one writing statement that says all in its own condition
//	  +-- Reader    statements that only read
//
// The portable text: placeholders $1, $2, …; times are BIGINT milliseconds;
// JSON and binary are TEXT; INSERT … ON CONFLICT … RETURNING; Now is the clock
// of the database, SkipLocked ends the SELECT of a claim. A writing statement
// runs inside Tx or as Light.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	write, read *sql.DB
	light       *sql.DB // for Light; on SQLite the writer
	engine      engine
	unlock      func() error
	revision    atomic.Uint64 // counts the beginnings and the ends of commits; see Memo
}

type engine int

const (
	engineSQLite engine = iota
	enginePostgres
)

// Options tunes a database; the zero value is right for a server.
type Options struct {
	// MaxConns bounds the connections to PostgreSQL. A quarter of them is for
	// Light and LightReader, so that jobs never wait behind requests. Zero: 16.
	MaxConns int
}

// Open opens the database that dsn names: "sqlite:PATH" (the file and its
// folder are made if missing) or a "postgres://" URL. The text of a returned
// error never holds the password of dsn.
func Open(ctx context.Context, dsn string, opts *Options) (*DB, error) {
	if opts == nil {
		opts = &Options{}
	}
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		return openSQLite(ctx, path)
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return openPostgres(ctx, dsn, opts)
	}
	return nil, errors.New("the database URL must start with sqlite: or postgres://")
}

// Pragmas of every SQLite connection: durable at commit, readers never block
// the writer, and a second writer waits instead of failing.
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)" +
	"&_pragma=foreign_keys(ON)&_pragma=cache_size(-16000)&_pragma=journal_size_limit(67108864)"

func openSQLite(ctx context.Context, path string) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the database: %w", err)
	}
	unlock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + sqlitePragmas
	write, err := openKeeping("sqlite", name+"&_txlock=immediate")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), unlock())
	}
	write.SetMaxOpenConns(1)
	db := &DB{write: write, light: write, unlock: unlock}
	if db.read, err = openKeeping("sqlite", name+"&_pragma=query_only(ON)"); err == nil {
		db.read.SetMaxOpenConns(4)
		db.read.SetMaxIdleConns(4)
		err = write.PingContext(ctx) // makes the file, so that a reader finds it
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	return db, nil
}

func openPostgres(ctx context.Context, dsn string, opts *Options) (*DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL cannot be read")
	}
	maxConns := cmp.Or(opts.MaxConns, 16)
	forLight := max(1, maxConns/4)
	light := config.Copy()
	maps.Copy(light.RuntimeParams, lightParams())
	db := &DB{
		write: openPool(config, max(1, maxConns-forLight)), light: openPool(light, forLight), engine: enginePostgres,
		unlock: func() error { return nil },
	}
	db.read = db.write
	if err := db.write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to PostgreSQL: %w", withoutSecrets(err)), db.Close())
	}
	return db, nil
}

func openPool(config *pgx.ConnConfig, maxConns int) *sql.DB {
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(maxConns)
	pool.SetMaxIdleConns(maxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return pool
}

// withoutSecrets keeps the server's own message and drops the connection
// string that a driver may quote.
func withoutSecrets(err error) error {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return errors.New(pgErr.Message)
	}
	if connect, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("no connection to host %s port %d", connect.Config.Host, connect.Config.Port)
	}
	return err
}

// Close ends all connections and frees the lock file.
func (db *DB) Close() error {
	var errs []error
	for _, pool := range []*sql.DB{db.read, db.light} {
		if pool != nil && pool != db.write {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(append(errs, db.write.Close(), db.unlock())...)
}

// Reader runs statements that only read. On SQLite a writing statement fails.
func (db *DB) Reader() *sql.DB { return db.read }

// Shared reports whether other processes may use the database at the same time.
func (db *DB) Shared() bool { return db.engine == enginePostgres }

// Commits returns how many write transactions this process has tried to commit.
func (db *DB) Commits() uint64 { return db.revision.Load() / 2 }

// Brief returns the context for a read of a few rows that every request makes.
// In SQLite such a read takes microseconds and is not canceled: that saves the
// goroutines which would wait for the cancellation, and cost as much as the read.
func (db *DB) Brief(ctx context.Context) context.Context {
	if db.Shared() {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// Ping reports whether the database responds.
func (db *DB) Ping(ctx context.Context) error { return db.read.PingContext(ctx) }

// maxTries bounds how often a transaction is repeated. With the waits below it
// gives up after about two seconds.
const maxTries = 12

// Tx runs fn in one serializable transaction and commits it if fn returns nil.
// When the engine reports that the transaction collided with another, fn is
// run again from the start: it must do nothing but talk to tx and set its
// results. Inside fn, use tx alone.
func (db *DB) Tx(ctx context.Context, fn func(tx *sql.Tx) error) error {
	for try := 1; ; try++ {
		err := db.tryTx(ctx, fn)
		if err == nil || !collided(err) || try == maxTries {
			return err
		}
		if waitErr := backOff(ctx, try); waitErr != nil {
			return errors.Join(waitErr, err)
		}
	}
}

func (db *DB) tryTx(ctx context.Context, fn func(tx *sql.Tx) error) (err error) {
	opts := &sql.TxOptions{}
	if db.engine == enginePostgres {
		opts.Isolation = sql.LevelSerializable
	}
	tx, err := db.write.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() {
		if err != nil {
			// The error that ended fn says more than a failed rollback would.
			_ = tx.Rollback()
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	db.revision.Add(1)
	err = tx.Commit()
	db.revision.Add(1) // whatever came of it, and before the caller knows
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// collided reports whether repeating the whole transaction is the cure:
// serialization failure and deadlock on PostgreSQL, a busy database on SQLite.
func collided(err error) bool {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "40001" || pgErr.Code == "40P01"
	}
	if liteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		return liteErr.Code()&0xff == sqlite3.SQLITE_BUSY
	}
	return false
}

// UniqueViolation reports whether err says that a row with the same unique
// key is there already.
func UniqueViolation(err error) bool {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "23505"
	}
	if liteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		return liteErr.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE ||
			liteErr.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// Pool is the state of the connections of one pool.
type Pool struct {
	Used, Idle, Most int
	Waits            int64         // how often a connection was waited for
	Waited           time.Duration // by all together
}

// Pools returns the state of the connections, by the name of their pool: write,
// read and light, of which SQLite has no light and PostgreSQL no read.
func (db *DB) Pools() map[string]Pool {
	pools := map[string]Pool{"write": poolOf(db.write)}
	if db.read != db.write {
		pools["read"] = poolOf(db.read)
	}
	if db.light != db.write {
		pools["light"] = poolOf(db.light)
	}
	return pools
}

func poolOf(db *sql.DB) Pool {
	s := db.Stats()
	return Pool{s.InUse, s.Idle, s.MaxOpenConnections, s.WaitCount, s.WaitDuration}
}
