package paidservice

import (
	"context"
	"errors"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
)

const (
	// gateAfter is how long sealed work waits for a caller before the order is
	// released. The work stays sealed.
	gateAfter = time.Minute
	// watchEvery is how often a payment is looked at until it is final.
	watchEvery = 10 * time.Second
	// maxResumes bounds how often a run that was cut off is taken up unasked.
	maxResumes = 3
	// longestPause bounds the pauses between two looks for a payment.
	longestPause = time.Minute
)

// Handlers are the jobs of this package, for a jobs.Worker.
func (s *Service) Handlers() map[string]jobs.Handler {
	return map[string]jobs.Handler{JobTend: {
		Run: s.tend,
		Backoff: []time.Duration{
			time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute,
			5 * time.Minute,
		},
	}}
}

// resumeSoon takes up a run that was cut off.
func (s *Service) resumeSoon(id string) []jobs.Job {
	return []jobs.Job{{Kind: JobTend, Ref: id, RunAt: time.Now().Add(time.Second)}}
}

// tend continues an order that no caller waits for.
func (s *Service) tend(ctx context.Context, job jobs.Job) error {
	o, err := s.store.Order(ctx, job.Ref)
	if problem.Is(err, codeOrderNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.leased(time.Now()) {
		return jobs.Later(o.Lease.Until.Add(time.Second))
	}
	next, err := s.tendOne(ctx, o)
	switch {
	case errors.Is(err, ErrVersion): // somebody else is at it
		return jobs.Later(time.Now().Add(time.Second))
	case err != nil:
		return err
	case !next.IsZero():
		return jobs.Later(next)
	}
	return nil
}

// tendOne does the next step and returns when to look again; zero: never.
func (s *Service) tendOne(ctx context.Context, o *Order) (time.Time, error) {
	soon := time.Now()
	switch o.State {
	case Reserved:
		return time.Time{}, s.release(ctx, o, reasonInterrupted, "", "nobody went on")
	case Running:
		return soon, s.release(ctx, o, reasonInterrupted, "", "the lease of the run ran out")
	case Released:
		return time.Time{}, s.resume(ctx, o)
	case Ran:
		if wait := o.UpdatedAt.Add(gateAfter); wait.After(soon) {
			return wait, nil
		}
		return time.Time{}, s.release(ctx, o, "not_collected", "", "nobody waited for the work")
	case Settling:
		return soon, s.doubt(ctx, o)
	case Unknown, Reorged:
		return s.chase(ctx, o)
	case Settled, Delivered:
		return s.watch(ctx, o)
	case Unpaid, Final, Loss: // only a caller leads on
	}
	return time.Time{}, nil
}

// resume takes up a run that was cut off, for the caller who will come back.
func (s *Service) resume(ctx context.Context, o *Order) error {
	again := o.Reason == reasonInterrupted && o.RunAttempts > 0 && o.RunAttempts < maxResumes && !o.Sealed() &&
		o.SupersededBy == ""
	if s.stopping() || !again || !o.Auth.lasts(s.needs(false)) {
		return nil
	}
	owner := newOwner()
	err := s.revive(ctx, o, owner, "taken up after an interruption")
	if problem.Is(err, "payer_busy") || problem.Is(err, "unsettled_work") {
		return nil // the order waits for its caller
	}
	if err != nil {
		return err
	}
	fresh, err := s.store.Order(ctx, o.ID)
	if err != nil {
		return err
	}
	return s.startRun(ctx, fresh, owner, false)
}

// chase looks for a payment with growing pauses.
func (s *Service) chase(ctx context.Context, o *Order) (time.Time, error) {
	if o.Attention == alarmUnknown {
		return time.Time{}, nil // parked: a person decides
	}
	if err := s.resolve(ctx, o); err != nil {
		return time.Time{}, err
	}
	since := o.DoubtAt
	if since.IsZero() {
		since = o.UpdatedAt
	}
	return time.Now().Add(min(longestPause, max(time.Second, time.Since(since)))), nil
}

// watch looks whether a payment has become final or was dropped by the chain.
func (s *Service) watch(ctx context.Context, o *Order) (time.Time, error) {
	final := s.prover == nil // no further evidence will come
	if !final {
		proof, err := s.find(ctx, o)
		if err != nil {
			return time.Now().Add(longestPause), nil //nolint:nilerr // the chain is asked again
		}
		if proof.Verdict != ProofPaid {
			return time.Now().Add(time.Second), s.reorged(ctx, o)
		}
		final = proof.Final
	}
	if !final {
		return time.Now().Add(watchEvery), nil
	}
	if o.State == Settled && o.Payload == "" {
		return time.Time{}, nil // final already; it waits for its caller
	}
	next := o.clone()
	next.Payload, next.FinalAt = "", now()
	if o.State == Delivered {
		if err := next.move(Final, next.FinalAt); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, s.save(ctx, o, Change{Order: next, Evidence: "final"}, nil)
}

// reorged records that the chain has dropped a payment. The same payment is
// presented again while that is possible.
func (s *Service) reorged(ctx context.Context, o *Order) error {
	next := o.clone()
	if err := next.move(Reorged, now()); err != nil {
		return err
	}
	s.log.WarnContext(ctx, "the chain has dropped a payment", "order_id", o.ID, "network", o.Auth.Network, "tx", o.Tx)
	return s.save(ctx, o, Change{Order: next, Evidence: "chain: no longer there"}, nil)
}
