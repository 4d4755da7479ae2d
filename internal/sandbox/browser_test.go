package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/browsertest"

	"github.com/stripe/stripe-go/v85"
)

// fill types what every payment needs.
func fill(tab *browsertest.Tab, number string) {
	tab.Fill("#email", "ada@example.com")
	typeCard(tab, number)
	tab.Fill("#name", "Ada Lovelace")
	tab.Choose("#country", "US")
	tab.Fill("#postal_code", "94107")
}

func typeCard(tab *browsertest.Tab, number string) {
	tab.Fill("#card_number", number)
	tab.Fill("#card_expiry", "04/44")
	tab.Fill("#card_cvc", "123")
}

const payButton = ".button-wide"

// landed fails unless the tab is back at the shop.
func landed(t *testing.T, tab *browsertest.Tab, w *world, o *stripe.CheckoutSession) {
	t.Helper()
	if got, want := tab.URL(), w.shop.url+"/thanks?session_id="+o.ID; got != want {
		t.Fatalf("after paying the address = %q, want %q\n%s", got, want, tab.Text("body"))
	}
}

func (w *world) paymentStatus(t *testing.T, o *stripe.CheckoutSession) string {
	t.Helper()
	got, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), o.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(got.Status) + " " + string(got.PaymentStatus)
}

func TestPayInBrowser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	browser := browsertest.Start(t)
	screens := []struct {
		name string
		opts browsertest.Options
	}{
		{"desktop", browsertest.Options{}},
		{"phone", browsertest.Phone()},
		{"phone without scripts", browsertest.Options{Width: 360, Height: 740, Mobile: true, NoScript: true}},
	}
	walks := []struct {
		name string
		walk func(t *testing.T, w *world, tab *browsertest.Tab)
	}{
		{"success", walkSuccess},
		{"decline then success", walkDecline},
		{"3-D Secure refused then approved", walk3DS},
		{"trial", walkTrial},
		{"hardware with address", walkHardware},
		{"expired link", walkExpired},
		{"back after paying", walkBack},
		{"delayed method", walkDelayed},
		{"empty form", walkEmpty},
	}
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			for _, tt := range walks {
				t.Run(tt.name, func(t *testing.T) { tt.walk(t, w, browser.Tab(t, screen.opts)) })
			}
		})
	}
}

func walkSuccess(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	tab.See("No real money moves")
	tab.See("Prompt Handbook")
	tab.See("USD 29.00")
	fill(tab, "4242 4242 4242 4242")
	tab.Press(payButton)
	landed(t, tab, w, o)
	if got := w.paymentStatus(t, o); got != "complete paid" {
		t.Errorf("session = %s, want complete paid", got)
	}
}

func walkDecline(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	fill(tab, "4000000000009995")
	if got := tab.Press(payButton); got != http.StatusPaymentRequired {
		t.Errorf("declined page = %d, want 402", got)
	}
	tab.See("insufficient funds")
	if got := tab.Value("#email"); got != "ada@example.com" {
		t.Errorf("email after a decline = %q, want what was typed", got)
	}
	if got := tab.Value("#card_number") + tab.Value("#card_cvc"); got != "" {
		t.Errorf("card after a decline = %q, want nothing", got)
	}
	if got := w.paymentStatus(t, o); got != "open unpaid" {
		t.Errorf("session after a decline = %s, want open unpaid", got)
	}
	typeCard(tab, "4242424242424242")
	tab.Press(payButton)
	landed(t, tab, w, o)
}

func walk3DS(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	fill(tab, "4000002500003155")
	tab.Press(payButton)
	tab.See("Is it you who pays?")
	tab.Press("button[value=refuse]")
	tab.See("did not confirm")
	if got := w.paymentStatus(t, o); got != "open unpaid" {
		t.Errorf("session after a refusal = %s, want open unpaid", got)
	}
	typeCard(tab, "4000002500003155")
	tab.Press(payButton)
	tab.Press("button[value=approve]")
	landed(t, tab, w, o)
}

