// Package server is the composition root: it builds everything from the
// settings, by hand and in order, so that this file shows the whole graph.
//
//	settings -> database -> vault -> processor client -> storage
//	         -> catalog, orders, checkout -> face -> listeners
//	         -> jobs that recover, watch and deliver
//	sandbox: its own database, keys and listener, reached over HTTP only
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/ratelimit/redislimit"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
	"ace/internal/storage/vaultstore"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/stripe"
	"ace/internal/storefront/ucpprofile"
)

// Server is a whole ACE process.
type Server struct {
	cfg      *config.Settings
	log      *slog.Logger
	step     func(string)
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
	vault    *vaultstore.Vault
	box      *seal.Box // the vault's
	tls      *tls.Config
	guard    *egress.Guard
	db       *sqldb.DB
	sandbox  *sandboxWorld // nil: off
	worker   *jobs.Worker
	kinds    map[string]jobs.Handler // what the worker does; complete before it runs
	orders   *order.Service
	services *paidservice.Service
	pages    *site.Service
	platform *platform
	shared   *redislimit.Store    // nil: requests are counted here
	bots     *webbotauth.Keys     // nil: signatures of agents are not looked at
	identity *webbotauth.Identity // nil: what is fetched is not signed

	front *httpserver.Server // store, admin
	back  *httpserver.Server // sandbox; ends last, since the store calls it
}

