package x402_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
	"ace/internal/storefront/x402facilitator"
)

// TestFacilitator runs the suite of the port against the libraries'
// facilitator and a chain.
func TestFacilitator(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	paidservicetest.RunFacilitator(t, func(t *testing.T) *paidservicetest.FacilitatorWorld {
		own := *r
		own.t = t
		terms := own.terms("90000")
		return &paidservicetest.FacilitatorWorld{
			Facilitator: own.facilitator, Terms: terms,
			Pay:  func(*testing.T) *x402.PaymentPayload { return own.pay(own.payer("900000"), terms) },
			Poor: func(*testing.T) *x402.PaymentPayload { return own.pay(own.payer("0"), terms) },
		}
	})
}

// TestRefusalsAgree bends payments and wants the libraries' facilitator, the
// sandbox's ledger and our own check to give the same reason.
func TestRefusalsAgree(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	box := sandboxtest.Start(t)
	sandbox, err := x402facilitator.New(box.URL+"/x402", nil, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	const six = 6 * time.Second
	soon, past, later := time.Now().Add(5*time.Second), time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	tests := []struct {
		name   string
		change func(a *x402.Authorization)
		want   x402.Reason
	}{
		{"as asked", func(*x402.Authorization) {}, ""},
		{"too little", func(a *x402.Authorization) { a.Value = "89999" }, x402.ReasonValue},
		{"too much", func(a *x402.Authorization) { a.Value = "90001" }, x402.ReasonValue},
		{"to somebody else", func(a *x402.Authorization) { a.To = a.From }, x402.ReasonRecipient},
		{"expired", func(a *x402.Authorization) { a.ValidBefore = seconds(past) }, x402.ReasonValidBefore},
		{"about to expire", func(a *x402.Authorization) { a.ValidBefore = seconds(soon) }, x402.ReasonValidBefore},
		{"not yet valid", func(a *x402.Authorization) { a.ValidAfter = seconds(later) }, x402.ReasonValidAfter},
	}
	for _, tt := range tests {
		key := r.payer("900000")
		for name, side := range map[string]struct {
			facilitator paidservice.Facilitator
			terms       x402.PaymentRequirements
		}{
			"libraries": {r.facilitator, r.terms("90000")},
			"sandbox":   {sandbox, evm.DevToken().Terms("90000", r.receiver, 300)},
		} {
			a := r.pay(key, side.terms).Authorization
			tt.change(&a)
			p, err := key.Authorize(side.terms, nil, a)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := side.facilitator.Verify(t.Context(), p, side.terms); err != nil ||
				v.InvalidReason != tt.want || v.IsValid != (tt.want == "") {
				t.Errorf("%s of the %s = %+v, %v, want %q", tt.name, name, v, err, tt.want)
			}
			if got := evm.Check(p, side.terms, time.Now(), six); got != tt.want {
				t.Errorf("Check(%s) = %q, want %q", tt.name, got, tt.want)
			}
		}
	}
}

func seconds(at time.Time) string {
	text, _ := json.Marshal(at.Unix())
	return string(text)
}

// TestTwelveAtOnce settles twelve payers at the same time through a facilitator
// whose wallet stumbles over its own counter: the same payment again, while it
// surely was not sent.
func TestTwelveAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, settings{Parallel: true})
	terms := r.terms("90000")
	payments := make([]*x402.PaymentPayload, 12)
	for i := range payments {
		payments[i] = r.pay(r.payer("90000"), terms)
	}
	txs := make([]string, len(payments))
	var group sync.WaitGroup
	for i, p := range payments {
		group.Go(func() {
			for range 10 {
				answer, err := r.facilitator.Settle(t.Context(), p, terms)
				if err == nil && answer.Class(terms) == x402.Accepted {
					txs[i] = answer.Transaction
					return
				}
				if err != nil || answer.Class(terms) != x402.Transient {
					t.Logf("settle = %+v, %v", answer, err)
				}
				time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
			}
		})
	}
	group.Wait()
	slices.Sort(txs)
	if got := r.balance(r.receiver); got != "1080000" || len(slices.Compact(txs)) != 12 || txs[0] == "" {
		t.Errorf("the receiver has %s by %v, want twelve payments of 90000", got, txs)
	}
}

