package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"

	"ace/internal/config"
	"ace/internal/server"
	"ace/internal/server/metrics"
)

type serveCmd struct {
	config.Settings `embed:""`
}

// Run serves until the context ends, also where that is before it began.
func (c *serveCmd) Run(w *world) error {
	if err := c.serve(w); err != nil && (w.ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		return err
	}
	return nil
}

func (c *serveCmd) serve(w *world) error {
	if err := c.Check(); err != nil {
		return err
	}
	log := newLogger(w.stderr, c.LogFormat, c.LogLevel)
	s, err := server.New(w.ctx, &c.Settings, log, server.Options{
		Step: faultStep(), Build: metrics.Build{Version: version, Revision: revision(), Go: runtime.Version()},
	})
	if err != nil {
		return err
	}
	// Reading some thousands of definitions leaves more garbage than what is kept.
	debug.FreeOSMemory()
	if err := s.Listen(w.ctx); err != nil {
		return err
	}
	welcome, err := s.Welcome(w.ctx)
	if err != nil {
		return err
	}
	c.announce(w.stdout, welcome)
	return s.Run(w.ctx)
}

func (c *serveCmd) announce(out io.Writer, welcome *server.Welcome) {
	base := c.BaseURL()
	_, _ = fmt.Fprint(out, "ACE is running.\n\n")
	if c.Serves("store") {
		_, _ = fmt.Fprintf(out, "  store     %s\n", base)
	}
	if c.Serves("platform") {
		_, _ = fmt.Fprintf(out, "  platform  %s\n", c.PlatformBaseURL())
	}
	if c.SandboxOn() {
		_, _ = fmt.Fprintf(out, "  sandbox   %s   (no real money moves)\n", c.SandboxBaseURL())
	}
	_, _ = fmt.Fprintf(out, "  data      %s\n\n", c.DataDir)
	if c.Serves("store") {
		_, _ = fmt.Fprintf(out, "Try:\n  curl %s/agent/commerce/products\n  ace tour\n\n", base)
	}
	if welcome != nil {
		_, _ = fmt.Fprintf(out,
			"The account %q was created. Its API key, shown this once:\n  %s\nTry:\n  curl -H \"Authorization: Bearer "+
				"%s\" %s/api/v1/me\n\nSign in to the account, once, within 15 minutes (later: ace account link "+
				"%s):\n  %s\n\n",
			welcome.Account, welcome.Key, welcome.Key, c.PlatformBaseURL(), welcome.Account, welcome.SignIn)
	}
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
