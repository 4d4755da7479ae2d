package servicehttp_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
	"ace/internal/storefront/storehttp/servicehttp"
)

// tool calls a run_ tool.
func (w *world) tool(arguments string, meta string, header http.Header) *mcp.Result {
	w.t.Helper()
	call := &mcp.Call{
		Tool: "run_ai_search_audit", Header: header,
		Arguments: parsed(w.t, []byte(arguments)), Meta: parsed(w.t, []byte(meta)),
	}
	result, err := w.services.Run(w.t.Context(), call)
	if err != nil {
		w.t.Fatalf("Run = %v", err)
	}
	if len(result.Content) == 0 || result.Content[0].Text != string(result.Structured) {
		w.t.Errorf("text and structured content are not the same bytes: %+v", result)
	}
	return result
}

// quoted reads the quote, which is in three places.
func (w *world) quoted(r *mcp.Result) *x402.PaymentRequired {
	w.t.Helper()
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(r.Meta, &meta); err != nil || !r.IsError ||
		string(meta["x402/error"]) != string(r.Structured) {
		w.t.Fatalf("result = %+v, want a quote in three places", r)
	}
	q, err := x402.ReadRequired(r.Structured)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

func TestPurchaseByTool(t *testing.T) {
	t.Parallel()
	w := setup(t)
	q := w.quoted(w.tool(site, "", nil))
	if q.Resource.URL != "https://store.example/mcp" || q.Error != "payment_required" {
		t.Errorf("quote = %+v", q)
	}
	payment := w.sign(w.payer(1_000_000), q)
	object, err := x402.DecodeHeader(payment)
	if err != nil {
		t.Fatal(err)
	}
	withArgument := `{"url":"https://site.example","payment_signature":"` + payment + `"}`
	ways := map[string]func() *mcp.Result{
		"argument":        func() *mcp.Result { return w.tool(withArgument, "", nil) },
		"object in _meta": func() *mcp.Result { return w.tool(site, `{"x402/payment":`+string(object)+`}`, nil) },
		"text in _meta":   func() *mcp.Result { return w.tool(site, `{"x402/payment":"`+payment+`"}`, nil) },
		"header":          func() *mcp.Result { return w.tool(site, "", http.Header{"Payment-Signature": {payment}}) },
		"all at once": func() *mcp.Result {
			return w.tool(withArgument, `{"x402/payment":"`+payment+`"}`, http.Header{"Payment-Signature": {payment}})
		},
		"JSON as argument": func() *mcp.Result {
			return w.tool(`{"url":"https://site.example","payment_signature":`+quoteJSON(object)+`}`, "", nil)
		},
	}
	var first string
	for name, way := range ways {
		r := way()
		var o servicehttp.ServiceOrder
		if err := json.Unmarshal(r.Structured, &o); err != nil || r.IsError || o.State != "completed" ||
			!strings.Contains(string(o.Result), `"run":1`) {
			t.Errorf("%s: result = %+v, %v", name, r, err)
		}
		if !strings.Contains(string(r.Meta), `"x402/payment-response":{"success":true`) {
			t.Errorf("%s: _meta = %s", name, r.Meta)
		}
		if first == "" {
			first = string(r.Structured)
		}
		if diff := cmp.Diff(first, string(r.Structured)); diff != "" {
			t.Errorf("%s (-first +this):\n%s", name, diff)
		}
	}
	if w.runner.Runs() != 1 || len(w.ledger.Received()) != 1 {
		t.Errorf("%d runs for %d payments", w.runner.Runs(), len(w.ledger.Received()))
	}
	// The same payment over HTTP is the same purchase.
	w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment), http.StatusOK)
	if w.runner.Runs() != 1 {
		t.Error("the other transport ran it again")
	}
}

func quoteJSON(text []byte) string {
	out, err := json.Marshal(string(text))
	if err != nil {
		return `""`
	}
	return string(out)
}

// No response but a quote holds anything to sign.
func TestUnfinishedTools(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.payer(100_000_000)
	pay := func() string {
		return `{"url":"https://site.example","payment_signature":"` + w.sign(key, w.quote()) + `"}`
	}
	tests := []struct {
		name, want string
		spoil      func()
	}{
		{"the work fails", `"status":"failed","code":"service_failed"`, func() { w.runner.Fail(errors.New("inside")) }},
		{
			"the facilitator is unavailable", `"status":"failed","code":"facilitator_unavailable"`,
			func() { w.ledger.Fail("verify", paidservicetest.Lost) },
		},
		{"nobody knows", `"status":"settlement_pending"`, func() {
			w.ledger.Forgetful = true
			w.ledger.Fail("settle", paidservicetest.LostAfter)
		}},
	}
	for _, tt := range tests {
		call := pay()
		tt.spoil()
		r := w.tool(call, "", nil)
		text := string(r.Structured)
		if !r.IsError || !strings.Contains(text, tt.want) || strings.Contains(text, "accepts") ||
			strings.Contains(string(r.Meta), "accepts") || !strings.Contains(text, `"retry_with_same_payment":true`) {
			t.Errorf("%s: result = %s %s, want %s and nothing to sign", tt.name, text, r.Meta, tt.want)
		}
	}
}

