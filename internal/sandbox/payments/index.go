package payments

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

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (o *Product) Index() Index {
	return Index{ID: o.ID, Kind: KindProduct, Status: activity(o.Active)}
}
func (o *Price) Index() Index {
	return Index{ID: o.ID, Kind: KindPrice, Status: activity(o.Active), Link: o.Product, UniqueKey: text(o.LookupKey)}
}

func (o *Session) Index() Index {
	r := Index{ID: o.ID, Kind: KindSession, Status: o.Status, Link: text(o.ClientReferenceID)}
	if o.Status == SessionOpen {
		r.DueAt = o.ExpiresAt * 1000
	}
	return r
}

func (o *PaymentIntent) Index() Index {
	return Index{ID: o.ID, Kind: KindIntent, Status: o.Status, Link: text(o.Customer), UniqueKey: o.private.For}
}

func (o *Charge) Index() Index {
	return Index{ID: o.ID, Kind: KindCharge, Status: o.Status, UniqueKey: o.PaymentIntent}
}

func (o *Refund) Index() Index {
	return Index{ID: o.ID, Kind: KindRefund, Status: o.Status, Link: o.Charge}
}
func (o *Customer) Index() Index { return Index{ID: o.ID, Kind: KindCustomer, Status: "active"} }
func (o *Subscription) Index() Index {
	r := Index{ID: o.ID, Kind: KindSubscription, Status: o.Status, Link: o.Customer}
	if o.Status == SubTrialing || o.Status == SubActive {
		r.DueAt = o.periodEnd() * 1000
	}
	return r
}

func (o *Invoice) Index() Index {
	return Index{ID: o.ID, Kind: KindInvoice, Status: o.Status, Link: o.Parent.Details.Subscription}
}
func (o *Event) Index() Index { return Index{ID: o.ID, Kind: KindEvent, Status: o.Type} }
func (o *Endpoint) Index() Index {
	return Index{ID: o.ID, Kind: KindEndpoint, Status: o.Status}
}

func (o *ShippingRate) Index() Index {
	return Index{ID: o.ID, Kind: KindShippingRate, Status: activity(o.Active)}
}

func (o *Product) Hidden() any       { return nil }
func (o *Price) Hidden() any         { return nil }
func (o *Session) Hidden() any       { return &o.private }
func (o *PaymentIntent) Hidden() any { return &o.private }
func (o *Charge) Hidden() any        { return nil }
func (o *Refund) Hidden() any        { return nil }
func (o *Customer) Hidden() any      { return nil }
func (o *Subscription) Hidden() any  { return &o.private }
func (o *Invoice) Hidden() any       { return nil }
func (o *Event) Hidden() any         { return nil }
func (o *Endpoint) Hidden() any      { return &o.private }
func (o *ShippingRate) Hidden() any  { return nil }
