package paidservice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/x402"
)

// Reasons of a released order that are not the payer's.
const (
	reasonInterrupted = "interrupted"     // the process ended, or lost touch
	reasonFailed      = "service_failed"  // the work broke
	reasonRefused     = "service_refused" // the work cannot be done for these arguments
	reasonTimeout     = "service_timeout"
	reasonBusy        = "services_busy"
)

var failures = map[string]problem.Kind{
	reasonInterrupted: problem.Unavailable, reasonFailed: problem.Internal, reasonRefused: problem.Unprocessable,
	reasonTimeout: problem.Timeout, reasonBusy: problem.Unavailable,
}

// Limits of a work.
const (
	maxReport = 8 << 20
	maxFiles  = 256
	maxBytes  = 32 << 20 // of all files
)

// sealedPayment is what the vault keeps of a payment.
type sealedPayment struct {
	Payment *x402.PaymentPayload
	Terms   x402.PaymentRequirements
}

func payloadPlace(orderID string) seal.Place {
	return seal.Place{Table: "paid_order", Column: "payload", Row: orderID}
}

func (s *Service) sealPayment(orderID string, p *x402.PaymentPayload, terms x402.PaymentRequirements) (string, error) {
	text, err := json.Marshal(sealedPayment{Payment: p, Terms: terms})
	if err != nil {
		return "", fmt.Errorf("encoding a payment: %w", err)
	}
	return s.vault.Seal(text, payloadPlace(orderID))
}

var errNoPayment = errors.New("the payment is no longer kept")

func (s *Service) openPayment(o *Order) (*sealedPayment, error) {
	if o.Payload == "" {
		return nil, fmt.Errorf("opening the payment of order %s: %w", o.ID, errNoPayment)
	}
	text, err := s.vault.Open(o.Payload, payloadPlace(o.ID))
	if err != nil {
		return nil, fmt.Errorf("opening the payment of order %s: %w", o.ID, err)
	}
	var p sealedPayment
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("reading the payment of order %s: %w", o.ID, errNoPayment)
	}
	return &p, nil
}

// startRun verifies the payment of a reserved order and starts the run, or continues
// to the money where the work is sealed already.
func (s *Service) startRun(ctx context.Context, o *Order, owner string, verified bool) error {
	ctx = context.WithoutCancel(ctx) // a caller who leaves must not leave a reservation behind
	if o.Lease.Owner != owner {
		next := o.clone()
		next.Lease = s.shortLease(owner)
		if err := s.save(ctx, o, Change{Order: next, Evidence: "taken over"}, nil); err != nil {
			return err
		}
		o = next
	}
	payment, err := s.openPayment(o)
	if err != nil {
		return err
	}
	if !verified {
		reason, err := s.stillPayable(ctx, o, payment)
		if err != nil {
			s.log.WarnContext(ctx, "verifying a payment", "order_id", o.ID, "error", err)
			return s.release(ctx, o, FacilitatorAway, "", "the facilitator did not answer")
		}
		if reason != "" {
			return s.release(ctx, o, string(reason), "", "verify: refused")
		}
	}
	s.opts.Step("verified")
	if o.Sealed() {
		return s.charge(ctx, o, "verified, sealed before")
	}
	return s.start(ctx, o)
}

// stillPayable asks the facilitator whether a payment can be settled. It
// returns the reason why not.
func (s *Service) stillPayable(ctx context.Context, o *Order, p *sealedPayment) (x402.Reason, error) {
	v, err := s.verify(ctx, p.Payment, p.Terms)
	if err != nil || v.IsValid {
		return "", err
	}
	if s.prover != nil && v.Class() == x402.Ambiguous {
		// Somebody else may have submitted the payment since: then the money is
		// here, and only the chain says so.
		if proof, err := s.find(ctx, o); err == nil && proof.Verdict == ProofPaid {
			return "", nil
		}
	}
	if v.InvalidReason == "" {
		return x402.ReasonUnexpectedVerify, nil
	}
	return v.InvalidReason, nil
}

func (s *Service) verify(ctx context.Context, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.VerifyResponse, error) {
	if s.facilitator == nil {
		return x402.VerifyResponse{}, ErrNotSent
	}
	bound, cancel := context.WithTimeout(ctx, s.opts.VerifyTimeout)
	defer cancel()
	v, err := s.facilitator.Verify(bound, p, terms)
	if err == nil && v.IsValid && v.Payer != "" && !sameAddress(v.Payer, p.Authorization.From) {
		return x402.VerifyResponse{InvalidReason: x402.ReasonFacilitatorAnswer}, nil
	}
	return v, err
}

// start puts the run on record and sets it going.
func (s *Service) start(ctx context.Context, o *Order) error {
	select {
	case s.slots <- struct{}{}:
	case <-time.After(min(5*time.Second, s.opts.RunWait)):
		return s.release(ctx, o, reasonBusy, "", "no place free")
	case <-s.base.Done():
		return s.release(ctx, o, reasonInterrupted, "", "the process stops")
	}
	next := o.clone()
	err := next.move(Running, now())
	next.RunAttempts++
	next.Lease = Lease{Owner: newOwner(), Until: next.UpdatedAt.Add(s.opts.RunLease)}
	next.Progress = Progress{Phase: "starting"}
	if err == nil {
		err = s.save(ctx, o, Change{Order: next, Evidence: "verified"}, nil)
	}
	if err != nil {
		<-s.slots
		return err
	}
	s.opts.Step("running")
	s.running.Go(func() {
		defer func() { <-s.slots }()
		s.run(context.WithoutCancel(ctx), next)
	})
	return nil
}