// Options tunes a Server.
type Options struct {
	// Step, if set, is called at each point between two durable steps. Tests
	// use it to end the process there.
	Step func(name string)
	// Lookup replaces the system's resolver for everything that is called outside.
	// Tests move names with it.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// New builds a server from valid settings. Nothing listens yet.
func New(ctx context.Context, cfg *config.Settings, log *slog.Logger, opts Options) (*Server, error) {
	s := &Server{cfg: cfg, log: log, step: opts.Step, lookup: opts.Lookup}
	if err := s.build(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *Server) build(ctx context.Context) (err error) {
	if err := s.prepareTLS(); err != nil {
		return err
	}
	if s.db, err = openDatabase(ctx, s.cfg); err != nil {
		return err
	}
	if err := s.openVault(ctx); err != nil {
		return err
	}
	if s.cfg.SandboxOn() {
		if s.sandbox, err = openSandbox(ctx, s); err != nil {
			return err
		}
	}
	s.guard = egress.New(s.egressOptions())
	store, err := s.buildStore(ctx)
	if err != nil {
		return err
	}
	if s.platform, err = s.buildPlatform(ctx); err != nil {
		return err
	}
	maps.Copy(s.kinds, s.platform.connections.Handlers())
	maps.Copy(s.kinds, s.platform.tools.Jobs())
	maps.Copy(s.kinds, s.platform.connectors.Handlers())
	s.listenOn(store)
	return nil
}

// Migrate brings the schema up to date and answers how many migrations it
// applied. A server does so by itself when it starts.
func Migrate(ctx context.Context, cfg *config.Settings) (applied int, err error) {
	db, err := sqldb.Open(ctx, cfg.Database(), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Migrate(ctx, storage.Migrations())
}

// openDatabase opens the database and brings its schema up to date.
func openDatabase(ctx context.Context, cfg *config.Settings) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, cfg.Database(), nil)
	if errors.Is(err, sqldb.ErrInUse) {
		return nil, fmt.Errorf("%w (another ace serves from %s; or set ACE_DATA_DIR to another folder)", err, cfg.DataDir)
	}
	if err != nil {
		return nil, err
	}
	if _, err := db.Migrate(ctx, storage.Migrations()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// buildStore wires the store host and the jobs behind it.
func (s *Server) buildStore(ctx context.Context) (http.Handler, error) {
	store := storage.New(s.db, func() { s.worker.Wake() })
	processor, err := s.processor()
	if err != nil {
		return nil, err
	}
	catalog := offer.NewCatalog(processor, store, s.log)
	sinks, err := s.sinks()
	if err != nil {
		return nil, err
	}
	s.orders = order.New(store, processor, s.log, order.Options{Sinks: sinks, Step: s.step})
	sales := checkout.New(catalog, processor, store, s.log, checkout.Options{BaseURL: s.cfg.BaseURL(), Sinks: s.orders.SinkNames(), Step: s.step})
	signers, err := s.signers(ctx, store)
	if err != nil {
		return nil, err
	}
	cardSigner, err := s.p256Signer(ctx, store, keyCard)
	if err != nil {
		return nil, err
	}

	botKeys, err := s.prepareBot(signers[1])
	if err != nil {
		return nil, err
	}
	if err := s.buildServices(ctx, store); err != nil {
		return nil, err
	}
	s.kinds = s.handlers(store, sales)
	s.worker = jobs.NewWorker(store, s.kinds, s.log, nil)
	if s.pages, err = s.buildPages(ctx, catalog); err != nil {
		return nil, err
	}
	gate, err := s.buildGate()
	if err != nil {
		return nil, err
	}

	terms, privacy, refunds := s.cfg.Policies()
	return storehttp.New(storehttp.Deps{
		Site: storehttp.Site{
			BaseURL: s.cfg.BaseURL(), Name: s.cfg.SiteName, Contact: s.cfg.Contact, Terms: terms, Privacy: privacy, Refunds: refunds,
			Operator: s.cfg.Operator, Address: s.cfg.Address, Sandbox: s.sandbox != nil && s.cfg.StripeKey == "",
			DirectContinueURL: s.cfg.ContinueURL == "direct", UCPNegotiation: s.cfg.UCPNegotiation,
			ContentSignal: s.cfg.ContentSignal(), SecurityContact: s.cfg.SecurityContact, Burst: s.cfg.RateBurst,
		},
		Catalog: catalog, Pages: s.pages, Checkout: sales, Orders: s.orders, Events: processor,
		Requests: idempotency.New(storage.Requests{Store: store}, s.box.MAC), MAC: s.box.MAC, Log: s.log,
		Platforms: ucpprofile.New(s.signedClient(egress.UCPProfile()), nil), Signers: signers, BotKeys: botKeys,
		Tasks: storage.Tasks{Store: store}, CardSigner: cardSigner, Services: s.servicesFace(),
		Gate: gate,
	})
}

// StoreDocument is the OpenAPI document of the store.
func StoreDocument() ([]byte, error) { return storehttp.Document() }

// Kinds of the jobs that keep house.
const (
	jobSweep = "sweep"
	jobPrune = "prune"

	jobPrunePaid = "prune_paid"
)

const (
	sweepEvery = 5 * time.Minute
	pruneEvery = time.Hour
)

// handlers gathers the jobs of all parts. The ones that keep house are rows
// like all others, so that one replica does them.
func (s *Server) handlers(store *storage.Store, sales *checkout.Service) map[string]jobs.Handler {
	every := func(d time.Duration, do func(context.Context) error) jobs.Handler {
		return jobs.Handler{Run: func(ctx context.Context, _ jobs.Job) error {
			if err := do(ctx); err != nil {
				return err
			}
			return jobs.Later(time.Now().Add(d))
		}}
	}
	all := map[string]jobs.Handler{jobSweep: every(sweepEvery, sales.Sweep), jobPrune: every(pruneEvery, store.Prune)}
	all[jobVault] = s.vaultJob()
	all[jobPrunePaid] = every(pruneEvery, storage.Paid{Store: store}.Prune)
	for _, part := range []map[string]jobs.Handler{sales.Handlers(), s.orders.Handlers(), s.services.Handlers()} {
		maps.Copy(all, part)
	}
	return all
}

// processor is the client of whoever takes the money: Stripe or the sandbox.
func (s *Server) processor() (*stripe.Client, error) {
	key, opts := s.cfg.StripeKey, stripe.Options{
		BaseURL: s.cfg.StripeURL, Mode: "live", AllOffers: s.cfg.StripeOffers == "all", AutomaticTax: s.cfg.AutomaticTax,
		WebhookSecrets: s.cfg.StripeWebhookSecrets, HTTPClient: s.guard.Client(egress.Payments(paymentHosts(s.cfg)...)),
	}
	switch {
	case key == "":
		key, opts.BaseURL, opts.Mode, opts.WebhookSecrets = s.sandbox.key, s.cfg.SandboxBaseURL()+"/stripe", "sandbox", []string{s.sandbox.webhookSecret}
	case isTestKey(key):
		opts.Mode = "test"
	}
	return stripe.New(key, opts)
}

// listenOn prepares the listeners; Run opens them.
func (s *Server) listenOn(store http.Handler) {
	proxies := config.Prefixes(s.cfg.TrustedProxies)
	var front []httpserver.Listener
	if s.cfg.Serves("store") {
		front = append(front, httpserver.Listener{
			Name: "store", Addr: s.cfg.StoreAddr, Setting: "ACE_STORE_ADDR", TLS: s.tls, Handler: instrumented(s.log, "store", "", store, proxies),
		})
	}
	if s.cfg.Serves("platform") {
		front = append(front, httpserver.Listener{
			Name: "platform", Addr: s.cfg.PlatformAddr, Setting: "ACE_PLATFORM_ADDR", TLS: s.tls, Handler: instrumented(s.log, "platform", s.cfg.PlatformBaseURL(), s.platform.handler, proxies),
		})
	}
	if s.cfg.AdminAddr != "" {
		front = append(front, httpserver.Listener{Name: "admin", Addr: s.cfg.AdminAddr, Setting: "ACE_ADMIN_ADDR", Handler: s.admin()})
	}
	s.front = httpserver.New(s.log, front, nil)
	if s.sandbox != nil {
		s.back = sandboxListener(s.log, s.cfg.SandboxAddr, s.sandbox.world.Handler(), s.tls)
	}
}

func sandboxListener(log *slog.Logger, addr string, h http.Handler, secure *tls.Config) *httpserver.Server {
	return httpserver.New(log, []httpserver.Listener{
		{Name: "sandbox", Addr: addr, Setting: "ACE_SANDBOX_ADDR", TLS: secure, Handler: instrumented(log, "sandbox", "", h, nil)},
	}, nil)
}

// instrumented is what every request of a host meets first. problems stands
// before the addresses that explain problems; empty: the host explains none.
func instrumented(log *slog.Logger, name, problems string, h http.Handler, proxies []netip.Prefix) http.Handler {
	return httpserver.Chain(h, httpserver.Instrument(log, name, &httpserver.InstrumentOptions{ProblemBase: problems}), httpserver.ClientAddress(proxies),
		httpserver.LimitBody(httpserver.DefaultBodyLimit), httpserver.LimitTime(40*time.Second))
}

// Listen binds all addresses, or none.
func (s *Server) Listen(ctx context.Context) error {
	if s.back != nil {
		if err := s.back.Listen(ctx); err != nil {
			return err
		}
	}
	return s.front.Listen(ctx)
}

// Run serves until ctx ends, then drains in the order of dependence: the
// store's requests, the jobs that run, the sandbox, the database.
func (s *Server) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var errs [4]error
	var work, world sync.WaitGroup
	if s.back != nil {
		world.Go(func() { errs[1] = s.back.Run(background) })
		world.Go(func() { errs[2] = s.sandbox.world.Run(background) })
	}
	working, stopWork := context.WithCancel(background)
	defer stopWork()
	if err := s.prepareWork(ctx); err != nil {
		return errors.Join(err, s.close())
	}
	work.Go(func() { s.worker.Run(working) })
	work.Go(func() { s.pages.Run(working) })
	work.Go(func() { s.services.Watch(working) })
	work.Go(func() { s.platform.run(working, s.log) })
	work.Go(func() { s.vault.Run(working) })
	if s.shared != nil {
		work.Go(func() { s.shared.Run(working) })
	}
	work.Go(func() { errs[3] = s.serveControl(working) })
	errs[0] = s.front.Run(ctx)
	stopWork()
	work.Wait()
	s.services.Close()
	s.platform.tools.Close()
	stop()
	world.Wait()
	return errors.Join(errors.Join(errs[:]...), s.close())
}

// prepareWork puts the housekeeping on record, and takes over what a process
// that died has left, if nobody else can be at it.
func (s *Server) prepareWork(ctx context.Context) error {
	store, now := storage.New(s.db, nil), time.Now()
	if !s.db.Shared() {
		runs := platformstore.Runs{Store: platformstore.New(s.db, nil)}
		if err := errors.Join(store.Reclaim(ctx), storage.Paid{Store: store}.Reclaim(ctx), runs.ReclaimRuns(ctx)); err != nil {
			return err
		}
	}
	return store.Schedule(ctx, jobs.Job{Kind: jobSweep, RunAt: now.Add(10 * time.Second)}, jobs.Job{Kind: jobPrune, RunAt: now.Add(time.Minute)},
		jobs.Job{Kind: jobPrunePaid, RunAt: now.Add(time.Minute)}, jobs.Job{Kind: connection.JobPrune, RunAt: now.Add(time.Minute)},
		jobs.Job{Kind: tool.JobSweep, RunAt: now.Add(5 * time.Second)}, jobs.Job{Kind: jobVault, RunAt: now.Add(5 * time.Second)})
}

func (s *Server) close() error {
	var errs []error
	if s.bots != nil {
		s.bots.Close()
	}
	if s.shared != nil {
		errs = append(errs, s.shared.Close())
	}
	if s.vault != nil {
		bound, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		errs = append(errs, s.vault.Close(bound))
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.sandbox != nil {
		errs = append(errs, s.sandbox.db.Close())
	}
	return errors.Join(errs...)
}
