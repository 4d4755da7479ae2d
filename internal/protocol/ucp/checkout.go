package ucp

import "time"

// CheckoutStatus is where a checkout stands.
type CheckoutStatus string

// The statuses of a checkout, a closed list. Expiry is canceled.
const (
	Incomplete         CheckoutStatus = "incomplete"
	RequiresEscalation CheckoutStatus = "requires_escalation"
	ReadyForComplete   CheckoutStatus = "ready_for_complete"
	CompleteInProgress CheckoutStatus = "complete_in_progress"
	Completed          CheckoutStatus = "completed"
	Canceled           CheckoutStatus = "canceled"
)

// Terminal reports whether the checkout will not change any more.
func (s CheckoutStatus) Terminal() bool { return s == Completed || s == Canceled }

func (s CheckoutStatus) known() bool {
	switch s {
	case Incomplete, RequiresEscalation, ReadyForComplete, CompleteInProgress, Completed, Canceled:
		return true
	}
	return false
}

// Checkout is the answer of all five checkout operations.
type Checkout struct {
	UCP       Meta           `json:"ucp"`
	ID        string         `json:"id"`
	Status    CheckoutStatus `json:"status"`
	Currency  string         `json:"currency"` // ISO 4217, upper case
	LineItems []LineItem     `json:"line_items"`
	Totals    []Total        `json:"totals"` // one subtotal, one total, the rest adds up
	Messages  []Message      `json:"messages,omitempty"`
	Links     []Link         `json:"links"`
	// ExpiresAt is sent always: its absence would mean six hours.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// ContinueURL is where the person goes on; present while the checkout is open.
	ContinueURL string             `json:"continue_url,omitempty"`
	Order       *OrderConfirmation `json:"order,omitempty"` // in completed
}

// LineItem is one line of a checkout.
type LineItem struct {
	ID       string  `json:"id"`
	Item     Item    `json:"item"`
	Quantity int64   `json:"quantity"` // whole items
	Totals   []Total `json:"totals"`
	ParentID string  `json:"parent_id,omitempty"`
}

// Item is what a line sells.
type Item struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Price    int64  `json:"price"` // of one, in minor units of the checkout's currency
	ImageURL string `json:"image_url,omitempty"`
}

// The types of totals that the protocol knows. Any other needs DisplayText.
const (
	TotalSubtotal      = "subtotal"       // not negative
	TotalItemsDiscount = "items_discount" // negative
	TotalDiscount      = "discount"       // negative
	TotalFulfillment   = "fulfillment"    // not negative
	TotalTax           = "tax"            // not negative
	TotalFee           = "fee"            // not negative
	TotalTotal         = "total"
)

// Total is one line of the sum.
type Total struct {
	Type        string      `json:"type"`
	DisplayText string      `json:"display_text,omitempty"`
	Amount      int64       `json:"amount"` // minor units, signed
	Lines       []TotalLine `json:"lines,omitempty"`
}

// TotalLine is a part of a total.
type TotalLine struct {
	DisplayText string `json:"display_text"`
	Amount      int64  `json:"amount"`
}

// OrderConfirmation names the order that a checkout became.
type OrderConfirmation struct {
	ID           string `json:"id"`
	Label        string `json:"label,omitempty"`
	PermalinkURL string `json:"permalink_url"`
}
