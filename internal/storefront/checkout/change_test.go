package checkout_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	got, err := s.Cancel(t.Context(), session.ID, `{"reason_code":"price_sensitivity"}`)
	if err != nil || got.State != checkout.Canceled {
		t.Fatalf("Cancel = %v, %v, want canceled", got, err)
	}
	if s.processor.Pay(session.Page().Ref) {
		t.Error("a canceled session could still be paid")
	}
	if kept := s.kept(session.ID); kept.Agent.Trace == "" || kept.Ending != checkout.EndingAgent {
		t.Errorf("kept %+v, want the agent's reason", kept.Agent)
	}
	if _, err := s.Cancel(t.Context(), session.ID, ""); !problem.Is(err, "checkout_not_modifiable") {
		t.Errorf("second Cancel = %v, want checkout_not_modifiable", err)
	}
}

func TestCancelRacingPayment(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		session := s.open("handbook")
		s.step = func(name string) {
			if name == "canceling" {
				s.processor.Pay(session.Page().Ref)
			}
		}
		if _, err := s.Cancel(t.Context(), session.ID, ""); !problem.Is(err, "checkout_not_modifiable") {
			t.Errorf("Cancel of a paid session = %v, want checkout_not_modifiable", err)
		}
		s.wantState(session.ID, checkout.Completed)
		if o := s.orderOf(session.ID); o.Status != order.Confirmed {
			t.Errorf("order is %s, want confirmed: the payment came before the page was closed", o.Status)
		}
	})
}

func TestACancelThatDiedIsFinished(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]checkouttest.Fault{
		"before the page was closed": checkouttest.Away,
		"after":                      checkouttest.LostAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			session := s.open("handbook")
			s.processor.Fail("close", fault)
			if _, err := s.Cancel(t.Context(), session.ID, ""); !problem.Is(err, "processor_unavailable") {
				t.Fatalf("Cancel = %v, want processor_unavailable", err)
			}
			s.hurry(checkout.JobWatch, session.ID)
			s.wantState(session.ID, checkout.Canceled)
		})
	}
}

func TestUpdateReplacesThePage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		session := s.open("handbook")
		got, err := s.Update(t.Context(), session.ID, checkout.Update{OfferID: "pro", Quantity: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got.State != checkout.Open || got.Quote().Offer.ID != "pro" || got.Quote().Quantity != 2 ||
			s.ContinueURL(got) != s.ContinueURL(session) {
			t.Errorf("Update = %s, %d × %s", got.State, got.Quote().Quantity, got.Quote().Offer.ID)
		}
		if s.processor.Pay(session.Page().Ref) {
			t.Error("the replaced page could still be paid")
		}
		s.processor.Pay(got.Page().Ref)
		s.event("evt_1", session.ID, got.Page().Ref)
		if o := s.orderOf(session.ID); o.Quote.Offer.ID != "pro" || o.Quote.Quantity != 2 {
			t.Errorf("order is for %d × %s", o.Quote.Quantity, o.Quote.Offer.ID)
		}
	})
}

func TestUpdateThatChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	got, err := s.Update(t.Context(), session.ID, checkout.Update{OfferID: "handbook", Quantity: 1})
	if err != nil || got.Page().Ref != session.Page().Ref {
		t.Errorf("Update = %v, %v, want the same page", got, err)
	}
}

func TestUpdateRacingPayment(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		session := s.open("handbook")
		s.step = func(name string) {
			if name == "updating" {
				s.processor.Pay(session.Page().Ref)
			}
		}
		if _, err := s.Update(t.Context(), session.ID, checkout.Update{Quantity: 3}); !problem.Is(err,
			"checkout_not_modifiable") {
			t.Errorf("Update of a paid session = %v, want checkout_not_modifiable", err)
		}
		if o := s.orderOf(session.ID); o.Quote.Quantity != 1 || o.Status != order.Confirmed ||
			s.kept(session.ID).Quote().Quantity != 1 {
			t.Errorf("order = %d, %s, want what was paid: 1, confirmed", o.Quote.Quantity, o.Status)
		}
		if all, paid := s.processor.Pages(); all != 1 || paid != 1 {
			t.Errorf("%d pages, %d paid, want 1 and 1", all, paid)
		}
	})
}

func TestAnUpdateThatDiedIsFinished(t *testing.T) {
	t.Parallel()
	for operation, fault := range map[string]checkouttest.Fault{
		"close": checkouttest.LostAnswer,
		"open":  checkouttest.LostAnswer,
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			session := s.open("handbook")
			s.processor.Fail(operation, fault)
			if _, err := s.Update(t.Context(), session.ID, checkout.Update{Quantity: 3}); !problem.Is(err,
				"processor_unavailable") {
				t.Fatalf("Update = %v, want processor_unavailable", err)
			}
			s.hurry(checkout.JobOpen, session.ID)
			got := s.wantState(session.ID, checkout.Open)
			if got.Quote().Quantity != 3 || s.processor.Status(session.Page().Ref) != checkout.StatusExpired {
				t.Errorf("quantity %d, old page %s", got.Quote().Quantity, s.processor.Status(session.Page().Ref))
			}
		})
	}
}

func TestUpdateRefusedByTheProcessorEndsTheSession(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	s.processor.Fail("open", checkouttest.Refusal)
	if _, err := s.Update(t.Context(), session.ID, checkout.Update{Quantity: 3}); !problem.Is(err,
		"processor_refused") {
		t.Errorf("Update = %v, want processor_refused", err)
	}
	if kept := s.kept(session.ID); !kept.State.Ended() {
		t.Errorf("state = %s: nothing can be paid any more", kept.State)
	}
}

func TestPriceChange(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	s.goods.change("handbook", func(o *offer.Offer) { o.Price.Minor, o.PriceRef = 3900, "price_book_2" })
	if err := s.Receive(t.Context(), checkout.Event{ID: "evt_p", Catalog: true}); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get(t.Context(), session.ID); got.Quote().Offer.Price.Minor != 2900 {
		t.Errorf("the quote moved to %v", got.Quote().Offer.Price)
	}
	got, err := s.Update(t.Context(), session.ID, checkout.Update{Quantity: 1})
	if err != nil || got.Quote().Offer.Price.Minor != 3900 || !cmp.Equal(got.Notices,
		[]string{checkout.NoticePriceChanged}) {
		t.Errorf("Update = %v, %v %v, want the new price and a notice", got.Quote().Offer.Price, got.Notices, err)
	}
}
