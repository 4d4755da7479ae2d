package checkout

import (
	"context"
	"errors"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
)

// The sweep finds the payments that no webhook reported. It walks through the
// processor's list of pages in parts:
//
//	position ──> one part of the list ──> each page that differs from its session
//	   ^                                     |  gets a job of its own (JobCompare)
//	   └──────────── one transaction ────────┘
//
// The position moves with each part, so that a process that dies repeats one
// part at most. A session that fails holds up nothing but its own job. A walk
// starts where the last complete one started, however long ago that is.

const (
	// overlap is read again by each walk: a page may appear in the list a little
	// after it changed.
	overlap = 10 * time.Minute
	// firstWalk is how far the first walk of a new store goes back. A page lives
	// for a day.
	firstWalk = 25 * time.Hour
	// sweepSlice bounds the time of one call of Sweep; what is left follows in the
	// next one.
	sweepSlice = 20 * time.Second
)

// Sweep compares the processor's list of pages with the sessions and schedules
// a job for each page that differs. Call it every few minutes on one replica.
// more says that the time of one call was not enough: call it again at once.
func (s *Service) Sweep(ctx context.Context) (more bool, err error) {
	started := time.Now()
	position, err := s.store.SweepPosition(ctx)
	if err != nil {
		return false, err
	}
	if position.Since.IsZero() {
		position.Since = started.Add(-firstWalk)
	}
	if position.Until.IsZero() {
		position.Until, position.Cursor = started, ""
	}
	for {
		next, err := s.sweepPart(ctx, position)
		switch {
		case errors.Is(err, ErrCursorLost) && position.Cursor != "":
			position.Cursor = "" // what was compared already differs no more
			continue
		case err != nil:
			return false, err
		case next.Until.IsZero():
			return false, nil
		case time.Since(started) > sweepSlice:
			return true, nil
		}
		position = next
	}
}

// sweepPart compares one part of the list and returns the position after it.
func (s *Service) sweepPart(ctx context.Context, position SweepPosition) (SweepPosition, error) {
	list, err := s.processor.ChangedPages(ctx, position.Since.Add(-overlap), position.Cursor)
	if err != nil {
		return position, err
	}
	if list.Next != "" && list.Next == position.Cursor {
		return position, errors.New("the processor's list of pages does not move on")
	}
	var found []jobs.Job
	for _, f := range list.Pages {
		// A session that cannot be read is left to its job, which tries again.
		if differs, err := s.differs(ctx, f); differs || err != nil {
			found = append(found, jobs.Job{Kind: JobCompare, Ref: f.CheckoutID + "|" + f.Ref, RunAt: time.Now()})
		}
	}
	next := position
	next.Cursor = list.Next
	if list.Next == "" {
		next = SweepPosition{Since: position.Until}
	}
	s.opts.Step("compared")
	if err := s.store.Advance(ctx, next, found); err != nil {
		return position, err
	}
	s.opts.Step("advanced")
	return next, nil
}

// differs reports whether the processor's state of a page does not fit the
// session.
func (s *Service) differs(ctx context.Context, f PageFacts) (bool, error) {
	if !typeid.Valid("chk", f.CheckoutID) {
		return false, nil
	}
	session, err := s.store.Session(ctx, f.CheckoutID)
	if problem.Is(err, "checkout_not_found") {
		// The page belongs to another store on the same account, or to the time
		// after a backup that was restored: the operator has to look.
		if f.Status == StatusComplete {
			s.log.ErrorContext(ctx, "a payment has no session here", "checkout_id", f.CheckoutID, "page", f.Ref)
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch page := session.pageByRef(f.Ref); {
	case page == nil && f.Status == StatusOpen:
		// The job that opens the current page will find it; any other open
		// page is a stray.
		return session.Page().State != PageOpening, nil
	case page == nil:
		return true, nil
	case page.State == PageOpen:
		return f.Status != StatusOpen, nil
	case page.State == PageClosed:
		return f.Status == StatusComplete, nil
	case page.State == PagePending:
		return f.Payment == PaymentPaid || f.Payment == PaymentFailed, nil
	}
	return false, nil
}

// compare settles one page that the sweep found, after a fresh look at it.
func (s *Service) compare(ctx context.Context, job jobs.Job) error {
	id, ref, _ := strings.Cut(job.Ref, "|")
	f, err := s.processor.ReadPage(ctx, ref)
	if err != nil || f.CheckoutID != id {
		return err
	}
	if differs, err := s.differs(ctx, f); err != nil || !differs {
		return err
	}
	if f.Status == StatusOpen {
		// A stray page of a lost response: no caller has its URL.
		_, err = s.processor.ClosePage(ctx, ref)
		return err
	}
	_, err = s.reconcile(ctx, id, "sweep", ref)
	return retryCollision(err)
}
