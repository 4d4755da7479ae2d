package acp

import (
	"encoding/json"
	"slices"
	"time"
)

// Status is the status of a session.
type Status string

// The statuses of a session, a closed list.
const (
	Incomplete             Status = "incomplete"
	NotReadyForPayment     Status = "not_ready_for_payment"
	RequiresEscalation     Status = "requires_escalation"
	AuthenticationRequired Status = "authentication_required"
	ReadyForPayment        Status = "ready_for_payment"
	PendingApproval        Status = "pending_approval"
	CompleteInProgress     Status = "complete_in_progress"
	Completed              Status = "completed"
	Canceled               Status = "canceled"
	InProgress             Status = "in_progress"
	Expired                Status = "expired"
)

// Terminal reports whether the status is final.
func (s Status) Terminal() bool { return s == Completed || s == Canceled || s == Expired }

// CheckoutSession is the response of all five session operations; with Order set it is a
// CheckoutSessionWithOrder. The schemas forbid additional fields: use CustomAttributes of line
// items.
type CheckoutSession struct {
	ID                 string              `json:"id"`
	Protocol           *Protocol           `json:"protocol,omitempty"`
	Capabilities       Capabilities        `json:"capabilities"`
	Status             Status              `json:"status"`
	Currency           string              `json:"currency"` // ISO 4217, lower case
	LineItems          []LineItem          `json:"line_items"`
	FulfillmentOptions []FulfillmentOption `json:"fulfillment_options"`
	Totals             []Total             `json:"totals"`
	Messages           []Message           `json:"messages"`
	Links              []Link              `json:"links"`
	CreatedAt          time.Time           `json:"created_at,omitzero"`
	UpdatedAt          time.Time           `json:"updated_at,omitzero"`
	ExpiresAt          time.Time           `json:"expires_at,omitzero"`
	// ContinueURL is the page where the buyer continues; set while the session is open.
	ContinueURL string `json:"continue_url,omitempty"`
	Order       *Order `json:"order,omitempty"` // in completed
}

// For returns a copy of the session in version v: messages of 2026-01-30 have no resolution.
func (s *CheckoutSession) For(v Version) *CheckoutSession {
	c := *s
	c.Protocol = &Protocol{Version: v}
	if v == Version20260130 {
		c.Messages = slices.Clone(s.Messages)
		for i := range c.Messages {
			c.Messages[i].Resolution = ""
		}
	}
	return &c
}

// MarshalJSON encodes nil as [] in required arrays.
func (s CheckoutSession) MarshalJSON() ([]byte, error) {
	type plain CheckoutSession
	p := plain(s)
	p.LineItems, p.FulfillmentOptions = orEmpty(p.LineItems), orEmpty(p.FulfillmentOptions)
	p.Totals, p.Messages, p.Links = orEmpty(p.Totals), orEmpty(p.Messages), orEmpty(p.Links)
	return json.Marshal(p)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Protocol is the version of a response.
type Protocol struct {
	Version Version `json:"version"`
}

// Capabilities are the shared capabilities of a session. There is no field extensions: an empty
// list is invalid in the released schemas.
type Capabilities struct {
	Payment       *Payment       `json:"payment,omitempty"`
	Interventions *Interventions `json:"interventions,omitempty"`
}

// Payment lists the payment handlers: none, since the buyer pays on a hosted page.
type Payment struct {
	Handlers []json.RawMessage `json:"handlers"`
}

// Interventions lists the interventions that the store may request from the agent during payment:
// none.
type Interventions struct {
	Supported []string `json:"supported"`
}

// NoCapabilities returns the capabilities without payment handlers and interventions.
func NoCapabilities() Capabilities {
	return Capabilities{
		Payment:       &Payment{Handlers: []json.RawMessage{}},
		Interventions: &Interventions{Supported: []string{}},
	}
}

// LineItem is one line of a session. Amounts are minor units of its currency.
type LineItem struct {
	ID                  string            `json:"id"`
	Item                Item              `json:"item"`
	Quantity            int64             `json:"quantity"`
	Name                string            `json:"name,omitempty"`
	Description         string            `json:"description,omitempty"`
	Images              []string          `json:"images,omitempty"`
	UnitAmount          *int64            `json:"unit_amount,omitempty"`
	ProductID           string            `json:"product_id,omitempty"`
	SKU                 string            `json:"sku,omitempty"`
	Category            string            `json:"category,omitempty"`
	AvailabilityStatus  Availability      `json:"availability_status,omitempty"`
	AvailableQuantity   *int64            `json:"available_quantity,omitempty"`
	MaxQuantityPerOrder int64             `json:"max_quantity_per_order,omitempty"`
	Disclosures         []Disclosure      `json:"disclosures,omitempty"`
	CustomAttributes    []CustomAttribute `json:"custom_attributes,omitempty"`
	Totals              []Total           `json:"totals"`
}

// Item is the item of a line.
type Item struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	UnitAmount *int64 `json:"unit_amount,omitempty"`
}

