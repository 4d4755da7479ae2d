package checkout_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

var errReceiver = errors.New("the receiver answered 500")

func TestPurchase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		session := s.open("handbook")
		if want := "https://store.example/c/" + session.Token; s.ContinueURL(session) != want || strings.Contains(want,
			session.ID) {
			t.Errorf("continue url = %s, want %s without the id", s.ContinueURL(session), want)
		}
		if !s.processor.Pay(session.Page().Ref) {
			t.Fatal("the page took no payment")
		}
		s.event("evt_1", session.ID, session.Page().Ref)
		s.wantState(session.ID, checkout.Completed)
		o := s.orderOf(session.ID)
		if o.Status != order.Confirmed || o.Paid.Total != 2900 || o.Paid.Currency != "USD" {
			t.Errorf("order = %s, %d %s, want confirmed, 2900 USD", o.Status, o.Paid.Total, o.Paid.Currency)
		}
		if got := s.events.got(); !cmp.Equal(got, []order.EventType{order.EventCreated}) {
			t.Errorf("events = %v, want order.created once", got)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		req  checkout.Request
		want string
	}{
		{"no offer", checkout.Request{}, "offer_required"},
		{"unknown offer", checkout.Request{OfferID: "sofa"}, "offer_not_found"},
		{"sold out", checkout.Request{OfferID: "mug"}, "sold_out"},
		{"too many", checkout.Request{OfferID: "handbook", Quantity: 11}, "invalid_quantity"},
		{"negative", checkout.Request{OfferID: "handbook", Quantity: -1}, "invalid_quantity"},
		{"beyond all numbers", checkout.Request{OfferID: "handbook", Quantity: 1 << 62}, "invalid_quantity"},
	}
	s := newShop(t)
	for _, tt := range tests {
		if _, err := s.Create(t.Context(), tt.req); !problem.Is(err, tt.want) {
			t.Errorf("%s: Create = %v, want %s", tt.name, err, tt.want)
		}
	}
	if pages, _ := s.processor.Pages(); pages != 0 {
		t.Errorf("%d pages were opened for refused requests", pages)
	}
}

func TestProcessorRefusesTheOffer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.processor.Fail("open", checkouttest.Refusal)
	id := typeid.New("chk")
	if _, err := s.Create(t.Context(), checkout.Request{ID: id, OfferID: "handbook"}); !problem.Is(err,
		"processor_refused") {
		t.Errorf("Create = %v, want processor_refused", err)
	}
	if _, err := s.store.Session(t.Context(), id); !problem.Is(err, "checkout_not_found") {
		t.Errorf("a refused session was kept: %v", err)
	}
	s.hurry(checkout.JobOpen, id) // whatever job is left must find nothing to do
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]checkouttest.Fault{
		"nothing done": checkouttest.Away,
		"done":         checkouttest.LostAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.processor.Fail("open", fault)
			id := typeid.New("chk")
			req := checkout.Request{ID: id, OfferID: "handbook", Buyer: checkout.Buyer{Email: "ada@example.com"}}
			if _, err := s.Create(t.Context(), req); !problem.Is(err, "processor_unavailable") {
				t.Fatalf("Create = %v, want processor_unavailable", err)
			}
			if _, err := s.Get(t.Context(), id); !problem.Is(err, "checkout_in_flight") {
				t.Errorf("Get while opening = %v, want checkout_in_flight", err)
			}
			session, err := s.Create(t.Context(), req) // the caller repeats its request
			if err != nil || session.State != checkout.Open {
				t.Fatalf("second Create = %v, %v", session, err)
			}
			if pages, _ := s.processor.Pages(); pages != 1 {
				t.Errorf("%d pages, want 1", pages)
			}
			if s.kept(id).Buyer.Email != "" {
				t.Error("the buyer's address was kept after it had served its purpose")
			}
		})
	}
}

func TestRecoveryOpensWhatACrashLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.processor.Fail("open", checkouttest.LostAnswer)
	id := typeid.New("chk")
	if _, err := s.Create(t.Context(), checkout.Request{ID: id, OfferID: "handbook"}); err == nil {
		t.Fatal("Create did not fail")
	}
	s.hurry(checkout.JobOpen, id)
	s.wantState(id, checkout.Open)
	if pages, _ := s.processor.Pages(); pages != 1 {
		t.Errorf("%d pages, want 1", pages)
	}
}

