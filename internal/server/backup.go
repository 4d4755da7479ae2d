package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/storage"
	"ace/internal/storage/backup"
	"ace/internal/storefront/order"
)

// Manifest says what a backup holds.
type Manifest = backup.Manifest

// Backup writes a backup of the database of cfg into a new folder within to, and
// returns its path. A server may be at work on the database.
func Backup(ctx context.Context, cfg *config.Settings, to, version string) (dir string, m *Manifest, err error) {
	db, err := sqldb.OpenReader(ctx, cfg.Database())
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := fits(ctx, db); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", nil, fmt.Errorf("making the folder of backups: %w", err)
	}
	dir = filepath.Join(to, "ace-"+time.Now().UTC().Format("20060102T150405Z"))
	m, err = backup.Write(ctx, db, storage.Migrations(), dir, version)
	return dir, m, err
}

// fits returns an error if the schema of a database is not the one of this
// version.
func fits(ctx context.Context, db *sqldb.DB) error {
	schema, err := db.Schema(ctx, storage.Migrations())
	switch {
	case err != nil:
		return err
	case schema.Version == 0:
		return errors.New("there is no store in the database")
	case schema.Version > schema.Newest:
		return newerSchema(schema)
	case schema.Pending > 0:
		return errors.New("the database is of an older version: bring it up to date with ace migrate")
	}
	return nil
}

// VerifyBackup restores the backup in dir into a database that it throws away,
// and opens the keys of secrets with the key that cfg names.
func VerifyBackup(ctx context.Context, cfg *config.Settings, dir string) (m *Manifest, err error) {
	folder, err := os.MkdirTemp("", "ace-verify-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	try := *cfg
	try.DatabaseURL = "sqlite:" + filepath.Join(folder, "ace.db")
	return load(ctx, &try, dir)
}

// Restore writes the backup in dir into the database of cfg, which must be new.
// It is verified first, so that nothing is written unless all of it can be used.
func Restore(ctx context.Context, cfg *config.Settings, dir string) (*Manifest, error) {
	if Running(ctx, cfg.DataDir) {
		return nil, errors.New("a server runs on this data folder: stop it first")
	}
	if _, err := VerifyBackup(ctx, cfg, dir); err != nil {
		return nil, err
	}
	return load(ctx, cfg, dir)
}

// load restores a backup and opens the keys of secrets.
func load(ctx context.Context, cfg *config.Settings, dir string) (m *Manifest, err error) {
	db, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, log: slog.New(slog.DiscardHandler), db: db}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	if m, err = backup.Load(ctx, db, storage.Migrations(), dir); err != nil {
		return nil, err
	}
	if m.KEK == "" {
		return m, nil // nothing was sealed yet
	}
	if err := s.openVault(ctx); err != nil {
		return nil, fmt.Errorf("the key for secrets does not fit this backup, which needs %s: %w", m.KEK, err)
	}
	status, err := s.vault.Status(ctx)
	if err == nil && status.Stuck > 0 {
		err = fmt.Errorf("%d secrets of the backup are sealed with keys that it does not hold", status.Stuck)
	}
	return m, err
}

// MoveDatabase copies a whole database to another engine, or to another place,
// and returns how many rows it has. Nobody may use either of them. The source
// stays; a file of SQLite is renamed, so that no server continues on it.
func MoveDatabase(ctx context.Context, from, to string) (rows int64, err error) {
	source, err := openSource(ctx, from)
	if err != nil {
		return 0, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, source.Close())
		}
	}()
	target, err := sqldb.Open(ctx, to, nil)
	if err != nil {
		return 0, fmt.Errorf("the database to move to: %w", err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	moved, err := backup.Move(ctx, source, target, storage.Migrations())
	if err != nil {
		return 0, err
	}
	for _, d := range moved {
		rows += d.Rows
	}
	closed = true
	if err := source.Close(); err != nil {
		return 0, err
	}
	if path, ok := strings.CutPrefix(from, "sqlite:"); ok {
		if err := os.Rename(path, path+".moved"); err != nil {
			return 0, fmt.Errorf("renaming the database that was moved: %w", err)
		}
	}
	return rows, nil
}

// openSource opens a database that exists and that no server uses.
func openSource(ctx context.Context, dsn string) (*sqldb.DB, error) {
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("the database to move: %w", err)
		}
	}
	db, err := sqldb.Open(ctx, dsn, nil)
	if err != nil {
		return nil, fmt.Errorf("the database to move: %w", err)
	}
	err = fits(ctx, db)
	if err == nil {
		var used bool
		if used, err = backup.InUse(ctx, db); used {
			err = errors.New("a server uses the database to move, or used it two minutes ago: stop it and wait")
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// resumeLooks is how often a server whose database was restored looks whether it
// may go on.
const resumeLooks = 2 * time.Second

// heldKinds are the jobs that would repeat what the world has seen since the
// moment of a backup: messages to receivers, refunds, renewals of credentials that
// are good once, polls, and runs of tools.
func heldKinds() []string {
	return []string{
		order.JobDeliver, order.JobRefund, connection.JobNotify, connection.JobRefresh, connection.JobFarewell,
		trigger.JobDeliver, trigger.JobTend, tool.JobRun,
	}
}

// splitHeld takes the jobs that are held out of handlers and returns them: none
// unless the database was restored.
func (s *Server) splitHeld(ctx context.Context, handlers map[string]jobs.Handler) (map[string]jobs.Handler, error) {
	at, err := backup.Held(ctx, s.db)
	if err != nil || at.IsZero() {
		return nil, err
	}
	held := map[string]jobs.Handler{}
	for _, kind := range heldKinds() {
		if h, ok := handlers[kind]; ok {
			held[kind] = h
			delete(handlers, kind)
		}
	}
	if !s.operator {
		s.log.WarnContext(ctx, "the database was restored: deliveries, refreshes, polls, refunds and runs are held "+
			"until ace resume", slog.Time("backup_of", at))
	}
	return held, nil
}

// runHeld works on what was held once the operator has resumed it, until ctx
// ends.
func (s *Server) runHeld(ctx context.Context) {
	if s.held == nil {
		return
	}
	tick := time.NewTicker(resumeLooks)
	defer tick.Stop()
	for {
		at, err := backup.Held(ctx, s.db)
		if err == nil && at.IsZero() {
			s.log.InfoContext(ctx, "resumed after a restore")
			s.held.Run(ctx)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// resume lets this server, and all others on its database, do what is held.
func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	if err := backup.Resume(r.Context(), s.db); err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
