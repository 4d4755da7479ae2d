package order

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
)

// Processor moves money back.
type Processor interface {
	// Refund gives back an amount of a payment. The same Key moves money once,
	// however often it is called. It returns refund_refused (Unprocessable) if
	// the processor will not, and processor_unavailable (Unavailable) if it is
	// not known whether it did.
	Refund(ctx context.Context, req RefundRequest) (processorRef string, err error)
	// Refunded returns how much of a payment went back so far, in minor units.
	Refunded(ctx context.Context, paymentRef string) (int64, error)
	// Buyer returns who paid on a checkout page. It is read when it is needed
	// and never stored.
	Buyer(ctx context.Context, pageRef string) (Buyer, error)
}

// RefundRequest asks for a refund.
type RefundRequest struct {
	Key        string
	OrderID    string
	PaymentRef string
	Amount     money.Amount
}

// Buyer is who paid.
type Buyer struct{ Name, Email string }

// Store is what a Service needs of the database.
type Store interface {
	Orders
	Refunds
	Events
}

// Orders stores orders. Each method is one transaction.
type Orders interface {
	// Order returns an order by id. It returns order_not_found (NotFound).
	Order(ctx context.Context, id string) (*Order, error)
	// OrderOf returns the order of a checkout session. It returns
	// order_not_found (NotFound).
	OrderOf(ctx context.Context, checkoutID string) (*Order, error)
	// OrderByPayment returns the order of a payment. It returns
	// order_not_found (NotFound).
	OrderByPayment(ctx context.Context, paymentRef string) (*Order, error)
	// Orders returns up to limit orders, newest first, that come after the one
	// with the id after.
	Orders(ctx context.Context, f Filter, after string, limit int) ([]*Order, error)
	// SaveOrder stores a changed order with what goes with it. It returns
	// ErrVersion and changes nothing if Order.Version is not the stored one.
	SaveOrder(ctx context.Context, c Change) error
}

// Refunds stores refunds. Each method is one transaction.
type Refunds interface {
	// Refund returns a refund. It returns refund_not_found (NotFound).
	Refund(ctx context.Context, id string) (*Refund, error)
	// Refunds returns the refunds of an order, oldest first.
	Refunds(ctx context.Context, orderID string) ([]Refund, error)
	// SaveRefund stores a changed refund of an order that stays as it is.
	SaveRefund(ctx context.Context, r Refund) error
}

// Events stores events and their deliveries. Each method is one transaction.
type Events interface {
	// Event returns an event. It returns event_not_found (NotFound).
	Event(ctx context.Context, id string) (*Event, error)
	// Deliveries returns the deliveries of an order's events, oldest first.
	Deliveries(ctx context.Context, orderID string) ([]Delivery, error)
	// RecordDelivery stores the state of a delivery.
	RecordDelivery(ctx context.Context, d Delivery) error
}

// ErrVersion says that the order was changed meanwhile.
var ErrVersion = errors.New("the order was changed meanwhile")

// Change is what one transaction writes.
type Change struct {
	Order    *Order // Version is the one that was read
	Refund   *Refund
	Events   []Event
	Schedule []jobs.Job
}

// Filter narrows a list of orders. Empty: all.
type Filter struct{ Statuses []Status }

// Service is what operators do with orders.
type Service struct {
	store     Store
	processor Processor
	sinks     map[string]Sink
	log       *slog.Logger
	step      func(name string)
}

// Sink receives events.
type Sink interface {
	// Deliver sends one event. It may be called again with the same one.
	Deliver(ctx context.Context, e Event, o *Order, buyer func(context.Context) (Buyer, error)) error
}

// Options tunes a Service.
type Options struct {
	// Sinks are where events go, by name.
	Sinks map[string]Sink
	// Step, if set, is called at each point between two durable steps. Tests
	// use it to end the process there.
	Step func(name string)
}

// New returns a service.
func New(store Store, processor Processor, log *slog.Logger, opts Options) *Service {
	if opts.Step == nil {
		opts.Step = func(string) {}
	}
	return &Service{store: store, processor: processor, sinks: opts.Sinks, log: log, step: opts.Step}
}

// Page sizes of List.
const (
	DefaultLimit = 50
	MaxLimit     = 500
)

// List returns orders, newest first; after is the id of the last order of the
// page before.
func (s *Service) List(ctx context.Context, f Filter, after string, limit int) ([]*Order, error) {
	if limit <= 0 || limit > MaxLimit {
		limit = DefaultLimit
	}
	return s.store.Orders(ctx, f, after, limit)
}

// Details is everything that is stored about an order.
type Details struct {
	Order      *Order
	Refunds    []Refund
	Deliveries []Delivery
}

