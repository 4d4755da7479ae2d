package ordersink

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/protocol/stdwebhook"
	"ace/internal/storefront/order"
)

// Webhook posts events to the operator's address, signed by the rules of
// Standard Webhooks (https://www.standardwebhooks.com).
type Webhook struct {
	url     string
	secrets []stdwebhook.Secret
	client  *http.Client
}

// NewWebhook answers a sink that posts to url with client, signed with each of
// the secrets (whsec_ and base64; two while one is being replaced). It refuses
// a secret that is not of that form.
func NewWebhook(url string, secrets []string, client *http.Client) (*Webhook, error) {
	w := &Webhook{url: url, client: client}
	for _, text := range secrets {
		secret, err := stdwebhook.ParseSecret(text)
		if err != nil {
			return nil, fmt.Errorf("ACE_ORDER_WEBHOOK_SECRET cannot be used: %w", err)
		}
		w.secrets = append(w.secrets, secret)
	}
	return w, nil
}

// Deliver implements order.Sink. Anything but a 2xx answer is a failure, a
// redirect as well.
func (w *Webhook) Deliver(ctx context.Context, e order.Event, _ *order.Order, _ func(context.Context) (order.Buyer, error)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(e.Body))
	if err != nil {
		return fmt.Errorf("preparing an event: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if err := stdwebhook.Sign(req.Header, w.secrets, e.ID, time.Now(), e.Body); err != nil {
		return fmt.Errorf("signing an event: %w", err)
	}
	// An address may hold a secret of the operator's: the error leaves it out.
	res, err := w.client.Do(req)
	if err != nil {
		return fmt.Errorf("posting an event: %w", egress.Cause(err))
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 16<<10)) // lets the connection be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the receiver answered %s", res.Status)
	}
	return nil
}
