package checkout

import (
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/money"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// settle derives what has to change in a session from what the processor says
// about its pages. It is the one place that turns evidence into money states.
// It returns nil if nothing has to change. soldOut says that no unit is left
// for a session that had ended already.
func settle(s *Session, facts []PageFacts, soldOut bool, now time.Time) (*Change, error) {
	c := &Change{Session: s.clone()}
	news := false
	for _, f := range facts {
		news = c.Session.applyFacts(f, now) || news
	}
	for _, f := range facts {
		if f.Status == StatusComplete && f.Payment == PaymentPaid {
			if err := c.pay(s.State, f, soldOut, now); err != nil {
				return nil, err
			}
		}
	}
	if err := c.Session.follow(now); err != nil {
		return nil, err
	}
	if !news && c.Session.State == s.State && c.Order == nil && len(c.Refunds) == 0 {
		return nil, nil //nolint:nilnil // nothing to change is a result
	}
	c.Session.UpdatedAt = now
	c.watch(now)
	return c, nil
}

// applyFacts updates one page by what the processor says, payments aside, and
// reports whether that was news.
func (s *Session) applyFacts(f PageFacts, now time.Time) bool {
	page := s.find(f, now)
	before := *page
	page.Ref = f.Ref
	switch {
	case page.State == PagePaid || page.State == PageReturned:
	case f.Status == StatusOpen:
		page.State, page.URL, page.ExpiresAt = PageOpen, f.URL, f.ExpiresAt
	case f.Status == StatusExpired || f.Payment == PaymentFailed:
		page.State = PageClosed
	default:
		page.State = PagePending
	}
	if f.Status == StatusComplete && f.Payment == PaymentFailed && s.Ending == "" {
		s.Ending = EndingPaymentFailed
	}
	return page.State != before.State || page.Ref != before.Ref || page.URL != before.URL
}

// find returns the page that f is about. One whose reference is not known
// is found by its number; one that we know nothing of is added, because a
// payment on it counts as well.
func (s *Session) find(f PageFacts, now time.Time) *Page {
	if page := s.pageByRef(f.Ref); page != nil {
		return page
	}
	for i := range s.Pages {
		if s.Pages[i].N == f.N && s.Pages[i].Ref == "" {
			return &s.Pages[i]
		}
	}
	stray := Page{N: f.N, State: PageOpening, Quote: *s.Quote(), CreatedAt: now}
	s.Pages = append([]Page{stray}, s.Pages...) // the last page stays the current one
	return &s.Pages[0]
}

// pay records a payment once: the first of a session makes its order, any
// other goes back. was is the state before this news.
func (c *Change) pay(was State, f PageFacts, soldOut bool, now time.Time) error {
	s := c.Session
	page := s.pageByRef(f.Ref)
	if page.State == PagePaid || page.State == PageReturned {
		return nil
	}
	if s.State == Completed {
		page.State = PageReturned
		c.giveBack(f, now)
		return nil
	}
	page.State = PagePaid
	o := &order.Order{
		ID: typeid.New("ord"), CheckoutID: s.ID, Token: typeid.New("otk"), Status: order.Confirmed, Quote: page.Quote,
		Paid: f.Paid, Protocol: string(s.Protocol), CreatedAt: now, UpdatedAt: now,
	}
	switch {
	case was.Ended() && soldOut:
		o.Status, o.Reason = order.RefundDue, order.ReasonSoldOut
	case was.Ended():
		o.Status, o.Reason = order.Review, order.ReasonPaidAfterEnd
	case !asQuoted(f.Paid, &page.Quote):
		o.Status, o.Reason = order.Review, order.ReasonAmountMismatch
	}
	event, err := order.NewEvent(order.EventFor(o.Status), o, now)
	if err != nil {
		return err
	}
	c.Order, c.Events, s.OrderID = o, append(c.Events, event), o.ID
	return s.move(Completed, now)
}

// giveBack puts the refund of a second payment on record.
func (c *Change) giveBack(f PageFacts, now time.Time) {
	if f.Paid.Total == 0 {
		return
	}
	c.Refunds = append(c.Refunds, order.Refund{
		ID: typeid.New("rfd"), OrderID: c.Session.OrderID, PaymentRef: f.Paid.PaymentRef, Amount: f.Paid.Amount(),
		State: order.RefundPending, Reason: order.ReasonSecondPayment, CreatedAt: now, UpdatedAt: now,
	})
}

// asQuoted reports whether the processor charged what was promised, tax and
// shipping aside.
func asQuoted(paid order.Paid, q *offer.Quote) bool {
	due := q.DueToday()
	extra := paid.Shipping
	if q.Offer.Tax != offer.TaxIncluded {
		extra += paid.Tax
	}
	return money.Amount{Minor: paid.Total - extra, Currency: paid.Currency} == due
}

// follow moves a session that is not paid to where its pages are.
func (s *Session) follow(now time.Time) error {
	if s.State == Completed {
		return nil
	}
	for i := range s.Pages {
		if s.Pages[i].State == PagePending && s.State != Processing {
			return s.move(Processing, now)
		}
		if s.Pages[i].State == PagePending {
			return nil
		}
	}
	if s.State == Canceled || s.State == Expired {
		return nil
	}
	switch current := s.Page(); {
	case current.State == PageOpen && s.State == Creating:
		return s.move(Open, now)
	case current.State != PageClosed:
		return nil
	case s.Ending != "":
		return s.move(Canceled, now)
	default:
		return s.move(Expired, now)
	}
}

// watch puts on record when to look at the session again.
func (c *Change) watch(now time.Time) {
	s := c.Session
	job := jobs.Job{Kind: JobWatch, Ref: s.ID}
	switch s.State {
	case Open:
		// The processor closes the page; a little later it is sure to have.
		job.RunAt = s.ExpiresAt().Add(5 * time.Second)
	case Processing:
		job.RunAt = now.Add(time.Minute)
	default:
		c.Unschedule = append(c.Unschedule, job)
	}
	if !job.RunAt.IsZero() {
		c.Schedule = append(c.Schedule, job)
	}
	if s.Page().State != PageOpening {
		c.Unschedule = append(c.Unschedule, jobs.Job{Kind: JobOpen, Ref: s.ID})
	}
}
