// Package object holds what the sandbox's payment processor deals in: products,
// prices, sessions, charges and the rest, in the shape of Stripe's API
// (https://docs.stripe.com/api), with what can be computed from one object
// alone: totals, taxes, amounts in words, and the errors of the API.
//
//	Product <- Price <- LineItem of a Session -> PaymentIntent 1:1 Charge <- Refund
//	                                          -> Customer <- Subscription <- Invoice
//	Event -> Endpoint
//
// What an object hides from the API is in its field Private, which is never
// part of its JSON.
package object

// Index is what an object is searched by.
type Index struct {
	ID, Kind, Status string
	Link             string // the object that this one belongs to
	UniqueKey        string // one object of the kind has it; empty: none
	DueAt            int64  // when the clock has to act on it, in milliseconds; zero: never
}

func activity(active bool) string {
	if active {
		return "active"
	}
	return "inactive"
}

// Text is the text behind a pointer; empty for nil.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Index implements the search of Product objects.
func (o *Product) Index() Index {
	return Index{ID: o.ID, Kind: KindProduct, Status: activity(o.Active)}
}

// Index implements the search of Price objects.
func (o *Price) Index() Index {
	return Index{ID: o.ID, Kind: KindPrice, Status: activity(o.Active), Link: o.Product, UniqueKey: Text(o.LookupKey)}
}

// Index implements the search of Session objects.
func (o *Session) Index() Index {
	r := Index{ID: o.ID, Kind: KindSession, Status: o.Status, Link: Text(o.ClientReferenceID)}
	if o.Status == SessionOpen {
		r.DueAt = o.ExpiresAt * 1000
	}
	return r
}

// Index implements the search of PaymentIntent objects.
func (o *PaymentIntent) Index() Index {
	return Index{ID: o.ID, Kind: KindIntent, Status: o.Status, Link: Text(o.Customer), UniqueKey: o.Private.For}
}

// Index implements the search of Charge objects.
func (o *Charge) Index() Index {
	return Index{ID: o.ID, Kind: KindCharge, Status: o.Status, UniqueKey: o.PaymentIntent}
}

// Index implements the search of Refund objects.
func (o *Refund) Index() Index {
	return Index{ID: o.ID, Kind: KindRefund, Status: o.Status, Link: o.Charge}
}

// Index implements the search of Customer objects.
func (o *Customer) Index() Index { return Index{ID: o.ID, Kind: KindCustomer, Status: "active"} }

// Index implements the search of Subscription objects.
func (o *Subscription) Index() Index {
	r := Index{ID: o.ID, Kind: KindSubscription, Status: o.Status, Link: o.Customer}
	if o.Status == SubTrialing || o.Status == SubActive {
		r.DueAt = o.PeriodEnd() * 1000
	}
	return r
}

// Index implements the search of Invoice objects.
func (o *Invoice) Index() Index {
	return Index{ID: o.ID, Kind: KindInvoice, Status: o.Status, Link: o.Parent.Details.Subscription}
}

// Index implements the search of Event objects.
func (o *Event) Index() Index { return Index{ID: o.ID, Kind: KindEvent, Status: o.Type} }

// Index implements the search of Endpoint objects.
func (o *Endpoint) Index() Index {
	return Index{ID: o.ID, Kind: KindEndpoint, Status: o.Status}
}

// Index implements the search of ShippingRate objects.
func (o *ShippingRate) Index() Index {
	return Index{ID: o.ID, Kind: KindShippingRate, Status: activity(o.Active)}
}

// Hidden returns what the API never shows of Product objects.
func (o *Product) Hidden() any { return nil }

// Hidden returns what the API never shows of Price objects.
func (o *Price) Hidden() any { return nil }

// Hidden returns what the API never shows of Session objects.
func (o *Session) Hidden() any { return &o.Private }

// Hidden returns what the API never shows of PaymentIntent objects.
func (o *PaymentIntent) Hidden() any { return &o.Private }

// Hidden returns what the API never shows of Charge objects.
func (o *Charge) Hidden() any { return nil }

// Hidden returns what the API never shows of Refund objects.
func (o *Refund) Hidden() any { return nil }

// Hidden returns what the API never shows of Customer objects.
func (o *Customer) Hidden() any { return nil }

// Hidden returns what the API never shows of Subscription objects.
func (o *Subscription) Hidden() any { return &o.Private }

// Hidden returns what the API never shows of Invoice objects.
func (o *Invoice) Hidden() any { return nil }

// Hidden returns what the API never shows of Event objects.
func (o *Event) Hidden() any { return nil }

// Hidden returns what the API never shows of Endpoint objects.
func (o *Endpoint) Hidden() any { return &o.Private }

// Hidden returns what the API never shows of ShippingRate objects.
func (o *ShippingRate) Hidden() any { return nil }
