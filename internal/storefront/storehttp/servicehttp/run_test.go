package servicehttp_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
	"ace/internal/storefront/storehttp/servicehttp"
)

func TestPurchaseOverHTTP(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first := w.do(http.MethodPost, auditPath, site)
	quote := w.required(first)
	if quote.Error != "payment_required" || quote.Resource.URL != "https://store.example"+auditPath ||
		first.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("quote = %+v, %v", quote, first.Header())
	}
	payment := w.sign(w.payer(1_000_000), quote)
	paid := w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment)
	o := w.order(paid, http.StatusOK)
	settled, err := x402.ParseResponseHeader(paid.Header().Get("PAYMENT-RESPONSE"))
	if err != nil || !settled.Success || settled.Transaction == "" || settled.Network != "eip155:31337" {
		t.Errorf("PAYMENT-RESPONSE = %+v, %v", settled, err)
	}
	if o.State != "completed" || o.Charged == nil || !*o.Charged || o.Payment.Transaction != settled.Transaction ||
		!strings.Contains(string(o.Result), `"run":1`) || o.StoredUntil == nil {
		t.Errorf("order = %+v", o)
	}
	if got := paid.Header().Get("Cache-Control"); !strings.HasPrefix(got, "private") {
		t.Errorf("Cache-Control = %q, want private", got)
	}
	again := w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment), http.StatusOK)
	read := w.order(w.do(http.MethodGet, strings.TrimPrefix(o.URL, "https://store.example"), ""), http.StatusOK)
	for name, other := range map[string]*servicehttp.ServiceOrder{"the same payment": again, "the order": read} {
		if diff := cmp.Diff(o, other); diff != "" {
			t.Errorf("%s (-first +second):\n%s", name, diff)
		}
	}
	if w.runner.Runs() != 1 || len(w.ledger.Received()) != 1 {
		t.Errorf("%d runs for %d payments", w.runner.Runs(), len(w.ledger.Received()))
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", w.sign(w.payer(1_000_000), w.quote())),
		http.StatusOK)
	if len(o.Files) != 2 {
		t.Fatalf("files = %+v", o.Files)
	}
	want := map[string]struct{ disposition, body string }{
		"report.html": {`inline; filename=report.html`, "<h1>Report</h1>"},
		"ü.bin":       {`attachment; filename*=utf-8''%C3%BC.bin`, "\x00\x01\xff"},
	}
	for _, file := range o.Files {
		answer := w.do(http.MethodGet, strings.TrimPrefix(file.URL, "https://store.example"), "")
		h := answer.Header()
		if answer.Code != http.StatusOK || answer.Body.String() != want[file.Name].body ||
			h.Get("Content-Type") != file.MediaType || h.Get("Content-Disposition") != want[file.Name].disposition {
			t.Errorf("%s = %d %v %q", file.Name, answer.Code, h, answer.Body)
		}
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "sandbox") || strings.Contains(csp,
			"script-src") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Robots-Tag") == "" ||
			!strings.HasPrefix(h.Get("Cache-Control"), "private") {
			t.Errorf("%s is served with %v", file.Name, h)
		}
	}
	for path, status := range map[string]int{
		"/v1/orders/" + o.ID + "/files/none": http.StatusNotFound, "/v1/orders/svo_none": http.StatusNotFound,
		"/v1/orders/svo_none/files/report.html": http.StatusNotFound,
	} {
		if answer := w.do(http.MethodGet, path, ""); answer.Code != status {
			t.Errorf("%s = %d, want %d", path, answer.Code, status)
		}
	}
}

