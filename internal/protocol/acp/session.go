package acp

import (
	"encoding/json"
	"slices"
	"time"
)

// Status is where a session stands.
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

// Terminal reports whether the session will not change any more.
func (s Status) Terminal() bool { return s == Completed || s == Canceled || s == Expired }

// CheckoutSession is the answer of all five session operations; with Order set
// it is a CheckoutSessionWithOrder. The schemas forbid members of one's own:
// use CustomAttributes of line items.
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
	// ContinueURL is where the person goes on; present while the session is open.
	ContinueURL string `json:"continue_url,omitempty"`
	Order       *Order `json:"order,omitempty"` // in completed
}

// For answers a copy of the session as version v writes it: messages of
// 2026-01-30 carry no resolution.
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

// MarshalJSON writes the required arrays as [] where they are nil.
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

// Protocol names the version of an answer.
type Protocol struct {
	Version Version `json:"version"`
}

// Capabilities is what both sides can do in this session. There is no member
// extensions: an empty list of them is invalid in the released schemas.
type Capabilities struct {
	Payment       *Payment       `json:"payment,omitempty"`
	Interventions *Interventions `json:"interventions,omitempty"`
}

// Payment lists the payment handlers: none, since persons pay on a hosted page.
type Payment struct {
	Handlers []json.RawMessage `json:"handlers"`
}

// Interventions lists what the store may ask of the agent during payment: nothing.
type Interventions struct {
	Supported []string `json:"supported"`
}

// NoCapabilities says that no payment and no intervention is handled here.
func NoCapabilities() Capabilities {
	return Capabilities{Payment: &Payment{Handlers: []json.RawMessage{}}, Interventions: &Interventions{Supported: []string{}}}
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

// Item is what a line sells.
type Item struct {
	ID         string `json:"id"`
	Name       string `json:"name,omitempty"`
	UnitAmount *int64 `json:"unit_amount,omitempty"`
}

// Availability says whether a line can be delivered.
type Availability string

// The availabilities, a closed list.
const (
	InStock    Availability = "in_stock"
	LowStock   Availability = "low_stock"
	OutOfStock Availability = "out_of_stock"
	Backorder  Availability = "backorder"
	PreOrder   Availability = "pre_order"
)

// Disclosure is a text that the person must see.
type Disclosure struct {
	Type        string `json:"type"`         // disclaimer
	ContentType string `json:"content_type"` // plain or markdown
	Content     string `json:"content"`
}

// CustomAttribute is the place for what the protocol has no member for:
// billing interval, trial, delivery.
type CustomAttribute struct {
	DisplayName string `json:"display_name"`
	Value       string `json:"value"`
}

// TotalType names a line of the sum.
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

// Total is one line of the sum, in minor units.
type Total struct {
	Type        TotalType `json:"type"`
	DisplayText string    `json:"display_text"`
	Amount      int64     `json:"amount"`
	Description string    `json:"description,omitempty"`
}

// FulfillmentOption is a way of delivery; the only type written here is
// digital, since addresses are taken on the hosted page.
type FulfillmentOption struct {
	Type        string  `json:"type"`
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Description string  `json:"description,omitempty"`
	Totals      []Total `json:"totals"`
}

// Digital answers the option of offers that are delivered electronically.
func Digital(id, title string) FulfillmentOption {
	return FulfillmentOption{
		Type: "digital", ID: id, Title: title,
		Totals: []Total{{Type: TotalTotal, DisplayText: "Delivery"}},
	}
}

// LinkType names what a link leads to.
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

// Link is an address that an agent shows.
type Link struct {
	Type  LinkType `json:"type"`
	Title string   `json:"title,omitempty"`
	URL   string   `json:"url"`
}

// Order is what a session became. Its statuses in 2026-01-30 are confirmed,
// processing, shipped and delivered.
type Order struct {
	ID                string             `json:"id"`
	CheckoutSessionID string             `json:"checkout_session_id"`
	OrderNumber       string             `json:"order_number,omitempty"`
	PermalinkURL      string             `json:"permalink_url"`
	Status            string             `json:"status,omitempty"`
	Confirmation      *OrderConfirmation `json:"confirmation,omitempty"`
	Support           *Support           `json:"support,omitempty"`
}

// OrderConfirmation says how the order was confirmed.
type OrderConfirmation struct {
	ConfirmationNumber    string `json:"confirmation_number,omitempty"`
	ConfirmationEmailSent bool   `json:"confirmation_email_sent,omitempty"`
	ReceiptURL            string `json:"receipt_url,omitempty"`
}

// Support says whom to ask about an order.
type Support struct {
	Email         string `json:"email,omitempty"`
	Phone         string `json:"phone,omitempty"`
	HelpCenterURL string `json:"help_center_url,omitempty"`
}
