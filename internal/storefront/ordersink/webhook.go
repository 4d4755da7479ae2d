package ordersink

import (
	"context"
	"fmt"

	"ace/internal/protocol/stdwebhook"
	"ace/internal/storefront/order"
)

// Webhook posts events to the operator's URL, signed by the rules of Standard
// Webhooks (https://www.standardwebhooks.com).
type Webhook struct {
	url     string
	secrets []stdwebhook.Secret
	sender  *stdwebhook.Sender
}

// NewWebhook returns a sink that posts to url with client, signed with each of
// the secrets (whsec_ and base64; two while one is being replaced). It refuses
// a secret that is not of that form.
func NewWebhook(url string, secrets []string, client stdwebhook.HTTPClient) (*Webhook, error) {
	w := &Webhook{url: url, sender: stdwebhook.NewSender(client, nil)}
	for _, text := range secrets {
		secret, err := stdwebhook.ParseSecret(text)
		if err != nil {
			return nil, fmt.Errorf("ACE_ORDER_WEBHOOK_SECRET cannot be used: %w", err)
		}
		w.secrets = append(w.secrets, secret)
	}
	return w, nil
}

// Deliver implements order.Sink. Every status but 2xx is a failure, a redirect as
// well.
func (w *Webhook) Deliver(ctx context.Context, e order.Event, _ *order.Order,
	_ func(context.Context) (order.Buyer, error),
) error {
	attempt := w.sender.Send(ctx, stdwebhook.Message{URL: w.url, ID: e.ID, Body: e.Body, Secrets: w.secrets})
	return attempt.Err
}
