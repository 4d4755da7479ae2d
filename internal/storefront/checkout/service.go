package checkout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"ace/internal/foundation/broadcast"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// Kinds of the jobs that this package schedules.
const (
	JobOpen  = "checkout_open"  // ref: session; finish opening its page
	JobWatch = "checkout_watch" // ref: session; ask the processor again
	JobEvent = "checkout_event" // ref: session|page; the processor sent a message
	// JobCompare settles a page that the sweep found to differ from its session.
	JobCompare = "checkout_compare" // ref: session|page
)

// Service runs checkout sessions. It is safe for concurrent use and between
// replicas.
type Service struct {
	catalog   *offer.Catalog
	processor Processor
	store     Store
	log       *slog.Logger
	opts      Options

	reading singleflight.Group
	recent  recent
	changed broadcast.Broadcaster
}

// Options tunes a Service.
type Options struct {
	// BaseURL is the store's own address, without a slash at the end.
	BaseURL string
	// Lifetime of a page. Zero: 23 hours. The processor allows 30 minutes to 24
	// hours.
	Lifetime time.Duration
	// HoldLifetime is the lifetime for counted offers, whose units are held
	// meanwhile. Zero: 31 minutes.
	HoldLifetime time.Duration
	// MaxUnpaid bounds the unpaid sessions that one client may have for a
	// counted offer. Zero: 2.
	MaxUnpaid int
	// MaxUnsignedShare bounds the share of a counted offer that unsigned
	// clients may hold unpaid, in percent. Zero: 20.
	MaxUnsignedShare int64
	// Sinks names where events of orders go.
	Sinks []string
	// Step, if set, is called at each point between two durable steps. Tests
	// use it to end the process there.
	Step func(name string)
}

// New returns a service.
func New(catalog *offer.Catalog, processor Processor, store Store, log *slog.Logger, opts Options) *Service {
	if opts.Lifetime == 0 {
		opts.Lifetime = 23 * time.Hour
	}
	if opts.HoldLifetime == 0 {
		opts.HoldLifetime = 31 * time.Minute
	}
	if opts.MaxUnpaid == 0 {
		opts.MaxUnpaid = 2
	}
	if opts.MaxUnsignedShare == 0 {
		opts.MaxUnsignedShare = 20
	}
	if opts.Step == nil {
		opts.Step = func(string) {}
	}
	return &Service{catalog: catalog, processor: processor, store: store, log: log, opts: opts}
}

// ContinueURL is the address to send the buyer to: a short link of this store
// that leads to the hosted page for as long as the session lives.
func (s *Service) ContinueURL(session *Session) string {
	return s.opts.BaseURL + "/c/" + session.Token
}

// OrderURL is the page of the session's order for the buyer.
func (s *Service) OrderURL(session *Session) string {
	return s.opts.BaseURL + "/checkout/" + session.Token + "/done"
}

// Get returns a session. If it can still change and was not read from the
// processor within a few seconds, it is read now; if the processor is
// unavailable, it is returned as it is stored. It returns checkout_not_found (NotFound), or
// checkout_in_flight (Conflict) while the page is being opened.
func (s *Service) Get(ctx context.Context, id string) (*Session, error) {
	if !typeid.Valid("chk", id) {
		return nil, errNotFound()
	}
	session, err := s.store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	if session.State == Creating {
		return nil, errInFlight()
	}
	return s.refreshed(ctx, session), nil
}

// freshFor is how long what the processor said about a session is fresh enough
// for a read. Messages of the processor make it current sooner.
const freshFor = 5 * time.Second

// refreshed returns the session as the processor sees it, or as it is stored if
// that is fresh or the processor is unavailable.
func (s *Service) refreshed(ctx context.Context, session *Session) *Session {
	if session.State == Completed {
		return session
	}
	var read *Session
	var err error
	if refs := session.reported(); len(refs) > 0 {
		// A message waits for its job. A read that began before the message does not
		// count, so this one is neither shared nor spared.
		read, err = s.reconcile(ctx, session.ID, "read", refs...)
	} else if session.State.Ended() || s.recent.within(session.ID, freshFor) {
		return session
	} else {
		read, err = s.sharedRead(ctx, session.ID)
	}
	if err != nil {
		s.log.WarnContext(ctx, "reading a checkout from the processor", "checkout_id", session.ID, "error", err)
		return session
	}
	return read
}

