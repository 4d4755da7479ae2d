package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"
)

// code returns status, type, code and parameter of an error of the API.
func code(t *testing.T, err error) [4]any {
	t.Helper()
	var e *stripe.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want one of the API", err)
	}
	return [4]any{e.HTTPStatusCode, string(e.Type), string(e.Code), e.Param}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	w := setup(t)
	params := &stripe.PriceListParams{Active: new(true)}
	params.Limit = stripe.Int64(3) // several pages
	params.AddExpand("data.product")
	got := map[string]string{}
	for p, err := range w.stripe.V1Prices.List(t.Context(), params).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		interval := ""
		if p.Recurring != nil {
			interval = " " + string(p.Recurring.Interval)
		}
		got[p.LookupKey] = strings.Join([]string{
			p.Product.Name, string(p.Currency), p.Metadata["category"],
			p.Metadata["agent_offer"],
		}, ", ") + interval
		if p.Livemode || p.UnitAmount == 0 || p.Product.Description == "" || p.Nickname == "" {
			t.Errorf("price %s = livemode %v, amount %d, description %q, nickname %q", p.ID, p.Livemode, p.UnitAmount,
				p.Product.Description, p.Nickname)
		}
	}
	want := map[string]string{
		"assistant_pro_monthly": "Assistant Pro, usd, software, true month",
		"assistant_pro_yearly":  "Assistant Pro, usd, software, true year",
		"prompt_handbook":       "Prompt Handbook, usd, software, true",
		"home_box":              "Home Box, usd, hardware, true",
		"founders_mug":          "Founders Mug, usd, hardware, true",
		"prompt_handbook_jp":    "Prompt Handbook, Japanese edition, jpy, software, true",
		"setup_call":            "Setup Call, usd, service, true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("catalogue (-want +got):\n%s", diff)
	}
}

