// Package sandbox is the development world of ACE: what a store needs around
// it, on one listener of its own, apart from both hosts. Everything is reached
// over HTTP and nothing is shared with the hosts, so that the same code works
// against the real services.
//
//	/             what this listener is
//	/stripe/v1/   payment processor: the used subset of Stripe's API; also at /v1/
//	/stripe/c/    its hosted pay page, for people
//	/stripe/_sandbox/  clock and faults, for tests on the same machine
//	/x402/        facilitator for payments over x402, with a ledger for a chain
//	/notes/       a third-party app that keeps notes: OAuth 2, API keys, REST,
//	              webhooks, an MCP server
//	/inbox/       a receiver of webhooks that shows what was posted to it
//	/site/        a website to practise on, with good and faulty pages; its
//	              robots.txt is at the root of the listener
//
//	New -> Handler: serve it; Run: webhooks, the clock
package sandbox

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox/inbox"
	"ace/internal/sandbox/ledger"
	"ace/internal/sandbox/notes"
	"ace/internal/sandbox/payments"
	"ace/internal/sandbox/paypage"
	"ace/internal/sandbox/stripeapi"
)

//go:embed index.html
var indexFile embed.FS

// Options tunes a sandbox; the zero value is one for development.
type Options struct {
	// BaseURL is the address of the listener as browsers see it, for example
	// http://127.0.0.1:8082. Empty: the address that each caller used.
	BaseURL string
	// AllowPublic lets the sandbox start with a BaseURL that is not local.
	AllowPublic bool
	// Logger takes reports. Nil: nothing is logged.
	Logger *slog.Logger
	// StripeKeys are the accepted secret keys (sk_test_…). Empty: all that
	// have the shape of one.
	StripeKeys []string
	// Webhooks receive the payment processor's events. They are made or
	// brought up to date at every start.
	Webhooks []Webhook
	// Client posts webhooks. Nil: a client that suits development.
	Client *http.Client
	// NoCatalog leaves the catalog of a first start empty.
	NoCatalog bool
}

// Webhook is an address that events are posted to, signed with Secret (whsec_…).
type Webhook struct {
	URL, Secret string
	Events      []string // empty: all
}

// Sandbox is the development world.
type Sandbox struct {
	processor *payments.Processor
	notes     *notes.Notes
	handler   http.Handler
}

// New prepares the sandbox in db, which belongs to it alone. It refuses a
// public address that was not asked for (see CheckAddress).
func New(ctx context.Context, db *sqldb.DB, opts *Options) (*Sandbox, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := CheckAddress(opts.BaseURL, opts.AllowPublic); err != nil {
		return nil, err
	}
	endpoints := make([]payments.EndpointConfig, 0, len(opts.Webhooks))
	for _, w := range opts.Webhooks {
		endpoints = append(endpoints, payments.EndpointConfig{URL: w.URL, Secret: w.Secret, Events: w.Events})
	}
	p, err := payments.Open(ctx, db, &payments.Options{
		Logger: opts.Logger, Client: opts.Client, NoCatalog: opts.NoCatalog, Endpoints: endpoints,
	})
	if err != nil {
		return nil, err
	}
	s := &Sandbox{processor: p}
	mux := http.NewServeMux()
	if err := s.mountStripe(mux, opts); err != nil {
		return nil, err
	}
	if err := mountLedger(ctx, mux, db, opts); err != nil {
		return nil, err
	}
	if err := s.mountNotes(ctx, mux, db, opts); err != nil {
		return nil, err
	}
	mux.Handle(inboxPrefix+"/", inbox.New().Handler(inboxPrefix))
	if err := mountSite(mux, opts); err != nil {
		return nil, err
	}
	if err := mountIndex(mux); err != nil {
		return nil, err
	}
	s.handler = mux
	return s, nil
}

// stripePrefix is where the payment processor is mounted.
const stripePrefix = "/stripe"

func (s *Sandbox) mountStripe(mux *http.ServeMux, opts *Options) error {
	base := strings.TrimSuffix(opts.BaseURL, "/")
	pageURL := func(r *http.Request, id string) string {
		origin := base
		if origin == "" {
			origin = "http://" + r.Host
			if r.TLS != nil {
				origin = "https://" + r.Host
			}
		}
		return origin + stripePrefix + "/c/pay/" + id
	}
	pages, err := paypage.New(s.processor, &paypage.Options{
		Prefix: stripePrefix, Logger: opts.Logger, Secure: strings.HasPrefix(base, "https://"),
	})
	if err != nil {
		return err
	}
	api := stripeapi.New(s.processor, &stripeapi.Options{Logger: opts.Logger, Keys: opts.StripeKeys, PageURL: pageURL})
	mux.Handle(stripePrefix+"/c/", http.StripPrefix(stripePrefix, pages))
	mux.Handle(stripePrefix+"/", http.StripPrefix(stripePrefix, api))
	// stripe-go v85 takes no base URL with a path: it reads the version of the
	// API from the start of the request's path. It is pointed at the origin.
	mux.Handle("/v1/", api)
	return nil
}

// ledgerPrefix is where the x402 facilitator is mounted.
const ledgerPrefix = "/x402"

func mountLedger(ctx context.Context, mux *http.ServeMux, db *sqldb.DB, opts *Options) error {
	l, err := ledger.Open(ctx, db, &ledger.Options{Logger: opts.Logger})
	if err != nil {
		return err
	}
	handler, err := l.Handler(ledgerPrefix, stripePrefix+"/c/assets/pay.css")
	if err != nil {
		return err
	}
	mux.Handle(ledgerPrefix+"/", http.StripPrefix(ledgerPrefix, handler))
	return nil
}

// notesPrefix is where the demo app is mounted.
const notesPrefix = "/notes"

func (s *Sandbox) mountNotes(ctx context.Context, mux *http.ServeMux, db *sqldb.DB, opts *Options) (err error) {
	if s.notes, err = notes.Open(ctx, db, &notes.Options{Logger: opts.Logger, Client: opts.Client}); err != nil {
		return err
	}
	handler, err := s.notes.Handler(notesPrefix, stripePrefix+"/c/assets/pay.css")
	if err != nil {
		return err
	}
	mux.Handle(notesPrefix+"/", http.StripPrefix(notesPrefix, handler))
	for pattern, h := range s.notes.Metadata(notesPrefix) {
		mux.HandleFunc(pattern, h)
	}
	return nil
}

// inboxPrefix is where the receiver of webhooks is mounted.
const inboxPrefix = "/inbox"

// Handler serves the sandbox. The base URL for stripe-go is the origin of the
// listener, without a path.
func (s *Sandbox) Handler() http.Handler { return s.handler }

// Run delivers webhooks and does what the sandbox's clock asks for, until ctx
// ends.
func (s *Sandbox) Run(ctx context.Context) error {
	var posting sync.WaitGroup
	defer posting.Wait()
	posting.Go(func() { s.notes.Run(ctx) })
	return s.processor.Run(ctx)
}

func mountIndex(mux *http.ServeMux) error {
	index, err := template.ParseFS(indexFile, "index.html")
	if err != nil {
		return fmt.Errorf("reading the sandbox's first page: %w", err)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		w.Header().Set("Ace-Sandbox", "true")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		// A browser that went away is no fault of this process.
		_ = index.Execute(w, indexView{
			Origin: "http://" + r.Host, Stripe: stripePrefix, X402: ledgerPrefix,
			Notes: notesPrefix, Site: sitePrefix, Inbox: inboxPrefix,
		})
	})
	return nil
}

// indexView fills index.html.
type indexView struct{ Origin, Stripe, X402, Notes, Site, Inbox string }
