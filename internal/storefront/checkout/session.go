package checkout

import (
	"fmt"
	"slices"
	"time"

	"ace/internal/storefront/offer"
)

// Session is one attempt to sell.
type Session struct {
	ID        string // "chk_…"; knowing it is the permission to read and cancel
	Token     string // opens the buyer's pages; never the id
	State     State
	Protocol  Protocol
	Pages     []Page // at least one; the last is the current one
	Buyer     Buyer
	ReturnURL string // a link shown after payment; never followed by itself
	Agent     Agent
	Notices   []string // what changed under the buyer, for example NoticePriceChanged
	Ending    string   // why it was or is being canceled; see the Ending constants
	OrderID   string
	Version   int64 // grows with each change
	CreatedAt time.Time
	UpdatedAt time.Time
}

// State is the state of a session.
type State string

// The states; doc.go draws them.
const (
	Creating   State = "creating"
	Open       State = "open"
	Processing State = "processing"
	Completed  State = "completed"
	Canceled   State = "canceled"
	Expired    State = "expired"
)

// moves holds every allowed change of state. Creating may end anywhere, since
// the first news of a page can be that it was paid. Completed is final; from
// canceled and expired only money leads on.
var moves = map[State][]State{
	Creating:   {Open, Processing, Completed, Canceled, Expired},
	Open:       {Processing, Completed, Canceled, Expired},
	Processing: {Completed, Canceled},
	Canceled:   {Processing, Completed},
	Expired:    {Processing, Completed},
}

// Ended reports whether nothing more is expected to happen.
func (s State) Ended() bool { return s == Completed || s == Canceled || s == Expired }

func (s *Session) move(to State, now time.Time) error {
	if slices.Contains(moves[s.State], to) {
		s.State, s.UpdatedAt = to, now
		return nil
	}
	return fmt.Errorf("session %s cannot move from %s to %s", s.ID, s.State, to)
}

// Reasons why a session ends without a payment.
const (
	EndingAgent         = "canceled_by_agent"
	EndingPaymentFailed = "payment_failed"
	EndingSoldOut       = "sold_out"
)

// NoticePriceChanged says that an update found a new price.
const NoticePriceChanged = "price_changed"

// Protocol is the protocol over which a session was created.
type Protocol string

// The protocols.
const (
	UCP Protocol = "ucp"
	ACP Protocol = "acp"
	MCP Protocol = "mcp"
	A2A Protocol = "a2a"
	Web Protocol = "web" // a person with a browser, by the Buy button
)

// Buyer is what an agent sent about the buyer, to fill in the hosted page.
// It is deleted once the page is open.
type Buyer struct{ Email string }

// Agent is what is known about the software that asked.
type Agent struct {
	UserAgent   string            `json:",omitempty"`
	Profile     string            `json:",omitempty"` // UCP profile URL
	Signed      bool              `json:",omitempty"` // its key was verified
	ClientKey   string            `json:",omitempty"` // keyed digest of its network
	Attribution map[string]string `json:",omitempty"`
	Trace       string            `json:",omitempty"` // why it canceled, in its own words (JSON)
}

// Page is one hosted page at the processor. A session has more than one when
// it was updated.
type Page struct {
	N         int
	State     PageState
	Ref       string // the processor's id; empty until it is known
	URL       string
	Quote     offer.Quote
	ExpiresAt time.Time
	CreatedAt time.Time

	// Reported is set when a session is read: the processor has sent a message
	// about this page that is not handled yet.
	Reported bool
}

// PageState is the state of a page as far as we know.
type PageState string

// The states of a page.
const (
	PageOpening  PageState = "opening"  // asked for; the processor may or may not have it
	PageOpen     PageState = "open"     // can be paid
	PageClosed   PageState = "closed"   // can never be paid
	PagePending  PageState = "pending"  // filled in, the money is on its way
	PagePaid     PageState = "paid"     // the order is for this page
	PageReturned PageState = "returned" // paid a second time; the money goes back
)

// Page returns the current page.
func (s *Session) Page() *Page { return &s.Pages[len(s.Pages)-1] }

// Quote is what the session sells or, once it is paid, has sold.
func (s *Session) Quote() *offer.Quote {
	for i := range s.Pages {
		if s.Pages[i].State == PagePaid || s.Pages[i].State == PagePending {
			return &s.Pages[i].Quote
		}
	}
	return &s.Page().Quote
}

// ExpiresAt is when the processor will close the current page.
func (s *Session) ExpiresAt() time.Time { return s.Page().ExpiresAt }

func (s *Session) pageByRef(ref string) *Page {
	for i := range s.Pages {
		if s.Pages[i].Ref == ref {
			return &s.Pages[i]
		}
	}
	return nil
}

// reported returns the references of the pages about which a message waits.
func (s *Session) reported() []string {
	var refs []string
	for i := range s.Pages {
		if s.Pages[i].Reported {
			refs = append(refs, s.Pages[i].Ref)
		}
	}
	return refs
}

func (s *Session) clone() *Session {
	c := *s
	c.Pages = append([]Page(nil), s.Pages...)
	c.Notices = append([]string(nil), s.Notices...)
	return &c
}
