package x402_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ace/internal/protocol/x402"
)

func terms() x402.PaymentRequirements {
	return x402.PaymentRequirements{
		Scheme: "exact", Network: "eip155:8453", Amount: "100000", Asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		PayTo: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", MaxTimeoutSeconds: 300,
		Extra: map[string]any{"name": "USD Coin", "version": "2"},
	}
}

func quote() x402.PaymentRequired {
	return x402.PaymentRequired{
		X402Version: x402.Version, Error: "payment_required", Accepts: []x402.PaymentRequirements{terms()},
		Resource: x402.ResourceInfo{
			URL: "https://shop.example/mcp", Description: "An audit <of a site>",
			MimeType: "application/json", ServiceName: "Shop", Tags: []string{"seo"},
		},
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	other := terms()
	other.Network = "eip155:84532"
	tests := []struct {
		name   string
		change func(r *x402.PaymentRequirements)
		want   int
	}{
		{"as quoted", func(*x402.PaymentRequirements) {}, 1},
		{"the first", func(r *x402.PaymentRequirements) { r.Network = "eip155:84532" }, 0},
		{"more extra", func(r *x402.PaymentRequirements) { r.Extra["assetTransferMethod"] = "eip3009" }, 1},
		{"receiver in lower case", func(r *x402.PaymentRequirements) { r.PayTo = strings.ToLower(r.PayTo) }, -1},
		{"token in lower case", func(r *x402.PaymentRequirements) { r.Asset = strings.ToLower(r.Asset) }, -1},
		{"other amount", func(r *x402.PaymentRequirements) { r.Amount = "100001" }, -1},
		{"amount spelled otherwise", func(r *x402.PaymentRequirements) { r.Amount = "0100000" }, -1},
		{"other scheme", func(r *x402.PaymentRequirements) { r.Scheme = "upto" }, -1},
		{"other network", func(r *x402.PaymentRequirements) { r.Network = "eip155:1" }, -1},
		{"other time", func(r *x402.PaymentRequirements) { r.MaxTimeoutSeconds = 3600 }, -1},
		{"other domain", func(r *x402.PaymentRequirements) { r.Extra["name"] = "USDC" }, -1},
		{"domain of another type", func(r *x402.PaymentRequirements) { r.Extra["version"] = 2 }, -1},
		{"no domain", func(r *x402.PaymentRequirements) { r.Extra = nil }, -1},
	}
	for _, tt := range tests {
		accepted := terms()
		tt.change(&accepted)
		got, ok := x402.Match(accepted, []x402.PaymentRequirements{other, terms()})
		if !ok {
			got = -1
		}
		if got != tt.want {
			t.Errorf("Match(%s) = %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	target := x402.Target{
		Paths: []string{"/v1/services/ai-search-audit/run", "/mcp"},
		Names: []string{"run_ai_search_audit", "ai-search-audit"},
	}
	tests := []struct {
		url  string
		want bool
	}{
		{"", true},
		{"https://shop.example/v1/services/ai-search-audit/run", true},
		{"http://10.0.0.1:8080/v1/services/ai-search-audit/run/?x=1#y", true},
		{"/v1/services/ai-search-audit/run", true},
		{"https://shop.example//v1/services/x/../ai-search-audit/run", true},
		{"https://shop.example/v1/services/ai%2Dsearch%2Daudit/run", true},
		{"https://shop.example/v1/services/llms-txt-draft/run", false},
		{"https://shop.example/v1/services/ai-search-audit", false},
		{"https://shop.example/v1/services/ai-search-audit/run/more", false},
		{"https://shop.example/", false},
		{"https://shop.example/mcp", true},
		{"mcp://tool/run_ai_search_audit", true},
		{"mcp://tool/run_llms_txt_draft", false},
		{"mcp://tools/run_ai_search_audit", false},
		{"x402://run_ai_search_audit", true},
		{"x402://ai-search-audit", true},
		{"x402://llms-txt-draft", false},
		{"ftp://shop.example/mcp", false},
		{"javascript:alert(1)", false},
		{"https://a b/", false},
	}
	for _, tt := range tests {
		if got := target.Fits(&x402.ResourceInfo{URL: tt.url}); got != tt.want {
			t.Errorf("Fits(%q) = %v, want %v", tt.url, got, tt.want)
		}
	}
	if !target.Fits(nil) {
		t.Error("a payment that names no resource does not fit")
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	const hash = "0xea42715e7c014d0dafb38b71513e2ed4cb8c01dd542f4ca19d5a2b5c1baaf595"
	refused := func(reason x402.Reason) x402.SettleResponse {
		return x402.SettleResponse{Network: "eip155:8453", ErrorReason: reason}
	}
	tests := []struct {
		name   string
		answer x402.SettleResponse
		want   x402.Class
	}{
		{"success", x402.SettleResponse{Success: true, Transaction: hash, Network: "eip155:8453"}, x402.Accepted},
		{"success with the amount", x402.SettleResponse{
			Success: true, Transaction: hash, Network: "eip155:8453",
			Amount: "100000",
		}, x402.Accepted},
		{"success with another amount", x402.SettleResponse{
			Success: true, Transaction: hash, Network: "eip155:8453",
			Amount: "1",
		}, x402.Ambiguous},
		{"success without transaction", x402.SettleResponse{Success: true, Network: "eip155:8453"}, x402.Ambiguous},
		{
			"success with no hash",
			x402.SettleResponse{Success: true, Transaction: "ok", Network: "eip155:8453"},
			x402.Ambiguous,
		},
		{
			"success on another network",
			x402.SettleResponse{Success: true, Transaction: hash, Network: "eip155:84532"},
			x402.Ambiguous,
		},
		{"pending", x402.SettleResponse{
			Transaction: hash, Network: "eip155:8453",
			ErrorReason: x402.ReasonSettlementPending,
		}, x402.Ambiguous},
		{"pending without transaction", refused(x402.ReasonSettlementPending), x402.Ambiguous},
		{"failed transaction", x402.SettleResponse{
			Transaction: hash, Network: "eip155:8453",
			ErrorReason: x402.ReasonTransactionFailed,
		}, x402.Ambiguous},
		{"transaction not sent", refused(x402.ReasonTransactionFailed), x402.Transient},
		{"node failure", refused("settle_exact_node_failure"), x402.Transient},
		{"nonce used", refused(x402.ReasonNonceUsed), x402.Ambiguous},
		{"duplicate", refused("duplicate_settlement"), x402.Ambiguous},
		{"timed out", refused("settle_exact_evm_transaction_confirmation_timed_out"), x402.Ambiguous},
		{"bad signature", refused(x402.ReasonSignature), x402.PayerFinal},
		{
			"bad signature, spelled by the specification", refused("invalid_exact_evm_payload_signature"),
			x402.PayerFinal,
		},
		{"expired", refused(x402.ReasonValidBefore), x402.PayerFinal},
		{"sanctions", refused("kyt_risk_detected"), x402.PayerFinal},
		{"no money", refused("insufficient_funds"), x402.PayerCanFix},
		{"no money, spelled by the libraries", refused(x402.ReasonInsufficientBalance), x402.PayerCanFix},
		{
			"bad signature with a transaction",
			x402.SettleResponse{Transaction: hash, ErrorReason: x402.ReasonSignature},
			x402.Ambiguous,
		},
		{"never heard of", refused("cosmic_rays"), x402.Ambiguous},
		{"no reason", refused(""), x402.Ambiguous},
	}
	for _, tt := range tests {
		if got := tt.answer.Class(terms()); got != tt.want {
			t.Errorf("Class(%s) = %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := (x402.VerifyResponse{InvalidReason: x402.ReasonSignature}).Class(); got != x402.PayerFinal {
		t.Errorf("class of a refusal to verify = %s, want %s", got, x402.PayerFinal)
	}
	if x402.Reason("cosmic_rays").Known() || !x402.ReasonTransactionFailed.Known() || !x402.ReasonSignature.Known() {
		t.Error("Known is wrong")
	}
}

// TestRecordedReasons checks that the table has every reason that the libraries' server was
// recorded to return.
func TestRecordedReasons(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		var cases map[string]struct {
			Reason string `json:"paymentRequiredError"`
		}
		if err := json.Unmarshal(fixture(t, layout+"/negative-cases.json"), &cases); err != nil {
			t.Fatal(err)
		}
		for name, c := range cases {
			if strings.HasPrefix(c.Reason, "invalid_") && !x402.Reason(c.Reason).Known() {
				t.Errorf("the reason %s of %s is not in the table", c.Reason, name)
			}
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		price    string
		decimals int
		amount   string
		shown    string
	}{
		{"0.10", 6, "100000", "0.10"},
		{"0.1", 6, "100000", "0.10"},
		{"1", 6, "1000000", "1.00"},
		{"12.345678", 6, "12345678", "12.345678"},
		{"0", 6, "0", "0.00"},
		{"0.000001", 6, "1", "0.000001"},
		{"5", 0, "5", "5"},
		{"0.5", 1, "5", "0.5"},
		{"0.1234567", 6, "", ""},
		{"", 6, "", ""},
		{".5", 6, "", ""},
		{"1.", 6, "", ""},
		{"-1", 6, "", ""},
		{"1e3", 6, "", ""},
		{"1,5", 6, "", ""},
		{"1.2.3", 6, "", ""},
		{strings.Repeat("9", 80), 6, "", ""},
		{"1", 37, "", ""},
	}
	for _, tt := range tests {
		amount, err := x402.ParseUnits(tt.price, tt.decimals)
		if amount != tt.amount || (err == nil) != (tt.amount != "") {
			t.Errorf("ParseUnits(%q, %d) = %q, %v, want %q", tt.price, tt.decimals, amount, err, tt.amount)
		}
		if shown := x402.FormatUnits(amount, tt.decimals); err == nil && shown != tt.shown {
			t.Errorf("FormatUnits(%q, %d) = %q, want %q", amount, tt.decimals, shown, tt.shown)
		}
	}
	if got := x402.FormatUnits("many", 6); got != "many" {
		t.Errorf("FormatUnits(many) = %q, want it unchanged", got)
	}
}

func TestToolResult(t *testing.T) {
	t.Parallel()
	refused := x402.SettleResponse{
		Network: "eip155:8453", ErrorReason: "insufficient_funds",
		ErrorMessage: "see https://rpc.example/key",
	}
	got, err := quote().ToolResult(&refused)
	if err != nil {
		t.Fatal(err)
	}
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(got.Meta, &meta); err != nil {
		t.Fatal(err)
	}
	if got.Text != string(got.Structured) || string(meta[x402.MetaError]) != got.Text {
		t.Errorf("the three places differ: %s\n%s\n%s", got.Structured, got.Text, meta[x402.MetaError])
	}
	if want := `{"success":false,"transaction":"","network":"eip155:8453","errorReason":"insufficient_funds"}`; string(
		meta[x402.MetaResponse]) != want {
		t.Errorf("what became of the payment = %s, want %s", meta[x402.MetaResponse], want)
	}
	read, err := x402.ReadRequired(got.Structured)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(quote(), *read); diff != "" {
		t.Errorf("the quote, read again (-want +got):\n%s", diff)
	}
	plain, err := quote().ToolResult(nil)
	if err != nil || strings.Contains(string(plain.Meta), x402.MetaResponse) {
		t.Errorf("meta of a first quote = %s, %v, want no settlement response", plain.Meta, err)
	}
	settled, err := x402.SettleResponse{Success: true, Transaction: "0xab", Network: "eip155:1"}.Meta()
	if err != nil ||
		string(settled) != `{"x402/payment-response":{"success":true,"transaction":"0xab","network":"eip155:1"}}` {
		t.Errorf("Meta = %s, %v", settled, err)
	}
}

// TestRecordedQuotes compares our quote over MCP with a recorded one.
func TestRecordedQuotes(t *testing.T) {
	t.Parallel()
	var exchange struct {
		Result struct {
			Meta              map[string]json.RawMessage `json:"_meta"`
			StructuredContent json.RawMessage            `json:"structuredContent"`
			Content           []struct{ Text string }    `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(fixture(t, "mcp/unpaid-quote.json"), &exchange); err != nil {
		t.Fatal(err)
	}
	q, err := x402.ReadRequired(exchange.Result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := q.ToolResult(nil)
	if err != nil || got.Text != exchange.Result.Content[0].Text {
		t.Errorf("text = %s, %v, want as recorded %s", got.Text, err, exchange.Result.Content[0].Text)
	}
}

// TestRecordedCalls reads the payments of all recorded calls of tools.
func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	for name, paid := range map[string]bool{
		"mcp/unpaid-quote.json": false, "mcp/paid-by-cloudflare-agents-client.json": false,
		"mcp/paid-by-meta-object-(x402-mcp-spec).json": true, "mcp/paid-by-payment_signature-argument.json": true,
		"mcp/replay-by-meta-object.json": true,
	} {
		var exchange struct {
			Requests []struct {
				Params struct {
					Arguments json.RawMessage `json:"arguments"`
					Meta      json.RawMessage `json:"_meta"`
				} `json:"params"`
			} `json:"requests"`
		}
		if err := json.Unmarshal(fixture(t, name), &exchange); err != nil {
			t.Fatal(err)
		}
		params := exchange.Requests[0].Params
		p, rest, err := fromTool(params.Arguments, params.Meta, nil)
		if err != nil || (p != nil) != paid || string(rest) != `{"url":"https://example.com"}` {
			t.Errorf("FromTool(%s) = %v, %s, %v, want a payment: %v", name, p, rest, err, paid)
		}
		if p != nil && !(x402.Target{Paths: []string{"/mcp"}}).Fits(p.Resource) {
			t.Errorf("the resource of %s does not fit: %+v", name, p.Resource)
		}
	}
}

func TestHeaderLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	example := json.RawMessage(`{"url":"` + long + long + `"}`)
	tests := []struct {
		name   string
		change func(q *x402.PaymentRequired)
		keeps  []string
		ok     bool
	}{
		{"plain", func(*x402.PaymentRequired) {}, nil, true},
		{"identifier", func(q *x402.PaymentRequired) {
			q.Extensions = map[string]x402.Extension{x402.ExtensionIdentifier: x402.Identifier()}
		}, []string{x402.ExtensionIdentifier}, true},
		{"large bazaar", func(q *x402.PaymentRequired) {
			q.Extensions = map[string]x402.Extension{
				x402.ExtensionIdentifier: x402.Identifier(),
				x402.ExtensionBazaar: x402.Bazaar{
					Tool: "t", Input: json.RawMessage(`{"type":"object"}`),
					Example: example,
				}.HTTP(),
			}
		}, []string{x402.ExtensionIdentifier}, true},
		{"large extension", func(q *x402.PaymentRequired) {
			q.Extensions = map[string]x402.Extension{"other": {Info: example}}
		}, nil, true},
		{"long description", func(q *x402.PaymentRequired) { q.Resource.Description = long + long }, nil, true},
		{"too many ways", func(q *x402.PaymentRequired) {
			for range 60 {
				q.Accepts = append(q.Accepts, terms())
			}
		}, nil, false},
	}
	for _, tt := range tests {
		q := quote()
		tt.change(&q)
		before := fmt.Sprint(q)
		value, err := q.Header()
		if (err == nil) != tt.ok || len(value) > x402.MaxHeader {
			t.Errorf("Header(%s) = %d bytes, %v, want at most %d and ok %v", tt.name, len(value), err, x402.MaxHeader,
				tt.ok)
		}
		if fmt.Sprint(q) != before {
			t.Errorf("Header(%s) changed the quote", tt.name)
		}
		if !tt.ok {
			continue
		}
		read, err := x402.ParseRequiredHeader(value)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for id := range read.Extensions {
			kept = append(kept, id)
		}
		if diff := cmp.Diff(tt.keeps, kept); diff != "" || len(read.Accepts) != 1 {
			t.Errorf("extensions of %s (-want +got):\n%s", tt.name, diff)
		}
	}
	settled := x402.SettleResponse{
		Success: true, Transaction: "0xab", Network: "eip155:1", ErrorMessage: long,
		Extensions: example,
	}
	value, err := settled.Header()
	if err != nil || len(value) > 300 {
		t.Errorf("header of a response = %d bytes, %v, want it short", len(value), err)
	}
	settled.Payer = long + long + long
	if _, err := settled.Header(); err == nil {
		t.Error("a response that does not fit was written")
	}
}

func TestQuoteCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(q *x402.PaymentRequired)
		ok     bool
	}{
		{"good", func(*x402.PaymentRequired) {}, true},
		{"version 1", func(q *x402.PaymentRequired) { q.X402Version = 1 }, false},
		{"no way to pay", func(q *x402.PaymentRequired) { q.Accepts = nil }, false},
		{"no address", func(q *x402.PaymentRequired) { q.Resource.URL = "" }, false},
		{"500 characters", func(q *x402.PaymentRequired) { q.Resource.Description = strings.Repeat("é", 500) }, true},
		{"501 characters", func(q *x402.PaymentRequired) { q.Resource.Description = strings.Repeat("é", 501) }, false},
		{"long name", func(q *x402.PaymentRequired) { q.Resource.ServiceName = strings.Repeat("n", 33) }, false},
		{"name beyond ASCII", func(q *x402.PaymentRequired) { q.Resource.ServiceName = "Café" }, false},
		{"six tags", func(q *x402.PaymentRequired) { q.Resource.Tags = []string{"a", "b", "c", "d", "e", "f"} }, false},
		{"empty tag", func(q *x402.PaymentRequired) { q.Resource.Tags = []string{""} }, false},
		{"long icon", func(q *x402.PaymentRequired) { q.Resource.IconURL = strings.Repeat("i", 2049) }, false},
		{"scheme", func(q *x402.PaymentRequired) { q.Accepts[0].Scheme = "upto" }, false},
		{"network", func(q *x402.PaymentRequired) { q.Accepts[0].Network = "base" }, false},
		{"token", func(q *x402.PaymentRequired) { q.Accepts[0].Asset = "usdc" }, false},
		{"receiver", func(q *x402.PaymentRequired) { q.Accepts[0].PayTo = "" }, false},
		{"no domain", func(q *x402.PaymentRequired) { q.Accepts[0].Extra = map[string]any{"name": "USDC"} }, false},
		{"no time", func(q *x402.PaymentRequired) { q.Accepts[0].MaxTimeoutSeconds = 0 }, false},
		{"nothing to pay", func(q *x402.PaymentRequired) { q.Accepts[0].Amount = "0" }, false},
		{"fraction", func(q *x402.PaymentRequired) { q.Accepts[0].Amount = "0.1" }, false},
	}
	for _, tt := range tests {
		q := quote()
		tt.change(&q)
		if err := q.Check(); (err == nil) != tt.ok {
			t.Errorf("Check(%s) = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

// TestExtensionsFitTheirSchemas checks info against schema with an independent validator, as
// clients do.
func TestExtensionsMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	bazaar := x402.Bazaar{
		Tool: "run_ai_search_audit", Description: "An audit", Example: json.RawMessage(`{"url":"https://example.com"}`),
		Input:  json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}`),
		Output: json.RawMessage(`{"score":71}`),
	}
	for name, e := range map[string]x402.Extension{
		"identifier": x402.Identifier(), "http": bazaar.HTTP(),
		"mcp": bazaar.MCP(),
	} {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.Schema))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema.json", schema); err != nil {
			t.Fatal(err)
		}
		compiled, err := c.Compile("schema.json")
		if err != nil {
			t.Fatal(err)
		}
		info, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.Info))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(info); err != nil {
			t.Errorf("the info of %s does not fit its schema: %v", name, err)
		}
	}
	if text := string(bazaar.MCP().Info); !strings.Contains(text, `"tool":"run_`) || !strings.Contains(text,
		`"toolName":"run_`) {
		t.Errorf("info = %s, want the tool named both ways", text)
	}
}

func TestIdentifier(t *testing.T) {
	t.Parallel()
	tests := []struct{ extension, id, refusal string }{
		{
			`{"info":{"required":false,"id":"pay_cfb3483013d1480bb6d836f452d2cf98"}}`,
			"pay_cfb3483013d1480bb6d836f452d2cf98", "read",
		},
		{`{"info":{"required":false}}`, "", "read"},
		{`{}`, "", "read"},
		{`{"info":{"id":"short"}}`, "", "invalid_payload /extensions/payment-identifier/info/id"},
		{`{"info":{"id":"` + strings.Repeat("a", 129) + `"}}`, "", "invalid_payload /info/id"},
		{`{"info":{"id":"with spaces and more"}}`, "", "invalid_payload /extensions/payment-identifier/info/id"},
		{`{"info":{"id":7}}`, "", "invalid_payload /info/id"},
		{`7`, "", "invalid_payload /extensions/payment-identifier"},
	}
	for _, tt := range tests {
		text := strings.Replace(validPayment, `"x402Version":2`,
			`"x402Version":2,"extensions":{"payment-identifier":`+tt.extension+`}`, 1)
		p, err := x402.ReadPayload([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		id, err := p.Identifier()
		if got := refusal(err); id != tt.id || got != tt.refusal && !strings.HasPrefix(got, "invalid_payload") {
			t.Errorf("Identifier(%s) = %q, %s, want %q, %s", tt.extension, id, got, tt.id, tt.refusal)
		}
	}
	p, err := x402.ReadPayload(fixture(t, "ext/payload-identifier.json"))
	if err != nil {
		t.Fatal(err)
	}
	if id, err := p.Identifier(); id != "pay_cfb3483013d1480bb6d836f452d2cf98" || err != nil {
		t.Errorf("recorded identifier = %q, %v", id, err)
	}
}

// TestPaymentHidesItself checks that formatting and logging never show the signature.
func TestPaymentIsNotPrinted(t *testing.T) {
	t.Parallel()
	p, err := x402.ReadPayload([]byte(validPayment))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("paid", slog.Any("payment", p), slog.Any("copy", *p))
	for _, text := range []string{
		fmt.Sprint(p), fmt.Sprintf("%v %+v %#v %s %q %x", *p, *p, *p, p, p, p),
		log.String(),
	} {
		if strings.Contains(text, "cc98226b73ce1f42") || !strings.Contains(text, "0x3c44") {
			t.Errorf("a printed payment is %s, want the payer without the signature", text)
		}
	}
	want := x402.Key{
		Network: "eip155:31337", Asset: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
		Payer: "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
		Nonce: "0xc1326e18534ee5a8d6c4c1611bea9d2bfb0749cfbb8c9b468ad2bb6e9418cb7a",
	}
	if diff := cmp.Diff(want, p.Key()); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	if got := p.Authorization.Deadline().Unix(); got != 1795218824 {
		t.Errorf("deadline = %d", got)
	}
	p.Authorization.ValidBefore = strings.Repeat("9", 70)
	if got := p.Authorization.Deadline().Year(); got != 9999 {
		t.Errorf("year of a deadline beyond all = %d, want 9999", got)
	}
}
