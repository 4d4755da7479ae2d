package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/problem"
)

// gate is the RoundTripper of one purpose. It follows redirects itself, so that
// each hop is judged and the deadline covers all of them.
type gate struct {
	guard     *Guard
	purpose   Purpose
	transport *http.Transport
}

// CloseIdleConnections serves http.Client.CloseIdleConnections.
func (g *gate) CloseIdleConnections() { g.transport.CloseIdleConnections() }

// RoundTrip makes one call with all its hops.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(g.purpose.Deadline, func() { cancel(errDeadline) })
	stop := func() { timer.Stop(); cancel(nil) }
	res, err := g.hops(ctx, req)
	if err == nil {
		res.Body, err = g.bound(ctx, res, timer, stop)
	}
	if err != nil {
		stop()
		g.tell(req, err)
		res = nil
	}
	if called := g.guard.options.Called; called != nil {
		c := Call{Purpose: g.purpose.Name, Err: err, Elapsed: time.Since(start)}
		if res != nil {
			c.Status = res.StatusCode
		}
		called(c)
	}
	return res, err
}

var errDeadline = errors.New("deadline of the purpose has passed")

func (g *gate) hops(ctx context.Context, req *http.Request) (*http.Response, error) {
	first := true
	left := false // the chain has left the first origin
	var start target
	for hop := 0; ; hop++ {
		v, err := g.guard.evaluate(&g.purpose, req.URL)
		if err != nil {
			closeBody(req)
			return nil, err
		}
		if first {
			start, first = v.target, false
		}
		out, err := g.prepare(context.WithValue(ctx, verdictKey{}, v), req)
		if err != nil {
			closeBody(req)
			return nil, err
		}
		res, err := g.transport.RoundTrip(out)
		if err != nil {
			return nil, callProblem(ctx, err)
		}
		next, err := g.follow(req, res, start, &left, hop)
		if err != nil || next != nil {
			_ = res.Body.Close() // the redirect's own text is of no use
		}
		if err != nil {
			return nil, err
		}
		if next == nil {
			return res, nil
		}
		req = next
	}
}

// prepare returns the request as it goes out: never with the caller's header
// map, which a RoundTripper must not change.
func (g *gate) prepare(ctx context.Context, req *http.Request) (*http.Request, error) {
	out := req.Clone(ctx)
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", g.guard.options.UserAgent)
	}
	if g.purpose.decodes() && out.Header.Get("Accept-Encoding") == "" && out.Header.Get("Range") == "" {
		out.Header.Set("Accept-Encoding", "gzip")
	}
	if g.purpose.Sign != nil {
		if err := g.purpose.Sign(out); err != nil {
			return nil, fmt.Errorf("signing a request: %w", err)
		}
	}
	return out, nil
}

// follow returns the request of the next hop, or nil when res is the response.
func (g *gate) follow(req *http.Request, res *http.Response, start target, left *bool, hop int) (*http.Request, error) {
	if g.purpose.Redirects == 0 || !isRedirect(res.StatusCode) || res.Header.Get("Location") == "" {
		return nil, nil
	}
	if hop >= g.purpose.Redirects {
		return nil, refuse(ReasonRedirect, "It redirects too often.")
	}
	u, err := res.Location()
	if err != nil {
		return nil, refuse(ReasonRedirect, "It redirects to something that is no address.")
	}
	to, err := parseTarget(u)
	if err != nil {
		return nil, err
	}
	if !inScope(g.purpose.Scope, start, to) || req.URL.Scheme == "https" && to.scheme == "http" {
		return nil, refuse(ReasonRedirect, "It redirects to another site or away from https.")
	}
	*left = *left || to.origin() != start.origin()

	next := req.Clone(req.Context())
	next.URL, next.Host = u, ""
	next.Header.Del("Referer")
	keepsMethod := res.StatusCode == http.StatusTemporaryRedirect || res.StatusCode == http.StatusPermanentRedirect
	if *left {
		next.Header = plainHeaders(req.Header)
	}
	if !keepsMethod && req.Method != http.MethodHead {
		next.Method = http.MethodGet
	}
	next.Body, next.GetBody, next.ContentLength = nil, nil, 0
	if keepsMethod && req.Body != nil && req.Body != http.NoBody {
		return g.resend(req, next, *left)
	}
	next.Header.Del("Content-Type")
	return next, nil
}

// resend carries the body to the next hop, which must be of the same origin.
func (g *gate) resend(req, next *http.Request, left bool) (*http.Request, error) {
	if left || req.GetBody == nil {
		return nil, refuse(ReasonRedirect, "It redirects a request with a body to another origin.")
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("reading the request body again: %w", err)
	}
	next.Body, next.GetBody, next.ContentLength = body, req.GetBody, req.ContentLength
	return next, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// plainHeaders keeps what says nothing about the caller: no credential and no
// header of the caller's own invention crosses to another origin.
func plainHeaders(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

func inScope(s Scope, from, to target) bool {
	switch s {
	case AnyHost:
		return true
	case SameSite:
		return strings.TrimPrefix(from.host, "www.") == strings.TrimPrefix(to.host, "www.")
	default:
		upgraded := from.scheme == "http" && to.scheme == "https" && from.port == 80 && to.port == 443
		return from.host == to.host && (from.origin() == to.origin() || upgraded)
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // it was never sent
	}
}

// tell reports a refusal to the audit.
func (g *gate) tell(req *http.Request, err error) {
	reason := Reason(err)
	if reason == "" || g.guard.options.Denied == nil {
		return
	}
	g.guard.options.Denied(req.Context(), Denial{Purpose: g.purpose.Name, Host: req.URL.Hostname(), Reason: reason})
}

// callProblem words a failed call without naming addresses. Closed and
// filtered ports read the same, so that the guard is no port scanner.
func callProblem(ctx context.Context, err error) error {
	var known *problem.Problem
	var certificate *tls.CertificateVerificationError
	var dial *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(context.Cause(ctx), errDeadline):
		return timedOut()
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &certificate):
		return problem.New(problem.Unprocessable, "target_bad_answer",
			"The certificate of the host is not valid for its name or not trusted.")
	case errors.As(err, &dns), errors.As(err, &dial) && dial.Op == "dial":
		return problem.New(problem.Unavailable, "target_unreachable",
			"The host cannot be reached. Check its name and port, and that it is up.")
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return timedOut()
	}
	return problem.New(problem.Unavailable, "target_bad_answer",
		"The host broke off or did not answer as an HTTP server does.")
}

func timedOut() error {
	return problem.New(problem.Timeout, "target_timeout", "The host did not answer in time.")
}

// bound wraps the body of a response in its limits.
func (g *gate) bound(ctx context.Context, res *http.Response, timer *time.Timer, stop func()) (io.ReadCloser, error) {
	if res.ContentLength > g.purpose.WireLimit {
		_ = res.Body.Close() // unread on purpose
		return nil, tooLarge()
	}
	b := &body{
		ctx: ctx, wire: res.Body, wireLimit: g.purpose.WireLimit,
		limit: max(g.purpose.WireLimit, g.purpose.DecodedLimit), stop: stop,
	}
	if g.purpose.Idle > 0 && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		b.idle, b.timer = g.purpose.Idle, timer
		timer.Reset(b.idle)
	}
	if g.purpose.decodes() && strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		b.compressed = true
		res.Header.Del("Content-Encoding")
		res.Header.Del("Content-Length")
		res.ContentLength = -1
		res.Uncompressed = true
	}
	return b, nil
}
