package ledger_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/ledger"
)

const receiver = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

// world is a ledger behind its HTTP face.
type world struct {
	url     string
	handler http.Handler
}

func setup(t testing.TB, tokens ...evm.Token) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "sandbox.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	l, err := ledger.Open(t.Context(), db, &ledger.Options{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	h, err := l.Handler("", "/pay.css")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &world{s.URL, h}
}

// call makes one call and decodes the response.
func (w *world) call(t testing.TB, method, path string, in, out any) int {
	t.Helper()
	status, text, err := w.try(t, method, path, in)
	if err != nil {
		t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("%s %s answered %d %s: %v", method, path, status, text, err)
		}
	}
	return status
}

func (w *world) try(t testing.TB, method, path string, in any) (status int, text []byte, err error) {
	body, ok := in.(string)
	if !ok && in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = string(data)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err = io.ReadAll(res.Body)
	return res.StatusCode, text, err
}

func (w *world) verify(t testing.TB, r x402.FacilitatorRequest) (out x402.VerifyResponse) {
	t.Helper()
	w.call(t, http.MethodPost, "/verify", r, &out)
	return out
}

func (w *world) settle(t testing.TB, r x402.FacilitatorRequest) (out x402.SettleResponse) {
	t.Helper()
	w.call(t, http.MethodPost, "/settle", r, &out)
	return out
}

func (w *world) balance(t testing.TB, address string) string {
	t.Helper()
	var out ledger.AccountBody
	w.call(t, http.MethodGet, "/accounts/"+address, nil, &out)
	return out.Balance
}

func (w *world) state(t testing.TB) (out ledger.State) {
	t.Helper()
	w.call(t, http.MethodGet, "/_sandbox/state", nil, &out)
	return out
}