func TestABurntKeyIsReplaced(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.processor.Fail("open", checkouttest.Burnt, checkouttest.Burnt)
	session := s.open("handbook")
	if n := session.Page().N; n != 3 {
		t.Errorf("page %d is current, want 3", n)
	}
}

func TestMoneyStates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		offer string
		act   func(s *shop, session *checkout.Session)
		want  checkout.State
	}{
		{
			"expired at the processor", "handbook",
			func(s *shop, c *checkout.Session) { s.processor.Expire(c.Page().Ref) }, checkout.Expired,
		},
		{
			"delayed", "handbook", func(s *shop, c *checkout.Session) { s.processor.PayLater(c.Page().Ref) },
			checkout.Processing,
		},
		{"delayed, then paid", "handbook", func(s *shop, c *checkout.Session) {
			s.processor.PayLater(c.Page().Ref)
			s.event("evt_1", c.ID, c.Page().Ref)
			s.processor.Arrive(c.Page().Ref, checkout.PaymentPaid)
		}, checkout.Completed},
		{"delayed, then failed", "handbook", func(s *shop, c *checkout.Session) {
			s.processor.PayLater(c.Page().Ref)
			s.event("evt_1", c.ID, c.Page().Ref)
			s.processor.Arrive(c.Page().Ref, checkout.PaymentFailed)
		}, checkout.Canceled},
		{"free trial", "pro", func(s *shop, c *checkout.Session) { s.processor.Pay(c.Page().Ref) }, checkout.Completed},
		{"nothing happened", "handbook", func(*shop, *checkout.Session) {}, checkout.Open},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			session := s.open(tt.offer)
			tt.act(s, session)
			s.event("evt_last", session.ID, session.Page().Ref)
			got := s.wantState(session.ID, tt.want)
			if orders := len(s.allOrders()); (orders == 1) != (tt.want == checkout.Completed) {
				t.Errorf("%d orders in state %s", orders, got.State)
			}
			if tt.want == checkout.Canceled && got.Ending != checkout.EndingPaymentFailed {
				t.Errorf("ending = %q, want payment_failed", got.Ending)
			}
		})
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		tests := map[string]func(s *shop, c *checkout.Session){
			"dropped, seen by a read": func(s *shop, c *checkout.Session) {
				if _, err := s.Returned(s.t.Context(), c.Token); err != nil {
					s.t.Error(err)
				}
			},
			"dropped, seen by the sweep": func(s *shop, _ *checkout.Session) {
				s.sweep()
			},
			"duplicated": func(s *shop, c *checkout.Session) {
				s.event("evt_1", c.ID, c.Page().Ref)
				s.event("evt_1", c.ID, c.Page().Ref)
				s.event("evt_2", c.ID, c.Page().Ref)
			},
			"all at once": func(s *shop, c *checkout.Session) {
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() { s.event("evt_1", c.ID, c.Page().Ref) })
					wg.Go(func() { _, _ = s.Returned(s.t.Context(), c.Token) })
				}
				wg.Wait()
				s.work()
			},
		}
		for name, tell := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newShop(t)
				session := s.open("handbook")
				s.processor.Pay(session.Page().Ref)
				tell(s, session)
				s.work()
				s.wantState(session.ID, checkout.Completed)
				s.orderOf(session.ID)
				if got := s.events.got(); len(got) != 1 {
					t.Errorf("events = %v, want one", got)
				}
			})
		}
	})
}

// The first news of a page can be its payment: the response that would have told
// us of the page is still on its way.
func TestWebhookBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		id := typeid.New("chk")
		s.step = func(name string) {
			if name == "opened" {
				s.step = nil
				s.processor.Pay("cs_1")
				s.event("evt_early", id, "cs_1")
			}
		}
		session, err := s.Create(t.Context(), checkout.Request{ID: id, OfferID: "handbook"})
		if err != nil || session.State != checkout.Completed {
			t.Fatalf("Create = %v, %v, want completed", session, err)
		}
		s.orderOf(id)
	})
}