// sdkAmount is what the tests of this file ask for.
func (w *world) authorize(key evm.Key,
	change func(a *x402.Authorization, r *x402.PaymentRequirements, i *x402.ResourceInfo),
) string {
	w.t.Helper()
	q := w.quote()
	p, err := key.Pay(q.Accepts[0], &q.Resource, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	change(&p.Authorization, &p.Accepted, &q.Resource)
	if p, err = key.Authorize(p.Accepted, &q.Resource, p.Authorization); err != nil {
		w.t.Fatal(err)
	}
	value, err := p.Header()
	if err != nil {
		w.t.Fatal(err)
	}
	return value
}

// What a request is answered with, row by row: refused payments, payments that
// cannot be read, and everything that must not be 402.
func TestAnswersOverHTTP(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.payer(100_000_000)
	good := func() string { return w.sign(key, w.quote()) }
	decoded := func(payment string) string {
		text, err := x402.DecodeHeader(payment)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	edit := func(old, replacement string) string {
		return base64.StdEncoding.EncodeToString([]byte(strings.Replace(decoded(good()), old, replacement, 1)))
	}
	used := good()
	w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", used), http.StatusOK)
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		code    string // of the problem, or the reason of the quote
	}{
		{"no payment", site, nil, 402, "payment_required"},
		{"no payment and no body", "", nil, 402, "payment_required"},
		{"arguments that cannot be run", `{"url":""}`, nil, 400, "required"},
		{"a body that is no JSON", `{"url":`, nil, 400, "invalid_json"},
		{"replay", site, []string{"PAYMENT-SIGNATURE", used}, 200, ""},
		{
			"replay with other arguments", `{"url":"https://other.example"}`,
			[]string{"PAYMENT-SIGNATURE", used},
			409,
			"payment_bound_to_other_request",
		},
		{
			"a payment for another service",
			site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key, func(_ *x402.Authorization, _ *x402.PaymentRequirements, i *x402.ResourceInfo) {
					i.URL = strings.Replace(i.URL, "ai-search-audit", "llms-txt-draft", 1)
				}),
			},
			402, "resource_mismatch",
		},
		{
			"amount too small", site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key,
					func(a *x402.Authorization, _ *x402.PaymentRequirements,
						_ *x402.ResourceInfo,
					) {
						a.Value = "99999"
					}),
			},
			402, string(x402.ReasonValue),
		},
		{
			"amount too large", site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key,
					func(a *x402.Authorization, _ *x402.PaymentRequirements,
						_ *x402.ResourceInfo,
					) {
						a.Value = "100001"
					}),
			},
			402, string(x402.ReasonValue),
		},
		{
			"another receiver", site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key,
					func(a *x402.Authorization, _ *x402.PaymentRequirements, _ *x402.ResourceInfo) { a.To = a.From }),
			},
			402, string(x402.ReasonRecipient),
		},
		{
			"expired", site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key,
					func(a *x402.Authorization, _ *x402.PaymentRequirements,
						_ *x402.ResourceInfo,
					) {
						a.ValidBefore = "1"
					}),
			},
			402, string(x402.ReasonValidBefore),
		},
		{
			"not valid yet",
			site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key, func(a *x402.Authorization, _ *x402.PaymentRequirements, _ *x402.ResourceInfo) {
					a.ValidAfter = "99999999999"
				}),
			},
			402, string(x402.ReasonValidAfter),
		},
		{"tampered", site, []string{"PAYMENT-SIGNATURE", w.tampered(key)}, 402, string(x402.ReasonSignature)},
		{
			"accepted altered", site,
			[]string{
				"PAYMENT-SIGNATURE",
				w.authorize(key, func(_ *x402.Authorization, r *x402.PaymentRequirements, _ *x402.ResourceInfo) {
					r.PayTo = strings.ToLower(r.PayTo)
				}),
			},
			402, string(x402.ReasonNoMatch),
		},
		{
			"no money", site,
			[]string{"PAYMENT-SIGNATURE", w.sign(w.payer(0), w.quote())},
			402,
			string(x402.ReasonInsufficientBalance),
		},
		{
			"version 3", site,
			[]string{"PAYMENT-SIGNATURE", edit(`"x402Version":2`, `"x402Version":3`)},
			400,
			"invalid_payload",
		},
		{"no accepted", site, []string{"PAYMENT-SIGNATURE", edit(`"accepted"`, `"refused"`)}, 400, "invalid_payload"},
		{"garbage", site, []string{"PAYMENT-SIGNATURE", "!!!"}, 400, "invalid_payload"},
		{"base64 of no JSON", site, []string{"PAYMENT-SIGNATURE", "aGVsbG8="}, 400, "invalid_payload"},
		{
			"a signature alone", site,
			[]string{"PAYMENT-SIGNATURE", "0x" + strings.Repeat("ab", 65)},
			400, "invalid_payload",
		},
		{"version 2 in X-PAYMENT", site, []string{"X-PAYMENT", good()}, 400, "invalid_payload"},
		{"the resource is not named", site, []string{"PAYMENT-SIGNATURE", edit(`"resource":`, `"nothing":`)}, 200, ""},
		{
			"base64url without padding", site,
			[]string{"PAYMENT-SIGNATURE", base64.RawURLEncoding.EncodeToString([]byte(decoded(good())))},
			200, "",
		},
		{"the payment as JSON", site, []string{"PAYMENT-SIGNATURE", decoded(good())}, 200, ""},
		{
			"the payment in the body", `{"url":"https://site.example","payment_signature":"` + good() + `"}`, nil, 200,
			"",
		},
		{"a long idempotency key", site, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "too_long"},
	}
	for _, tt := range tests {
		answer := w.do(http.MethodPost, auditPath, tt.body, tt.headers...)
		var body struct{ Code, Error string }
		if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if answer.Code != tt.status || body.Code+body.Error != tt.code {
			t.Errorf("%s: answer = %d %s, want %d %s", tt.name, answer.Code, answer.Body, tt.status, tt.code)
		}
		if answer.Code == http.StatusPaymentRequired {
			w.required(answer)
		} else if answer.Header().Get("PAYMENT-REQUIRED") != "" {
			t.Errorf("%s: a quote beside %d", tt.name, answer.Code)
		}
		if answer.Header().Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(answer.Header().Get("Access-Control-Expose-Headers"), "PAYMENT-REQUIRED") {
			t.Errorf("%s: pages of other origins cannot read the answer: %v", tt.name, answer.Header())
		}
	}
}

