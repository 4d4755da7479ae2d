package x402facilitator_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/paidservice/paidservicetest"
)

// TestSandboxKeepsThePromises runs the suite of the port against the sandbox's
// ledger, over HTTP.
func TestSandboxKeepsThePromises(t *testing.T) {
	t.Parallel()
	paidservicetest.RunFacilitator(t, func(t *testing.T) *paidservicetest.FacilitatorWorld {
		box := sandboxtest.Start(t)
		dev := evm.DevToken().Terms("90000", "0x90F79bf6EB2c4f870365E785982E1f101E93b906", 300)
		facilitator := remote(t, box.URL+"/x402", nil)
		pay := func(t *testing.T, key evm.Key, terms x402.PaymentRequirements) *x402.PaymentPayload {
			p, err := key.Pay(terms, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		return &paidservicetest.FacilitatorWorld{
			Facilitator: facilitator, Terms: dev,
			Pay: func(t *testing.T) *x402.PaymentPayload { return pay(t, newKey(t), dev) },
			Poor: func(t *testing.T) *x402.PaymentPayload {
				key, all := newKey(t), evm.DevToken().Terms("5000000", dev.PayTo, 300)
				if answer, err := facilitator.Settle(t.Context(), pay(t, key, all), all); err != nil ||
					!answer.Success {
					t.Fatalf("emptying an account: %+v, %v", answer, err)
				}
				return pay(t, key, dev)
			},
		}
	})
}

func newKey(t testing.TB) evm.Key {
	t.Helper()
	key, err := evm.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestSandboxFaults shows what the sandbox's faults look like from here, and
// that the same payment, sent again, is settled once.
func TestSandboxFaults(t *testing.T) {
	t.Parallel()
	dev := evm.DevToken().Terms("90000", "0x90F79bf6EB2c4f870365E785982E1f101E93b906", 300)
	for mode, want := range map[string]string{
		"500": "unknown", "500_after_commit": "unknown", "timeout": "unknown", "timeout_after_commit": "unknown",
		"429":     "not sent",
		"pending": "ambiguous", "pending_after_commit": "ambiguous", "latency": "accepted",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			box := sandboxtest.Start(t)
			box.FailX402("/settle", mode, 1)
			facilitator := remote(t, box.URL+"/x402", nil)
			p, err := newKey(t).Pay(dev, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			first, err := facilitator.Settle(t.Context(), p, dev)
			if got := outcomeFor(dev, first, err); got != want {
				t.Errorf("Settle = %s, want %s", got, want)
			}
			answer, err := facilitator.Settle(t.Context(), p, dev)
			if err != nil || answer.Class(dev) != x402.Accepted || box.X402State().Transfers != 1 {
				t.Errorf("Settle again = %+v, %v with %+v, want one transfer", answer, err, box.X402State())
			}
			var account struct{ Balance string }
			res, err := http.Get(box.URL + "/x402/accounts/" + p.Authorization.From)
			if err != nil || json.NewDecoder(res.Body).Decode(&account) != nil || account.Balance != "4.91" {
				t.Errorf("balance = %+v, %v, want 4.91", account, err)
			}
			_ = res.Body.Close()
		})
	}
}
