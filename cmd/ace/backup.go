package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"ace/internal/config"
	"ace/internal/server"
)

// backupCmd is what operators do with backups.
type backupCmd struct {
	Create backupCreateCmd `cmd:"" help:"Write a backup into a new folder, while the server runs."`
	Verify backupVerifyCmd `cmd:"" help:"Restore a backup into a database that is thrown away, and open its keys."`
}

type backupCreateCmd struct {
	config.Settings `embed:"" hidden:""`
	To              string `required:"" placeholder:"DIR" help:"Folder in which the backup gets a folder of its own."`
	JSON            bool   `name:"json" help:"Print JSON."`
}

// Run writes a backup.
func (c *backupCreateCmd) Run(w *world) error {
	if err := c.Check(); err != nil {
		return err
	}
	dir, m, err := server.Backup(w.ctx, &c.Settings, c.To, version)
	if err != nil {
		return err
	}
	return describeBackup(w, c.JSON, "Wrote", dir, m)
}

type backupVerifyCmd struct {
	config.Settings `embed:"" hidden:""`
	From            string `arg:"" placeholder:"DIR" help:"Folder of the backup."`
	JSON            bool   `name:"json" help:"Print JSON."`
}

// Run verifies a backup.
func (c *backupVerifyCmd) Run(w *world) error {
	if err := c.Check(); err != nil {
		return err
	}
	m, err := server.VerifyBackup(w.ctx, &c.Settings, c.From)
	if err != nil {
		return err
	}
	return describeBackup(w, c.JSON, "Verified", c.From, m)
}

type restoreCmd struct {
	config.Settings `embed:"" hidden:""`
	From            string `arg:"" placeholder:"DIR" help:"Folder of the backup."`
	JSON            bool   `name:"json" help:"Print JSON."`
}

// Run restores a backup into the database of the settings.
func (c *restoreCmd) Run(w *world) error {
	if err := c.Check(); err != nil {
		return err
	}
	m, err := server.Restore(w.ctx, &c.Settings, c.From)
	if err != nil {
		return err
	}
	if err := describeBackup(w, c.JSON, "Restored", c.From, m); err != nil || c.JSON {
		return err
	}
	_, err = fmt.Fprintln(
		w.stdout,
		"Deliveries, refunds, renewals, polls and runs are held: start the server, compare "+
			"what has happened\nsince the backup, then run ace resume.",
	)
	return err
}

type resumeCmd struct {
	operating `embed:""`
}

// Run ends what a restore holds.
func (c *resumeCmd) Run(w *world) error {
	return c.call(w.ctx, http.MethodPost, "/resume", nil, nil)
}

// dbCmd is what operators do with whole databases.
type dbCmd struct {
	Move dbMoveCmd `cmd:"" help:"Copy all rows of a database into a new one, also of the other engine; stop the server first."`
}

type dbMoveCmd struct {
	From string `required:"" placeholder:"URL" help:"sqlite:PATH or postgres://…"`
	To   string `required:"" placeholder:"URL" help:"sqlite:PATH or postgres://… of a new database."`
}

// Run moves a database.
func (c *dbMoveCmd) Run(w *world) error {
	rows, err := server.MoveDatabase(w.ctx, c.From, c.To)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.stdout, "Moved %d rows; both databases have the same digests. Set ACE_DATABASE_URL to the "+
		"new one.\n", rows)
	return err
}

// describeBackup prints what was done with a backup.
func describeBackup(w *world, asJSON bool, did, dir string, m *server.Manifest) error {
	if asJSON {
		return json.NewEncoder(w.stdout).Encode(struct {
			Path string `json:"path"`
			*server.Manifest
		}{dir, m})
	}
	rows := int64(0)
	for _, t := range m.Tables {
		rows += t.Rows
	}
	_, err := fmt.Fprintf(w.stdout, "%s %s: %d rows of %d tables, schema %d, as of %s.\nIts secrets need the key %s, "+
		"which is not in it.\n", did, dir, rows, len(m.Tables), m.Schema, m.At.Format("2006-01-02 15:04:05 MST"), m.KEK)
	return err
}
