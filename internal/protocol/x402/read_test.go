package x402_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
)

// validPayment is a payment as a client library writes it.
const validPayment = `{"x402Version":2,"payload":{"authorization":{"from":` +
	`"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",` +
	`"to":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","value":"250000","validAfter":"0","validBefore":"1795218824",` +
	`"nonce":"0xC1326e18534ee5a8d6c4c1611bea9d2bfb0749cfbb8c9b468ad2bb6e9418cb7a"},"signature":"0xcc98226b73ce1f42"},` +
	`"resource":{"url":"http://127.0.0.1:14121/v1/services/ai-search-audit/run"},"accepted":{"scheme":"exact",` +
	`"network":"eip155:31337",` +
	`"amount":"250000","asset":"0x5fbdb2315678afecb367f032d93f642f64180aa3",` +
	`"payTo":"0x90F79bf6EB2c4f870365E785982E1f101E93b906",` +
	`"maxTimeoutSeconds":60,"extra":{"name":"Dev USD","version":"1"}}}`

// altered returns validPayment with one text replaced by another.
func altered(t testing.TB, old, with string) string {
	t.Helper()
	if strings.Count(validPayment, old) != 1 {
		t.Fatalf("%q is not in the payment once", old)
	}
	return strings.Replace(validPayment, old, with, 1)
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// refusal returns code and pointer of the first error, or "read".
func refusal(err error) string {
	if err == nil {
		return "read"
	}
	p, ok := problem.From(err)
	if !ok {
		return err.Error()
	}
	code := p.Code
	if p.Kind.Status() != http.StatusBadRequest {
		code = fmt.Sprint(p.Kind.Status(), " ", code)
	}
	if len(p.Items) > 0 && p.Items[0].Pointer != "" {
		code += " " + p.Items[0].Pointer
	}
	return code
}

func TestReadPayload(t *testing.T) {
	t.Parallel()
	const number = `"value":"250000"`
	value := func(text string) string { return altered(t, number, `"value":`+text) }
	maximum := "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	tests := []struct{ name, text, want string }{
		{"as written", validPayment, "read"},
		{"with spaces", strings.ReplaceAll(validPayment, ",", " ,\n "), "read"},
		{
			"no resource",
			altered(t, `"resource":{"url":"http://127.0.0.1:14121/v1/services/ai-search-audit/run"},`, ""),
			"read",
		},
		{"unknown fields", altered(t, `"x402Version":2`, `"x402Version":2,"future":{"a":[1]}`), "read"},
		{"largest number", value(`"` + maximum + `"`), "read"},
		{"number beyond 256 bits", value(`"` + maximum[:77] + `6"`), "invalid_payload /payload/authorization/value"},
		{"79 digits", value(`"` + strings.Repeat("9", 79) + `"`), "invalid_payload /payload/authorization/value"},
		{"exponent", value(`"25e4"`), "invalid_payload /payload/authorization/value"},
		{"fraction", value(`"250000.0"`), "invalid_payload /payload/authorization/value"},
		{"negative", value(`"-250000"`), "invalid_payload /payload/authorization/value"},
		{"sign", value(`"+250000"`), "invalid_payload /payload/authorization/value"},
		{"hex", value(`"0x3d090"`), "invalid_payload /payload/authorization/value"},
		{"leading zero", value(`"0250000"`), "invalid_payload /payload/authorization/value"},
		{"space", value(`" 250000"`), "invalid_payload /payload/authorization/value"},
		{"other digits", value(`"２５"`), "invalid_payload /payload/authorization/value"},
		{"empty", value(`""`), "invalid_payload /payload/authorization/value"},
		{"number, no text", value(`250000`), "invalid_payload /payload/authorization/value"},
		{"null", value(`null`), "invalid_payload /payload/authorization/value"},
		{"field named twice", value(`"250000","value":"1"`), "invalid_payload"},
		{"field duplicated by an escape", value(`"250000","v\u0061lue":"1"`), "invalid_payload"},
		{
			"field in another case",
			altered(t, number, `"Value":"250000"`),
			"invalid_payload /payload/authorization/value",
		},
		{"version 1", altered(t, `"x402Version":2`, `"x402Version":1`), "invalid_payload /x402Version"},
		{"version 3", altered(t, `"x402Version":2`, `"x402Version":3`), "invalid_payload /x402Version"},
		{"version as text", altered(t, `"x402Version":2`, `"x402Version":"2"`), "invalid_payload /x402Version"},
		{"no version", altered(t, `"x402Version":2,`, ``), "invalid_payload /x402Version"},
		{"no accepted", altered(t, `"accepted":`, `"refused":`), "invalid_payload /accepted"},
		{
			"accepted is text", validPayment[:strings.Index(validPayment, `"accepted":`)] + `"accepted":"all"}`,
			"invalid_payload /accepted",
		},
		{"no payload", altered(t, `"payload":`, `"load":`), "invalid_payload /payload"},
		{"no signature", altered(t, `"signature":`, `"sign":`), "invalid_payload /payload/signature"},
		{
			"signature is no hex", altered(t, `0xcc98226b73ce1f42`, `0xcc98226b73ce1f4g`),
			"invalid_payload /payload/signature",
		},
		{"odd signature", altered(t, `0xcc98226b73ce1f42`, `0xcc98226b73ce1f4`), "invalid_payload /payload/signature"},
		{
			"permit2",
			altered(t, `"authorization":`, `"permit2Authorization":`),
			"invalid_payload /payload/authorization",
		},
		{"short address", altered(t, `"from":"0x3C`, `"from":"0x`), "invalid_payload /payload/authorization/from"},
		{"short nonce", altered(t, `"nonce":"0xC1`, `"nonce":"0x`), "invalid_payload /payload/authorization/nonce"},
		{"not JSON", `{"x402Version":2`, "invalid_payload"},
		{"an array", `[]`, "invalid_payload"},
		{"two values", validPayment + `{}`, "invalid_payload"},
		{"not UTF-8", altered(t, "Dev USD", "Dev\xffUSD"), "invalid_payload"},
		{
			"deep", altered(t, `"extra":{`, `"deep":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)+`,"extra":{`),
			"invalid_payload",
		},
		{"16 KB", validPayment + strings.Repeat(" ", x402.MaxPayload-len(validPayment)), "read"},
		{"over 16 KB", validPayment + strings.Repeat(" ", x402.MaxPayload-len(validPayment)+1), "invalid_payload"},
	}
	for _, tt := range tests {
		p, err := x402.ReadPayload([]byte(tt.text))
		if got := refusal(err); got != tt.want {
			t.Errorf("ReadPayload(%s) = %s, want %s (%v)", tt.name, got, tt.want, err)
		}
		if (p == nil) == (err == nil) {
			t.Errorf("ReadPayload(%s) = %v, %v: one of them has to be nil", tt.name, p, err)
		}
		if err == nil {
			if text, _ := json.Marshal(p); strings.TrimSpace(tt.text) == tt.text && tt.name == "as written" &&
				string(text) != tt.text {
				t.Errorf("the payment is written as %s, want as it was read", text)
			}
		}
	}
}

func TestParsePayment(t *testing.T) {
	t.Parallel()
	padded := validPayment
	for len(padded)%3 != 1 {
		padded += " "
	}
	standard := encode(padded)
	odd := strings.Replace(
		validPayment,
		"Dev USD",
		"Dev ÿ¿¾ûï USD",
		1,
	) // characters that the base64 alphabets encode differently
	tests := []struct{ name, text, want string }{
		{"standard base64", standard, "read"},
		{"without padding", strings.TrimRight(standard, "="), "read"},
		{"URL alphabet", base64.URLEncoding.EncodeToString([]byte(odd)), "read"},
		{"URL alphabet without padding", base64.RawURLEncoding.EncodeToString([]byte(odd)), "read"},
		{"standard alphabet", base64.StdEncoding.EncodeToString([]byte(odd)), "read"},
		{"with spaces around", "  " + standard + "\n", "read"},
		{"broken into lines", standard[:76] + "\r\n" + standard[76:], "read"},
		{"JSON itself", validPayment, "read"},
		{"JSON with spaces around", "\n " + validPayment + " ", "read"},
		{"a bare signature", "0x" + strings.Repeat("ab", 65), "invalid_payload"},
		{"mixed alphabets", "-_+/" + standard, "invalid_payload"},
		{"not base64", "pay me!", "invalid_payload"},
		{"base64 of no JSON", encode("hello"), "invalid_payload"},
		{"base64 of base64", encode(standard), "invalid_payload"},
		{"too long", strings.Repeat("A", x402.MaxPayload+1), "invalid_payload"},
		{"cut off", standard[:101], "invalid_payload"},
	}
	if !strings.ContainsAny(base64.URLEncoding.EncodeToString([]byte(odd)), "-_") {
		t.Fatal("the test payment shows no difference of the alphabets")
	}
	for _, tt := range tests {
		p, err := x402.ParsePayment(tt.text)
		if got := refusal(err); got != tt.want {
			t.Errorf("ParsePayment(%s) = %s, want %s (%v)", tt.name, got, tt.want, err)
		}
		if err == nil && p.Authorization.Value != "250000" {
			t.Errorf("ParsePayment(%s) = %+v, want the payment", tt.name, p.Authorization)
		}
	}
	_, err := x402.ParsePayment("0x" + strings.Repeat("ab", 65))
	if p, _ := problem.From(err); !strings.Contains(p.Detail, "whole payment payload") {
		t.Errorf("a bare signature is refused with %q, want a hint", p.Detail)
	}
}

func TestFromHTTP(t *testing.T) {
	t.Parallel()
	other := altered(t, "0xC1326e", "0xD1326e")
	tests := []struct {
		name   string
		header http.Header
		want   string
	}{
		{"nothing", http.Header{}, "none"},
		{"empty", http.Header{"Payment-Signature": {" "}}, "none"},
		{"one", http.Header{"Payment-Signature": {encode(validPayment)}}, "read"},
		{"the same twice", http.Header{"Payment-Signature": {encode(validPayment), validPayment}}, "read"},
		{"two", http.Header{"Payment-Signature": {encode(validPayment), encode(other)}}, "invalid_payload"},
		{
			"two in one line",
			http.Header{"Payment-Signature": {encode(validPayment) + ", " + encode(other)}},
			"invalid_payload",
		},
		{"broken", http.Header{"Payment-Signature": {"%%%"}}, "invalid_payload"},
		{"version 1", http.Header{"X-Payment": {encode(validPayment)}}, "invalid_payload"},
		{
			"both versions",
			http.Header{"X-Payment": {"eyJ4IjoxfQ=="}, "Payment-Signature": {encode(validPayment)}},
			"read",
		},
	}
	for _, tt := range tests {
		p, err := x402.FromHTTP(tt.header)
		got := refusal(err)
		if err == nil && p == nil {
			got = "none"
		}
		if got != tt.want {
			t.Errorf("FromHTTP(%s) = %s, want %s", tt.name, got, tt.want)
		}
	}
	_, err := x402.FromHTTP(http.Header{"X-Payment": {encode(validPayment)}})
	if p, _ := problem.From(err); !strings.Contains(p.Detail, "PAYMENT-SIGNATURE") {
		t.Errorf("X-PAYMENT is refused with %q, want a hint", p.Detail)
	}
}

func TestFromTool(t *testing.T) {
	t.Parallel()
	other := altered(t, "0xC1326e", "0xD1326e")
	resigned := altered(t, "0xcc98226b73ce1f42", "0xdd98226b73ce1f42")
	asText := func(text string) string { b, _ := json.Marshal(text); return string(b) }
	header := http.Header{"Payment-Signature": {encode(validPayment)}}
	tests := []struct {
		name, arguments, meta string
		header                http.Header
		want, rest            string
	}{
		{"nothing", `{"url":"https://a.example"}`, "", nil, "none", `{"url":"https://a.example"}`},
		{"no arguments", ``, "", nil, "none", `{}`},
		{
			"argument",
			`{"payment_signature":` + asText(encode(validPayment)) + `,"url":"u","n":1.50}`,
			"",
			nil,
			"read",
			`{"n":1.50,"url":"u"}`,
		},
		{"argument of JSON text", `{"payment_signature":` + asText(validPayment) + `}`, "", nil, "read", `{}`},
		{"argument as object", `{"payment_signature":` + validPayment + `}`, "", nil, "read", `{}`},
		{"empty argument", `{"payment_signature":" ","url":"u","x":null}`, "", nil, "none", `{"url":"u","x":null}`},
		{"null argument", `{"payment_signature":null}`, "", nil, "none", `{}`},
		{"meta object", `{"url":"<u>"}`, `{"x402/payment":` + validPayment + `}`, nil, "read", `{"url":"<u>"}`},
		{
			"meta text",
			`{}`,
			`{"x402/payment":` + asText(encode(validPayment)) + `,"progressToken":1}`,
			nil,
			"read",
			`{}`,
		},
		{"meta of others", `{}`, `{"progressToken":"x402"}`, nil, "none", `{}`},
		{"meta null", `{}`, `{"x402/payment":null}`, nil, "none", `{}`},
		{"meta with an escaped name", `{}`, `{"x402\/payment":` + validPayment + `}`, nil, "read", `{}`},
		{"meta number", `{}`, `{"x402/payment":7}`, nil, "invalid_payload", ""},
		{"meta of version 1", `{}`, `{"x402.payment":"abc"}`, nil, "invalid_payload", ""},
		{"header", `{}`, "", header, "read", `{}`},
		{
			"all three",
			`{"payment_signature":` + asText(validPayment) + `}`,
			`{"x402/payment":` + validPayment + `}`,
			header,
			"read",
			`{}`,
		},
		{
			"meta against argument",
			`{"payment_signature":` + asText(other) + `}`,
			`{"x402/payment":` + validPayment + `}`,
			nil,
			"invalid_payload",
			"",
		},
		{"argument against header", `{"payment_signature":` + asText(other) + `}`, "", header, "invalid_payload", ""},
		{
			"same nonce, other signature",
			`{"payment_signature":` + asText(resigned) + `}`,
			"",
			header,
			"invalid_payload",
			"",
		},
		{"broken argument beside a good header", `{"payment_signature":"0x12"}`, "", header, "invalid_payload", ""},
		{
			"too long", `{"payment_signature":` + asText(strings.Repeat("A", 20000)) + `}`, "", nil,
			"invalid_payload /payment_signature", "",
		},
		{"arguments named twice", `{"url":"a","url":"b"}`, "", nil, "invalid_json", ""},
	}
	for _, tt := range tests {
		p, rest, err := fromTool([]byte(tt.arguments), []byte(tt.meta), tt.header)
		got := refusal(err)
		if err == nil && p == nil {
			got = "none"
		}
		if got != tt.want || string(rest) != tt.rest {
			t.Errorf("FromTool(%s) = %s with %s, want %s with %s (%v)", tt.name, got, rest, tt.want, tt.rest, err)
		}
	}
}

func TestReadResponses(t *testing.T) {
	t.Parallel()
	settled, err := x402.ReadSettle(
		[]byte(
			`{"success":false,"errorReason":"settlement_pending","transaction":"0xab","network":"eip155:1",` +
				`"extra":{"a":1},"later":true}`,
		))
	if err != nil || settled.ErrorReason != x402.ReasonSettlementPending || settled.Transaction != "0xab" {
		t.Errorf("ReadSettle = %+v, %v", settled, err)
	}
	verified, err := x402.ReadVerify([]byte(`{"isValid":true,"payer":"0x1"}`))
	if err != nil || !verified.IsValid || verified.Class() != x402.Accepted {
		t.Errorf("ReadVerify = %+v, %v", verified, err)
	}
	supported, err := x402.ReadSupported(
		[]byte(
			`{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:8453"},{"x402Version":1,` +
				`"scheme":"exact","network":"base"}],"extensions":["bazaar"],"signers":{"eip155:*":["0x1"]}}`,
		))
	if err != nil || !supported.Supports("exact", "eip155:8453") || supported.Supports("exact", "base") ||
		supported.Supports("upto", "eip155:8453") {
		t.Errorf("ReadSupported = %+v, %v", supported, err)
	}
	if diff := cmp.Diff(map[string][]string{"eip155:*": {"0x1"}}, supported.Signers); diff != "" {
		t.Errorf("signers (-want +got):\n%s", diff)
	}
	for _, text := range []string{
		``, `{}`, `[]`, `{"success":"yes"}`, `{"success":true,"success":false}`,
		`{"success":true,"transaction":7}`, "<html>", `{"success":true}` + strings.Repeat(" ", 1<<20),
	} {
		if r, err := x402.ReadSettle([]byte(text)); err == nil {
			t.Errorf("ReadSettle(%.40s) = %+v, want an error", text, r)
		}
		if r, err := x402.ReadVerify([]byte(strings.ReplaceAll(text, "success", "isValid"))); err == nil &&
			!strings.Contains(text, "transaction") {
			t.Errorf("ReadVerify(%.40s) = %+v, want an error", text, r)
		}
		if r, err := x402.ReadSupported([]byte(strings.ReplaceAll(text, "success", "kinds"))); err == nil {
			t.Errorf("ReadSupported(%.40s) = %+v, want an error", text, r)
		}
	}
	for _, text := range []string{
		`{}`, `{"x402Version":1,"accepts":[{}]}`, `{"x402Version":2,"accepts":[]}`,
		`{"x402Version":2,"accepts":7}`, `no`,
	} {
		if q, err := x402.ReadRequired([]byte(text)); err == nil {
			t.Errorf("ReadRequired(%s) = %+v, want an error", text, q)
		}
	}
}

func TestReadFacilitatorRequest(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		r, err := x402.ReadFacilitatorRequest(fixture(t, layout+"/facilitator-settle-request.json"))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := x402.Match(r.Payload.Accepted, []x402.PaymentRequirements{r.Requirements}); !ok {
			t.Errorf("the recorded request of %s does not match itself: %+v", layout, r)
		}
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"x402Version":2}`, `{"x402Version":1,` +
			`"paymentPayload":` + validPayment + `,"paymentRequirements":{}}`,
		`{"x402Version":2,"paymentPayload":` + validPayment + `,"paymentRequirements":7}`,
		`{"x402Version":2,"paymentPayload":{},"paymentRequirements":{}}`,
		`{"x402Version":2,"x402Version":2,"paymentPayload":` + validPayment + `,"paymentRequirements":{}}`,
	} {
		if r, err := x402.ReadFacilitatorRequest([]byte(text)); err == nil || !strings.HasPrefix(refusal(err),
			"invalid_payload") {
			t.Errorf("ReadFacilitatorRequest(%s) = %+v, %v, want invalid_payload", text, r, err)
		}
	}
}

func FuzzReadPayload(f *testing.F) {
	f.Add([]byte(validPayment))
	f.Add([]byte(`{"x402Version":2,"accepted":{"extra":{"n":1e400}},"payload":{}}`))
	f.Add([]byte(`{"x402Version":2,"accepted":{"extra":{"n":{"deep":[]}}},"payload":{"signature":"0x"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := x402.ReadPayload(data)
		if err != nil {
			if refusal(err)[:15] != "invalid_payload" {
				t.Errorf("ReadPayload = %v, want invalid_payload", err)
			}
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("writing what was read: %v", err)
		}
		again, err := x402.ReadPayload(text)
		if err != nil || !again.Same(p) {
			t.Errorf("what was read and written reads as %v, %v, want %v", again, err, p)
		}
		_, _ = p.Identifier()
		_ = p.Authorization.Deadline()
	})
}

func FuzzFromTool(f *testing.F) {
	f.Add(
		[]byte(`{"payment_signature":"`+encode(validPayment)+`"}`),
		[]byte(`{"x402/payment":{}}`),
		encode(validPayment),
	)
	f.Add([]byte(`{}`), []byte(nil), "")
	f.Fuzz(func(t *testing.T, arguments, meta []byte, header string) {
		p, rest, err := fromTool(arguments, meta, http.Header{"Payment-Signature": {header}})
		if err != nil {
			return
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(rest, &fields) != nil || fields[x402.Argument] != nil {
			t.Errorf("the rest of the arguments is %s, want an object without the payment", rest)
		}
		_ = p
	})
}

// fromTool parses arguments and _meta as the server of the tools does.
func fromTool(arguments, meta []byte, h http.Header) (*x402.PaymentPayload, json.RawMessage, error) {
	a, err := jsonread.ParseOptional(arguments)
	if err != nil {
		return nil, nil, err
	}
	m, err := jsonread.ParseOptional(meta)
	if err != nil {
		return nil, nil, err
	}
	return x402.FromTool(a, m, h)
}
