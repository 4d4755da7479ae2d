package storehttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jcs"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
)

// ucpBase is where the protocol is served; the rest of a path is the
// protocol's own.
const ucpBase = "/agent/commerce/ucp"

// ucpREST serves an operation over HTTP. The MCP binding (ucp_mcp.go) is the
// other transport of the same operations (ucp_ops.go).
//
//	headers -> key -> body -> exchange: version, capabilities, signature
//	  -> first time: the operation -> answer, outcome or protocol error
//	  \-> repetition: the kept answer
func (s *server) ucpREST(op *ucpOperation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call, err := s.ucpRead(r, op)
		if err != nil {
			s.writeUCPFailure(w, r, call, err)
			return
		}
		if op.tool == ucp.ToolGetCheckout {
			call.read = func(_ context.Context, id string) (*checkout.Session, error) { return s.readSession(w, r, id) }
		}
		answer, _, err := s.once(r.Context(), scopeOf("ucp", r, call.exchange.signer), call.key, call.canonical, func(resourceID string) outcome {
			call.resourceID = resourceID
			return s.ucpDo(r.Context(), call)
		})
		if err != nil {
			s.writeUCPFailure(w, r, call, err)
			return
		}
		s.writeUCP(w, r, call, answer)
	}
}

// ucpRead reads what a request says about itself, and its body. The call is
// there also with an error, as far as it was read.
func (s *server) ucpRead(r *http.Request, op *ucpOperation) (*ucpCall, error) {
	call := &ucpCall{op: op, exchange: ucpExchange{version: ucp.Newest}, id: r.PathValue("id"), agent: s.agentOf(r.Context(), r.Header)}
	platform, err := ucp.ParseAgent(r.Header.Values(ucp.HeaderAgent))
	if err != nil {
		return call, err
	}
	if values := r.Header.Values(ucp.HeaderIdempotencyKey); op.keyed && len(values) > 0 {
		call.key = values[0]
		if err := ucp.CheckIdempotencyKey(call.key); err != nil {
			return call, err
		}
	}
	var body []byte
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if body, err = sessionBody(r); err != nil {
			return call, err
		}
	}
	if call.key != "" {
		if call.canonical, err = ucpCanonical(platform, body); err != nil {
			return call, err
		}
	}
	call.body = ucpJSON{op.tool, body}
	call.exchange, err = s.ucpNegotiate(r.Context(), platform, s.signed(r, body))
	call.agent.Profile, call.agent.Signed = platform.Profile, call.exchange.signer != ""
	return call, err
}

// signed is a request as its signature sees it; nil if it carries none.
func (s *server) signed(r *http.Request, body []byte) *signedRequest {
	if r.Header.Get(httpsig.HeaderSignatureInput) == "" {
		return nil
	}
	return &signedRequest{httpsig.RequestMessage(r, s.scheme()), body}
}

// ucpCanonical is what repetitions are compared by. The declared version is
// part of it, since it decides how the body is read.
func ucpCanonical(platform ucp.Agent, body []byte) ([]byte, error) {
	head := []byte(platform.Version + "\n")
	if len(body) == 0 {
		return head, nil
	}
	form, err := jcs.Canonical(body)
	if err != nil { // valid JSON, but with a number or a text that has no one form
		return nil, problem.New(problem.Malformed, "invalid_json",
			"The body holds a number or a text that JSON readers understand differently. Send plain numbers and whole characters.").Advise("fix_arguments")
	}
	return append(head, form...), nil
}

// ucpJSON is the body of a REST request.
type ucpJSON struct {
	tool string
	data []byte
}

// Checkout implements ucpBody.
func (b ucpJSON) Checkout(rd ucp.Reading) (*ucp.CheckoutRequest, error) {
	switch b.tool {
	case ucp.ToolCompleteCheckout:
		return ucp.ReadComplete(b.data)
	case ucp.ToolUpdateCheckout:
		return ucp.ReadUpdate(b.data, rd)
	case ucp.ToolCancelCheckout:
		return nil, ucp.ReadCancel(b.data)
	}
	return ucp.ReadCreate(b.data, rd)
}

// Search implements ucpBody.
func (b ucpJSON) Search(rd ucp.Reading) (*ucp.SearchRequest, error) {
	return ucp.ReadSearch(b.data, rd)
}

// Lookup implements ucpBody.
func (b ucpJSON) Lookup() (*ucp.LookupRequest, error) { return ucp.ReadLookup(b.data) }

// Product implements ucpBody.
func (b ucpJSON) Product() (*ucp.ProductRequest, error) { return ucp.ReadProduct(b.data) }

// writeUCP writes an answer with the headers of the protocol.
func (s *server) writeUCP(w http.ResponseWriter, r *http.Request, call *ucpCall, answer idempotency.Answer) {
	h := w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	if id := r.Header.Get("Request-Id"); id != "" && ucp.CheckIdempotencyKey(id) == nil {
		h.Set("Request-Id", id)
	}
	if call.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(call.retryAfter))
	}
	if call.op.signed {
		s.signUCP(r.Context(), h, answer)
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // the client has gone if this fails
}

// signUCP signs an answer, so that a platform can show what it was told. An
// answer that cannot be signed goes out without: the signature is advised, not
// required.
func (s *server) signUCP(ctx context.Context, h http.Header, answer idempotency.Answer) {
	if len(s.Signers) == 0 {
		return
	}
	if err := ucp.SignResponse(s.Signers[0], answer.Status, h, answer.Body, time.Now()); err != nil {
		s.Log.ErrorContext(ctx, "signing an answer", "request_id", httpserver.RequestID(ctx), "error", err)
	}
}

// writeUCPFailure answers a request whose operation was not reached.
func (s *server) writeUCPFailure(w http.ResponseWriter, r *http.Request, call *ucpCall, err error) {
	s.writeUCP(w, r, call, s.ucpFailed(r.Context(), call, err).Answer)
}

// writeUCPError is the shape of unknown paths and wrong methods.
func (s *server) writeUCPError(w http.ResponseWriter, r *http.Request, err error) {
	s.writeUCPFailure(w, r, &ucpCall{op: &ucpOperation{capability: ucp.CapabilityCheckout}, exchange: ucpExchange{version: ucp.Newest}}, err)
}
