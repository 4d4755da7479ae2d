package ucp

import (
	"net/http"
	"time"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// Code is the code of an error or a message. Codes are open: domain codes are passed through.
type Code string

// Protocol errors with their own HTTP status.
const (
	InvalidProfileURL    Code = "invalid_profile_url"
	ProfileUnreachable   Code = "profile_unreachable"
	ProfileMalformed     Code = "profile_malformed"
	ProfileNotTrusted    Code = "profile_not_trusted"
	VersionUnsupported   Code = "version_unsupported"
	SignatureMissing     Code = "signature_missing"
	SignatureInvalid     Code = "signature_invalid"
	KeyNotFound          Code = "key_not_found"
	DigestMismatch       Code = "digest_mismatch"
	AlgorithmUnsupported Code = "algorithm_unsupported"
	IdempotencyConflict  Code = "idempotency_conflict"
	IdempotencyInFlight  Code = "idempotency_in_flight"
	InvalidRequest       Code = "invalid_request"
	RateLimited          Code = "rate_limited"
	ServiceUnavailable   Code = "service_unavailable"
)

// Business outcomes of a valid request.
const (
	CapabilitiesIncompatible Code = "capabilities_incompatible"
	NotFound                 Code = "not_found"
	OutOfStock               Code = "out_of_stock"
	ItemUnavailable          Code = "item_unavailable"
	PaymentFailed            Code = "payment_failed"
	QuantityUnitMismatch     Code = "quantity_unit_mismatch"
	CheckoutNotModifiable    Code = "checkout_not_modifiable"
)

// Codes of messages inside a checkout.
const (
	PaymentRequired               Code = "payment_required"
	PaymentInstrumentsNotAccepted Code = "payment_instruments_not_accepted"
	RecurringCharge               Code = "recurring_charge"
	TaxAtPayment                  Code = "tax_at_payment"
	PriceChanged                  Code = "price_changed"
	Expired                       Code = "expired"
	EligibilityNotAccepted        Code = "eligibility_not_accepted"
)

// The codes of JSON-RPC errors in the MCP binding.
const (
	RPCProtocolError  = -32000 // protocol errors
	RPCDiscoveryError = -32001 // errors in finding or using a profile or version
	RPCInvalidParams  = -32602
	RPCInternalError  = -32603
	RPCInvalidRequest = -32600
)

// rule holds what the protocol defines for a code.
type rule struct {
	status   int
	severity Severity
	rpc      int
}

var rules = map[Code]rule{
	InvalidProfileURL:    {http.StatusBadRequest, Unrecoverable, RPCDiscoveryError},
	ProfileUnreachable:   {http.StatusFailedDependency, Unrecoverable, RPCDiscoveryError},
	ProfileMalformed:     {http.StatusUnprocessableEntity, Unrecoverable, RPCDiscoveryError},
	VersionUnsupported:   {http.StatusUnprocessableEntity, Unrecoverable, RPCDiscoveryError},
	ProfileNotTrusted:    {http.StatusForbidden, Unrecoverable, RPCProtocolError},
	SignatureMissing:     {http.StatusUnauthorized, Unrecoverable, RPCProtocolError},
	SignatureInvalid:     {http.StatusUnauthorized, Unrecoverable, RPCProtocolError},
	KeyNotFound:          {http.StatusUnauthorized, Unrecoverable, RPCProtocolError},
	DigestMismatch:       {http.StatusBadRequest, Unrecoverable, RPCInvalidRequest},
	AlgorithmUnsupported: {http.StatusBadRequest, Unrecoverable, RPCInvalidRequest},
	IdempotencyConflict:  {http.StatusConflict, Unrecoverable, RPCProtocolError},
	IdempotencyInFlight:  {http.StatusConflict, Recoverable, RPCProtocolError},
	InvalidRequest:       {http.StatusBadRequest, Recoverable, RPCInvalidParams},
	RateLimited:          {http.StatusTooManyRequests, Recoverable, RPCProtocolError},
	ServiceUnavailable:   {http.StatusServiceUnavailable, Recoverable, RPCProtocolError},

	CapabilitiesIncompatible: {http.StatusOK, Unrecoverable, 0},
	NotFound:                 {http.StatusOK, Unrecoverable, 0},
	OutOfStock:               {http.StatusOK, Unrecoverable, 0},
	ItemUnavailable:          {http.StatusOK, Unrecoverable, 0},
	PaymentFailed:            {http.StatusOK, Recoverable, 0},
	QuantityUnitMismatch:     {http.StatusOK, Recoverable, 0},
	CheckoutNotModifiable:    {http.StatusConflict, Unrecoverable, 0},
}

// Business reports whether a code is an outcome that is sent as an ErrorResponse, in the MCP
// binding as a result.
func (c Code) Business() bool {
	r, known := rules[c]
	return known && r.rpc == 0
}

// Status returns the HTTP status of a code, or 0 for codes that the protocol does not define.
func (c Code) Status() int { return rules[c].status }

// Severity returns who can resolve an error of this code. Unknown codes are recoverable: the text
// says what to do.
func (c Code) Severity() Severity {
	if r, known := rules[c]; known {
		return r.severity
	}
	return Recoverable
}

// ErrorResponse is the response without a resource: a sold-out offer, an unknown checkout, a closed
// checkout.
type ErrorResponse struct {
	UCP         Meta      `json:"ucp"`
	Messages    []Message `json:"messages"`
	ContinueURL string    `json:"continue_url,omitempty"`
}

// NewErrorResponse returns the envelope of an outcome with at least one message. capability is the
// capability of the operation.
func NewErrorResponse(v Version, capability string, first Message, more ...Message) ErrorResponse {
	return ErrorResponse{
		UCP:      Meta{Version: v, Status: StatusError, Capabilities: Response(v, capability)},
		Messages: append([]Message{first}, more...),
	}
}

// Status returns the HTTP status of the envelope: that of its first message's code, or 200 for
// codes that the protocol does not define.
func (r ErrorResponse) Status() int {
	if len(r.Messages) > 0 {
		if status := r.Messages[0].Code.Status(); status != 0 {
			return status
		}
	}
	return http.StatusOK
}

// ProtocolError is the body of a protocol error: it has its own HTTP status and no field ucp.
type ProtocolError struct {
	Code        Code      `json:"code"`
	Content     string    `json:"content"`
	ContinueURL string    `json:"continue_url,omitempty"`
	Messages    []Message `json:"messages"`
	// RetryAfter is in whole seconds, 0 if unknown. Over HTTP it is also the header Retry-After.
	RetryAfter int `json:"retry_after,omitempty"`

	status int
	rpc    int
}

// FromProblem converts a problem to a protocol error: the status is the protocol's if it defines
// the code, or else that of the kind. Each item becomes a message with its JSONPath.
func FromProblem(p *problem.Problem) *ProtocolError {
	code := Code(p.Code)
	if p.Kind == problem.Unavailable || p.Kind == problem.Timeout {
		code = ServiceUnavailable
	}
	e := &ProtocolError{
		Code: code, Content: p.Detail, RetryAfter: wholeSeconds(p.RetryAfter),
		status: p.Kind.Status(), rpc: rpcOfKind(p.Kind),
	}
	if r, known := rules[code]; known && r.rpc != 0 {
		e.status, e.rpc = r.status, r.rpc
	}
	severity := code.Severity()
	if p.Kind == problem.Internal {
		severity = Unrecoverable
	}
	for _, item := range p.Items {
		e.Messages = append(e.Messages, Error(Code(item.Code), severity, jsonread.Path(item.Pointer), item.Detail))
	}
	if len(e.Messages) == 0 {
		e.Messages = []Message{Error(code, severity, "", p.Detail)}
	}
	return e
}

func rpcOfKind(k problem.Kind) int {
	switch k {
	case problem.Internal:
		return RPCInternalError
	case problem.Malformed, problem.Invalid:
		return RPCInvalidParams
	default:
		return RPCProtocolError
	}
}

// wholeSeconds rounds up, so that a client never retries too early.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// Status returns the HTTP status of the error.
func (e *ProtocolError) Status() int { return e.status }

// RPCCode returns the JSON-RPC code of the error; its data is the body of the error.
func (e *ProtocolError) RPCCode() int { return e.rpc }