// run does the work of an order and seals it.
func (s *Service) run(ctx context.Context, o *Order) {
	// The run ends with its limit, with the process, and when the lease is lost.
	work, cancel := context.WithTimeout(s.base, s.opts.RunLimit)
	defer cancel()
	beat := &beat{service: s, order: o, lost: cancel}
	stop := beat.start(ctx)
	result, err := s.work(work, o, beat.note)
	stop()
	s.opts.Step("ran")
	if err == nil {
		err = s.sealWork(ctx, o, result)
	} else {
		err = s.fail(ctx, o, errors.Is(work.Err(), context.DeadlineExceeded), err)
	}
	if err != nil && !errors.Is(err, ErrVersion) { // another process has taken over
		s.log.ErrorContext(ctx, "recording the end of a run", "order_id", o.ID, "service", o.Service, "error", err)
	}
	s.opts.Step("sealed")
}

// work calls the runner and catches what it throws.
func (s *Service) work(ctx context.Context, o *Order, progress func(Progress)) (w *Work, err error) {
	d, err := s.book.find(o.Service)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	if w, err = d.Runner.Run(ctx, o.Arguments, progress); err != nil {
		return nil, err
	}
	return w, checkWork(w)
}

// checkWork refuses work that could not be returned.
func checkWork(w *Work) error {
	switch {
	case w == nil || !json.Valid(w.Report):
		return errors.New("the report is no JSON")
	case len(w.Report) > maxReport || len(w.Files) > maxFiles:
		return fmt.Errorf("the report has %d bytes with %d files", len(w.Report), len(w.Files))
	}
	sum, names := 0, map[string]bool{}
	for _, f := range w.Files {
		sum += len(f.Data)
		if f.Name == "" || names[f.Name] {
			return fmt.Errorf("the name of the file %q is not unique", f.Name)
		}
		names[f.Name] = true
	}
	if sum > maxBytes {
		return fmt.Errorf("the files have %d bytes", sum)
	}
	return nil
}

// sealWork stores the work, which is not returned yet.
func (s *Service) sealWork(ctx context.Context, o *Order, w *Work) error {
	next := o.clone()
	if err := next.move(Ran, now()); err != nil {
		return err
	}
	next.ResultID, next.ResultSum, next.SealedAt, next.Lease = typeid.New("res"), workSum(w), next.UpdatedAt, Lease{}
	next.Progress.Phase = "done"
	return s.save(ctx, o, Change{Order: next, Evidence: "the work is sealed", Work: w}, nil)
}

// workSum is the SHA-256 of everything in a work, in hex.
func workSum(w *Work) string {
	h := sha256.New()
	part := func(b []byte) {
		_, _ = fmt.Fprintf(h, "%d:", len(b))
		_, _ = h.Write(b)
	}
	part(w.Report)
	for _, f := range w.Files {
		part([]byte(f.Name))
		part([]byte(f.MediaType))
		part(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fail releases an order whose work broke. Nothing is charged.
func (s *Service) fail(ctx context.Context, o *Order, late bool, cause error) error {
	p, known := problem.From(cause)
	switch {
	case s.stopping():
		return s.release(ctx, o, reasonInterrupted, "", "the process stops")
	case late:
		return s.release(ctx, o, reasonTimeout,
			"The work took too long and was ended. Nothing was charged: repeat the request with the same payment.",
			"timeout")
	case known:
		return s.release(ctx, o, reasonRefused, p.Detail+" Nothing was charged.", p.Code)
	}
	s.log.ErrorContext(ctx, "running a service", "order_id", o.ID, "service", o.Service, "error", cause)
	return s.release(ctx, o, reasonFailed, "", "the work failed")
}

// release ends the work at an order. Nothing is charged; sealed work stays.
func (s *Service) release(ctx context.Context, o *Order, reason, detail, evidence string) error {
	next := o.clone()
	if err := next.move(Released, now()); err != nil {
		return err
	}
	next.Reason, next.Detail, next.Lease = reason, detail, Lease{}
	change := Change{Order: next, Evidence: evidence}
	if reason == reasonInterrupted && o.State == Running {
		change.Schedule = s.resumeSoon(o.ID)
	}
	if err := s.save(ctx, o, change, nil); err != nil {
		return err
	}
	s.opts.Step("released")
	return nil
}

// beat extends the lease of a run and keeps its progress.
type beat struct {
	service *Service
	order   *Order
	lost    func()

	mu       sync.Mutex
	progress Progress
}

func (b *beat) note(p Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress = p
}

// start beats until stop is called, which waits for the last beat.
func (b *beat) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		every := min(b.service.opts.RunLease/4, time.Second) // progress is worth seeing
		last, said := time.Now(), Progress{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(every):
			}
			b.mu.Lock()
			p := b.progress
			b.mu.Unlock()
			if p == said && time.Since(last) < b.service.opts.RunLease/3 {
				continue
			}
			last, said = time.Now(), p
			if !b.once(ctx, p) {
				return
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// once beats, and ends the run if the lease is another's.
func (b *beat) once(ctx context.Context, p Progress) bool {
	if p.Phase == "" {
		p.Phase = "running"
	}
	lease := Lease{Owner: b.order.Lease.Owner, Until: now().Add(b.service.opts.RunLease)}
	held, err := b.service.store.Beat(ctx, b.order.ID, lease, p)
	if err != nil {
		return true // the lease outlives a few failures
	}
	if !held {
		b.lost()
	}
	return held
}