func newKey(t testing.TB) evm.Key {
	t.Helper()
	k, err := evm.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ask signs a payment and asks for it.
func ask(t testing.TB, key evm.Key, amount string) x402.FacilitatorRequest {
	t.Helper()
	terms := evm.DevToken().Terms(amount, receiver, 300)
	p, err := key.Pay(terms, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return x402.FacilitatorRequest{X402Version: 2, Payload: p, Requirements: terms}
}

func TestPay(t *testing.T) {
	t.Parallel()
	w, key := setup(t), newKey(t)
	payer := key.Address().String()
	if got := w.balance(t, payer); got != "5.00" {
		t.Errorf("balance of a new payer = %s, want 5.00", got)
	}
	r := ask(t, key, "90000")
	if v := w.verify(t, r); !v.IsValid || v.Payer != payer {
		t.Fatalf("verify = %+v", v)
	}
	s := w.settle(t, r)
	if s.Class(r.Requirements) != x402.Accepted || s.Payer != payer {
		t.Fatalf("settle = %+v", s)
	}
	if got := w.balance(t, payer) + " " + w.balance(t, receiver); got != "4.91 5.09" {
		t.Errorf("balances = %s, want 4.91 5.09", got)
	}
	if again := w.settle(t, r); again.Transaction != s.Transaction || !again.Success {
		t.Errorf("settling again = %+v, want the same", again)
	}
	if v := w.verify(t, r); v.IsValid || v.InvalidReason != x402.ReasonNonceUsed {
		t.Errorf("verifying what was settled = %+v", v)
	}
	var transfer ledger.TransferBody
	w.call(t, http.MethodGet, "/tx/"+s.Transaction, nil, &transfer)
	if transfer.Payer != payer || transfer.PayTo != receiver || transfer.Amount != "0.09" ||
		transfer.Atomic != "90000" {
		t.Errorf("transaction = %+v", transfer)
	}
	if got := w.state(t); got != (ledger.State{Accounts: 2, Transfers: 1, Moved: 90000}) {
		t.Errorf("state = %+v", got)
	}
}

// TestRefusals bends a payment in every way, and wants verify and settle to say
// the same.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w, key := setup(t), newKey(t)
	poor := newKey(t)
	w.settle(t, ask(t, poor, "5000000"))
	with := func(change func(a *x402.Authorization)) func(*x402.FacilitatorRequest) {
		return func(r *x402.FacilitatorRequest) {
			a := r.Payload.Authorization
			change(&a)
			p, err := key.Authorize(r.Requirements, nil, a)
			if err != nil {
				t.Fatal(err)
			}
			r.Payload = p
		}
	}
	tests := []struct {
		name   string
		change func(r *x402.FacilitatorRequest)
		want   x402.Reason
	}{
		{"as asked", func(*x402.FacilitatorRequest) {}, ""},
		{
			"other scheme", func(r *x402.FacilitatorRequest) { r.Requirements.Scheme = "upto" },
			x402.ReasonUnsupportedScheme,
		},
		{
			"other network", func(r *x402.FacilitatorRequest) { r.Requirements.Network = "eip155:8453" },
			"invalid_network",
		},
		{
			"other token", func(r *x402.FacilitatorRequest) { r.Requirements.Asset = receiver },
			"asset_not_deployed_contract",
		},
		{"no domain", func(r *x402.FacilitatorRequest) { r.Requirements.Extra = nil }, x402.ReasonMissingDomain},
		{"other name", func(r *x402.FacilitatorRequest) {
			r.Requirements.Extra = map[string]any{"name": "USDC", "version": "1"}
		}, "invalid_exact_evm_token_name_mismatch"},
		{"other version", func(r *x402.FacilitatorRequest) {
			r.Requirements.Extra = map[string]any{"name": "Dev USD", "version": "2"}
		}, "invalid_exact_evm_token_version_mismatch"},
		{"tampered signature", func(r *x402.FacilitatorRequest) {
			r.Payload.Signature = "0x" + strings.Repeat("11", 65)
		}, x402.ReasonSignature},
		{"signature of a contract wallet", func(r *x402.FacilitatorRequest) {
			r.Payload.Signature += "00"
		}, x402.ReasonSignature},
		{
			"more asked than signed", func(r *x402.FacilitatorRequest) { r.Requirements.Amount = "90001" },
			x402.ReasonValue,
		},
		{
			"less asked than signed", func(r *x402.FacilitatorRequest) { r.Requirements.Amount = "89999" },
			x402.ReasonValue,
		},
		{
			"other receiver", func(r *x402.FacilitatorRequest) { r.Requirements.PayTo = r.Requirements.Asset },
			x402.ReasonRecipient,
		},
		{"expired", with(func(a *x402.Authorization) { a.ValidBefore = "1" }), x402.ReasonValidBefore},
		{"not yet valid", with(func(a *x402.Authorization) { a.ValidAfter = "99999999999" }), x402.ReasonValidAfter},
		{"no money left", func(r *x402.FacilitatorRequest) { *r = ask(t, poor, "1") }, x402.ReasonInsufficientBalance},
		{
			"more than there is", func(r *x402.FacilitatorRequest) { *r = ask(t, key, "5000001") },
			x402.ReasonInsufficientBalance,
		},
		{"more than all money", func(r *x402.FacilitatorRequest) {
			*r = ask(t, key, "115792089237316195423570985008687907853269984665640564039457584007913129639935")
		}, x402.ReasonInsufficientBalance},
	}
	for _, tt := range tests {
		r := ask(t, key, "90000")
		tt.change(&r)
		v := w.verify(t, r)
		if v.InvalidReason != tt.want || v.IsValid != (tt.want == "") {
			t.Errorf("verify(%s) = %+v, want %q", tt.name, v, tt.want)
		}
		if tt.want == "" {
			continue
		}
		if s := w.settle(t, r); s.Success || s.ErrorReason != tt.want || s.Transaction != "" {
			t.Errorf("settle(%s) = %+v, want %q", tt.name, s, tt.want)
		}
	}
	if got := w.state(t).Transfers; got != 1 {
		t.Errorf("refused payments left %d transfers, want the one of before", got)
	}
}

// TestOneNonceOneTransfer signs two payments with one nonce.
func TestOneNonceOneTransfer(t *testing.T) {
	t.Parallel()
	w, key := setup(t), newKey(t)
	first, second := ask(t, key, "90000"), ask(t, key, "80000")
	a := second.Payload.Authorization
	a.Nonce = first.Payload.Authorization.Nonce
	p, err := key.Authorize(second.Requirements, nil, a)
	if err != nil {
		t.Fatal(err)
	}
	second.Payload = p
	if s := w.settle(t, first); !s.Success {
		t.Fatalf("settle = %+v", s)
	}
	if s := w.settle(t, second); s.Success || s.ErrorReason != x402.ReasonNonceUsed {
		t.Errorf("another payment with the nonce = %+v, want %s", s, x402.ReasonNonceUsed)
	}
	forged := first
	copied := *first.Payload
	copied.Signature = "0x" + strings.Repeat("11", 65)
	forged.Payload = &copied
	if s := w.settle(t, forged); s.Success {
		t.Errorf("the settled payment with a forged signature = %+v, want a refusal", s)
	}
}

// TestAtOnce settles one authorization eight times, and twelve payers', all at
// the same time.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	one := ask(t, newKey(t), "90000")
	requests := make([]x402.FacilitatorRequest, 0, 20)
	for range 8 {
		requests = append(requests, one)
	}
	for range 12 {
		requests = append(requests, ask(t, newKey(t), "90000"))
	}
	answers := make([]x402.SettleResponse, len(requests))
	var group sync.WaitGroup
	for i, r := range requests {
		group.Go(func() {
			_, text, err := w.try(t, http.MethodPost, "/settle", r)
			if err != nil || json.Unmarshal(text, &answers[i]) != nil {
				t.Errorf("settle = %s, %v", text, err)
			}
		})
	}
	group.Wait()
	txs := map[string]bool{}
	for _, a := range answers {
		if !a.Success {
			t.Errorf("settle = %+v", a)
		}
		txs[a.Transaction] = true
	}
	if s := w.state(t); len(txs) != 13 || s.Transfers != 13 || s.Moved != 13*90000 {
		t.Errorf("%d transactions and %+v, want 13 of 0.09", len(txs), s)
	}
	if got := w.balance(t, receiver); got != "6.17" {
		t.Errorf("the receiver has %s, want 6.17", got)
	}
}

