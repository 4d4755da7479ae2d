package paidservicetest_test

import (
	"testing"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/paidservice/paidservicetest"
)

func TestTheLedgerKeepsThePromises(t *testing.T) {
	t.Parallel()
	for name, forgetful := range map[string]bool{"that remembers": false, "that forgets": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paidservicetest.RunFacilitator(t, func(t *testing.T) *paidservicetest.FacilitatorWorld {
				t.Helper()
				ledger := paidservicetest.NewLedger("eip155:31337", "0xDe00000000000000000000000000000000000402")
				ledger.Forgetful = forgetful
				terms := paidservicetest.Terms("100000")
				pay := func(balance int64) func(t *testing.T) *x402.PaymentPayload {
					return func(t *testing.T) *x402.PaymentPayload {
						t.Helper()
						key, err := evm.NewKey()
						if err != nil {
							t.Fatal(err)
						}
						ledger.Fund(key.Address().String(), balance)
						p, err := key.Pay(terms, nil, time.Now())
						if err != nil {
							t.Fatal(err)
						}
						return p
					}
				}
				return &paidservicetest.FacilitatorWorld{
					Facilitator: ledger, Terms: terms, Pay: pay(1000000),
					Poor: pay(0),
				}
			})
		})
	}
}
