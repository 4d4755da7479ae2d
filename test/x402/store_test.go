package x402_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/test/harness"
)

// store is the real binary, with the rig's facilitator and chain in its
// settings, and a website to work on.
type store struct {
	*rig
	url, dir string
	site     *website
	process  *harness.Process
}

const (
	draft = "llms-txt-draft"
	pack  = "structured-data-pack"
)

// open starts a store that sells for the rig's token.
func (r *rig) open(env ...string) *store {
	r.t.Helper()
	address := harness.FreeAddr(r.t)
	s := &store{rig: r, url: "http://" + address, dir: harness.DataDir(r.t), site: newWebsite(r.t)}
	s.process = harness.Start(r.t, harness.Build(r.t, ""), append([]string{
		"ACE_STORE_ADDR=" + address, "ACE_SANDBOX_ADDR=" + harness.FreeAddr(r.t), "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + s.dir, "ACE_RATE_LIMIT=off",
		"ACE_EGRESS_ALLOW=127.0.0.0/8", "ACE_X402_FACILITATOR_URL=" + r.Facilitator, "ACE_X402_PAY_TO=" + r.receiver,
		"ACE_X402_NETWORKS=" + r.Network,
		"ACE_X402_RPC_URL=" + r.Network + "=" + r.RPC, "ACE_X402_CONFIRMATIONS=3",
	}, env...), "serve")
	if !s.process.Ready(s.url + "/healthz") {
		r.t.Fatal("the store did not start")
	}
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(100 * time.Millisecond) {
		if status, body := s.get("/v1/services"); status == http.StatusOK && strings.Contains(body,
			`"available":true`) {
			return s
		} else if time.Now().After(deadline) {
			r.t.Fatalf("the services are not for sale: %d %s", status, body)
		}
	}
}

// website is a small site. It can be set to delay visitors.
type website struct {
	URL  string
	mu   sync.Mutex
	gate chan struct{}
}

// hosts counts the hosts of sites.
var hosts atomic.Int64

// newWebsite serves a site on an address of this machine that no other site
// has: the store is polite to each host by itself.
func newWebsite(t *testing.T) *website {
	w := &website{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		gate := w.gate
		w.mu.Unlock()
		if gate != nil {
			select {
			case <-gate:
			case <-r.Context().Done():
				return
			}
		}
		if r.URL.Path != "/" {
			http.NotFound(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(
			out,
			`<!doctype html><html lang="en"><title>Small Shop</title>`+
				`<meta name="description" content="A shop that sells one good thing.">`+
				`<body><main><h1>Small Shop</h1><p>We sell one good thing, `+
				`and have done so for years. It costs ten euros and lasts for life.</p></main></body></html>`,
		)
	}))
	if l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.2:0", hosts.Add(1))); err == nil { // not everywhere
		_ = s.Listener.Close()
		s.Listener = l
	}
	s.Start()
	t.Cleanup(s.Close)
	w.URL = s.URL
	return w
}

// hold lets visitors wait until the answered function is called.
func (w *website) hold() (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gate := make(chan struct{})
	w.gate = gate
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gate = nil
		close(gate)
	})
}

