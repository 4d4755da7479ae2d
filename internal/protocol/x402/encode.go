package x402

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"

	"ace/internal/foundation/plainjson"
)

// Headers of the HTTP transport.
const (
	HeaderRequired  = "PAYMENT-REQUIRED"  // of a response: the quote
	HeaderSignature = "PAYMENT-SIGNATURE" // of a request: the payment
	HeaderResponse  = "PAYMENT-RESPONSE"  // of a response: the outcome of the payment

	headerV1 = "X-PAYMENT" // of version 1
)

// MaxHeader is the maximum length of a header, in bytes. Node's fetch refuses a response whose
// headers have more than 16 KB in total.
const MaxHeader = 8 << 10

// AllowHeaders returns the headers that a browser may send (CORS). The client libraries send
// Access-Control-Expose-Headers as a request header.
func AllowHeaders() []string {
	return []string{HeaderSignature, headerV1, "Content-Type", "Access-Control-Expose-Headers"}
}

// ExposeHeaders returns the headers that a page of another origin may read (CORS).
func ExposeHeaders() []string {
	return []string{HeaderRequired, HeaderResponse, "Retry-After"}
}

// compact encodes JSON without HTML escaping.
func compact(v any) ([]byte, error) {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return nil, err
	}
	return text, nil
}

func encodeHeader(v any) (string, error) {
	text, err := compact(v)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(text), nil
}

// DecodeHeader returns the JSON text of a header: base64 in the standard or the URL alphabet, with
// or without padding.
func DecodeHeader(value string) ([]byte, error) {
	value = strings.TrimRight(strings.TrimSpace(value), "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(value, "-_") {
		encoding = base64.RawURLEncoding
	}
	return encoding.DecodeString(value)
}

// Header returns the value of PAYMENT-REQUIRED, at most MaxHeader bytes. A longer quote omits the
// bazaar extension, then all extensions, then a part of the description: none of them is needed to
// pay.
func (q PaymentRequired) Header() (string, error) {
	steps := []func(*PaymentRequired){
		func(*PaymentRequired) {},
		func(q *PaymentRequired) {
			q.Extensions = maps.Clone(q.Extensions)
			delete(q.Extensions, ExtensionBazaar)
		},
		func(q *PaymentRequired) { q.Extensions = nil },
		func(q *PaymentRequired) { q.Resource.Description, q.Resource.IconURL, q.Resource.Tags = "", "", nil },
	}
	for _, shorten := range steps {
		shorten(&q)
		value, err := encodeHeader(q)
		if err != nil {
			return "", fmt.Errorf("encoding a quote: %w", err)
		}
		if len(value) <= MaxHeader {
			return value, nil
		}
	}
	return "", fmt.Errorf("a quote with %d ways to pay does not fit in a header of %d bytes", len(q.Accepts),
		MaxHeader)
}

// Header returns the value of PAYMENT-SIGNATURE and of the argument payment_signature.
func (p PaymentPayload) Header() (string, error) {
	value, err := encodeHeader(p)
	if err != nil {
		return "", fmt.Errorf("encoding a payment: %w", err)
	}
	return value, nil
}

// public returns the response without fields that may contain a facilitator's internals, and
// without extensions that do not fit in a header.
func (r SettleResponse) public() SettleResponse {
	r.ErrorMessage, r.Extra = "", nil
	if len(r.Extensions) > MaxHeader/4 {
		r.Extensions = nil
	}
	return r
}

// Header returns the value of PAYMENT-RESPONSE, without the facilitator's own messages.
func (r SettleResponse) Header() (string, error) {
	value, err := encodeHeader(r.public())
	if err == nil && len(value) > MaxHeader {
		err = errors.New("it is too long")
	}
	if err != nil {
		return "", fmt.Errorf("encoding the outcome of a payment: %w", err)
	}
	return value, nil
}

// ParseResponseHeader parses the value of PAYMENT-RESPONSE.
func ParseResponseHeader(value string) (SettleResponse, error) {
	text, err := DecodeHeader(value)
	if err != nil {
		return SettleResponse{}, fmt.Errorf("decoding %s: %w", HeaderResponse, err)
	}
	return ReadSettle(text)
}

// ParseRequiredHeader parses the value of PAYMENT-REQUIRED.
func ParseRequiredHeader(value string) (*PaymentRequired, error) {
	text, err := DecodeHeader(value)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", HeaderRequired, err)
	}
	return ReadRequired(text)
}
