package paidservice

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ace/internal/foundation/broadcast"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/x402"
)

// JobTend is the kind of the job that looks after an order; its ref is the
// order's id.
const JobTend = "paid_tend"

// Service sells services. It is safe for concurrent use and between replicas.
type Service struct {
	book        *book
	facilitator Facilitator // nil: nothing can be paid
	prover      Prover      // nil: the facilitator's word is all there is
	store       Store
	results     Results
	vault       Vault
	log         *slog.Logger
	opts        Options

	changed broadcast.Broadcaster
	health  health
	slots   chan struct{}
	running sync.WaitGroup
	base    context.Context // ends when runs have to stop
	stop    context.CancelFunc
}

// Options tunes a Service. Every zero duration and number is its default.
type Options struct {
	// BaseURL is the store's own address, without a slash at the end.
	BaseURL string
	// Name goes into quotes: at most 32 printable ASCII characters. A longer one
	// is left out.
	Name string
	// Mode says in lists what payments are: "facilitator", or "dev-ledger" for
	// test money.
	Mode string
	// RunWait is how long a caller waits for work. 0: 45 s.
	RunWait time.Duration
	// RunLimit ends a run that takes too long. 0: 2 min.
	RunLimit time.Duration
	// SettleBudget is how long a settlement may take. 0: 20 s.
	SettleBudget time.Duration
	// VerifyTimeout bounds asking whether a payment is good. 0: 15 s.
	VerifyTimeout time.Duration
	// Margin is the time that an authorization must have left when everything
	// took as long as it may. 0: 6 s, what facilitators ask for.
	Margin time.Duration
	// Slack is how long after its budget a step of a silent process
	// is taken over. 0: 5 s.
	Slack time.Duration
	// MaxTimeout is how long the quote asks an authorization to be valid.
	// 0: 300 s.
	MaxTimeout time.Duration
	// PriceGrace is how long a former price is honored. 0: 10 min.
	PriceGrace time.Duration
	// RunLease is how long a run without a sign of life counts as alive. 0: 20 s.
	RunLease time.Duration
	// Runs bounds the runs at the same time. 0: 16.
	Runs int
	// MaxSealed bounds the unpaid works of a payer in a day. 0: 3.
	MaxSealed int
	// Poll is how often a waiting call looks for what other replicas did.
	// 0: 300 ms.
	Poll time.Duration
	// Step, if set, is called at each point between two durable steps. Tests
	// use it to end the process there.
	Step func(name string)
}

// settleTries bounds how often one settlement is sent again where nothing was
// done about it.
const settleTries = 6

// unsealed is how long sealed work waits for its payment: an hour less than
// it is kept, so that nothing is settled whose work is being removed.
const unsealed = 23 * time.Hour

