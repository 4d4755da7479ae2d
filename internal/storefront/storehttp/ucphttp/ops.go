package ucphttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// operation is one of the operations, whatever transport it is reached by.
type operation struct {
	tool       string // its name in the MCP binding
	capability string
	success    int  // status over REST
	keyed      bool // an idempotency key counts
	signed     bool // the response is signed
	do         func(*Handler, context.Context, *operationCall) (any, error)
}

// operations lists the operations by the name of their tool.
func operations() map[string]*operation {
	all := map[string]*operation{}
	for _, op := range []*operation{
		{
			tool: ucp.ToolCreateCheckout, capability: ucp.CapabilityCheckout, success: http.StatusCreated, keyed: true,
			do: (*Handler).create,
		},
		{tool: ucp.ToolGetCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, do: (*Handler).get},
		{
			tool: ucp.ToolUpdateCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, keyed: true,
			do: (*Handler).update,
		},
		{
			tool: ucp.ToolCompleteCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, keyed: true,
			signed: true, do: (*Handler).complete,
		},
		{
			tool: ucp.ToolCancelCheckout, capability: ucp.CapabilityCheckout, success: http.StatusOK, keyed: true,
			do: (*Handler).cancel,
		},
		{
			tool: ucp.ToolSearchCatalog, capability: ucp.CapabilityCatalogSearch, success: http.StatusOK,
			do: (*Handler).search,
		},
		{
			tool: ucp.ToolLookupCatalog, capability: ucp.CapabilityCatalogLookup, success: http.StatusOK,
			do: (*Handler).lookup,
		},
		{
			tool: ucp.ToolGetProduct, capability: ucp.CapabilityCatalogLookup, success: http.StatusOK,
			do: (*Handler).product,
		},
	} {
		all[op.tool] = op
	}
	return all
}

// operationCall is one call of an operation.
type operationCall struct {
	op         *operation
	exchange   exchange
	id         string // of the checkout
	body       requestBody
	key        string // idempotency key; "" if none was sent
	canonical  []byte // what repetitions are compared by; may hold an instrument
	resourceID string // of what a create makes; the same in each repetition
	agent      checkout.Agent
	read       func(ctx context.Context, id string) (*checkout.Session, error) // how get reads; nil: at once
	retryAfter int                                                             // seconds, of a failure
}

// requestBody is what a request asks for, in either transport.
type requestBody interface {
	Checkout(rd ucp.Reading) (*ucp.CheckoutRequest, error)
	Search(rd ucp.Reading) (*ucp.SearchRequest, error)
	Lookup() (*ucp.LookupRequest, error)
	Product() (*ucp.ProductRequest, error)
}

func (c *operationCall) reading() ucp.Reading {
	return ucp.Reading{Version: c.exchange.version, Plain: c.exchange.platform.Plain()}
}

// do carries a call out.
func (f *Handler) do(ctx context.Context, call *operationCall) sessionhttp.Outcome {
	result, err := call.op.do(f, ctx, call)
	if err != nil {
		return f.failed(ctx, call, err)
	}
	body, err := encode(result)
	if err != nil {
		return f.failed(ctx, call, err)
	}
	return sessionhttp.Outcome{Answer: idempotency.Answer{Status: call.op.success, Body: body}}
}

func (f *Handler) create(ctx context.Context, call *operationCall) (any, error) {
	req, line, err := checkoutRequest(call)
	if err != nil {
		return nil, err
	}
	call.agent.Attribution = req.Attribution
	session, err := f.Sessions.Checkout.Create(ctx, checkout.Request{
		ID: call.resourceID, Protocol: checkout.UCP, OfferID: line.ItemID, Quantity: line.Quantity,
		Buyer: buyer(req.Buyer), Agent: call.agent,
	})
	if err != nil {
		return nil, &lineFault{err, line.Path, line.ItemPath}
	}
	return f.answer(ctx, call, session, req)
}

func (f *Handler) get(ctx context.Context, call *operationCall) (any, error) {
	read := call.read
	if read == nil {
		read = f.Sessions.Checkout.Get
	}
	session, err := read(ctx, call.id)
	if err != nil {
		return nil, err
	}
	return f.answer(ctx, call, session, nil)
}

// update replaces what the checkout holds. A buyer who is left out is not
// removed: the payment page that was filled in for him is open already.
func (f *Handler) update(ctx context.Context, call *operationCall) (any, error) {
	req, line, err := checkoutRequest(call)
	if err != nil {
		return nil, err
	}
	session, err := f.Sessions.Checkout.Update(ctx, call.id,
		checkout.Update{OfferID: line.ItemID, Quantity: line.Quantity, Buyer: buyer(req.Buyer)})
	if err != nil {
		return nil, &lineFault{err, line.Path, line.ItemPath}
	}
	return f.answer(ctx, call, session, req)
}

// complete completes nothing: a person does, on the hosted page. It returns
// the state of the checkout.
func (f *Handler) complete(ctx context.Context, call *operationCall) (any, error) {
	req, err := call.body.Checkout(call.reading())
	if err != nil {
		return nil, err
	}
	session, err := f.Sessions.Checkout.Get(ctx, call.id)
	if err != nil {
		return nil, err
	}
	if session.State == checkout.Canceled || session.State == checkout.Expired {
		return nil, problem.New(problem.Conflict, "checkout_not_modifiable",
			"The checkout has ended and nothing was charged. Create a new one.")
	}
	return f.answer(ctx, call, session, req)
}

func (f *Handler) cancel(ctx context.Context, call *operationCall) (any, error) {
	if sent, ok := call.body.(jsonBody); ok {
		if _, err := sent.Checkout(call.reading()); err != nil {
			return nil, err
		}
	}
	session, err := f.Sessions.Checkout.Cancel(ctx, call.id, "")
	if err != nil {
		return nil, err
	}
	return f.answer(ctx, call, session, nil)
}

// checkoutRequest reads what a create or update asks for. A checkout sells one offer:
// its page at the processor has one price, one trial and one way of delivery.
func checkoutRequest(call *operationCall) (*ucp.CheckoutRequest, ucp.RequestLine, error) {
	req, err := call.body.Checkout(call.reading())
	if err != nil {
		return nil, ucp.RequestLine{}, err
	}
	if m, mismatch := req.UnitMismatch(); mismatch {
		return nil, ucp.RequestLine{}, &lineFault{problem.New(problem.Invalid, string(m.Code), m.Content), m.Path, ""}
	}
	if len(req.LineItems) != 1 {
		return nil, ucp.RequestLine{}, &lineFault{
			problem.New(problem.Invalid, "multiple_items_unsupported",
				"A checkout sells one item. Create one for each; nothing was created or changed."),
			"$.line_items", "",
		}
	}
	return req, req.LineItems[0], nil
}

// buyer keeps what fills in the payment page.
func buyer(b *ucp.Buyer) checkout.Buyer {
	if b == nil {
		return checkout.Buyer{}
	}
	return checkout.Buyer{Email: b.Email}
}
