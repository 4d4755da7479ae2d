package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"ace/catalog"
	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/password"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/platform/account"
	"ace/internal/platform/accounthttp"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/authserver"
	"ace/internal/platform/clientdoc"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/connector"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/mcphttp"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/platform/usage"
	"ace/internal/server/definitions"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

// platform is everything behind the platform host.
type platform struct {
	accounts *account.Service
	keys     *apikey.Service
	handler  http.Handler

	connections *connection.Service
	clients     *clients.Clients
	connectors  *connector.Service
	executor    *caller // calls apps
	tools       *tool.Service
	triggers    *trigger.Service
	library     *library.Library
}

// buildPlatform wires the platform host.
//
//	database -> accounts, keys, connections, tools -> gate -> handler
func (s *Server) buildPlatform(ctx context.Context) (*platform, error) {
	store := platformstore.New(s.db, s.lanes)
	p := &platform{
		accounts: account.New(store, password.New(), s.sealer.MAC),
		keys:     apikey.New(store, s.sealer.MAC),
	}
	p.executor = s.newCaller()
	p.connectors = s.newConnectors(store, p.executor)
	apps, err := s.openLibrary(p.connectors)
	if err != nil {
		return nil, err
	}
	p.library = apps
	if err := s.connect(ctx, p, store, apps); err != nil {
		return nil, err
	}
	s.runTools(p, store, apps)
	if err := s.watch(p, store, apps); err != nil {
		return nil, err
	}
	requests := operation.NewIdempotency(
		idempotency.New(storage.Requests{Store: storage.New(s.db, s.lanes)}, s.sealer.MAC),
	)
	operations := operation.New(operation.Ports{
		Accounts: p.accounts, Keys: p.keys, Audit: store, Connections: p.connections,
		ConnectionCounts: platformstore.Connections{Store: store}, Clients: p.clients, Apps: apps,
		Library:    apps,
		Connectors: p.connectors, Idempotency: requests, Tools: p.tools, Triggers: p.triggers,
		Counts: &usage.Service{Store: platformstore.Runs{Store: store}, Settled: p.tools.Settled},
	}, s.cfg.PlatformBaseURL())
	signIn := authserver.New(platformstore.Grants{Store: store}, p.keys,
		clientdoc.Fetcher{HTTP: s.guard.Client(egress.ClientDocument())}, s.sealer,
		s.cfg.PlatformBaseURL()+mcphttp.Path)
	pages, err := s.console(p, operations, apps, signIn)
	if err != nil {
		return nil, err
	}
	p.handler, err = platformhttp.New(platformhttp.Deps{
		Site: platformhttp.Site{
			BaseURL: s.cfg.PlatformBaseURL(), Name: s.cfg.PlatformName,
			Contact: s.cfg.Contact,
		},
		Operations: operations,
		Accounts:   p.accounts, Keys: p.keys, Limits: s.platformLimits(), Pages: pages, Sealer: s.sealer,
		MCPSignIn: signIn,
	})
	return p, err
}

// openLibrary reads the definitions of apps; own are the apps of accounts.
func (s *Server) openLibrary(own library.Own) (*library.Library, error) {
	from := definitions.Options{Dir: s.cfg.CatalogDir, Private: len(s.cfg.EgressAllow) > 0}
	if s.cfg.SandboxOn() {
		from.Sandbox = s.cfg.SandboxBaseURL()
	}
	set, err := definitions.Load(from)
	if faults, ok := errors.AsType[definitions.Faults](err); ok {
		return nil,
			fmt.Errorf(
				"ACE_CATALOG_DIR holds definitions that cannot be used; fix them, and check them with \"ace catalog "+
					"lint\":\n%w", faults)
	}
	if err != nil {
		return nil, err
	}
	if s.cfg.CatalogDir != "" {
		s.log.Info("definitions of the operator", slog.String("folder", s.cfg.CatalogDir), slog.Any("apps", set.Own),
			slog.Any("replaced", set.Replaced))
	}
	return library.New(set.Apps, own, catalog.Names()...)
}

