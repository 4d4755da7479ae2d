package x402

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Headers of the HTTP transport.
const (
	HeaderRequired  = "PAYMENT-REQUIRED"  // of an answer: the quote
	HeaderSignature = "PAYMENT-SIGNATURE" // of a request: the payment
	HeaderResponse  = "PAYMENT-RESPONSE"  // of an answer: what became of the payment

	headerV1 = "X-PAYMENT" // of version 1
)

// MaxHeader is the longest header that is written, in bytes. Node's fetch
// refuses an answer whose headers have more than 16 KB in all.
const MaxHeader = 8 << 10

// AllowHeaders are what a browser's preflight may ask to send. The client
// libraries send Access-Control-Expose-Headers as a request header.
func AllowHeaders() []string {
	return []string{HeaderSignature, headerV1, "Content-Type", "Access-Control-Expose-Headers"}
}

// ExposeHeaders are what a page of another origin may read of an answer.
func ExposeHeaders() []string {
	return []string{HeaderRequired, HeaderResponse, "Retry-After"}
}

// compact writes JSON without the escapes that only HTML needs.
func compact(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func encodeHeader(v any) (string, error) {
	text, err := compact(v)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(text), nil
}

// DecodeHeader answers the JSON text of a header: base64 in the standard or
// the URL alphabet, with padding or without.
func DecodeHeader(value string) ([]byte, error) {
	value = strings.TrimRight(strings.TrimSpace(value), "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(value, "-_") {
		encoding = base64.RawURLEncoding
	}
	return encoding.DecodeString(value)
}

// Header is the value of PAYMENT-REQUIRED, at most MaxHeader bytes. A quote
// that is longer goes without the bazaar extension, then without any, then with
// a shorter description: none of them is needed to pay.
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
	return "", fmt.Errorf("a quote with %d ways to pay does not fit into a header of %d bytes", len(q.Accepts), MaxHeader)
}

// Header is the value of PAYMENT-SIGNATURE, and of the argument
// payment_signature.
func (p PaymentPayload) Header() (string, error) {
	value, err := encodeHeader(p)
	if err != nil {
		return "", fmt.Errorf("encoding a payment: %w", err)
	}
	return value, nil
}

// public is the answer without what may hold a facilitator's internals, and
// without extensions that would not fit into a header.
func (r SettleResponse) public() SettleResponse {
	r.ErrorMessage, r.Extra = "", nil
	if len(r.Extensions) > MaxHeader/4 {
		r.Extensions = nil
	}
	return r
}

// Header is the value of PAYMENT-RESPONSE. It leaves the facilitator's own
// words out.
func (r SettleResponse) Header() (string, error) {
	value, err := encodeHeader(r.public())
	if err == nil && len(value) > MaxHeader {
		err = errors.New("it is too long")
	}
	if err != nil {
		return "", fmt.Errorf("encoding what became of a payment: %w", err)
	}
	return value, nil
}

// ParseResponseHeader reads the value of PAYMENT-RESPONSE.
func ParseResponseHeader(value string) (SettleResponse, error) {
	text, err := DecodeHeader(value)
	if err != nil {
		return SettleResponse{}, fmt.Errorf("decoding %s: %w", HeaderResponse, err)
	}
	return ReadSettle(text)
}

// ParseRequiredHeader reads the value of PAYMENT-REQUIRED.
func ParseRequiredHeader(value string) (*PaymentRequired, error) {
	text, err := DecodeHeader(value)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", HeaderRequired, err)
	}
	return ReadRequired(text)
}
