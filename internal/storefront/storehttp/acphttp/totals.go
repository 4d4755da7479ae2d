package acphttp

import (
	"ace/internal/protocol/acp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// totalsOf are the terms of a quote: what is due at the moment of payment,
// before what only the hosted page knows.
func totalsOf(q *offer.Quote) []acp.Total {
	return append(itemTotals(q),
		acp.Total{Type: acp.TotalTotal, DisplayText: sessionhttp.TotalWords(&q.Offer), Amount: q.DueToday().Minor})
}

// itemTotals are the totals of the goods alone. A free trial takes off the whole
// first period.
func itemTotals(q *offer.Quote) []acp.Total {
	subtotal, due := q.Subtotal().Minor, q.DueToday().Minor
	totals := []acp.Total{
		{Type: acp.TotalItemsBaseAmount, DisplayText: "Item total", Amount: subtotal},
		{Type: acp.TotalSubtotal, DisplayText: "Subtotal", Amount: subtotal},
	}
	if due < subtotal {
		totals = append(totals, acp.Total{
			Type: acp.TotalDiscount, DisplayText: "Free for the first " + offer.Days(q.Offer.TrialDays),
			Amount: subtotal - due,
		})
	}
	return totals
}

// paidTotals are what was charged. A difference to the quote that is
// neither tax nor shipping (a promotion code of the hosted page, a fault of
// the processor) is named, so that the lines add up to the money that moved.
func paidTotals(q *offer.Quote, o *order.Order, v acp.Version) []acp.Total {
	totals, sum := itemTotals(q), q.DueToday().Minor
	add := func(kind acp.TotalType, words string, amount int64) {
		if amount > 0 {
			totals = append(totals, acp.Total{Type: kind, DisplayText: words, Amount: amount})
		}
	}
	add(acp.TotalFulfillment, "Shipping", o.Paid.Shipping)
	sum += o.Paid.Shipping
	if q.Offer.Tax != offer.TaxIncluded {
		add(acp.TotalTax, "Tax", o.Paid.Tax)
		sum += o.Paid.Tax
	}
	add(acp.TotalFee, "Charged beyond the quote", o.Paid.Total-sum)
	add(acp.TotalDiscount, "Discount given on the payment page", sum-o.Paid.Total)
	totals = append(totals, acp.Total{Type: acp.TotalTotal, DisplayText: "Total paid", Amount: o.Paid.Total})
	if v != acp.Version20260130 { // which has no such line
		add(acp.TotalAmountRefunded, "Refunded", o.Refunded)
	}
	return totals
}

func (h *Handler) order(session *checkout.Session, o *order.Order, v acp.Version) *acp.Order {
	w := &acp.Order{
		ID: o.ID, CheckoutSessionID: session.ID, PermalinkURL: h.Checkout.OrderURL(session),
		Status: orderStatus(o.Status, v),
	}
	if h.Site.Contact != "" {
		w.Support = &acp.Support{Email: h.Site.Contact}
	}
	return w
}

// orderStatus is empty where a version has no word for a status.
func orderStatus(status order.Status, v acp.Version) string {
	old := v == acp.Version20260130
	switch {
	case status == order.Confirmed:
		return "confirmed"
	case status == order.Refunded && old:
		return ""
	case status == order.Refunded:
		return "canceled"
	case old:
		return "processing"
	}
	return "manual_review"
}
