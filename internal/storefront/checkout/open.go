package checkout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/offer"
)

// Request asks for a new session.
type Request struct {
	ID        string // from an idempotent attempt; empty: a fresh one
	Protocol  Protocol
	OfferID   string
	Quantity  int64 // 0: 1
	Buyer     Buyer
	ReturnURL string
	Agent     Agent
}

// recoverAfter is when a job takes over what a request left half done.
const recoverAfter = 15 * time.Second

// Create starts a session for one offer and opens its page. It charges
// nothing. It returns offer_not_found (NotFound), sold_out or hold_limit
// (Conflict), invalid_quantity (Invalid), processor_refused (Unprocessable) or
// processor_unavailable (Unavailable). With the ID of an earlier request that
// got no response it continues where that stopped.
func (s *Service) Create(ctx context.Context, req Request) (*Session, error) {
	if req.ID == "" {
		req.ID = typeid.New("chk")
	}
	session, err := s.resume(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	if session == nil {
		if session, err = s.insert(ctx, req); err != nil {
			return nil, err
		}
	}
	if session.State != Creating {
		return session, nil
	}
	s.opts.Step("inserted")
	return s.open(ctx, session, "create")
}

func (s *Service) resume(ctx context.Context, id string) (*Session, error) {
	session, err := s.store.Session(ctx, id)
	if problem.Is(err, "checkout_not_found") {
		return nil, nil //nolint:nilnil // a fresh id is the usual case
	}
	return session, err
}

func (s *Service) insert(ctx context.Context, req Request) (*Session, error) {
	quote, err := s.quote(ctx, req.OfferID, req.Quantity, 0)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	session := &Session{
		ID: req.ID, Token: typeid.New("c"), State: Creating, Protocol: req.Protocol, Buyer: req.Buyer,
		ReturnURL: req.ReturnURL, Agent: req.Agent,
		Pages: []Page{s.newPage(1, quote, now)}, CreatedAt: now, UpdatedAt: now,
	}
	change := Change{
		Session: session, Evidence: "create",
		Schedule: []jobs.Job{{Kind: JobOpen, Ref: session.ID, RunAt: now.Add(recoverAfter)}},
	}
	err = s.store.Insert(ctx, change, s.holdCheck(session))
	if errors.Is(err, ErrExists) {
		return s.store.Session(ctx, req.ID)
	}
	if err != nil {
		return nil, err
	}
	session.Version = 1
	return session, nil
}

func (s *Service) newPage(n int, quote offer.Quote, now time.Time) Page {
	life := s.opts.Lifetime
	if quote.Offer.Stock.Counted {
		life = s.opts.HoldLifetime
	}
	return Page{N: n, State: PageOpening, Quote: quote, CreatedAt: now, ExpiresAt: now.Add(life).Truncate(time.Second)}
}

// quote freezes the terms of an offer. own is how many units of it the session
// holds already.
func (s *Service) quote(ctx context.Context, offerID string, quantity, own int64) (offer.Quote, error) {
	if quantity == 0 {
		quantity = 1
	}
	if offerID == "" {
		return offer.Quote{}, problem.New(problem.Invalid, "offer_required",
			"Name the offer to buy: its id is in /agent/commerce/products.")
	}
	snapshot, err := s.catalog.Snapshot(ctx)
	if err != nil {
		return offer.Quote{}, err
	}
	o, err := snapshot.Find(offerID)
	if err != nil {
		return offer.Quote{}, err
	}
	if snapshot.Stale {
		return offer.Quote{}, problem.New(problem.Unavailable, "processor_unavailable",
			"Prices cannot be verified right now, so no checkout is opened. Try again in a few seconds.").After(5 *
			time.Second)
	}
	state := o.Availability(snapshot.Taken[o.ID]-own, snapshot.At)
	if !state.Available() {
		return offer.Quote{}, errSoldOut(o)
	}
	if _, fits := o.Price.Times(quantity); quantity < 1 || quantity > state.MaxPerOrder || !fits {
		return offer.Quote{}, problem.New(problem.Invalid, "invalid_quantity",
			fmt.Sprintf("The quantity of %s is a whole number from 1 to %d.", o.Name, state.MaxPerOrder))
	}
	return offer.Quote{Offer: *o, Quantity: quantity, At: snapshot.VerifiedAt}, nil
}

// holdCheck prevents that a counted offer is oversold, or hoarded
// by callers that need no key. It is nil for other offers.
func (s *Service) holdCheck(session *Session) func(Holds) error {
	quote := session.Quote()
	stock := quote.Offer.Stock
	if !stock.Counted {
		return nil
	}
	return func(h Holds) error {
		switch {
		case h.Taken+quote.Quantity > stock.Units:
			return errSoldOut(&quote.Offer)
		case h.ByClient >= s.opts.MaxUnpaid:
			return problem.New(problem.Conflict, "hold_limit", fmt.Sprintf(
				"You hold %d unpaid sessions for this offer. Cancel one, or send the buyer to it.", h.ByClient))
		case !session.Agent.Signed && (h.Unpaid+quote.Quantity)*100 > max(stock.Units*s.opts.MaxUnsignedShare, 100):
			return problem.New(problem.Conflict, "hold_limit",
				"Too many unpaid sessions hold this offer at the moment. Try again in half an hour.").After(30 *
				time.Minute)
		}
		return nil
	}
}

// open opens the current page of a session and closes the earlier ones. It may
// run any number of times, in any process.
func (s *Service) open(ctx context.Context, session *Session, evidence string) (*Session, error) {
	return s.tryOpen(ctx, session, evidence, 1)
}

func (s *Service) tryOpen(ctx context.Context, session *Session, evidence string, try int) (*Session, error) {
	facts, err := s.closePages(ctx, session, session.Pages[:len(session.Pages)-1])
	if err != nil {
		return nil, err
	}
	if len(facts) > 0 && facts[len(facts)-1].Status == StatusComplete {
		// The payment of the earlier page was faster than its replacement.
		return s.revert(ctx, session, facts)
	}
	s.opts.Step("closed")
	page := session.Page()
	f, err := s.processor.OpenPage(ctx, PageRequest{
		Key: fmt.Sprintf("%s:create:%d", session.ID, page.N), CheckoutID: session.ID, N: page.N, Quote: page.Quote,
		Email:      session.Buyer.Email,
		SuccessURL: s.OrderURL(session) + "?session_id={CHECKOUT_SESSION_ID}",
		CancelURL:  s.opts.BaseURL + "/checkout/" + session.Token + "/back",
		ExpiresAt:  page.ExpiresAt, Since: page.CreatedAt, Protocol: session.Protocol,
	})
	s.opts.Step("opened")
	switch {
	case errors.Is(err, ErrPageLost):
		return s.reopen(ctx, session, facts, evidence, try)
	case problem.Is(err, "processor_refused"):
		return nil, errors.Join(err, s.refused(ctx, session, facts))
	case err != nil:
		return nil, fmt.Errorf("opening page %d of session %s: %w", page.N, session.ID, err)
	}
	opened := session.clone()
	opened.Buyer = Buyer{} // the page has it now
	saved, err := s.record(ctx, opened, append(facts, f), evidence)
	if errors.Is(err, ErrVersion) {
		// A webhook was faster. It has recorded the page or will.
		return s.reconcile(ctx, session.ID, evidence, f.Ref)
	}
	return saved, err
}

// refused deletes a session that no caller has seen, or ends one whose update the
// processor refuses: its earlier page is closed by then.
func (s *Service) refused(ctx context.Context, session *Session, facts []PageFacts) error {
	if session.State == Creating {
		return s.store.Discard(ctx, session.ID)
	}
	next := session.clone()
	next.Page().State = PageClosed
	_, err := s.record(ctx, next, facts, "update refused")
	return err
}

// A burnt key is replaced at once maxTries times in all; then the processor is
// not called for a while. After maxPages the session is given up.
const (
	maxTries = 3
	maxPages = 20
)

// reopen gives up the key of the current page and tries a fresh one.
func (s *Service) reopen(ctx context.Context, session *Session, facts []PageFacts, evidence string,
	try int,
) (*Session, error) {
	page := session.Page()
	unavailable := problem.New(problem.Unavailable, "processor_unavailable",
		"The payment processor fails to open a page right now. Nothing was charged; try again in a few seconds.").After(
		5 * time.Second)
	if page.N >= maxPages {
		return nil, errors.Join(unavailable, s.refused(ctx, session, facts))
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	next := session.clone()
	next.Page().State = PageClosed
	next.Pages = append(next.Pages, s.newPage(page.N+1, page.Quote, now))
	if err := s.save(ctx, Change{Session: next, Evidence: evidence + ": page lost"}, nil); err != nil {
		return nil, err
	}
	if try == maxTries {
		return nil, unavailable
	}
	return s.tryOpen(ctx, next, evidence, try+1)
}

// closePages makes sure that none of pages can be paid any more. It stops at
// the first that turns out to be paid, which is then the last of the result.
func (s *Service) closePages(ctx context.Context, session *Session, pages []Page) ([]PageFacts, error) {
	var facts []PageFacts
	for _, page := range pages {
		if page.State != PageOpen && page.State != PagePending {
			continue
		}
		f, err := s.processor.ClosePage(ctx, page.Ref)
		if err != nil {
			return nil, fmt.Errorf("closing page %d of session %s: %w", page.N, session.ID, err)
		}
		facts = append(facts, f)
		if f.Status == StatusComplete {
			break
		}
	}
	return facts, nil
}

// revert drops the page that was to replace one that is paid now.
func (s *Service) revert(ctx context.Context, session *Session, facts []PageFacts) (*Session, error) {
	reverted := session.clone()
	reverted.Page().State = PageClosed
	return s.record(ctx, reverted, facts, "paid before the update")
}

func errSoldOut(o *offer.Offer) error {
	return problem.New(problem.Conflict, "sold_out", o.Name+" is sold out.")
}