// tampered returns a payment whose signature is another one's.
func (w *world) tampered(key evm.Key) string {
	w.t.Helper()
	q := w.quote()
	p, err := key.Pay(q.Accepts[0], &q.Resource, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	other, err := key.Pay(q.Accepts[0], &q.Resource, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	p.Signature = other.Signature
	value, err := p.Header()
	if err != nil {
		w.t.Fatal(err)
	}
	return value
}

func TestWhileItRuns(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payment := w.sign(w.payer(1_000_000), w.quote())
	release := w.runner.Hold()
	for _, prefer := range []string{"respond-async", "wait=0", "handling=lenient, wait=1"} {
		answer := w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment, "Prefer", prefer)
		o := w.order(answer, http.StatusAccepted)
		if o.State != "running" || o.NextAction != "wait" || *o.Charged || answer.Header().Get("Location") != o.URL ||
			answer.Header().Get("Retry-After") != "2" || answer.Header().Get("PAYMENT-REQUIRED") != "" {
			t.Errorf("%s: answer = %v %+v", prefer, answer.Header(), o)
		}
	}
	o := w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment, "Prefer", "respond-async"),
		http.StatusAccepted)
	path := strings.TrimPrefix(o.URL, "https://store.example")
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) &&
		(o.Progress == nil || o.Progress.PagesDone == 0); time.Sleep(10 * time.Millisecond) {
		o = w.order(w.do(http.MethodGet, path, ""), http.StatusOK)
	}
	if diff := cmp.Diff(&servicehttp.OrderProgress{Phase: "crawling", PagesDone: 3, PagesTotal: 10},
		o.Progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	release()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) &&
		o.State == "running"; time.Sleep(10 * time.Millisecond) {
		o = w.order(w.do(http.MethodGet, path, ""), http.StatusOK)
	}
	if o.State != "awaiting_settlement" || *o.Charged || o.Result != nil || len(o.Files) != 0 ||
		len(w.ledger.Received()) != 0 {
		t.Errorf("order = %+v: reading it must not charge, nor show unpaid work", o)
	}
	if o := w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment),
		http.StatusOK); o.State != "completed" {
		t.Errorf("order = %+v", o)
	}
}

func TestNobodyKnows(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.ledger.Forgetful = true
	w.ledger.Fail("settle", paidservicetest.PendingAfter)
	payment := w.sign(w.payer(1_000_000), w.quote())
	answer := w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment)
	o := w.order(answer, http.StatusAccepted)
	settled, err := x402.ParseResponseHeader(answer.Header().Get("PAYMENT-RESPONSE"))
	if err != nil || settled.Success || settled.ErrorReason != "settlement_pending" || settled.Transaction == "" {
		t.Errorf("PAYMENT-RESPONSE = %+v, %v", settled, err)
	}
	if o.State != "settlement_pending" || o.Charged != nil || o.NextAction != "retry_with_same_payment" ||
		o.Result != nil || answer.Header().Get("Retry-After") == "" {
		t.Errorf("order = %s", answer.Body)
	}
	if !strings.Contains(answer.Body.String(), `"charged":null`) {
		t.Errorf("order = %s, want charged null", answer.Body)
	}
}

