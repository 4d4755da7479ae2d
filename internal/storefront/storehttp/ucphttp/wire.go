package ucphttp

import (
	"context"
	"time"

	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// statuses are the states of sessions in the words of UCP, which has no
// word for expiry. A session that is still being created is not shown at all.
var statuses = map[checkout.State]ucp.CheckoutStatus{
	checkout.Open:       ucp.RequiresEscalation,
	checkout.Processing: ucp.CompleteInProgress,
	checkout.Completed:  ucp.Completed,
	checkout.Canceled:   ucp.Canceled,
	checkout.Expired:    ucp.Canceled,
}

// Codes of messages that the protocol has no word for.
const (
	codeShippingAtPayment ucp.Code = "shipping_at_payment"
	codePaymentPending    ucp.Code = "payment_pending"
	codeCanceled          ucp.Code = "canceled"
	codeOrderInReview     ucp.Code = "order_in_review"
	codeRefundDue         ucp.Code = "refund_due"
	codeRefunded          ucp.Code = "refunded"
	codePricesStale       ucp.Code = "prices_not_verified"
)

// answer is a session as a checkout, with what there is to say about the
// request that led to it; req may be nil.
func (f *Handler) answer(ctx context.Context, call *operationCall, session *checkout.Session,
	req *ucp.CheckoutRequest,
) (*ucp.Checkout, error) {
	c, err := f.checkoutOf(ctx, session, call.exchange.version)
	if err != nil {
		return nil, err
	}
	if req != nil && req.PaymentSent && session.State == checkout.Open {
		// In place of payment_required, which comes first.
		c.Messages[0] = ucp.Error(ucp.PaymentInstrumentsNotAccepted, ucp.RequiresBuyerInput, "$.payment",
			"Payment instruments are not accepted; what was sent was discarded and nothing was charged. Send the "+
				"buyer to continue_url.")
	}
	if req != nil && len(req.Context.Eligibility) > 0 {
		c.Messages = append(c.Messages, ucp.EligibilityWarning())
	}
	c.Messages = append(c.Messages, call.exchange.notes...)
	return c, nil
}

// Checkout is a session in the newest version of UCP, for transports that describe it
// without speaking the protocol.
func (f *Handler) Checkout(ctx context.Context, session *checkout.Session) (*ucp.Checkout, error) {
	return f.checkoutOf(ctx, session, ucp.Newest)
}

// checkoutOf is a session as version v writes it. The order of a paid session
// is read for it.
func (f *Handler) checkoutOf(ctx context.Context, session *checkout.Session, v ucp.Version) (*ucp.Checkout, error) {
	quote := session.Quote()
	c := &ucp.Checkout{
		UCP: ucp.CheckoutMeta(v), ID: session.ID, Status: statuses[session.State], Currency: quote.Offer.Price.Currency,
		LineItems: []ucp.LineItem{lineOf(quote)}, Totals: dueTotals(quote), Messages: messagesOf(session),
		Links:     f.links(),
		ExpiresAt: session.ExpiresAt().UTC().Truncate(time.Second),
	}
	switch session.State {
	case checkout.Open:
		c.ContinueURL = f.Sessions.ContinueURL(session)
	case checkout.Completed:
		o, err := f.Orders.OfCheckout(ctx, session.ID)
		if err != nil {
			return nil, err
		}
		c.Totals, c.Messages = paidTotals(quote, o), orderMessages(o)
		c.Order = &ucp.OrderConfirmation{ID: o.ID, PermalinkURL: f.Sessions.Checkout.OrderURL(session)}
	case checkout.Creating, checkout.Processing, checkout.Canceled, checkout.Expired: // neither a page nor an order
	}
	return c, nil
}

// lineID is the id of the one line that a checkout has.
const lineID = "li_1"

func lineOf(quote *offer.Quote) ucp.LineItem {
	o := &quote.Offer
	line := ucp.LineItem{
		ID: lineID, Item: ucp.Item{ID: o.ID, Title: o.Name, Price: o.Price.Minor}, Quantity: quote.Quantity,
		Totals: []ucp.Total{
			{Type: ucp.TotalSubtotal, Amount: quote.Subtotal().Minor},
			{Type: ucp.TotalTotal, Amount: quote.Subtotal().Minor},
		},
	}
	if len(o.ImageURLs) > 0 {
		line.Item.ImageURL = o.ImageURLs[0]
	}
	return line
}

// goods are the totals of the goods alone. A free trial takes off the whole
// first period.
func goods(quote *offer.Quote) []ucp.Total {
	o, subtotal, due := &quote.Offer, quote.Subtotal().Minor, quote.DueToday().Minor
	words := o.Name
	if o.Billing.Recurring() {
		words += ", billed " + o.Billing.Every()
	}
	totals := []ucp.Total{{Type: ucp.TotalSubtotal, DisplayText: words, Amount: subtotal}}
	if due != subtotal {
		totals = append(totals, ucp.Total{
			Type: "trial_credit", DisplayText: "Free for the first " + offer.Days(o.TrialDays), Amount: due - subtotal,
		})
	}
	return totals
}

// dueTotals are the totals of a session that is not paid.
func dueTotals(quote *offer.Quote) []ucp.Total {
	return append(goods(quote), ucp.Total{
		Type: ucp.TotalTotal, DisplayText: sessionhttp.TotalWords(&quote.Offer),
		Amount: quote.DueToday().Minor,
	})
}

// paidTotals are what was charged. A difference to the quote that is neither tax
// nor shipping (a promotion code of the hosted page, a fault of the processor)
// is named, so that the lines add up to the money that moved.
func paidTotals(quote *offer.Quote, o *order.Order) []ucp.Total {
	totals, sum := goods(quote), quote.DueToday().Minor
	add := func(kind, words string, amount int64) {
		if amount != 0 {
			totals = append(totals, ucp.Total{Type: kind, DisplayText: words, Amount: amount})
			sum += amount
		}
	}
	add(ucp.TotalFulfillment, "Shipping", o.Paid.Shipping)
	if quote.Offer.Tax != offer.TaxIncluded {
		add(ucp.TotalTax, "Tax", o.Paid.Tax)
	}
	if rest := o.Paid.Total - sum; rest > 0 {
		add(ucp.TotalFee, "Charged beyond the quote", rest)
	} else {
		add(ucp.TotalDiscount, "Discount given on the payment page", rest)
	}
	return append(totals, ucp.Total{Type: ucp.TotalTotal, DisplayText: "Total paid", Amount: o.Paid.Total})
}

func (f *Handler) links() []ucp.Link {
	links := []ucp.Link{}
	for _, l := range []ucp.Link{
		{Type: ucp.LinkTermsOfService, URL: f.Site.Terms},
		{Type: ucp.LinkPrivacyPolicy, URL: f.Site.Privacy},
		{Type: ucp.LinkRefundPolicy, URL: f.Site.Refunds},
	} {
		if l.URL != "" {
			links = append(links, l)
		}
	}
	return links
}

// messagesOf say the state of an unpaid session and who acts next.
func messagesOf(session *checkout.Session) []ucp.Message {
	switch session.State {
	case checkout.Open:
		return openMessages(session)
	case checkout.Processing:
		return []ucp.Message{ucp.Info(codePaymentPending,
			"The buyer has paid by a method that takes a while to confirm. Read the checkout again later; there is "+
				"nothing to do.")}
	case checkout.Expired:
		return []ucp.Message{ucp.Info(ucp.Expired,
			"The payment page has expired and nothing was charged. Create a new checkout.")}
	case checkout.Canceled:
		return []ucp.Message{endingOf(session.Ending)}
	case checkout.Creating, checkout.Completed:
	}
	return nil
}

func openMessages(session *checkout.Session) []ucp.Message {
	o := &session.Quote().Offer
	messages := []ucp.Message{ucp.Error(ucp.PaymentRequired, ucp.RequiresBuyerInput, "$.payment",
		"Send the buyer to continue_url: the payment, the e-mail and, for hardware, the shipping address are entered "+
			"there. Nothing is charged by this API.")}
	if o.Billing.Recurring() {
		messages = append(messages,
			ucp.Disclosure(ucp.RecurringCharge, "$.line_items[0]", sessionhttp.RecurringTerms(o)))
	}
	for _, notice := range session.Notices {
		if notice == checkout.NoticePriceChanged {
			messages = append(messages, ucp.Warning(ucp.PriceChanged, "$.line_items[0].item.price",
				"The price has changed since the checkout was opened. The totals are the new ones; tell the buyer."))
		}
	}
	if o.Tax != offer.TaxIncluded {
		messages = append(messages, ucp.Info(ucp.TaxAtPayment, "Tax is calculated on the payment page."))
	}
	if o.Delivery.Type == offer.Shipping {
		messages = append(messages,
			ucp.Info(codeShippingAtPayment,
				"The shipping address is entered on the payment page, and shipping is added there."))
	}
	return messages
}

func endingOf(ending string) ucp.Message {
	switch ending {
	case checkout.EndingSoldOut:
		return ucp.Error(ucp.OutOfStock, ucp.Unrecoverable, "$.line_items[0]",
			"The offer was sold out before the buyer paid, and nothing was charged. Choose another one.")
	case checkout.EndingPaymentFailed:
		return ucp.Error(ucp.PaymentFailed, ucp.Unrecoverable, "$.payment",
			"The payment did not go through, and nothing was charged. Create a new checkout to try another way to pay.")
	}
	return ucp.Info(codeCanceled,
		"The checkout was canceled and nothing was charged. Create a new one to buy after all.")
}

func orderMessages(o *order.Order) []ucp.Message {
	switch o.Status {
	case order.Review:
		return []ucp.Message{ucp.Info(codeOrderInReview,
			"The payment has arrived, but a person looks at the order before it is carried out. The buyer hears by "+
				"e-mail.")}
	case order.RefundDue:
		return []ucp.Message{ucp.Info(codeRefundDue,
			"The payment arrived after the last unit was sold. It will be refunded in full.")}
	case order.Refunded:
		return []ucp.Message{ucp.Info(codeRefunded, "The payment for this order went back to the buyer.")}
	case order.Confirmed:
	}
	return nil
}