// TestContractWallet pays from a wallet that is a contract: its signature is
// judged on the chain alone.
func TestContractWallet(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	owner := r.payer("0")
	var wallet struct{ Address string }
	r.do("wallet", map[string]string{"owner": owner.Address().String()}, &wallet)
	r.do("mint", map[string]string{"to": wallet.Address, "value": "90000"}, nil)
	terms := r.terms("90000")
	a := r.pay(owner, terms).Authorization
	a.From = wallet.Address
	p, err := owner.Authorize(terms, nil, a)
	if err != nil {
		t.Fatal(err)
	}
	if evm.Signed(p, terms) {
		t.Error("a contract's payment counts as signed by an account")
	}
	if is, err := r.chains.IsContract(t.Context(), r.Network, wallet.Address); err != nil || !is {
		t.Errorf("IsContract(wallet) = %v, %v", is, err)
	}
	if is, err := r.chains.IsContract(t.Context(), r.Network, owner.Address().String()); err != nil || is {
		t.Errorf("IsContract(account) = %v, %v", is, err)
	}
	if v, err := r.facilitator.Verify(t.Context(), p, terms); err != nil || !v.IsValid {
		t.Fatalf("Verify = %+v, %v", v, err)
	}
	if s, err := r.facilitator.Settle(t.Context(), p, terms); err != nil || s.Class(terms) != x402.Accepted {
		t.Fatalf("Settle = %+v, %v", s, err)
	}
	if proof := r.find(p); proof.Verdict != paidservice.ProofPaid {
		t.Errorf("proof = %+v, want paid", proof)
	}
}

// TestShopUsesTheSandbox lets the libraries' shop take payments by the sandbox's
// ledger, and the libraries' client pay there.
func TestShopUsesTheSandbox(t *testing.T) {
	t.Parallel()
	r := start(t, settings{})
	box := sandboxtest.Start(t)
	dev := evm.DevToken()
	var shop struct{ URL string }
	r.do("shop", map[string]string{
		"facilitator": box.URL + "/x402", "network": dev.Network, "asset": dev.Asset, "name": dev.Name,
		"version": dev.Version, "payTo": r.receiver, "amount": "90000",
	}, &shop)
	key := r.payer("0")
	bought := r.fetch(key, shop.URL+"/work", map[string]any{}, map[string]any{
		"network": dev.Network,
		"spendControls": map[string]any{"allowedAssets": []any{map[string]string{
			"network": dev.Network,
			"asset":   dev.Asset, "maxAmountPerPayment": "1000000",
		}}},
	})
	if bought.Status != http.StatusOK || !strings.Contains(bought.Body, `"done":true`) {
		t.Fatalf("the shop answered %d %s", bought.Status, bought.Body)
	}
	settled, err := x402.ParseResponseHeader(bought.Headers["payment-response"])
	if err != nil || settled.Class(dev.Terms("90000", r.receiver, 300)) != x402.Accepted {
		t.Errorf("settlement = %+v, %v", settled, err)
	}
	if s := box.X402State(); s.Transfers != 1 || s.Moved != 90000 {
		t.Errorf("the ledger has %+v, want one transfer of 0.09", s)
	}
}

// bought is what the libraries' client got.
type bought struct {
	Status  int
	Headers map[string]string
	Body    string
	Sent    []string // PAYMENT-SIGNATURE of each request
}

// fetch lets the libraries' client call, and pay where it has to.
func (r *rig) fetch(key evm.Key, url string, body any, more map[string]any) (out bought) {
	r.t.Helper()
	in := map[string]any{"url": url, "body": body, "privateKey": key.Secret()}
	maps.Copy(in, more)
	r.do("fetch", in, &out)
	return out
}
