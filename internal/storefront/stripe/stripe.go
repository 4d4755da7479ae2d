// Package stripe reads offers and hosts checkout pages at Stripe, or at
// anything that offers the same part of its API, like the sandbox.
//
//	offer.Source        prices + products -> offers             offers.go
//	checkout.Processor  checkout sessions -> pages              pages.go
//	order.Processor     refunds, the buyer of a page            refunds.go
//	webhook             signed events -> checkout.Event         webhook.go
//
// Amounts are converted here: Stripe counts some currencies
// differently than ISO 4217 (amounts.go). Rules: https://docs.stripe.com/api
// (API release 2026-03-25.dahlia, the one of stripe-go v85).
package stripe

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"ace/internal/foundation/problem"
)

// Client talks to one account. It is safe for concurrent use.
type Client struct {
	api  *stripego.Client
	opts Options
}

// Options tunes a Client.
type Options struct {
	// BaseURL is the URL of the API. Empty: Stripe's own.
	BaseURL string
	// HTTPClient makes the calls. Nil: stripe-go's own, with its deadline.
	HTTPClient *http.Client
	// Mode is what the catalog says about this processor: "live", "test" or
	// "sandbox".
	Mode string
	// AllOffers sells every active price. Otherwise only those whose price or
	// product has the metadata agent_offer=true.
	AllOffers bool
	// StoreName is the name that the page shows. Empty: that of the account.
	StoreName string
	// AutomaticTax lets Stripe compute tax on the page.
	AutomaticTax bool
	// WebhookSecrets verify events; during a rotation there are two.
	WebhookSecrets []string
	// ListLimit bounds one part of the list of changed pages. Zero: 100, the most
	// that Stripe allows.
	ListLimit int64
}

// New returns a client that uses the secret key. It returns an error for a
// BaseURL that is no URL.
func New(key string, opts Options) (*Client, error) {
	config := &stripego.BackendConfig{
		HTTPClient: opts.HTTPClient,
		// Errors come back as values and are logged once, by the caller.
		LeveledLogger:     &stripego.LeveledLogger{Level: stripego.LevelNull},
		MaxNetworkRetries: stripego.Int64(2),
		EnableTelemetry:   stripego.Bool(false),
	}
	if opts.BaseURL != "" {
		origin, client, err := split(opts.BaseURL, opts.HTTPClient)
		if err != nil {
			return nil, err
		}
		config.URL, config.HTTPClient = stripego.String(origin), client
	}
	backends := stripego.NewBackendsWithConfig(config)
	return &Client{api: stripego.NewClient(key, stripego.WithBackends(backends)), opts: opts}, nil
}

// unavailable says that the outcome of a call is not known.
func unavailable() *problem.Problem {
	return problem.New(problem.Unavailable, "processor_unavailable",
		"The payment processor does not respond right now. Nothing was charged; try again in a few seconds.").After(5 *
		time.Second)
}

// classify turns an error of stripe-go into refused, if Stripe understood the
// call and will never do it, or into processor_unavailable, if the same call
// may succeed later. What Stripe says stays in the wrapped error, for the log.
func classify(err error, doing string, refused *problem.Problem) error {
	if err == nil {
		return nil
	}
	var api *stripego.Error
	final := errors.As(err, &api) && api.HTTPStatusCode >= 400 && api.HTTPStatusCode < 500 &&
		api.HTTPStatusCode != http.StatusConflict && api.HTTPStatusCode != http.StatusTooManyRequests &&
		api.HTTPStatusCode != http.StatusUnauthorized
	cause := unavailable()
	if final {
		cause = refused
	}
	return fmt.Errorf("%s: %w (%w)", doing, cause, summary(err))
}

// summary is what is safe to log of an error: Stripe's own words can quote
// parameters.
func summary(err error) error {
	var api *stripego.Error
	var known *problem.Problem
	switch {
	case errors.As(err, &known):
		return fmt.Errorf("no response: %s", known.Code)
	case !errors.As(err, &api):
		return fmt.Errorf("no response: %T", errors.Unwrap(err))
	}
	return fmt.Errorf("status %d, type %s, code %s, param %s, request %s", api.HTTPStatusCode, api.Type, api.Code,
		api.Param, api.RequestID)
}

// burnt reports whether Stripe will respond to this idempotency key in the same
// way for ever, whatever was done under it: it repeats its own failures, and
// refuses a key whose parameters differ, as after a change of the base URL.
func burnt(err error) bool {
	var api *stripego.Error
	return errors.As(err, &api) && (api.HTTPStatusCode >= 500 || api.Type == stripego.ErrorTypeIdempotency)
}