// platformLimits counts in this process, or in Redis where replicas share it.
func (s *Server) platformLimits() gate.Limits {
	keys, addresses, failures := gate.Policies()
	switch {
	case s.cfg.RateLimit == "off":
		free := ratelimit.Unlimited{}
		return gate.Limits{Keys: free, Addresses: free, Failures: free}
	case s.shared != nil:
		return s.counted(s.shared.Window(keys), s.shared.GCRA(addresses), s.shared.GCRA(failures))
	}
	table := ratelimit.NewTable(nil)
	return s.counted(ratelimit.NewWindow(keys, nil), table.Limiter(addresses), table.Limiter(failures))
}

// counted returns the limits of the platform, whose decisions are counted.
func (s *Server) counted(keys, addresses, failures ratelimit.Limiter) gate.Limits {
	byKey, byAddress, byFailure := gate.Policies()
	return gate.Limits{
		Keys:      s.metrics.Limiter(byKey.Name, keys),
		Addresses: s.metrics.Limiter(byAddress.Name, addresses),
		Failures:  s.metrics.Limiter(byFailure.Name, failures),
	}
}

// flushKeysEvery is how often it is written when keys were last used. Each
// replica holds its own times, so that this is a loop of the process and not a
// row.
const flushKeysEvery = time.Minute

// Welcome is what a newcomer needs: the first account's key and the address
// that signs its owner in.
type Welcome struct {
	Account string
	Key     string
	SignIn  string
}

// Welcome makes the account "demo" with a key that may do everything, where
// there is no account yet and the platform cannot be reached from elsewhere.
// Otherwise it returns nil.
func (s *Server) Welcome(ctx context.Context) (*Welcome, error) {
	if !s.cfg.Serves("platform") || !config.Local(s.cfg.PlatformBaseURL()) {
		return nil, nil
	}
	all, err := s.platform.accounts.List(ctx)
	if err != nil || len(all) > 0 {
		return nil, err
	}
	const name = "demo"
	a, _, err := s.platform.accounts.Create(ctx, audit.System(), name, "")
	if problem.Is(err, "account_exists") {
		return nil, nil // another replica was first
	}
	if err != nil {
		return nil, fmt.Errorf("making the first account: %w", err)
	}
	_, key, err := s.platform.keys.Create(ctx, audit.System(), a.ID,
		apikey.Settings{Name: "first key", Permissions: apikey.All, Approval: apikey.ApproveDestructive})
	if err != nil {
		return nil, fmt.Errorf("making the first key: %w", err)
	}
	link, _, err := s.platform.accounts.Link(ctx, audit.System(), a.ID)
	if err != nil {
		return nil, fmt.Errorf("making the first sign-in link: %w", err)
	}
	return &Welcome{Account: name, Key: key, SignIn: signInURL(s.cfg.PlatformBaseURL(), link)}, nil
}

func signInURL(base, secret string) string { return base + "/sign-in/" + secret }

// run writes when keys and connections were last used, until ctx ends.
func (p *platform) run(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(flushKeysEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.flush(ctx, log)
		case <-ctx.Done():
			bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			p.flush(bound, log)
			return
		}
	}
}

func (p *platform) flush(ctx context.Context, log *slog.Logger) {
	if err := p.keys.Flush(ctx); err != nil {
		log.ErrorContext(ctx, "writing the last use of keys", slog.Any("error", err))
	}
	if err := p.connections.Flush(ctx); err != nil {
		log.ErrorContext(ctx, "writing the last use of connections", slog.Any("error", err))
	}
}

// control is the operator's handler about accounts, keys and triggers.
func (p *platform) control(base string) http.Handler {
	return accounthttp.New(accounthttp.Deps{
		Accounts: p.accounts, Keys: p.keys, Library: p.library, Clients: p.clients,
		Triggers: p.triggers,
		SignIn:   func(secret string) string { return signInURL(base, secret) },
		Redirect: p.connections.RedirectURI,
	})
}

// PlatformDocument is the OpenAPI document of the platform.
func PlatformDocument() ([]byte, error) { return platformhttp.Document() }
