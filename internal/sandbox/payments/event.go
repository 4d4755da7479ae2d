package payments

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// EventTypes lists what the sandbox sends, and what an endpoint may ask for.
func EventTypes() []string {
	return []string{
		"charge.refunded",
		"checkout.session.async_payment_failed", "checkout.session.async_payment_succeeded",
		"checkout.session.completed", "checkout.session.expired",
		"customer.subscription.created", "customer.subscription.deleted", "customer.subscription.updated",
		"price.created", "price.updated", "product.created", "product.updated",
	}
}

// emit stores an event and one delivery for each endpoint that wants it, in
// the transaction that changes the object.
func (tx *Tx) emit(ctx context.Context, eventType string, changed any) error {
	e := &object.Event{
		ID: typeid.New("evt_test"), Object: object.KindEvent, APIVersion: APIVersion, Created: tx.now.Unix(),
		Data: object.EventData{Object: changed}, Type: eventType,
		Request: object.EventRequest{ID: orNil(tx.origin.RequestID), Key: orNil(tx.origin.IdempotencyKey)},
	}
	endpoints, err := tx.endpoints(ctx, eventType)
	if err != nil {
		return err
	}
	if err := tx.insert(ctx, e); err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		if err := tx.schedule(ctx, e.ID, endpoint.ID); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) endpoints(ctx context.Context, eventType string) (wanted []*object.Endpoint, err error) {
	rows, err := rowstore.List(ctx, tx.tx,
		rowstore.Filter{Kind: object.KindEndpoint, Status: "enabled", Limit: maxEndpoints})
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		e, err := decode[object.Endpoint](r)
		if err != nil {
			return nil, err
		}
		if slices.Contains(e.Events, "*") || slices.Contains(e.Events, eventType) {
			wanted = append(wanted, e)
		}
	}
	return wanted, nil
}

// schedule stores a delivery, bent by the faults that are set.
func (tx *Tx) schedule(ctx context.Context, eventID, endpointID string) error {
	d := delivery{
		event: eventID, endpoint: endpointID, seq: tx.p.nextSeq(), state: statePending, copies: 1,
		nextAt: tx.now.UnixMilli(),
	}
	var faults Faults
	if err := rowstore.Setting(ctx, tx.tx, settingFaults, &faults); err != nil {
		return err
	}
	changed, release := faults.Webhooks.bend(&d)
	if changed {
		if err := rowstore.PutSetting(ctx, tx.tx, settingFaults, faults); err != nil {
			return err
		}
	}
	if err := putDelivery(ctx, tx.tx, d); err != nil {
		return err
	}
	if release {
		return releaseHeld(ctx, tx.tx, tx.now.UnixMilli())
	}
	return nil
}

