package main

import (
	"fmt"

	"ace/internal/config"
	"ace/internal/server"
)

type migrateCmd struct {
	config.Settings `embed:""`
}

// Run brings the database up to date without serving.
func (c *migrateCmd) Run(w *world) error {
	if err := c.Check(); err != nil {
		return err
	}
	applied, err := server.Migrate(w.ctx, &c.Settings)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.stdout, "%d migrations applied; the database is up to date.\n", applied)
	return err
}
