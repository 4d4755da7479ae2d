// Package server is the composition root: it builds everything from the
// settings, by hand and in order, so that this file shows the whole graph.
//
//	settings -> database -> vault -> processor client -> storage
//	         -> catalog, orders, checkout -> handlers -> listeners
//	         -> jobs that recover, watch and deliver
//	sandbox: its own database, keys and listener, reached over HTTP only
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/ratelimit/redislimit"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/protocol/webbotauth"
	"ace/internal/server/metrics"
	"ace/internal/storage"
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
	metrics  *metrics.Metrics
	operator bool // built for one command: the database is used as it is, and nothing listens
	step     func(string)
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
	vault    *vaultstore.Vault
	sealer   *seal.Sealer // the vault's
	tls      *tls.Config
	guard    *egress.Guard
	db       *sqldb.DB
	sandbox  *sandboxWorld // nil: off
	lanes    *jobs.Lanes
	worker   *jobs.Worker
	held     *jobs.Worker      // begins once the operator resumes a restored database; nil: nothing is held
	sales    *checkout.Service // nil, like orders, services and pages: nothing is sold here
	orders   *order.Service
	services *paidservice.Service
	pages    *site.Service
	platform *platform
	shared   *redislimit.Store    // nil: requests are counted here
	bots     *webbotauth.Keys     // nil: signatures of agents are not looked at
	identity *webbotauth.Identity // nil: what is fetched is not signed

	front   *httpserver.Server // store and platform
	back    *httpserver.Server // sandbox; ends after the hosts, since they call it; nil: off
	private *httpserver.Server // admin; listens until the very end; nil: off
}

// Options tunes a Server.
type Options struct {
	// Step, if set, is called at each point between two durable steps. Tests
	// use it to end the process there.
	Step func(name string)
	// Build is the program, for the metrics.
	Build metrics.Build
	// Lookup replaces the system's resolver for everything that is called outside.
	// Tests move names with it.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
}

