// Package order is what was bought: one order per paid checkout session.
//
//	checkout reconciles a payment ──> Order (confirmed, review or refund_due)
//	                                    + Event rows, in the same transaction
//	operator: refund ──> Refund pending ──> processor ──> done | failed
//	                       | the same key at each try: money moves once
//	Event ──> each Sink (operator's webhook, receipts by mail), with retries
//
// States of an order, and what moves it:
//
//	confirmed ──refunded in full──> refunded
//	review, refund_due ──operator accepts──> confirmed
//	review, refund_due ──refunded in full──> refunded
package order

import (
	"time"

	"ace/internal/foundation/money"
	"ace/internal/storefront/offer"
)

// Order is one purchase.
type Order struct {
	ID         string // "ord_…"
	CheckoutID string // unique: a session has one order at most
	Token      string // opens the order's page together with the id
	Status     Status
	Reason     string // why it is in review or due to be refunded
	Quote      offer.Quote
	Paid       Paid
	Refunded   int64 // minor units that went back so far
	Protocol   string
	Version    int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Paid is what the processor says was paid.
type Paid struct {
	Total, Tax, Shipping int64 // minor units
	Currency             string
	PaymentRef           string // what a refund names; empty when nothing was charged
	PageRef              string // the processor's checkout session
	SubscriptionRef      string // empty for one-time offers
	Live                 bool
}

// Amount is the total with its currency.
func (p Paid) Amount() money.Amount { return money.Amount{Minor: p.Total, Currency: p.Currency} }

// Status is the state of an order.
type Status string

// The states.
const (
	Confirmed Status = "confirmed"
	Review    Status = "review"     // paid, but something needs the operator's eye
	RefundDue Status = "refund_due" // paid, cannot be delivered
	Refunded  Status = "refunded"   // all of it went back
)

// Reasons for Review and RefundDue.
const (
	ReasonPaidAfterEnd   = "paid_after_end"  // the session was canceled or expired when the payment arrived
	ReasonAmountMismatch = "amount_mismatch" // the processor charged something else than was quoted
	ReasonSoldOut        = "sold_out"        // paid after the last unit went to somebody else
	ReasonSecondPayment  = "second_payment"  // of a refund: the session was paid already
)

// Refundable is how much may still go back, given what is on its way.
func (o *Order) Refundable(pending int64) money.Amount {
	return money.Amount{Minor: max(0, o.Paid.Total-o.Refunded-pending), Currency: o.Paid.Currency}
}

// Refund is money on its way back to the buyer.
type Refund struct {
	ID           string // "rfd_…", also the idempotency key at the processor
	OrderID      string
	PaymentRef   string
	Amount       money.Amount
	State        RefundState
	ProcessorRef string
	Reason       string // for the operator's records
	Failure      string // what the processor said when it refused
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// RefundState is the state of a refund.
type RefundState string

// The states of a refund.
const (
	RefundPending RefundState = "pending"
	RefundDone    RefundState = "done"
	RefundFailed  RefundState = "failed"
)

// Event notifies the operator's systems about an order.
type Event struct {
	ID      string // "evt_…", the same at each delivery
	Type    EventType
	OrderID string
	At      time.Time
	Body    []byte // as it is posted and signed
}

// EventType names what happened.
type EventType string

// The types of events.
const (
	EventCreated   EventType = "order.created"
	EventReview    EventType = "order.review"
	EventRefundDue EventType = "order.refund_due"
	EventRefunded  EventType = "order.refunded"
	EventAccepted  EventType = "order.accepted"
)

// Delivery is the state of one event at one sink.
type Delivery struct {
	EventID     string
	Sink        string
	State       DeliveryState
	Attempts    int
	LastError   string
	DeliveredAt time.Time
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"
)
