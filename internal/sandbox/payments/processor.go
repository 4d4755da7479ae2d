package payments

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox/rowstore"
	"ace/internal/sandbox/schema"
)

// APIVersion is the version of the API that is spoken and that events carry.
const APIVersion = "2026-03-25.dahlia"

// AccountID is the one account of the sandbox.
const AccountID = "acct_sandbox"

const (
	settingOffset = "clock_offset"
	settingSeeded = "seeded"
	settingSecret = "page_secret"
	settingFaults = "faults"
)

// Processor is the payment processor of the sandbox. It is safe for
// concurrent use. One process serves one database.
type Processor struct {
	db     *sqldb.DB
	log    *slog.Logger
	client *http.Client
	secret []byte
	offset atomic.Int64 // of the sandbox's clock, in nanoseconds
	seq    atomic.Int64
	kick   chan struct{}
}

// Options tunes a Processor; the zero value is a sandbox for development.
type Options struct {
	// Logger takes the reports of the worker. Nil: nothing is logged.
	Logger *slog.Logger
	// Client posts webhooks. Nil: a client that follows no redirect and gives
	// an endpoint ten seconds.
	Client *http.Client
	// NoCatalog leaves the catalog of a first start empty.
	NoCatalog bool
	// Endpoints are made or brought up to date at every start.
	Endpoints []EndpointConfig
}

// EndpointConfig is a webhook endpoint that is set up without a call.
type EndpointConfig struct {
	URL    string
	Secret string   // whsec_…
	Events []string // empty: all
}

// Open brings the schema up to date, fills the catalog at the first start
// and returns the processor. Run must be called for webhooks to go out.
func Open(ctx context.Context, db *sqldb.DB, opts *Options) (*Processor, error) {
	if opts == nil {
		opts = &Options{}
	}
	p := &Processor{db: db, log: opts.Logger, client: opts.Client, kick: make(chan struct{}, 1)}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.client == nil {
		p.client = &http.Client{
			Timeout:       10 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if err := schema.Apply(ctx, db); err != nil {
		return nil, err
	}
	if err := p.restore(ctx, opts); err != nil {
		return nil, fmt.Errorf("starting the sandbox's payment processor: %w", err)
	}
	return p, nil
}

// restore reads what must outlive a restart, and makes it at the first start.
func (p *Processor) restore(ctx context.Context, opts *Options) error {
	seq, err := rowstore.MaxSeq(ctx, p.db.Reader())
	if err != nil {
		return fmt.Errorf("reading the newest object: %w", err)
	}
	p.seq.Store(seq)
	var offset int64
	if err := rowstore.Setting(ctx, p.db.Reader(), settingOffset, &offset); err != nil {
		return err
	}
	p.offset.Store(offset)
	return p.Write(ctx, Origin{}, func(ctx context.Context, tx *Tx) error {
		var secret []byte
		if err := rowstore.Setting(ctx, tx.tx, settingSecret, &secret); err != nil {
			return err
		}
		if len(secret) == 0 {
			secret = make([]byte, 32)
			_, _ = rand.Read(secret) // never fails
			if err := rowstore.PutSetting(ctx, tx.tx, settingSecret, secret); err != nil {
				return err
			}
		}
		p.secret = secret
		if !opts.NoCatalog {
			if err := tx.seed(ctx); err != nil {
				return err
			}
		}
		// After the catalog, whose making is no news to anyone.
		for _, e := range opts.Endpoints {
			if err := tx.upsertEndpoint(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// PageSecret is the key of the tokens that the pay page issues.
func (p *Processor) PageSecret() []byte { return p.secret }

// Origin says which call a change comes from; zero: none.
type Origin struct {
	RequestID, IdempotencyKey string
}

// View reads at one moment.
type View struct {
	q   rowstore.Querier
	now time.Time
}

// Tx is one serializable transaction at one moment of the sandbox's clock.
type Tx struct {
	View
	tx     *sql.Tx
	p      *Processor
	origin Origin
}

// View returns a view that reads what is committed.
func (p *Processor) View() View { return View{q: p.db.Reader(), now: p.Now()} }

// Write runs fn in one transaction and, when it commits, wakes the worker. Fn
// may run several times.
func (p *Processor) Write(ctx context.Context, origin Origin, fn func(ctx context.Context, tx *Tx) error) error {
	err := p.db.Tx(ctx, func(tx *sql.Tx) error {
		return fn(ctx, &Tx{View: View{q: tx, now: p.Now()}, tx: tx, p: p, origin: origin})
	})
	if err == nil {
		p.wake()
	}
	return err
}

// State is what tests count.
type State struct {
	Now        time.Time                   `json:"now"`
	Objects    map[string]map[string]int64 `json:"objects"`    // by kind and status
	Deliveries map[string]int64            `json:"deliveries"` // by state
	Attempts   int64                       `json:"attempts"`   // to deliver, of all deliveries
	Faults     Faults                      `json:"faults"`
}

// State counts what the sandbox holds.
func (p *Processor) State(ctx context.Context) (*State, error) {
	q := p.db.Reader()
	s := &State{Now: p.Now().UTC()}
	var errs [4]error
	s.Objects, errs[0] = rowstore.Count(ctx, q)
	s.Deliveries, errs[1] = countDeliveries(ctx, q)
	s.Attempts, errs[2] = countAttempts(ctx, q)
	errs[3] = rowstore.Setting(ctx, q, settingFaults, &s.Faults)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("counting what the sandbox holds: %w", err)
	}
	return s, nil
}