// Availability is the availability of a line.
type Availability string

// The availabilities, a closed list.
const (
	InStock    Availability = "in_stock"
	LowStock   Availability = "low_stock"
	OutOfStock Availability = "out_of_stock"
	Backorder  Availability = "backorder"
	PreOrder   Availability = "pre_order"
)

// Disclosure is a text that must be shown to the buyer.
type Disclosure struct {
	Type        string `json:"type"`         // disclaimer
	ContentType string `json:"content_type"` // plain or markdown
	Content     string `json:"content"`
}

// CustomAttribute holds data without a field in the protocol: billing interval, trial, delivery.
type CustomAttribute struct {
	DisplayName string `json:"display_name"`
	Value       string `json:"value"`
}

// TotalType is the type of a total.
type TotalType string

// The types of totals, a closed list. Discounts are positive.
const (
	TotalItemsBaseAmount TotalType = "items_base_amount"
	TotalItemsDiscount   TotalType = "items_discount"
	TotalSubtotal        TotalType = "subtotal"
	TotalDiscount        TotalType = "discount"
	TotalFulfillment     TotalType = "fulfillment"
	TotalTax             TotalType = "tax"
	TotalFee             TotalType = "fee"
	TotalGiftWrap        TotalType = "gift_wrap"
	TotalTip             TotalType = "tip"
	TotalStoreCredit     TotalType = "store_credit"
	TotalTotal           TotalType = "total"
	TotalAmountRefunded  TotalType = "amount_refunded"
)

// Total is one line of the totals, in minor units.
type Total struct {
	Type        TotalType `json:"type"`
	DisplayText string    `json:"display_text"`
	Amount      int64     `json:"amount"`
	Description string    `json:"description,omitempty"`
}

// FulfillmentOption is a delivery option; the only type in use is digital, since the hosted page
// asks for shipping addresses.
type FulfillmentOption struct {
	Type        string  `json:"type"`
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Description string  `json:"description,omitempty"`
	Totals      []Total `json:"totals"`
}

// Digital returns the option of offers that are delivered electronically.
func Digital(id, title string) FulfillmentOption {
	return FulfillmentOption{
		Type: "digital", ID: id, Title: title,
		Totals: []Total{{Type: TotalTotal, DisplayText: "Delivery"}},
	}
}

// LinkType is the type of a link.
type LinkType string

// The types of links, a closed list. They differ from those of UCP and of feeds.
const (
	LinkTermsOfUse     LinkType = "terms_of_use"
	LinkPrivacyPolicy  LinkType = "privacy_policy"
	LinkReturnPolicy   LinkType = "return_policy"
	LinkShippingPolicy LinkType = "shipping_policy"
	LinkContactUs      LinkType = "contact_us"
	LinkAboutUs        LinkType = "about_us"
	LinkFAQ            LinkType = "faq"
	LinkSupport        LinkType = "support"
)

// Link is a URL that an agent shows.
type Link struct {
	Type  LinkType `json:"type"`
	Title string   `json:"title,omitempty"`
	URL   string   `json:"url"`
}

// Order is the order of a completed session. Its statuses in 2026-01-30 are confirmed, processing,
// shipped and delivered.
type Order struct {
	ID                string             `json:"id"`
	CheckoutSessionID string             `json:"checkout_session_id"`
	OrderNumber       string             `json:"order_number,omitempty"`
	PermalinkURL      string             `json:"permalink_url"`
	Status            string             `json:"status,omitempty"`
	Confirmation      *OrderConfirmation `json:"confirmation,omitempty"`
	Support           *Support           `json:"support,omitempty"`
}

// OrderConfirmation describes how the order was confirmed.
type OrderConfirmation struct {
	ConfirmationNumber    string `json:"confirmation_number,omitempty"`
	ConfirmationEmailSent bool   `json:"confirmation_email_sent,omitempty"`
	ReceiptURL            string `json:"receipt_url,omitempty"`
}

// Support is the contact for an order.
type Support struct {
	Email         string `json:"email,omitempty"`
	Phone         string `json:"phone,omitempty"`
	HelpCenterURL string `json:"help_center_url,omitempty"`
}
