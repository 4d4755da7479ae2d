package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/stripe"
)

func newClient(t *testing.T, w *sandboxtest.World, opts stripe.Options) *stripe.Client {
	t.Helper()
	opts.BaseURL, opts.Mode = w.URL+"/stripe", "sandbox"
	client, err := stripe.New(sandboxtest.Key, opts)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func offers(t *testing.T, c *stripe.Client) map[string]offer.Offer {
	t.Helper()
	listing, err := c.Offers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]offer.Offer{}
	for _, o := range listing.Offers {
		found[o.ID] = o
	}
	return found
}

func TestProcessorKeepsThePromises(t *testing.T) {
	t.Parallel()
	checkouttest.RunProcessor(t, func(t *testing.T) *checkouttest.World {
		sandbox := sandboxtest.Start(t)
		client := newClient(
			t,
			sandbox,
			stripe.Options{HTTPClient: &http.Client{Timeout: 2 * time.Second}, ListLimit: 2},
		)
		fail := func(mode string, n int) func(*testing.T) {
			return func(*testing.T) { sandbox.FailAPI("POST", "/v1/checkout/sessions", mode, n) }
		}
		return &checkouttest.World{
			Processor: client, Orders: client, Quote: offer.Quote{
				Offer:    offers(t, client)["prompt_handbook"],
				Quantity: 1, At: time.Now(),
			},
			Pay: func(t *testing.T, f checkout.PageFacts) {
				t.Helper()
				if seen := sandboxtest.NewPerson(t, nil).Pay(f.URL, sandboxtest.CardOK); seen.Status != 303 {
					t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
				}
			},
			PayLater: func(t *testing.T, f checkout.PageFacts, succeeds bool) {
				t.Helper()
				outcome := map[bool]string{true: "succeeds", false: "fails"}[succeeds]
				if seen := sandboxtest.NewPerson(t, nil).PayLater(f.URL, outcome); seen.Status != 303 {
					t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
				}
			},
			Arrive:     func(*testing.T) { sandbox.Advance(4 * 24 * time.Hour) },
			LoseAnswer: fail("timeout_after_commit", 1),
			Cursor:     "ended:evt_none",
			LoseCursor: func(*testing.T) {}, // there is no such event
			BurnKey: func(_ *testing.T, done bool) {
				fail(map[bool]string{true: "500_after_commit", false: "500"}[done], 1)(t)
			},
		}
	})
}

func TestOffersOfTheSandbox(t *testing.T) {
	t.Parallel()
	client := newClient(t, sandboxtest.Start(t), stripe.Options{})
	tests := []struct {
		id, price string
		category  offer.Category
		delivery  offer.DeliveryType
		billing   offer.Billing
		trial     int
		status    offer.Status
	}{
		{
			"assistant_pro_monthly", "USD 19.00", offer.Software, offer.Digital,
			offer.Billing{Interval: "month", Count: 1},
			14, offer.InStock,
		},
		{
			"assistant_pro_yearly", "USD 190.00", offer.Software, offer.Digital,
			offer.Billing{Interval: "year", Count: 1},
			0, offer.InStock,
		},
		{"home_box", "USD 149.00", offer.Hardware, offer.Shipping, offer.Billing{}, 0, offer.InStock},
		{"founders_mug", "USD 18.00", offer.Hardware, offer.Shipping, offer.Billing{}, 0, offer.OutOfStock},
		{"prompt_handbook_jp", "JPY 4200", offer.Software, offer.Digital, offer.Billing{}, 0, offer.InStock},
		{"setup_call", "USD 90.00", offer.Service, offer.OnDemand, offer.Billing{}, 0, offer.InStock},
	}
	found := offers(t, client)
	for _, tt := range tests {
		o, ok := found[tt.id]
		if !ok {
			t.Errorf("%s is not for sale", tt.id)
			continue
		}
		if o.Price.String() != tt.price || o.Category != tt.category || o.Delivery.Type != tt.delivery ||
			o.Billing != tt.billing || o.TrialDays != tt.trial || o.Stock.Status != tt.status {
			t.Errorf("%s = %+v", tt.id, o)
		}
	}
	if box := found["home_box"]; !box.Stock.Counted || box.Stock.Units != 25 || len(box.Delivery.ShipsTo) != 2 ||
		box.Delivery.MaxDays != 7 {
		t.Errorf("home_box = %+v, %+v", box.Stock, box.Delivery)
	}
}

