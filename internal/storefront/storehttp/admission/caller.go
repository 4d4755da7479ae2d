package admission

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/ratelimit"
	"ace/internal/protocol/webbotauth"
)

// caller is who sends a request, as far as its quota is concerned. What a
// client says about itself otherwise (User-Agent, session ids) is no identity.
type caller struct {
	key     string // of the limiters
	outcome webbotauth.Outcome
}

type callerKey struct{}

// Agent is the address that identifies the agent who signed the request that
// ctx belongs to, or "" where no known agent did.
func Agent(ctx context.Context) string {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c.outcome.Agent
	}
	return ""
}

// identify finds who sends a request. The error refuses it.
func (g *Gate) identify(h http.Header, r *http.Request) (*caller, error) {
	ip := httpserver.ClientIP(r.Context())
	c := &caller{key: "ip:" + ratelimit.ClientKey(ip)}
	if g.options.Bots == nil {
		return c, nil
	}
	m := httpsig.RequestMessage(r, g.options.Scheme)
	if !webbotauth.Signed(m) {
		return c, nil
	}
	// Before the work of verifying, and whatever comes out: neither a flood of
	// false signatures nor one of sound ones is for free.
	result, err := g.limits.Address.Allow(r.Context(), c.key, 1)
	if err != nil {
		return c, err
	}
	if !result.Allowed {
		ratelimit.WriteHeaders(h, result)
		return c, ratelimit.Problem(result)
	}
	if g.overPlainHTTP(r) {
		c.outcome = webbotauth.Outcome{Status: webbotauth.Unsigned, Reason: webbotauth.PlainHTTP}
	} else {
		c.outcome = g.options.Bots.Verify(time.Now(), webbotauth.Request{Message: m, Body: bodyOf(r), Client: ip})
	}
	g.tell(h, r, c)
	return c, nil
}

// overPlainHTTP reports that a proxy says that the client came over http,
// though the store is at https. Who lies about it only loses its own identity.
func (g *Gate) overPlainHTTP(r *http.Request) bool {
	return g.options.Scheme == "https" && r.TLS == nil && r.Header.Get("X-Forwarded-Proto") == "http"
}

// tell notes the outcome in the log and, where a signature was of no use, tells
// the client how to sign.
func (g *Gate) tell(h http.Header, r *http.Request, c *caller) {
	text := string(c.outcome.Status)
	if c.outcome.Reason != "" {
		text += ": " + string(c.outcome.Reason)
	}
	httpserver.NoteSignature(r.Context(), text, c.outcome.Agent)
	switch c.outcome.Status {
	case webbotauth.Verified:
		c.key = "wba:" + c.outcome.Agent
	case webbotauth.Invalid, webbotauth.Unverified:
		h.Set("Accept-Signature", webbotauth.AcceptSignature)
	default: // there is nothing to say about a signature for somebody else
	}
}

var errLongBody = errors.New("the body is too long to be verified")

// bodyOf reads the body of a request for its digest, and leaves it to the
// handler as it came, with the error that broke it off.
func bodyOf(r *http.Request) func() ([]byte, error) {
	return func() ([]byte, error) {
		sent := r.Body
		data, err := io.ReadAll(io.LimitReader(sent, httpserver.DefaultBodyLimit+1))
		rest := io.Reader(sent)
		if err != nil {
			rest = broken{err}
		}
		r.Body = replay{io.MultiReader(bytes.NewReader(data), rest), sent}
		if err == nil && len(data) > httpserver.DefaultBodyLimit {
			err = errLongBody
		}
		return data, err
	}
}

type replay struct {
	io.Reader
	io.Closer
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