func (s *store) get(path string) (int, string) {
	s.t.Helper()
	status, body, err := harness.Call(s.t, http.MethodGet, s.url+path, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return status, body
}

// answer is what the store responds to a call of a service.
type answer struct {
	status int
	header http.Header
	body   string
	order  struct {
		ID, URL, State string
		Payment        struct{ Transaction string }
		Result         json.RawMessage
		Code           string
	}
	quote   *x402.PaymentRequired
	settled x402.SettleResponse
}

// run calls a service. headers are names and values by turns.
func (s *store) run(service, body string, headers ...string) *answer {
	s.t.Helper()
	a, err := s.try(service, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *store) try(service, body string, headers ...string) (*answer, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/v1/services/"+service+"/run",
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	a := &answer{status: res.StatusCode, header: res.Header, body: string(text)}
	_ = json.Unmarshal(text, &a.order) // what it is depends on the status
	if value := res.Header.Get(x402.HeaderRequired); err == nil && value != "" {
		a.quote, err = x402.ParseRequiredHeader(value)
	}
	if value := res.Header.Get(x402.HeaderResponse); err == nil && value != "" {
		a.settled, err = x402.ParseResponseHeader(value)
	}
	return a, err
}

// args are the arguments for the site.
func (s *store) args() string { return s.site.args() }

func (w *website) args() string { return fmt.Sprintf(`{"url":%q}`, w.URL+"/") }

// quote asks what a service costs.
func (s *store) quote(service string) *x402.PaymentRequired {
	s.t.Helper()
	a := s.run(service, s.args())
	if a.status != http.StatusPaymentRequired || a.quote == nil {
		s.t.Fatalf("a call without a payment = %d %s", a.status, a.body)
	}
	return a.quote
}

// sign signs a payment of a quote, changed by change if that is not nil, as
// the value of the header.
func (s *store) sign(key evm.Key, q *x402.PaymentRequired, change func(a *x402.Authorization)) string {
	s.t.Helper()
	p, err := key.Pay(q.Accepts[0], &q.Resource, time.Now())
	if err == nil && change != nil {
		a := p.Authorization
		change(&a)
		p, err = key.Authorize(q.Accepts[0], &q.Resource, a)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return header(s.t, p)
}

func header(t *testing.T, p *x402.PaymentPayload) string {
	t.Helper()
	value, err := p.Header()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// bent returns a payment whose JSON was changed.
func bent(t *testing.T, value string, change func(p map[string]any)) string {
	t.Helper()
	text, err := x402.DecodeHeader(value)
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	change(p)
	out, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(out)) // JSON is taken as well as base64
}

const priceOfDraft = "50000"

// TestBuyOverHTTP lets the libraries' client buy, with the settings that it
// comes with.
func TestBuyOverHTTP(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	key := r.payer("1000000")
	got := r.fetch(key, s.url+"/v1/services/"+draft+"/run", map[string]string{"url": s.site.URL + "/"}, nil)
	if got.Status != http.StatusOK || !strings.Contains(got.Body, "Small Shop") || len(got.Sent) != 2 ||
		got.Sent[0] != "" {
		t.Fatalf("the client got %d %s after %d requests", got.Status, got.Body, len(got.Sent))
	}
	settled, err := x402.ParseResponseHeader(got.Headers["payment-response"])
	if err != nil || settled.Class(r.terms(priceOfDraft)) != x402.Accepted {
		t.Errorf("settlement = %+v, %v", settled, err)
	}
	if got := r.balance(r.receiver); got != priceOfDraft {
		t.Errorf("the receiver has %s, want %s", got, priceOfDraft)
	}
	again := s.run(draft, s.args(), x402.HeaderSignature, got.Sent[1])
	if again.status != http.StatusOK || again.order.Payment.Transaction != settled.Transaction ||
		r.balance(r.receiver) != priceOfDraft {
		t.Errorf("the same payment again = %d %s, want the first result and no second charge", again.status, again.body)
	}
}

// TestBuyOverMCP pays for tools in every way that clients know.
func TestBuyOverMCP(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	type result struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		Meta              map[string]json.RawMessage `json:"_meta"`
		Payment           string
	}
	var quote result
	r.do("mcp", map[string]any{
		"url": s.url + "/mcp", "tool": "run_llms_txt_draft", "arguments": map[string]string{"url": s.site.URL + "/"},
		"privateKey": r.payer("0").Secret(), "way": "quote",
	}, &quote)
	if !quote.IsError || string(quote.StructuredContent) == "" || quote.Meta[x402.MetaError] == nil ||
		!strings.Contains(quote.Content[0].Text, `"x402Version":2`) {
		t.Errorf("quote = %+v, want it in three places", quote)
	}
	ways := []struct {
		way string
		sdk int
	}{{"meta", 1}, {"meta text", 1}, {"argument", 1}, {"text", 2}, {"agents", 1}, {"agents", 2}}
	var group sync.WaitGroup
	for _, tt := range ways {
		arguments := map[string]any{
			"way": tt.way, "sdk": tt.sdk, "privateKey": r.payer("1000000").Secret(),
			"url": s.url + "/mcp", "tool": "run_llms_txt_draft",
		}
		arguments["arguments"] = map[string]string{"url": newWebsite(t).URL + "/"}
		group.Go(func() {
			var got result
			if err := r.try("mcp", arguments, &got); err != nil {
				t.Errorf("paying by %s with SDK %d: %v", tt.way, tt.sdk, err)
				return
			}
			var settled x402.SettleResponse
			if value := got.Meta[x402.MetaResponse]; value != nil {
				settled, _ = x402.ReadSettle(value)
			}
			if got.IsError || !strings.Contains(string(got.StructuredContent), "Small Shop") ||
				settled.Class(r.terms(priceOfDraft)) != x402.Accepted {
				t.Errorf("paying by %s with SDK %d = %+v", tt.way, tt.sdk, got)
			}
		})
	}
	group.Wait()
	if got := r.balance(r.receiver); got != fmt.Sprint(50000*len(ways)) {
		t.Errorf("the receiver has %s, want %d payments of %s", got, len(ways), priceOfDraft)
	}
}

// TestAnswers goes through the cases in which servers made of the libraries
// lose money or work, or ask for a second payment.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	q := s.quote(draft)
	rich := r.payer("100000000")
	pay := func(change func(a *x402.Authorization)) string { return s.sign(rich, q, change) }
	tests := []struct {
		name   string
		call   func() *answer
		status int
		reason string // in the quote of a 402, otherwise the code of the problem
	}{
		{"no payment", func() *answer { return s.run(draft, s.args()) }, 402, "payment_required"},
		{"for another service at the same price", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, bent(t, pay(nil), func(p map[string]any) {
				p["resource"] = map[string]any{"url": s.url + "/v1/services/" + pack + "/run"}
			}))
		}, 402, "resource_mismatch"},
		{"no resource", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				bent(t, pay(nil), func(p map[string]any) { delete(p, "resource") }))
		}, 200, ""},
		{"tampered signature", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, bent(t, pay(nil), func(p map[string]any) {
				p["payload"].(map[string]any)["signature"] = "0x" + strings.Repeat("11", 65)
			}))
		}, 402, "invalid_exact_evm_signature"},
		{"too little", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, pay(func(a *x402.Authorization) { a.Value = "49999" }))
		}, 402, "invalid_exact_evm_payload_authorization_value_mismatch"},
		{"too much", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, pay(func(a *x402.Authorization) { a.Value = "50001" }))
		}, 402, "invalid_exact_evm_payload_authorization_value_mismatch"},
		{"to somebody else", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, pay(func(a *x402.Authorization) { a.To = a.From }))
		}, 402, "invalid_exact_evm_recipient_mismatch"},
		{"expired", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				pay(func(a *x402.Authorization) { a.ValidBefore = seconds(time.Now()) }))
		}, 402, "invalid_exact_evm_payload_authorization_valid_before"},
		{"too short for the work", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				pay(func(a *x402.Authorization) { a.ValidBefore = seconds(time.Now().Add(30 * time.Second)) }))
		}, 402, "invalid_exact_evm_payload_authorization_valid_before"},
		{"not yet valid", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				pay(func(a *x402.Authorization) { a.ValidAfter = seconds(time.Now().Add(time.Hour)) }))
		}, 402, "invalid_exact_evm_payload_authorization_valid_after"},
		{"accepted altered", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				bent(t, pay(nil), func(p map[string]any) { p["accepted"].(map[string]any)["amount"] = "1" }))
		}, 402, "no_matching_payment_requirements"},
		{"receiver in lower case", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, bent(t, pay(nil), func(p map[string]any) {
				p["accepted"].(map[string]any)["payTo"] = strings.ToLower(r.receiver)
			}))
		}, 402, "no_matching_payment_requirements"},
		{"version 3", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				bent(t, pay(nil), func(p map[string]any) { p["x402Version"] = 3 }))
		}, 400, "invalid_payload"},
		{"nothing accepted", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				bent(t, pay(nil), func(p map[string]any) { delete(p, "accepted") }))
		}, 400, "invalid_payload"},
		{
			"garbage", func() *answer { return s.run(draft, s.args(), x402.HeaderSignature, "%%%garbage%%%") }, 400,
			"invalid_payload",
		},
		{
			"base64 of no JSON", func() *answer { return s.run(draft, s.args(), x402.HeaderSignature, "aGVsbG8=") },
			400, "invalid_payload",
		},
		{
			"in the header of version 1", func() *answer { return s.run(draft, s.args(), "X-PAYMENT", pay(nil)) }, 400,
			"invalid_payload",
		},
		{"nobody's money", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature, s.sign(r.payer("0"), q, nil))
		}, 402, "invalid_exact_evm_insufficient_balance"},
		{"base64url without padding", func() *answer {
			return s.run(draft, s.args(), x402.HeaderSignature,
				strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(pay(nil)), "="))
		}, 200, ""},
	}
	paid := 0
	for _, tt := range tests {
		a := tt.call()
		reason := a.order.Code
		if a.quote != nil {
			reason = a.quote.Error
		}
		if a.status != tt.status || reason != tt.reason {
			t.Errorf("%s = %d %q %s, want %d %q", tt.name, a.status, reason, a.body, tt.status, tt.reason)
		}
		if tt.status == http.StatusOK {
			paid += 50000
		}
	}
	if got := r.balance(r.receiver); got != fmt.Sprint(paid) {
		t.Errorf("the receiver has %s, want %d", got, paid)
	}
}

