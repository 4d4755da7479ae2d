package acphttp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
)

// request is one request, as far as its headers were read.
type request struct {
	exchange   acp.Exchange
	sessionID  string // out of the path
	resourceID string // of what a create makes; the same in each repetition
	body       *jsonread.Value
	agent      checkout.Agent
}

// lineID is the id of the one line that a session has.
const lineID = "li_1"

func (h *Handler) create(ctx context.Context, call *request) (*acp.CheckoutSession, error) {
	req, err := acp.ReadCreate(call.body, call.exchange)
	if err != nil {
		return nil, err
	}
	line, err := onlyLine(req.LineItems)
	if err != nil {
		return nil, err
	}
	if err := h.checkCurrency(ctx, req.Currency, line.ItemID); err != nil {
		return nil, err
	}
	call.agent.Attribution = attribution(req.Affiliate)
	session, err := h.Checkout.Create(ctx, checkout.Request{
		ID: call.resourceID, Protocol: checkout.ACP, OfferID: line.ItemID, Quantity: line.Quantity,
		Buyer: buyerOf(req.Buyer), Agent: call.agent,
	})
	if err != nil {
		return nil, aboutLine(err, line)
	}
	return h.answer(ctx, session, call.exchange.Version, req.PaymentSent)
}

func (h *Handler) update(ctx context.Context, call *request) (*acp.CheckoutSession, error) {
	req, err := acp.ReadUpdate(call.body, call.exchange)
	if err != nil {
		return nil, err
	}
	var line acp.RequestLine
	if req.LineItems != nil {
		if line, err = onlyLine(req.LineItems); err != nil {
			return nil, err
		}
	}
	now, err := h.Checkout.Get(ctx, call.sessionID)
	if err != nil {
		return nil, err
	}
	update := changeOf(&now.Quote().Offer, line)
	update.Buyer = buyerOf(req.Buyer)
	if err := h.checkCurrency(ctx, req.Currency, update.OfferID); err != nil {
		return nil, err
	}
	session, err := h.Checkout.Update(ctx, call.sessionID, update)
	if err != nil {
		return nil, aboutLine(err, line)
	}
	return h.answer(ctx, session, call.exchange.Version, req.PaymentSent)
}

// complete completes nothing: a person does, on the hosted page. It returns
// the state of the session.
func (h *Handler) complete(ctx context.Context, call *request) (*acp.CheckoutSession, error) {
	req, err := acp.ReadComplete(call.body)
	if err != nil {
		return nil, err
	}
	session, err := h.Checkout.Get(ctx, call.sessionID)
	if err != nil {
		return nil, err
	}
	if session.State == checkout.Canceled || session.State == checkout.Expired {
		return nil, problem.New(problem.Conflict, "checkout_not_modifiable",
			"The session has ended and nothing was charged. Create a new one.")
	}
	return h.answer(ctx, session, call.exchange.Version, req.PaymentSent)
}

func (h *Handler) cancel(ctx context.Context, call *request) (*acp.CheckoutSession, error) {
	trace, err := acp.ReadCancel(call.body)
	if err != nil {
		return nil, err
	}
	text, err := traceText(trace)
	if err != nil {
		return nil, err
	}
	session, err := h.Checkout.Cancel(ctx, call.sessionID, text)
	if p, ok := problem.From(err); ok && err != nil && p.Code == "checkout_not_modifiable" {
		return nil, problem.New(problem.MethodNotAllowed, acp.SessionNotCancelable, p.Detail)
	}
	if err != nil {
		return nil, err
	}
	return h.session(ctx, session, call.exchange.Version)
}

