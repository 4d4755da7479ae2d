package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/sandbox/stripemocktest"
)

// TestAgainstPublishedAPI sends each form that the sandbox takes to both, and
// each form with an unknown parameter too: they must agree on what is a valid
// call.
func TestAgainstPublishedAPI(t *testing.T) {
	t.Parallel()
	mock := &world{url: stripemocktest.Start(t)}
	w := setup(t)
	pay := "mode=payment&success_url=https://shop.example/done&line_items[0][price]=price_test_home_box" +
		"&line_items[0][quantity]=1"
	subscribe := "mode=subscription&success_url=https://shop.example/done" +
		"&line_items[0][price]=price_test_assistant_pro_monthly&line_items[0][quantity]=1"
	rate := "shipping_options[0][shipping_rate_data]"
	paid := w.open(t, "price_test_prompt_handbook")
	newPerson(t).pay(t, paid.URL, card("4242424242424242"))
	sub := w.open(t, "price_test_assistant_pro_monthly", withTrial)
	newPerson(t).pay(t, sub.URL, card("4242424242424242"))
	got, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), sub.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := w.stripe.V1CheckoutSessions.Retrieve(t.Context(), paid.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	intent := read.PaymentIntent.ID
	tests := []struct{ name, method, path, form string }{
		{"account", "GET", "/v1/account", ""},
		{
			"products",
			"GET",
			"/v1/products?active=true&ids[0]=prod_test_home_box&limit=3&shippable=true&created[gte]=1",
			"",
		},
		{"product", "GET", "/v1/products/prod_test_home_box?expand[0]=default_price", ""},
		{
			"make product",
			"POST",
			"/v1/products",
			"name=Lamp&description=It+glows&active=true&shippable=true&url=https://shop.example/lamp" +
				"&images[0]=https://shop.example/lamp.png&metadata[agent_offer]=true&tax_code=txcd_10000000" +
				"&unit_label=piece&statement_descriptor=LAMP&id=prod_lamp",
		},
		{
			"change product", "POST", "/v1/products/prod_test_home_box",
			"name=Box&description=&active=true&metadata[x]=&default_price=price_test_home_box",
		},
		{
			"prices",
			"GET",
			"/v1/prices?active=true&product=prod_test_home_box&type=one_time&currency=usd&lookup_keys[0]=home_box" +
				"&limit=100&expand[0]=data.product",
			"",
		},
		{"recurring prices", "GET", "/v1/prices?recurring[interval]=month&created[lt]=4000000000", ""},
		{"price", "GET", "/v1/prices/price_test_home_box?expand[0]=product", ""},
		{
			"make price",
			"POST",
			"/v1/prices",
			"currency=usd&unit_amount=100&product=prod_test_home_box&nickname=x&lookup_key=k1" +
				"&transfer_lookup_key=true&tax_behavior=exclusive&active=true&metadata[a]=b" +
				"&billing_scheme=per_unit&recurring[interval]=month&recurring[interval_count]=2" +
				"&recurring[usage_type]=licensed&recurring[trial_period_days]=14",
		},
		{
			"make price and product",
			"POST",
			"/v1/prices",
			"currency=usd&unit_amount=100&product_data[name]=Lamp&product_data[active]=true" +
				"&product_data[metadata][a]=b&product_data[tax_code]=txcd_10000000&product_data[unit_label]=x" +
				"&product_data[statement_descriptor]=LAMP&product_data[id]=prod_lamp2",
		},
		{
			"change price",
			"POST",
			"/v1/prices/price_test_home_box",
			"active=true&nickname=Box&metadata[a]=b&lookup_key=home_box&transfer_lookup_key=true" +
				"&tax_behavior=exclusive",
		},
		{
			"pay session", "POST", "/v1/checkout/sessions",
			pay +
				"&client_reference_id=chk_1&metadata[checkout_id]=chk_1" +
				"&payment_intent_data[metadata][checkout_id]=chk_1&payment_intent_data[description]=x" +
				"&cancel_url=https://shop.example/&customer_email=ada@example.com&locale=de" +
				"&billing_address_collection=required&automatic_tax[enabled]=true&currency=usd" +
				"&customer_creation=always&payment_method_types[0]=card&payment_method_types[1]=us_bank_account" +
				"&ui_mode=hosted_page&expand[0]=line_items&line_items[0][metadata][a]=b",
		},
		{
			"shipped session", "POST", "/v1/checkout/sessions",
			pay +
				"&shipping_address_collection[allowed_countries][0]=US" +
				"&shipping_address_collection[allowed_countries][1]=DE&" +
				rate + "[display_name]=Standard&" +
				rate + "[type]=fixed_amount&" +
				rate + "[fixed_amount][amount]=500&" +
				rate + "[fixed_amount][currency]=usd&" +
				rate + "[delivery_estimate][minimum][unit]=business_day&" +
				rate + "[delivery_estimate][minimum][value]=3&" +
				rate + "[delivery_estimate][maximum][unit]=business_day&" +
				rate + "[delivery_estimate][maximum][value]=7&" +
				rate + "[tax_behavior]=exclusive&" +
				rate + "[tax_code]=txcd_92010001&" +
				rate + "[metadata][a]=b",
		},
		{
			"trial session", "POST", "/v1/checkout/sessions",
			subscribe +
				"&payment_method_collection=if_required&subscription_data[trial_period_days]=14" +
				"&subscription_data[metadata][a]=b&subscription_data[description]=x" +
				"&subscription_data[trial_settings][end_behavior][missing_payment_method]=cancel",
		},
		{
			"sessions",
			"GET",
			"/v1/checkout/sessions?status=open&created[gte]=1&limit=5&customer_details[email]=ada@example.com" +
				"&payment_intent=" + intent + "&expand[0]=data.line_items",
			"",
		},
		{"sessions of a subscription", "GET", "/v1/checkout/sessions?subscription=sub_1&customer=cus_1", ""},
		{
			"session", "GET",
			"/v1/checkout/sessions/" + paid.ID +
				"?expand[0]=line_items.data.price.product&expand[1]=payment_intent.latest_charge&expand[2]=customer",
			"",
		},
		{
			"subscription session", "GET",
			"/v1/checkout/sessions/" + sub.ID +
				"?expand[0]=subscription.latest_invoice&expand[1]=customer&expand[2]=invoice", "",
		},
		{"lines", "GET", "/v1/checkout/sessions/" + paid.ID + "/line_items?limit=10", ""},
		{"payment intent", "GET", "/v1/payment_intents/" + intent + "?expand[0]=latest_charge", ""},
		{"payment intents", "GET", "/v1/payment_intents?customer=cus_1&created[gt]=1", ""},
		{"charges", "GET", "/v1/charges?payment_intent=" + intent + "&customer=cus_1&created[lte]=4000000000", ""},
		{"refunds", "GET", "/v1/refunds?payment_intent=" + intent + "&charge=ch_1&created[gte]=1", ""},
		{
			"refund", "POST", "/v1/refunds",
			"payment_intent=" + intent + "&amount=100&reason=requested_by_customer&metadata[a]=b",
		},
		{"customers", "GET", "/v1/customers?email=ada@example.com&created[gte]=1", ""},
		{"customer", "GET", "/v1/customers/" + got.Customer.ID, ""},
		{"subscriptions", "GET", "/v1/subscriptions?customer=" + got.Customer.ID + "&status=all&created[gte]=1", ""},
		{
			"subscription", "GET",
			"/v1/subscriptions/" + got.Subscription.ID + "?expand[0]=latest_invoice&expand[1]=customer", "",
		},
		{"cancel subscription", "DELETE", "/v1/subscriptions/" + got.Subscription.ID, ""},
		{
			"invoices", "GET",
			"/v1/invoices?subscription=" + got.Subscription.ID + "&status=paid&customer=cus_1&created[gte]=1", "",
		},
		{"invoice", "GET", "/v1/invoices/" + got.Invoice.ID + "?expand[0]=customer", ""},
		{"shipping rates", "GET", "/v1/shipping_rates?active=true&currency=usd&created[gte]=1", ""},
		{
			"events", "GET",
			"/v1/events?types[0]=checkout.session.completed&types[1]=checkout.session.expired&created[gte]=1&limit=10",
			"",
		},
		{"events of one type", "GET", "/v1/events?type=checkout.session.completed", ""},
		{
			"make endpoint",
			"POST",
			"/v1/webhook_endpoints",
			"url=https://shop.example/hook&enabled_events[0]=checkout.session.completed&description=x" +
				"&metadata[a]=b&api_version=2026-03-25.dahlia",
		},
		{"endpoints", "GET", "/v1/webhook_endpoints?limit=5", ""},
		{
			"expire", "POST", "/v1/checkout/sessions/" + w.open(t, "price_test_home_box").ID + "/expire",
			"expand[0]=line_items",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			compare(t, mock, w, tt.method, tt.path, tt.form, http.StatusOK)
			switch {
			case tt.method == http.MethodPost:
				form := strings.TrimPrefix(tt.form+"&surprise=1", "&")
				compare(t, mock, w, tt.method, tt.path, form, http.StatusBadRequest)
			case strings.Contains(tt.path, "?"):
				compare(t, mock, w, tt.method, tt.path+"&surprise=1", "", http.StatusBadRequest)
			default:
				compare(t, mock, w, tt.method, tt.path+"?surprise=1", "", http.StatusBadRequest)
			}
		})
	}
	for _, unknown := range []string{
		"metadata=1", "automatic_tax[surprise]=1",
		"shipping_address_collection[surprise]=1", "expires_at=soon", "line_items[0][quantity]=many",
		"automatic_tax[enabled]=maybe",
	} {
		t.Run(unknown, func(t *testing.T) {
			compare(t, mock, w, http.MethodPost, "/v1/checkout/sessions", pay+"&"+unknown, http.StatusBadRequest)
		})
	}
}

func compare(t *testing.T, mock, w *world, method, path, form string, want int) {
	t.Helper()
	for name, target := range map[string]*world{"stripe-mock": mock, "sandbox": w} {
		got, err := target.try(t.Context(), method, path,
			form, map[string]string{"Stripe-Version": "2026-03-25.dahlia"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.status != want {
			t.Errorf("%s: %s %s with %q = %d %s, want %d", name, method, path, form, got.status, cut(got.body), want)
		}
	}
}

func cut(s string) string {
	if len(s) > 600 {
		return s[:600] + "…"
	}
	return s
}