func TestAReadRefreshesOnlyNowAndThen(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	for range 5 {
		if _, err := s.Get(t.Context(), session.ID); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.processor.Calls("read"); n != 1 {
		t.Errorf("%d calls to the processor for five reads, want 1", n)
	}
}

func TestProcessorAway(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	s.processor.Pay(session.Page().Ref)
	s.processor.Fail("read", checkouttest.Away)
	got, err := s.Get(t.Context(), session.ID)
	if err != nil || got.State != checkout.Open {
		t.Fatalf("Get = %v, %v, want what we know: open", got, err)
	}
	s.event("evt_1", session.ID, session.Page().Ref)
	s.wantState(session.ID, checkout.Completed)
}

func TestWaitSeesThePayment(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	done := make(chan *checkout.Session)
	go func() {
		got, err := s.Wait(t.Context(), session.ID, 20*time.Second)
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	s.processor.Pay(session.Page().Ref)
	s.event("evt_1", session.ID, session.Page().Ref)
	if got := <-done; got.State != checkout.Completed {
		t.Errorf("Wait = %s, want completed", got.State)
	}
}

func TestWaitEndsInTime(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	if got, err := s.Wait(t.Context(), session.ID, 10*time.Millisecond); err != nil || got.State != checkout.Open {
		t.Errorf("Wait = %v, %v, want open", got, err)
	}
}

func TestMoneyWins(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		tests := []struct {
			name   string
			end    func(s *shop, c *checkout.Session)
			offer  string
			status order.Status
			reason string
		}{
			{
				"paid after cancel", func(s *shop, c *checkout.Session) { _, _ = s.Cancel(s.t.Context(), c.ID, "") },
				"handbook", order.Review, order.ReasonPaidAfterEnd,
			},
			{"paid after expiry", func(s *shop, c *checkout.Session) {
				s.processor.Expire(c.Page().Ref)
				s.event("evt_x", c.ID, c.Page().Ref)
			}, "handbook", order.Review, order.ReasonPaidAfterEnd},
			{"paid after the last unit went", func(s *shop, c *checkout.Session) {
				_, _ = s.Cancel(s.t.Context(), c.ID, "")
				s.goods.change("box", func(o *offer.Offer) { o.Stock.Units = 0 })
				_ = s.Receive(s.t.Context(), checkout.Event{ID: "evt_p", Catalog: true})
			}, "box", order.RefundDue, order.ReasonSoldOut},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := newShop(t)
				session := s.open(tt.offer)
				tt.end(s, session)
				s.processor.ForcePay(session.Page().Ref)
				s.event("evt_late", session.ID, session.Page().Ref)
				s.wantState(session.ID, checkout.Completed)
				if o := s.orderOf(session.ID); o.Status != tt.status || o.Reason != tt.reason {
					t.Errorf("order = %s (%s), want %s (%s)", o.Status, o.Reason, tt.status, tt.reason)
				}
			})
		}
	})
}

func TestSoldOutBetweenLinkAndVisit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	s.goods.change("handbook", func(o *offer.Offer) { o.Stock.Status = offer.OutOfStock })
	if err := s.Receive(t.Context(), checkout.Event{ID: "evt_p", Catalog: true}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Visit(t.Context(), session.Token)
	if err != nil || got.State != checkout.Canceled || got.Ending != checkout.EndingSoldOut {
		t.Errorf("Visit = %v, %v, want canceled as sold out", got, err)
	}
	if s.processor.Pay(session.Page().Ref) {
		t.Error("what is sold out could be paid")
	}
}

func TestVisitOfAHeldUnit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.goods.change("box", func(o *offer.Offer) { o.Stock.Units = 1 })
	session := s.open("box")
	if got, err := s.Visit(t.Context(), session.Token); err != nil || got.State != checkout.Open {
		t.Errorf("Visit = %v, %v, want open: the last unit is held for this session", got.State, err)
	}
}

