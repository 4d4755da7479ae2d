package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox"
)

// sandboxWorld is the sandbox and what the store must know to use it.
type sandboxWorld struct {
	world              *sandbox.Sandbox
	db                 *sqldb.DB
	key, webhookSecret string
}

// openSandbox opens the development world. Its keys are derived from the
// master key, so that they stay the same and are stored nowhere.
func openSandbox(ctx context.Context, s *Server) (*sandboxWorld, error) {
	w := &sandboxWorld{
		key:           "sk_test_" + letters(s.sealer.MAC("sandbox key")),
		webhookSecret: "whsec_" + letters(s.sealer.MAC("sandbox webhook")),
	}
	if s.operator {
		return w, nil // it is reached over HTTP, if it runs
	}
	err := w.open(ctx, s.cfg.DataDir, &sandbox.Options{
		BaseURL: s.cfg.SandboxBaseURL(), AllowPublic: s.cfg.Sandbox == "on", Logger: s.log, StripeKeys: []string{w.key},
		Client:   s.trustingClient(),
		Webhooks: []sandbox.Webhook{{URL: s.cfg.BaseURL() + "/webhooks/stripe", Secret: w.webhookSecret}},
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (w *sandboxWorld) open(ctx context.Context, dataDir string, opts *sandbox.Options) (err error) {
	if w.db, err = sqldb.Open(ctx, "sqlite:"+filepath.Join(dataDir, "sandbox.db"), nil); err != nil {
		return fmt.Errorf("opening the sandbox: %w", err)
	}
	if w.world, err = sandbox.New(ctx, w.db, opts); err != nil {
		return errors.Join(fmt.Errorf("opening the sandbox: %w", err), w.db.Close())
	}
	return nil
}

// SandboxConfig is for a sandbox in a process of its own.
type SandboxConfig struct {
	Addr, URL, DataDir             string
	Key, WebhookURL, WebhookSecret string
	AllowPublic                    bool
}

// Sandbox is a sandbox in a process of its own.
type Sandbox struct {
	world sandboxWorld
	http  *httpserver.Server
	url   string
}

// NewSandbox builds a sandbox. Nothing listens yet.
func NewSandbox(ctx context.Context, cfg SandboxConfig, log *slog.Logger) (*Sandbox, error) {
	s := &Sandbox{url: cfg.URL}
	if s.url == "" {
		s.url = "http://" + cfg.Addr
	}
	client := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	err := s.world.open(ctx, cfg.DataDir, &sandbox.Options{
		BaseURL: s.url, AllowPublic: cfg.AllowPublic, Logger: log, StripeKeys: []string{cfg.Key}, Client: client,
		Webhooks: []sandbox.Webhook{{URL: cfg.WebhookURL, Secret: cfg.WebhookSecret}},
	})
	if err != nil {
		return nil, err
	}
	s.http = sandboxListener(log, nil, cfg.Addr, s.world.world.Handler(), nil)
	return s, nil
}

// URL is the address of the sandbox as browsers see it.
func (s *Sandbox) URL() string { return s.url }

// Listen binds the address.
func (s *Sandbox) Listen(ctx context.Context) error { return s.http.Listen(ctx) }

// Run serves until ctx ends.
func (s *Sandbox) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var world sync.WaitGroup
	var failed error
	world.Go(func() { failed = s.world.world.Run(background) })
	err := s.http.Run(ctx)
	stop()
	world.Wait()
	return errors.Join(err, failed, s.world.db.Close())
}