func TestWhatIsNotSold(t *testing.T) {
	t.Parallel()
	sandbox := sandboxtest.Start(t)
	product := func(form string) string {
		var p struct{ ID string }
		sandbox.Call("POST", "/v1/products", form, &p)
		return p.ID
	}
	price := func(form string) string {
		var p struct{ ID string }
		sandbox.Call("POST", "/v1/prices", form, &p)
		return p.ID
	}
	marked := product("name=Marked&metadata[agent_offer]=true")
	plain := price("currency=usd&unit_amount=500&product=" + product("name=Plain"))
	kuwait := price("currency=kwd&unit_amount=12340&product=" + marked)
	iceland := price("currency=isk&unit_amount=250000&product=" + marked)
	uganda := price("currency=ugx&unit_amount=500000&product=" + marked)
	gone := price("currency=usd&unit_amount=700&product=" + marked)
	sandbox.Call("POST", "/v1/prices/"+gone, "active=false", nil)

	some := offers(t, newClient(t, sandbox, stripe.Options{}))
	all := offers(t, newClient(t, sandbox, stripe.Options{AllOffers: true}))
	if _, ok := some[plain]; ok {
		t.Error("a price without agent_offer is for sale")
	}
	if _, ok := all[plain]; !ok {
		t.Error("a price is missing although all are for sale")
	}
	if _, ok := all[gone]; ok {
		t.Error("an inactive price is for sale")
	}
	for id, want := range map[string]string{kuwait: "KWD 12.340", iceland: "ISK 2500", uganda: "UGX 5000"} {
		if got := some[id].Price.String(); got != want {
			t.Errorf("price = %q, want %q", got, want)
		}
	}
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	sandbox := sandboxtest.Start(t)
	client := newClient(t, sandbox, stripe.Options{})
	for id, wantCharged := range map[string]int64{"assistant_pro_monthly": 0, "assistant_pro_yearly": 19000} {
		now := time.Now()
		f, err := client.OpenPage(t.Context(), checkout.PageRequest{
			Key: id, CheckoutID: "chk_" + id, N: 1, Quote: offer.Quote{
				Offer: offers(t, client)[id], Quantity: 1,
				At: now,
			},
			SuccessURL: "https://store.example/done", CancelURL: "https://store.example/back",
			ExpiresAt: now.Add(2 * time.Hour), Since: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		if seen := sandboxtest.NewPerson(t, nil).Pay(f.URL, sandboxtest.CardOK); seen.Status != 303 {
			t.Fatalf("%s: paying answered %d", id, seen.Status)
		}
		f, err = client.ReadPage(t.Context(), f.Ref)
		if err != nil || f.Payment != checkout.PaymentPaid || f.Paid.Total != wantCharged ||
			f.Paid.SubscriptionRef == "" {
			t.Errorf("%s: %+v, %v", id, f, err)
		}
		if refundable := f.Paid.PaymentRef != ""; refundable != (wantCharged > 0) {
			t.Errorf("%s: payment %q of %d", id, f.Paid.PaymentRef, wantCharged)
		}
	}
}

func TestProcessorAway(t *testing.T) {
	t.Parallel()
	client, err := stripe.New(sandboxtest.Key, stripe.Options{BaseURL: "http://127.0.0.1:1/stripe"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Offers(t.Context()); !problem.Is(err, "processor_unavailable") {
		t.Errorf("Offers = %v, want processor_unavailable", err)
	}
	if _, err := stripe.New("", stripe.Options{BaseURL: "nowhere"}); err == nil {
		t.Error("New took an address without a host")
	}
}
