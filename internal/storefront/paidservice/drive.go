package paidservice

import (
	"context"
	"errors"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
)

// trip is what one call has done for its order so far.
type trip struct {
	deadline time.Time // to stop waiting for the work
	settled  time.Time // to stop waiting for the money; zero until that began
	looks    int
	revived  int
	charged  bool // this call has asked for the money
	resolved int  // times that this call looked for what became of it
}

// drive takes an order as far as it can be taken while the caller waits.
// A caller that finds no other at work does the next step; all others wait.
func (s *Service) drive(ctx context.Context, o *Order, c *claim) (*Outcome, error) {
	t := &trip{deadline: time.Now().Add(c.wait)}
	leave := c.leave
	for {
		news, done := s.changed.Subscribe(o.ID)
		// What was read before the subscription may be old.
		fresh, err := s.reread(ctx, o)
		if err != nil {
			done()
			return nil, err
		}
		o = fresh
		out, wait, err := s.advance(ctx, o, c, t)
		t.looks++
		if out != nil || err != nil && !errors.Is(err, ErrVersion) {
			done()
			return out, err
		}
		if wait > 0 && err == nil {
			select {
			case <-news:
			case <-time.After(wait):
			case <-leave:
				leave, t.deadline = nil, time.Time{}
			case <-ctx.Done():
			}
		}
		done()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

func (s *Service) reread(ctx context.Context, o *Order) (*Order, error) {
	fresh, err := s.store.Order(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, fresh)
}

// advance does one step, or says how long to wait for somebody else's.
func (s *Service) advance(ctx context.Context, o *Order, c *claim, t *trip) (*Outcome, time.Duration, error) {
	at := time.Now()
	switch o.State {
	case Reserved:
		if o.Lease.Owner == c.owner || !o.leased(at) {
			return nil, 0, s.startRun(ctx, o, c.owner, c.verified)
		}
		return s.waitForWork(o, t)
	case Running:
		if !o.leased(at) {
			return nil, 0, s.release(ctx, o, reasonInterrupted, "", "the lease of the run ran out")
		}
		return s.waitForWork(o, t)
	case Released:
		out, err := s.again(ctx, o, c, t)
		return out, 0, err
	case Settled, Delivered, Final:
		out, err := s.deliver(ctx, o)
		return out, 0, err
	default:
		return s.collect(ctx, o, c, t)
	}
}

// waitForWork is what a call does while somebody is at work.
func (s *Service) waitForWork(o *Order, t *trip) (*Outcome, time.Duration, error) {
	left := time.Until(t.deadline)
	if left <= 0 {
		return &Outcome{Status: StatusRunning, Order: o, RetryAfter: 2 * time.Second}, 0, nil
	}
	return nil, min(left, s.opts.Poll), nil
}

// again is what a call does about an order that no process works on. One that
// was there before is revived. One that was released while the call waited for
// it ended as it says.
func (s *Service) again(ctx context.Context, o *Order, c *claim, t *trip) (*Outcome, error) {
	if t.revived > 0 && o.Reason != reasonInterrupted || t.looks > 0 && t.revived == 0 &&
		o.Reason != reasonInterrupted || t.revived > 2 {
		return s.ended(o, c), nil
	}
	t.revived++
	if !o.Auth.lasts(s.needs(o.Sealed())) {
		return s.due(o, c.def, c.transport, x402.ReasonValidBefore, nil), nil
	}
	if err := s.sellable(c.def); err != nil {
		return nil, err
	}
	return nil, s.revive(ctx, o, c.owner, "presented again")
}

// revive reserves a released order again.
func (s *Service) revive(ctx context.Context, o *Order, owner, evidence string) error {
	next := o.clone()
	if err := next.move(Reserved, now()); err != nil {
		return err
	}
	if next.Sealed() && next.SealedAt.Before(time.Now().Add(-unsealed)) {
		next.ResultID, next.ResultSum, next.SealedAt = "", "", time.Time{}
	}
	next.Lease, next.Reason, next.Detail, next.Progress = s.shortLease(owner), "", "", Progress{}
	if err := s.save(ctx, o, Change{Order: next, Evidence: evidence}, s.limits(next)); err != nil {
		return err
	}
	s.opts.Step("reserved")
	return nil
}

// ended turns a released order into the outcome of the call that waited.
func (s *Service) ended(o *Order, c *claim) *Outcome {
	switch o.Reason {
	case FacilitatorAway:
		return s.away(o)
	case reasonFailed, reasonRefused, reasonTimeout, reasonBusy, reasonInterrupted:
		p := failure(o)
		return &Outcome{Status: StatusFailed, Order: o, Problem: p, RetryAfter: p.RetryAfter}
	}
	return s.due(o, c.def, c.transport, x402.Reason(o.Reason), nil)
}

// failure is the problem of an order that was released for a reason of ours.
func failure(o *Order) *problem.Problem {
	if o.Reason == reasonBusy {
		return problem.New(
			problem.Unavailable,
			"services_busy",
			"All places for runs are taken. Nothing was charged: repeat the request in a moment with the same payment.",
		).After(5 * time.Second).Advise(sameAgain)
	}
	detail := o.Detail
	if detail == "" {
		detail = "The service could not do its work. Nothing was charged: repeat the request with the same payment."
	}
	p := problem.New(failures[o.Reason], "service_failed", detail).Advise(sameAgain)
	if p.Kind == problem.Unavailable {
		return p.After(5 * time.Second)
	}
	return p
}

// sameAgain advises to repeat the request with the same payment.
const sameAgain = "retry_with_same_payment"

func (a Authorization) lasts(d time.Duration) bool { return a.ValidBefore >= time.Now().Add(d).Unix() }

// tendLater schedules when to look after an order if no other caller does.
func (s *Service) tendLater(o *Order) []jobs.Job {
	var at time.Time
	switch o.State {
	case Reserved, Running, Settling:
		at = o.Lease.Until.Add(time.Second)
	case Ran:
		at = o.UpdatedAt.Add(gateAfter)
	case Unknown, Reorged:
		at = o.UpdatedAt.Add(time.Second)
	case Settled, Delivered:
		at = o.UpdatedAt.Add(watchEvery)
	default:
		return nil
	}
	return []jobs.Job{{Kind: JobTend, Ref: o.ID, RunAt: at}}
}
