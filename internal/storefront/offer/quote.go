package offer

import (
	"time"

	"ace/internal/foundation/money"
)

// Quote is an offer as it was promised to a buyer: later changes of the offer
// do not touch it. It is stored as JSON, so its field names are part of the
// schema.
type Quote struct {
	Offer    Offer
	Quantity int64
	At       time.Time
}

// Subtotal is the price of all units, before trial, tax and shipping.
func (q *Quote) Subtotal() money.Amount {
	total, _ := q.Offer.Price.Times(q.Quantity) // fits: checked when quoted
	return total
}

// DueToday is what the payment asks for, before tax and shipping.
func (q *Quote) DueToday() money.Amount {
	due, _ := q.Offer.DueToday(q.Quantity)
	return due
}
