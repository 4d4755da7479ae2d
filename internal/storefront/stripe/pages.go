package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// pageExpansions add what says whether, and by what, a page was paid.
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
		return checkout.PageFacts{}, classify(err, "opening a page",
			problem.New(problem.Unprocessable, "processor_refused",
				"The payment processor does not open a checkout for this offer. Choose another offer or tell the "+
					"operator of this store."))
	}
	// Only the list of pages says whether a page was opened under this key.
	return c.findPage(ctx, req)
}

// findPage looks for a page whose creation returned a failure.
func (c *Client) findPage(ctx context.Context, req checkout.PageRequest) (checkout.PageFacts, error) {
	params := &stripego.CheckoutSessionListParams{
		CreatedRange: &stripego.RangeQueryParams{GreaterThanOrEqual: req.Since.Add(-time.Minute).Unix()},
	}
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
	metadata := map[string]string{
		"checkout_id": req.CheckoutID, "page": strconv.Itoa(req.N),
		"protocol": string(req.Protocol),
	}
	params := &stripego.CheckoutSessionCreateParams{
		ClientReferenceID: stripego.String(req.CheckoutID),
		Mode:              stripego.String(string(stripego.CheckoutSessionModePayment)),
		LineItems: []*stripego.CheckoutSessionCreateLineItemParams{{
			Price:    stripego.String(o.PriceRef),
			Quantity: stripego.Int64(req.Quote.Quantity),
		}},
		SuccessURL: stripego.String(req.SuccessURL),
		CancelURL:  stripego.String(req.CancelURL),
		ExpiresAt:  stripego.Int64(req.ExpiresAt.Unix()),
		Metadata:   metadata,
	}
	if req.Email != "" {
		params.CustomerEmail = stripego.String(req.Email)
	}
	if c.opts.StoreName != "" {
		params.BrandingSettings = &stripego.CheckoutSessionCreateBrandingSettingsParams{
			DisplayName: stripego.String(c.opts.StoreName),
		}
	}
	if c.opts.AutomaticTax {
		params.AutomaticTax = &stripego.CheckoutSessionCreateAutomaticTaxParams{Enabled: stripego.Bool(true)}
	}
	if o.Delivery.Type == offer.Shipping {
		params.ShippingAddressCollection = &stripego.CheckoutSessionCreateShippingAddressCollectionParams{
			AllowedCountries: stripego.StringSlice(o.Delivery.ShipsTo),
		}
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
	session, err := c.api.V1CheckoutSessions.Retrieve(ctx,
		ref, &stripego.CheckoutSessionRetrieveParams{Expand: pageExpansions("")})
	if err != nil {
		return checkout.PageFacts{}, classify(err, "reading a page", unavailable())
	}
	return facts(session), nil
}

// ClosePage implements checkout.Processor.
func (c *Client) ClosePage(ctx context.Context, ref string) (checkout.PageFacts, error) {
	session, err := c.api.V1CheckoutSessions.Expire(ctx, ref,
		&stripego.CheckoutSessionExpireParams{Expand: pageExpansions("")})
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

// ChangedPages implements checkout.Processor. It reads two lists, one after the
// other: the log of events for the pages that ended, then the pages that are
// open. Stripe forgets events after 30 days, so that after a longer
// absence the list of all pages is read instead.
func (c *Client) ChangedPages(ctx context.Context, since time.Time, cursor string) (checkout.PageList, error) {
	list, after, _ := strings.Cut(cursor, ":")
	switch {
	case list == "" && time.Since(since) < eventsLast, list == listEnded:
		return c.endedPages(ctx, since, after)
	case list == listOpen:
		return c.createdPages(ctx, since, listOpen, after)
	default:
		return c.createdPages(ctx, since.Add(-longestPage), listAll, after)
	}
}

// The lists that make up the list of changed pages, as they begin a cursor.
const (
	listEnded = "ended"
	listOpen  = "open"
	listAll   = "all"
)

const (
	// eventsLast is less than the time for which Stripe stores events.
	eventsLast = 28 * 24 * time.Hour
	// longestPage is more than the time in which a page can be paid.
	longestPage = 25 * time.Hour
)

// endedPages returns a part of the log of events. The open pages follow it.
func (c *Client) endedPages(ctx context.Context, since time.Time, after string) (checkout.PageList, error) {
	params := &stripego.EventListParams{
		CreatedRange: &stripego.RangeQueryParams{GreaterThanOrEqual: since.Unix()},
		Types:        stripego.StringSlice(pageEvents()),
	}
	params.ListParams = c.part(after)
	events := c.api.V1Events.List(ctx, params)
	if err := events.Err(); err != nil {
		return checkout.PageList{}, partError(err, "reading events", after)
	}
	var list checkout.PageList
	for _, event := range events.Data() {
		list.Pages = append(list.Pages, eventFacts(event))
		list.Next = listEnded + ":" + event.ID
	}
	if !events.Meta().HasMore {
		list.Next = listOpen + ":"
	}
	return list, nil
}

// eventFacts reads the page that an event is about. Of one that cannot be read
// it returns what leads to the page itself: it must not hold up the others.
func eventFacts(event *stripego.Event) checkout.PageFacts {
	session, err := sessionOf(event)
	if err == nil {
		return facts(session)
	}
	var f checkout.PageFacts
	if event.Data != nil {
		f.Ref, _ = event.Data.Object["id"].(string)
		f.CheckoutID, _ = event.Data.Object["client_reference_id"].(string)
	}
	return f
}

// createdPages returns a part of the list of pages, newest first.
func (c *Client) createdPages(ctx context.Context, since time.Time, name, after string) (checkout.PageList, error) {
	params := &stripego.CheckoutSessionListParams{
		CreatedRange: &stripego.RangeQueryParams{GreaterThanOrEqual: since.Unix()},
	}
	params.ListParams = c.part(after)
	if name == listOpen {
		params.Status = stripego.String("open")
	}
	pages := c.api.V1CheckoutSessions.List(ctx, params)
	if err := pages.Err(); err != nil {
		return checkout.PageList{}, partError(err, "reading pages", after)
	}
	var list checkout.PageList
	for _, session := range pages.Data() {
		list.Pages = append(list.Pages, facts(session))
		list.Next = name + ":" + session.ID
	}
	if !pages.Meta().HasMore {
		list.Next = ""
	}
	return list, nil
}

// part asks for one part of a list.
func (c *Client) part(after string) stripego.ListParams {
	params := stripego.ListParams{Limit: stripego.Int64(cmp.Or(c.opts.ListLimit, 100))}
	if after != "" {
		params.StartingAfter = stripego.String(after)
	}
	return params
}

// partError is ErrCursorLost if Stripe does not know the object that the part
// is to follow.
func partError(err error, doing, after string) error {
	var api *stripego.Error
	if after != "" && errors.As(err, &api) && api.Code == stripego.ErrorCodeResourceMissing {
		return fmt.Errorf("%s: %w (%w)", doing, checkout.ErrCursorLost, summary(err))
	}
	return classify(err, doing, unavailable())
}

// facts reads a checkout session of Stripe.
func facts(s *stripego.CheckoutSession) checkout.PageFacts {
	n, _ := strconv.Atoi(s.Metadata["page"])
	f := checkout.PageFacts{
		Ref: s.ID, URL: s.URL, CheckoutID: s.ClientReferenceID, N: n, Status: checkout.PageStatus(s.Status),
		ExpiresAt: time.Unix(s.ExpiresAt, 0).UTC(),
	}
	if f.Status != checkout.StatusComplete {
		return f
	}
	switch {
	case s.PaymentStatus == stripego.CheckoutSessionPaymentStatusPaid,
		s.PaymentStatus == stripego.CheckoutSessionPaymentStatusNoPaymentRequired:
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
	return pi != nil && (pi.Status == stripego.PaymentIntentStatusRequiresPaymentMethod ||
		pi.Status == stripego.PaymentIntentStatusCanceled)
}

func paid(s *stripego.CheckoutSession) order.Paid {
	currency := strings.ToUpper(string(s.Currency))
	p := order.Paid{
		Total: fromStripe(s.AmountTotal, currency).Minor, Currency: currency, PageRef: s.ID,
		PaymentRef: paymentRef(s), Live: s.Livemode,
	}
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
