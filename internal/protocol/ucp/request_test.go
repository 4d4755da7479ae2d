package ucp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/schematest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	strict = ucp.Reading{Version: ucp.Newest}
	plain  = ucp.Reading{Version: ucp.Newest, Plain: true}
)

// violations lists the errors of a problem as "path code".
func violations(t testing.TB, err error) []string {
	t.Helper()
	var p *problem.Problem
	if err == nil || !errors.As(err, &p) {
		t.Fatalf("error = %v, want a problem", err)
	}
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
	line := func(id string, quantity int64, path string) []ucp.RequestLine {
		return []ucp.RequestLine{{ItemID: id, Quantity: quantity, Path: path}}
	}
	const first = "$.line_items[0]"
	tests := []struct {
		name, in string
		rd       ucp.Reading
		want     *ucp.CheckoutRequest
	}{
		{
			"the form of the protocol", `{"line_items":[{"item":{"id":"a"},"quantity":2}]}`, strict,
			&ucp.CheckoutRequest{LineItems: line("a", 2, first)},
		},
		{
			"2.0 is a whole number", `{"line_items":[{"item":{"id":"a"},"quantity":2.0}]}`, strict,
			&ucp.CheckoutRequest{LineItems: line("a", 2, first)},
		},
		{
			"quantity is 1 in plain mode", `{"line_items":[{"item":{"id":"a"}}]}`, plain,
			&ucp.CheckoutRequest{LineItems: line("a", 1, first)},
		},
		{"id in the line", `{"line_items":[{"id":"a"}]}`, plain, &ucp.CheckoutRequest{LineItems: line("a", 1, first)}},
		{
			"offer_id in the line", `{"line_items":[{"offer_id":"a","quantity":3}]}`, plain,
			&ucp.CheckoutRequest{LineItems: line("a", 3, first)},
		},
		{"offer_id alone", `{"offer_id":"a","quantity":1}`, plain, &ucp.CheckoutRequest{LineItems: line("a", 1, "$")}},
		{"item alone", `{"id":"chk_9","item":{"id":"a"}}`, plain, &ucp.CheckoutRequest{LineItems: line("a", 1, "$")}},
		{
			"null is absent",
			`{"line_items":[{"item":{"id":"a"},"quantity":1,"parent_id":null}],"buyer":null,"context":null,` +
				`"payment":null}`,
			strict,
			&ucp.CheckoutRequest{LineItems: line("a", 1, first)},
		},
		{
			"response-only fields are ignored",
			`{"ucp":1,"id":2,"status":[],"currency":{},"totals":"x","messages":1,"links":1,"expires_at":1,
			"continue_url":1,"order":1,"unknown":{"deep":[1]},"line_items":[{"item":{"id":"a","title":1,` +
				`"price":"x"},"quantity":1,"totals":7}]}`, strict,
			&ucp.CheckoutRequest{LineItems: line("a", 1, first)},
		},
		{
			"line ids of updates", `{"line_items":[{"id":"li_1","parent_id":"li_0","item":{"id":"a"},"quantity":1}]}`,
			strict,
			&ucp.CheckoutRequest{
				LineItems: []ucp.RequestLine{{ID: "li_1", ParentID: "li_0", ItemID: "a", Quantity: 1, Path: first}},
			},
		},
		{
			"everything else", `{"line_items":[{"item":{"id":"a"},"quantity":1}],
			"buyer":{"first_name":"A","last_name":"B","email":"a@b.example","phone_number":"+1","extra":1},
			"context":{"address_country":"DE","address_region":"BE","postal_code":"10115","intent":"a gift",` +
				`"language":"de","currency":"EUR",
				"eligibility":["com.example.gold","not a name"],"payment":[{"handler":"x"}]},
			"signals":{"dev.ucp.buyer_ip":"192.0.2.1","dev.ucp.user_agent":"UA","com.example.x":{"y":1}},
			"attribution":{"utm_source":"agent"}}`, strict,
			&ucp.CheckoutRequest{
				LineItems: line("a", 1, first),
				Buyer:     &ucp.Buyer{FirstName: "A", LastName: "B", Email: "a@b.example", PhoneNumber: "+1"},
				Context: ucp.Context{
					AddressCountry: "DE", AddressRegion: "BE", PostalCode: "10115", Intent: "a gift", Language: "de",
					Currency:    "EUR",
					Eligibility: []string{"com.example.gold", "not a name"},
				},
				Signals:     ucp.Signals{BuyerIP: "192.0.2.1", UserAgent: "UA"},
				Attribution: map[string]string{"utm_source": "agent"},
			},
		},
		{
			"unit",
			`{"line_items":[{"item":{"id":"a","quantity_unit":{"unit":"LBR","scale":2,"display_text":"lb",` +
				`"increment":25}},"quantity":1}]}`,
			strict,
			&ucp.CheckoutRequest{LineItems: []ucp.RequestLine{{
				ItemID: "a", Quantity: 1, Path: first,
				Unit: &ucp.QuantityUnit{Unit: "LBR", Scale: 2},
			}}},
		},
		{
			"unit is unknown to 2026-04-08", `{"line_items":[{"item":{"id":"a","quantity_unit":7},"quantity":1}]}`,
			ucp.Reading{Version: ucp.Version20260408},
			&ucp.CheckoutRequest{LineItems: line("a", 1, first)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, read := range map[string]func([]byte, ucp.Reading) (*ucp.CheckoutRequest, error){
				"create": readCreate, "update": readUpdate,
			} {
				got, err := read([]byte(tt.in), tt.rd)
				if err != nil {
					t.Fatalf("%s of %s = %v", name, tt.in, err)
				}
				if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(ucp.RequestLine{}, "ItemPath")); diff != "" {
					t.Errorf("%s of %s (-want +got):\n%s", name, tt.in, diff)
				}
			}
		})
	}
}

func TestReadCreateRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		rd       ucp.Reading
		want     []string
	}{
		{"nothing", ``, plain, []string{"invalid_json"}},
		{"cut off", `{"line_items":[`, plain, []string{"invalid_json"}},
		{"array", `[]`, plain, []string{"$ invalid_type"}},
		{"named twice", `{"offer_id":"a","offer_id":"b"}`, plain, []string{"invalid_json"}},
		{"empty", `{}`, strict, []string{"$.line_items missing_field"}},
		{"empty in plain mode", `{}`, plain, []string{"$.line_items missing_field"}},
		{"no lines", `{"line_items":[]}`, strict, []string{"$.line_items missing_field"}},
		{"lines are an object", `{"line_items":{}}`, strict, []string{"$.line_items invalid_type"}},
		{"a line is text", `{"line_items":["a"]}`, strict, []string{"$.line_items[0] invalid_type"}},
		{
			"item is text", `{"line_items":[{"item":"a","quantity":1}]}`, strict,
			[]string{"$.line_items[0].item invalid_type"},
		},
		{
			"id is a number", `{"line_items":[{"item":{"id":7},"quantity":1}]}`, strict,
			[]string{"$.line_items[0].item.id invalid_type"},
		},
		{
			"id is empty", `{"line_items":[{"item":{"id":""},"quantity":1}]}`, strict,
			[]string{"$.line_items[0].item invalid_value"},
		},
		{
			"no id", `{"line_items":[{"item":{},"quantity":1}]}`, strict,
			[]string{"$.line_items[0].item.id missing_field"},
		},
		{
			"bare id by the protocol", `{"line_items":[{"id":"a","quantity":1}]}`, strict,
			[]string{"$.line_items[0].item missing_field"},
		},
		{"bare offer by the protocol", `{"offer_id":"a"}`, strict, []string{"$.line_items missing_field"}},
		{
			"no quantity by the protocol", `{"line_items":[{"item":{"id":"a"}}]}`, strict,
			[]string{"$.line_items[0].quantity missing_field"},
		},
		{
			"quantity 0", `{"line_items":[{"item":{"id":"a"},"quantity":0}]}`, strict,
			[]string{"$.line_items[0].quantity invalid_value"},
		},
		{
			"half of one", `{"line_items":[{"item":{"id":"a"},"quantity":0.5}]}`, plain,
			[]string{"$.line_items[0].quantity invalid_value"},
		},
		{"quantity as text", `{"offer_id":"a","quantity":"1"}`, plain, []string{"$.quantity invalid_type"}},
		{
			"too many to count", `{"offer_id":"a","quantity":9007199254740992}`, plain,
			[]string{"$.quantity invalid_value"},
		},
		{
			"several faults",
			`{"line_items":[{"item":{"id":1},"quantity":-1},{"quantity":"x"}],"buyer":{"email":[]},` +
				`"context":{"eligibility":"x"}}`,
			strict,
			[]string{
				"$.line_items[0].item.id invalid_type", "$.line_items[0].quantity invalid_value",
				"$.line_items[1].item missing_field",
				"$.line_items[1].quantity invalid_type", "$.buyer.email invalid_type",
				"$.context.eligibility invalid_type",
			},
		},
		{"attribution", `{"offer_id":"a","attribution":{"x":1}}`, plain, []string{"$.attribution.x invalid_type"}},
		{"long id", `{"offer_id":"` + strings.Repeat("a", 256) + `"}`, plain, []string{"$.offer_id too_long"}},
		{
			"many lines", `{"line_items":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a"},`, 101), ",") + `]}`, plain,
			[]string{"$.line_items too_many"},
		},
		{
			"unit without unit", `{"line_items":[{"item":{"id":"a","quantity_unit":{"scale":99}},"quantity":1}]}`,
			strict,
			[]string{
				"$.line_items[0].item.quantity_unit.unit missing_field",
				"$.line_items[0].item.quantity_unit.scale invalid_value",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readCreate([]byte(tt.in), tt.rd)
			if diff := cmp.Diff(tt.want, violations(t, err)); diff != "" {
				t.Errorf("faults of %.100s (-want +got):\n%s", tt.in, diff)
			}
			if e := ucp.FromProblem(asProblem(t, err)); e.Status() != 400 || len(e.Messages) == 0 || e.Content == "" {
				t.Errorf("protocol error = %+v, want 400 with messages", e)
			}
		})
	}
}

