package stripeapi

import (
	"context"
	"net/http"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
)

// routes is every path of the API.
func (s *server) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/account", s.read(account))

	mux.HandleFunc("GET /v1/products", s.read(list(object.KindProduct, productFilter)))
	mux.HandleFunc("POST /v1/products", s.write(createProduct))
	mux.HandleFunc("GET /v1/products/{id}", s.read(get(object.KindProduct, "id")))
	mux.HandleFunc("POST /v1/products/{id}", s.write(updateProduct))

	mux.HandleFunc("GET /v1/prices", s.read(list(object.KindPrice, priceFilter)))
	mux.HandleFunc("POST /v1/prices", s.write(createPrice))
	mux.HandleFunc("GET /v1/prices/{id}", s.read(get(object.KindPrice, "price")))
	mux.HandleFunc("POST /v1/prices/{id}", s.write(updatePrice))

	mux.HandleFunc("GET /v1/checkout/sessions", s.read(list(object.KindSession, sessionFilter)))
	mux.HandleFunc("POST /v1/checkout/sessions", s.write(s.createSession))
	mux.HandleFunc("GET /v1/checkout/sessions/{id}", s.read(get(object.KindSession, "session")))
	mux.HandleFunc("GET /v1/checkout/sessions/{id}/line_items", s.read(sessionLines))
	mux.HandleFunc("POST /v1/checkout/sessions/{id}/expire", s.write(expireSession))

	mux.HandleFunc("GET /v1/payment_intents", s.read(list(object.KindIntent, byCustomer)))
	mux.HandleFunc("GET /v1/payment_intents/{id}", s.read(get(object.KindIntent, "intent")))
	mux.HandleFunc("GET /v1/charges", s.read(list(object.KindCharge, chargeFilter)))
	mux.HandleFunc("GET /v1/charges/{id}", s.read(get(object.KindCharge, "charge")))
	mux.HandleFunc("GET /v1/refunds", s.read(list(object.KindRefund, refundFilter)))
	mux.HandleFunc("POST /v1/refunds", s.write(createRefund))
	mux.HandleFunc("GET /v1/refunds/{id}", s.read(get(object.KindRefund, "refund")))

	mux.HandleFunc("GET /v1/customers", s.read(list(object.KindCustomer, customerFilter)))
	mux.HandleFunc("GET /v1/customers/{id}", s.read(get(object.KindCustomer, "id")))
	mux.HandleFunc("GET /v1/subscriptions", s.read(list(object.KindSubscription, subscriptionFilter)))
	mux.HandleFunc("GET /v1/subscriptions/{id}", s.read(get(object.KindSubscription, "id")))
	mux.HandleFunc("DELETE /v1/subscriptions/{id}", s.write(cancelSubscription))
	mux.HandleFunc("GET /v1/invoices", s.read(list(object.KindInvoice, invoiceFilter)))
	mux.HandleFunc("GET /v1/invoices/{id}", s.read(get(object.KindInvoice, "invoice")))
	mux.HandleFunc("GET /v1/shipping_rates", s.read(list(object.KindShippingRate, shippingRateFilter)))
	mux.HandleFunc("GET /v1/shipping_rates/{id}", s.read(get(object.KindShippingRate, "shipping_rate_token")))

	mux.HandleFunc("GET /v1/events", s.read(list(object.KindEvent, eventFilter)))
	mux.HandleFunc("GET /v1/events/{id}", s.read(get(object.KindEvent, "id")))
	mux.HandleFunc("GET /v1/webhook_endpoints", s.read(list(object.KindEndpoint, noFilter)))
	mux.HandleFunc("POST /v1/webhook_endpoints", s.write(createEndpoint))
	mux.HandleFunc("GET /v1/webhook_endpoints/{id}", s.read(get(object.KindEndpoint, "webhook_endpoint")))
	mux.HandleFunc("DELETE /v1/webhook_endpoints/{id}", s.write(deleteEndpoint))

	mux.HandleFunc("/", s.unknownRoute)
}

// unknownRoute returns other paths and methods.
func (s *server) unknownRoute(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, &object.Error{
		Status: http.StatusNotFound, Type: object.TypeInvalidRequest, Refused: true,
		Message: "Unrecognized request URL (" + r.Method + ": " + r.URL.Path +
			"). The sandbox speaks a part of the API only; " +
			"see the package documentation of internal/sandbox/stripeapi for the list.",
	})
}

// get reads one object of a kind; param is what an error blames.
func get(kind, param string) readFunc {
	return func(ctx context.Context, v payments.View, c *call) (any, error) {
		if err := c.form.Err(); err != nil {
			return nil, err
		}
		return v.Get(ctx, kind, c.id(), param)
	}
}

// filterFunc reads the parameters of a list beside the common ones.
type filterFunc func(c *call, q *payments.Query) error

func list(kind string, filter filterFunc) readFunc {
	return func(ctx context.Context, v payments.View, c *call) (any, error) {
		q, err := query(c.form)
		if err != nil {
			return nil, err
		}
		if err := filter(c, &q); err != nil {
			return nil, err
		}
		if err := c.form.Err(); err != nil {
			return nil, err
		}
		data, more, err := v.List(ctx, kind, q)
		if err != nil {
			return nil, err
		}
		return object.NewList(c.r.URL.Path, data, more), nil
	}
}

func account(_ context.Context, _ payments.View, c *call) (any, error) {
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return map[string]any{
		"id": payments.AccountID, "object": "account", "business_profile": map[string]any{"name": "ACE sandbox"},
		"charges_enabled": true, "country": "US", "default_currency": "usd", "details_submitted": true,
		"metadata":        map[string]string{"mode": "sandbox"},
		"payouts_enabled": false, "type": "standard",
		"settings": map[string]any{"dashboard": map[string]any{"display_name": "ACE sandbox, no real money"}},
	}, nil
}