func walkTrial(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_assistant_pro_monthly", withTrial)
	tab.Open(o.URL)
	tab.See("Free for 14 days, then USD 19.00 every month until canceled. Due today: USD 0.00")
	fill(tab, "4242424242424242")
	tab.Press(payButton)
	landed(t, tab, w, o)
	if got := w.paymentStatus(t, o); got != "complete no_payment_required" {
		t.Errorf("session = %s, want complete no_payment_required", got)
	}
}

func walkHardware(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_home_box", withShipping)
	tab.Open(o.URL)
	tab.Click("#rate-1")
	tab.See("USD 164.00")
	tab.Fill("#shipping_name", "Ada Lovelace")
	tab.Choose("#shipping_country", "DE")
	tab.Fill("#shipping_line1", "Unter den Linden 1")
	tab.Fill("#shipping_city", "Berlin")
	tab.Fill("#shipping_postal_code", "101")
	fill(tab, "4242424242424242")
	tab.Press(payButton)
	tab.See("Enter the five digits of the shipping postcode.")
	tab.Fill("#shipping_postal_code", "10117")
	typeCard(tab, "4242424242424242")
	tab.Press(payButton)
	landed(t, tab, w, o)
	got, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), o.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if to := got.CollectedInformation.ShippingDetails; to.Address.Line1 != "Unter den Linden 1" ||
		to.Address.Country != "DE" {
		t.Errorf("goods go to %+v, want what was typed", to.Address)
	}
	if got.AmountTotal != 16400 {
		t.Errorf("total = %d, want 16400 with the chosen shipping", got.AmountTotal)
	}
}

func walkExpired(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	fill(tab, "4242424242424242")
	if _, err := w.stripe.V1CheckoutSessions.Expire(t.Context(), o.ID, nil); err != nil {
		t.Fatal(err)
	}
	if got := tab.Press(payButton); got != http.StatusGone {
		t.Errorf("paying an expired session = %d, want 410", got)
	}
	tab.See("expired")
	tab.See("Nothing was charged")
	tab.Press(".button")
	if got, want := tab.URL(), w.shop.url+"/cart"; got != want {
		t.Errorf("the way back leads to %q, want %q", got, want)
	}
}

func walkBack(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	fill(tab, "4242424242424242")
	tab.Press(payButton)
	landed(t, tab, w, o)
	tab.Back()
	tab.See("already paid")
	tab.Press(".button")
	landed(t, tab, w, o)
}

func walkDelayed(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	tab.Fill("#email", "ada@example.com")
	tab.Click("#method-debit")
	if tab.Visible("#card_number") {
		t.Errorf("the card is asked for with a bank debit")
	}
	tab.Choose("#debit_after", "3d")
	tab.Fill("#name", "Ada Lovelace")
	tab.Fill("#postal_code", "94107")
	tab.Press(payButton)
	landed(t, tab, w, o)
	if got := w.paymentStatus(t, o); got != "complete unpaid" {
		t.Errorf("session = %s, want complete unpaid", got)
	}
	tab.Open(o.URL)
	tab.See("on its way")
}

func walkEmpty(t *testing.T, w *world, tab *browsertest.Tab) {
	t.Helper()
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	if got := tab.Press(payButton); got != http.StatusUnprocessableEntity {
		t.Errorf("empty form = %d, want 422", got)
	}
	tab.See("Please check")
	tab.See("Enter the card number.")
	tab.Click(`.problems a[href="#card_number"]`)
	if got := browsertest.Eval[string](tab, "document.activeElement.id"); got != "card_number" {
		t.Errorf("the link of a fault leads to %q, want the field", got)
	}
}

func withTrial(p *stripe.CheckoutSessionCreateParams) {
	p.SubscriptionData = &stripe.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: stripe.Int64(14)}
	p.PaymentMethodCollection = stripe.String("always")
}

