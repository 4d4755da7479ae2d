package ucphttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jcs"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// Base is where the protocol is served; the rest of a path is the
// protocol's own.
const Base = "/agent/commerce/ucp"

// REST serves an operation over HTTP, named by its tool.
//
//	headers -> key -> body -> exchange: version, capabilities, signature
//	  -> first time: the operation -> answer, outcome or protocol error
//	  \-> repetition: the kept response
func (f *Handler) REST(tool string) http.HandlerFunc {
	op := operations()[tool]
	return func(w http.ResponseWriter, r *http.Request) {
		call, err := f.read(r, op)
		if err != nil {
			f.writeFailure(w, r, call, err)
			return
		}
		if op.tool == ucp.ToolGetCheckout {
			call.read = func(_ context.Context, id string) (*checkout.Session, error) {
				return f.Sessions.Read(w,
					r, id)
			}
		}
		answer, _, err := f.Sessions.Once(r.Context(), sessionhttp.Scope("ucp", r, call.exchange.signer), call.key,
			call.canonical, func(resourceID string) sessionhttp.Outcome {
				call.resourceID = resourceID
				return f.do(r.Context(), call)
			})
		if err != nil {
			f.writeFailure(w, r, call, err)
			return
		}
		f.write(w, r, call, answer)
	}
}

// read reads what a request says about itself, and its body. The call is
// there also with an error, as far as it was read.
func (f *Handler) read(r *http.Request, op *operation) (*operationCall, error) {
	call := &operationCall{
		op: op, exchange: exchange{version: ucp.Newest}, id: r.PathValue("id"),
		agent: f.Sessions.Agent(r.Context(), r.Header),
	}
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
	var value *jsonread.Value
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if body, value, err = sessionhttp.Body(r); err != nil {
			return call, err
		}
	}
	if call.key != "" {
		if call.canonical, err = canonical(platform, value); err != nil {
			return call, err
		}
	}
	call.body = jsonBody{op.tool, value}
	call.exchange, err = f.negotiate(r.Context(), op.capability, platform, f.signed(r, body))
	call.agent.Profile, call.agent.Signed = platform.Profile, call.exchange.signer != ""
	return call, err
}

// signed is a request as its signature sees it; nil if it carries none.
func (f *Handler) signed(r *http.Request, body []byte) *signedRequest {
	if r.Header.Get(httpsig.HeaderSignatureInput) == "" && r.Header.Get(httpsig.HeaderSignature) == "" {
		return nil
	}
	return &signedRequest{httpsig.RequestMessage(r, f.scheme()), body}
}

// canonical is what repetitions are compared by: who asks, in which version,
// and the body.
func canonical(platform ucp.Agent, body *jsonread.Value) ([]byte, error) {
	if body.Kind() == jsonread.Absent {
		return asked(platform, nil), nil
	}
	form, err := jcs.Encode(body)
	if err != nil { // valid JSON, but with a number or a text that has no one form
		return nil, problem.New(problem.Malformed, "invalid_json",
			"The body holds a number or a text that JSON readers understand differently. Send plain numbers and "+
				"whole characters.").Advise("fix_arguments")
	}
	return asked(platform, form), nil
}

// asked puts the platform before what it asks for. A platform that comes upon
// the key of another is not given the other's checkout, and the version decides
// how a body is read.
func asked(platform ucp.Agent, form []byte) []byte {
	return append([]byte(platform.Profile+"\n"+string(platform.Version)+"\n"), form...)
}

// jsonBody is the body of a REST request.
type jsonBody struct {
	tool string
	data *jsonread.Value
}

// Checkout implements requestBody.
func (b jsonBody) Checkout(rd ucp.Reading) (*ucp.CheckoutRequest, error) {
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

// Search implements requestBody.
func (b jsonBody) Search(rd ucp.Reading) (*ucp.SearchRequest, error) {
	return ucp.ReadSearch(b.data, rd)
}

// Lookup implements requestBody.
func (b jsonBody) Lookup() (*ucp.LookupRequest, error) { return ucp.ReadLookup(b.data) }

// Product implements requestBody.
func (b jsonBody) Product() (*ucp.ProductRequest, error) { return ucp.ReadProduct(b.data) }

// write writes a response with the headers of the protocol.
func (f *Handler) write(w http.ResponseWriter, r *http.Request, call *operationCall, answer idempotency.Answer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
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
		f.sign(r.Context(), h, answer)
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // the client has gone if this fails
}

// sign signs a response, so that a platform can prove what it received. A
// response that cannot be signed is sent unsigned: the signature is advised,
// not required.
func (f *Handler) sign(ctx context.Context, h http.Header, answer idempotency.Answer) {
	if len(f.Signers) == 0 {
		return
	}
	if err := ucp.SignResponse(f.Signers[0], answer.Status, h, answer.Body, time.Now()); err != nil {
		f.Log.ErrorContext(ctx, "signing an answer", "request_id", httpserver.RequestID(ctx), "error", err)
	}
}

// writeFailure responds to a request whose operation was not reached.
func (f *Handler) writeFailure(w http.ResponseWriter, r *http.Request, call *operationCall, err error) {
	f.write(w, r, call, f.failed(r.Context(), call, err).Answer)
}

// WriteError is the shape of unknown paths and wrong methods.
func (f *Handler) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	f.writeFailure(w, r, &operationCall{
		op:       &operation{capability: ucp.CapabilityCheckout},
		exchange: exchange{version: ucp.Newest},
	}, err)
}
