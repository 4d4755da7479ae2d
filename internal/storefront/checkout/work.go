package checkout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/order"
)

// Handlers are the jobs of this package, for a jobs.Worker.
func (s *Service) Handlers() map[string]jobs.Handler {
	// An unavailable processor comes back; nothing about money is given up.
	backoff := []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute,
		5 * time.Minute,
	}
	// What the sweep finds may fail for reasons that only the operator can remove.
	seldom := append(slices.Clone(backoff), 30*time.Minute, 2*time.Hour)
	return map[string]jobs.Handler{
		JobOpen:    {Run: s.finishOpening, Backoff: backoff},
		JobWatch:   {Run: s.checkAgain, Backoff: backoff},
		JobEvent:   {Run: s.handleMessage, Backoff: backoff},
		JobCompare: {Run: s.compare, Backoff: seldom},
	}
}

// finishOpening continues a session whose request was interrupted.
func (s *Service) finishOpening(ctx context.Context, job jobs.Job) error {
	session, err := s.store.Session(ctx, job.Ref)
	if problem.Is(err, "checkout_not_found") {
		return nil
	}
	if err != nil || session.Page().State != PageOpening {
		return err
	}
	_, err = s.open(ctx, session, "recovery")
	if problem.Is(err, "processor_refused") {
		return nil // open has put that on record
	}
	return retryCollision(err)
}

// checkAgain asks the processor about a session that should have moved by now.
func (s *Service) checkAgain(ctx context.Context, job jobs.Job) error {
	session, err := s.store.Session(ctx, job.Ref)
	if problem.Is(err, "checkout_not_found") {
		return nil
	}
	if err != nil {
		return err
	}
	if session.Ending != "" && session.State == Open {
		session, err = s.finishEnd(ctx, session)
	} else {
		session, err = s.reconcile(ctx, job.Ref, "watch")
	}
	switch {
	case err != nil:
		return retryCollision(err)
	case session.State == Processing:
		return jobs.Later(time.Now().Add(5 * time.Minute))
	case session.State == Open:
		return jobs.Later(maxTime(session.ExpiresAt(), time.Now()).Add(30 * time.Second))
	}
	return nil
}

// handleMessage acts on a message of the processor. What it says is only a hint: the
// page is read again.
func (s *Service) handleMessage(ctx context.Context, job jobs.Job) error {
	id, ref, _ := strings.Cut(job.Ref, "|")
	_, err := s.reconcile(ctx, id, "event", ref)
	if problem.Is(err, "checkout_not_found") {
		s.log.WarnContext(ctx, "message about an unknown session", "checkout_id", id, "page", ref)
		return nil
	}
	return retryCollision(err)
}

// Receive stores a message of the processor. What follows from it is scheduled
// when Receive returns, and done later. A message that is not about this store,
// or that was received before, changes nothing.
func (s *Service) Receive(ctx context.Context, e Event) error {
	if e.Catalog {
		s.catalog.Invalidate()
	}
	now := time.Now()
	switch {
	case typeid.Valid("chk", e.CheckoutID) && e.PageRef != "":
		return s.store.Receive(ctx, e.ID, e.Type,
			jobs.Job{Kind: JobEvent, Ref: e.CheckoutID + "|" + e.PageRef, RunAt: now})
	case e.PaymentRef != "":
		return s.store.Receive(ctx, e.ID, e.Type, jobs.Job{Kind: order.JobPayment, Ref: e.PaymentRef, RunAt: now})
	}
	return nil
}

// retryCollision runs the job again at once if another writer changed the
// session meanwhile.
func retryCollision(err error) error {
	if errors.Is(err, ErrVersion) {
		return jobs.Later(time.Now())
	}
	return err
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
