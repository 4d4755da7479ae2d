package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// seller is a store process that may die, a facilitator that does not, and a
// website to work on.
type seller struct {
	t                       *testing.T
	addr, dataDir, database string
	facilitator             *sandboxtest.World
	process                 *harness.Process
	site                    string
	key                     evm.Key
	deaths                  int
}

const receiver = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

func newSeller(t *testing.T, database string) *seller {
	t.Helper()
	s := &seller{
		t: t, addr: harness.FreeAddr(t), dataDir: harness.DataDir(t), database: database,
		facilitator: sandboxtest.Start(t),
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(
			[]byte(
				`<!doctype html><html lang="en"><head><title>Quay Bakery</title>` +
					`<meta name="description" content="Bread from the old quay, baked every morning."></head>` +
					`<body><main><h1>Quay Bakery</h1><p>We bake rye and wheat bread in a wood oven and sell it at ` +
					`the quay.</p></main></body></html>`,
			))
	}))
	t.Cleanup(site.Close)
	s.site = site.URL
	var err error
	if s.key, err = evm.NewKey(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *seller) env(step string) []string {
	token := evm.DevToken()
	return []string{
		"ACE_FAULT_STEP=" + step, "ACE_STORE_ADDR=" + s.addr, "ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + s.dataDir,
		"ACE_DATABASE_URL=" + s.database, "ACE_RATE_LIMIT=off",
		"ACE_STRIPE_API_KEY=" + sandboxtest.Key, "ACE_STRIPE_URL=" + s.facilitator.URL + "/stripe",
		"ACE_STRIPE_WEBHOOK_SECRET=" + webhookSecret,
		"ACE_X402_FACILITATOR_URL=" + s.facilitator.URL + "/x402", "ACE_X402_PAY_TO=" + receiver,
		fmt.Sprintf("ACE_X402_NETWORKS=%s=%s:%s:%s:DUSD:%d", token.Network, token.Asset, token.Name, token.Version,
			token.Decimals),
		"ACE_EGRESS_ALLOW=127.0.0.0/8", "ACE_X402_SETTLE_BUDGET=3s",
	}
}

// start runs the store. At the named step, if any, it dies.
func (s *seller) start(step string) {
	s.t.Helper()
	s.process = harness.Start(s.t, harness.Build(s.t, "faults"), s.env(step), "serve")
	s.process.Ready("http://" + s.addr + "/healthz")
}

type serviceOrder struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Charged *bool  `json:"charged"`
	Result  json.RawMessage
	Payment struct {
		Transaction string `json:"transaction"`
	} `json:"payment"`
}

// buy quotes, signs once and repeats the one payment until there is a result. A
// dead store is started again. Whatever happens, nobody asks for another
// signature.
func (s *seller) buy() serviceOrder {
	s.t.Helper()
	address := "http://" + s.addr + "/v1/services/llms-txt-draft/run"
	body := `{"url":"` + s.site + `/"}`
	var payment string
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if payment == "" {
			payment = s.sign(address, body)
			continue
		}
		status, answer, err := harness.Call(s.t, http.MethodPost, address, body, "PAYMENT-SIGNATURE", payment)
		switch {
		case err != nil:
			s.again()
		case status == http.StatusOK:
			var o serviceOrder
			if err := json.Unmarshal([]byte(answer), &o); err != nil {
				s.t.Fatal(err)
			}
			return o
		case status == http.StatusPaymentRequired:
			s.t.Fatalf("another payment was asked for: %s", answer)
		}
	}
	s.t.Fatal("no result in time")
	return serviceOrder{}
}

func (s *seller) sign(address, body string) string {
	s.t.Helper()
	status, answer, err := harness.Call(s.t, http.MethodPost, address, body)
	if err != nil || status != http.StatusPaymentRequired {
		s.t.Logf("quote: %d %s %v", status, answer, err)
		s.again()
		return ""
	}
	quote, err := x402.ReadRequired([]byte(answer))
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := s.key.Pay(quote.Accepts[0], &quote.Resource, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	value, err := p.Header()
	if err != nil {
		s.t.Fatal(err)
	}
	return value
}

func (s *seller) again() {
	s.t.Helper()
	select {
	case <-s.process.Ended():
		s.deaths++
		s.start("")
	default:
	}
}

// oneTransfer is what must hold in the end, on the facilitator's own ledger and
// in the operator's list.
func (s *seller) oneTransfer(o serviceOrder) {
	s.t.Helper()
	if o.State != "completed" || o.Charged == nil || !*o.Charged || !strings.Contains(string(o.Result), "Quay Bakery") {
		s.t.Errorf("order = %+v, want it completed with the draft", o)
	}
	if n := s.facilitator.X402State().Transfers; n != 1 {
		s.t.Errorf("the ledger holds %d transfers, want 1", n)
	}
	status, transfer, err := harness.Call(s.t, http.MethodGet, s.facilitator.URL+"/x402/tx/"+o.Payment.Transaction, "")
	if err != nil || status != http.StatusOK || !strings.Contains(strings.ToLower(transfer),
		strings.ToLower(s.key.Address().String())) {
		s.t.Errorf("the ledger shows %s as %d %s, %v, want the payer's transfer", o.Payment.Transaction, status,
			transfer, err)
	}
	p := harness.Start(s.t, harness.Build(s.t, "faults"), s.env(""), "service", "orders", "--json")
	<-p.Ended()
	var page struct {
		Orders []struct{ ID, State, Transaction, Attention string }
	}
	if err := json.Unmarshal([]byte(p.Stdout()), &page); err != nil || len(page.Orders) != 1 ||
		page.Orders[0].Transaction != o.Payment.Transaction || page.Orders[0].Attention != "" {
		s.t.Errorf("ace service orders = %s, %v", p.Output(), err)
	}
}

// onBothEngines runs a case on each engine.
func onBothEngines(t *testing.T, test func(t *testing.T, s *seller)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newSeller(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newSeller(t, sqldbtest.Postgres(t)))
	})
}

func TestKilledWhileRunningAService(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		"reserved", "verified", "running", "ran", "sealed", "settling", "asked", "settled",
		"delivered",
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			onBothEngines(t, func(t *testing.T, s *seller) {
				s.start("paid_" + step)
				s.oneTransfer(s.buy())
				if s.deaths != 1 {
					t.Errorf("the process died %d times, want once", s.deaths)
				}
			})
		})
	}
}

func TestTheFacilitatorFails(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, mode string }{
		{"/verify", "500"},
		{"/verify", "429"},
		{"/settle", "500"},
		{"/settle", "500_after_commit"},
		{"/settle", "timeout"},
		{"/settle", "timeout_after_commit"},
		{"/settle", "429"},
		{"/settle", "pending"},
		{"/settle", "pending_after_commit"},
	}
	for _, tt := range tests {
		t.Run(strings.TrimPrefix(tt.path, "/")+" "+tt.mode, func(t *testing.T) {
			t.Parallel()
			onBothEngines(t, func(t *testing.T, s *seller) {
				s.start("")
				s.facilitator.FailX402(tt.path, tt.mode, 2)
				s.oneTransfer(s.buy())
			})
		})
	}
}
