package checkout

import (
	"context"
	"errors"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
)

// Update says what to change; zero fields stay as they are.
type Update struct {
	OfferID  string
	Quantity int64
	Buyer    Buyer
}

// Update changes what an open session sells. The terms are quoted again: if the
// offer, its price, the quantity or the buyer differs, the hosted page is
// replaced under the same session and link. It returns what Create does, and
// checkout_not_modifiable (Conflict) for a session that is not open.
func (s *Service) Update(ctx context.Context, id string, u Update) (*Session, error) {
	session, err := s.modifiable(ctx, id)
	if err != nil {
		return nil, err
	}
	if session.Ending != "" {
		return nil, problem.New(problem.Conflict, "checkout_not_modifiable",
			"The session is being canceled. Create a new one.")
	}
	was := session.Quote()
	if u.OfferID == "" {
		u.OfferID = was.Offer.ID
	}
	if u.Quantity == 0 {
		u.Quantity = was.Quantity
	}
	var own int64
	if u.OfferID == was.Offer.ID {
		own = was.Quantity
	}
	quote, err := s.quote(ctx, u.OfferID, u.Quantity, own)
	if err != nil {
		return nil, err
	}
	samePrice := quote.Offer.PriceRef == was.Offer.PriceRef
	if samePrice && quote.Quantity == was.Quantity && u.Buyer == (Buyer{}) {
		return session, nil
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	next := session.clone()
	next.Buyer, next.UpdatedAt, next.Notices = u.Buyer, now, nil
	if quote.Offer.ID == was.Offer.ID && quote.Offer.Price != was.Offer.Price {
		next.Notices = []string{NoticePriceChanged}
	}
	next.Pages = append(next.Pages, s.newPage(len(next.Pages)+1, quote, now))
	change := Change{
		Session: next, Evidence: "update",
		Schedule: []jobs.Job{{Kind: JobOpen, Ref: id, RunAt: now.Add(recoverAfter)}},
	}
	if err := s.saveChecked(ctx, change, s.holdCheck(next)); err != nil {
		return nil, err
	}
	s.opts.Step("updating")
	return s.ended(s.open(ctx, next, "update"))
}

// Cancel ends a session so that it can no longer be paid. Whether it was paid
// already is the processor's word. It returns checkout_not_modifiable
// (Conflict) for a session that has ended or is being paid.
func (s *Service) Cancel(ctx context.Context, id, trace string) (*Session, error) {
	return s.end(ctx, id, EndingAgent, trace)
}

func (s *Service) end(ctx context.Context, id, ending, trace string) (*Session, error) {
	session, err := s.modifiable(ctx, id)
	if err != nil {
		return nil, err
	}
	intent := session.clone()
	intent.Ending, intent.Agent.Trace, intent.UpdatedAt = ending, trace, time.Now().UTC().Truncate(time.Millisecond)
	change := Change{
		Session: intent, Evidence: ending,
		Schedule: []jobs.Job{{Kind: JobWatch, Ref: id, RunAt: time.Now().Add(recoverAfter)}},
	}
	if err := s.saveChecked(ctx, change, nil); err != nil {
		return nil, err
	}
	s.opts.Step("canceling")
	canceled, err := s.finishEnd(ctx, intent)
	if err != nil {
		return nil, err
	}
	if canceled.State == Canceled {
		return canceled, nil
	}
	return s.ended(canceled, nil)
}

// finishEnd closes the pages of a session that is to end.
func (s *Service) finishEnd(ctx context.Context, session *Session) (*Session, error) {
	for {
		if session.Page().State == PageOpening {
			opened, err := s.open(ctx, session, "cancel")
			if err != nil {
				return nil, err
			}
			session = opened
		}
		facts, err := s.closePages(ctx, session, session.Pages)
		if err != nil {
			return nil, err
		}
		s.opts.Step("closed")
		saved, err := s.record(ctx, session, facts, "cancel")
		if !errors.Is(err, ErrVersion) {
			return saved, err
		}
		if session, err = s.store.Session(ctx, session.ID); err != nil {
			return nil, err
		}
	}
}

// modifiable returns a session that is open, as far as we know.
func (s *Service) modifiable(ctx context.Context, id string) (*Session, error) {
	session, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.ended(session, nil)
}

// ended turns a session that is not open into the refusal to change it.
func (s *Service) ended(session *Session, err error) (*Session, error) {
	if err != nil || session.State == Open {
		return session, err
	}
	texts := map[State]string{
		Processing: "The buyer has paid with a method that takes a while; the session cannot be changed meanwhile.",
		Completed:  "The session is paid. Read it for the order; create a new session to buy more.",
		Canceled:   "The session was canceled. Create a new one.",
		Expired:    "The session has expired. Create a new one.",
	}
	return session, problem.New(problem.Conflict, "checkout_not_modifiable", texts[session.State])
}

// saveChecked saves what a caller asked for. A session that changed meanwhile
// is for the caller to read again.
func (s *Service) saveChecked(ctx context.Context, change Change, check func(Holds) error) error {
	err := s.save(ctx, change, check)
	if errors.Is(err, ErrVersion) {
		return problem.New(problem.Conflict, "checkout_changed",
			"The session was changed by another request. Read it and try again.").After(time.Second)
	}
	return err
}