// Show returns an order with its refunds and deliveries. It returns
// order_not_found (NotFound).
func (s *Service) Show(ctx context.Context, id string) (*Details, error) {
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	refunds, err := s.store.Refunds(ctx, id)
	if err != nil {
		return nil, err
	}
	deliveries, err := s.store.Deliveries(ctx, id)
	return &Details{o, refunds, deliveries}, err
}

// OfCheckout returns the order of a session. It returns order_not_found
// (NotFound).
func (s *Service) OfCheckout(ctx context.Context, checkoutID string) (*Order, error) {
	return s.store.OrderOf(ctx, checkoutID)
}

// Accept takes an order out of review. It returns order_not_found (NotFound)
// or order_not_in_review (Conflict).
func (s *Service) Accept(ctx context.Context, id string) (*Order, error) {
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	if o.Status != Review && o.Status != RefundDue {
		return nil, problem.New(problem.Conflict, "order_not_in_review",
			"Only an order in review or due to be refunded can be accepted.")
	}
	o.Status = Confirmed
	return o, s.saveWithEvent(ctx, o, nil, EventAccepted)
}

// Refund refunds an order: minor units of the order's currency, or all that is
// left with 0. It returns once the processor has done it, or with
// processor_unavailable (Unavailable) while that is not known; then a job
// finishes it. Further problems: order_not_found (NotFound),
// nothing_to_refund (Conflict), invalid_amount (Invalid), refund_refused
// (Unprocessable).
func (s *Service) Refund(ctx context.Context, id string, minor int64, reason string) (*Refund, error) {
	refund, err := s.startRefund(ctx, id, minor, reason)
	if err != nil {
		return nil, err
	}
	s.step("refund kept")
	return s.carryOut(ctx, refund)
}

func (s *Service) startRefund(ctx context.Context, id string, minor int64, reason string) (*Refund, error) {
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	refunds, err := s.store.Refunds(ctx, id)
	if err != nil {
		return nil, err
	}
	left := o.Refundable(pending(refunds, o.Paid.PaymentRef))
	switch {
	case left.Minor == 0 || o.Paid.PaymentRef == "":
		return nil, problem.New(problem.Conflict, "nothing_to_refund", "Nothing is left to give back for this order.")
	case minor == 0:
		minor = left.Minor
	case minor < 0 || minor > left.Minor:
		return nil, problem.New(problem.Invalid, "invalid_amount",
			fmt.Sprintf("The amount is more than 0 and at most %s.", left))
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	refund := &Refund{
		ID: typeid.New("rfd"), OrderID: id, PaymentRef: o.Paid.PaymentRef, Amount: money.Amount{
			Minor:    minor,
			Currency: left.Currency,
		},
		State: RefundPending, Reason: reason, CreatedAt: now, UpdatedAt: now,
	}
	// Saving the order moves its version: of two refunds at the same time one
	// has to look again at what is left.
	o.UpdatedAt = now
	change := Change{
		Order: o, Refund: refund,
		Schedule: []jobs.Job{{Kind: JobRefund, Ref: refund.ID, RunAt: now.Add(15 * time.Second)}},
	}
	return refund, s.save(ctx, change)
}

// pending sums what is on its way back from a payment.
func pending(refunds []Refund, paymentRef string) int64 {
	var sum int64
	for _, r := range refunds {
		if r.State == RefundPending && r.PaymentRef == paymentRef {
			sum += r.Amount.Minor
		}
	}
	return sum
}

// carryOut asks the processor for a refund that is on record. It may run any
// number of times.
func (s *Service) carryOut(ctx context.Context, refund *Refund) (*Refund, error) {
	ref, err := s.processor.Refund(ctx, RefundRequest{refund.ID, refund.OrderID, refund.PaymentRef, refund.Amount})
	s.step("refund answered")
	done := *refund
	done.UpdatedAt = time.Now().UTC().Truncate(time.Millisecond)
	var refused *problem.Problem
	switch {
	case err == nil:
		done.State, done.ProcessorRef = RefundDone, ref
	case errors.As(err, &refused) && refused.Code == "refund_refused":
		done.State, done.Failure = RefundFailed, refused.Detail
		return &done, errors.Join(err, s.store.SaveRefund(ctx, done))
	default:
		return refund, err
	}
	return &done, s.settle(ctx, &done)
}

// settle records a refund that was done. It tries again if the order was
// changed meanwhile: the money has moved and must be on record.
func (s *Service) settle(ctx context.Context, done *Refund) error {
	for {
		o, err := s.store.Order(ctx, done.OrderID)
		if err != nil {
			return err
		}
		stored, err := s.store.Refund(ctx, done.ID)
		if err != nil || stored.State == RefundDone {
			return err
		}
		if done.PaymentRef != o.Paid.PaymentRef {
			return s.store.SaveRefund(ctx, *done) // of a second payment: the order stays as it is
		}
		o.Refunded += done.Amount.Minor
		if err := s.refunded(ctx, o, done); !problem.Is(err, "order_changed") {
			return err
		}
	}
}

func (s *Service) refunded(ctx context.Context, o *Order, done *Refund) error {
	if o.Refunded >= o.Paid.Total {
		o.Status = Refunded
	}
	return s.saveWithEvent(ctx, o, done, EventRefunded)
}

func (s *Service) saveWithEvent(ctx context.Context, o *Order, refund *Refund, kind EventType) error {
	o.UpdatedAt = time.Now().UTC().Truncate(time.Millisecond)
	event, err := NewEvent(kind, o, o.UpdatedAt)
	if err != nil {
		return err
	}
	return s.save(ctx,
		Change{Order: o, Refund: refund, Events: []Event{event}, Schedule: Deliveries(event, s.SinkNames())})
}

func (s *Service) save(ctx context.Context, c Change) error {
	err := s.store.SaveOrder(ctx, c)
	if errors.Is(err, ErrVersion) {
		return problem.New(problem.Conflict, "order_changed",
			"The order was changed by somebody else. Read it and try again.")
	}
	return err
}

// SinkNames returns the names of the sinks, for those who create events.
func (s *Service) SinkNames() []string {
	return slices.Sorted(maps.Keys(s.sinks))
}

// Resend delivers the events of an order again. It returns order_not_found
// (NotFound).
func (s *Service) Resend(ctx context.Context, id string) (int, error) {
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return 0, err
	}
	deliveries, err := s.store.Deliveries(ctx, id)
	if err != nil {
		return 0, err
	}
	change := Change{Order: o}
	for _, d := range deliveries {
		change.Schedule = append(change.Schedule,
			jobs.Job{Kind: JobDeliver, Ref: d.EventID + "|" + d.Sink, RunAt: time.Now()})
	}
	return len(deliveries), s.save(ctx, change)
}