func (o *Options) complete() {
	for field, value := range map[*time.Duration]time.Duration{
		&o.RunWait: 45 * time.Second, &o.RunLimit: 2 * time.Minute, &o.SettleBudget: 20 * time.Second,
		&o.VerifyTimeout: 15 * time.Second,
		&o.Margin:        6 * time.Second, &o.Slack: 5 * time.Second, &o.MaxTimeout: 300 * time.Second,
		&o.PriceGrace: 10 * time.Minute, &o.RunLease: 20 * time.Second, &o.Poll: 300 * time.Millisecond,
	} {
		if *field == 0 {
			*field = value
		}
	}
	for field, value := range map[*int]int{&o.Runs: 16, &o.MaxSealed: 3} {
		if *field == 0 {
			*field = value
		}
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
}

// Deps are what a Service works with.
type Deps struct {
	Definitions []Definition
	Networks    []Network
	Facilitator Facilitator // nil: services are listed, and none is available
	Prover      Prover      // nil: without chain proofs
	Store       Store
	Results     Results
	Prices      Prices
	Vault       Vault
	Log         *slog.Logger
}

// New returns a service. Call Open before it sells, and Close at the end.
func New(d Deps, opts Options) *Service {
	opts.complete()
	s := &Service{
		book: &book{
			definitions: d.Definitions, networks: d.Networks, timeout: opts.MaxTimeout,
			grace: opts.PriceGrace, prices: d.Prices,
		},
		facilitator: d.Facilitator, prover: d.Prover, store: d.Store, results: d.Results, vault: d.Vault, log: d.Log,
		opts:  opts,
		slots: make(chan struct{}, opts.Runs),
	}
	s.base, s.stop = context.WithCancel(context.Background())
	return s
}

// Open puts the prices on record. It returns an error for prices and networks
// that cannot be quoted.
func (s *Service) Open(ctx context.Context) error {
	if err := s.book.open(ctx); err != nil {
		return err
	}
	for i := range s.book.definitions {
		d := &s.book.definitions[i]
		if _, ok := s.book.now(d.ID); !ok {
			continue
		}
		if err := s.quote(d, HTTP, "").Check(); err != nil {
			return err
		}
	}
	return nil
}

// Close stops the runs and waits for them. What they were at is taken up by
// another replica or the next process.
func (s *Service) Close() {
	s.stop()
	s.running.Wait()
}

// stopping reports whether the runs have to end.
func (s *Service) stopping() bool { return s.base.Err() != nil }

// Status says how a call ended.
type Status string

// The statuses.
const (
	// StatusPaid: Work is here, and Settlement says how it was paid.
	StatusPaid Status = "paid"
	// StatusDue: Quote says what to pay. Nothing was charged.
	StatusDue Status = "payment_required"
	// StatusRunning: the work continues. Nothing was charged so far; repeat the
	// call with the same payment.
	StatusRunning Status = "in_progress"
	// StatusPending: the money may have moved. Repeat the call with the same
	// payment, never with another.
	StatusPending Status = "settlement_pending"
	// StatusFailed: Problem says why. Nothing was charged, and the same payment
	// can be used again.
	StatusFailed Status = "failed"
)

// Outcome is how a call ended.
type Outcome struct {
	Status     Status
	Order      *Order                // nil before one was made
	Work       *Work                 // if paid
	Quote      *x402.PaymentRequired // if due
	Settlement *x402.SettleResponse  // if paid, pending, or due after a refusal to settle
	Problem    *problem.Problem      // if failed
	RetryAfter time.Duration         // when to look again; zero: no need
}

// Call asks for a run.
type Call struct {
	Service   string // id or tool
	Arguments []byte // a JSON object without the payment
	// Payment is nil where the caller only wants to know the price.
	Payment        *x402.PaymentPayload
	IdempotencyKey string
	Transport      Transport
	// Wait bounds how long the caller waits for the work, up to RunWait.
	// Negative: not at all.
	Wait time.Duration
	// Leave ends the wait when it is closed, for example because the process
	// stops. May be nil.
	Leave <-chan struct{}
}

// Run runs a service for a payment, or takes up the run that the payment was
// for. Without a payment it returns the quote. The problems are
// service_not_found, payments_not_configured, service_not_installed, invalid
// arguments as the service words them, invalid_payload,
// payment_bound_to_other_request and payment_identifier_in_use (Conflict),
// payer_busy and unsettled_work (RateLimited). All else is an Outcome.
func (s *Service) Run(ctx context.Context, call Call) (*Outcome, error) {
	d, err := s.book.find(call.Service)
	if err != nil {
		return nil, err
	}
	if call.Payment == nil {
		if err := s.sellable(d); err != nil {
			return nil, err
		}
		if len(call.Arguments) > 0 {
			if err := d.Runner.Check(call.Arguments); err != nil {
				return nil, err
			}
		}
		return s.due(nil, d, call.Transport, x402.ReasonPaymentRequired, nil), nil
	}
	c, err := s.newClaim(d, call)
	if err != nil {
		return nil, err
	}
	for {
		o, out, err := s.enter(ctx, c)
		if errors.Is(err, ErrExists) || errors.Is(err, ErrVersion) {
			continue // somebody was faster: join
		}
		if err != nil || out != nil {
			return out, err
		}
		return s.drive(ctx, o, c)
	}
}

// enter finds the order that a claim belongs to, or makes one. It returns an
// outcome instead where there is to be none.
func (s *Service) enter(ctx context.Context, c *claim) (*Order, *Outcome, error) {
	o, err := s.store.Find(ctx, c.auth)
	if problem.Is(err, codeOrderNotFound) {
		return s.admit(ctx, c)
	}
	if err != nil {
		return nil, nil, err
	}
	if o.State == Released && o.RunAttempts == 0 && !o.Sealed() && o.SupersededBy == "" {
		return s.rebind(ctx, c, o) // it never bound anything: bind it again
	}
	if o.Fingerprint != c.fingerprint || o.SignatureSum != c.sum {
		return nil, nil, errOtherRequest()
	}
	o, err = s.follow(ctx, o)
	return o, nil, err
}

// follow returns the order that took the place of o, or o.
func (s *Service) follow(ctx context.Context, o *Order) (*Order, error) {
	for o.SupersededBy != "" {
		next, err := s.store.Order(ctx, o.SupersededBy)
		if err != nil {
			return nil, err
		}
		o = next
	}
	return o, nil
}

const codeOrderNotFound = "service_order_not_found"

func newOwner() string { return typeid.New("run") }

func errOtherRequest() error {
	return problem.New(problem.Conflict, "payment_bound_to_other_request",
		"This payment was presented with another request before. Repeat that request unchanged to get what it paid "+
			"for, or sign a new payment for this one.")
}

// save writes a change of an order that was read as was, and wakes who waits
// for it.
func (s *Service) save(ctx context.Context, was *Order, c Change, check func(Holds) error) error {
	c.From = was.State
	if c.Order.UpdatedAt.Equal(was.UpdatedAt) {
		c.Order.UpdatedAt = now()
	}
	c.Schedule = append(c.Schedule, s.tendLater(c.Order)...)
	if err := s.store.Save(ctx, c, check); err != nil {
		return err
	}
	c.Order.Version++
	s.changed.Publish(c.Order.ID)
	return nil
}

// now is the time as it is kept.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
