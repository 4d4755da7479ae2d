package payments

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"ace/internal/sandbox/object"
)

// idlePause is how long the worker sleeps when nothing wakes it.
const idlePause = 250 * time.Millisecond

// wake makes the worker look at once.
func (p *Processor) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// Run delivers webhooks and does what the clock asks for, until ctx ends.
func (p *Processor) Run(ctx context.Context) error {
	for {
		if err := errors.Join(p.Sweep(ctx), p.deliverDue(ctx)); err != nil && ctx.Err() == nil {
			p.log.ErrorContext(ctx, "sandbox worker", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.kick:
		case <-time.After(idlePause):
		}
	}
}

// deliverDue makes one attempt for everything that is due: endpoints side by
// side, the deliveries of one endpoint in their order.
func (p *Processor) deliverDue(ctx context.Context) error {
	due, err := dueDeliveries(ctx, p.db.Reader(), p.Now().UnixMilli(), 100)
	if err != nil || len(due) == 0 {
		return err
	}
	queues := map[string][]delivery{}
	for _, d := range due {
		queues[d.endpoint] = append(queues[d.endpoint], d)
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(queues))
	for _, queue := range queues {
		wg.Go(func() { errs <- p.deliverQueue(ctx, queue) })
	}
	wg.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	if err == nil && len(due) == 100 {
		p.wake()
	}
	return err
}

// deliverQueue stops at the first endpoint that gives no response, so that one
// that hangs does not hold the others up for long.
func (p *Processor) deliverQueue(ctx context.Context, queue []delivery) error {
	for _, d := range queue {
		if err := p.deliver(ctx, &d); err != nil {
			return err
		}
		if d.lastStatus == 0 {
			return nil
		}
	}
	return nil
}

func (p *Processor) deliver(ctx context.Context, d *delivery) error {
	v := p.View()
	endpoint, err := load[object.Endpoint](ctx, v, d.endpoint, "webhook_endpoint")
	if err != nil && !object.IsMissing(err) {
		return err
	}
	event, err := v.Get(ctx, object.KindEvent, d.event, "id")
	if err != nil {
		return err
	}
	if endpoint == nil {
		d.state, d.nextAt = stateDropped, 0
	} else {
		body, err := indented(event)
		if err != nil {
			return fmt.Errorf("writing event %s: %w", d.event, err)
		}
		for range d.copies {
			d.lastStatus = p.post(ctx, endpoint, body)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped while delivering %s, to be delivered again: %w", d.event, err)
		}
		d.attempts++
		d.next(p.Now())
	}
	return p.db.Tx(ctx, func(tx *sql.Tx) error { return finishAttempt(ctx, tx, *d) })
}

// next decides what follows an attempt.
func (d *delivery) next(now time.Time) {
	d.nextAt = 0
	if d.lastStatus >= 200 && d.lastStatus < 300 {
		d.state = stateDelivered
		return
	}
	pause, more := retryAfter(d.attempts)
	if !more {
		d.state = stateGivenUp
		return
	}
	d.nextAt = now.Add(pause).UnixMilli()
}

// post returns the status of the endpoint's response, 0 without one.
func (p *Processor) post(ctx context.Context, endpoint *object.Endpoint, body []byte) int64 {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "ACE-Sandbox/1.0 (payment processor sandbox)")
	// The receiver compares with its own clock, so this is the wall clock.
	req.Header.Set("Stripe-Signature", Sign(endpoint.Private.Secret, time.Now(), body))
	resp, err := p.client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // without the address, which may hold a secret
		}
		p.log.DebugContext(ctx, "webhook not delivered", slog.String("endpoint", endpoint.ID), slog.Any("error", err))
		return 0
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0
	}
	return int64(resp.StatusCode)
}

// Sign returns the value of the Stripe-Signature header
// (https://docs.stripe.com/webhooks/signature).
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
