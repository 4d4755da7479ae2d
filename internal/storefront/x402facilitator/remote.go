package x402facilitator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

// How long a facilitator has for a response. To settle it waits for a block.
const (
	verifyTimeout    = 15 * time.Second
	settleTimeout    = 20 * time.Second
	supportedTimeout = 10 * time.Second
)

// maxBody bounds what is read of a response, in bytes.
const maxBody = 256 << 10

// Remote is one facilitator, reached over HTTP.
type Remote struct {
	base   string
	host   string
	auth   Auth
	client *http.Client
}

// New returns the facilitator at a URL such as
// https://facilitator.example/x402, called with client, which follows no
// redirects.
func New(address string, auth Auth, client *http.Client) (*Remote, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" &&
		u.Scheme != "http" {
		return nil,
			errors.New(
				"the address of an x402 facilitator looks like https://facilitator.example/x402, without query or " +
					"credentials")
	}
	return &Remote{base: u.String(), host: u.Host, auth: auth, client: client}, nil
}

// Host names the facilitator in logs.
func (f *Remote) Host() string { return f.host }

// Verify implements paidservice.Facilitator.
func (f *Remote) Verify(ctx context.Context, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.VerifyResponse, error) {
	data, err := f.post(ctx, verifyTimeout, "/verify", p, terms)
	if err != nil {
		return x402.VerifyResponse{}, err
	}
	answer, err := x402.ReadVerify(data)
	if err != nil {
		return x402.VerifyResponse{}, fmt.Errorf("facilitator %s: %w", f.host, err)
	}
	return answer, nil
}

// Settle implements paidservice.Facilitator.
func (f *Remote) Settle(ctx context.Context, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.SettleResponse, error) {
	data, err := f.post(ctx, settleTimeout, "/settle", p, terms)
	if err != nil {
		return x402.SettleResponse{}, err
	}
	answer, err := x402.ReadSettle(data)
	if err != nil {
		return x402.SettleResponse{}, fmt.Errorf("facilitator %s: %w", f.host, err)
	}
	return answer, nil
}

// Supported implements paidservice.Facilitator.
func (f *Remote) Supported(ctx context.Context) (x402.SupportedResponse, error) {
	data, err := f.call(ctx, supportedTimeout, http.MethodGet, "/supported", nil)
	if err != nil {
		return x402.SupportedResponse{}, err
	}
	answer, err := x402.ReadSupported(data)
	if err != nil {
		return x402.SupportedResponse{}, fmt.Errorf("facilitator %s: %w", f.host, err)
	}
	return answer, nil
}

func (f *Remote) post(ctx context.Context, limit time.Duration, path string, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) ([]byte, error) {
	body, err := json.Marshal(x402.FacilitatorRequest{X402Version: x402.Version, Payload: p, Requirements: terms})
	if err != nil {
		return nil, fmt.Errorf("encoding a payment for facilitator %s: %w", f.host, err)
	}
	return f.call(ctx, limit, http.MethodPost, path, body)
}

// call makes one call. Its error is a paidservice.ErrNotSent where the
// facilitator surely did nothing, and otherwise says nothing about the outcome.
func (f *Remote) call(ctx context.Context, limit time.Duration, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, method, f.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("preparing a call of facilitator %s: %w", f.host, err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if f.auth != nil {
		if err := f.auth.Authorize(req); err != nil {
			return nil, fmt.Errorf("%w: %w", paidservice.ErrNotSent, err)
		}
	}
	res, err := f.client.Do(req)
	if err != nil {
		if !connected.Load() {
			return nil, fmt.Errorf("%w: facilitator %s: %w", paidservice.ErrNotSent, f.host, egress.Cause(err))
		}
		return nil, fmt.Errorf("facilitator %s: %w", f.host, egress.Cause(err))
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of facilitator %s: %w", f.host, egress.Cause(err))
	}
	return f.checkResponse(path, res.StatusCode, data)
}

// checkResponse sorts a response by its status. Facilitators send refusals with 200 or
// with 400 and the same body.
func (f *Remote) checkResponse(path string, status int, data []byte) ([]byte, error) {
	if len(data) > maxBody {
		return nil, fmt.Errorf("facilitator %s answered with more than %d bytes", f.host, maxBody)
	}
	switch status {
	case http.StatusOK, http.StatusBadRequest:
		return data, nil
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests:
		return nil, fmt.Errorf("%w: facilitator %s refused %s with status %d", paidservice.ErrNotSent, f.host, path,
			status)
	}
	return nil, fmt.Errorf("facilitator %s answered %s with status %d", f.host, path, status)
}
