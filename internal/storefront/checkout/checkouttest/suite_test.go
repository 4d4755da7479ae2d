package checkouttest_test

import (
	"testing"
	"time"

	"ace/internal/foundation/money"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
)

func TestTheProcessorInMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	checkouttest.RunProcessor(t, func(*testing.T) *checkouttest.World {
		p := checkouttest.NewProcessor()
		p.ListLimit = 2
		pending := map[string]checkout.PaymentStatus{}
		return &checkouttest.World{
			Processor: p, Orders: p,
			Quote: offer.Quote{
				Offer:    offer.Offer{ID: "handbook", Price: money.Amount{Minor: 2900, Currency: "USD"}},
				Quantity: 1, At: time.Now(),
			},
			Pay: func(t *testing.T, f checkout.PageFacts) {
				t.Helper()
				if !p.Pay(f.Ref) {
					t.Error("the page took no payment")
				}
			},
			PayLater: func(_ *testing.T, f checkout.PageFacts, ok bool) {
				p.PayLater(f.Ref)
				pending[f.Ref] = map[bool]checkout.PaymentStatus{
					true:  checkout.PaymentPaid,
					false: checkout.PaymentFailed,
				}[ok]
			},
			Arrive: func(*testing.T) {
				for ref, outcome := range pending {
					p.Arrive(ref, outcome)
				}
			},
			LoseAnswer: func(*testing.T) { p.Fail("open", checkouttest.LostAnswer) },
			BurnKey:    func(*testing.T, bool) { p.Fail("open", checkouttest.Burnt) },
			LoseCursor: func(*testing.T) { p.Fail("list", checkouttest.LostCursor) },
		}
	})
}