func TestPriceFilters(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if _, err := w.stripe.V1Prices.Update(t.Context(), "price_test_founders_mug",
		&stripe.PriceUpdateParams{Active: new(false)}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		params stripe.PriceListParams
		want   []string
	}{
		{
			"product",
			stripe.PriceListParams{Product: stripe.String("prod_test_assistant_pro")},
			[]string{"assistant_pro_yearly", "assistant_pro_monthly"},
		},
		{"currency", stripe.PriceListParams{Currency: stripe.String("jpy")}, []string{"prompt_handbook_jp"}},
		{
			"type",
			stripe.PriceListParams{Type: stripe.String("recurring")},
			[]string{"assistant_pro_yearly", "assistant_pro_monthly"},
		},
		{
			"lookup keys",
			stripe.PriceListParams{LookupKeys: stripe.StringSlice([]string{"home_box", "nothing", "prompt_handbook"})},
			[]string{"home_box", "prompt_handbook"},
		},
		{"inactive", stripe.PriceListParams{Active: new(false)}, []string{"founders_mug"}},
		{"unknown product", stripe.PriceListParams{Product: stripe.String("prod_nothing")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for p, err := range w.stripe.V1Prices.List(t.Context(), &tt.params).All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, p.LookupKey)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("prices (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangeCatalog(t *testing.T) {
	t.Parallel()
	w := setup(t)
	product, err := w.stripe.V1Products.Create(t.Context(), &stripe.ProductCreateParams{
		Name: stripe.String("Lamp"), Shippable: new(true), Metadata: map[string]string{"a": "1", "b": "2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	product, err = w.stripe.V1Products.Update(t.Context(), product.ID, &stripe.ProductUpdateParams{
		Description: stripe.String("It glows."), Metadata: map[string]string{"a": "", "c": "3"}, Active: new(false),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"b": "2", "c": "3"}, product.Metadata); diff != "" || product.Active ||
		!product.Shippable || product.Description != "It glows." {
		t.Errorf("changed product = %+v (metadata -want +got: %s)", product, diff)
	}
	w.shop.wait(t, stripe.EventTypeProductUpdated)
	moved, err := w.stripe.V1Prices.Create(t.Context(), &stripe.PriceCreateParams{
		Currency: stripe.String("usd"), UnitAmount: stripe.Int64(2500),
		Product:   stripe.String("prod_test_prompt_handbook"),
		LookupKey: stripe.String("prompt_handbook"), TransferLookupKey: new(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.shop.wait(t, stripe.EventTypePriceCreated)
	old, err := w.stripe.V1Prices.Retrieve(t.Context(), "price_test_prompt_handbook", nil)
	if err != nil {
		t.Fatal(err)
	}
	if moved.LookupKey != "prompt_handbook" || old.LookupKey != "" {
		t.Errorf("lookup keys = new %q, old %q, want the key to have moved", moved.LookupKey, old.LookupKey)
	}
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tests := []struct {
		currency string
		amount   int64
		ok       bool
	}{
		{"jpy", 4201, true},
		{"kwd", 1230, true},
		{"kwd", 1234, false}, // the last digit must be zero
		{"isk", 50000, true},
		{"isk", 50050, false}, // has no decimals, is sent with two
		{"ugx", 500, true},
		{"usd", -1, false},
		{"usd", 100_000_000, false},
		{"zzz", 100, false},
		{"USD", 100, false},
	}
	for _, tt := range tests {
		_, err := w.stripe.V1Prices.Create(t.Context(), &stripe.PriceCreateParams{
			Currency: &tt.currency, UnitAmount: &tt.amount, Product: stripe.String("prod_test_home_box"),
		})
		if (err == nil) != tt.ok {
			t.Errorf("price of %d %s = %v, want ok %v", tt.amount, tt.currency, err, tt.ok)
		}
	}
}

func TestSessionRefusals(t *testing.T) {
	t.Parallel()
	w := setup(t)
	bad := func(param, errorCode string) [4]any { return [4]any{400, "invalid_request_error", errorCode, param} }
	type params = stripe.CheckoutSessionCreateParams
	tests := []struct {
		name   string
		price  string
		change func(*params)
		want   [4]any
	}{
		{"no mode", "price_test_home_box", func(p *params) { p.Mode = nil }, bad("mode", "parameter_missing")},
		{"setup mode", "price_test_home_box", func(p *params) { p.Mode = stripe.String("setup") }, bad("mode", "")},
		{
			"no address", "price_test_home_box", func(p *params) { p.SuccessURL = nil },
			bad("success_url", "parameter_missing"),
		},
		{
			"script address", "price_test_home_box",
			func(p *params) { p.SuccessURL = stripe.String("javascript:alert(1)") }, bad("success_url", "url_invalid"),
		},
		{
			"no lines", "price_test_home_box", func(p *params) { p.LineItems = nil },
			bad("line_items", "parameter_missing"),
		},
		{
			"unknown price", "price_nothing",
			nil,
			[4]any{404, "invalid_request_error", "resource_missing", "line_items[0][price]"},
		},
		{
			"no quantity", "price_test_home_box", func(p *params) { p.LineItems[0].Quantity = nil },
			bad("line_items[0][quantity]", "parameter_invalid_integer"),
		},
		{
			"negative quantity", "price_test_home_box", func(p *params) { p.LineItems[0].Quantity = stripe.Int64(-1) },
			bad("line_items[0][quantity]", "parameter_invalid_integer"),
		},
		{
			"recurring price in payment mode", "price_test_assistant_pro_yearly",
			func(p *params) { p.Mode = stripe.String("payment") }, bad("line_items[0][price]", ""),
		},
		{
			"one-time price in subscription mode", "price_test_home_box",
			func(p *params) { p.Mode = stripe.String("subscription") }, bad("mode", ""),
		},
		{
			"expires too soon", "price_test_home_box",
			func(p *params) { p.ExpiresAt = new(time.Now().Add(29 * time.Minute).Unix()) }, bad("expires_at", ""),
		},
		{
			"expires too late", "price_test_home_box",
			func(p *params) { p.ExpiresAt = new(time.Now().Add(25 * time.Hour).Unix()) }, bad("expires_at", ""),
		},
		{
			"bad email", "price_test_home_box", func(p *params) { p.CustomerEmail = stripe.String("ada") },
			bad("customer_email", "email_invalid"),
		},
		{"mixed currencies", "price_test_home_box", func(p *params) {
			p.LineItems = append(p.LineItems,
				&stripe.CheckoutSessionCreateLineItemParams{
					Price:    stripe.String("price_test_prompt_handbook_jp"),
					Quantity: stripe.Int64(1),
				})
		}, bad("line_items[1][price]", "")},
		{"adjustable quantity", "price_test_home_box", func(p *params) {
			p.LineItems[0].AdjustableQuantity = &stripe.CheckoutSessionCreateLineItemAdjustableQuantityParams{
				Enabled: new(true),
			}
		}, bad("line_items[0][adjustable_quantity]", "parameter_unknown")},
		{"no such country", "price_test_home_box", func(p *params) {
			p.ShippingAddressCollection = &stripe.CheckoutSessionCreateShippingAddressCollectionParams{
				AllowedCountries: stripe.StringSlice([]string{"US", "XX"}),
			}
		}, bad("shipping_address_collection[allowed_countries][1]", "")},
		{"trial in payment mode", "price_test_home_box", withTrialOnly, bad("subscription_data", "")},
		{
			"unknown parameter", "price_test_home_box", func(p *params) { p.AddExtra("surprise[x]", "1") },
			bad("surprise", "parameter_unknown"),
		},
		{
			"too much metadata", "price_test_home_box",
			func(p *params) { p.Metadata = map[string]string{strings.Repeat("k", 41): "v"} }, bad("metadata", ""),
		},
		{
			"far too many", "price_test_home_box", func(p *params) { p.LineItems[0].Quantity = stripe.Int64(999_999) },
			bad("line_items", "amount_too_large"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := w.params(tt.price)
			if tt.change != nil {
				tt.change(p)
			}
			_, err := w.stripe.V1CheckoutSessions.Create(t.Context(), p)
			if err == nil {
				t.Fatal("the session was opened, want a refusal")
			}
			if diff := cmp.Diff(tt.want, code(t, err)); diff != "" {
				t.Errorf("error (-want +got):\n%s%v", diff, err)
			}
		})
	}
	if state := w.control(t, http.MethodGet, "state", ""); strings.Contains(state, "checkout.session") {
		t.Errorf("refused calls left a session behind: %s", state)
	}
}

func withTrialOnly(p *stripe.CheckoutSessionCreateParams) {
	p.SubscriptionData = &stripe.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: stripe.Int64(14)}
}

func TestSessionFacts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_home_box", withShipping, func(p *stripe.CheckoutSessionCreateParams) {
		p.ClientReferenceID = stripe.String("chk_1")
		p.Metadata = map[string]string{"checkout_id": "chk_1"}
		p.LineItems[0].Quantity = stripe.Int64(2)
		p.AutomaticTax = &stripe.CheckoutSessionCreateAutomaticTaxParams{Enabled: new(true)}
		p.PaymentIntentData = &stripe.CheckoutSessionCreatePaymentIntentDataParams{
			Metadata: map[string]string{"checkout_id": "chk_1"},
		}
		p.AddExpand("line_items.data.price.product")
	})
	got := [...]int64{o.AmountSubtotal, o.TotalDetails.AmountShipping, o.TotalDetails.AmountTax, o.AmountTotal}
	if want := [...]int64{29800, 500, 2980, 33280}; got != want {
		t.Errorf("subtotal, shipping, tax, total = %v, want %v", got, want)
	}
	if name := o.LineItems.Data[0].Price.Product.Name; name != "Home Box" || o.ClientReferenceID != "chk_1" ||
		!strings.HasPrefix(o.ID, "cs_test_") {
		t.Errorf("session = %s, reference %q, product %q", o.ID, o.ClientReferenceID, name)
	}
	form := with(card("4242424242424242"), "shipping_name", "Ada", "shipping_line1", "1 Main St", "shipping_city",
		"Reno", "shipping_state", "NV",
		"shipping_postal_code", "89501", "shipping_country", "US")
	if page := newPerson(t).pay(t, o.URL, form); page.status != http.StatusSeeOther {
		t.Fatalf("paying = %d\n%s", page.status, page.body)
	}
	params := &stripe.CheckoutSessionRetrieveParams{}
	params.AddExpand("payment_intent.latest_charge")
	paid, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), o.ID, params)
	if err != nil {
		t.Fatal(err)
	}
	charge := paid.PaymentIntent.LatestCharge
	if charge.Amount != 33280 || !charge.Paid || charge.PaymentMethodDetails.Card.Last4 != "4242" ||
		paid.PaymentIntent.Metadata["checkout_id"] != "chk_1" {
		t.Errorf("charge = %+v of %+v", charge, paid.PaymentIntent)
	}
	var lines []string
	for l, err := range w.stripe.V1CheckoutSessions.ListLineItems(t.Context(),
		&stripe.CheckoutSessionListLineItemsParams{Session: &o.ID}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l.Description)
	}
	if diff := cmp.Diff([]string{"Home Box"}, lines); diff != "" {
		t.Errorf("line items (-want +got):\n%s", diff)
	}
}