// Resend delivers an event again, to every endpoint that wants it now,
// whatever became of it before.
func (tx *Tx) Resend(ctx context.Context, eventID string) error {
	e, err := load[object.Event](ctx, tx.View, eventID, "id")
	if err != nil {
		return err
	}
	endpoints, err := tx.endpoints(ctx, e.Type)
	if err != nil {
		return err
	}
	for _, endpoint := range endpoints {
		err := putDelivery(ctx, tx.tx, delivery{
			event: e.ID, endpoint: endpoint.ID, seq: tx.p.nextSeq(), state: statePending, copies: 1,
			nextAt: tx.now.UnixMilli(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// EndpointParams makes a webhook endpoint.
type EndpointParams struct {
	URL         string
	Events      []string
	Description string
	APIVersion  string
	Metadata    map[string]string
}

const maxEndpoints = 16

// CreateEndpoint makes a webhook endpoint. The response alone shows its secret.
func (tx *Tx) CreateEndpoint(ctx context.Context, in EndpointParams) (*object.Endpoint, error) {
	if in.APIVersion != "" && in.APIVersion != APIVersion {
		return nil, object.Invalid("api_version", "", "The sandbox sends events of version %s only.", APIVersion)
	}
	rows, err := rowstore.List(ctx, tx.tx, rowstore.Filter{Kind: object.KindEndpoint, Limit: maxEndpoints})
	if err != nil {
		return nil, err
	}
	if len(rows) == maxEndpoints {
		return nil, object.RefusedByState("url", "", "You have reached the maximum of %d test webhook endpoints.",
			maxEndpoints)
	}
	o, err := tx.newEndpoint(in, "whsec_"+rand.Text())
	if err != nil {
		return nil, err
	}
	if err := tx.insert(ctx, o); err != nil {
		return nil, err
	}
	shown := *o
	shown.Secret = o.Private.Secret
	return &shown, nil
}

func (tx *Tx) newEndpoint(in EndpointParams, secret string) (*object.Endpoint, error) {
	if in.URL == "" {
		return nil, object.Missing("url")
	}
	if u, err := url.Parse(in.URL); err != nil || !webURL(in.URL) || u.User != nil {
		return nil, object.Invalid("url", "url_invalid",
			"Not a valid URL: a webhook endpoint is an http or https address without a password.")
	}
	if len(in.Events) == 0 {
		return nil, object.Missing("enabled_events")
	}
	for _, e := range in.Events {
		if e != "*" && !slices.Contains(EventTypes(), e) {
			return nil, object.Invalid("enabled_events", "",
				"Invalid enabled_events: the sandbox sends no %q; it sends %s, or * for all.",
				e, strings.Join(EventTypes(), ", "))
		}
	}
	o := &object.Endpoint{
		ID: typeid.New("we_test"), Object: object.KindEndpoint, APIVersion: orNil(in.APIVersion),
		Created:     tx.now.Unix(),
		Description: orNil(in.Description), Events: in.Events, Status: "enabled", URL: in.URL,
		Private: object.EndpointPrivate{Secret: secret},
	}
	return o, mergeMetadata(&o.Metadata, in.Metadata, "metadata")
}

// upsertEndpoint brings the endpoint of a configured address up to date.
func (tx *Tx) upsertEndpoint(ctx context.Context, c EndpointConfig) error {
	if !strings.HasPrefix(c.Secret, "whsec_") {
		return fmt.Errorf("the secret of webhook endpoint %s must start with whsec_", c.URL)
	}
	events := c.Events
	if len(events) == 0 {
		events = []string{"*"}
	}
	fresh, err := tx.newEndpoint(EndpointParams{URL: c.URL, Events: events}, c.Secret)
	if err != nil {
		return fmt.Errorf("configuring webhook endpoint %s: %w", c.URL, err)
	}
	rows, err := rowstore.List(ctx, tx.tx, rowstore.Filter{Kind: object.KindEndpoint, Limit: maxEndpoints})
	if err != nil {
		return err
	}
	for _, r := range rows {
		o, err := decode[object.Endpoint](r)
		if err != nil {
			return err
		}
		if o.URL == c.URL {
			o.Events, o.Status, o.Private.Secret = events, "enabled", c.Secret
			return tx.update(ctx, o)
		}
	}
	return tx.insert(ctx, fresh)
}

// DeleteEndpoint ends a webhook endpoint; what waits for it is not sent.
func (tx *Tx) DeleteEndpoint(ctx context.Context, id string) error {
	if _, err := load[object.Endpoint](ctx, tx.View, id, "webhook_endpoint"); err != nil {
		return err
	}
	if err := dropDeliveries(ctx, tx.tx, id); err != nil {
		return err
	}
	return rowstore.Delete(ctx, tx.tx, id)
}

// retryAfter is the pause after each failed attempt; the first attempt is made
// at once, and there are len(retryAfter)+1 in all.
func retryAfter(attempts int64) (pause time.Duration, more bool) {
	pauses := [...]time.Duration{
		5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
		4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour, 24 * time.Hour,
	}
	if attempts < 1 || attempts > int64(len(pauses)) {
		return 0, false
	}
	return pauses[attempts-1], true
}