func TestCountedStockIsNeverOversold(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		s.goods.change("box", func(o *offer.Offer) { o.Stock.Units = 3 })
		var wg sync.WaitGroup
		var mu sync.Mutex
		opened := 0
		for i := range 12 {
			wg.Go(func() {
				agent := checkout.Agent{Signed: true, ClientKey: string(rune('a' + i))}
				_, err := s.Create(t.Context(), checkout.Request{OfferID: "box", Agent: agent})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					opened++
				} else if !problem.Is(err, "sold_out") {
					t.Errorf("Create = %v, want sold_out", err)
				}
			})
		}
		wg.Wait()
		if opened != 3 {
			t.Errorf("%d sessions hold 3 units", opened)
		}
	})
}

func TestHoarding(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	create := func(client string, signed bool) error {
		_, err := s.Create(t.Context(),
			checkout.Request{OfferID: "box", Agent: checkout.Agent{ClientKey: client, Signed: signed}})
		return err
	}
	steps := []struct {
		client string
		signed bool
		want   string
	}{
		{"a", true, ""}, {"a", true, ""}, {"a", true, "hold_limit"}, // two per client
		{"b", false, ""}, {"c", false, ""}, {"d", false, "hold_limit"}, // a fifth of ten for all that are not signed
		{"e", true, ""},
	}
	for i, step := range steps {
		err := create(step.client, step.signed)
		if step.want == "" && err != nil || step.want != "" && !problem.Is(err, step.want) {
			t.Errorf("step %d: Create = %v, want %q", i, err, step.want)
		}
	}
}

func TestStrayPages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	unpaid := s.processor.Stray(s.processor.Request(session.Page().Ref))
	s.sweep()
	s.work()
	if got := s.processor.Status(unpaid); got != checkout.StatusExpired {
		t.Errorf("a stray page is %s after the sweep, want expired", got)
	}
	s.wantState(session.ID, checkout.Open)
}

func TestASecondPaymentGoesBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		s := newShop(t)
		session := s.open("handbook")
		stray := s.processor.Stray(s.processor.Request(session.Page().Ref))
		s.processor.Pay(session.Page().Ref)
		s.event("evt_1", session.ID, session.Page().Ref)
		s.processor.Pay(stray)
		s.event("evt_2", session.ID, stray)
		s.event("evt_3", session.ID, stray)
		if got := s.processor.GivenBack(); got != 2900 {
			t.Errorf("%d went back, want 2900", got)
		}
		if o := s.orderOf(session.ID); o.Status != order.Confirmed || o.Refunded != 0 {
			t.Errorf("order = %s, %d refunded, want the first payment untouched", o.Status, o.Refunded)
		}
	})
}

func TestWrongAmountGoesToReview(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	req := s.processor.Request(session.Page().Ref)
	req.Quote.Offer.Price.Minor = 100
	stray := s.processor.Stray(req)
	s.processor.Pay(stray)
	s.event("evt_1", session.ID, stray)
	if o := s.orderOf(session.ID); o.Status != order.Review || o.Reason != order.ReasonAmountMismatch {
		t.Errorf("order = %s (%s), want review for the amount", o.Status, o.Reason)
	}
}

func TestIDsOfNobody(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, id := range []string{"", "chk_1", "chk_' OR 1=1 --aaaaaaaaaaaaaaa", typeid.New("chk"), typeid.New("ord")} {
		if _, err := s.Get(t.Context(), id); !problem.Is(err, "checkout_not_found") {
			t.Errorf("Get(%q) = %v, want checkout_not_found", id, err)
		}
		if _, err := s.Visit(t.Context(), id); !problem.Is(err, "checkout_not_found") {
			t.Errorf("Visit(%q) = %v, want checkout_not_found", id, err)
		}
	}
	session := s.open("handbook")
	if _, err := s.Visit(t.Context(), session.ID); !problem.Is(err, "checkout_not_found") {
		t.Errorf("the id opened the person's page: %v", err)
	}
}

// A payment for a session that is not here, as after the restore of an older
// backup, is reported to the operator.
func TestPaymentWithoutASession(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	req := s.processor.Request(session.Page().Ref)
	req.CheckoutID = typeid.New("chk")
	s.processor.Pay(s.processor.Stray(req))
	s.sweep()
	if !strings.Contains(s.log.String(), "a payment has no session here") || !strings.Contains(s.log.String(),
		req.CheckoutID) {
		t.Errorf("the operator was not told:\n%s", s.log.String())
	}
	if orders := len(s.allOrders()); orders != 0 {
		t.Errorf("%d orders for an unknown session", orders)
	}
}

