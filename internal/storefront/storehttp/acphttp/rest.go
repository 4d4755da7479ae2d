package acphttp

import (
	"context"
	"net/http"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/protocol/acp"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// operation is one of the operations that change something.
type operation func(context.Context, *request) (*acp.CheckoutSession, error)

// post serves an operation.
//
//	headers -> exchange -> key -> body -> first time: the operation -> answer
//	                                  \-> repetition: the kept response /
func (h *Handler) post(success int, do operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call, canonical, err := h.read(w, r)
		if err != nil {
			h.WriteError(w, r, err)
			return
		}
		answer, replayed, err := h.Sessions.Once(r.Context(), sessionhttp.Scope("acp", r),
			r.Header.Get(acp.HeaderIdempotencyKey), canonical, func(resourceID string) sessionhttp.Outcome {
				call.resourceID = resourceID
				return h.perform(w, r, call, success, do)
			})
		if err != nil {
			h.WriteError(w, r, err)
			return
		}
		if replayed {
			w.Header().Set(acp.HeaderIdempotentReplayed, "true")
		}
		h.write(w, r, answer)
	}
}

// read reads what a POST says about itself, and its body. canonical is what
// repetitions are compared by: the version is part of it, since it decides how
// the body is read and handled.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (call *request, canonical []byte, err error) {
	exchange, err := exchangeOf(w, r)
	if err != nil {
		return nil, nil, err
	}
	if err := acp.CheckIdempotencyKey(r.Header.Get(acp.HeaderIdempotencyKey), exchange); err != nil {
		return nil, nil, err
	}
	_, body, err := sessionhttp.Body(r)
	if err != nil {
		return nil, nil, err
	}
	form, err := acp.Canonical(body)
	if err != nil {
		return nil, nil, err
	}
	call = &request{
		exchange: exchange, sessionID: r.PathValue("id"), body: body,
		agent: h.Sessions.Agent(r.Context(), r.Header),
	}
	return call, append([]byte(exchange.Version+"\n"), form...), nil
}

// exchangeOf says by which rules a request is served.
func exchangeOf(w http.ResponseWriter, r *http.Request) (acp.Exchange, error) {
	exchange, err := acp.Negotiate(r.Header.Values(acp.HeaderAPIVersion), false)
	if err == nil {
		w.Header().Set(acp.HeaderAPIVersion, string(exchange.Version))
	}
	return exchange, err
}

func (h *Handler) perform(w http.ResponseWriter, r *http.Request, call *request, success int,
	do operation,
) sessionhttp.Outcome {
	session, err := do(r.Context(), call)
	var body []byte
	if err == nil {
		body, err = answer.JSON(session)
	}
	if err == nil {
		return sessionhttp.Outcome{Answer: idempotency.Answer{Status: success, Body: body}}
	}
	p := httpserver.ProblemOf(r.Context(), err)
	retryAfter(w, p)
	status, body := failureOf(p, paramOf(err))
	return sessionhttp.Outcome{
		Answer:  idempotency.Answer{Status: status, Body: body},
		Passing: p.Kind.Temporary() || p.RetryAfter > 0,
	}
}

// get writes the state of a session.
func (h *Handler) get(w http.ResponseWriter, r *http.Request) {
	exchange, err := exchangeOf(w, r)
	if err != nil {
		h.WriteError(w, r, err)
		return
	}
	session, err := h.Sessions.Read(w, r, r.PathValue("id"))
	if err != nil {
		h.WriteError(w, r, err)
		return
	}
	shown, err := h.session(r.Context(), session, exchange.Version)
	if err != nil {
		h.WriteError(w, r, err)
		return
	}
	body, err := answer.JSON(shown)
	if err != nil {
		h.WriteError(w, r, err)
		return
	}
	h.write(w, r, idempotency.Answer{Status: http.StatusOK, Body: body})
}

// write writes a response with the headers of the protocol.
func (h *Handler) write(w http.ResponseWriter, r *http.Request, answer idempotency.Answer) {
	header := w.Header()
	setHeaders(header, r)
	if answer.Status == http.StatusMethodNotAllowed && header.Get("Allow") == "" {
		header["Allow"] = []string{""} // the session takes no such request any more
	}
	header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // the client has gone if this fails
}