// TestOnePaymentManyCalls sends one payment eight times at once, then for other
// things.
func TestOnePaymentManyCalls(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	payment := s.sign(r.payer("1000000"), s.quote(draft), nil)
	answers := make([]*answer, 8)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() {
			var err error
			if answers[i], err = s.try(draft, s.args(), x402.HeaderSignature, payment); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, a := range answers {
		if a == nil || a.status != http.StatusOK || string(a.order.Result) != string(answers[0].order.Result) ||
			a.order.Payment.Transaction != answers[0].order.Payment.Transaction {
			t.Errorf("one of eight = %+v, want eight equal results", a)
		}
	}
	if got := r.balance(r.receiver); got != priceOfDraft {
		t.Errorf("the receiver has %s, want %s", got, priceOfDraft)
	}
	if a := s.run(draft, `{"url":"https://other.example/"}`, x402.HeaderSignature,
		payment); a.status != http.StatusConflict || a.order.Code != "payment_bound_to_other_request" {
		t.Errorf("the payment for another site = %d %s, want 409", a.status, a.body)
	}
	if a := s.run(pack, s.args(), x402.HeaderSignature, payment); a.status == http.StatusOK {
		t.Errorf("the payment for another service = %d %s, want a refusal", a.status, a.body)
	}
}

// TestTwelvePayers lets twelve pay at once through a facilitator that stumbles.
func TestTwelvePayers(t *testing.T) {
	t.Parallel()
	r := start(t, settings{Parallel: true})
	s := r.open()
	q := s.quote(draft)
	var group sync.WaitGroup
	for range 12 {
		payment, site := s.sign(r.payer("50000"), q, nil), newWebsite(t)
		group.Go(func() {
			for range 5 {
				a, err := s.try(draft, site.args(), x402.HeaderSignature, payment)
				if err != nil || a.status == http.StatusOK {
					return
				}
				if a.status != http.StatusAccepted {
					t.Errorf("one of twelve = %d %s, want 200", a.status, a.body)
					return
				}
			}
			t.Error("one of twelve never had its result")
		})
	}
	group.Wait()
	if got := r.balance(r.receiver); got != "600000" {
		t.Errorf("the receiver has %s, want twelve times %s", got, priceOfDraft)
	}
}

// TestFacilitatorFails loses responses of settlements that went through, and
// reaches nobody: nobody is asked for a second payment, and everybody has the
// result.
func TestFacilitatorFails(t *testing.T) {
	t.Parallel()
	r := start(t, settings{ConfirmationTimeoutMS: 500})
	s := r.open()
	q := s.quote(draft)
	paid := 0
	for _, mode := range []string{"500_after", "no_answer_after", "pending_after", "500_before", "429"} {
		r.do("fault", map[string]any{"mode": mode}, nil)
		payment, site := s.sign(r.payer("50000"), q, nil), newWebsite(t)
		a := s.run(draft, site.args(), x402.HeaderSignature, payment)
		for tries := 0; a.status == http.StatusAccepted && tries < 20; tries++ {
			time.Sleep(250 * time.Millisecond)
			a = s.run(draft, site.args(), x402.HeaderSignature, payment)
		}
		if paid += 50000; a.status != http.StatusOK || !a.settled.Success {
			t.Errorf("%s: %d %s, want the result", mode, a.status, a.body)
		}
		if got := r.balance(r.receiver); got != fmt.Sprint(paid) {
			t.Errorf("%s: the receiver has %s, want %d", mode, got, paid)
		}
	}
}

// TestStrangerIsFirst has a payment put on the chain by somebody else while the
// work continues: the money is here, so the result is handed out.
func TestStrangerIsFirst(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	payment := s.sign(r.payer("50000"), s.quote(draft), nil)
	release := s.site.hold()
	done := make(chan *answer, 1)
	go func() {
		a, err := s.try(draft, s.args(), x402.HeaderSignature, payment)
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	p, err := x402.ParsePayment(payment)
	if err != nil {
		t.Fatal(err)
	}
	s.running(draft, payment)
	r.do("submit", map[string]any{"payments": []any{p}}, nil)
	release()
	if a := <-done; a == nil || a.status != http.StatusOK || r.balance(r.receiver) != priceOfDraft {
		t.Errorf("answer = %+v with %s, want the result for one payment", a, r.balance(r.receiver))
	}
}

// running waits until the store works for a payment.
func (s *store) running(service, payment string) {
	s.t.Helper()
	for range 100 {
		if a := s.run(service, s.args(), x402.HeaderSignature, payment, "Prefer",
			"respond-async"); a.status == http.StatusAccepted && a.order.State == "running" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatal("the store does not work for the payment")
}

// TestEmptiedWallet spends the money elsewhere while the work continues: the
// result is sealed, and handed out when the payer has money again.
func TestEmptiedWallet(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	key := r.payer("50000")
	payment := s.sign(key, s.quote(draft), nil)
	release := s.site.hold()
	done := make(chan *answer, 1)
	go func() {
		a, err := s.try(draft, s.args(), x402.HeaderSignature, payment)
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	s.running(draft, payment)
	elsewhere := r.token.Terms("50000", "0x1111111111111111111111111111111111111111", 300)
	r.do("submit", map[string]any{"payments": []any{r.pay(key, elsewhere)}}, nil)
	release()
	if a := <-done; a == nil || a.status != http.StatusPaymentRequired || strings.Contains(a.body, "Small Shop") {
		t.Fatalf("answer = %+v, want 402 without the result", a)
	}
	r.do("mint", map[string]string{"to": key.Address().String(), "value": "50000"}, nil)
	if a := s.run(draft, s.args(), x402.HeaderSignature, payment); a.status != http.StatusOK ||
		r.balance(r.receiver) != priceOfDraft {
		t.Errorf("the same payment, with money = %d %s, want the result", a.status, a.body)
	}
}

// TestReorganizedPayment takes a delivered payment off the chain: the store
// settles the same payment again.
func TestReorganizedPayment(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	s := r.open()
	r.mine(3)
	payment := s.sign(r.payer("50000"), s.quote(draft), nil)
	if a := s.run(draft, s.args(), x402.HeaderSignature, payment); a.status != http.StatusOK {
		t.Fatalf("answer = %d %s", a.status, a.body)
	}
	r.node("anvil_reorg", 1, []any{})
	if got := r.balance(r.receiver); got != "0" {
		t.Fatalf("after the reorganization the receiver has %s, want 0", got)
	}
	for deadline := time.Now().Add(90 * time.Second); r.balance(r.receiver) !=
		priceOfDraft; time.Sleep(500 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the store did not settle the payment again")
		}
	}
}

// TestNobodyVerifies has no facilitator when a payment comes: 503, and the same
// payment is good later.
func TestNobodyVerifies(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/supported" {
			_, _ = io.WriteString(w, `{"kinds":[{"x402Version":2,"scheme":"exact","network":"`+r.Network+`"}]}`)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(away.Close)
	s := r.open("ACE_X402_FACILITATOR_URL=" + away.URL)
	payment := s.sign(r.payer("50000"), s.quote(draft), nil)
	a := s.run(draft, s.args(), x402.HeaderSignature, payment)
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || a.quote != nil {
		t.Errorf("answer = %d %v %s, want 503 with Retry-After and no quote", a.status, a.header, a.body)
	}
}