// secret is a card number that must be dropped.
const secret = "4242424242424242"

func TestPaymentInstrumentIsDropped(t *testing.T) {
	t.Parallel()
	const instrument = `{"instruments":[{"id":"i","handler_id":"h","type":"card","credential":{"type":"card",` +
		`"number":"` + secret + `"}}]}`
	tests := []struct {
		name, payment string
		sent          bool
	}{
		{"absent", ``, false},
		{"null", `,"payment":null`, false},
		{"empty", `,"payment":{}`, false},
		{"no instruments", `,"payment":{"instruments":[]}`, false},
		{"an instrument", `,"payment":` + instrument, true},
		{"a bare number", `,"payment":"` + secret + `"`, true},
		{"the old name", `,"payment_data":` + instrument, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := `{"line_items":[{"item":{"id":"a"},"quantity":1}]` + tt.payment + `}`
			created, err := readCreate([]byte(body), strict)
			if err != nil {
				t.Fatal(err)
			}
			completed, err := readComplete([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			call, err := readToolCall(ucp.ToolCompleteCheckout, []byte(`{"id":"chk_1","checkout":`+body+`}`))
			if err != nil {
				t.Fatal(err)
			}
			called, err := call.Checkout(call.Reading(ucp.Newest))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []*ucp.CheckoutRequest{created, completed, called} {
				text, _ := json.Marshal(r)
				if dump := fmt.Sprintf("%#v", r) + string(text); strings.Contains(dump, secret) {
					t.Errorf("the request contains the instrument: %s", dump)
				}
				if r.PaymentSent != tt.sent {
					t.Errorf("PaymentSent = %t, want %t", r.PaymentSent, tt.sent)
				}
			}
		})
	}
}

// Error texts never quote values: a card number may be in any field.
func TestErrorsDoNotQuoteValues(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"line_items":"` + secret + `"}`,
		`{"line_items":[{"item":{"id":` + secret + `},"quantity":` + secret + secret + `}]}`,
		`{"offer_id":"a","buyer":"` + secret + `"`, `{"payment":{"number":"` + secret + `"},}`, `"` + secret + `"`,
	} {
		_, err := readCreate([]byte(body), plain)
		if text := string(encode(t, ucp.FromProblem(asProblem(t, err)))) + err.Error(); strings.Contains(text, secret) {
			t.Errorf("error of %s quotes it: %s", body, text)
		}
	}
}

func TestReadComplete(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want string // the fault; "" if none
	}{
		{``, ""},
		{`{}`, ""},
		{`{"line_items":"ignored","buyer":7,"context":[]}`, ""},
		{`{"payment":[]}`, ""},
		{`[]`, "$ invalid_type"},
		{`{`, "invalid_json"},
		{`{"signals":7}`, "$.signals invalid_type"},
	}
	for _, tt := range tests {
		_, err := readComplete([]byte(tt.in))
		if tt.want == "" && err != nil {
			t.Errorf("ReadComplete(%s) = %v, want nil", tt.in, err)
		}
		if tt.want != "" && strings.Join(violations(t, err), " ") != tt.want {
			t.Errorf("ReadComplete(%s) = %v, want %s", tt.in, err, tt.want)
		}
	}
	if err := readCancel([]byte(`[1]`)); err == nil {
		t.Error("ReadCancel([1]) = nil, want invalid_type")
	}
	if err := readCancel(nil); err != nil {
		t.Errorf("ReadCancel(nil) = %v, want nil", err)
	}
}

func TestUnitMismatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		unit     string
		mismatch bool
	}{
		{``, false},
		{`,"quantity_unit":{"unit":"C62"}`, false},
		{`,"quantity_unit":{"unit":"C62","scale":0,"display_text":"each","increment":6}`, false},
		{`,"quantity_unit":{"unit":"C62","scale":1}`, true},
		{`,"quantity_unit":{"unit":"LBR"}`, true},
		{`,"quantity_unit":{"unit":"c62"}`, true},
	}
	for _, tt := range tests {
		r, err := readCreate([]byte(`{"line_items":[{"item":{"id":"a"`+tt.unit+`},"quantity":1}]}`), strict)
		if err != nil {
			t.Fatal(err)
		}
		m, mismatch := r.UnitMismatch()
		if mismatch != tt.mismatch {
			t.Errorf("UnitMismatch with %s = %t, want %t", tt.unit, mismatch, tt.mismatch)
		}
		if mismatch && (m.Code != "quantity_unit_mismatch" || m.Severity != ucp.Recoverable ||
			m.Path != "$.line_items[0].item.quantity_unit") {
			t.Errorf("message = %+v, want a recoverable quantity_unit_mismatch", m)
		}
	}
}

func TestCheckIdempotencyKey(t *testing.T) {
	t.Parallel()
	for key, ok := range map[string]bool{
		"550e8400-e29b-41d4-a716-446655440000": true, "k": true, strings.Repeat("k", 255): true,
		"": false, strings.Repeat("k", 256): false, "a b": false, "a\n": false, "é": false,
	} {
		if err := ucp.CheckIdempotencyKey(key); (err == nil) != ok {
			t.Errorf("CheckIdempotencyKey(%q) = %v, want ok = %t", key, err, ok)
		}
	}
}

func TestReadCatalog(t *testing.T) {
	t.Parallel()
	least, most := int64(100), int64(5000)
	search, err := readSearch([]byte(`{"query":"tea","filters":{"categories":["a"],"price":{"min":100,"max":5000}},
		"context":{"currency":"USD"},"pagination":{"cursor":"c","limit":3},"unknown":1}`), strict)
	want := &ucp.SearchRequest{
		Query: "tea", Filters: ucp.Filters{Categories: []string{"a"}, MinPrice: &least, MaxPrice: &most},
		Context: ucp.Context{Currency: "USD"}, Cursor: "c", Limit: 3,
	}
	if diff := cmp.Diff(want, search); err != nil || diff != "" {
		t.Errorf("ReadSearch = %v (-want +got):\n%s", err, diff)
	}
	lookup, err := readLookup([]byte(`{"ids":["a","b","a"]}`))
	if diff := cmp.Diff(&ucp.LookupRequest{IDs: []string{"a", "b"}}, lookup); err != nil || diff != "" {
		t.Errorf("ReadLookup = %v (-want +got):\n%s", err, diff)
	}
	product, err := readProduct(
		[]byte(`{"id":"a","selected":[{"name":"Size","label":"S"}],"preferences":["Size"]}`))
	wantProduct := &ucp.ProductRequest{ID: "a", Selected: []ucp.SelectedOption{{Name: "Size", Label: "S"}}}
	if diff := cmp.Diff(wantProduct, product); err != nil || diff != "" {
		t.Errorf("ReadProduct = %v (-want +got):\n%s", err, diff)
	}
	if all, err := readSearch(nil, plain); err != nil || all.Limit != ucp.DefaultLimit {
		t.Errorf("ReadSearch(nil) in plain mode = %+v, %v, want everything", all, err)
	}
}

func TestReadCatalogRefuses(t *testing.T) {
	t.Parallel()
	search := func(in string) error { _, err := readSearch([]byte(in), strict); return err }
	lookup := func(in string) error { _, err := readLookup([]byte(in)); return err }
	product := func(in string) error { _, err := readProduct([]byte(in)); return err }
	tests := []struct {
		name string
		read func(string) error
		in   string
		want []string
	}{
		{"search for nothing", search, `{}`, []string{"$.query missing_field"}},
		{"search with an empty filter", search, `{"filters":{}}`, []string{"$.query missing_field"}},
		{"query is a number", search, `{"query":1}`, []string{"$.query invalid_type"}},
		{"negative price", search, `{"filters":{"price":{"min":-1}}}`, []string{"$.filters.price.min invalid_value"}},
		{"limit 0", search, `{"query":"x","pagination":{"limit":0}}`, []string{"$.pagination.limit invalid_value"}},
		{"not JSON", search, `x`, []string{"invalid_json"}},
		{"no ids", lookup, `{}`, []string{"$.ids missing_field"}},
		{"empty ids", lookup, `{"ids":[]}`, []string{"$.ids missing_field"}},
		{"ids of numbers", lookup, `{"ids":[1]}`, []string{"$.ids[0] invalid_type"}},
		{
			"many ids", lookup, `{"ids":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 101), ",") + `]}`,
			[]string{"$.ids too_many"},
		},
		{"no id", product, `{}`, []string{"$.id missing_field"}},
		{
			"half an option", product, `{"id":"a","selected":[{"name":"x"}]}`,
			[]string{"$.selected[0].label missing_field"},
		},
		{"empty body", product, ``, []string{"invalid_json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, violations(t, tt.read(tt.in))); diff != "" {
				t.Errorf("faults of %.60s (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// The parser accepts every request that the schemas accept.
func TestSchemasAndReaderAgree(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{"line_items":[{"item":{"id":"a"},"quantity":1}]}`,
		`{"line_items":[{"item":{"id":"a"},"quantity":1}],"buyer":{"email":"x"},` +
			`"context":{"eligibility":["com.example.gold"]},"attribution":{"a":"b"}}`,
		`{"line_items":[]}`,
		`{"line_items":[{"item":{"id":"a"}}]}`,
		`{"line_items":[{"quantity":1}]}`,
		`{"line_items":[{"item":{"id":1},"quantity":1}]}`,
		`{"line_items":[{"item":{"id":"a"},"quantity":1.5}]}`,
		`{"buyer":{}}`,
		`{"line_items":{}}`,
	}
	for _, v := range ucp.Versions() {
		set := schematest.UCP(t, string(v))
		for _, body := range bodies {
			schema := set.CheckRequest("create", "shopping/checkout.json", []byte(body))
			_, reader := readCreate([]byte(body), ucp.Reading{Version: v})
			if body == `{"line_items":[]}` { // the schemas take it; there is nothing to buy
				schema = reader
			}
			if (schema == nil) != (reader == nil) {
				t.Errorf("%s %s: schema says %v, reader says %v", v, body, schema, reader)
			}
		}
	}
}

func FuzzReadRequests(f *testing.F) {
	for _, seed := range []string{
		`{"line_items":[{"item":{"id":"a"},"quantity":1}]}`, `{"offer_id":"a","quantity":1}`, `{"item":{"id":"a"}}`,
		`{"line_items":[{"id":"a"}],"payment":{"instruments":[{"credential":{"token":"t"}}]}}`,
		`{"query":"x","pagination":{"limit":1e3}}`, `{"ids":["a"]}`, `{"id":"a","selected":[{"name":"n","label":"l"}]}`,
		`{"context":{"eligibility":[null]},"signals":{"dev.ucp.buyer_ip":1}}`, `{}`, `[]`,
		`{"line_items":[{"quantity":-0}]}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, isPlain bool) {
		rd := ucp.Reading{Version: ucp.Newest, Plain: isPlain}
		check := func(err error) {
			if err == nil {
				return
			}
			if e := ucp.FromProblem(asProblem(t, err)); e.Status() != 400 || len(e.Messages) == 0 ||
				!json.Valid(encode(t, e)) {
				t.Fatalf("%q: %+v", body, e)
			}
		}
		r, err := readCreate(body, rd)
		check(err)
		if err == nil {
			r.UnitMismatch()
			for _, line := range r.LineItems {
				if line.ItemID == "" || line.Quantity < 1 {
					t.Fatalf("%q: accepted the line %+v", body, line)
				}
			}
		}
		_, err = readComplete(body)
		check(err)
		_, err = readSearch(body, rd)
		check(err)
		_, err = readLookup(body)
		check(err)
		_, err = readProduct(body)
		check(err)
	})
}
