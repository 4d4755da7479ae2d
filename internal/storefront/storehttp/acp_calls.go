package storehttp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
)

// acpCall is one request, as far as its headers were read.
type acpCall struct {
	exchange   acp.Exchange
	sessionID  string // out of the path
	resourceID string // of what a create makes; the same in each repetition
	body       []byte
	agent      checkout.Agent
}

// acpLineID is the id of the one line that a session has.
const acpLineID = "li_1"

func (s *server) acpCreate(ctx context.Context, call *acpCall) (*acp.CheckoutSession, error) {
	req, err := acp.ReadCreate(call.body, call.exchange)
	if err != nil {
		return nil, err
	}
	line, err := onlyLine(req.LineItems)
	if err != nil {
		return nil, err
	}
	if err := s.acpCurrency(ctx, req.Currency, line.ItemID); err != nil {
		return nil, err
	}
	call.agent.Attribution = attribution(req.Affiliate)
	session, err := s.Checkout.Create(ctx, checkout.Request{
		ID: call.resourceID, Protocol: checkout.ACP, OfferID: line.ItemID, Quantity: line.Quantity, Buyer: acpBuyer(req.Buyer), Agent: call.agent,
	})
	if err != nil {
		return nil, aboutLine(err, line)
	}
	return s.acpAnswer(ctx, session, call.exchange.Version, req.PaymentSent)
}

func (s *server) acpUpdate(ctx context.Context, call *acpCall) (*acp.CheckoutSession, error) {
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
	now, err := s.Checkout.Get(ctx, call.sessionID)
	if err != nil {
		return nil, err
	}
	update := acpChange(&now.Quote().Offer, line)
	update.Buyer = acpBuyer(req.Buyer)
	if err := s.acpCurrency(ctx, req.Currency, update.OfferID); err != nil {
		return nil, err
	}
	session, err := s.Checkout.Update(ctx, call.sessionID, update)
	if err != nil {
		return nil, aboutLine(err, line)
	}
	return s.acpAnswer(ctx, session, call.exchange.Version, req.PaymentSent)
}

// acpComplete completes nothing: a person does, on the hosted page. It answers
// where the session stands.
func (s *server) acpComplete(ctx context.Context, call *acpCall) (*acp.CheckoutSession, error) {
	req, err := acp.ReadComplete(call.body)
	if err != nil {
		return nil, err
	}
	session, err := s.Checkout.Get(ctx, call.sessionID)
	if err != nil {
		return nil, err
	}
	if session.State == checkout.Canceled || session.State == checkout.Expired {
		return nil, problem.New(problem.Conflict, "checkout_not_modifiable", "The session is over and nothing was charged. Create a new one.")
	}
	return s.acpAnswer(ctx, session, call.exchange.Version, req.PaymentSent)
}

func (s *server) acpCancel(ctx context.Context, call *acpCall) (*acp.CheckoutSession, error) {
	trace, err := acp.ReadCancel(call.body)
	if err != nil {
		return nil, err
	}
	text, err := traceText(trace)
	if err != nil {
		return nil, err
	}
	session, err := s.Checkout.Cancel(ctx, call.sessionID, text)
	if p, ok := problem.From(err); ok && err != nil && p.Code == "checkout_not_modifiable" {
		return nil, problem.New(problem.MethodNotAllowed, acp.SessionNotCancelable, p.Detail)
	}
	if err != nil {
		return nil, err
	}
	return s.acpSession(ctx, session, call.exchange.Version)
}

// acpAnswer is a session, with a word about payment data if some was sent: it
// was dropped while the request was read.
func (s *server) acpAnswer(ctx context.Context, session *checkout.Session, v acp.Version, paymentSent bool) (*acp.CheckoutSession, error) {
	a, err := s.acpSession(ctx, session, v)
	if err != nil || !paymentSent || session.State != checkout.Open {
		return a, err
	}
	refusal := acp.Problem(acp.ErrUnsupported, acp.RequiresBuyerInput, "$.payment_data",
		"Payment data is not accepted; it was discarded and nothing was charged. Send the buyer to continue_url.")
	a.Messages = append([]acp.Message{refusal}, a.Messages[1:]...)
	return a.For(v), nil
}

// onlyLine answers the line of a request. A checkout sells one offer: its page
// at the processor has one price, one trial and one way of delivery.
func onlyLine(lines []acp.RequestLine) (acp.RequestLine, error) {
	if len(lines) == 1 {
		return lines[0], nil
	}
	return acp.RequestLine{}, &acpFault{
		problem.New(problem.Invalid, "multiple_items_unsupported", "A checkout sells one item. Create a session for each; nothing was created or changed."),
		lines[1].Path,
	}
}

// acpCurrency refuses to open a checkout in another currency than was asked
// for. An unknown offer is left to the checkout to refuse.
func (s *server) acpCurrency(ctx context.Context, currency, offerID string) error {
	if currency == "" {
		return nil
	}
	snapshot, err := s.Catalog.Snapshot(ctx)
	if err != nil {
		return err
	}
	o, err := snapshot.Find(offerID)
	if err != nil || strings.EqualFold(currency, o.Price.Currency) {
		return nil //nolint:nilerr // see above
	}
	return &acpFault{
		problem.New(problem.Invalid, "unsupported_currency", "This item is sold in "+strings.ToLower(o.Price.Currency)+" only. Ask the buyer, then name that currency."),
		"$.currency",
	}
}

// acpChange is what a line changes in a session that sells o. A line that
// names no quantity leaves it, unless the item is another one.
func acpChange(o *offer.Offer, line acp.RequestLine) checkout.Update {
	switch line.ItemID {
	case "", acpLineID, o.ID, o.PriceRef: // no line, or the one that is there
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
		return &acpFault{err, line.ItemPath}
	case "invalid_quantity":
		return &acpFault{err, line.Path + ".quantity"}
	case "sold_out", "hold_limit":
		return &acpFault{err, line.Path}
	}
	return err
}

// acpFault is a failure with its place in the request.
type acpFault struct {
	error
	param string // JSONPath
}

// Unwrap makes the problem inside visible.
func (f *acpFault) Unwrap() error { return f.error }

func paramOf(err error) string {
	if fault, ok := errors.AsType[*acpFault](err); ok {
		return fault.param
	}
	return ""
}

func acpBuyer(b *acp.Buyer) checkout.Buyer {
	if b == nil {
		return checkout.Buyer{}
	}
	return checkout.Buyer{Email: b.Email}
}

func attribution(affiliate map[string]any) map[string]string {
	kept := map[string]string{}
	for name, value := range affiliate {
		if text, ok := value.(string); ok {
			kept[name] = text
		}
	}
	return kept
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
