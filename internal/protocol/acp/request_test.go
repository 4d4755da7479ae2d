package acp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
	"ace/internal/schematest"

	"github.com/google/go-cmp/cmp"
)

var (
	strict = acp.Exchange{Version: acp.Newest}
	plain  = acp.Exchange{Version: acp.Newest, Plain: true}
)

func asProblem(t testing.TB, err error) *problem.Problem {
	t.Helper()
	var p *problem.Problem
	if err == nil || !errors.As(err, &p) {
		t.Fatalf("error = %v, want a problem", err)
	}
	return p
}

// violations lists the errors of a problem as "path code".
func violations(t testing.TB, err error) []string {
	t.Helper()
	p := asProblem(t, err)
	var list []string
	for _, item := range p.Items {
		list = append(list, jsonread.Path(item.Pointer)+" "+item.Code)
	}
	if len(list) == 0 {
		list = []string{p.Code}
	}
	return list
}

func TestReadCreate(t *testing.T) {
	t.Parallel()
	line := func(id string, quantity int64, path, name string) []acp.RequestLine {
		return []acp.RequestLine{{ItemID: id, Quantity: quantity, Path: path, ItemPath: path + "." + name}}
	}
	const first, rest = "$.line_items[0]", `,"currency":"usd","capabilities":{}}`
	tests := []struct {
		name, in string
		x        acp.Exchange
		want     *acp.SessionRequest
	}{
		{
			"released form", `{"line_items":[{"id":"a"}]` + rest, strict,
			&acp.SessionRequest{LineItems: line("a", 1, first, "id"), Currency: "usd"},
		},
		{
			"with a quantity", `{"line_items":[{"id":"a","quantity":2}]` + rest, strict,
			&acp.SessionRequest{LineItems: line("a", 2, first, "id"), Currency: "usd"},
		},
		{
			"proposed form", `{"line_items":[{"id":"li_1","item":{"id":"a"},"quantity":2}]` + rest, strict,
			&acp.SessionRequest{LineItems: []acp.RequestLine{{
				LineID: "li_1", ItemID: "a", Quantity: 2, Path: first,
				ItemPath: first + ".item.id",
			}}, Currency: "usd"},
		},
		{
			"legacy form", `{"items":[{"id":"a","quantity":2}]` + rest, strict,
			&acp.SessionRequest{LineItems: line("a", 2, "$.items[0]", "id"), Currency: "usd"},
		},
		{
			"upper-case currency", `{"line_items":[{"id":"a"}],"currency":"USD","capabilities":{}}`, strict,
			&acp.SessionRequest{LineItems: line("a", 1, first, "id"), Currency: "usd"},
		},
		{
			"plain", `{"line_items":[{"item":{"id":"a"},"quantity":1}]}`, plain,
			&acp.SessionRequest{LineItems: line("a", 1, first, "item.id")},
		},
		{"plain id", `{"line_items":[{"id":"a"}]}`, plain, &acp.SessionRequest{LineItems: line("a", 1, first, "id")}},
		{
			"plain offer", `{"offer_id":"a","quantity":3}`, plain,
			&acp.SessionRequest{LineItems: line("a", 3, "$", "offer_id")},
		},
		{
			"plain item", `{"id":"x","item":{"id":"a"}}`, plain,
			&acp.SessionRequest{LineItems: line("a", 1, "$", "item.id")},
		},
		{
			"everything else", `{"line_items":[{"id":"a","name":7,"unit_amount":"x"}],
			"buyer":{"first_name":"A","last_name":"B","full_name":"A B","email":"a@b.example","phone_number":"1",` +
				`"loyalty":7},
			"locale":"de-DE","quote_id":"q","order_notes":"ring","fulfillment_details":7,"metadata":[],"unknown":{},
			"affiliate_attribution":{"provider":"p","token":"t","touchpoint":"first","metadata":{"x":1}}` + rest,
			strict,
			&acp.SessionRequest{
				LineItems: line("a", 1, first, "id"), Currency: "usd", Locale: "de-DE", QuoteID: "q",
				OrderNotes: "ring",
				Buyer: &acp.Buyer{
					FirstName: "A", LastName: "B", FullName: "A B", Email: "a@b.example",
					PhoneNumber: "1",
				},
				Affiliate: map[string]any{"provider": "p", "token": "t", "touchpoint": "first"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readCreate([]byte(tt.in), tt.x)
			if err != nil {
				t.Fatalf("ReadCreate(%s) = %v", tt.in, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ReadCreate(%s) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestReadCreateRefuses(t *testing.T) {
	t.Parallel()
	const rest = `,"currency":"usd","capabilities":{}}`
	tests := []struct {
		name, in string
		x        acp.Exchange
		want     []string
		code     string
	}{
		{"nothing", ``, plain, []string{"invalid_json"}, "invalid_json"},
		{"cut off", `{"items":`, plain, []string{"invalid_json"}, "invalid_json"},
		{"array", `[]`, plain, []string{"$ invalid_type"}, "invalid_type"},
		{"empty", `{}`, strict, []string{
			"$.line_items missing_field", "$.currency missing_field",
			"$.capabilities missing_field",
		}, acp.MissingRequiredField},
		{"empty in plain mode", `{}`, plain, []string{"$.line_items missing_field"}, acp.MissingRequiredField},
		{
			"no lines", `{"line_items":[]` + rest, strict,
			[]string{"$.line_items missing_field"},
			acp.MissingRequiredField,
		},
		{
			"offer by the protocol", `{"offer_id":"a"` + rest, strict,
			[]string{"$.line_items missing_field"},
			acp.MissingRequiredField,
		},
		{"lines are text", `{"line_items":"a"` + rest, strict, []string{"$.line_items invalid_type"}, "invalid_type"},
		{
			"id is a number", `{"line_items":[{"id":1}]` + rest, strict,
			[]string{"$.line_items[0].id invalid_type"},
			"invalid_type",
		},
		{
			"no id", `{"line_items":[{"quantity":1}]` + rest, strict,
			[]string{"$.line_items[0].id missing_field"},
			acp.MissingRequiredField,
		},
		{
			"no item id", `{"line_items":[{"item":{}}]` + rest, strict,
			[]string{"$.line_items[0].item.id missing_field"},
			acp.MissingRequiredField,
		},
		{
			"empty id", `{"line_items":[{"id":""}]` + rest, strict,
			[]string{"$.line_items[0].id invalid_value"},
			"invalid_value",
		},
		{
			"quantity 0", `{"line_items":[{"id":"a","quantity":0}]` + rest, strict,
			[]string{"$.line_items[0].quantity invalid_value"},
			"invalid_value",
		},
		{
			"quantity as text", `{"offer_id":"a","quantity":"1"}`, plain,
			[]string{"$.quantity invalid_type"},
			"invalid_type",
		},
		{
			"currency", `{"line_items":[{"id":"a"}],"currency":"dollar","capabilities":{}}`, strict,
			[]string{"$.currency invalid_value"},
			"invalid_value",
		},
		{
			"empty currency", `{"offer_id":"a","currency":""}`, plain,
			[]string{"$.currency invalid_value"},
			"invalid_value",
		},
		{
			"currency is a number", `{"offer_id":"a","currency":840}`, plain,
			[]string{"$.currency invalid_type"},
			"invalid_type",
		},
		{
			"capabilities is a list", `{"line_items":[{"id":"a"}],"currency":"usd","capabilities":[]}`, strict,
			[]string{"$.capabilities invalid_type"},
			"invalid_type",
		},
		{
			"buyer without e-mail", `{"line_items":[{"id":"a"}],"buyer":{"first_name":"A"}` + rest, strict,
			[]string{"$.buyer.email missing_field"},
			acp.MissingRequiredField,
		},
		{
			"e-mail", `{"offer_id":"a","buyer":{"email":"nobody"}}`, plain,
			[]string{"$.buyer.email invalid_value"},
			"invalid_value",
		},
		{
			"two e-mails", `{"offer_id":"a","buyer":{"email":"a@b.example, c@d.example"}}`, plain,
			[]string{"$.buyer.email invalid_value"},
			"invalid_value",
		},
		{
			"long notes", `{"offer_id":"a","order_notes":"` + strings.Repeat("x", 5001) + `"}`, plain,
			[]string{"$.order_notes too_long"},
			"too_long",
		},
		{
			"affiliate", `{"offer_id":"a","affiliate_attribution":{"token":1}}`, plain,
			[]string{"$.affiliate_attribution.token invalid_type"},
			"invalid_type",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readCreate([]byte(tt.in), tt.x)
			if diff := cmp.Diff(tt.want, violations(t, err)); diff != "" {
				t.Errorf("faults of %.100s (-want +got):\n%s", tt.in, diff)
			}
			e := acp.FromProblem(asProblem(t, err))
			if e.Status() != 400 || e.Type != acp.TypeInvalidRequest || e.Code != tt.code || e.Message == "" {
				t.Errorf("error = %+v, want 400 invalid_request %s", e, tt.code)
			}
			if path, _, found := strings.Cut(tt.want[0], " "); found && e.Param != path {
				t.Errorf("param = %s, want %s", e.Param, path)
			}
		})
	}
}

func TestReadUpdate(t *testing.T) {
	t.Parallel()
	got, err := readUpdate([]byte(`{"buyer":{"email":"a@b.example"},"selected_fulfillment_options":[7]}`), strict)
	if err != nil || got.LineItems != nil || got.Buyer == nil {
		t.Errorf("ReadUpdate = %+v, %v, want a buyer and no lines", got, err)
	}
	got, err = readUpdate([]byte(`{"line_items":[{"id":"a","quantity":4}]}`), strict)
	if err != nil || len(got.LineItems) != 1 || got.LineItems[0].Quantity != 4 {
		t.Errorf("ReadUpdate = %+v, %v, want one line", got, err)
	}
	got, err = readUpdate([]byte(`{"line_items":[{"id":"a"}]}`), strict)
	if err != nil || len(got.LineItems) != 1 || got.LineItems[0].Quantity != 0 {
		t.Errorf("ReadUpdate = %+v, %v, want a line that leaves the quantity", got, err)
	}
	if _, err := readUpdate([]byte(`{"line_items":[]}`), strict); err == nil {
		t.Error("ReadUpdate with no lines = nil, want missing_field")
	}
	got, err = readUpdate([]byte(`{"quantity":3}`), acp.Exchange{Plain: true})
	if err != nil || len(got.LineItems) != 1 || got.LineItems[0].Quantity != 3 || got.LineItems[0].ItemID != "" {
		t.Errorf("ReadUpdate of a bare quantity = %+v, %v, want a line that changes it alone", got, err)
	}
}

// TestLooseFields sends fields of a line beside the lines, where they would be
// ignored.
func TestLooseFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body   string
		x      acp.Exchange
		update bool
		param  string
	}{
		{`{"line_items":[{"id":"a"}],"quantity":2}`, acp.Exchange{Plain: true}, false, "$.quantity"},
		{`{"line_items":[{"id":"a"}],"quantity":2}`, acp.Exchange{Plain: true}, true, "$.quantity"},
		{`{"items":[{"id":"a"}],"offer_id":"b"}`, acp.Exchange{Plain: true}, true, "$.offer_id"},
		{`{"line_items":[{"id":"a"}],"item":{"id":"b"}}`, strict, true, "$.item"},
		{`{"quantity":2}`, strict, true, "$.quantity"},
		{`{"quantity":0}`, acp.Exchange{Plain: true}, true, "$.quantity"},
	}
	for _, tt := range tests {
		read := readCreate
		if tt.update {
			read = readUpdate
		}
		_, err := read([]byte(tt.body), tt.x)
		p, ok := problem.From(err)
		if !ok || acp.FromProblem(p).Param != tt.param {
			t.Errorf("%s = %v, want an error at %s", tt.body, err, tt.param)
		}
	}
}

const secret = "4242424242424242"

func TestPaymentDataIsDropped(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, payment string
		sent          bool
	}{
		{"absent", ``, false},
		{"null", `,"payment_data":null`, false},
		{"empty", `,"payment_data":{}`, false},
		{
			"a token",
			`,"payment_data":{"handler_id":"h","instrument":{"type":"card","credential":{"type":"spt","token":"` +
				secret + `"}}}`, true,
		},
		{"a bare number", `,"payment_data":` + secret, true},
		{"the other protocol's name", `,"payment":{"instruments":[{"credential":{"number":"` + secret + `"}}]}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := []byte(`{"offer_id":"a"` + tt.payment + `,"risk_signals":{"x":"` + secret +
				`"},"authentication_result":{"y":"` + secret + `"}}`)
			created, err := readCreate(body, plain)
			if err != nil {
				t.Fatal(err)
			}
			completed, err := readComplete(body)
			if err != nil {
				t.Fatal(err)
			}
			if created.PaymentSent != tt.sent || completed.PaymentSent != tt.sent {
				t.Errorf("PaymentSent = %t, %t, want %t", created.PaymentSent, completed.PaymentSent, tt.sent)
			}
			text, _ := json.Marshal([]any{created, completed})
			if dump := fmt.Sprintf("%#v %#v", created, completed) + string(text); strings.Contains(dump, secret) {
				t.Errorf("the request contains the payment data: %s", dump)
			}
		})
	}
}

func TestReadComplete(t *testing.T) {
	t.Parallel()
	for in, ok := range map[string]bool{
		``: true, `{}`: true, `{"buyer":7,"payment_data":[]}`: true, `[]`: false,
		`{`: false,
	} {
		if _, err := readComplete([]byte(in)); (err == nil) != ok {
			t.Errorf("ReadComplete(%s) = %v, want ok = %t", in, err, ok)
		}
	}
}

func TestReadCancel(t *testing.T) {
	t.Parallel()
	for _, in := range []string{``, `{}`, `{"intent_trace":null}`} {
		if trace, err := readCancel([]byte(in)); trace != nil || err != nil {
			t.Errorf("ReadCancel(%s) = %+v, %v, want nothing", in, trace, err)
		}
	}
	got, err := readCancel(
		[]byte(
			`{"intent_trace":{"reason_code":"shipping_cost","trace_summary":"Too dear.","metadata":{"target":0,` +
				`"rival":"x","sure":true}}}`,
		))
	want := &acp.IntentTrace{
		ReasonCode: "shipping_cost", Summary: "Too dear.",
		Metadata: map[string]any{"target": json.Number("0"), "rival": "x", "sure": true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("ReadCancel = %v (-want +got):\n%s", err, diff)
	}
	tests := []struct{ name, in, want string }{
		{"not an object", `{"intent_trace":"x"}`, "$.intent_trace invalid_type"},
		{"no reason", `{"intent_trace":{}}`, "$.intent_trace.reason_code missing_field"},
		{
			"long summary",
			`{"intent_trace":{"reason_code":"other","trace_summary":"` + strings.Repeat("x", 501) + `"}}`,
			"$.intent_trace.trace_summary too_long",
		},
		{
			"nested", `{"intent_trace":{"reason_code":"other","metadata":{"x":{}}}}`,
			"$.intent_trace.metadata.x invalid_type",
		},
		{
			"long value",
			`{"intent_trace":{"reason_code":"other","metadata":{"x":"` + strings.Repeat("x", 501) + `"}}}`,
			"$.intent_trace.metadata.x too_long",
		},
		{"array", `[]`, "$ invalid_type"},
	}
	for _, tt := range tests {
		if _, err := readCancel([]byte(tt.in)); strings.Join(violations(t, err), " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// Our parser accepts everything that the released schemas accept; it is more lenient.
func TestSchemasAndReaderAgree(t *testing.T) {
	t.Parallel()
	for _, v := range acp.Versions() {
		set := schematest.ACP(t, string(v))
		for _, body := range []string{
			`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{}}`,
			`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{"interventions":{"supported":["3ds"]}},` +
				`"buyer":{"email":"a@b.example"},"quote_id":"q"}`,
			`{"line_items":[{"id":"a"}],"currency":"usd"}`, `{"line_items":[{"id":"a"}],"capabilities":{}}`,
			`{"currency":"usd","capabilities":{}}`,
			`{"line_items":[],"currency":"usd","capabilities":{}}`,
			`{"line_items":[{"id":1}],"currency":"usd","capabilities":{}}`,
			`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{},"buyer":{}}`,
		} {
			schema := set.Check("CheckoutSessionCreateRequest", []byte(body))
			_, reader := readCreate([]byte(body), acp.Exchange{Version: v})
			if (schema == nil) != (reader == nil) {
				t.Errorf("%s %s: schema says %v, reader says %v", v, body, schema, reader)
			}
		}
	}
}

func FuzzReadRequests(f *testing.F) {
	for _, seed := range []string{
		`{"line_items":[{"id":"a"}],"currency":"usd","capabilities":{}}`, `{"items":[{"id":"a","quantity":2}]}`,
		`{"offer_id":"a","quantity":1}`,
		`{"line_items":[{"item":{"id":"a"}}],"buyer":{"email":"a@b"},"payment_data":{"token":"t"}}`,
		`{"intent_trace":{"reason_code":"other","metadata":{"x":1.5}}}`, `{"affiliate_attribution":{"provider":"p"}}`,
		`{}`, `[]`, ``,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, isPlain bool) {
		x := acp.Exchange{Version: acp.Newest, Plain: isPlain}
		check := func(err error) {
			if err == nil {
				return
			}
			if e := acp.FromProblem(asProblem(t, err)); e.Status() != 400 || e.Code == "" || !json.Valid(encode(t, e)) {
				t.Fatalf("%q: %+v", body, e)
			}
		}
		r, err := readCreate(body, x)
		check(err)
		if err == nil && len(r.LineItems) == 0 {
			t.Fatalf("%q: accepted without lines", body)
		}
		_, err = readUpdate(body, x)
		check(err)
		_, err = readComplete(body)
		check(err)
		_, err = readCancel(body)
		check(err)
		_, err = canonical(body)
		check(err)
	})
}
