package sandbox

import (
	"net/http"
	"testing"

	"github.com/stripe/stripe-go/v85"
)

func TestPurchase(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	if o.Status != stripe.CheckoutSessionStatusOpen || o.URL == "" || o.AmountTotal != 2900 {
		t.Fatalf("opened session = %s %q %d, want open with an address and 2900", o.Status, o.URL, o.AmountTotal)
	}
	got := newPerson(t).pay(t, o.URL, card("4242424242424242"))
	if want := w.shop.url + "/thanks?session_id=" + o.ID; got.status != http.StatusSeeOther || got.location != want {
		t.Fatalf("paying = %d %q, want 303 %q\n%s", got.status, got.location, want, got.body)
	}
	e := w.shop.wait(t, stripe.EventTypeCheckoutSessionCompleted)
	if id := e.Data.Object["id"]; id != o.ID {
		t.Errorf("event tells of %v, want %s", id, o.ID)
	}
	paid, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), o.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if paid.Status != stripe.CheckoutSessionStatusComplete ||
		paid.PaymentStatus != stripe.CheckoutSessionPaymentStatusPaid || paid.URL != "" {
		t.Errorf("paid session = %s %s %q, want complete, paid, no address", paid.Status, paid.PaymentStatus, paid.URL)
	}
}
