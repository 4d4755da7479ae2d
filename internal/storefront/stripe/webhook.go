package stripe

import (
	"encoding/json"
	"fmt"
	"strings"

	stripego "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
)

// pageEvents are the events that report how a page ended.
func pageEvents() []string {
	return []string{
		"checkout.session.completed", "checkout.session.async_payment_succeeded",
		"checkout.session.async_payment_failed", "checkout.session.expired",
	}
}

// ParseEvent verifies a message over its raw bytes and reads what it is about.
// It returns signature_invalid (Malformed): Stripe shows a 400 to the operator
// and tries again.
func (c *Client) ParseEvent(payload []byte, signature string) (checkout.Event, error) {
	for _, secret := range c.opts.WebhookSecrets {
		// Another release train changes fields that are not read here: the event
		// is a hint, and the object is read again with our own version.
		event, err := webhook.ConstructEventWithOptions(payload, signature, secret,
			webhook.ConstructEventOptions{IgnoreAPIVersionMismatch: true})
		if err == nil {
			return toEvent(&event)
		}
	}
	return checkout.Event{}, problem.New(problem.Malformed, "signature_invalid",
		"The Stripe-Signature header does not fit this message. Check the signing secret of the endpoint and the "+
			"clock of this machine.")
}

func toEvent(event *stripego.Event) (checkout.Event, error) {
	e := checkout.Event{ID: event.ID, Type: string(event.Type)}
	kind := string(event.Type)
	switch {
	case strings.HasPrefix(kind, "checkout.session."):
		session, err := sessionOf(event)
		if err != nil {
			return e, err
		}
		e.CheckoutID, e.PageRef = session.ClientReferenceID, session.ID
	case kind == "charge.refunded":
		var charge stripego.Charge
		if err := json.Unmarshal(event.Data.Raw, &charge); err != nil {
			return e, unreadable(err)
		}
		if charge.PaymentIntent != nil {
			e.PaymentRef = charge.PaymentIntent.ID
		}
	case strings.HasPrefix(kind, "price."), strings.HasPrefix(kind, "product."):
		e.Catalog = true
	}
	return e, nil
}

func sessionOf(event *stripego.Event) (*stripego.CheckoutSession, error) {
	session := &stripego.CheckoutSession{}
	if event.Data == nil {
		return nil, unreadable(fmt.Errorf("event %s has no data", event.ID))
	}
	if err := json.Unmarshal(event.Data.Raw, session); err != nil {
		return nil, unreadable(err)
	}
	return session, nil
}

func unreadable(err error) error {
	return fmt.Errorf("reading an event: %w (%w)",
		problem.New(problem.Malformed, "event_unreadable", "The message does not have the form of a Stripe event."),
		err)
}