func TestFaucet(t *testing.T) {
	t.Parallel()
	w := setup(t)
	address := newKey(t).Address().String()
	var account ledger.AccountBody
	if status := w.call(t, http.MethodPost, "/faucet", map[string]string{"address": address},
		&account); status != 200 || account.Balance != "10.00" || account.Address != address {
		t.Errorf("faucet = %d %+v, want 10.00", status, account)
	}
	for range 198 {
		w.call(t, http.MethodPost, "/faucet", map[string]string{"address": address}, &account)
	}
	if status := w.call(t, http.MethodPost, "/faucet", map[string]string{"address": address}, nil); status != 409 ||
		account.Balance != "1000.00" {
		t.Errorf("faucet at %s = %d, want 1000.00 and 409", account.Balance, status)
	}
	for _, body := range []string{
		`{"address":"me"}`, `{}`, `{"address":"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"}`,
		`no`, `{"address":"` + address + `","amount":"1"}`,
	} {
		if status := w.call(t, http.MethodPost, "/faucet", body, nil); status != 400 {
			t.Errorf("faucet(%s) = %d, want 400", body, status)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	w := setup(t)
	good, err := json.Marshal(ask(t, newKey(t), "90000"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		method, path, body string
		want               int
		text               string
	}{
		{
			"GET",
			"/supported",
			"",
			200,
			`{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:31337"}],"extensions":[],` +
				`"signers":{"eip155:*":[]}}`,
		},
		{"POST", "/verify", "", 400, `"invalidReason":"invalid_payload"`},
		{"POST", "/settle", "{}", 400, `"errorReason":"invalid_payload"`},
		{"POST", "/settle", strings.Replace(string(good), `"x402Version":2`, `"x402Version":1`, 1), 400, "version 2"},
		{"POST", "/settle", string(bytes.Repeat([]byte(" "), 70<<10)), 413, "64 KB"},
		{"GET", "/settle", "", 405, ""},
		{"GET", "/nothing", "", 404, ""},
		{"GET", "/tx/0x12", "", 404, "no such transaction"},
		{"GET", "/accounts/me", "", 404, "no address"},
		{"POST", "/_sandbox/faults", `{"api":[{"path":"/settle","mode":"gremlins"}]}`, 400, "The mode of a fault"},
		{"POST", "/_sandbox/faults", `{"api":[{"path":"/v1","mode":"500"}]}`, 400, "The path of a fault"},
		{"POST", "/_sandbox/faults", `{"api":[{"path":"/verify","mode":"pending"}]}`, 400, "Only /settle"},
		{
			"POST", "/_sandbox/faults", `{"api":[{"path":"/verify","mode":"latency","latency_ms":60001}]}`, 400,
			"a latency at most",
		},
		{"POST", "/_sandbox/faults", `{"surprise":1}`, 400, ""},
		{"GET", "/assets/ledger.css", "", 200, ".ledger"},
	}
	for _, tt := range tests {
		status, text, err := w.try(t, tt.method, tt.path, tt.body)
		if err != nil || status != tt.want || !strings.Contains(string(text), tt.text) {
			t.Errorf("%s %s = %d %s, %v, want %d with %q", tt.method, tt.path, status, text, err, tt.want, tt.text)
		}
	}
}

// TestFaults plays every fault once, and looks what was done.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode   string
		status int // 0: no response
		reason x402.Reason
		done   bool
	}{
		{ledger.Fault500, 500, "", false},
		{ledger.Fault500AfterCommit, 500, "", true},
		{ledger.Fault429, 429, "", false},
		{ledger.FaultTimeout, 0, "", false},
		{ledger.FaultTimeoutAfterCommit, 0, "", true},
		{ledger.FaultPending, 200, x402.ReasonSettlementPending, false},
		{ledger.FaultPendingAfterCommit, 200, x402.ReasonSettlementPending, true},
		{ledger.FaultLatency, 200, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.call(t, http.MethodPost, "/_sandbox/faults",
				`{"api":[{"path":"/settle","mode":"`+tt.mode+`","latency_ms":20}]}`, nil)
			r := ask(t, newKey(t), "90000")
			if v := w.verify(t, r); !v.IsValid {
				t.Errorf("verify = %+v: the fault is of another path", v)
			}
			status, text, err := w.try(t, http.MethodPost, "/settle", r)
			if (err != nil) != (tt.status == 0) || err == nil && status != tt.status {
				t.Errorf("settle = %d %s, %v, want %d", status, text, err, tt.status)
			}
			var first x402.SettleResponse
			_ = json.Unmarshal(text, &first) // not every response is one
			if first.ErrorReason != tt.reason ||
				(tt.reason != "") != (first.Class(r.Requirements) == x402.Ambiguous && first.Transaction != "") {
				t.Errorf("settle = %s, want the reason %q with a transaction", text, tt.reason)
			}
			if got := w.state(t).Transfers == 1; got != tt.done {
				t.Errorf("done = %v, want %v", got, tt.done)
			}
			again := w.settle(t, r)
			if !again.Success || tt.reason != "" && again.Transaction != first.Transaction ||
				w.state(t).Transfers != 1 {
				t.Errorf("settling again = %+v, want one transfer in all", again)
			}
		})
	}
	t.Run("cleared", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		w.call(t, http.MethodPost, "/_sandbox/faults", `{"api":[{"path":"/verify","mode":"500","count":9}]}`, nil)
		w.call(t, http.MethodDelete, "/_sandbox/faults", nil, nil)
		if v := w.verify(t, ask(t, newKey(t), "1")); !v.IsValid {
			t.Errorf("verify = %+v, want no fault", v)
		}
	})
}

