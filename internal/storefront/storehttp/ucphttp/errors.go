package ucphttp

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// businessOutcome is how a refusal of the business is sent: in an envelope, with
// HTTP 200 or, for what can no longer be changed, 409.
type businessOutcome struct {
	code   ucp.Code
	member string // of the line that it is about, after the line's path; itemID: the id of the item
}

// itemID stands for the id of the item, however the request spells it.
const itemID = "item id"

// outcomes are the problems that are outcomes of a request that was
// understood. All others are failures of the protocol, with a status of their
// own: checkout_in_flight and checkout_changed 409, processor_unavailable 503,
// all three with Retry-After.
var outcomes = map[string]businessOutcome{
	"offer_not_found":                {ucp.ItemUnavailable, itemID},
	"sold_out":                       {ucp.OutOfStock, ""},
	"hold_limit":                     {"hold_limit", ""},
	"invalid_quantity":               {"invalid_quantity", ".quantity"},
	"processor_refused":              {ucp.ItemUnavailable, ""},
	"multiple_items_unsupported":     {"multiple_items_unsupported", ""},
	string(ucp.QuantityUnitMismatch): {ucp.QuantityUnitMismatch, ""},
	"checkout_not_found":             {ucp.NotFound, ""},
	"product_not_found":              {ucp.NotFound, ""},
	"checkout_not_modifiable":        {ucp.CheckoutNotModifiable, ""},

	string(ucp.CapabilitiesIncompatible): {ucp.CapabilitiesIncompatible, ""},
}

// failures are the names of the protocol for failures of ours. Others keep their
// code.
var failures = map[string]ucp.Code{
	"idempotency_key_reused":  ucp.IdempotencyConflict,
	"idempotency_in_progress": ucp.IdempotencyInFlight,
}

// lineFault is a failure that may be about a line of the request.
type lineFault struct {
	error
	line string // JSONPath
	item string // JSONPath of the id of the item
}

// Unwrap makes the problem inside visible.
func (f *lineFault) Unwrap() error { return f.error }

// failed renders a failure in the shape of the protocol.
func (f *Handler) failed(ctx context.Context, call *operationCall, err error) sessionhttp.Outcome {
	p := httpserver.ProblemOf(ctx, err)
	status, body := refusal(call, p, err)
	encoded, bad := encode(body)
	if bad != nil { // strings always encode
		encoded = []byte(`{"code":"internal_error","content":"Something went wrong on our side.","messages":[]}`)
	}
	return sessionhttp.Outcome{
		Answer:  idempotency.Answer{Status: status, Body: encoded},
		Passing: p.Kind.Temporary() || p.RetryAfter > 0,
	}
}

func refusal(call *operationCall, p *problem.Problem, err error) (status int, body any) {
	known, isOutcome := outcomes[p.Code]
	if !isOutcome {
		named := *p
		if code, ok := failures[p.Code]; ok {
			named.Code = string(code)
		}
		failure := ucp.FromProblem(&named)
		call.retryAfter = failure.RetryAfter
		return failure.Status(), failure
	}
	path := ""
	if fault, ok := errors.AsType[*lineFault](err); ok && fault.line != "" && p.Code != "checkout_not_modifiable" &&
		p.Code != "checkout_not_found" {
		// The tools have the checkout in a member; messages are about the checkout.
		path = fault.line + known.member
		if known.member == itemID {
			path = cmp.Or(fault.item, fault.line)
		}
		path = strings.Replace(path, "$.checkout", "$", 1)
	}
	envelope := ucp.NewErrorResponse(call.exchange.version, call.op.capability,
		ucp.Error(known.code, known.code.Severity(), path, p.Detail))
	return envelope.Status(), envelope
}