func TestSubscription(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_assistant_pro_monthly", withTrial)
	if page := newPerson(t).pay(t, o.URL, card("4000000000000341")); page.status != http.StatusSeeOther {
		t.Fatalf("starting a trial = %d\n%s", page.status, page.body)
	}
	params := &stripe.CheckoutSessionRetrieveParams{}
	params.AddExpand("subscription.latest_invoice")
	params.AddExpand("customer")
	got, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), o.ID, params)
	if err != nil {
		t.Fatal(err)
	}
	if got.PaymentStatus != "no_payment_required" || got.Subscription.Status != "trialing" ||
		got.Customer.Email != "ada@example.com" || got.Subscription.LatestInvoice.Total != 0 {
		t.Errorf("trial = %s, %s, %s", got.PaymentStatus, got.Subscription.Status, got.Customer.Email)
	}
	w.shop.wait(t, stripe.EventTypeCustomerSubscriptionCreated)
	// The card can be saved; the charge after the trial fails.
	w.control(t, http.MethodPost, "advance", `{"seconds": 1209660}`)
	sub, err := w.stripe.V1Subscriptions.Retrieve(t.Context(), got.Subscription.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if sub.Status != stripe.SubscriptionStatusPastDue || w.charges(t) != 0 {
		t.Errorf("after the trial = %s with %d charges, want past_due with none", sub.Status, w.charges(t))
	}
	ended, err := w.stripe.V1Subscriptions.Cancel(t.Context(), sub.ID, nil)
	if err != nil || ended.Status != stripe.SubscriptionStatusCanceled {
		t.Errorf("cancelling = %+v, %v", ended, err)
	}
	w.shop.wait(t, stripe.EventTypeCustomerSubscriptionDeleted)
	if _, err := w.stripe.V1Subscriptions.Cancel(t.Context(), sub.ID, nil); err == nil {
		t.Error("cancelling twice worked, want a refusal")
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_assistant_pro_yearly")
	newPerson(t).pay(t, o.URL, card("4242424242424242"))
	if got := w.paymentStatus(t, o); got != "complete paid" {
		t.Fatalf("session = %s, want complete paid", got)
	}
	w.control(t, http.MethodPost, "advance", `{"seconds": 64000000}`) // two years and ten days
	if got := w.charges(t); got != 3 {
		t.Errorf("charges after two years = %d, want 3", got)
	}
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	o := w.open(t, "price_test_prompt_handbook")
	newPerson(t).pay(t, o.URL, card("4242424242424242"))
	paid, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), o.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	intent := paid.PaymentIntent.ID
	refund := func(amount int64, key string) (*stripe.Refund, error) {
		p := &stripe.RefundCreateParams{PaymentIntent: &intent, Amount: &amount}
		p.IdempotencyKey = &key
		return w.stripe.V1Refunds.Create(t.Context(), p)
	}
	first, err := refund(1000, "r1")
	if err != nil || first.Status != stripe.RefundStatusSucceeded {
		t.Fatalf("refund = %+v, %v", first, err)
	}
	again, err := refund(1000, "r1")
	if err != nil || again.ID != first.ID {
		t.Errorf("the same refund again = %+v, %v, want %s", again, err, first.ID)
	}
	w.shop.wait(t, stripe.EventTypeChargeRefunded)
	if _, err := refund(1901, "r2"); err == nil || code(t, err)[3] != "amount" {
		t.Errorf("refunding more than is left = %v, want a refusal", err)
	}
	rest, err := w.stripe.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{PaymentIntent: &intent})
	if err != nil || rest.Amount != 1900 {
		t.Errorf("refunding the rest = %+v, %v, want 1900", rest, err)
	}
	if _, err := w.stripe.V1Refunds.Create(t.Context(), &stripe.RefundCreateParams{Charge: &rest.Charge.ID}); err ==
		nil || code(t, err)[2] != "charge_already_refunded" {
		t.Errorf("refunding again = %v, want charge_already_refunded", err)
	}
	charge, err := w.stripe.V1Charges.Retrieve(t.Context(), rest.Charge.ID, nil)
	if err != nil || charge.AmountRefunded != 2900 || !charge.Refunded {
		t.Errorf("charge = %+v, %v, want refunded", charge, err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	open := setup(t)
	closed := setup(t, func(o *Options) { o.StripeKeys = []string{"sk_test_one", "sk_test_two"} })
	tests := []struct {
		name, auth string
		w          *world
		want       int
	}{
		{"any test key", "Bearer sk_test_abc", open, 200},
		{"no key", "", open, 401},
		{"live key", "Bearer sk_live_abc", open, 401},
		{"publishable key", "Bearer pk_test_abc", open, 401},
		{"odd key", "Bearer sk_test_a b", open, 401},
		{"configured key", "Bearer sk_test_two", closed, 200},
		{"another key", "Bearer sk_test_three", closed, 401},
		{"key as user name", "Basic c2tfdGVzdF9vbmU6", closed, 200},
	}
	for _, tt := range tests {
		resp := tt.w.call(t, http.MethodGet, "/stripe/v1/account", "", map[string]string{"Authorization": tt.auth})
		if resp.status != tt.want || resp.header.Get("Ace-Sandbox") != "true" || resp.header.Get("Request-Id") == "" {
			t.Errorf("%s = %d %v, want %d", tt.name, resp.status, resp.header, tt.want)
		}
		if tt.want == 200 && !strings.Contains(resp.body, "acct_sandbox") {
			t.Errorf("account = %s, want acct_sandbox", resp.body)
		}
	}
}

// call makes a plain HTTP call.
func (w *world) call(t *testing.T, method, path, form string, header map[string]string) seen {
	t.Helper()
	s, err := w.try(t.Context(), method, path, form, header)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) try(ctx context.Context, method, path, form string, header map[string]string) (seen, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(form))
	if err != nil {
		return seen{}, err
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return seen{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return seen{status: resp.StatusCode, body: string(body), header: resp.Header}, err
}

func TestPlainErrors(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tests := []struct {
		name, method, path, form string
		header                   map[string]string
		status                   int
		want                     string
	}{
		{"unknown path", "GET", "/v1/nothing", "", nil, 404, "Unrecognized request URL"},
		{"wrong method", "DELETE", "/v1/prices", "", nil, 404, "Unrecognized request URL"},
		{"unknown id", "GET", "/v1/prices/price_x", "", nil, 404, "resource_missing"},
		{"id of another kind", "GET", "/v1/prices/prod_test_home_box", "", nil, 404, "resource_missing"},
		{
			"JSON body", "POST", "/v1/products", `{"name":"x"}`,
			map[string]string{"Content-Type": "application/json"},
			400, "application/x-www-form-urlencoded",
		},
		{"broken escape", "POST", "/v1/products", "name=%zz", nil, 400, "hexadecimal"},
		{"open bracket", "POST", "/v1/products", "metadata[k=1", nil, 400, "brackets"},
		{"value and object", "POST", "/v1/products", "name=x&name[y]=z", nil, 400, "both as a value and as an object"},
		{"limit of zero", "GET", "/v1/prices?limit=0", "", nil, 400, "Invalid limit"},
		{"limit in words", "GET", "/v1/prices?limit=ten", "", nil, 400, "parameter_invalid_integer"},
		{"unknown query", "GET", "/v1/prices?colour=red", "", nil, 400, "parameter_unknown"},
		{"no expansion", "GET", "/v1/prices/price_test_home_box?expand[]=colour", "", nil, 400, "cannot be expanded"},
		{"cursor of nothing", "GET", "/v1/prices?starting_after=price_x", "", nil, 404, "resource_missing"},
		{"changed amount", "POST", "/v1/prices/price_test_home_box", "unit_amount=1", nil, 400, "parameter_unknown"},
		{
			"lookup key in use", "POST", "/v1/prices/price_test_home_box", "lookup_key=prompt_handbook", nil,
			400, "already uses that lookup key",
		},
		{"too large", "POST", "/v1/products", "name=" + strings.Repeat("x", 2<<20), nil, 413, "one megabyte"},
		{
			"event that is not sent", "POST", "/v1/webhook_endpoints",
			"url=http://127.0.0.1:1/&enabled_events[]=charge.dispute.created", nil, 400, "enabled_events",
		},
		{
			"endpoint without scheme", "POST", "/v1/webhook_endpoints", "url=shop&enabled_events[]=*", nil, 400,
			"url_invalid",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := w.call(t, tt.method, "/stripe"+tt.path, tt.form, tt.header)
			if got.status != tt.status || !strings.Contains(got.body, tt.want) || !strings.Contains(got.body,
				`"type": "invalid_request_error"`) {
				t.Errorf("answer = %d %s, want %d with %q", got.status, got.body, tt.status, tt.want)
			}
		})
	}
}