func TestControlsAreLocal(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, change := range map[string]func(r *http.Request){
		"another machine": func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1234" },
		"a proxy":         func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") },
		"another site":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		r := httptest.NewRequest(http.MethodPost, "/_sandbox/faults", strings.NewReader(`{}`))
		r.RemoteAddr = "127.0.0.1:1234"
		change(r)
		out := httptest.NewRecorder()
		w.handler.ServeHTTP(out, r)
		if out.Code != http.StatusForbidden {
			t.Errorf("controls from %s = %d, want 403", name, out.Code)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/faucet", strings.NewReader("address="+receiver))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	if out.Code != http.StatusForbidden {
		t.Errorf("the faucet from another site = %d, want 403", out.Code)
	}
}

// TestRecordedPayments settles payments that other clients signed, at the time
// when they did, byte for byte.
func TestRecordedPayments(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	for _, layout := range []string{"dev-31337", "usdc-84532"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			var bodies [2][]byte
			for i, name := range []string{"verify", "settle"} {
				data, err := os.ReadFile(filepath.Join(shared, "specs/x402/fixtures", layout,
					"facilitator-"+name+"-request.json"))
				if err != nil {
					t.Fatal(err)
				}
				bodies[i] = data
			}
			r, err := x402.ReadFacilitatorRequest(bodies[0])
			if err != nil {
				t.Fatal(err)
			}
			name, version := r.Requirements.Domain()
			token := evm.Token{
				Network: r.Requirements.Network, Asset: r.Requirements.Asset, Name: name,
				Version: version, Decimals: 6,
			}
			synctest.Test(t, func(t *testing.T) {
				w := setupWithoutNetwork(t, token)
				time.Sleep(time.Until(r.Payload.Authorization.Deadline().Add(-50 * time.Second)))
				if got := w.post("/verify", bodies[0]); !strings.Contains(got, `"isValid":true`) {
					t.Errorf("verify = %s", got)
				}
				if got := w.post("/settle", bodies[1]); !strings.Contains(got, `"success":true`) {
					t.Errorf("settle = %s", got)
				}
				time.Sleep(time.Minute)
				if got := w.post("/verify", bodies[0]); !strings.Contains(got, `"isValid":false`) {
					t.Errorf("verify a minute later = %s", got)
				}
			})
		})
	}
}

func setupWithoutNetwork(t *testing.T, token evm.Token) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "sandbox.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	l, err := ledger.Open(t.Context(), db, &ledger.Options{Tokens: []evm.Token{token}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := l.Handler("", "/pay.css")
	if err != nil {
		t.Fatal(err)
	}
	return &world{handler: h}
}

// post calls the handler itself.
func (w *world) post(path string, body []byte) string {
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
	return out.Body.String()
}

func BenchmarkVerify(b *testing.B) {
	w := setup(b)
	body, err := json.Marshal(ask(b, newKey(b), "90000"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got := w.post("/verify", body); !strings.Contains(got, `"isValid":true`) {
			b.Fatal(got)
		}
	}
}

func BenchmarkSettle(b *testing.B) {
	w, key := setup(b), newKey(b)
	for b.Loop() {
		b.StopTimer()
		body, err := json.Marshal(ask(b, key, "1"))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if got := w.post("/settle", body); !strings.Contains(got, `"success":true`) {
			b.Fatal(got)
		}
	}
}
