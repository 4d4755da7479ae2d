package checkout

import (
	"context"
	"errors"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// Processor hosts the pages on which buyers pay. All failures that say nothing
// about the outcome are processor_unavailable (Unavailable).
type Processor interface {
	// OpenPage opens a page. The same Key returns the same page, also after a
	// crash or a lost response. It returns processor_refused (Unprocessable) if
	// the processor will not open such a page, and ErrPageLost if the key is
	// burnt: the processor repeats a failure for it and holds no page.
	OpenPage(ctx context.Context, req PageRequest) (PageFacts, error)
	// ReadPage reads the state of a page.
	ReadPage(ctx context.Context, ref string) (PageFacts, error)
	// ClosePage makes sure that a page can no longer be paid and returns how it
	// ended: expired, or complete if the payment was faster.
	ClosePage(ctx context.Context, ref string) (PageFacts, error)
	// ChangedPages returns one part of the list of the pages that were opened or
	// that ended since then. The first part has an empty cursor; each further one
	// has the Next of the part before. The list may name a page twice, and pages
	// that changed before since. A page that changes while the list is read is in
	// this list or in one that starts later. It returns ErrCursorLost if the
	// processor no longer knows the cursor.
	ChangedPages(ctx context.Context, since time.Time, cursor string) (PageList, error)
}

// Errors of a Processor that the service handles itself.
var (
	// ErrPageLost says that no page was opened under this key and none ever will be.
	ErrPageLost = errors.New("the processor holds no page for this key")
	// ErrCursorLost says that a list has to be read again from its start.
	ErrCursorLost = errors.New("the processor does not know this position of its list")
)

// PageList is one part of a list of pages.
type PageList struct {
	Pages []PageFacts
	Next  string // cursor of the next part; empty: this is the last one
}

// PageRequest asks for a page.
type PageRequest struct {
	Key        string // idempotency key
	CheckoutID string
	N          int
	Quote      offer.Quote
	Email      string // fills in the form; may be empty
	SuccessURL string // may hold {CHECKOUT_SESSION_ID}
	CancelURL  string
	ExpiresAt  time.Time
	Since      time.Time // when the page was first asked for
	Protocol   Protocol
}

// PageFacts is what the processor says about a page.
type PageFacts struct {
	Ref        string
	URL        string // while open
	CheckoutID string // what we named it
	N          int
	Status     PageStatus
	Payment    PaymentStatus // if Status is complete
	Paid       order.Paid    // if Payment is paid
	ExpiresAt  time.Time
}

// PageStatus is the processor's state of a page.
type PageStatus string

// The statuses of a page.
const (
	StatusOpen     PageStatus = "open"
	StatusComplete PageStatus = "complete"
	StatusExpired  PageStatus = "expired"
)

// PaymentStatus is the processor's state of the payment on a complete page.
type PaymentStatus string

// The statuses of a payment.
const (
	PaymentPending PaymentStatus = "pending" // a delayed method
	PaymentPaid    PaymentStatus = "paid"    // or nothing was due
	PaymentFailed  PaymentStatus = "failed"
)

// Store stores sessions. Each method is one transaction.
type Store interface {
	// Session returns a session by id. It returns checkout_not_found (NotFound).
	Session(ctx context.Context, id string) (*Session, error)
	// SessionByToken returns a session by the token of its pages. It returns
	// checkout_not_found (NotFound).
	SessionByToken(ctx context.Context, token string) (*Session, error)
	// Insert stores a new session with what goes with it. check is called inside
	// the transaction and ends it with its error. Insert returns ErrExists if
	// there is a session with this id.
	Insert(ctx context.Context, change Change, check func(Holds) error) error
	// Save stores a changed session with what goes with it. It returns
	// ErrVersion and changes nothing if Session.Version is not the stored one.
	// check as for Insert; it may be nil.
	Save(ctx context.Context, change Change, check func(Holds) error) error
	// Discard removes a session that no one has seen, and its jobs. It does
	// nothing unless the session is still in the state creating.
	Discard(ctx context.Context, id string) error
	// Receive stores the id of a message of the processor and schedules its job,
	// or does nothing if the id is known.
	Receive(ctx context.Context, eventID, eventType string, job jobs.Job) error
	// SweepPosition returns how far the sweep has come: the zero value before the
	// first one.
	SweepPosition(ctx context.Context) (SweepPosition, error)
	// Advance stores how far the sweep has come and schedules the jobs that
	// follow from it.
	Advance(ctx context.Context, position SweepPosition, schedule []jobs.Job) error
}

// SweepPosition is how far the processor's list of pages has been compared with
// the sessions. A walk through the list that is interrupted continues here.
type SweepPosition struct {
	Since  time.Time // all that changed before was compared
	Until  time.Time // when the current walk began; zero: none is under way
	Cursor string    // the next part of the list in the current walk
}

// Errors of a Store that the service handles itself.
var (
	ErrExists  = errors.New("a session with this id exists")
	ErrVersion = errors.New("the session was changed meanwhile")
)

// Change is what one transaction writes.
type Change struct {
	Session    *Session // Version is the one that was read
	Evidence   string   // why, for the audit trail
	Order      *order.Order
	Events     []order.Event
	Refunds    []order.Refund
	Schedule   []jobs.Job
	Unschedule []jobs.Job
}

// Holds counts what other sessions hold of the same offer.
type Holds struct {
	Taken    int64 // units in sessions that are not canceled or expired
	Unpaid   int64 // of these, units not paid yet, by clients that are not signed
	ByClient int   // unpaid sessions of the same client
}

// Event is a message of the processor. It is only a hint to look.
type Event struct {
	ID         string
	Type       string
	CheckoutID string // if it is about one of our pages
	PageRef    string
	PaymentRef string // if money went back
	Catalog    bool   // products or prices changed
}
