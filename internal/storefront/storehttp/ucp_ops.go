package storehttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
)

// ucpOperation is one of the operations, whatever transport it is reached by.
type ucpOperation struct {
	tool       string // its name in the MCP binding
	capability string
	success    int  // status over REST
	keyed      bool // an idempotency key counts
	signed     bool // the answer is signed
	do         func(*server, context.Context, *ucpCall) (any, error)
}

// ucpOperations lists the operations by the name of their tool.
func ucpOperations() map[string]*ucpOperation {
	all := map[string]*ucpOperation{}
	for _, op := range []*ucpOperation{
		{tool: ucp.ToolCreateCheckout, capability: ucp.CapabilityCheckout, success: http.StatusCreated, keyed: true, do: (*server).ucpCreate},
		{tool: ucp.ToolGetCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, do: (*server).ucpGet},
		{tool: ucp.ToolUpdateCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, keyed: true, do: (*server).ucpUpdate},
		{tool: ucp.ToolCompleteCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, keyed: true, signed: true, do: (*server).ucpComplete},
		{tool: ucp.ToolCancelCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, keyed: true, do: (*server).ucpCancel},
		{tool: ucp.ToolSearchCatalog, capability: ucp.CapabilityCatalogSearch, success: http.StatusOK, do: (*server).ucpSearch},
		{tool: ucp.ToolLookupCatalog, capability: ucp.CapabilityCatalogLookup, success: http.StatusOK, do: (*server).ucpLookup},
		{tool: ucp.ToolGetProduct, capability: ucp.CapabilityCatalogLookup, success: http.StatusOK, do: (*server).ucpProduct},
	} {
		all[op.tool] = op
	}
	return all
}

// ucpCall is one call of an operation.
type ucpCall struct {
	op         *ucpOperation
	exchange   ucpExchange
	id         string // of the checkout
	body       ucpBody
	key        string // idempotency key; "" if none was sent
	canonical  []byte // what repetitions are compared by; may hold an instrument
	resourceID string // of what a create makes; the same in each repetition
	agent      checkout.Agent
	read       func(ctx context.Context, id string) (*checkout.Session, error) // how get reads; nil: at once
	retryAfter int                                                             // seconds, of a failure
}

// ucpBody is what a request asks for, in either transport.
type ucpBody interface {
	Checkout(rd ucp.Reading) (*ucp.CheckoutRequest, error)
	Search(rd ucp.Reading) (*ucp.SearchRequest, error)
	Lookup() (*ucp.LookupRequest, error)
	Product() (*ucp.ProductRequest, error)
}

func (c *ucpCall) reading() ucp.Reading {
	return ucp.Reading{Version: c.exchange.version, Plain: c.exchange.platform.Plain()}
}

// ucpDo carries a call out.
func (s *server) ucpDo(ctx context.Context, call *ucpCall) outcome {
	result, err := call.op.do(s, ctx, call)
	if err != nil {
		return s.ucpFailed(ctx, call, err)
	}
	body, err := encode(result)
	if err != nil {
		return s.ucpFailed(ctx, call, err)
	}
	return outcome{Answer: idempotency.Answer{Status: call.op.success, Body: body}}
}

func (s *server) ucpCreate(ctx context.Context, call *ucpCall) (any, error) {
	req, line, err := ucpWish(call)
	if err != nil {
		return nil, err
	}
	call.agent.Attribution = req.Attribution
	session, err := s.Checkout.Create(ctx, checkout.Request{
		ID: call.resourceID, Protocol: checkout.UCP, OfferID: line.ItemID, Quantity: line.Quantity, Buyer: ucpBuyer(req.Buyer), Agent: call.agent,
	})
	if err != nil {
		return nil, &ucpFault{err, line.Path}
	}
	return s.ucpAnswer(ctx, call, session, req)
}

func (s *server) ucpGet(ctx context.Context, call *ucpCall) (any, error) {
	read := call.read
	if read == nil {
		read = s.Checkout.Get
	}
	session, err := read(ctx, call.id)
	if err != nil {
		return nil, err
	}
	return s.ucpAnswer(ctx, call, session, nil)
}

// ucpUpdate replaces what the checkout holds. A buyer who is left out is not
// taken back: the payment page that was filled in for him is open already.
func (s *server) ucpUpdate(ctx context.Context, call *ucpCall) (any, error) {
	req, line, err := ucpWish(call)
	if err != nil {
		return nil, err
	}
	session, err := s.Checkout.Update(ctx, call.id, checkout.Update{OfferID: line.ItemID, Quantity: line.Quantity, Buyer: ucpBuyer(req.Buyer)})
	if err != nil {
		return nil, &ucpFault{err, line.Path}
	}
	return s.ucpAnswer(ctx, call, session, req)
}

// ucpComplete completes nothing: a person does, on the hosted page. It answers
// where the checkout stands.
func (s *server) ucpComplete(ctx context.Context, call *ucpCall) (any, error) {
	req, err := call.body.Checkout(call.reading())
	if err != nil {
		return nil, err
	}
	session, err := s.Checkout.Get(ctx, call.id)
	if err != nil {
		return nil, err
	}
	if session.State == checkout.Canceled || session.State == checkout.Expired {
		return nil, problem.New(problem.Conflict, "checkout_not_modifiable", "The checkout is over and nothing was charged. Create a new one.")
	}
	return s.ucpAnswer(ctx, call, session, req)
}

func (s *server) ucpCancel(ctx context.Context, call *ucpCall) (any, error) {
	if sent, ok := call.body.(ucpJSON); ok {
		if _, err := sent.Checkout(call.reading()); err != nil {
			return nil, err
		}
	}
	session, err := s.Checkout.Cancel(ctx, call.id, "")
	if err != nil {
		return nil, err
	}
	return s.ucpAnswer(ctx, call, session, nil)
}

// ucpWish reads what a create or update asks for. A checkout sells one offer:
// its page at the processor has one price, one trial and one way of delivery.
func ucpWish(call *ucpCall) (*ucp.CheckoutRequest, ucp.RequestLine, error) {
	req, err := call.body.Checkout(call.reading())
	if err != nil {
		return nil, ucp.RequestLine{}, err
	}
	if m, mismatch := req.UnitMismatch(); mismatch {
		return nil, ucp.RequestLine{}, &ucpFault{problem.New(problem.Invalid, string(m.Code), m.Content), m.Path}
	}
	if len(req.LineItems) != 1 {
		return nil, ucp.RequestLine{}, &ucpFault{
			problem.New(problem.Invalid, "multiple_items_unsupported", "A checkout sells one item. Create one for each; nothing was created or changed."),
			"$.line_items",
		}
	}
	return req, req.LineItems[0], nil
}

// ucpBuyer keeps what fills in the payment page.
func ucpBuyer(b *ucp.Buyer) checkout.Buyer {
	if b == nil {
		return checkout.Buyer{}
	}
	return checkout.Buyer{Email: b.Email}
}