func TestWorkThatFails(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payment := w.sign(w.payer(1_000_000), w.quote())
	w.runner.Fail(errors.New("a secret of the inside"))
	answer := w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment)
	var body struct {
		Code                 string
		Charged              bool
		RetryWithSamePayment bool   `json:"retry_with_same_payment"`
		OrderURL             string `json:"order_url"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if answer.Code != http.StatusInternalServerError || body.Code != "service_failed" || body.Charged ||
		!body.RetryWithSamePayment || strings.Contains(answer.Body.String(), "secret") {
		t.Errorf("answer = %d %s", answer.Code, answer.Body)
	}
	if o := w.order(w.do(http.MethodGet, strings.TrimPrefix(body.OrderURL, "https://store.example"), ""),
		http.StatusOK); o.State != "failed" || *o.Charged || o.Reason != "service_failed" {
		t.Errorf("order = %+v", o)
	}
	w.ledger.Fail("verify", paidservicetest.Lost)
	if away := w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE",
		payment); away.Code != http.StatusServiceUnavailable || away.Header().Get("Retry-After") == "" {
		t.Errorf("the facilitator is unavailable: %d %v", away.Code, away.Header())
	}
	w.order(w.do(http.MethodPost, auditPath, site, "PAYMENT-SIGNATURE", payment), http.StatusOK)
}

func TestPriceByGet(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, id := range []string{"ai-search-audit", "structured-data-pack", "llms-txt-draft"} {
		if q := w.required(w.do(http.MethodGet, "/v1/services/"+id+"/run", "")); q.Accepts[0].Amount != "100000" {
			t.Errorf("%s = %+v", id, q)
		}
	}
	if answer := w.do(http.MethodGet, "/v1/services/weather/run", ""); answer.Code != http.StatusNotFound {
		t.Errorf("another service = %d", answer.Code)
	}
	if answer := w.do(http.MethodGet, auditPath, "", "PAYMENT-SIGNATURE",
		"x"); answer.Code != http.StatusMethodNotAllowed || answer.Header().Get("Allow") != "POST" {
		t.Errorf("a payment with GET = %d %v, want 405", answer.Code, answer.Header())
	}
	answer := w.do(http.MethodOptions, auditPath, "", "Origin", "https://page.example", "Access-Control-Request-Method",
		"POST")
	if h := answer.Header(); answer.Code != http.StatusNoContent ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "PAYMENT-SIGNATURE") ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Access-Control-Expose-Headers") ||
		!strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight = %d %v", answer.Code, h)
	}
}

func TestListOverHTTP(t *testing.T) {
	t.Parallel()
	w := setup(t)
	answer := w.do(http.MethodGet, "/v1/services", "")
	var list struct {
		Object   string
		Payments struct{ Parameter, Header string }
		Services []struct {
			ID, Tool          string
			Price             struct{ Display, Amount, Currency string }
			UnavailableReason *string         `json:"unavailable_reason"`
			PaymentRequired   json.RawMessage `json:"payment_required"`
			InputSchema       json.RawMessage `json:"input_schema"`
			HTTP              struct{ URL string }
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || answer.Code != http.StatusOK ||
		list.Object != "service_list" || len(list.Services) != 3 {
		t.Fatalf("list = %d %s, %v", answer.Code, answer.Body, err)
	}
	if list.Payments.Parameter != "payment_signature" || list.Payments.Header != "PAYMENT-SIGNATURE" {
		t.Errorf("payments = %+v", list.Payments)
	}
	for _, s := range list.Services {
		if s.Price.Display != "$0.10" || s.Price.Amount != "100000" || s.UnavailableReason == nil ||
			len(s.InputSchema) == 0 {
			t.Errorf("service = %+v", s) // nobody has asked the facilitator yet
		}
		// The quote of the list can be signed as it is.
		quote, err := x402.ReadRequired(s.PaymentRequired)
		if err != nil {
			t.Fatal(err)
		}
		paid := w.do(http.MethodPost, strings.TrimPrefix(s.HTTP.URL, "https://store.example"), site,
			"PAYMENT-SIGNATURE", w.sign(w.payer(1_000_000), quote))
		w.order(paid, http.StatusOK)
	}
	if again := w.do(http.MethodGet, "/v1/services", "", "If-None-Match",
		answer.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("the same list again = %d, want 304", again.Code)
	}
}

func TestAStoreWithoutServices(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]*paidservice.Service{
		"none": nil,
		"not configured": paidservice.New(paidservice.Deps{Definitions: paidservice.Definitions()},
			paidservice.Options{}),
	} {
		w := &world{t: t, handler: mount(&servicehttp.Handler{BaseURL: "https://store.example", Service: service})}
		if answer := w.do(http.MethodPost, auditPath, site); answer.Code != http.StatusServiceUnavailable ||
			answer.Header().Get("PAYMENT-REQUIRED") != "" {
			t.Errorf("%s: run = %d %s, want 503", name, answer.Code, answer.Body)
		}
		if answer := w.do(http.MethodGet, auditPath, ""); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: price = %d, want 503", name, answer.Code)
		}
		list := w.do(http.MethodGet, "/v1/services", "")
		if service == nil && list.Code != http.StatusServiceUnavailable || service != nil &&
			!strings.Contains(list.Body.String(), `"unavailable_reason":"payments_not_configured"`) {
			t.Errorf("%s: list = %d %s", name, list.Code, list.Body)
		}
	}
}