func TestToolsThatCannotReadThePayment(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, payment := range []string{"!!!", "0x" + strings.Repeat("ab", 65), "{}"} {
		r := w.tool(`{"url":"https://site.example","payment_signature":`+quoteJSON([]byte(payment))+`}`, "", nil)
		if q := w.quoted(r); q.Error != "invalid_payload" || len(r.Content) != 2 || !strings.Contains(r.Content[1].Text,
			"Nothing was charged") {
			t.Errorf("%q: result = %+v, want a quote and a hint", payment, r)
		}
	}
	key := w.payer(1_000_000)
	one, two := w.sign(key, w.quote()), w.sign(key, w.quote())
	r := w.tool(`{"url":"https://site.example","payment_signature":"`+one+`"}`, `{"x402/payment":"`+two+`"}`, nil)
	if q := w.quoted(r); q.Error != "invalid_payload" {
		t.Errorf("two payments: %+v", q)
	}
	paid := `{"url":"https://site.example","payment_signature":"` + one + `"}`
	w.tool(paid, "", nil)
	other := strings.Replace(paid, "site.example", "other.example", 1)
	call := &mcp.Call{
		Tool:      "run_ai_search_audit",
		Arguments: parsed(t, []byte(other)), Meta: parsed(t, nil),
	}
	if _, err := w.services.Run(t.Context(), call); !problem.Is(err, "payment_bound_to_other_request") {
		t.Errorf("other arguments = %v", err)
	}
}

func TestToolMeta(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var meta struct {
		X402 struct {
			Scheme, Network, Amount string
			Accepts                 []json.RawMessage
		}
		Required bool    `json:"agents-x402/paymentRequired"`
		USD      float64 `json:"agents-x402/priceUSD"`
	}
	if err := json.Unmarshal(w.services.ToolMeta("run_ai_search_audit"), &meta); err != nil ||
		meta.X402.Amount != "100000" || len(meta.X402.Accepts) != 1 || !meta.Required || meta.USD != 0.1 {
		t.Errorf("ToolMeta = %+v, %v", meta, err)
	}
	if got := w.services.ToolMeta("read_page"); got != nil {
		t.Errorf("ToolMeta of another tool = %s", got)
	}
	if got := (&servicehttp.Handler{}).ToolMeta("run_ai_search_audit"); got != nil {
		t.Errorf("ToolMeta without services = %s", got)
	}
}

// recorded reads a file of the exchanges that were recorded between the client
// libraries and their own server.
func recorded(t *testing.T, path string) []byte {
	t.Helper()
	dir := os.Getenv("ACE_SHARED_DIR")
	if dir == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "specs/x402/fixtures", path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// asRecorded is a store that asks what the recorded one asked, with budgets
// that fit into its time limit.
func asRecorded(terms x402.PaymentRequirements) func(*settings) {
	return func(s *settings) {
		name, version := terms.Domain()
		s.price = "0.25"
		s.network = paidservice.Network{
			ID: terms.Network, Asset: terms.Asset, Name: name, Version: version,
			Symbol: "USDC", Decimals: 6, PayTo: terms.PayTo,
		}
		s.options.MaxTimeout = time.Duration(terms.MaxTimeoutSeconds) * time.Second
		s.options.RunWait, s.options.SettleBudget = 20*time.Second, 10*time.Second
	}
}

// at sets the clock of a bubble to so long before a payment ends.
func at(t *testing.T, p *x402.PaymentPayload, before time.Duration) {
	t.Helper()
	time.Sleep(time.Until(p.Authorization.Deadline().Add(-before)))
}

// The recorded payments are taken as the real client sent them, byte for byte.
func TestRecordedPaymentsOverHTTP(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"dev-31337", "usdc-84532"} {
		header := strings.TrimSpace(string(recorded(t, folder+"/payment-signature.b64")))
		quote, err := x402.ReadRequired(recorded(t, folder+"/payment-required.json"))
		if err != nil {
			t.Fatal(err)
		}
		payment, err := x402.ParsePayment(header)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, asRecorded(quote.Accepts[0]))
			at(t, payment, time.Duration(quote.Accepts[0].MaxTimeoutSeconds)*time.Second)
			w.ledger.Fund(payment.Authorization.From, 1_000_000)
			if got := w.quote(); !cmp.Equal(got.Accepts, quote.Accepts) {
				t.Errorf("%s: our quote accepts %+v, the recorded one %+v", folder, got.Accepts, quote.Accepts)
			}
			o := w.order(w.do(http.MethodPost, auditPath, `{"url":"https://example.com"}`, "PAYMENT-SIGNATURE", header),
				http.StatusOK)
			if !strings.EqualFold(o.Payment.Payer, payment.Authorization.From) {
				t.Errorf("%s: order = %+v", folder, o)
			}
		})
	}
}

func TestRecordedPaymentsByTool(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"paid-by-meta-object-(x402-mcp-spec)", "paid-by-payment_signature-argument"} {
		var exchange struct {
			Requests []struct {
				Params struct {
					Arguments json.RawMessage
					Meta      json.RawMessage `json:"_meta"`
				}
			}
		}
		if err := json.Unmarshal(recorded(t, "mcp/"+name+".json"), &exchange); err != nil {
			t.Fatal(err)
		}
		sent := exchange.Requests[len(exchange.Requests)-1].Params
		payment, _, err := x402.FromTool(parsed(t, sent.Arguments), parsed(t, sent.Meta), nil)
		if err != nil || payment == nil {
			t.Fatalf("%s: FromTool = %v, %v", name, payment, err)
		}
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, asRecorded(payment.Accepted))
			at(t, payment, time.Duration(payment.Accepted.MaxTimeoutSeconds)*time.Second)
			w.ledger.Fund(payment.Authorization.From, 1_000_000)
			if r := w.tool(string(sent.Arguments), string(sent.Meta), nil); r.IsError {
				t.Errorf("%s: result = %s", name, r.Structured)
			}
		})
	}
}

func parsed(t *testing.T, text []byte) *jsonread.Value {
	t.Helper()
	v, err := jsonread.ParseOptional(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