// sharedRead asks the processor once for all who read a session at the same time.
func (s *Service) sharedRead(ctx context.Context, id string) (*Session, error) {
	read, err, _ := s.reading.Do(id, func() (any, error) {
		return s.reconcile(context.WithoutCancel(ctx), id, "read")
	})
	if err != nil {
		return nil, err
	}
	return read.(*Session).clone(), nil
}

// Wait returns the session as soon as it is no longer open, or after d as it
// is then. It is what an agent calls that waits for the payment.
func (s *Service) Wait(ctx context.Context, id string, d time.Duration) (*Session, error) {
	deadline := time.Now().Add(d)
	for {
		news, done := s.changed.Subscribe(id)
		session, err := s.Get(ctx, id)
		left := time.Until(deadline)
		if err != nil || session.State != Open || left <= 0 || ctx.Err() != nil {
			done()
			return session, err
		}
		select {
		case <-news:
		case <-time.After(min(left, time.Second)): // another replica may have received it
		case <-ctx.Done():
		}
		done()
	}
}

// reconcile asks the processor about the pages of a session and stores what
// follows. refs names further pages to ask about; with one,
// the pages that we hold for closed are asked about too.
func (s *Service) reconcile(ctx context.Context, id, evidence string, refs ...string) (*Session, error) {
	for {
		session, err := s.store.Session(ctx, id)
		if err != nil {
			return nil, err
		}
		asked := time.Now()
		facts, err := s.read(ctx, session, refs)
		if err != nil {
			return nil, err
		}
		s.recent.note(id, asked)
		saved, err := s.record(ctx, session, facts, evidence)
		if !errors.Is(err, ErrVersion) {
			return saved, err
		}
	}
}

func (s *Service) read(ctx context.Context, session *Session, refs []string) ([]PageFacts, error) {
	ask := append([]string(nil), refs...)
	for i := range session.Pages {
		page := &session.Pages[i]
		live := page.State == PageOpen || page.State == PagePending || page.State == PageOpening
		if page.Ref != "" && (live || len(refs) > 0) {
			ask = append(ask, page.Ref)
		}
	}
	var facts []PageFacts
	seen := map[string]bool{}
	for _, ref := range ask {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		f, err := s.processor.ReadPage(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("reading page %s of session %s: %w", ref, session.ID, err)
		}
		if f.CheckoutID == session.ID {
			facts = append(facts, f)
		}
	}
	return facts, nil
}

// record settles and saves. It returns ErrVersion if the session was changed
// meanwhile.
func (s *Service) record(ctx context.Context, session *Session, facts []PageFacts, evidence string) (*Session, error) {
	change, err := settle(session, facts, s.soldOut(ctx, session), time.Now())
	if err != nil || change == nil {
		return session, err
	}
	change.Evidence = evidence
	for _, event := range change.Events {
		change.Schedule = append(change.Schedule, order.Deliveries(event, s.opts.Sinks)...)
	}
	for _, refund := range change.Refunds {
		change.Schedule = append(change.Schedule,
			jobs.Job{Kind: order.JobRefund, Ref: refund.ID, RunAt: refund.CreatedAt})
	}
	s.opts.Step("settled")
	if err := s.save(ctx, *change, nil); err != nil {
		return nil, err
	}
	s.opts.Step("kept")
	return change.Session, nil
}

func (s *Service) save(ctx context.Context, change Change, check func(Holds) error) error {
	if err := s.store.Save(ctx, change, check); err != nil {
		return err
	}
	change.Session.Version++
	s.changed.Publish(change.Session.ID)
	return nil
}

// soldOut reports whether no unit is left for a session whose own units are
// not counted any more. If the catalog cannot be read, that is unknown: the
// order goes to review instead of a refund.
func (s *Service) soldOut(ctx context.Context, session *Session) bool {
	if session.State != Canceled && session.State != Expired {
		return false
	}
	snapshot, err := s.catalog.Snapshot(ctx)
	if err != nil {
		return false
	}
	quote := session.Quote()
	o, err := snapshot.Find(quote.Offer.ID)
	if err != nil {
		return false
	}
	state := snapshot.Availability(o)
	return !state.Available() || state.Quantity != nil && *state.Quantity < quote.Quantity
}

func errNotFound() error {
	return problem.New(problem.NotFound, "checkout_not_found",
		"No such checkout session. Ids are in the response that created the session.")
}

func errInFlight() error {
	return problem.New(problem.Conflict, "checkout_in_flight",
		"The payment page of this session is still being opened. Repeat the request in a moment.").After(time.Second)
}
