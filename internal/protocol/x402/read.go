package x402

import (
	"encoding/json"
	"fmt"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// MaxPayload is the maximum length of a payment, in bytes, in any form.
const MaxPayload = 16 << 10

// maxResponse limits the response of a facilitator or a store.
const maxResponse = 256 << 10

// Limits of strings inside objects.
const (
	maxURL   = 4096
	maxText  = 2000
	maxShort = 128
)

// CodeInvalidPayload is the problem code of a payment that cannot be parsed.
const CodeInvalidPayload = "invalid_payload"

// invalid returns the problem invalid_payload.
func invalid(detail string) *problem.Problem {
	return problem.New(problem.Malformed, "invalid_payload", detail).Advise("fix_payment")
}

// asPayload converts parse errors to the problem invalid_payload.
func asPayload(err error) error {
	p, ok := problem.From(err)
	if !ok {
		return err
	}
	return invalid("The payment cannot be parsed: " + p.Detail).WithItems(p.Items...)
}

// ReadPayload parses the JSON of a payment. It refuses, with the problem invalid_payload, duplicate
// fields, numbers that are not decimal digits below 2^256, more than MaxPayload bytes, and versions
// other than 2.
func ReadPayload(data []byte) (*PaymentPayload, error) {
	if len(data) > MaxPayload {
		return nil, tooLong()
	}
	v, err := jsonread.Parse(data)
	if err != nil {
		return nil, asPayload(err)
	}
	return readPayload(v)
}

func tooLong() error { return invalid(fmt.Sprintf("A payment has at most %d bytes.", MaxPayload)) }

func readPayload(v *jsonread.Value) (*PaymentPayload, error) {
	raw := v.Raw()
	if len(raw) > MaxPayload {
		return nil, tooLong()
	}
	o, err := v.Object()
	if err != nil {
		return nil, asPayload(err)
	}
	if version, ok := o.Int("x402Version", 0, 1<<31); !ok || version != Version {
		return nil, wrongVersion(version).At("/x402Version")
	}
	p := &PaymentPayload{raw: raw}
	o.Need("accepted", "Send the requirements that the payment accepts, as the quote lists them.")
	p.Accepted = readRequirements(o.Object("accepted"))
	o.Need("payload", "Send the signed authorization in payload.")
	p.readAuthorization(o.Object("payload"))
	if o.Has("resource") {
		info := readResource(o.Object("resource"))
		p.Resource = &info
	}
	p.Extensions = readRaw(o, "extensions")
	if err := o.Err(); err != nil {
		return nil, asPayload(err)
	}
	return p, nil
}

func wrongVersion(version int64) *problem.Problem {
	if version == 1 {
		return invalid(
			"This store supports x402 version 2. Sign the quote of version 2 and send the whole payment in the " +
				"header " +
				"PAYMENT-SIGNATURE or as payment_signature.",
		)
	}
	return invalid("x402Version must be 2: send the whole payment payload of version 2.")
}

func (p *PaymentPayload) readAuthorization(o jsonread.Object) {
	if !o.Present() {
		return
	}
	p.Signature = shaped(o, "signature", MaxPayload, hexShape.MatchString, "Send the signature as 0x and hex digits.")
	if !o.Has("authorization") {
		o.Fault("authorization", string(ReasonUnsupportedPayload),
			"Only EIP-3009 authorizations are accepted: payload has signature and authorization.")
		return
	}
	a := o.Object("authorization")
	isAddress, isNumber := addressShape.MatchString, func(s string) bool { _, err := ParseAmount(s); return err == nil }
	const address, number = "Send an address: 0x and 40 hex digits.", "Send a number as a string of decimal digits, " +
		"below 2^256."
	p.Authorization = Authorization{
		From: shaped(a, "from", maxShort, isAddress, address), To: shaped(a, "to", maxShort, isAddress, address),
		Value:       shaped(a, "value", maxShort, isNumber, number),
		ValidAfter:  shaped(a, "validAfter", maxShort, isNumber, number),
		ValidBefore: shaped(a, "validBefore", maxShort, isNumber, number),
		Nonce:       shaped(a, "nonce", maxShort, wordShape.MatchString, "Send 32 bytes: 0x and 64 hex digits."),
	}
}

// shaped reads a required string that must pass the check.
func shaped(o jsonread.Object, name string, most int, check func(string) bool, detail string) string {
	if !o.Present() || !o.Need(name, detail) {
		return ""
	}
	text := o.Text(name, most)
	if o.IsText(name) && len(text) > 0 && check(text) {
		return text
	}
	if o.IsText(name) {
		o.Fault(name, "invalid_value", detail)
	}
	return ""
}

// readRequirements parses payment requirements. Amounts, addresses and networks of other schemes
// are accepted: they match nothing.
func readRequirements(o jsonread.Object) PaymentRequirements {
	r := PaymentRequirements{
		Scheme: o.Text("scheme", maxShort), Network: o.Text("network", maxShort), Amount: o.Text("amount", maxShort),
		Asset: o.Text("asset", maxShort), PayTo: o.Text("payTo", maxShort),
	}
	if seconds, ok := o.Int("maxTimeoutSeconds", 0, 1<<31); ok {
		r.MaxTimeoutSeconds = int(seconds)
	}
	for name, value := range readRaw(o, "extra") {
		if r.Extra == nil {
			r.Extra = map[string]any{}
		}
		var v any
		if err := json.Unmarshal(value, &v); err == nil { // fails only for numbers beyond a double
			r.Extra[name] = v
		}
	}
	return r
}

func readResource(o jsonread.Object) ResourceInfo {
	return ResourceInfo{
		URL: o.Text("url", maxURL), Description: o.Text("description", maxText), MimeType: o.Text("mimeType", maxShort),
		ServiceName: o.Text("serviceName", maxShort), Tags: o.Texts("tags", 64, maxShort), IconURL: o.Text("iconUrl",
			maxURL),
	}
}

// readRaw reads an object as raw JSON by field.
func readRaw(o jsonread.Object, name string) map[string]json.RawMessage {
	inner := o.Object(name)
	if !inner.Present() {
		return nil
	}
	raw := map[string]json.RawMessage{}
	for _, key := range inner.Names() {
		if inner.Has(key) {
			raw[key] = inner.JSON(key)
		}
	}
	return raw
}

// ReadFacilitatorRequest parses a request to a facilitator. The problem is invalid_payload.
func ReadFacilitatorRequest(data []byte) (*FacilitatorRequest, error) {
	o, err := jsonread.Read(data)
	if err != nil {
		return nil, asPayload(err)
	}
	if version, ok := o.Int("x402Version", 0, 1<<31); !ok || version != Version {
		return nil, wrongVersion(version).At("/x402Version")
	}
	o.Need("paymentPayload", "Send the payment.")
	o.Need("paymentRequirements", "Send the payment requirements.")
	r := &FacilitatorRequest{X402Version: Version, Requirements: readRequirements(o.Object("paymentRequirements"))}
	if err := o.Err(); err != nil {
		return nil, asPayload(err)
	}
	if r.Payload, err = readPayload(o.Object("paymentPayload").Value()); err != nil {
		return nil, err
	}
	return r, nil
}

// ReadRequired parses a quote of another store. The error describes what is invalid.
func ReadRequired(data []byte) (*PaymentRequired, error) {
	o, err := readResponse(data)
	if err != nil {
		return nil, fmt.Errorf("reading the quote: %w", err)
	}
	version, _ := o.Int("x402Version", 0, 1<<31)
	q := &PaymentRequired{
		X402Version: int(version), Error: o.Text("error", maxText),
		Resource: readResource(o.Object("resource")),
	}
	for _, item := range o.Objects("accepts", 64) {
		q.Accepts = append(q.Accepts, readRequirements(item))
	}
	for id := range readRaw(o, "extensions") {
		if q.Extensions == nil {
			q.Extensions = map[string]Extension{}
		}
		e := o.Object("extensions").Object(id)
		q.Extensions[id] = Extension{Info: e.JSON("info"), Schema: e.JSON("schema")}
	}
	if err := o.Err(); err != nil {
		return nil, fmt.Errorf("reading the quote: %w", err)
	}
	if version != Version || len(q.Accepts) == 0 {
		return nil,
			fmt.Errorf(
				"the quote has x402 version %d with %d entries in accepts; version 2 with at least one is needed",
				version,
				len(q.Accepts),
			)
	}
	return q, nil
}

func readResponse(data []byte) (jsonread.Object, error) {
	if len(data) > maxResponse {
		return jsonread.Object{}, fmt.Errorf("more than %d bytes", maxResponse)
	}
	return jsonread.Read(data)
}

// ReadVerify parses a facilitator's response to /verify.
func ReadVerify(data []byte) (VerifyResponse, error) {
	o, err := readResponse(data)
	if err != nil {
		return VerifyResponse{}, fmt.Errorf("reading the response to verify: %w", err)
	}
	o.Need("isValid", "isValid is missing")
	r := VerifyResponse{
		IsValid: o.Bool("isValid"), InvalidReason: Reason(o.Text("invalidReason", maxText)),
		InvalidMessage: o.Text("invalidMessage", maxResponse),
		Payer:          o.Text("payer", maxShort), Extensions: o.JSON("extensions"), Extra: o.JSON("extra"),
	}
	if err := o.Err(); err != nil {
		return VerifyResponse{}, fmt.Errorf("reading the response to verify: %w", err)
	}
	return r, nil
}

// ReadSettle parses a facilitator's response to /settle.
func ReadSettle(data []byte) (SettleResponse, error) {
	o, err := readResponse(data)
	if err != nil {
		return SettleResponse{}, fmt.Errorf("reading the response to settle: %w", err)
	}
	o.Need("success", "success is missing")
	r := SettleResponse{
		Success: o.Bool("success"), Transaction: o.Text("transaction", maxText), Network: o.Text("network", maxShort),
		Payer:       o.Text("payer", maxShort),
		ErrorReason: Reason(o.Text("errorReason", maxText)), ErrorMessage: o.Text("errorMessage", maxResponse),
		Amount:     o.Text("amount", maxShort),
		Extensions: o.JSON("extensions"), Extra: o.JSON("extra"),
	}
	if err := o.Err(); err != nil {
		return SettleResponse{}, fmt.Errorf("reading the response to settle: %w", err)
	}
	return r, nil
}

// ReadSupported parses a facilitator's response to /supported.
func ReadSupported(data []byte) (SupportedResponse, error) {
	o, err := readResponse(data)
	if err != nil {
		return SupportedResponse{}, fmt.Errorf("reading the response to supported: %w", err)
	}
	o.Need("kinds", "kinds is missing")
	var r SupportedResponse
	for _, k := range o.Objects("kinds", 1000) {
		version, _ := k.Int("x402Version", 0, 1<<31)
		r.Kinds = append(r.Kinds, SupportedKind{
			X402Version: int(version), Scheme: k.Text("scheme", maxShort), Network: k.Text("network", maxShort),
			Extra: k.JSON("extra"),
		})
	}
	r.Extensions = o.Texts("extensions", 1000, maxShort)
	signers := o.Object("signers")
	for _, pattern := range signers.Names() {
		if r.Signers == nil {
			r.Signers = map[string][]string{}
		}
		r.Signers[pattern] = signers.Texts(pattern, 1000, maxShort)
	}
	if err := o.Err(); err != nil {
		return SupportedResponse{}, fmt.Errorf("reading the response to supported: %w", err)
	}
	return r, nil
}