// Handlers are the jobs of this package, for a jobs.Worker.
func (s *Service) Handlers() map[string]jobs.Handler {
	return map[string]jobs.Handler{
		JobRefund:  {Run: s.resumeRefund},
		JobPayment: {Run: s.lookAtPayment},
		// A receiver that is unavailable for a day still gets each event.
		JobDeliver: {Run: s.deliver, MaxTries: maxDeliveries, Backoff: []time.Duration{
			5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour,
		}},
	}
}

const maxDeliveries = 8

func (s *Service) resumeRefund(ctx context.Context, job jobs.Job) error {
	refund, err := s.store.Refund(ctx, job.Ref)
	if err != nil || refund.State != RefundPending {
		return err
	}
	if _, err = s.carryOut(ctx, refund); problem.Is(err, "refund_refused") {
		s.log.ErrorContext(ctx, "the processor refused a refund", "order_id", refund.OrderID, "refund_id", refund.ID)
		return nil
	}
	return err
}

// lookAtPayment records a refund that was made at the processor itself.
func (s *Service) lookAtPayment(ctx context.Context, job jobs.Job) error {
	o, err := s.store.OrderByPayment(ctx, job.Ref)
	if problem.Is(err, "order_not_found") {
		return nil // a payment of something else, or a second one on its way back
	}
	if err != nil {
		return err
	}
	refunds, err := s.store.Refunds(ctx, o.ID)
	if err != nil {
		return err
	}
	if pending(refunds, o.Paid.PaymentRef) > 0 {
		return jobs.Later(time.Now().Add(5 * time.Second)) // ours: it is recorded when it ends
	}
	sum, err := s.processor.Refunded(ctx, job.Ref)
	if err != nil || sum <= o.Refunded {
		return err
	}
	o.Refunded = sum
	return s.refunded(ctx, o, nil)
}

// deliver sends one event to one sink.
func (s *Service) deliver(ctx context.Context, job jobs.Job) error {
	eventID, name, _ := strings.Cut(job.Ref, "|")
	sink, configured := s.sinks[name]
	if !configured {
		return nil // the operator has removed it
	}
	event, err := s.store.Event(ctx, eventID)
	if err != nil {
		return err
	}
	o, err := s.store.Order(ctx, event.OrderID)
	if err != nil {
		return err
	}
	d := Delivery{
		EventID: eventID, Sink: name, State: DeliveryDelivered, Attempts: job.Tries + 1,
		DeliveredAt: time.Now(),
	}
	failure := sink.Deliver(ctx, *event, o,
		func(ctx context.Context) (Buyer, error) { return s.processor.Buyer(ctx, o.Paid.PageRef) })
	if failure != nil {
		d.State, d.LastError, d.DeliveredAt = DeliveryPending, failure.Error(), time.Time{}
		if d.Attempts >= maxDeliveries {
			d.State = DeliveryFailed
		}
	}
	s.step("delivered")
	return errors.Join(failure, s.store.RecordDelivery(ctx, d))
}
