package order

import (
	"encoding/json"
	"fmt"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/typeid"
)

// JobDeliver is the kind of the jobs that deliver events. Their ref is
// "event id|sink".
const JobDeliver = "order_event"

// JobRefund is the kind of the jobs that carry out refunds. Their ref is the
// refund id.
const JobRefund = "order_refund"

// JobPayment is the kind of the jobs that look at a payment from which money
// went back. Their ref is the processor's name of the payment.
const JobPayment = "order_payment"

type eventBody struct {
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      eventData `json:"data"`
}

type eventData struct {
	OrderID      string     `json:"order_id"`
	CheckoutID   string     `json:"checkout_id"`
	Status       Status     `json:"status"`
	Reason       string     `json:"reason,omitempty"`
	Offer        eventOffer `json:"offer"`
	Amount       eventMoney `json:"amount"`
	Refunded     eventMoney `json:"refunded"`
	PaymentRef   string     `json:"payment_ref,omitempty"`
	Subscription string     `json:"subscription_ref,omitempty"`
	PageRef      string     `json:"processor_session"`
	Live         bool       `json:"live"`
	CreatedAt    time.Time  `json:"created_at"`
}

type eventOffer struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"`
}

type eventMoney struct {
	Minor    int64  `json:"amount"`
	Currency string `json:"currency"`
	Display  string `json:"display"`
}

// NewEvent returns an event about o. The body holds nothing about the buyer:
// name, address and e-mail stay at the processor.
func NewEvent(kind EventType, o *Order, at time.Time) (Event, error) {
	at = at.UTC().Truncate(time.Millisecond)
	refunded := o.Paid.Amount()
	refunded.Minor = o.Refunded
	body, err := json.Marshal(eventBody{Type: kind, Timestamp: at, Data: eventData{
		OrderID: o.ID, CheckoutID: o.CheckoutID, Status: o.Status, Reason: o.Reason,
		Offer:      eventOffer{o.Quote.Offer.ID, o.Quote.Offer.Name, o.Quote.Quantity},
		Amount:     eventMoney{o.Paid.Total, o.Paid.Currency, o.Paid.Amount().String()},
		Refunded:   eventMoney{o.Refunded, o.Paid.Currency, refunded.String()},
		PaymentRef: o.Paid.PaymentRef, Subscription: o.Paid.SubscriptionRef, PageRef: o.Paid.PageRef, Live: o.Paid.Live,
		CreatedAt: o.CreatedAt.UTC(),
	}})
	if err != nil {
		return Event{}, fmt.Errorf("writing the event of order %s: %w", o.ID, err)
	}
	return Event{ID: typeid.New("evt"), Type: kind, OrderID: o.ID, At: at, Body: body}, nil
}

// EventFor names the event of an order that has just come into its state.
func EventFor(status Status) EventType {
	switch status {
	case Review:
		return EventReview
	case RefundDue:
		return EventRefundDue
	case Refunded:
		return EventRefunded
	default:
		return EventCreated
	}
}

// Deliveries returns the jobs that carry an event to the sinks.
func Deliveries(e Event, sinks []string) []jobs.Job {
	var out []jobs.Job
	for _, sink := range sinks {
		out = append(out, jobs.Job{Kind: JobDeliver, Ref: e.ID + "|" + sink, RunAt: e.At})
	}
	return out
}
