package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"ace/internal/config"
	"ace/internal/server"
)

type serveCmd struct {
	config.Settings `embed:""`
}

// Run serves until the context ends.
func (c *serveCmd) Run(w *world) error {
	if err := c.Check(); err != nil {
		return err
	}
	log := newLogger(w.stderr, c.LogFormat, c.LogLevel)
	s, err := server.New(w.ctx, &c.Settings, log, server.Options{Step: faultStep()})
	if err != nil {
		return err
	}
	if err := s.Listen(w.ctx); err != nil {
		return err
	}
	c.announce(w.ctx, w.stdout)
	return s.Run(w.ctx)
}

func (c *serveCmd) announce(_ context.Context, out io.Writer) {
	base := c.BaseURL()
	_, _ = fmt.Fprintf(out, "ACE is running.\n\n  store     %s\n", base)
	if c.SandboxOn() {
		_, _ = fmt.Fprintf(out, "  sandbox   %s   (no real money moves)\n", c.SandboxBaseURL())
	}
	_, _ = fmt.Fprintf(out, "  data      %s\n\nTry:\n  curl %s/agent/commerce/products\n  ace tour\n\n", c.DataDir, base)
}

func newLogger(out io.Writer, format, level string) *slog.Logger {
	var least slog.Level
	_ = least.UnmarshalText([]byte(level)) // the parser has checked it
	opts := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(out, opts))
	}
	return slog.New(slog.NewTextHandler(out, opts))
}