// New builds a server from valid settings. Nothing listens yet.
func New(ctx context.Context, cfg *config.Settings, log *slog.Logger, opts Options) (*Server, error) {
	s := &Server{
		cfg: cfg, log: log, step: opts.Step, lookup: opts.Lookup, lanes: jobs.NewLanes(jobLanes()),
		metrics: metrics.New(opts.Build),
	}
	if err := s.build(ctx); err != nil {
		return nil, errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Server) build(ctx context.Context) (err error) {
	if err := makePrivate(s.cfg.DataDir); err != nil {
		return err
	}
	if s.operator {
		s.db, err = openExisting(ctx, s.cfg)
	} else {
		s.db, err = openDatabase(ctx, s.cfg)
	}
	if err != nil {
		return err
	}
	if err := s.prepareTLS(); err != nil {
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
	if err := s.openShared(); err != nil {
		return err
	}
	var store http.Handler
	if s.cfg.Sells() {
		if store, err = s.buildStore(ctx); err != nil {
			return err
		}
	}
	if s.platform, err = s.buildPlatform(ctx); err != nil {
		return err
	}
	if err := s.buildWorkers(ctx); err != nil {
		return err
	}
	return s.listenOn(store)
}

// Migrate brings the schema up to date and returns how many migrations it
// applied. A server does so by itself when it starts.
func Migrate(ctx context.Context, cfg *config.Settings) (applied int, err error) {
	db, err := sqldb.Open(ctx, cfg.Database(), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrate(ctx, db)
}

// openDatabase opens the database and brings its schema up to date.
func openDatabase(ctx context.Context, cfg *config.Settings) (*sqldb.DB, error) {
	db, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func open(ctx context.Context, cfg *config.Settings) (*sqldb.DB, error) {
	db, err := sqldb.Open(ctx, cfg.Database(), nil)
	if errors.Is(err, sqldb.ErrInUse) {
		return nil, fmt.Errorf("%w (another ace serves from %s; or set ACE_DATA_DIR to another folder)", err,
			cfg.DataDir)
	}
	return db, err
}

// migrate brings the schema up to date, unless a later version has done so.
func migrate(ctx context.Context, db *sqldb.DB) (applied int, err error) {
	applied, err = db.Migrate(ctx, storage.Migrations())
	if errors.Is(err, sqldb.ErrNewerSchema) {
		schema, err := db.Schema(ctx, storage.Migrations())
		return 0, cmp.Or(err, newerSchema(schema))
	}
	return applied, err
}

// buildStore wires the store host and the jobs behind it.
func (s *Server) buildStore(ctx context.Context) (http.Handler, error) {
	store := storage.New(s.db, s.lanes)
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
	sales := checkout.New(catalog, s.metrics.Processor(processor), s.metrics.Sessions(store), s.log,
		checkout.Options{BaseURL: s.cfg.BaseURL(), Sinks: s.orders.SinkNames(), Step: s.step})
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
	s.sales = sales
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
			BaseURL: s.cfg.BaseURL(), Name: s.cfg.SiteName, Contact: s.cfg.Contact, Terms: terms, Privacy: privacy,
			Refunds:  refunds,
			Operator: s.cfg.Operator, Address: s.cfg.Address, Sandbox: s.sandbox != nil && s.cfg.StripeKey == "",
			DirectContinueURL: s.cfg.ContinueURL == "direct", UCPNegotiation: s.cfg.UCPNegotiation,
			ContentSignal: s.cfg.ContentSignal(), SecurityContact: s.cfg.SecurityContact, Burst: s.cfg.RateBurst,
		},
		Catalog: catalog, Pages: s.pages, Checkout: sales, Orders: s.orders, Events: processor,
		Requests: idempotency.New(storage.Requests{Store: store}, s.sealer.MAC), MAC: s.sealer.MAC, Log: s.log,
		Platforms: ucpprofile.New(s.signedClient(egress.UCPProfile()), nil), Signers: signers, BotKeys: botKeys,
		Tasks: storage.Tasks{Store: store}, CardSigner: cardSigner, Services: s.servicesHandler(),
		Gate: gate,
	})
}

// StoreDocument is the OpenAPI document of the store.
func StoreDocument() ([]byte, error) { return storehttp.Document() }

// processor is the client of the payment processor: Stripe or the sandbox.
func (s *Server) processor() (*stripe.Client, error) {
	purpose := egress.Payments(paymentHosts(s.cfg)...)
	if s.cfg.StripeKey == "" {
		purpose = trusting(purpose, s.cfg.SandboxBaseURL())
	}
	purpose = trusting(purpose, s.cfg.StripeURL)
	key, opts := s.cfg.StripeKey, stripe.Options{
		BaseURL: s.cfg.StripeURL, Mode: "live", AllOffers: s.cfg.StripeOffers == "all",
		AutomaticTax: s.cfg.AutomaticTax, StoreName: s.cfg.SiteName,
		WebhookSecrets: s.cfg.StripeWebhookSecrets, HTTPClient: s.guard.Client(purpose),
	}
	switch {
	case key == "":
		key, opts.BaseURL, opts.Mode, opts.WebhookSecrets = s.sandbox.key, s.cfg.SandboxBaseURL()+
			"/stripe", "sandbox", []string{s.sandbox.webhookSecret}
	case isTestKey(key):
		opts.Mode = "test"
	}
	return stripe.New(key, opts)
}

// listenOn prepares the listeners; Run opens them.
func (s *Server) listenOn(store http.Handler) error {
	proxies := &httpserver.Proxies{Networks: config.Prefixes(s.cfg.TrustedProxies), Header: s.cfg.ProxyHeader}
	var front []httpserver.Listener
	if s.cfg.Serves("store") {
		front = append(front, httpserver.Listener{
			Name: "store", Addr: s.cfg.StoreAddr, Setting: "ACE_STORE_ADDR", TLS: s.tls,
			Handler: instrumented(s.log, s.metrics, "store", "", store, proxies),
		})
	}
	if s.cfg.Serves("platform") {
		front = append(front, httpserver.Listener{
			Name: "platform", Addr: s.cfg.PlatformAddr, Setting: "ACE_PLATFORM_ADDR", TLS: s.tls,
			Handler: instrumented(s.log, s.metrics, "platform", s.cfg.PlatformBaseURL(), s.platform.handler, proxies),
		})
	}
	if s.cfg.AdminAddr != "" {
		admin, err := s.admin()
		if err != nil {
			return err
		}
		s.private = httpserver.New(s.log, []httpserver.Listener{
			{Name: "admin", Addr: s.cfg.AdminAddr, Setting: "ACE_ADMIN_ADDR", Handler: admin},
		}, lastListeners())
	}
	s.front = httpserver.New(s.log, front, &httpserver.Options{DrainDelay: s.cfg.Drain()})
	if s.sandbox != nil && s.sandbox.world != nil {
		s.back = sandboxListener(s.log, s.metrics, s.cfg.SandboxAddr, s.sandbox.world.Handler(), s.tls)
	}
	return nil
}

func sandboxListener(
	log *slog.Logger,
	observer httpserver.Observer,
	addr string,
	h http.Handler,
	secure *tls.Config,
) *httpserver.Server {
	return httpserver.New(log, []httpserver.Listener{
		{
			Name: "sandbox", Addr: addr, Setting: "ACE_SANDBOX_ADDR", TLS: secure,
			Handler: instrumented(log, observer, "sandbox", "", h, nil),
		},
	}, lastListeners())
}

// lastListeners are the options of listeners that nobody but the hosts and
// operators calls: there is little time for their requests at the end.
func lastListeners() *httpserver.Options { return &httpserver.Options{DrainTimeout: 2 * time.Second} }

// instrumented is the middleware of every request of a host. problems is the
// base of the URLs that explain problems; empty: the host explains none.
func instrumented(log *slog.Logger, observer httpserver.Observer, name, problems string, h http.Handler,
	proxies *httpserver.Proxies,
) http.Handler {
	o := &httpserver.InstrumentOptions{ProblemBase: problems, Observer: observer}
	return httpserver.Chain(h, httpserver.Instrument(log, name, o),
		httpserver.ClientAddress(proxies),
		httpserver.LimitBody(httpserver.DefaultBodyLimit), httpserver.LimitTime(40*time.Second))
}

// Listen binds all addresses, or none.
func (s *Server) Listen(ctx context.Context) error {
	for _, listeners := range []*httpserver.Server{s.back, s.private, s.front} {
		if listeners == nil {
			continue
		}
		if err := listeners.Listen(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Run serves until ctx ends, and then ends within 50 s: lifecycle draws how.
func (s *Server) Run(ctx context.Context) error {
	if err := s.prepareWork(ctx); err != nil {
		if ctx.Err() != nil {
			err = nil // told to end before it began: what was not scheduled is so at the next start
		}
		return errors.Join(err, s.close(context.WithoutCancel(ctx)))
	}
	l := &lifecycle{
		log: s.log, draining: s.front.Draining(), close: s.close,
		requests: shutdownStep{parts: []part{{"requests", s.front.Run}}},
		work:     shutdownStep{parts: []part{loop("jobs", s.worker.Run), loop("jobs that were held", s.runHeld)}},
		finish: shutdownStep{parts: []part{
			loop("runs of tools", func(context.Context) { s.platform.tools.Close() }),
		}},
		loops: shutdownStep{parts: []part{
			loop("vault", s.vault.Run),
			loop("times of last use", func(ctx context.Context) { s.platform.run(ctx, s.log) }),
			{"operator commands", s.serveControl},
		}},
	}
	if s.sales != nil {
		l.finish.parts = append(l.finish.parts, loop("paid services", func(context.Context) { s.services.Close() }))
		l.loops.parts = append(l.loops.parts, loop("pages", s.pages.Run), loop("facilitators", s.services.Watch))
	}
	if s.shared != nil {
		l.loops.parts = append(l.loops.parts, loop("shared limits", s.shared.Run))
	}
	if s.back != nil {
		l.last.parts = append(l.last.parts, part{"sandbox", s.back.Run}, part{"sandbox jobs", s.sandbox.world.Run})
	}
	if s.private != nil {
		l.last.parts = append(l.last.parts, part{"admin", s.private.Run})
	}
	return l.run(ctx)
}

// close releases what the process holds, the database last.
func (s *Server) close(ctx context.Context) error {
	var errs []error
	if s.bots != nil {
		s.bots.Close()
	}
	if s.shared != nil {
		errs = append(errs, s.shared.Close())
	}
	if s.vault != nil {
		bound, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		errs = append(errs, s.vault.Close(bound))
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.sandbox != nil && s.sandbox.db != nil {
		errs = append(errs, s.sandbox.db.Close())
	}
	return errors.Join(errs...)
}
