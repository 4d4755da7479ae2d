package stripe

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// pageExpansions bring along what tells whether, and by what, a page was paid.
func pageExpansions(prefix string) []*string {
	return []*string{stripego.String(prefix + "payment_intent"), stripego.String(prefix + "invoice.payments")}
}

// OpenPage implements checkout.Processor.
func (c *Client) OpenPage(ctx context.Context, req checkout.PageRequest) (checkout.PageFacts, error) {
	params := c.pageParams(req)
	params.IdempotencyKey = stripego.String(req.Key)
	params.Expand = pageExpansions("")
	session, err := c.api.V1CheckoutSessions.Create(ctx, params)
	if err == nil {
		return facts(session), nil
	}
	if !burnt(err) {
		return checkout.PageFacts{}, classify(err, "opening a page", problem.New(problem.Unprocessable, "processor_refused",
			"The payment processor does not open a checkout for this offer. Choose another offer or tell the operator of this store."))
	}
	// Whether a page was made under this key, only the list of pages can tell.
	return c.findPage(ctx, req)
}

// findPage looks for a page whose creation was answered with a failure.
func (c *Client) findPage(ctx context.Context, req checkout.PageRequest) (checkout.PageFacts, error) {
	params := &stripego.CheckoutSessionListParams{CreatedRange: &stripego.RangeQueryParams{GreaterThanOrEqual: req.Since.Add(-time.Minute).Unix()}}
	params.Limit = stripego.Int64(100)
	params.Expand = pageExpansions("data.")
	for session, err := range c.api.V1CheckoutSessions.List(ctx, params).All(ctx) {
		if err != nil {
			return checkout.PageFacts{}, classify(err, "looking for a page", unavailable())
		}
		if f := facts(session); f.CheckoutID == req.CheckoutID && f.N == req.N {
			return f, nil
		}
	}
	return checkout.PageFacts{}, checkout.ErrPageLost
}

func (c *Client) pageParams(req checkout.PageRequest) *stripego.CheckoutSessionCreateParams {
	o := &req.Quote.Offer
	metadata := map[string]string{"checkout_id": req.CheckoutID, "page": strconv.Itoa(req.N), "protocol": string(req.Protocol)}
	params := &stripego.CheckoutSessionCreateParams{
		ClientReferenceID: stripego.String(req.CheckoutID),
		Mode:              stripego.String(string(stripego.CheckoutSessionModePayment)),
		LineItems:         []*stripego.CheckoutSessionCreateLineItemParams{{Price: stripego.String(o.PriceRef), Quantity: stripego.Int64(req.Quote.Quantity)}},
		SuccessURL:        stripego.String(req.SuccessURL),
		CancelURL:         stripego.String(req.CancelURL),
		ExpiresAt:         stripego.Int64(req.ExpiresAt.Unix()),
		Metadata:          metadata,
	}
	if req.Email != "" {
		params.CustomerEmail = stripego.String(req.Email)
	}
	if c.opts.AutomaticTax {
		params.AutomaticTax = &stripego.CheckoutSessionCreateAutomaticTaxParams{Enabled: stripego.Bool(true)}
	}
	if o.Delivery.Type == offer.Shipping {
		params.ShippingAddressCollection = &stripego.CheckoutSessionCreateShippingAddressCollectionParams{AllowedCountries: stripego.StringSlice(o.Delivery.ShipsTo)}
	}
	if !o.Billing.Recurring() {
		params.PaymentIntentData = &stripego.CheckoutSessionCreatePaymentIntentDataParams{Metadata: metadata}
		return params
	}
	params.Mode = stripego.String(string(stripego.CheckoutSessionModeSubscription))
	params.PaymentMethodCollection = stripego.String("always")
	params.SubscriptionData = &stripego.CheckoutSessionCreateSubscriptionDataParams{Metadata: metadata}
	if o.TrialDays > 0 {
		params.SubscriptionData.TrialPeriodDays = stripego.Int64(int64(o.TrialDays))
	}
	return params
}

// ReadPage implements checkout.Processor.
func (c *Client) ReadPage(ctx context.Context, ref string) (checkout.PageFacts, error) {
	session, err := c.api.V1CheckoutSessions.Retrieve(ctx, ref, &stripego.CheckoutSessionRetrieveParams{Expand: pageExpansions("")})
	if err != nil {
		return checkout.PageFacts{}, classify(err, "reading a page", unavailable())
	}
	return facts(session), nil
}

