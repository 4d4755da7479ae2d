package acphttp

import (
	"context"
	"strings"
	"time"

	"ace/internal/protocol/acp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// statuses are the states of sessions in the words of ACP. A session that
// is still being created is not shown at all.
var statuses = map[checkout.State]acp.Status{
	checkout.Open:       acp.RequiresEscalation,
	checkout.Processing: acp.CompleteInProgress,
	checkout.Completed:  acp.Completed,
	checkout.Canceled:   acp.Canceled,
	checkout.Expired:    acp.Expired,
}

// session is a session as version v writes it. The order of a paid session
// is read for it.
func (h *Handler) session(ctx context.Context, session *checkout.Session,
	v acp.Version,
) (*acp.CheckoutSession, error) {
	quote := session.Quote()
	a := &acp.CheckoutSession{
		ID: session.ID, Capabilities: acp.NoCapabilities(), Status: statuses[session.State],
		Currency:  strings.ToLower(quote.Offer.Price.Currency),
		LineItems: []acp.LineItem{lineOf(session, quote)}, FulfillmentOptions: deliveryOf(&quote.Offer),
		Totals: totalsOf(quote), Messages: messagesOf(session), Links: h.links(),
		CreatedAt: timeOf(session.CreatedAt), UpdatedAt: timeOf(session.UpdatedAt),
		ExpiresAt: timeOf(session.ExpiresAt()),
	}
	if session.State == checkout.Open {
		a.ContinueURL = h.Sessions.ContinueURL(session)
	}
	if session.State == checkout.Completed {
		o, err := h.Orders.OfCheckout(ctx, session.ID)
		if err != nil {
			return nil, err
		}
		a.Order, a.Totals = h.order(session, o, v), paidTotals(quote, o, v)
	}
	return a.For(v), nil
}

// timeOf is a time as the store keeps it.
func timeOf(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func lineOf(session *checkout.Session, quote *offer.Quote) acp.LineItem {
	o := &quote.Offer
	unit := o.Price.Minor
	line := acp.LineItem{
		ID: lineID, Item: acp.Item{ID: o.ID, Name: o.Name, UnitAmount: &unit}, Quantity: quote.Quantity,
		Name: o.Name, Description: o.Description, Images: o.ImageURLs, UnitAmount: &unit, ProductID: o.ProductID,
		SKU:      o.ID,
		Category: string(o.Category), AvailabilityStatus: availabilityOf(session, o),
		MaxQuantityPerOrder: o.Stock.MaxPerOrder,
		CustomAttributes:    attributesOf(session, o), Totals: totalsOf(quote),
	}
	if o.Billing.Recurring() {
		line.Disclosures = []acp.Disclosure{{
			Type: "disclaimer", ContentType: "plain",
			Content: sessionhttp.RecurringTerms(o),
		}}
	}
	return line
}

// attributesOf say what the protocol has no members for.
func attributesOf(session *checkout.Session, o *offer.Offer) []acp.CustomAttribute {
	attributes := []acp.CustomAttribute{{DisplayName: "Billing", Value: o.BillingSummary()}}
	if o.TrialDays > 0 {
		attributes = append(attributes, acp.CustomAttribute{DisplayName: "Free trial", Value: o.TrialSummary()})
	}
	if o.Delivery.Summary != "" {
		attributes = append(attributes, acp.CustomAttribute{DisplayName: "Delivery", Value: o.Delivery.Summary})
	}
	availability := strings.ReplaceAll(string(availabilityOf(session, o)), "_", " ")
	if o.Stock.Counted && session.State == checkout.Open {
		availability = "Held for this session until " + answer.Time(session.ExpiresAt())
	}
	return append(attributes, acp.CustomAttribute{DisplayName: "Availability", Value: availability})
}

// availabilityOf is the availability by the terms of the session: the units
// of a counted offer are held for it.
func availabilityOf(session *checkout.Session, o *offer.Offer) acp.Availability {
	if session.Ending == checkout.EndingSoldOut {
		return acp.OutOfStock
	}
	switch o.Stock.Status {
	case offer.LowStock:
		return acp.LowStock
	case offer.Preorder:
		return acp.PreOrder
	case offer.Backorder:
		return acp.Backorder
	case offer.OutOfStock, offer.Discontinued:
		return acp.OutOfStock
	case offer.InStock:
	}
	return acp.InStock
}

// deliveryOf is empty where an address or an appointment is needed: both are
// settled on the hosted page.
func deliveryOf(o *offer.Offer) []acp.FulfillmentOption {
	if o.Delivery.Type != offer.Digital {
		return nil
	}
	option := acp.Digital("digital", "Digital delivery")
	option.Description = o.Delivery.Summary
	return []acp.FulfillmentOption{option}
}

func (h *Handler) links() []acp.Link {
	var links []acp.Link
	for _, l := range []acp.Link{
		{Type: acp.LinkTermsOfUse, URL: h.Site.Terms},
		{Type: acp.LinkPrivacyPolicy, URL: h.Site.Privacy},
		{Type: acp.LinkReturnPolicy, URL: h.Site.Refunds},
	} {
		if l.URL != "" {
			links = append(links, l)
		}
	}
	return links
}

// messagesOf say the state of the session and who acts next.
func messagesOf(session *checkout.Session) []acp.Message {
	var messages []acp.Message
	switch session.State {
	case checkout.Open:
		messages = append(messages, acp.Info(acp.RequiresBuyerInput,
			"Send the buyer to continue_url: e-mail, payment and, for hardware, the shipping address are entered "+
				"there. This API charges nothing."))
		for _, notice := range session.Notices {
			if notice == checkout.NoticePriceChanged {
				messages = append(messages, acp.Warning(acp.WarnPriceChange, "$.line_items[0].unit_amount",
					"The price has changed since the session was opened. The totals are the new ones; tell the buyer."))
			}
		}
	case checkout.Processing:
		messages = append(messages, acp.Info("",
			"The buyer has paid by a method that takes a while to confirm. Read the session again later; there is "+
				"nothing to do."))
	case checkout.Expired:
		messages = append(messages,
			endedMessage(acp.ErrExpired, "The payment page has expired and nothing was charged. Create a new session."))
	case checkout.Canceled:
		messages = append(messages, canceledMessage(session.Ending))
	case checkout.Creating, checkout.Completed:
	}
	return messages
}

func canceledMessage(ending string) acp.Message {
	switch ending {
	case checkout.EndingSoldOut:
		return endedMessage(acp.ErrOutOfStock,
			"The offer was sold out before the buyer paid, and nothing was charged. Choose another one.")
	case checkout.EndingPaymentFailed:
		return endedMessage(acp.ErrPaymentDeclined,
			"The payment did not go through, and nothing was charged. Create a new session to try another way to pay.")
	}
	return acp.Info("", "The session was canceled and nothing was charged. Create a new one to buy after all.")
}

// endedMessage is a message of a session that is over: a new one may do better.
func endedMessage(code acp.MessageCode, content string) acp.Message {
	m := acp.Problem(code, acp.Recoverable, "", content)
	m.Severity = acp.SeverityInfo
	return m
}