// A processor that only fails is not hammered, and the session that nobody has
// seen is given up in the end.
func TestAProcessorThatOnlyFails(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 100 {
		s.processor.Fail("open", checkouttest.Burnt)
	}
	req := checkout.Request{ID: typeid.New("chk"), OfferID: "handbook"}
	if _, err := s.Create(t.Context(), req); !problem.Is(err, "processor_unavailable") {
		t.Fatalf("Create = %v, want processor_unavailable", err)
	}
	if n := s.processor.Calls("open"); n != 3 {
		t.Errorf("%d tries in one request, want 3", n)
	}
	for range 10 {
		s.hurry(checkout.JobOpen, req.ID)
	}
	if _, err := s.store.Session(t.Context(), req.ID); !problem.Is(err, "checkout_not_found") {
		t.Errorf("Session = %v, want it given up", err)
	}
	if n := s.processor.Calls("open"); n != 20 {
		t.Errorf("%d tries in all, want 20", n)
	}
}

// A read that follows the processor's message by a moment sees what the message
// is about, whether or not its job has run.
func TestAReadAfterAMessageSettlesFirst(t *testing.T) {
	t.Parallel()
	reads := map[string]func(s *shop, c *checkout.Session) (*checkout.Session, error){
		"get": func(s *shop, c *checkout.Session) (*checkout.Session, error) { return s.Get(s.t.Context(), c.ID) },
		"visit": func(s *shop, c *checkout.Session) (*checkout.Session, error) {
			return s.Visit(s.t.Context(), c.Token)
		},
		"wait": func(s *shop, c *checkout.Session) (*checkout.Session, error) {
			return s.Wait(s.t.Context(), c.ID, time.Minute)
		},
		"on another replica": func(s *shop, c *checkout.Session) (*checkout.Session, error) {
			other := s.replica()
			if _, err := other.Get(s.t.Context(), c.ID); err != nil {
				return nil, err
			}
			return other.Get(s.t.Context(), c.ID)
		},
	}
	onBoth(t, func(t *testing.T, newShop func(*testing.T) *shop) {
		for name, read := range reads {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newShop(t)
				session := s.open("handbook")
				if got, err := s.Get(t.Context(), session.ID); err != nil || got.State != checkout.Open {
					t.Fatalf("Get before the payment = %v, %v", got, err)
				}
				s.processor.Pay(session.Page().Ref)
				s.message("evt_1", session.ID, session.Page().Ref)
				got, err := read(s, session)
				if err != nil || got.State != checkout.Completed {
					t.Fatalf("the read after the message = %v, %v, want completed", got.State, err)
				}
				s.work()
				if got := s.events.got(); len(got) != 1 {
					t.Errorf("events = %v, want one", got)
				}
			})
		}
	})
}

// Money that arrives on a session that ended is seen as well.
func TestAReadAfterALateMessageSettlesFirst(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	if _, err := s.Cancel(t.Context(), session.ID, ""); err != nil {
		t.Fatal(err)
	}
	s.processor.ForcePay(session.Page().Ref)
	s.message("evt_1", session.ID, session.Page().Ref)
	if got, err := s.Get(t.Context(), session.ID); err != nil || got.State != checkout.Completed {
		t.Errorf("Get = %v, %v, want completed", got.State, err)
	}
	if o := s.orderOf(session.ID); o.Status != order.Review {
		t.Errorf("order = %s, want review", o.Status)
	}
}

// A message whose session cannot be settled now leaves the read at what is known.
func TestAReadAfterAMessageWhileTheProcessorIsAway(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	session := s.open("handbook")
	s.processor.Pay(session.Page().Ref)
	s.message("evt_1", session.ID, session.Page().Ref)
	s.processor.Fail("read", checkouttest.Away)
	if got, err := s.Get(t.Context(), session.ID); err != nil || got.State != checkout.Open {
		t.Errorf("Get = %v, %v, want what is stored", got, err)
	}
	if got, err := s.Get(t.Context(), session.ID); err != nil || got.State != checkout.Completed {
		t.Errorf("Get = %v, %v, want completed", got, err)
	}
}