// ClosePage implements checkout.Processor.
func (c *Client) ClosePage(ctx context.Context, ref string) (checkout.PageFacts, error) {
	session, err := c.api.V1CheckoutSessions.Expire(ctx, ref, &stripego.CheckoutSessionExpireParams{Expand: pageExpansions("")})
	if err == nil {
		return facts(session), nil
	}
	notOpen := problem.New(problem.Conflict, "page_not_open", "The page is not open any more.")
	if err = classify(err, "closing a page", notOpen); !errors.Is(err, notOpen) {
		return checkout.PageFacts{}, err
	}
	f, err := c.ReadPage(ctx, ref)
	if err == nil && f.Status == checkout.StatusOpen {
		return f, classify(errors.New("still open"), "closing a page", unavailable())
	}
	return f, err
}

// ChangedSince implements checkout.Processor. Pages that came to an end are
// found through the log of events, new ones through the list.
func (c *Client) ChangedSince(ctx context.Context, since time.Time, visit func(checkout.PageFacts) error) error {
	events := &stripego.EventListParams{CreatedRange: &stripego.RangeQueryParams{GreaterThanOrEqual: since.Unix()}, Types: stripego.StringSlice(pageEvents())}
	events.Limit = stripego.Int64(100)
	for event, err := range c.api.V1Events.List(ctx, events).All(ctx) {
		if err != nil {
			return classify(err, "reading events", unavailable())
		}
		session, err := sessionOf(event)
		if err != nil {
			return err
		}
		if err := visit(facts(session)); err != nil {
			return err
		}
	}
	open := &stripego.CheckoutSessionListParams{CreatedRange: &stripego.RangeQueryParams{GreaterThanOrEqual: since.Unix()}, Status: stripego.String("open")}
	open.Limit = stripego.Int64(100)
	for session, err := range c.api.V1CheckoutSessions.List(ctx, open).All(ctx) {
		if err != nil {
			return classify(err, "reading open pages", unavailable())
		}
		if err := visit(facts(session)); err != nil {
			return err
		}
	}
	return nil
}

// facts reads a checkout session of Stripe.
func facts(s *stripego.CheckoutSession) checkout.PageFacts {
	n, _ := strconv.Atoi(s.Metadata["page"])
	f := checkout.PageFacts{
		Ref: s.ID, URL: s.URL, CheckoutID: s.ClientReferenceID, N: n, Status: checkout.PageStatus(s.Status), ExpiresAt: time.Unix(s.ExpiresAt, 0).UTC(),
	}
	if f.Status != checkout.StatusComplete {
		return f
	}
	switch {
	case s.PaymentStatus == stripego.CheckoutSessionPaymentStatusPaid, s.PaymentStatus == stripego.CheckoutSessionPaymentStatusNoPaymentRequired:
		f.Payment, f.Paid = checkout.PaymentPaid, paid(s)
	case paymentFailed(s.PaymentIntent):
		f.Payment = checkout.PaymentFailed
	default:
		f.Payment = checkout.PaymentPending
	}
	return f
}

// paymentFailed reports whether a delayed payment came to nothing. Stripe then
// leaves the session complete and unpaid for good.
func paymentFailed(pi *stripego.PaymentIntent) bool {
	return pi != nil && (pi.Status == stripego.PaymentIntentStatusRequiresPaymentMethod || pi.Status == stripego.PaymentIntentStatusCanceled)
}

func paid(s *stripego.CheckoutSession) order.Paid {
	currency := strings.ToUpper(string(s.Currency))
	p := order.Paid{Total: fromStripe(s.AmountTotal, currency).Minor, Currency: currency, PageRef: s.ID, PaymentRef: paymentRef(s), Live: s.Livemode}
	if s.TotalDetails != nil {
		p.Tax = fromStripe(s.TotalDetails.AmountTax, currency).Minor
		p.Shipping = fromStripe(s.TotalDetails.AmountShipping, currency).Minor
	}
	if s.Subscription != nil {
		p.SubscriptionRef = s.Subscription.ID
	}
	return p
}

// paymentRef names what a refund gives back: the payment intent of the session
// or, for a subscription, of its first invoice.
func paymentRef(s *stripego.CheckoutSession) string {
	if s.PaymentIntent != nil {
		return s.PaymentIntent.ID
	}
	if s.Invoice == nil || s.Invoice.Payments == nil {
		return ""
	}
	for _, payment := range s.Invoice.Payments.Data {
		if payment.Payment != nil && payment.Payment.PaymentIntent != nil {
			return payment.Payment.PaymentIntent.ID
		}
	}
	return ""
}
