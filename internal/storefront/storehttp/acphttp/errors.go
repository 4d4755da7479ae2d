package acphttp

import (
	"net/http"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/storehttp/answer"
)

// protocolCodes are the names of the protocol for problems of ours. Others keep
// their code: the protocol leaves codes open.
var protocolCodes = map[string]string{
	"checkout_not_found":    acp.SessionNotFound,
	"offer_not_found":       acp.InvalidItemID,
	"offer_required":        acp.MissingRequiredField,
	"sold_out":              acp.CodeOutOfStock,
	"processor_unavailable": acp.CodeUnavailable,

	"idempotency_key_reused":  acp.IdempotencyConflict,
	"idempotency_in_progress": acp.IdempotencyInFlight,
}

// WriteError writes a failure in the shape of the protocol.
func (h *Handler) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	retryAfter(w, p)
	status, body := failureOf(p, paramOf(err))
	h.write(w, r, idempotency.Answer{Status: status, Body: body})
}

// A client that closed the connection reads no response: the status is for the access line.
const (
	clientGone       = "client_closed_request"
	statusClientGone = 499
)

// failureOf renders a problem. param, if there is one, is its place in the
// request.
func failureOf(p *problem.Problem, param string) (status int, body []byte) {
	if p.Code == clientGone {
		return statusClientGone, nil
	}
	named := *p
	if code, ok := protocolCodes[p.Code]; ok {
		named.Code = code
	}
	if p.Kind == problem.RateLimited {
		named.Code = acp.CodeRateLimited
	}
	e := acp.FromProblem(&named)
	if param != "" {
		e.Param = param
	}
	body, err := answer.JSON(e)
	if err != nil { // strings always encode
		body = []byte(
			`{"type":"processing_error","code":"internal_error","message":"Something went wrong on our side."}`)
	}
	return e.Status(), body
}

// retryAfter says when to try again, where that is known.
func retryAfter(w http.ResponseWriter, p *problem.Problem) {
	if seconds := httpserver.RetryAfterSeconds(p); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
}

// setHeaders sets what every response of the protocol carries: the version that
// it is written in, unless that is set already, and the echoes.
func setHeaders(h http.Header, r *http.Request) {
	if h.Get(acp.HeaderAPIVersion) == "" {
		h.Set(acp.HeaderAPIVersion, string(acp.Newest))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("X-Content-Type-Options", "nosniff")
	for _, name := range []string{acp.HeaderRequestID, acp.HeaderIdempotencyKey} {
		value := r.Header.Get(name)
		// the rule for both: short and printable
		if value != "" && acp.CheckIdempotencyKey(value, acp.Exchange{}) == nil {
			h.Set(name, value)
		}
	}
}
