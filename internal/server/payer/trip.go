package payer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ace/internal/protocol/x402"
)

// maxAnswer bounds a response of the store, in bytes: reports may be long.
const maxAnswer = 32 << 20

// firstWait is how long the first paid call waits for the work, in seconds:
// after that the order reports its progress.
const firstWait = 5

// trip is one purchase on its way.
type trip struct {
	p       *Payer
	address string // of the run
	body    []byte
	payment string    // "" before it is signed
	until   time.Time // when the payment ends
	order   string    // its address, once there is one
}

// order is what is read of the store's response.
type order struct {
	URL        string `json:"url"`
	State      string `json:"state"`
	NextAction string `json:"next_action"`
	Reason     string `json:"reason"`
	Progress   *struct {
		Phase      string `json:"stage"`
		PagesDone  int    `json:"pages_done"`
		PagesTotal int    `json:"pages_total"`
	} `json:"progress"`
	Payment struct {
		Transaction string `json:"transaction"`
	} `json:"payment"`
	Result json.RawMessage `json:"result"`
	Files  []File          `json:"files"`

	whole json.RawMessage
}

// reply is a response that was read.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask calls without a payment and returns the quote.
func (t *trip) ask(ctx context.Context) (*x402.PaymentRequired, error) {
	for {
		r, err := t.call(ctx, 0)
		if err != nil {
			return nil, fmt.Errorf("no answer from the store: is it running? %w", err)
		}
		if r.status == http.StatusTooManyRequests {
			if err := t.rest(ctx, r); err != nil {
				return nil, err
			}
			continue
		}
		if r.status != http.StatusPaymentRequired {
			return nil, r.problem()
		}
		if value := r.header.Get(x402.HeaderRequired); value != "" {
			return x402.ParseRequiredHeader(value)
		}
		return x402.ReadRequired(r.body)
	}
}

// call sends the request, with the payment if it is signed. wait is how long
// the store may take for the work, in seconds; 0: as long as it likes.
func (t *trip) call(ctx context.Context, wait int) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address, bytes.NewReader(t.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.payment != "" {
		req.Header.Set(x402.HeaderSignature, t.payment)
	}
	if wait > 0 {
		req.Header.Set("Prefer", "wait="+strconv.Itoa(wait))
	}
	return t.send(req)
}

func (t *trip) send(req *http.Request) (*reply, error) {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "ace-pay")
	res, err := t.p.opts.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return &reply{res.StatusCode, res.Header, body}, err
}

// collect calls with the payment until the result is here. The same payment is
// charged once, however often it is sent.
func (t *trip) collect(ctx context.Context) (*order, error) {
	wait := firstWait
	for tries := 0; ; {
		r, err := t.call(ctx, wait)
		wait = 0
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil || r.again():
			if tries++; tries > 20 || time.Now().After(t.until) {
				return nil, errors.Join(err, r.trouble())
			}
			if err := t.retry(ctx, r, err); err != nil {
				return nil, err
			}
		case r.status == http.StatusOK:
			return r.read()
		case r.status == http.StatusAccepted:
			if err := t.follow(ctx, r); err != nil {
				return nil, err
			}
		default:
			return nil, r.problem()
		}
	}
}

// again reports whether a response asks for the same request later: the store is
// busy, or something in front of it failed. A run that failed says so, and that
// nothing was charged: then it is the buyer's choice.
func (r *reply) again() bool {
	switch r.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		var failed struct {
			Charged *bool `json:"charged"`
		}
		return json.Unmarshal(r.body, &failed) != nil || failed.Charged == nil
	}
	return false
}

func (t *trip) retry(ctx context.Context, r *reply, cause error) error {
	why := ""
	if cause != nil {
		why = cause.Error()
	} else if r.status != http.StatusTooManyRequests {
		why = r.problem().Error()
	}
	if why != "" {
		if err := t.p.tell(Notice{Step: Retrying, Cause: why, OrderURL: t.order}); err != nil {
			return err
		}
	}
	return t.rest(ctx, r)
}

// rest waits as long as the store asks for.
func (t *trip) rest(ctx context.Context, r *reply) error {
	pause := t.p.opts.Pause
	if r != nil {
		if seconds, err := strconv.Atoi(r.header.Get("Retry-After")); err == nil && seconds > 0 && seconds <= 120 {
			pause = time.Duration(seconds) * time.Second
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// follow looks at an order that is not done until there is something to
// collect.
func (t *trip) follow(ctx context.Context, r *reply) error {
	for {
		o, err := r.read()
		if err != nil {
			return err
		}
		if address, err := t.same(o.URL); err == nil {
			t.order = address
		}
		n := Notice{Step: Running, OrderURL: t.order, Progress: o.progress()}
		if o.State == "settlement_pending" {
			n.Step = Pending
		}
		if err := t.p.tell(n); err != nil {
			return err
		}
		if err := t.rest(ctx, r); err != nil {
			return err
		}
		if o.State != "running" || t.order == "" {
			return nil
		}
		if r, err = t.look(ctx); err != nil || r.status != http.StatusOK {
			return ctx.Err() // the paid call reports more
		}
	}
}

// look reads the order.
func (t *trip) look(ctx context.Context) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.order, http.NoBody)
	if err != nil {
		return nil, err
	}
	return t.send(req)
}

// same returns an address of the store as it is reached from here: a store
// behind a tunnel tells its public one.
func (t *trip) same(address string) (string, error) {
	told, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	here, err := url.Parse(t.address)
	if err != nil {
		return "", err
	}
	told.Scheme, told.Host = here.Scheme, here.Host
	return told.String(), nil
}

func (o *order) progress() string {
	switch {
	case o.Progress == nil:
		return strings.ReplaceAll(o.State, "_", " ")
	case o.Progress.PagesTotal > 0:
		return fmt.Sprintf("%s, %d of %d pages", o.Progress.Phase, o.Progress.PagesDone, o.Progress.PagesTotal)
	case o.Progress.PagesDone > 0:
		return fmt.Sprintf("%s, %d pages", o.Progress.Phase, o.Progress.PagesDone)
	}
	return o.Progress.Phase
}

func (r *reply) read() (*order, error) {
	o := &order{whole: r.body}
	if err := json.Unmarshal(r.body, o); err != nil {
		return nil, fmt.Errorf("the store's answer cannot be read: %w", err)
	}
	return o, nil
}

// problem is a response that ends the purchase, in the store's words.
func (r *reply) problem() error {
	if value := r.header.Get(x402.HeaderRequired); value != "" {
		if q, err := x402.ParseRequiredHeader(value); err == nil {
			return fmt.Errorf("the store did not take the payment: %s", q.Error)
		}
	}
	var p struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(r.body, &p); err != nil || p.Code == "" {
		return fmt.Errorf("the store answered status %d", r.status)
	}
	return fmt.Errorf("%s (%s)", p.Detail, p.Code)
}

// trouble is problem for a response that may not be there.
func (r *reply) trouble() error {
	if r == nil {
		return errors.New("the store did not answer; the payment may have been taken")
	}
	return r.problem()
}
