package admission

import (
	"context"
	"net/http"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/protocol/webbotauth"
)

// Options are the settings of a Gate that have defaults.
type Options struct {
	// Bots judges signed requests. Nil: signatures are not looked at.
	Bots *webbotauth.Verifier
	// Enforce refuses requests whose signature is wrong. Otherwise they are
	// served like unsigned ones.
	Enforce bool
	// Scheme is the one of the store's public address. Default "https".
	Scheme string
	// MCP are the paths whose server counts by message, with AdmitMCP as its
	// mcp.Options.Admit.
	MCP []string
}

// Gate admits requests. It is safe for concurrent use. A nil Gate admits all.
type Gate struct {
	limits  Limits
	options Options
}

// New returns a gate. Nil options are the defaults.
func New(limits Limits, o *Options) *Gate {
	g := &Gate{limits: limits}
	if o != nil {
		g.options = *o
	}
	if g.options.Scheme == "" {
		g.options.Scheme = "https"
	}
	return g
}

// Wrap puts the gate in front of a handler. refuse responds to the requests
// that are not served, in the shape of their path; those to MCP are handled
// here.
func (g *Gate) Wrap(next http.Handler, refuse httpserver.ErrorWriter) http.Handler {
	if g == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := g.classify(r)
		if c == exempt {
			next.ServeHTTP(w, r)
			return
		}
		answer := refuse
		if c == byMessage {
			answer = refuseMCP
		}
		caller, err := g.identify(w.Header(), r)
		if err == nil {
			err = g.count(w.Header(), r, c, caller)
		}
		if err == nil && g.options.Enforce {
			err = wrongSignature(caller.outcome)
		}
		if err != nil {
			prepareRefusal(w.Header(), err)
			answer(w, r, err)
			return
		}
		next.ServeHTTP(g.refunding(w, r, c, caller), r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

// count takes what a request costs; the error is the refusal.
func (g *Gate) count(h http.Header, r *http.Request, c class, caller *caller) error {
	if c == byMessage {
		return g.peek(r, caller)
	}
	result, err := g.limiter(c).Allow(r.Context(), caller.key, 1)
	if err != nil {
		return err
	}
	if c == api || !result.Allowed {
		ratelimit.WriteHeaders(h, result)
		exposeLimits(h)
	}
	if !result.Allowed {
		return ratelimit.Problem(result)
	}
	return nil
}

// wrongSignature refuses what is signed wrongly, where that is asked for.
func wrongSignature(o webbotauth.Outcome) error {
	switch {
	case o.Status != webbotauth.Invalid:
		return nil
	case o.Reason == webbotauth.Malformed:
		return problem.New(problem.Malformed, "signature_invalid",
			"The signature fields of the request cannot be read. Sign it as the header Accept-Signature says, or "+
				"send it without a signature.")
	}
	return problem.New(problem.Forbidden, "signature_invalid",
		"The signature of the request does not hold ("+string(o.Reason)+
			"). Sign it as the header Accept-Signature says, or send it without a signature.")
}

// prepareRefusal sets what refusals have in common, whatever their shape. Pages
// of other origins may read them, as they may read what is served.
func prepareRefusal(h http.Header, err error) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", "no-store")
	exposeLimits(h)
	if p, ok := problem.From(err); ok && p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(httpserver.RetryAfterSeconds(p)))
	}
}

func exposeLimits(h http.Header) {
	h.Set("Access-Control-Expose-Headers", "Retry-After, RateLimit, RateLimit-Policy, Accept-Signature")
}

// refunding returns a writer that gives the unit of a request back when the
// client turns out to have the response already.
func (g *Gate) refunding(w http.ResponseWriter, r *http.Request, c class, caller *caller) http.ResponseWriter {
	conditional := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
	limiter, ok := g.limiter(c).(ratelimit.Refunder)
	if !conditional || !ok || c != api && c != document {
		return w
	}
	return &refundWriter{ResponseWriter: w, refund: func() {
		result, err := limiter.Refund(r.Context(), caller.key, 1)
		if err == nil && c == api {
			ratelimit.WriteHeaders(w.Header(), result)
		}
	}}
}

type refundWriter struct {
	http.ResponseWriter
	refund func() // nil: done, or nothing to give back
}

// WriteHeader gives the unit back with 304.
func (w *refundWriter) WriteHeader(status int) {
	if status == http.StatusNotModified && w.refund != nil {
		w.refund()
	}
	if status >= http.StatusOK {
		w.refund = nil
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *refundWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