func withShipping(p *stripe.CheckoutSessionCreateParams) {
	p.ShippingAddressCollection = &stripe.CheckoutSessionCreateShippingAddressCollectionParams{
		AllowedCountries: stripe.StringSlice([]string{"US", "DE"}),
	}
	for _, rate := range []struct {
		name   string
		amount int64
	}{{"Standard", 500}, {"Express", 1500}} {
		p.ShippingOptions = append(p.ShippingOptions, &stripe.CheckoutSessionCreateShippingOptionParams{
			ShippingRateData: &stripe.CheckoutSessionCreateShippingOptionShippingRateDataParams{
				DisplayName: &rate.name, Type: stripe.String("fixed_amount"),
				FixedAmount: &stripe.CheckoutSessionCreateShippingOptionShippingRateDataFixedAmountParams{
					Amount: &rate.amount, Currency: stripe.String("usd"),
				},
				DeliveryEstimate: &stripe.CheckoutSessionCreateShippingOptionShippingRateDataDeliveryEstimateParams{
					Minimum: &stripe.CheckoutSessionCreateShippingOptionShippingRateDataDeliveryEstimateMinimumParams{
						Unit: stripe.String("business_day"), Value: stripe.Int64(3),
					},
					Maximum: &stripe.CheckoutSessionCreateShippingOptionShippingRateDataDeliveryEstimateMaximumParams{
						Unit: stripe.String("business_day"), Value: stripe.Int64(7),
					},
				},
			},
		})
	}
}

// TestDoubleSubmitInBrowser presses the button twice before the response is there.
func TestDoubleSubmitInBrowser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tab := browsertest.Start(t).Tab(t, browsertest.Options{})
	o := w.open(t, "price_test_prompt_handbook")
	tab.Open(o.URL)
	fill(tab, "4242424242424242")
	tab.DoublePress(payButton)
	landed(t, tab, w, o)
	if charges := w.charges(t); charges != 1 {
		t.Errorf("charges after a double submit = %d, want 1", charges)
	}
}

// TestShots keeps pictures of each page for the eye; it asserts that nothing
// scrolls sideways on a phone.
func TestShots(t *testing.T) {
	t.Parallel()
	w := setup(t)
	browser := browsertest.Start(t)
	full := w.open(t, "price_test_home_box", withShipping, func(p *stripe.CheckoutSessionCreateParams) {
		p.AutomaticTax = &stripe.CheckoutSessionCreateAutomaticTaxParams{Enabled: new(true)}
		p.BillingAddressCollection = stripe.String("required")
	})
	trial := w.open(t, "price_test_assistant_pro_monthly", withTrial)
	simple := w.open(t, "price_test_prompt_handbook")
	screens := map[string]browsertest.Options{
		"desktop-light": {}, "desktop-dark": {Dark: true},
		"phone-light": browsertest.Phone(), "phone-dark": {Width: 360, Height: 740, Mobile: true, Dark: true},
	}
	for name, opts := range screens {
		t.Run(name, func(t *testing.T) {
			tab := browser.Tab(t, opts)
			shot := func(what string) {
				t.Helper()
				if wide := browsertest.Eval[int](tab,
					"document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide > 0 {
					t.Errorf("%s scrolls sideways by %d pixels", what, wide)
				}
				tab.Shot(strings.ReplaceAll(name+"-"+what, " ", "-"))
			}
			tab.Open(full.URL)
			shot("hardware")
			tab.Press(payButton)
			shot("faults")
			tab.Open(trial.URL)
			shot("trial")
			tab.Open(simple.URL)
			fill(tab, "4000000000000002")
			tab.Press(payButton)
			shot("declined")
			typeCard(tab, "4000002500003155")
			tab.Press(payButton)
			shot("question")
			tab.Open(w.url + "/stripe/c/pay/cs_test_nothing")
			shot("unknown")
			tab.Open(w.url + "/")
			shot("index")
		})
	}
}
