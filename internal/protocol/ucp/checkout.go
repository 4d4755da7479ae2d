package ucp

import "time"

// CheckoutStatus is the status of a checkout.
type CheckoutStatus string

// The statuses of a checkout, a closed list. An expired checkout is canceled.
const (
	Incomplete         CheckoutStatus = "incomplete"
	RequiresEscalation CheckoutStatus = "requires_escalation"
	ReadyForComplete   CheckoutStatus = "ready_for_complete"
	CompleteInProgress CheckoutStatus = "complete_in_progress"
	Completed          CheckoutStatus = "completed"
	Canceled           CheckoutStatus = "canceled"
)

// Terminal reports whether the status is final.
func (s CheckoutStatus) Terminal() bool { return s == Completed || s == Canceled }

func (s CheckoutStatus) known() bool {
	switch s {
	case Incomplete, RequiresEscalation, ReadyForComplete, CompleteInProgress, Completed, Canceled:
		return true
	}
	return false
}

// Checkout is the response of all five checkout operations.
type Checkout struct {
	UCP       Meta           `json:"ucp"`
	ID        string         `json:"id"`
	Status    CheckoutStatus `json:"status"`
	Currency  string         `json:"currency"` // ISO 4217, upper case
	LineItems []LineItem     `json:"line_items"`
	Totals    []Total        `json:"totals"` // one subtotal, one total, the others add up
	Messages  []Message      `json:"messages,omitempty"`
	Links     []Link         `json:"links"`
	// ExpiresAt is always sent: its absence would mean six hours.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// ContinueURL is the page where the buyer continues; set while the checkout is open.
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

// Item is the item of a line.
type Item struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Price    int64  `json:"price"` // price of one, in minor units of the checkout's currency
	ImageURL string `json:"image_url,omitempty"`
}

// The types of totals that the protocol defines. Any other type needs DisplayText.
const (
	TotalSubtotal      = "subtotal"       // not negative
	TotalItemsDiscount = "items_discount" // negative
	TotalDiscount      = "discount"       // negative
	TotalFulfillment   = "fulfillment"    // not negative
	TotalTax           = "tax"            // not negative
	TotalFee           = "fee"            // not negative
	TotalTotal         = "total"
)

// Total is one line of the totals.
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

// OrderConfirmation identifies the order of a completed checkout.
type OrderConfirmation struct {
	ID           string `json:"id"`
	Label        string `json:"label,omitempty"`
	PermalinkURL string `json:"permalink_url"`
}
