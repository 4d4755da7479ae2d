package x402

import (
	"encoding/json"
	"net/http"
	"strings"

	"ace/internal/foundation/jsonread"
)

// Names of the MCP transport.
const (
	Argument     = "payment_signature"     // argument of a paid tool
	MetaPayment  = "x402/payment"          // _meta of a call: the payment
	MetaResponse = "x402/payment-response" // _meta of a result: what became of it
	MetaError    = "x402/error"            // _meta of a result: the quote

	metaV1 = "x402.payment" // of version 1
)

// ParsePayment parses a payment as text: the value of the header PAYMENT-SIGNATURE, or the JSON
// itself, as models paste it. The problem is invalid_payload.
func ParsePayment(text string) (*PaymentPayload, error) {
	text = strings.TrimSpace(text)
	switch {
	case len(text) > MaxPayload:
		return nil, invalid("A payment has at most 16384 characters.")
	case strings.HasPrefix(text, "{"):
		return ReadPayload([]byte(text))
	case bareShape.MatchString(text):
		return nil,
			invalid(
				"This is only a signature. Send the whole payment payload, base64 of its JSON, the same value as in " +
					"the header PAYMENT-SIGNATURE.")
	}
	data, err := DecodeHeader(text)
	if err != nil {
		return nil,
			invalid(
				"The payment is neither base64 nor JSON. Send base64 of the payment payload's JSON, as in the header " +
					"PAYMENT-SIGNATURE.")
	}
	return ReadPayload(data)
}

// FromHTTP reads the payment of a request. It returns nil if there is none, and the problem
// invalid_payload for one that cannot be parsed, for two that differ, and for one of version 1.
func FromHTTP(h http.Header) (*PaymentPayload, error) {
	var found *PaymentPayload
	for _, value := range h.Values(HeaderSignature) {
		if strings.TrimSpace(value) == "" {
			continue
		}
		p, err := ParsePayment(value)
		if err != nil {
			return nil, err
		}
		if found, err = merge(found, p); err != nil {
			return nil, err
		}
	}
	if found == nil && h.Get(headerV1) != "" {
		return nil,
			invalid(
				"X-PAYMENT is the header of x402 version 1. This store supports version 2: send the payment " +
					"payload in " +
					"PAYMENT-SIGNATURE.",
			)
	}
	return found, nil
}

// merge returns the first payment, or an error if the next one differs.
func merge(first, next *PaymentPayload) (*PaymentPayload, error) {
	switch {
	case first == nil:
		return next, nil
	case next == nil || first.Same(next):
		return first, nil
	}
	return nil, invalid("Ambiguous payment: this request contains different authorizations. Send one.")
}

// FromTool reads the payment of a tool call, from _meta["x402/payment"] (an object or a text), from
// the argument payment_signature, and from the header of the HTTP request, in this order. meta may
// be nil. rest are the arguments without the payment; nothing else may see the payment. p is nil if
// there is no payment. The problems are those of FromHTTP.
func FromTool(arguments, meta *jsonread.Value, h http.Header) (p *PaymentPayload, rest json.RawMessage, err error) {
	if p, err = fromMeta(meta); err != nil {
		return nil, nil, err
	}
	text, rest, err := cutArgument(arguments)
	if err != nil {
		return nil, nil, err
	}
	if text != "" {
		argument, err := ParsePayment(text)
		if err != nil {
			return nil, nil, err
		}
		if p, err = merge(p, argument); err != nil {
			return nil, nil, err
		}
	}
	header, err := FromHTTP(h)
	if err == nil {
		p, err = merge(p, header)
	}
	if err != nil {
		return nil, nil, err
	}
	return p, rest, nil
}

func fromMeta(meta *jsonread.Value) (*PaymentPayload, error) {
	payment := meta.Field(MetaPayment)
	switch payment.Kind() {
	case jsonread.Absent, jsonread.Null:
	case jsonread.String:
		return ParsePayment(payment.Text())
	default:
		return readPayload(payment)
	}
	if meta.Field(metaV1).Kind() > jsonread.Null {
		return nil,
			invalid(
				`_meta["x402.payment"] is of x402 version 1. This store speaks version 2: send the payment payload ` +
					`in _meta["x402/payment"] or as payment_signature.`,
			)
	}
	return nil, nil
}

// cutArgument removes the payment from the arguments of a tool.
func cutArgument(arguments *jsonread.Value) (text string, rest json.RawMessage, err error) {
	o, err := arguments.OptionalObject()
	if err != nil {
		return "", nil, asPayload(err)
	}
	if o.Has(Argument) && !o.IsText(Argument) { // the object itself, as models may send it
		text = string(o.JSON(Argument))
	} else {
		text = strings.TrimSpace(o.Text(Argument, MaxPayload))
	}
	if err := o.Err(); err != nil {
		return "", nil, asPayload(err)
	}
	return text, o.Value().Without(Argument).Raw(), nil
}

// ToolResult is the result of a paid tool that reports payment requirements or an outcome.
type ToolResult struct {
	Structured json.RawMessage // structuredContent
	Text       string          // content[0].text: the same bytes
	Meta       json.RawMessage // _meta
}

// ToolResult puts a quote where the known clients look for it: structured content, text and
// _meta["x402/error"]. settled, if not nil, is the outcome of a refused payment. The result has
// isError.
func (q PaymentRequired) ToolResult(settled *SettleResponse) (ToolResult, error) {
	text, err := compact(q)
	if err != nil {
		return ToolResult{}, err
	}
	meta := map[string]any{MetaError: json.RawMessage(text)}
	if settled != nil {
		meta[MetaResponse] = settled.public()
	}
	encoded, err := compact(meta)
	if err != nil {
		return ToolResult{}, err
	}
	return ToolResult{Structured: text, Text: string(text), Meta: encoded}, nil
}

// Meta returns the _meta of a result with the outcome of the payment.
func (r SettleResponse) Meta() (json.RawMessage, error) {
	return compact(map[string]any{MetaResponse: r.public()})
}
