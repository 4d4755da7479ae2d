package checkout

import (
	"context"
	"errors"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/order"
)

// Handlers are the jobs of this package, for a jobs.Worker.
func (s *Service) Handlers() map[string]jobs.Handler {
	// A processor that is away comes back; nothing about money is given up.
	backoff := []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute}
	return map[string]jobs.Handler{
		JobOpen:  {Run: s.finishOpening, Backoff: backoff},
		JobWatch: {Run: s.look, Backoff: backoff},
		JobEvent: {Run: s.hear, Backoff: backoff},
	}
}

// finishOpening goes on with a session whose request died.
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
	return again(err)
}

// look asks the processor about a session that should have moved by now.
func (s *Service) look(ctx context.Context, job jobs.Job) error {
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
		return again(err)
	case session.State == Processing:
		return jobs.Later(time.Now().Add(5 * time.Minute))
	case session.State == Open:
		return jobs.Later(maxTime(session.ExpiresAt(), time.Now()).Add(30 * time.Second))
	}
	return nil
}

// hear acts on a message of the processor. What it says is only a hint: the
// page is read again.
func (s *Service) hear(ctx context.Context, job jobs.Job) error {
	id, ref, _ := strings.Cut(job.Ref, "|")
	_, err := s.reconcile(ctx, id, "event", ref)
	if problem.Is(err, "checkout_not_found") {
		s.log.WarnContext(ctx, "the processor named a session that is not ours", "checkout_id", id, "page", ref)
		return nil
	}
	return again(err)
}

// Receive takes a message of the processor to heart: what follows from it is on
// record when Receive returns, and done later. A message that is not about
// this store, or was here before, changes nothing.
func (s *Service) Receive(ctx context.Context, e Event) error {
	if e.Catalog {
		s.catalog.Invalidate()
	}
	now := time.Now()
	switch {
	case typeid.Valid("chk", e.CheckoutID) && e.PageRef != "":
		s.recent.forget(e.CheckoutID)
		return s.store.Receive(ctx, e.ID, e.Type, jobs.Job{Kind: JobEvent, Ref: e.CheckoutID + "|" + e.PageRef, RunAt: now})
	case e.PaymentRef != "":
		return s.store.Receive(ctx, e.ID, e.Type, jobs.Job{Kind: order.JobPayment, Ref: e.PaymentRef, RunAt: now})
	}
	return nil
}

const (
	watermark = "checkout_pages"
	// overlap is read again at each sweep: a page may show up in the list a
	// little after it was made.
	overlap = 10 * time.Minute
	// horizon is how far the first sweep goes back. A page lives a day.
	horizon = 25 * time.Hour
)

// Sweep compares the processor's list of pages with ours, and settles what no
// webhook told. Call it every few minutes on one replica.
func (s *Service) Sweep(ctx context.Context) error {
	since, err := s.store.Watermark(ctx, watermark)
	if err != nil {
		return err
	}
	started := time.Now()
	if since.IsZero() || since.Before(started.Add(-horizon)) {
		since = started.Add(-horizon)
	}
	var failed []error
	err = s.processor.ChangedSince(ctx, since.Add(-overlap), func(f PageFacts) error {
		if err := s.compare(ctx, f); err != nil {
			failed = append(failed, err)
		}
		return ctx.Err()
	})
	if err := errors.Join(append(failed, err)...); err != nil {
		return err // the watermark stays, and the next sweep reads them again
	}
	return s.store.SetWatermark(ctx, watermark, started)
}

func (s *Service) compare(ctx context.Context, f PageFacts) error {
	if !typeid.Valid("chk", f.CheckoutID) {
		return nil
	}
	session, err := s.store.Session(ctx, f.CheckoutID)
	if problem.Is(err, "checkout_not_found") {
		// Of another store on the same account, or from before an older backup
		// was restored: a person has to look.
		if f.Status == StatusComplete {
			s.log.ErrorContext(ctx, "a payment has no session here", "checkout_id", f.CheckoutID, "page", f.Ref)
		}
		return nil
	}
	if err != nil {
		return err
	}
	page := session.pageByRef(f.Ref)
	switch {
	case page == nil && f.Status == StatusOpen && session.Page().State == PageOpening:
		return nil // the job that opens it will learn of it
	case page == nil && f.Status == StatusOpen:
		// A stray of a lost answer: its address was never given out.
		_, err = s.processor.ClosePage(ctx, f.Ref)
		return err
	case page == nil, page.State == PageOpen && f.Status != StatusOpen, page.State == PageClosed && f.Status == StatusComplete:
		_, err = s.reconcile(ctx, session.ID, "sweep", f.Ref)
		return again(err)
	}
	return nil
}

// again lets a collision with another writer pass: it has looked as well, and
// the job is run once more at once.
func again(err error) error {
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
