package object

// States of a session and of its payment.
const (
	SessionOpen     = "open"
	SessionComplete = "complete"
	SessionExpired  = "expired"

	PaymentPaid        = "paid"
	PaymentUnpaid      = "unpaid"
	PaymentNotRequired = "no_payment_required"

	ModePayment      = "payment"
	ModeSubscription = "subscription"

	MethodCard  = "card"
	MethodDebit = "us_bank_account" // shown as "test bank debit"
)

// TaxPercent is the one tax of the sandbox: with automatic tax on, every line
// is taxed at this rate wherever the buyer lives. Prices whose tax behavior is
// "inclusive" contain it, all others have it added. Shipping is not taxed.
const TaxPercent = 10

// ChooseShipping sets the way of shipping; Total counts it in.
func (o *Session) ChooseShipping(option ShippingOption) {
	o.ShippingCost = &ShippingCost{Subtotal: option.Amount, Total: option.Amount, Rate: &option.Rate}
}

// Total computes what is due today. During a trial a recurring line costs
// nothing.
func (o *Session) Total() error {
	o.AmountSubtotal, o.AmountTotal, o.TotalDetails = 0, 0, TotalDetails{}
	for _, l := range o.Private.Lines {
		l.Subtotal, l.Tax, l.Total = LineAmounts(l.Price, l.Quantity, o.AutomaticTax.Enabled)
		if l.Price.Recurring != nil && o.Private.TrialDays > 0 {
			l.Subtotal, l.Tax, l.Total = 0, 0, 0
		}
		o.AmountSubtotal += l.Subtotal
		o.TotalDetails.Tax += l.Tax
		o.AmountTotal += l.Total
	}
	if o.ShippingCost != nil {
		o.TotalDetails.Shipping = o.ShippingCost.Total
		o.AmountTotal += o.ShippingCost.Total
	}
	if o.AutomaticTax.Enabled {
		o.AutomaticTax.Status = new("complete")
	}
	if o.AmountTotal > maxAmount {
		return Invalid("line_items", "amount_too_large", "The total of a session must be no more than %s.",
			Display(maxAmount, o.Currency))
	}
	return nil
}

// LineAmounts splits what quantity pieces cost. Quantity and amount are
// bounded, so that nothing overflows.
func LineAmounts(price *Price, quantity int64, taxed bool) (subtotal, tax, total int64) {
	gross := price.Amount * quantity
	switch {
	case !taxed:
		return gross, 0, gross
	case price.TaxBehavior == "inclusive":
		return gross, toStep(gross*TaxPercent, 100+TaxPercent, price.Currency), gross
	default:
		tax = toStep(gross*TaxPercent, 100, price.Currency)
		return gross, tax, gross + tax
	}
}

// DueLater is what a subscription costs in each period after a trial, tax
// included; zero for a session that subscribes to nothing.
func (o *Session) DueLater() int64 {
	var sum int64
	for _, l := range o.Private.Lines {
		if l.Price.Recurring != nil {
			_, _, total := LineAmounts(l.Price, l.Quantity, o.AutomaticTax.Enabled)
			sum += total
		}
	}
	return sum
}

// NeedsMethod reports whether the buyer must give a way to pay.
func (o *Session) NeedsMethod() bool {
	return o.AmountTotal > 0 || (o.Mode == ModeSubscription && o.MethodCollection == "always")
}

// NeedsShipping reports whether the buyer must give an address for the goods.
func (o *Session) NeedsShipping() bool { return o.ShippingAddress != nil }

// Option returns the chosen way of shipping, the first one when none is named.
func (o *Session) Option(rate string) *ShippingOption {
	for i, option := range o.ShippingOptions {
		if rate == "" || option.Rate == rate {
			return &o.ShippingOptions[i]
		}
	}
	return nil
}

// Lines returns what a session sells.
func (o *Session) Lines() []*LineItem { return o.Private.Lines }

// TrialDays is the length of the free trial; zero: none.
func (o *Session) TrialDays() int64 { return o.Private.TrialDays }

// PaidBy is the token of the browser that paid; empty: unpaid.
func (o *Session) PaidBy() string { return o.Private.PaidBy }

// States of a subscription.
const (
	SubTrialing = "trialing"
	SubActive   = "active"
	SubPastDue  = "past_due"
	SubCanceled = "canceled"
	SubPaused   = "paused"
)

// PeriodEnd is the end of the current period in Unix seconds.
func (o *Subscription) PeriodEnd() int64 {
	if len(o.Private.Items) == 0 {
		return 0
	}
	return o.Private.Items[0].PeriodEnd
}

// ShowItems puts the items into what the API shows.
func (o *Subscription) ShowItems() {
	data := make([]any, 0, len(o.Private.Items))
	for _, item := range o.Private.Items {
		data = append(data, item)
	}
	o.Items = NewList("/v1/subscription_items?subscription="+o.ID, data, false)
}