// answer is a session, with a message about payment data if some was sent: it
// was dropped while the request was read.
func (h *Handler) answer(ctx context.Context, session *checkout.Session, v acp.Version,
	paymentSent bool,
) (*acp.CheckoutSession, error) {
	a, err := h.session(ctx, session, v)
	if err != nil || !paymentSent || session.State != checkout.Open {
		return a, err
	}
	refusal := acp.Problem(acp.ErrUnsupported, acp.RequiresBuyerInput, "$.payment_data",
		"Payment data is not accepted; it was discarded and nothing was charged. Send the buyer to continue_url.")
	a.Messages = append([]acp.Message{refusal}, a.Messages[1:]...)
	return a.For(v), nil
}

// onlyLine returns the line of a request. A checkout sells one offer: its page
// at the processor has one price, one trial and one way of delivery.
func onlyLine(lines []acp.RequestLine) (acp.RequestLine, error) {
	if len(lines) == 1 {
		return lines[0], nil
	}
	return acp.RequestLine{}, &locatedError{
		problem.New(problem.Invalid, "multiple_items_unsupported",
			"A checkout sells one item. Create a session for each; nothing was created or changed."),
		lines[1].Path,
	}
}

// checkCurrency refuses to open a checkout in another currency than was asked
// for. An unknown offer is left to the checkout to refuse.
func (h *Handler) checkCurrency(ctx context.Context, currency, offerID string) error {
	if currency == "" {
		return nil
	}
	snapshot, err := h.Catalog.Snapshot(ctx)
	if err != nil {
		return err
	}
	o, err := snapshot.Find(offerID)
	if err != nil || strings.EqualFold(currency, o.Price.Currency) {
		return nil //nolint:nilerr // see above
	}
	return &locatedError{
		problem.New(problem.Invalid, "unsupported_currency",
			"This item is sold in "+strings.ToLower(o.Price.Currency)+" only. Ask the buyer, then name that currency."),
		"$.currency",
	}
}

// changeOf is what a line changes in a session that sells o. A line that
// names no quantity leaves it, unless the item is another one.
func changeOf(o *offer.Offer, line acp.RequestLine) checkout.Update {
	switch line.ItemID {
	case "", lineID, o.ID, o.PriceRef: // no line, or the one that is there
		return checkout.Update{OfferID: o.ID, Quantity: line.Quantity}
	}
	return checkout.Update{OfferID: line.ItemID, Quantity: max(1, line.Quantity)}
}

// aboutLine points at what a refusal is about.
func aboutLine(err error, line acp.RequestLine) error {
	p, ok := problem.From(err)
	if !ok || line.Path == "" {
		return err
	}
	switch p.Code {
	case "offer_not_found", "offer_required":
		return &locatedError{err, line.ItemPath}
	case "invalid_quantity":
		return &locatedError{err, line.Path + ".quantity"}
	case "sold_out", "hold_limit":
		return &locatedError{err, line.Path}
	}
	return err
}

// locatedError is a failure with its place in the request.
type locatedError struct {
	error
	param string // JSONPath
}

// Unwrap makes the problem inside visible.
func (f *locatedError) Unwrap() error { return f.error }

func paramOf(err error) string {
	if fault, ok := errors.AsType[*locatedError](err); ok {
		return fault.param
	}
	return ""
}

func buyerOf(b *acp.Buyer) checkout.Buyer {
	if b == nil {
		return checkout.Buyer{}
	}
	return checkout.Buyer{Email: b.Email}
}

func attribution(affiliate map[string]any) map[string]string {
	stored := map[string]string{}
	for name, value := range affiliate {
		if text, ok := value.(string); ok {
			stored[name] = text
		}
	}
	return stored
}

// traceText is why a sale was lost, as it is kept with the session.
func traceText(trace *acp.IntentTrace) (string, error) {
	if trace == nil {
		return "", nil
	}
	text, err := json.Marshal(struct {
		Reason   string         `json:"reason_code"`
		Summary  string         `json:"trace_summary,omitempty"`
		Metadata map[string]any `json:"metadata,omitempty"`
	}{trace.ReasonCode, trace.Summary, trace.Metadata})
	return string(text), err
}
