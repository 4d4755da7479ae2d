package servicehttp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/storehttp/answer"
)

// Run implements agenttool.Services.
func (f *Handler) Run(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
	if f.Service == nil {
		return nil, errNone()
	}
	payment, rest, err := x402.FromTool(call.Arguments, call.Meta, call.Header)
	if problem.Is(err, x402.CodeInvalidPayload) {
		return f.malformed(call.Tool, err)
	}
	if err != nil {
		return nil, err
	}
	out, err := f.Service.Run(ctx, paidservice.Call{
		Service:   call.Tool,
		Arguments: rest,
		Payment:   payment,
		Transport: paidservice.MCP,
		Leave:     httpserver.Draining(ctx),
	})
	if problem.Is(err, x402.CodeInvalidPayload) {
		return f.malformed(call.Tool, err)
	}
	if err != nil {
		return nil, err
	}
	return f.result(out)
}

// malformed responds to a payment that cannot be read: the quote, and what is
// wrong with the payment.
func (f *Handler) malformed(tool string, cause error) (*mcp.Result, error) {
	quote, err := f.Service.Quote(tool, paidservice.MCP, x402.ReasonInvalidPayload)
	if err != nil {
		return nil, err
	}
	result, err := due(quote, nil)
	if err != nil {
		return nil, err
	}
	p, _ := problem.From(cause)
	var hint strings.Builder
	hint.WriteString("invalid_payload: " + p.Detail)
	for _, item := range p.Items {
		hint.WriteString(" " + item.Pointer + ": " + item.Detail)
	}
	result.Content = append(result.Content, mcp.Text(hint.String()+" Nothing was charged."))
	return result, nil
}

func due(quote *x402.PaymentRequired, settled *x402.SettleResponse) (*mcp.Result, error) {
	r, err := quote.ToolResult(settled)
	if err != nil {
		return nil, fmt.Errorf("encoding a quote: %w", err)
	}
	return &mcp.Result{
		Content: []mcp.Content{mcp.Text(r.Text)}, Structured: r.Structured, IsError: true,
		Meta: r.Meta,
	}, nil
}

// unfinished is what a tool returns beside isError when there is no result and
// nothing to sign: it holds no accepts, so that no client pays again.
type unfinished struct {
	Status               string `json:"status"`
	Code                 string `json:"code,omitempty"`
	Detail               string `json:"detail"`
	OrderID              string `json:"order_id,omitempty"`
	OrderURL             string `json:"order_url,omitempty"`
	Charged              *bool  `json:"charged"`
	RetryAfter           int    `json:"retry_after,omitempty"`
	RetryWithSamePayment bool   `json:"retry_with_same_payment"`
}

// result turns an outcome into the result of a tool.
func (f *Handler) result(out *paidservice.Outcome) (*mcp.Result, error) {
	if out.Status == paidservice.StatusDue {
		return due(out.Quote, out.Settlement)
	}
	result := &mcp.Result{}
	if out.Settlement != nil {
		meta, err := out.Settlement.Meta()
		if err != nil {
			return nil, fmt.Errorf("encoding a settlement: %w", err)
		}
		result.Meta = meta
	}
	var body any
	if out.Status == paidservice.StatusPaid {
		body = f.wireOrder(out.Order, out.Work, out.Settlement)
	} else {
		body = f.unfinished(out)
	}
	text, err := answer.JSON(body)
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	result.Structured, result.Content = text, []mcp.Content{mcp.Text(string(text))}
	result.IsError = out.Status != paidservice.StatusPaid
	return result, nil
}

func (f *Handler) unfinished(out *paidservice.Outcome) unfinished {
	no := false
	u := unfinished{RetryAfter: int((out.RetryAfter + time.Second - 1) / time.Second), RetryWithSamePayment: true}
	if out.Order != nil {
		u.OrderID, u.OrderURL = out.Order.ID, f.orderURL(out.Order.ID)
	}
	switch out.Status {
	case paidservice.StatusRunning:
		u.Status, u.Charged = "payment_in_progress", &no
		u.Detail = "The work goes on. Call again in " + strconv.Itoa(max(1, u.RetryAfter)) +
			" seconds with the same arguments and the same payment; do not sign another."
	case paidservice.StatusPending:
		u.Status = "settlement_pending"
		u.Detail = "The payment is under way and nobody knows yet whether it arrived. Call again with the same " +
			"arguments and the same payment; do not sign another."
	default:
		u.Status, u.Charged, u.Code, u.Detail = "failed", &no, out.Problem.Code, out.Problem.Detail
	}
	return u
}

// ToolMeta implements agenttool.Priced: price hints where the known clients
// look for them.
func (f *Handler) ToolMeta(tool string) json.RawMessage {
	if f.Service == nil {
		return nil
	}
	for _, s := range f.Service.List().Services {
		if s.Tool != tool || s.Quote == nil {
			continue
		}
		first := s.Quote.Accepts[0]
		dollars, err := strconv.ParseFloat(s.Price.Dollars, 64)
		if err != nil {
			return nil
		}
		meta, err := answer.JSON(map[string]any{
			"x402": map[string]any{
				"scheme": first.Scheme, "network": first.Network, "asset": first.Asset, "payTo": first.PayTo,
				"amount": first.Amount, "accepts": s.Quote.Accepts,
			},
			"agents-x402/paymentRequired": true, "agents-x402/priceUSD": dollars,
		})
		if err != nil {
			return nil
		}
		return meta
	}
	return nil
}
