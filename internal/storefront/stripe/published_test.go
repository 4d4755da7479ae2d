package stripe_test

import (
	"errors"
	"testing"
	"time"

	"ace/internal/foundation/money"
	"ace/internal/foundation/problem"
	"ace/internal/sandbox/stripemocktest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/stripe"
)

// Each call that the store makes fits Stripe's published API: stripe-mock
// refuses parameters and expansions that are not in it.
func TestCallsFitThePublishedAPI(t *testing.T) {
	t.Parallel()
	client, err := stripe.New("sk_test_published",
		stripe.Options{BaseURL: stripemocktest.Start(t), Mode: "test", AutomaticTax: true, AllOffers: true})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	page := func(o offer.Offer) error {
		_, err := client.OpenPage(t.Context(), checkout.PageRequest{
			Key: "key", CheckoutID: "chk_1", N: 1, Quote: offer.Quote{Offer: o, Quantity: 2, At: now},
			Email: "ada@example.com", Protocol: checkout.UCP,
			SuccessURL: "https://store.example/done?session_id={CHECKOUT_SESSION_ID}",
			CancelURL:  "https://store.example/back", ExpiresAt: now.Add(time.Hour), Since: now,
		})
		return err
	}
	monthly := offer.Billing{Interval: "month", Count: 1}
	calls := map[string]func() error{
		"offers":  func() error { _, err := client.Offers(t.Context()); return err },
		"payment": func() error { return page(offer.Offer{PriceRef: "price_1"}) },
		"hardware": func() error {
			return page(offer.Offer{
				PriceRef: "price_1",
				Delivery: offer.Delivery{Type: offer.Shipping, ShipsTo: []string{"US", "DE"}},
			})
		},
		"subscription": func() error { return page(offer.Offer{PriceRef: "price_1", Billing: monthly}) },
		"trial":        func() error { return page(offer.Offer{PriceRef: "price_1", Billing: monthly, TrialDays: 14}) },
		"read":         func() error { _, err := client.ReadPage(t.Context(), "cs_1"); return err },
		"close":        func() error { _, err := client.ClosePage(t.Context(), "cs_1"); return err },
		"changed": func() error {
			_, err := client.ChangedPages(t.Context(), now.Add(-time.Hour), "")
			return err
		},
		"changed, still open": func() error {
			_, err := client.ChangedPages(t.Context(), now.Add(-time.Hour), "open:cs_1")
			return err
		},
		"changed, long ago": func() error {
			_, err := client.ChangedPages(t.Context(), now.AddDate(0, -2, 0), "")
			return err
		},
		"refund": func() error {
			_, err := client.Refund(t.Context(), order.RefundRequest{
				Key: "rfd_1", OrderID: "ord_1", PaymentRef: "pi_1",
				Amount: money.Amount{Minor: 100, Currency: "USD"},
			})
			return err
		},
		"refunded": func() error { _, err := client.Refunded(t.Context(), "pi_1"); return err },
		"buyer":    func() error { _, err := client.Buyer(t.Context(), "cs_1"); return err },
	}
	for name, call := range calls {
		err := call()
		// Its examples are of no session and no event of ours: what they say is
		// not the point here.
		var p *problem.Problem
		if errors.As(err, &p) && p.Code != "event_unreadable" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
